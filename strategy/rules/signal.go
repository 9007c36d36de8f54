package rules

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// OnSignal decides on a signal, in its market or in all.
func (w *written) OnSignal(d *strategy.Desk, s market.Signal) {
	if !slices.Contains(w.on, s.Source) {
		return
	}
	for _, id := range w.markets {
		if m := d.In(id); (s.Market == 0 || s.Market == id) && !m.Warming() {
			w.hear(d, m, &s)
		}
	}
}

// hear decides on a signal of a market, or waits for the candles that closed before it.
func (w *written) hear(d *strategy.Desk, m strategy.MarketDesk, s *market.Signal) {
	x := w.In(m.ID())
	if latest, holds := m.Signal(s.Source); !holds || latest != *s || x.Seen == 0 {
		return
	}
	waits := x.Heard != 0
	x.Heard = s.Known
	if w.heard(d, x); x.Heard != 0 && !waits {
		d.Timer(s.Known.Add(strategy.GroupGrace), int64(m.ID()))
	}
}

// heard decides on the signal that waits, if the candles that closed before it are in.
func (w *written) heard(d *strategy.Desk, x *trade) {
	if x.Heard != 0 && w.closed(x) {
		w.answer(d, x)
	}
}

// closed reports whether the candles that closed before the signal that waits are in.
func (w *written) closed(x *trade) bool {
	if x.Seen < w.interval.Floor(x.Heard) {
		return false
	}
	for i, interval := range w.longer {
		if x.closes.longer[i] < interval.Floor(x.Heard) {
			return false
		}
	}
	for i := range w.others {
		o := &w.others[i]
		if o.main < w.interval.Floor(x.Heard) {
			return false
		}
		for i, interval := range w.longer {
			if o.longer[i] < interval.Floor(x.Heard) {
				return false
			}
		}
	}
	return true
}

// answer decides on the signal that waits.
func (w *written) answer(d *strategy.Desk, x *trade) {
	at := x.Heard
	x.Heard = 0
	w.decide(d, x, &x.closes.main, at)
}

// OnTimer ends the wait for candles: without a trade there is none.
func (w *written) OnTimer(d *strategy.Desk, name int64) {
	id := market.ID(name)
	if !slices.Contains(w.markets, id) {
		return
	}
	switch x := w.In(id); {
	case x.Heard != 0 && x.Heard.Add(strategy.GroupGrace) <= d.Now():
		w.answer(d, x)
	case x.closes.pending && x.closes.grouped:
		x.closes.pending, x.closes.grouped = false, false
		w.decide(d, x, &x.closes.main, x.closes.main.End())
	}
}

// tend does at a close what does not wait for a signal: exit_after and raise.
func (w *written) tend(d *strategy.Desk, x *trade, c *market.Candle) {
	m := d.In(c.Market)
	if m.Warming() {
		return
	}
	if w.over(m, x, c) {
		w.leave(m, x, false)
	} else if x.Entry != 0 {
		w.read(m, x, c, c.End())
		w.lift(d, m, x)
	}
}
