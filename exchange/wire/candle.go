package wire

import (
	"encoding/binary"
	"math/bits"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// Candle reads start, open, high, low, close and volume of a candle, [milliseconds,"open",…], in
// the units of m; more columns are skipped. On an error the candle is undefined.
func (s *Scanner) Candle(m *market.Market, candle *market.Candle) {
	if next := fastCandle(s.data, s.at, m, candle); next > 0 && s.err == nil {
		s.at = next
		return
	}
	s.Array()
	if !s.Element() {
		s.malformed()
	}
	candle.Start = s.Millis("start")
	candle.Open = market.Price(s.column("open", m.PriceDigits))
	candle.High = market.Price(s.column("high", m.PriceDigits))
	candle.Low = market.Price(s.column("low", m.PriceDigits))
	candle.Close = market.Price(s.column("close", m.PriceDigits))
	candle.Volume = market.Volume(s.column("volume", m.VolumeDigits))
	s.Leave()
}

// fastCandle reads a candle in the form that the exchange writes, without white space and with
// short numbers, and returns where it ends; 0 for any other form.
func fastCandle(data []byte, at int, m *market.Market, candle *market.Candle) int {
	const stamp = 13 // digits of Unix milliseconds today
	if at+17 > len(data) || data[at] != '[' {
		return 0
	}
	head, tail := binary.LittleEndian.Uint64(data[at+1:])^zeros, binary.LittleEndian.Uint64(data[at+9:])^zeros
	if nonDigits(head) != 0 || bits.TrailingZeros64(nonDigits(tail))/8 != stamp-8 {
		return 0
	}
	millis := digitsValue(head, 8)*100_000 + digitsValue(tail, stamp-8)
	at += 1 + stamp
	columns := [...]struct {
		to     *int64
		digits uint8
	}{
		{(*int64)(&candle.Open), m.PriceDigits}, {(*int64)(&candle.High), m.PriceDigits},
		{(*int64)(&candle.Low), m.PriceDigits}, {(*int64)(&candle.Close), m.PriceDigits},
		{(*int64)(&candle.Volume), m.VolumeDigits},
	}
	for i := range columns {
		if at+1 >= len(data) || data[at] != ',' || data[at+1] != '"' {
			return 0
		}
		var value int64
		if value, at = quoted(data, at+1, columns[i].digits); at == 0 {
			return 0
		}
		*columns[i].to = value
	}
	if at >= len(data) || data[at] != ']' {
		return 0
	}
	candle.Start = market.Time(int64(millis) * int64(time.Millisecond))
	return at + 1
}
