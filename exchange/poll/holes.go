package poll

import (
	"github.com/tidemark-trading/tidemark/market"
)

// holes are absent intervals of a series that have not been logged yet.
type holes struct {
	count    int64
	from, to market.Time // starts of the first and the last of them
	last     market.Time // start of the newest one that was ever added
	told     market.Time // time of the latest line; 0: none
}

// add adds an interval, once. Intervals come in order.
func (h *holes) add(start market.Time) {
	if start <= h.last {
		return
	}
	if h.count == 0 {
		h.from = start
	}
	h.count, h.to, h.last = h.count+1, start, start
}

// tellHoles logs the absent intervals of a series that never came, at most once in remind.
func (f *Feed) tellHoles(r *row, now market.Time) {
	h := &r.holes
	if h.count == 0 || h.told != 0 && now.Sub(h.told) < remind {
		return
	}
	f.Log.Info().Str("market", f.Catalog.Market(r.Market).Name).Stringer("interval", r.Interval).
		Int64("intervals", h.count).Stringer("from", h.from).Stringer("to", h.to).
		Msg("the exchange lists no candle: no trade, or it is missing")
	h.count, h.told = 0, now
}
