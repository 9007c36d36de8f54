package wire

import (
	"encoding/binary"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// quoted reads a plain decimal in quotes that fits easily, in units of 10^-digits, and returns
// where it ends; 0 where it is anything else, which market.ParseFixed reads. It looks at eight
// bytes at once: where the number ends is known before what it is worth.
func quoted(data []byte, at int, digits uint8) (value int64, next int) {
	// As many digits before the point and after it, in units, as any int64 holds.
	const longest, finest, window = 6, 18 - 6, 16
	at++
	if len(data)-at <= window || digits > finest {
		return quotedSlow(data, at-1, digits)
	}
	text := (*[window + 1]byte)(data[at:])
	word, behind := binary.LittleEndian.Uint64(text[:8])^zeros, binary.LittleEndian.Uint64(text[8:16])^zeros
	others := nonDigits(word)
	end := bits.TrailingZeros64(others) / 8
	if end == 0 || end > longest {
		return quotedSlow(data, at-1, digits)
	}
	whole, length, fraction := end, 0, uint64(0)
	if text[end] == '.' {
		point := end + 1
		end = bits.TrailingZeros64(others&(others-1)) / 8
		if end == 8 {
			end += bits.TrailingZeros64(nonDigits(behind)) / 8
		}
		length = end - point
		if length == 0 || length > min(int(digits), 8) {
			return quotedSlow(data, at-1, digits)
		}
		fraction = word>>(8*point&63) | behind<<((64-8*point)&63)
	}
	if text[end] != '"' {
		return quotedSlow(data, at-1, digits)
	}
	scale := market.Pow10(digits - uint8(length))
	switch {
	case whole == 1:
		value = int64(word&0xf)*market.Pow10(digits) + int64(digitsValue(fraction, max(length, 1)))*scale
	case whole+length <= 8:
		upTo := 8 * whole & 63
		value = int64(digitsValue(word&(1<<upTo-1)|fraction<<upTo, whole+length)) * scale
	default:
		value = int64(digitsValue(word, whole))*market.Pow10(digits) + int64(digitsValue(fraction, length))*scale
	}
	return value, at + end + 1
}

// zeros turns eight digits into their values.
const zeros = 0x3030303030303030

// nonDigits sets the top bit of each byte of a word that is above 9. Up to the first that stands for a
// byte outside of ASCII they are right, the first in the text being the lowest.
func nonDigits(word uint64) uint64 {
	const tooHigh, tops = 0x7676767676767676, 0x8080808080808080
	return ((word + tooHigh) | word) & tops
}

// digitsValue returns what the first 1 … 8 bytes of a word stand for, the first in the text being the
// highest digit.
func digitsValue(word uint64, n int) uint64 {
	const pairs = 0x000000ff000000ff
	word <<= (64 - 8*n) & 63
	word = word*10 + word>>8
	return ((word&pairs)*(100+1000000<<32) + (word>>16&pairs)*(1+10000<<32)) >> 32
}

// quotedSlow is quoted digit by digit.
func quotedSlow(data []byte, at int, digits uint8) (value int64, next int) {
	value, next = plain(data, at+1, digits)
	if next == 0 || next == len(data) || data[next] != '"' {
		return 0, 0
	}
	return value, next + 1
}

// plain reads a plain decimal that fits easily, in units of 10^-digits, and returns where it ends;
// 0 where it is anything else.
func plain(data []byte, at int, digits uint8) (value int64, next int) {
	const easy = 18 // decimal digits that any int64 holds, the scaling included
	var n uint64
	i := at
	for ; i < len(data) && data[i]-'0' <= 9; i++ {
		n = n*10 + uint64(data[i]-'0')
	}
	length, fraction := i-at, 0
	if length == 0 {
		return 0, 0
	}
	if i < len(data) && data[i] == '.' {
		i++
		point := i
		for ; i < len(data) && data[i]-'0' <= 9; i++ {
			n = n*10 + uint64(data[i]-'0')
		}
		fraction = i - point
		length += fraction
	}
	scale := int(digits) - fraction
	if scale < 0 || length+scale > easy {
		return 0, 0
	}
	return int64(n) * market.Pow10(uint8(scale)), i
}
