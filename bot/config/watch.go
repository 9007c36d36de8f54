package config

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"
)

// WatchConfig holds every setting of `bot watch`. configs/watch.toml shows every key.
type WatchConfig struct {
	Watch  WatchSection          `toml:"watch"`
	Bots   map[string]WatchedBot `toml:"bots"` // by a name of the user's choice
	Alerts WatchAlerts           `toml:"alerts"`
	Source *Source               // where it was read
	tokens map[string]Secret     // of looking, by bot
}

// WatchSection says how bots are watched, and where the pages of `bot watch --act` listen.
type WatchSection struct {
	Silent Span   `toml:"silent"` // an alert after so long without an answer of a bot
	Every  Span   `toml:"every"`  // between two questions to a bot
	Folder string `toml:"folder"` // of what each bot held last, of what was sent for it, and of the tokens
	Log    string `toml:"log"`    // on the standard error: off, error, warn, info, debug

	Listen      string   `toml:"listen"`       // host:port of the pages
	TLSCert     string   `toml:"tls_cert"`     // file with the certificate and those between it and its root
	TLSKey      string   `toml:"tls_key"`      // file with its key
	BehindProxy bool     `toml:"behind_proxy"` // a proxy does TLS, and says in headers who asks
	Hosts       []string `toml:"hosts"`        // names that browsers use, beside this machine's own
}

// Door is where the pages listen.
func (s *WatchSection) Door() *DashboardSection {
	return &DashboardSection{Listen: s.Listen, TLSCert: s.TLSCert, TLSKey: s.TLSKey, BehindProxy: s.BehindProxy,
		Hosts: s.Hosts}
}

// WatchedBot is a bot that is watched through its dashboard.
type WatchedBot struct {
	// URL is the address of its dashboard: https, or http to this machine. On a site of several
	// bots it ends with /bots/NAME.
	URL       string `toml:"url"`
	TokenFile string `toml:"token_file"` // a file that only its owner may read: a copy of dashboard.token
	TokenEnv  string `toml:"token_env"`  // a variable of the environment
	Config    string `toml:"config"`     // for --act: the bot's config, whose keys are on this machine
	// State is the bot's state folder, if it is on this machine; empty: it is not.
	State string `toml:"state"`
}

// WatchAlerts are the alerts of `bot watch`.
type WatchAlerts struct {
	To            map[string]AlertSection `toml:"to"`             // receivers by name
	Heartbeat     string                  `toml:"heartbeat"`      // as of a bot: of the watcher itself
	HeartbeatFile string                  `toml:"heartbeat_file"` // a file that only its owner may read
	HeartbeatEnv  string                  `toml:"heartbeat_env"`  // a variable of the environment
}

// Section is the same as the section of a bot.
func (s *WatchAlerts) Section() *AlertsSection {
	return &AlertsSection{To: s.To, Heartbeat: s.Heartbeat, HeartbeatFile: s.HeartbeatFile,
		HeartbeatEnv: s.HeartbeatEnv}
}

// DefaultWatch returns the config of an empty file. It has no bots.
func DefaultWatch() *WatchConfig {
	return &WatchConfig{Watch: WatchSection{Silent: Span(20 * time.Second), Every: Span(5 * time.Second),
		Folder: "watch", Log: "info", Listen: "127.0.0.1:8788"}}
}

// The bounds of WatchSection.Silent.
const (
	minSilent = time.Second
	maxSilent = time.Hour
)

// LoadWatch reads a config of `bot watch`, and the tokens that it names. Its errors are Error or
// KeyError.
func LoadWatch(source *Source, getenv func(string) string) (*WatchConfig, error) {
	c := DefaultWatch()
	c.Source = source
	if err := source.decode(&binder{}, c); err != nil {
		return nil, err
	}
	err := c.check()
	if err == nil {
		err = c.readTokens(getenv)
	}
	return c, source.Place(err)
}

// Names are the names of the bots.
func (c *WatchConfig) Names() []string { return slices.Sorted(maps.Keys(c.Bots)) }

// Token is the token of looking of a bot, a secret.
func (c *WatchConfig) Token(bot string) string { return c.tokens[bot].Text }

func (c *WatchConfig) check() error {
	path := []string{"watch"}
	silent, every := time.Duration(c.Watch.Silent), time.Duration(c.Watch.Every)
	switch {
	case silent < minSilent || silent > maxSilent:
		return Keyf(Join(path, "silent"), "%s is not in %s to %s", silent, minSilent, maxSilent)
	case every < 100*time.Millisecond || every > silent/2:
		return Keyf(Join(path, "every"), "%s is not in 100ms to %s, half of watch.silent", every, silent/2)
	case c.Watch.Folder == "":
		return Keyf(Join(path, "folder"), "is empty; want a folder, like \"watch\"")
	case len(c.Bots) == 0:
		return Keyf([]string{"bots"}, "names no bot; want a section like [bots.live] with url and token_file")
	case c.Watch.Listen == "":
		return Keyf(Join(path, "listen"), "is empty; want an address, like 127.0.0.1:8788")
	case c.Watch.BehindProxy && len(c.Watch.Hosts) == 0:
		return Keyf(Join(path, "hosts"), "want the name under which browsers reach the proxy, like bot.example.com")
	}
	d := &c.Watch
	if err := checkListen(path, d.Listen, d.TLSCert, d.TLSKey, d.BehindProxy); err != nil {
		return err
	}
	return CheckHosts(Join(path, "hosts"), d.Hosts)
}

// readTokens checks the bots and reads their tokens.
func (c *WatchConfig) readTokens(getenv func(string) string) error {
	c.tokens = map[string]Secret{}
	for _, name := range c.Names() {
		one, path := c.Bots[name], []string{"bots", name}
		if !validName(name) {
			return Keyf(path, "%q is no name of a bot here; want letters, digits, - and _", Clip(name))
		}
		if err := checkWatched(one.URL); err != nil {
			return At(Join(path, "url"), err)
		}
		found, err := (&Secrets{Getenv: getenv}).Read(path, "token", "", one.TokenFile, one.TokenEnv)
		if err == nil && found.Text == "" {
			err = Keyf(Join(path, "token_file"), "is missing; want a file with the token of looking: a copy of "+
				"dashboard.token of the bot's state folder, mode 0600")
		}
		if err != nil {
			return err
		}
		c.tokens[name] = found
	}
	return nil
}

// validName reports whether a name may be that of a folder and of a page.
func validName(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	return name != ""
}

// checkWatched refuses an address over which the token would go in clear.
func checkWatched(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "":
		return fmt.Errorf("want the address of the bot's dashboard, like https://bot.example.com")
	case u.Scheme == "http" && !LoopbackHost(u.Hostname()):
		return fmt.Errorf("the token would be sent in clear; want https, or http to this machine")
	}
	return nil
}
