package sandbox

import (
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// sheet appends the members of JSON objects and the elements of lists to an answer, and parts them by commas.
type sheet struct{ dst []byte }

// open begins an object or a list, after a comma where it is not the first of a list.
func (w *sheet) open(bracket byte) {
	w.comma()
	w.dst = append(w.dst, bracket)
}

func (w *sheet) close(bracket byte) { w.dst = append(w.dst, bracket) }

// comma parts elements.
func (w *sheet) comma() {
	if n := len(w.dst); n > 0 && w.dst[n-1] != '[' && w.dst[n-1] != '{' && w.dst[n-1] != ':' {
		w.dst = append(w.dst, ',')
	}
}

func (w *sheet) key(name string) {
	w.comma()
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, '"', ':')
}

func (w *sheet) text(name, text string) {
	w.key(name)
	w.quote(text)
}

// quote appends text as a JSON string. Names that the config gives may be of any characters.
func (w *sheet) quote(text string) {
	for i := range len(text) {
		if ch := text[i]; ch < ' ' || ch >= 0x7f || ch == '"' || ch == '\\' {
			quoted, _ := json.Marshal(text) // a string always marshals
			w.dst = append(w.dst, quoted...)
			return
		}
	}
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, text...)
	w.dst = append(w.dst, '"')
}

func (w *sheet) null(name string) {
	w.key(name)
	w.dst = append(w.dst, "null"...)
}

func (w *sheet) integer(name string, n int64) {
	w.key(name)
	w.dst = strconv.AppendInt(w.dst, n, 10)
}

// fixed writes a decimal as text, without trailing zeros.
func (w *sheet) fixed(name string, n int64, digits uint8) {
	w.key(name)
	w.decimal(n, digits)
}

// decimal appends a decimal as text, without trailing zeros.
func (w *sheet) decimal(n int64, digits uint8) {
	w.dst = append(w.dst, '"')
	w.dst = market.AppendFixed(w.dst, n, digits)
	w.dst = append(w.dst, '"')
}

// padded writes a decimal as text, with all its decimals: the exchange does so in the rules of a market.
func (w *sheet) padded(name string, n int64, digits uint8) {
	w.key(name)
	w.dst = append(w.dst, '"')
	w.dst = market.AppendFixedPadded(w.dst, n, digits)
	w.dst = append(w.dst, '"')
}

// value writes an exact sum as text.
func (w *sheet) value(name string, v market.Value, digits uint8) {
	w.key(name)
	w.sum(v, digits)
}

// sum appends an exact sum as text.
func (w *sheet) sum(v market.Value, digits uint8) {
	w.dst = append(w.dst, '"')
	w.dst = v.Append(w.dst, digits)
	w.dst = append(w.dst, '"')
}

// id writes a UUID.
func (w *sheet) id(name string, id uuid.UUID) {
	w.key(name)
	w.dst = append(w.dst, '"')
	w.dst = hex.AppendEncode(w.dst, id[:4])
	for at := 4; at < 10; at += 2 {
		w.dst = append(w.dst, '-')
		w.dst = hex.AppendEncode(w.dst, id[at:at+2])
	}
	w.dst = append(w.dst, '-')
	w.dst = hex.AppendEncode(w.dst, id[10:])
	w.dst = append(w.dst, '"')
}
