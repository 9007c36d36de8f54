package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// DashboardSection says where the dashboard listens, and how its tokens are kept from others. It is
// off while Listen is empty.
type DashboardSection struct {
	Listen      string   `toml:"listen"`       // host:port; empty: none
	TLSCert     string   `toml:"tls_cert"`     // file with the certificate and those between it and its root
	TLSKey      string   `toml:"tls_key"`      // file with its key
	BehindProxy bool     `toml:"behind_proxy"` // a proxy does TLS, and says in headers who asks
	Hosts       []string `toml:"hosts"`        // names that browsers use, beside this machine's own
	Public      bool     `toml:"public"`       // /public shows percentages of finished days, without a token
	PublicNames bool     `toml:"public_names"` // with the names of bot and strategies
}

// Secure reports whether browsers reach the dashboard over TLS.
func (s *DashboardSection) Secure() bool { return s.TLSCert != "" || s.BehindProxy }

// Check returns the first mistake of the section, as a KeyError.
func (s *DashboardSection) Check() error {
	if s.Listen == "" {
		return nil
	}
	path := []string{"dashboard"}
	if s.BehindProxy && len(s.Hosts) == 0 {
		return Keyf(Join(path, "hosts"), "want the name under which browsers reach the proxy, like bot.example.com")
	}
	if err := checkListen(path, s.Listen, s.TLSCert, s.TLSKey, s.BehindProxy); err != nil {
		return err
	}
	return CheckHosts([]string{"dashboard", "hosts"}, s.Hosts)
}

// checkListen refuses an address that is none, half a certificate, and secrets that would go to
// other machines in clear.
func checkListen(path []string, listen, cert, key string, proxied bool) error {
	at := func(key string, err error) error { return At(Join(path, key), err) }
	name, port, err := net.SplitHostPort(listen)
	switch {
	case err != nil || port == "":
		return at("listen", fmt.Errorf("%q is no address; want host:port, like 127.0.0.1:8787", Clip(listen)))
	case cert != "" && key == "":
		return at("tls_key", errors.New("is missing: want the key of the certificate"))
	case cert == "" && key != "":
		return at("tls_cert", errors.New("is missing: want the certificate of the key"))
	case !LoopbackHost(name) && cert == "" && !proxied:
		return at("listen", fmt.Errorf("%s is open to other machines, and secrets would go there in clear; want "+
			"a certificate (tls_cert and tls_key), or behind_proxy where a proxy does TLS; or want 127.0.0.1, and "+
			"come from another machine with ssh -L", listen))
	}
	return nil
}

// metricsSection is the port of metrics and health. It is closed by default.
type metricsSection struct {
	Listen     string   `toml:"listen"`      // host:port of /metrics, /healthz and /readyz; empty: none
	Public     bool     `toml:"public"`      // let other machines reach the port and see the trades
	Hosts      []string `toml:"hosts"`       // host names to answer for, beside this machine's own
	StaleAfter Span     `toml:"stale_after"` // without any answer of the exchange for so long, /readyz fails
}

// Check returns the first mistake of the section, as a KeyError.
func (s *metricsSection) Check() error {
	if s.Listen == "" {
		return nil
	}
	path := []string{"metrics", "listen"}
	host, port, err := net.SplitHostPort(s.Listen)
	switch {
	case err != nil || port == "":
		return Keyf(path, "%q is no address; want host:port, like 127.0.0.1:9090", Clip(s.Listen))
	case !s.Public && !LoopbackHost(host):
		return Keyf(path, "%s can be reached by other machines, which would learn what is traded; want "+
			"127.0.0.1, or set metrics.public = true", s.Listen)
	case s.StaleAfter <= 0:
		return Keyf([]string{"metrics", "stale_after"}, "want a time, like \"30s\"")
	}
	return CheckHosts([]string{"metrics", "hosts"}, s.Hosts)
}

// CheckHosts refuses a host that no Host header can name.
func CheckHosts(path, hosts []string) error {
	for _, host := range hosts {
		if _, err := netip.ParseAddr(host); err != nil && strings.Trim(strings.ToLower(host), hostLetters) != "" ||
			host == "" {
			return Keyf(path, "%q is no name of a host; want names or addresses without scheme and port, like "+
				"[\"bot.example.com\"]", Clip(host))
		}
	}
	return nil
}

const hostLetters = "abcdefghijklmnopqrstuvwxyz0123456789-._"

// LoopbackHost reports whether a host is localhost or a loopback address.
func LoopbackHost(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// AlertsSection lists the receivers of alerts.
type AlertsSection struct {
	Refusals int64 `toml:"refusals"` // so many refusals within a minute make an alert
	// Tracking is how far a strategy may be from its backtest before bot gap --every alerts,
	// in hundredths of a per cent of its money; 0: none.
	Tracking int64                   `toml:"tracking_bps"`
	Summary  string                  `toml:"summary"` // what was earned, as an alert: off, daily, weekly (on Mondays)
	Daily    string                  `toml:"daily"`   // when a line tells how the money stands, like "18:00"; empty: never
	To       map[string]AlertSection `toml:"to"`      // receivers by name

	// The URL of a watchdog service, which is pinged each minute: at most one of heartbeat,
	// heartbeat_file and heartbeat_env; https, or http to this machine. It is a secret.
	Heartbeat     string `toml:"heartbeat"`
	HeartbeatFile string `toml:"heartbeat_file"` // a file that only its owner may read
	HeartbeatEnv  string `toml:"heartbeat_env"`  // a variable of the environment
}

// DailyAt is the time of the day of Daily, since midnight. is is false where there is none.
func (s *AlertsSection) DailyAt() (since time.Duration, is bool, err error) {
	if s.Daily == "" {
		return 0, false, nil
	}
	at, err := time.Parse("15:04", s.Daily)
	if err != nil {
		return 0, false, Keyf([]string{"alerts", "daily"}, "%q is no time of a day; want one like \"18:00\"",
			Clip(s.Daily))
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, true, nil
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

// TelegramSection is the chat with a bot over Telegram. It is off without a token.
type TelegramSection struct {
	// One of token_file and token_env. A token stands in no config.
	TokenFile string   `toml:"token_file"` // a file that only its owner may read
	TokenEnv  string   `toml:"token_env"`  // a variable of the environment
	Chats     []string `toml:"chats"`      // ids of the chats that are answered
	Users     []string `toml:"users"`      // ids of the users that are answered there; empty: all
	Act       bool     `toml:"act"`        // halt, resume and flatten are carried out
	Confirm   Span     `toml:"confirm_within"`
	Run       bool     `toml:"run"`      // within bot run; false: in bot chat alone
	BaseURL   string   `toml:"base_url"` // of the API: https, or http to this machine
}

// The bounds of a confirmation's time.
const (
	minConfirm = 10 * time.Second
	maxConfirm = 10 * time.Minute
)

// Read checks the section and reads its token; empty: it is off. The error is a KeyError.
func (s *TelegramSection) Read(getenv func(string) string) (token string, err error) {
	path := []string{"telegram"}
	for key, list := range map[string][]string{"chats": s.Chats, "users": s.Users} {
		for _, id := range list {
			if _, err := strconv.ParseInt(id, 10, 64); err != nil {
				return "", Keyf(Join(path, key), "%q is no id; want numbers in quotes, like \"123456789\", or "+
					"\"-1001234567890\" for a group: the log of the bot names the id of a chat that is not allowed",
					Clip(id))
			}
		}
	}
	if within := time.Duration(s.Confirm); within < minConfirm || within > maxConfirm {
		return "", Keyf(Join(path, "confirm_within"), "%s is not in %s to %s", within, minConfirm, maxConfirm)
	}
	if err := checkBase(s.BaseURL); err != nil {
		return "", At(Join(path, "base_url"), err)
	}
	found, err := (&Secrets{Getenv: getenv}).Read(path, "token", "", s.TokenFile, s.TokenEnv)
	if err == nil && found.Text != "" && !regexp.MustCompile(`^\d+:[\w-]+$`).MatchString(found.Text) {
		key := "token_env"
		if s.TokenFile != "" {
			key = "token_file"
		}
		err = Keyf(Join(path, key), "it names no token as @BotFather tells it: a number, a colon, letters")
	}
	return found.Text, err
}

// checkBase refuses an address over which a token would go in clear.
func checkBase(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.User != nil:
		return errors.New("it is no address; want https://…")
	case u.Scheme == "http" && !LoopbackHost(u.Hostname()):
		return errors.New("the token would be sent in clear; want https, or http to this machine")
	}
	return nil
}
