package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Number is a decimal as in the answer, in quotes or not; null and absent are "". It may hold other
// text: a fee has been "none". Parse it with market.ParseFixed and the like.
type Number string

// UnmarshalJSON takes a string, a number or null.
func (n *Number) UnmarshalJSON(text []byte) error {
	switch {
	case bytes.Equal(text, []byte("null")):
		*n = ""
		return nil
	case len(text) > 0 && text[0] == '"':
		return json.Unmarshal(text, (*string)(n))
	case len(text) > 0 && (text[0] == '-' || text[0]-'0' <= 9):
		*n = Number(text)
		return nil
	}
	return fmt.Errorf("%q is neither a number nor a text", clip(text))
}
