package plan

import (
	"errors"

	"github.com/tidemark-trading/tidemark/exchange"
)

// credentialHints are what to do about an exchange's refusal of a key (venue-facts 2.2).
var credentialHints = map[int]string{
	301: "the key is not 64 characters long: copy it again",
	304: "the exchange finds the request too old: widen exchange.window",
	305: "the exchange has no such key, or it is not active: copy it again, or make a new one",
	306: "confirm the key by the exchange's e-mail",
	307: "add this machine's address to those of the key",
	309: "the secret does not belong to the key: copy both again",
	310: "give the key the right to trade",
	311: "give the key the right to read",
}

// KeyHint is what to do about an exchange's refusal of the key; empty where an error is none.
func KeyHint(err error) string {
	var refusal *exchange.Error
	if errors.As(err, &refusal) {
		return credentialHints[refusal.Code]
	}
	return ""
}
