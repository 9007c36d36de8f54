package rest

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// MaxCandles is how many candles one request returns at most (venue-facts 1.2).
const MaxCandles = 1440

// Candles appends candles of a market, oldest first: GET /{market}/candles (specification 1, venue-facts 1.2). They start from start on
// and before end; of more than limit, 1 … MaxCandles, 0: MaxCandles, these are the newest. A zero start or end leaves that side open;
// always give an end. An interval without trades has no candle, and one that has not ended is given as it stands. Nothing about a
// candle is checked beyond its numbers (market.Candle.Check).
func (c *Client) Candles(ctx context.Context, m *market.Market, interval market.Interval, start, end market.Time, limit int, dst []market.Candle) ([]market.Candle, error) {
	before := len(dst)
	path := to(m.Name, "candles").with("interval", interval.String()).integer("limit", int64(limit)).moment("start", start).moment("end", end).String()
	err := c.ask(ctx, request{at: getCandles, path: path}, func(body []byte) (err error) {
		dst, err = appendCandles(dst[:before], body, m, interval)
		return err
	})
	if err != nil {
		return dst[:before], err
	}
	slices.SortFunc(dst[before:], func(a, b market.Candle) int { return cmp.Compare(a.Start, b.Start) })
	return dst, nil
}

// appendCandles reads candles in the order of the answer.
func appendCandles(dst []market.Candle, body []byte, m *market.Market, interval market.Interval) ([]market.Candle, error) {
	s := scanner{data: body}
	for s.array(); s.element(); {
		candle := market.Candle{Market: m.ID, Interval: interval}
		if next := row(body, s.at, m, &candle); next > 0 {
			s.at = next
			dst = append(dst, candle)
			continue
		}
		s.array()
		candle.Start = s.start()
		candle.Open = market.Price(s.column("open", m.PriceDigits))
		candle.High = market.Price(s.column("high", m.PriceDigits))
		candle.Low = market.Price(s.column("low", m.PriceDigits))
		candle.Close = market.Price(s.column("close", m.PriceDigits))
		candle.Volume = market.Volume(s.column("volume", m.VolumeDigits))
		s.leave()
		if s.err == nil {
			dst = append(dst, candle)
		}
	}
	return dst, s.end()
}

// start reads the first column.
func (s *scanner) start() market.Time {
	if !s.element() {
		s.malformed()
	}
	return s.millis("start")
}

// column reads the next column.
func (s *scanner) column(field string, digits uint8) int64 {
	if !s.element() {
		s.malformed()
	}
	return s.fixed(field, digits)
}

// row reads a candle that is written without white space and in easy numbers, as the exchange does, and returns where it ends; 0 where
// it is anything else.
func row(data []byte, at int, m *market.Market, candle *market.Candle) int {
	const stamp = 13 // digits of the milliseconds of our days
	if at+17 > len(data) || data[at] != '[' {
		return 0
	}
	head, tail := binary.LittleEndian.Uint64(data[at+1:])^zeros, binary.LittleEndian.Uint64(data[at+9:])^zeros
	if marks(head) != 0 || bits.TrailingZeros64(marks(tail))/8 != stamp-8 {
		return 0
	}
	millis := worth(head, 8)*100_000 + worth(tail, stamp-8)
	at += 1 + stamp
	columns := [...]struct {
		to     *int64
		digits uint8
	}{{(*int64)(&candle.Open), m.PriceDigits}, {(*int64)(&candle.High), m.PriceDigits}, {(*int64)(&candle.Low), m.PriceDigits},
		{(*int64)(&candle.Close), m.PriceDigits}, {(*int64)(&candle.Volume), m.VolumeDigits}}
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
