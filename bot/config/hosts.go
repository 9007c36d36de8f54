package config

import (
	"fmt"
	"net/netip"
	"strings"
)

// CheckHosts refuses a host that no Host header can name.
func CheckHosts(path, hosts []string) error {
	for _, host := range hosts {
		if _, err := netip.ParseAddr(host); err != nil && strings.Trim(strings.ToLower(host), hostLetters) != "" ||
			host == "" {
			return At(path, fmt.Errorf(
				"%q is no name of a host; want names or addresses without scheme and port, like [\"bot.example.com\"]",
				Clip(host)))
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
