package rules

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// reader is rules that read other markets: they decide when the candles of all are in.
type reader struct{ *written }

// other is a market that the rules read.
type other struct {
	id     market.ID
	main   market.Time   // end of the latest candle of the main interval
	longer []market.Time // by place in written.longer
}

// OnCandle takes a candle of any market.
func (r *reader) OnCandle(d *strategy.Desk, c market.Candle) {
	for _, id := range r.markets {
		r.In(id).state.PushOf(c.Interval, c)
	}
	for i := range r.others {
		if o := &r.others[i]; o.id != c.Market {
			continue
		} else if c.Interval == r.interval {
			o.main = c.End()
		} else {
			r.note(o.longer, &c)
		}
	}
	if slices.Contains(r.markets, c.Market) {
		x := r.In(c.Market)
		if c.Interval == r.interval {
			r.keep(d, x, &c)
			if x.closes.main = c; r.on != nil {
				r.tend(d, x, &c)
			} else {
				x.closes.pending, x.closes.grouped = true, false
			}
		} else {
			r.note(x.closes.longer, &c)
		}
	}
	for _, id := range r.markets {
		if x := r.In(id); r.on != nil {
			r.heard(d, x)
		} else if x.closes.grouped {
			r.late(d, x)
		}
	}
}

// OnCandles decides in the markets whose candle has closed, when the longer candles are in too.
func (r *reader) OnCandles(d *strategy.Desk, g strategy.Group) {
	if r.on != nil {
		return
	}
	for i := range g.Candles {
		id := g.Candles[i].Market
		if !slices.Contains(r.markets, id) {
			continue
		}
		x := r.In(id)
		x.closes.grouped = true
		if r.late(d, x); x.closes.pending && !d.In(id).Warming() {
			d.Timer(d.Now().Add(strategy.GroupGrace), int64(id))
		}
	}
}
