package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/market"
)

// hearing passes on an exchange's market data and counts the rows of candles that are left out.
type hearing struct {
	exchange.MarketData
	left  exchange.LeftOut
	first string // what the first of them was, of those that cannot be
}

// Candles asks the exchange.
func (h *hearing) Candles(ctx context.Context, m *market.Market, interval market.Interval, start, end market.Time,
	limit int, dst []market.Candle) ([]market.Candle, error) {
	got, err := h.MarketData.Candles(ctx, m, interval, start, end, limit, dst)
	if left, _ := exchange.CheckLeftOut(err); left != nil {
		h.left.Early += left.Early
		h.left.False += left.False
		h.left.Twice += left.Twice
		if h.first == "" && left.False > 0 {
			h.first = left.Error()
		}
	}
	return got, err
}

// tellCandles reports what the answers about a series were like, once, and forgets it.
func (d *doctor) tellCandles(s poll.Series, candles []market.Candle, now market.Time, h *hearing) {
	left, first := h.left, h.first
	h.left, h.first = exchange.LeftOut{}, ""
	if d.heard[s] || len(candles) == 0 {
		return
	}
	d.heard[s] = true
	newest := &candles[len(candles)-1]
	absent := s.Interval.Index(newest.Start) - s.Interval.Index(candles[0].Start) + 1 - int64(len(candles))
	since := s.Interval.Index(now) - s.Interval.Index(newest.Start) - 1
	parts := []string{fmt.Sprintf("%s %s: %d candles asked for at %s", d.plan.Catalog.Market(s.Market).Name, s.Interval,
		len(candles), now.Std().Format("15:04:05"))}
	for _, part := range []struct {
		count int64
		what  string
	}{
		{absent, "intervals between them without one"},
		{since, "that have closed since are not listed: no trade, or they come late"},
		{int64(left.Twice), "rows came twice, and count once"},
		{int64(left.Early), "rows had not closed yet, and are left out"},
		{int64(left.False), "rows cannot be, and are left out"},
	} {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.count, part.what))
		}
	}
	if text := strings.Join(parts, "; "); left.False > 0 {
		d.warn("candles", text, "the bot trades without these rows: "+first)
	} else {
		d.ok("candles", "%s", text)
	}
}
