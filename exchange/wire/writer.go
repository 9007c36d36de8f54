package wire

import (
	"encoding/json"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// Writer appends JSON without white space to Dst and sets the commas: members of objects with Key
// and the methods that take a name, elements of arrays with Comma and the methods that take none. A
// caller may append values of its own to Dst. Names are words of the specification and are not
// escaped.
type Writer struct{ Dst []byte }

// Open begins an object or array, after a comma if it is a later element of an array.
func (w *Writer) Open(bracket byte) {
	w.Comma()
	w.Dst = append(w.Dst, bracket)
}

// Close ends an object or array.
func (w *Writer) Close(bracket byte) { w.Dst = append(w.Dst, bracket) }

// Comma writes a comma unless this is the first element or member, or the value after a name.
func (w *Writer) Comma() {
	if n := len(w.Dst); n > 0 && w.Dst[n-1] != '[' && w.Dst[n-1] != '{' && w.Dst[n-1] != ':' {
		w.Dst = append(w.Dst, ',')
	}
}

// Key writes the name of a member. The caller writes the value next.
func (w *Writer) Key(name string) {
	w.Comma()
	w.Dst = append(append(append(w.Dst, '"'), name...), '"', ':')
}

// Text writes a member, and escapes its text where needed.
func (w *Writer) Text(name, text string) {
	w.Key(name)
	w.Quote(text)
}

// Word writes a member with a word of the specification, which needs no escapes. It writes nothing
// for an empty word.
func (w *Writer) Word(name, word string) {
	if word == "" {
		return
	}
	w.Key(name)
	w.Dst = append(append(append(w.Dst, '"'), word...), '"')
}

// Quote appends text as a JSON string.
func (w *Writer) Quote(text string) {
	for i := range len(text) {
		if ch := text[i]; ch < ' ' || ch >= 0x7f || ch == '"' || ch == '\\' {
			quoted, _ := json.Marshal(text) // a string always marshals
			w.Dst = append(w.Dst, quoted...)
			return
		}
	}
	w.Dst = append(append(append(w.Dst, '"'), text...), '"')
}

// Null writes a member that is null.
func (w *Writer) Null(name string) {
	w.Key(name)
	w.Dst = append(w.Dst, "null"...)
}

// Integer writes a member as a number.
func (w *Writer) Integer(name string, n int64) {
	w.Key(name)
	w.Dst = strconv.AppendInt(w.Dst, n, 10)
}

// Boolean writes a member as true or false.
func (w *Writer) Boolean(name string, b bool) {
	w.Key(name)
	w.Dst = strconv.AppendBool(w.Dst, b)
}

// Fixed writes a decimal of units of 10^-digits as a string without trailing zeros.
func (w *Writer) Fixed(name string, n int64, digits uint8) {
	w.Key(name)
	w.Decimal(n, digits)
}

// Decimal appends the value that Fixed writes, without a name.
func (w *Writer) Decimal(n int64, digits uint8) {
	w.Dst = append(market.AppendFixed(append(w.Dst, '"'), n, digits), '"')
}

// Padded writes a decimal of units of 10^-digits as a string with all its decimals, as the exchange
// writes the rules of a market.
func (w *Writer) Padded(name string, n int64, digits uint8) {
	w.Key(name)
	w.Dst = append(market.AppendFixedPadded(append(w.Dst, '"'), n, digits), '"')
}

// Value writes an exact sum of units of 10^-digits as a string.
func (w *Writer) Value(name string, v market.Value, digits uint8) {
	w.Key(name)
	w.Sum(v, digits)
}

// Sum appends the value that Value writes, without a name.
func (w *Writer) Sum(v market.Value, digits uint8) {
	w.Dst = append(v.Append(append(w.Dst, '"'), digits), '"')
}

// ID writes a UUID in its usual form of 36 characters.
func (w *Writer) ID(name string, id uuid.UUID) {
	const digits = "0123456789abcdef"
	w.Key(name)
	text := [38]byte{0: '"', 37: '"'}
	at := 1
	for i, b := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			text[at] = '-'
			at++
		}
		text[at], text[at+1] = digits[b>>4], digits[b&15]
		at += 2
	}
	w.Dst = append(w.Dst, text[:]...)
}
