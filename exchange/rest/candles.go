package rest

import (
	"context"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// MaxCandles is the largest number of candles in one answer (venue-facts 1.2).
const MaxCandles = 1440

// Candles appends candles of a market, oldest first: GET /{market}/candles (specification 1,
// venue-facts 1.2). start counts, end does not; of more than limit, 1 … MaxCandles, 0: MaxCandles,
// the newest are returned. A zero start or end leaves that side open; always give an end. An
// interval without trades has no candle, and an open interval's candle is the current one. The
// answer is read by exchange.CandleRange: with an *exchange.LeftOut there are candles, too.
func (c *Client) Candles(ctx context.Context, m *market.Market, interval market.Interval, start, end market.Time,
	limit int, dst []market.Candle) ([]market.Candle, error) {
	before := len(dst)
	path := to(m.Name, "candles").with("interval", interval.String()).integer("limit", int64(limit)).
		moment("start", start).moment("end", end).String()
	dst, err := more(ctx, c, request{at: getCandles, path: path}, dst,
		func(dst []market.Candle, body []byte) ([]market.Candle, error) {
			return appendCandles(dst, body, m, interval)
		})
	if err != nil {
		return dst, err
	}
	asked := exchange.CandleRange{Market: m, Interval: interval, Start: start, End: end, Limit: limit}
	read, err := asked.Read(dst[before:], c.Now())
	return dst[:before+len(read)], err
}

// appendCandles reads candles in the order of the answer.
func appendCandles(dst []market.Candle, body []byte, m *market.Market, interval market.Interval) ([]market.Candle,
	error) {
	s := wire.NewScanner(body)
	dst = s.Candles(m, interval, dst)
	return dst, s.End()
}
