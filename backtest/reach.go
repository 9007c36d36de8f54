package backtest

import "github.com/tidemark-trading/tidemark/market"

// reach is the lowest and the highest price that a position has seen; zero: none.
type reach struct{ low, high market.Price }

// join makes the reach hold two more prices.
func (e *reach) join(low, high market.Price) {
	if e.high == 0 {
		e.low, e.high = low, high
		return
	}
	e.low, e.high = min(e.low, low), max(e.high, high)
}

// candle adds a candle to a position. A candle in which the position began counts by its close
// alone: which of its prices came before the entry is not known.
func (e *reach) candle(c *market.Candle, entered market.Time) {
	if c.Start < entered {
		e.join(c.Close, c.Close)
		return
	}
	e.join(c.Low, c.High)
}

// followed are the open positions whose reach is kept, by market; nil: none are.
type followed []*holding

// begin follows a position that has just been opened.
func (f followed) begin(h *holding) {
	if f != nil && !h.listed {
		h.listed, h.next, f[h.market.ID] = true, f[h.market.ID], h
	}
}

// candles adds candles of a market to its open positions, and forgets those that have ended.
func (f followed) candles(id market.ID, series []market.Candle) {
	for link := &f[id]; *link != nil; {
		h := *link
		if h.flat {
			*link, h.next, h.listed = h.next, nil, false
			continue
		}
		for i := range series {
			h.reached.candle(&series[i], h.entered)
		}
		link = &h.next
	}
}

// group adds the candles of a group.
func (f followed) group(candles []market.Candle) {
	for i := range candles {
		if id := candles[i].Market; f[id] != nil {
			f.candles(id, candles[i:i+1])
		}
	}
}

// excursions are the furthest prices below and above the entry while the trip lasted, as parts of
// the entry's price. The exit's price is one of them.
func (t *trip) excursions(m *market.Market) (worst, best float64) {
	entry, exit := t.prices(m)
	low, high := exit, exit
	if t.reached.high != 0 {
		low, high = min(low, m.Float(t.reached.low)), max(high, m.Float(t.reached.high))
	}
	return min(low/entry-1, 0), max(high/entry-1, 0)
}

// prices are the average prices of entry and exit, without fees.
func (t *trip) prices(m *market.Market) (entry, exit float64) {
	amount := float64(t.amount) / float64(market.Pow10(m.AmountDigits))
	return t.cost.Float(m.ValueDigits) / amount, t.proceeds.Float(m.ValueDigits) / amount
}
