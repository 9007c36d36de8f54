package api

import (
	"net/http"
	"strings"
)

// KeyShown returns the key that a request names, genuine or not, and the account that has it; ""
// and 0: no key of this exchange.
func (d *Door) KeyShown(h http.Header) (name string, account int) {
	for i := range d.credentials {
		if shown := h[d.credentials[i].key]; len(shown) > 0 {
			if k := d.keys[shown[0]]; k != nil {
				return k.Key.Key, k.account
			}
			break
		}
	}
	return "", 0
}

// HasKey reports whether the exchange has a key.
func (d *Door) HasKey(name string) bool { return d.keys[name] != nil }

// MarketShown returns the market that a request names in its path, its body or its query, before
// any is checked; "": none.
func (q *Request) MarketShown(path, query string) (name string) {
	switch {
	case path != "":
		return path
	case q.Endpoint.InBody():
		s := scan(q.Body)
		for s.Object(); s.Member(); {
			if string(s.Name()) == "market" && s.Peek() == '"' {
				name = string(s.Token())
				continue
			}
			s.Discard()
		}
	default:
		for pair := range strings.SplitSeq(query, "&") {
			if value, ok := strings.CutPrefix(pair, "market="); ok {
				name, _ = unescape(value)
			}
		}
	}
	return name
}
