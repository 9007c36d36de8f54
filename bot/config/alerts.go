package config

// AlertsSection is who is told what happens, and of what.
type AlertsSection struct {
	Refusals int64                   `toml:"refusals"` // so many refusals within a minute are a storm
	To       map[string]AlertSection `toml:"to"`       // receivers by name
}

// AlertSection is one receiver of alerts: a webhook, which gets a POST for each.
type AlertSection struct {
	Template string `toml:"template"` // json, telegram, slack, discord, ntfy
	// of url, url_file and url_env one; https, or http to this machine. It is a secret
	URL     string   `toml:"url"`
	URLFile string   `toml:"url_file"` // a file that only its owner may read
	URLEnv  string   `toml:"url_env"`  // a variable of the environment
	Chat    string   `toml:"chat"`     // telegram: the chat_id
	Skip    []string `toml:"skip"`     // kinds that are not sent
}

// start makes json the template of who names none.
func (s *AlertSection) start() { s.Template = "json" }
