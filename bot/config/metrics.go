package config

import (
	"errors"
	"fmt"
	"net"
)

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
		return At(path, fmt.Errorf("%q is no address; want host:port, like 127.0.0.1:9090", Clip(s.Listen)))
	case !s.Public && !LoopbackHost(host):
		return At(path, fmt.Errorf("%s can be reached by other machines, which would learn what is traded; want "+
			"127.0.0.1, or set metrics.public = true", s.Listen))
	case s.StaleAfter <= 0:
		return At([]string{"metrics", "stale_after"}, errors.New("want a time, like \"30s\""))
	}
	return CheckHosts([]string{"metrics", "hosts"}, s.Hosts)
}
