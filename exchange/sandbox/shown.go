package sandbox

import (
	"net/http"
	"strings"
)

// keyShown returns the key that a request names, genuine or not, and the account that has it; "" and 0: no key of this exchange.
func (f *front) keyShown(h http.Header) (name string, account int) {
	for i := range f.credentials {
		if shown := h[f.credentials[i].key]; len(shown) > 0 {
			if k := f.keys[shown[0]]; k != nil {
				return k.Key.Key, k.account
			}
			break
		}
	}
	return "", 0
}

// hasKey reports whether the exchange has a key.
func (f *front) hasKey(name string) bool { return f.keys[name] != nil }

// marketShown returns the market that a request names in its path, its body or its query, before any is checked; "": none.
func (v *visit) marketShown(path, query string) (name string) {
	switch {
	case path != "":
		return path
	case v.endpoint.inBody():
		s := scan(v.body)
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
