package config

// AlertsSection lists the receivers of alerts.
type AlertsSection struct {
	Refusals int64 `toml:"refusals"` // so many refusals within a minute make an alert
	// Tracking is how far a strategy may be from its backtest before bot gap --every alerts,
	// in hundredths of a per cent of its money; 0: none.
	Tracking int64                   `toml:"tracking_bps"`
	Summary  string                  `toml:"summary"` // what was earned, as an alert: off, daily, weekly (on Mondays)
	To       map[string]AlertSection `toml:"to"`      // receivers by name
}

// The values of AlertsSection.Summary.
const (
	SummaryOff    = "off"
	SummaryDaily  = "daily"
	SummaryWeekly = "weekly"
)

// AlertSection is one receiver of alerts: a webhook, which gets a POST for each alert.
type AlertSection struct {
	Template string `toml:"template"` // json, telegram, slack, discord, ntfy
	// One of url, url_file and url_env; https, or http to this machine. It is a secret.
	URL     string   `toml:"url"`
	URLFile string   `toml:"url_file"` // a file that only its owner may read
	URLEnv  string   `toml:"url_env"`  // a variable of the environment
	Chat    string   `toml:"chat"`     // telegram: the chat_id
	Skip    []string `toml:"skip"`     // kinds that are not sent
}

// start sets the default template.
func (s *AlertSection) start() { s.Template = "json" }
