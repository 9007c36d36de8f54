package candles

import (
	"encoding/binary"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// quickLine is the number of bytes that quickRow looks at.
const quickLine = 72

// quickRow reads a row at the start of text as fastRow reads it, eight bytes at a step, and returns
// the length of its line, LF or CRLF included. It returns 0 if it could not: the line must have the
// six fields and no more, and less than 64 bytes; text must have quickLine bytes. It first marks
// all bytes that are no digits, then it reads the numbers between the marks, which do not wait for
// each other.
func (l *csvLayout) quickRow(line []byte, row *csvRow) int {
	if !l.defaultOrder || len(line) < quickLine {
		return 0
	}
	text := (*[quickLine]byte)(line)
	marks := noDigits(text)
	at := bits.TrailingZeros64(marks)
	if at < 8 || at > 16 || text[at&63] != l.separator {
		return 0
	}
	stamp := value(digitsAt(text, 0))*market.Pow10(uint8(at-8)) + value(digitsAt(text, 8)<<uint(128-8*at))
	for i := range row.values {
		from := at + 1
		marks &= marks - 1
		point := bits.TrailingZeros64(marks)
		behind := marks & (marks - 1)
		at = bits.TrailingZeros64(behind)
		digits, size := at-point-1, at-from
		if text[point&63] != '.' || size > 8 || digits == 0 || point == from || at == 64 {
			var ok bool
			if at, ok = row.quickNumber(i, text, from, marks); !ok || i < 4 && text[at&63] != l.separator {
				return 0
			}
			marks = marks >> uint(at) << uint(at)
			continue
		}
		marks = behind
		// the digits at the end of eight bytes, those before the point moved over it
		word := digitsAt(text, from) << (uint(-8*size) & 63)
		keep := ^uint64(0) << (uint(-8*digits) & 63)
		row.values[i], row.digits[i] = value(word&keep|word<<8&^keep), uint8(digits)
		if i < 4 && text[at&63] != l.separator {
			return 0
		}
	}
	start, ok := l.unixTime(stamp)
	row.start = start
	switch {
	case ok && text[at&63] == '\n':
		return at + 1
	case ok && text[at&63] == '\r' && text[at+1] == '\n':
		return at + 2
	}
	return 0
}

// quickNumber reads the i-th number, whole or longer than eight bytes, and returns its end, that of
// the first or the second mark.
func (r *csvRow) quickNumber(i int, text *[quickLine]byte, from int, marks uint64) (end int, ok bool) {
	point := bits.TrailingZeros64(marks)
	whole := point - from
	if whole < 1 || whole > 8 || point == 64 {
		return 0, false
	}
	r.values[i], r.digits[i] = value(digitsAt(text, from)<<uint(64-8*whole)), 0
	if text[point&63] != '.' {
		return point, true
	}
	end = bits.TrailingZeros64(marks & (marks - 1))
	digits := end - point - 1
	if digits < 1 || digits > 8 || end == 64 {
		return 0, false
	}
	behind := value(digitsAt(text, point+1) << uint(64-8*digits))
	r.values[i], r.digits[i] = r.values[i]*market.Pow10(uint8(digits))+behind, uint8(digits)
	return end, true
}

const (
	allZeros = 0x3030303030303030
	eachHigh = 0x8080808080808080
)

// noDigits has a bit for each of the first 64 bytes of text that is no digit. A bit after a byte
// above 127 may be wrong.
func noDigits(text *[quickLine]byte) uint64 {
	return noDigitsAt(text, 0) | noDigitsAt(text, 8)<<8 | noDigitsAt(text, 16)<<16 | noDigitsAt(text, 24)<<24 |
		noDigitsAt(text, 32)<<32 | noDigitsAt(text, 40)<<40 | noDigitsAt(text, 48)<<48 | noDigitsAt(text, 56)<<56
}

func noDigitsAt(text *[quickLine]byte, at int) uint64 {
	word := binary.LittleEndian.Uint64(text[at:at+8]) ^ allZeros
	other := (word + 0x7676767676767676 | word) & eachHigh // a byte above 9 becomes 128 or more
	return other * 0x0002040810204081 >> 56                // the high bits, side by side
}

// digitsAt returns eight bytes of text, a digit as its value.
func digitsAt(text *[quickLine]byte, at int) uint64 {
	at &= 63
	return binary.LittleEndian.Uint64(text[at:at+8]) ^ allZeros
}

// value returns the number of eight digits, one in each byte, the first in the lowest.
func value(digits uint64) int64 {
	digits = digits*10 + digits>>8 // pairs, in every other byte
	return int64((digits&0x000000ff000000ff*(100+1000000<<32) + digits>>16&0x000000ff000000ff*(1+10000<<32)) >> 32)
}
