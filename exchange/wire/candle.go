package wire

import (
	"encoding/binary"
	"math/bits"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// Candles appends the candles of an array, each
// [milliseconds,"open","high","low","close","volume"], in the units of m; more columns are skipped.
// An error names the column.
func (s *Scanner) Candles(m *market.Market, interval market.Interval, dst []market.Candle) []market.Candle {
	for s.Array(); s.Element(); {
		if next := fastCandles(s.data, s.at, m, interval, &dst); next > s.at {
			s.at = next
			continue
		}
		candle := market.Candle{Market: m.ID, Interval: interval}
		if s.columns(m, &candle); s.err == nil {
			dst = append(dst, candle)
		}
	}
	return dst
}

// columns reads a candle column by column.
func (s *Scanner) columns(m *market.Market, candle *market.Candle) {
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

// fastCandles reads consecutive candles as fastCandle does, and returns where the last one ends.
func fastCandles(data []byte, at int, m *market.Market, interval market.Interval, dst *[]market.Candle) int {
	candles, stop := *dst, at
	for {
		candle := market.Candle{Market: m.ID, Interval: interval}
		next := fastCandle(data, at, m, &candle)
		if next == 0 {
			break
		}
		candles = append(candles, candle)
		stop = next
		if stop >= len(data) || data[stop] != ',' {
			break
		}
		at = stop + 1
	}
	*dst = candles
	return stop
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
