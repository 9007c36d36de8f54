package rules

import (
	"math"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Skip uses candles at whose close OnCandle would ask for nothing, for speed alone. It is a
// strategy.Skipper.
func (w *written) Skip(series []market.Candle) (used int) {
	x := w.In(series[0].Market)
	if !w.alone || series[0].Interval != w.interval || !x.live || x.ahead || x.Order != 0 || x.Entry != 0 {
		return 0
	}
	if w.rows {
		return w.skipRows(x, series)
	}
	for used < len(series) {
		c := &series[used]
		x.state.Push(*c)
		if x.ahead = !w.calm(x, c); x.ahead {
			break
		}
		x.Seen = c.End()
		used++
	}
	return used
}

// skipRows is Skip for rules that read nothing but candles: they are looked at in rows.
func (w *written) skipRows(x *trade, series []market.Candle) (used int) {
	rules := [2]int{w.entry, w.exit}
	written := rules[:]
	if w.exit == none {
		written = rules[:1]
	}
	for used < len(series) {
		ahead := min(x.state.Look(series[used:], written...), len(series)-used)
		entry, stop := x.state.Ahead(0)
		if w.exit != none {
			exit, unknown := x.state.Ahead(1)
			if stop |= unknown; x.sure.flat == math.MaxInt64 {
				exit &= entry
			}
			stop |= exit
		}
		counted := entry != 0 && w.busy(x, series[used:used+ahead])
		if !counted {
			stop |= entry
		}
		flat := uint64(0)
		if w.watches {
			known := uint64(0)
			flat, known = x.sure.rows(series[used : used+ahead])
			stop |= ^known
		}
		n := min(bits.TrailingZeros64(stop), ahead)
		if flat &= 1<<n - 1; flat != 0 {
			x.state.MissedAhead(flat)
		}
		if counted {
			busy := bits.OnesCount64(entry & (1<<n - 1))
			x.count.entry += busy
			x.count.busy += busy
		}
		x.state.Pass(n)
		if x.Entered != 0 {
			x.extendRow(series[used : used+n])
		}
		if used += n; n > 0 {
			x.Seen = series[used-1].End()
		}
		if n < ahead {
			break
		}
	}
	return used
}

// busy reports whether an entry that is true at a close of these candles buys nothing, as there is
// a position.
func (w *written) busy(x *trade, series []market.Candle) bool {
	if x.sure.held == 0 || w.Add > 0 && x.Entries <= w.Add {
		return false
	}
	for i := range series {
		if series[i].Close < x.sure.held {
			return false
		}
	}
	return true
}

// calm reports whether the decision at a close asks for nothing, and counts what decide would.
func (w *written) calm(x *trade, c *market.Candle) bool {
	held, flat := x.sure.held != 0 && c.Close >= x.sure.held, c.Close <= x.sure.flat
	if x.Entered != 0 {
		x.extend(c.End(), c.High, c.Low)
	}
	switch {
	case w.position && (held == flat || held && x.Entered == 0):
		return false
	case w.watches && held == flat:
		return false
	case w.position:
		x.describe(c, held)
	}
	if w.ExitAfter != 0 && !flat && (x.Entered == 0 || x.bars(c) >= w.ExitAfter) {
		return false
	}
	x.inputs.Time = c.End()
	entry, known := x.state.Eval(w.entry, &x.inputs)
	if !known {
		return false
	}
	if w.exit != none && (x.inputs.InPosition || !w.exitPosition) {
		exit, known := x.state.Eval(w.exit, &x.inputs)
		if !known || exit != 0 && (!flat || entry != 0) {
			return false
		}
	}
	if entry == 0 {
		if w.watches && flat {
			x.state.Missed(&x.inputs, c.End())
		}
		return true
	}
	if !held || w.Add > 0 && x.Entries <= w.Add {
		return false
	}
	x.count.entry++
	x.count.busy++
	return true
}

// sure is what is known of the position without the desk, until the next fill or buy. Whether a
// small amount counts as held depends on the price: it must be worth enough to be sold.
type sure struct {
	flat market.Price // up to this close nothing is held, and no order is open; 0: not known
	held market.Price // from this close on something is held; 0: not known
}

// rows are the candles at whose close nothing is held and no order is open, and those where it is
// known whether it is so: a bit for each, the first one lowest.
func (s *sure) rows(series []market.Candle) (flat, known uint64) {
	for i := range series {
		if price := series[i].Close; price <= s.flat {
			flat |= 1 << i
		} else if s.held != 0 && price >= s.held {
			known |= 1 << i
		}
	}
	return flat, known | flat
}

// learn notes what the desk says.
func (x *trade) learn(m strategy.MarketDesk, c *market.Candle) {
	if c.Close <= x.sure.flat || x.sure.held != 0 && c.Close >= x.sure.held || !x.live {
		return
	}
	switch {
	case m.Held() > 0:
		rules, amount := m.Market(), m.Position().Amount
		for price := c.Close; price > 0 && rules.Tradable(amount, price) > 0; price /= 2 {
			x.sure.held = price
		}
	case m.Flat() && m.Position().Amount == 0:
		x.sure.flat = math.MaxInt64
	case m.Flat():
		x.sure.flat = c.Close
	}
}
