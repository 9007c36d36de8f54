package wire

import (
	"encoding/binary"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// quoted reads a short plain decimal in quotes, in units of 10^-digits, and returns where it ends;
// 0 for any other text, which market.ParseFixed reads. It looks at eight bytes at once, and finds
// the end of the number before its value.
func quoted(data []byte, at int, digits uint8) (value int64, next int) {
	// digits before and after the point that always fit an int64, and bytes that must be readable
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

// zeros, XORed to eight digits, gives their values.
const zeros = 0x3030303030303030

// nonDigits sets the top bit of each byte of a word that is above 9. The bits are right up to the
// first byte outside of ASCII; the first byte of the text is the lowest.
func nonDigits(word uint64) uint64 {
	const tooHigh, tops = 0x7676767676767676, 0x8080808080808080
	return ((word + tooHigh) | word) & tops
}

// digitsValue returns the value of the first 1 to 8 digits of a word; the first one in the text is
// the highest.
func digitsValue(word uint64, n int) uint64 {
	const pairs = 0x000000ff000000ff
	word <<= (64 - 8*n) & 63
	word = word*10 + word>>8
	return ((word&pairs)*(100+1000000<<32) + (word>>16&pairs)*(1+10000<<32)) >> 32
}

// quotedSlow reads like quoted, digit by digit.
func quotedSlow(data []byte, at int, digits uint8) (value int64, next int) {
	value, next = plain(data, at+1, digits)
	if next == 0 || next == len(data) || data[next] != '"' {
		return 0, 0
	}
	return value, next + 1
}

// plain reads a short plain decimal, in units of 10^-digits, and returns where it ends; 0 for any
// other text.
func plain(data []byte, at int, digits uint8) (value int64, next int) {
	const easy = 18 // decimal digits that always fit an int64, after scaling
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
