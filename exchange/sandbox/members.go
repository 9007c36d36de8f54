package sandbox

import (
	"encoding/json"
	"strconv"

	"github.com/tidemark-trading/tidemark/market"
)

// members appends the members of one JSON object after another to dst.
type members struct{ dst []byte }

// open begins an object, close ends it.
func (w *members) open() { w.dst = append(w.dst, '{') }

func (w *members) close() { w.dst = append(w.dst, '}') }

// separate writes the comma before all elements of a list but the first.
func (w *members) separate(place int) {
	if place > 0 {
		w.dst = append(w.dst, ',')
	}
}

func (w *members) key(name string) {
	if w.dst[len(w.dst)-1] != '{' {
		w.dst = append(w.dst, ',')
	}
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, '"', ':')
}

func (w *members) text(name, text string) {
	w.key(name)
	quoted, _ := json.Marshal(text) // a string always marshals
	w.dst = append(w.dst, quoted...)
}

func (w *members) integer(name string, n int64) {
	w.key(name)
	w.dst = strconv.AppendInt(w.dst, n, 10)
}

// fixed writes a decimal as text, without trailing zeros.
func (w *members) fixed(name string, n int64, digits uint8) {
	w.key(name)
	w.dst = append(w.dst, '"')
	w.dst = market.AppendFixed(w.dst, n, digits)
	w.dst = append(w.dst, '"')
}

// padded writes a decimal as text, with all its decimals.
func (w *members) padded(name string, n int64, digits uint8) {
	w.key(name)
	w.dst = append(w.dst, '"')
	w.dst = market.AppendFixedPadded(w.dst, n, digits)
	w.dst = append(w.dst, '"')
}
