package backtest

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/market"
)

// benchmark follows the closes of one series, once for all runs that step it and hold its market to
// compare with.
type benchmark struct {
	length market.Time     // of a candle
	known  []market.Candle // candles of the present block, and some before it
	since  []*heldSince
	outline
}

// heldSince is a hold of the market since a candle: the same in all runs that began with it.
type heldSince struct {
	first, next market.Time // starts: of its first candle, and of the next one
	track       track
	days        []report.Day
	closed      bool // days has the last day too

	from    market.Time // returns are days as a row of numbers from here on
	returns []float64
}

// step adds the candles of a block.
func (b *benchmark) step(known []market.Candle, o outline) {
	b.known, b.outline = known, o
	for _, h := range b.since {
		h.add(known, b.length, o)
	}
}

// from is the hold since a candle of the present block.
func (b *benchmark) from(c *market.Candle) *heldSince {
	for _, h := range b.since {
		if h.first == c.Start {
			return h
		}
	}
	h := &heldSince{first: c.Start, next: c.Start}
	h.track.startBought(c.Start+b.length, int64(c.Open), int64(c.Close))
	h.track.daily = &h.days
	h.add(b.known, b.length, b.outline)
	b.since = append(b.since, h)
	return h
}

// add adds those of the candles that are missing.
func (h *heldSince) add(known []market.Candle, length market.Time, o outline) {
	at, _ := slices.BinarySearchFunc(known, h.next,
		func(c market.Candle, t market.Time) int { return cmp.Compare(c.Start, t) })
	if known = known[at:]; len(known) > 0 {
		h.next = known[len(known)-1].Start + 1
		h.track.addDays(known, length, o.after(at))
	}
}

// end is the track of a run whose candles have ended.
func (h *heldSince) end() track {
	t := h.track
	if !h.closed {
		h.closed = true
		t.closeDay()
		t = h.track
	}
	t.daily = nil // days has them
	return t
}

// byDay are the returns of n days.
func (h *heldSince) byDay(from market.Time, n int) []float64 {
	if h.from != from || len(h.returns) != n {
		h.from, h.returns = from, spreadOut(h.days, from, n)
	}
	return h.returns
}
