package config

import (
	"encoding/json"
	"net/netip"
)

// SignalsSection are the sources of signals from outside, and the door by which a live bot gets
// them.
type SignalsSection struct {
	Door    DoorSection              `toml:"door"`
	Sources map[string]SignalSection `toml:"*"` // by the names that strategies give them
}

// SignalSection is a source of signals from outside.
type SignalSection struct {
	File  string `toml:"file"`  // CSV, gzip of it too, or Parquet
	Delay Span   `toml:"delay"` // from the time of a row to its being known, where it has no known_at
	Zone  string `toml:"zone"`  // of times that name none; none: UTC
	// Stamped says of times that are all starts of candles which end is meant: open or close.
	Stamped string `toml:"stamped"`
	// MaxAge is how long a signal holds; none: until the next one. A live bot refuses an older one;
	// none: an action after a minute.
	MaxAge Span `toml:"max_age"`
	// Every is the distance of the rows, and length of their candles; none: the strategies'. A live
	// source that says nothing for longer is silent.
	Every   Span              `toml:"every"`
	Value   string            `toml:"value"`   // column of the value; none: found by its name
	Markets map[string]string `toml:"markets"` // by the names that the file gives them

	Live string `toml:"live" json:"-"` // how a live bot hears it: door, file or stdin
	// At the door, one of the two: a file with a secret path, for senders that cannot sign; or with
	// a secret for signatures.
	PathFile   string `toml:"path_file" json:"-"`
	SecretFile string `toml:"secret_file" json:"-"`
}

// The words of SignalSection.Live.
const (
	LiveDoor  = "door"  // HTTP
	LiveFile  = "file"  // File, which grows
	LiveStdin = "stdin" // the standard input of bot run
)

// DoorSection says where a live bot listens for signals. It is off while Listen is empty.
type DoorSection struct {
	Listen      string   `toml:"listen"`       // host:port; empty: none
	TLSCert     string   `toml:"tls_cert"`     // file with the certificate and those between it and its root
	TLSKey      string   `toml:"tls_key"`      // file with its key
	BehindProxy bool     `toml:"behind_proxy"` // a proxy does TLS, and says in headers who asks
	Allow       []string `toml:"allow"`        // addresses and networks that may send; none: all
	// ClientCA is a file with the roots of certificates which senders show that do not sign; empty:
	// none is asked for. ClientSubject is the common name or mail address in it; empty: any.
	ClientCA      string `toml:"client_ca"`
	ClientSubject string `toml:"client_subject"`
}

// Check returns the first mistake of the section, and the networks that may send. Its error is a
// KeyError.
func (s *DoorSection) Check() (allow []netip.Prefix, err error) {
	if s.Listen == "" {
		return nil, nil
	}
	path := []string{"signals", "door"}
	if err := checkListen(path, s.Listen, s.TLSCert, s.TLSKey, s.BehindProxy); err != nil {
		return nil, err
	}
	for _, text := range s.Allow {
		one, err := netip.ParsePrefix(text)
		if address, alone := netip.ParseAddr(text); alone == nil {
			one, err = address.Prefix(address.BitLen())
		}
		if err != nil || one.Addr().Is4In6() {
			return nil, Keyf(Join(path, "allow"), "%q is no address; want some like 52.89.214.238 or 10.0.0.0/8",
				Clip(text))
		}
		allow = append(allow, one)
	}
	switch {
	case s.ClientCA != "" && s.TLSCert == "":
		return nil, Keyf(Join(path, "client_ca"),
			"senders show a certificate to a door that has one; set tls_cert and tls_key")
	case s.ClientSubject != "" && s.ClientCA == "":
		return nil, Keyf(Join(path, "client_subject"), "without client_ca, anyone can write that name in a certificate")
	}
	return allow, nil
}

// IsZero reports whether there is no source: for a hash, the section is not there.
func (s SignalsSection) IsZero() bool { return len(s.Sources) == 0 }

// MarshalJSON writes what decides a backtest: the sources.
func (s SignalsSection) MarshalJSON() ([]byte, error) { return json.Marshal(s.Sources) }
