package orders

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// watched is a Rest while its candles are looked at. A candle is judged as a whole from the order's
// arrival on, also after a fill: a fill in a candle that trades through later says nothing about
// touches, as in a backtest.
type watched struct {
	order *Life
	rest  *Rest
	last  market.Price // of the latest trade
	cells []cell       // candles that are not judged yet, by time
}

// cell is a candle with what was seen of it since the order came to rest.
type cell struct {
	start, end market.Time
	reached    bool // the price reached the order while it rested
	through    bool // a trade went beyond its price
	whole      bool // the candle itself is known
}

// begin begins to look, with the market as it was before.
func (w *watched) begin(interval market.Interval, q Quote) {
	r := w.rest
	r.Interval, r.Known, w.last = interval, r.From, q.Last
	own, size := q.Bid, q.BidSize
	if w.order.Side == market.Sell {
		own, size = q.Ask, q.AskSize
	}
	switch {
	case own == 0:
	case own == r.Price:
		r.Ahead, r.Seen = size, true
	case w.beyond(own): // no displayed order has a price as good
		r.Seen = true
	}
	for i := range w.order.Fills {
		if f := &w.order.Fills[i]; w.filled(f) {
			w.cell(f.Time).reached = true
		}
	}
}

// during reports whether the order rested at a time.
func (w *watched) during(at market.Time) bool {
	return at >= w.rest.From && (w.rest.To == 0 || at < w.rest.To)
}

// filled reports whether a fill is of this time at rest.
func (w *watched) filled(f *market.Fill) bool {
	return !f.Taker && f.Time >= market.FloorTo(w.rest.From, fillTime) && (w.rest.To == 0 || f.Time <= w.rest.To)
}

// beyond reports whether a price is past the order's, seen from the market.
func (w *watched) beyond(p market.Price) bool {
	if w.order.Side == market.Buy {
		return p < w.rest.Price
	}
	return p > w.rest.Price
}

// cell is the candle of a time.
func (w *watched) cell(at market.Time) *cell {
	start := w.rest.Interval.Floor(at)
	n := len(w.cells)
	for n > 0 && w.cells[n-1].start > start {
		n--
	}
	if n == 0 || w.cells[n-1].start < start {
		w.cells = slices.Insert(w.cells, n, cell{start: start, end: w.rest.Interval.End(start)})
		n++
	}
	return &w.cells[n-1]
}

// relevant reports whether the order rested in some part of a candle.
func (w *watched) relevant(start, end market.Time) bool {
	return end > w.rest.From && (w.rest.To == 0 || start <= w.rest.To)
}

// price notes an event with a price.
func (w *watched) price(ev *market.Event) {
	if ev.At < w.rest.From || !w.relevant(w.rest.Interval.Floor(ev.At), ev.At+1) {
		return
	}
	var trade, opposite market.Price
	switch ev.Kind {
	case market.KindTicker:
		if opposite = ev.Ticker.Ask; w.order.Side == market.Sell {
			opposite = ev.Ticker.Bid
		}
		if w.last != 0 && ev.Ticker.Last != w.last {
			trade = ev.Ticker.Last
		}
		w.last = ev.Ticker.Last
	case market.KindTrade:
		trade, w.last = ev.Trade.Price, ev.Trade.Price
	case market.KindBook:
		opposite, _ = best(ev.Book.Asks)
		if w.order.Side == market.Sell {
			opposite, _ = best(ev.Book.Bids)
		}
	default:
		return
	}
	if c := w.cell(ev.At); trade != 0 || opposite != 0 {
		c.through = c.through || trade != 0 && w.beyond(trade)
		c.reached = c.reached || w.during(ev.At) && (w.meets(trade) || w.meets(opposite))
	}
}

// meets reports whether a price is the order's or beyond it; 0 is none.
func (w *watched) meets(p market.Price) bool { return p != 0 && (p == w.rest.Price || w.beyond(p)) }

// candle notes a candle that arrived.
func (w *watched) candle(k *market.Candle, at market.Time) {
	end := k.End()
	if k.Interval != w.rest.Interval || at > end+candleWait || !w.relevant(k.Start, end) {
		return
	}
	c := w.cell(k.Start)
	c.whole = true
	if w.partial(c) {
		return // which of its prices came before the order is not known
	}
	low := k.Low
	if w.order.Side == market.Sell {
		low = k.High
	}
	c.through = c.through || w.beyond(low)
	c.reached = c.reached || (w.rest.To == 0 || w.rest.To >= end) && w.meets(low)
}

// partial reports whether the order came to rest after the first tenth of a candle.
func (w *watched) partial(c *cell) bool { return w.rest.From-c.start > (c.end-c.start)/10 }

// over judges the candles that are known whole by now, and reports whether the order's time at rest
// is over.
func (w *watched) over(now market.Time) bool {
	for len(w.cells) > 0 && (w.cells[0].whole && now >= w.cells[0].end || now > w.cells[0].end+candleWait) {
		w.judge(&w.cells[0])
		w.cells = w.cells[1:]
	}
	r := w.rest
	if r.To == 0 || len(w.cells) > 0 || now <= r.Interval.End(r.Interval.Floor(r.To))+candleWait {
		return false
	}
	r.Known = r.To
	return true
}

// judge makes a Touch of a candle that reached the order.
func (w *watched) judge(c *cell) {
	r := w.rest
	if r.Known = c.end; r.To != 0 {
		r.Known = min(r.Known, r.To)
	}
	if !c.reached {
		return
	}
	t := Touch{Start: c.start, Through: c.through, Partial: w.partial(c)}
	for i := range w.order.Fills {
		if f := &w.order.Fills[i]; f.Time >= c.start && f.Time < c.end && w.filled(f) {
			t.Filled += f.Amount
		}
	}
	r.Touches = append(r.Touches, t)
}

// stop ends the looking at a gap: candles that are not known whole are left out.
func (w *watched) stop(at market.Time) {
	for len(w.cells) > 0 && w.cells[0].whole {
		w.judge(&w.cells[0])
		w.cells = w.cells[1:]
	}
	if len(w.cells) > 0 {
		at = min(at, w.cells[0].start)
	}
	r := w.rest
	if r.Known = max(r.Known, r.From, at); r.To != 0 {
		r.Known = min(r.Known, r.To)
	}
}
