package config

import (
	"errors"
	"fmt"
	"net"
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
	at := func(key string, err error) error { return At([]string{"dashboard", key}, err) }
	name, port, err := net.SplitHostPort(s.Listen)
	switch {
	case err != nil || port == "":
		return at("listen", fmt.Errorf("%q is no address; want host:port, like 127.0.0.1:8787", Clip(s.Listen)))
	case s.TLSCert != "" && s.TLSKey == "":
		return at("tls_key", errors.New("is missing: want the key of the certificate"))
	case s.TLSCert == "" && s.TLSKey != "":
		return at("tls_cert", errors.New("is missing: want the certificate of the key"))
	case s.BehindProxy && len(s.Hosts) == 0:
		return at("hosts", errors.New("want the name under which browsers reach the proxy, like bot.example.com"))
	case !LoopbackHost(name) && !s.Secure():
		return at("listen", fmt.Errorf("%s can be reached by other machines, and tokens would go there in clear; want "+
			"a certificate (tls-cert and tls-key), or behind-proxy where a proxy does TLS; or want 127.0.0.1, and "+
			"look from another machine with ssh -L", s.Listen))
	}
	return CheckHosts([]string{"dashboard", "hosts"}, s.Hosts)
}
