package bot

import (
	"fmt"
	"net/netip"
	"strings"
)

// checkHosts refuses what no header Host can be.
func checkHosts(path, hosts []string) error {
	for _, host := range hosts {
		if _, err := netip.ParseAddr(host); err != nil && strings.Trim(strings.ToLower(host), hostLetters) != "" || host == "" {
			return at(path, fmt.Errorf("%q is no name of a host; want names or addresses without scheme and port, like [\"bot.example.com\"]", clip(host)))
		}
	}
	return nil
}

const hostLetters = "abcdefghijklmnopqrstuvwxyz0123456789-._"

// loopbackHost reports whether a host is this machine.
func loopbackHost(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
