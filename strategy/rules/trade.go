package rules

import (
	"fmt"
	"math"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules/lang"
)

// written is the strategy.
type written struct {
	strategy.Base
	compiled
	interval market.Interval
	markets  []market.ID
	names    []string          // of them
	longer   []market.Interval // whose candle may close with one of the main interval
	alone    bool              // the rules read nothing but candles of the main interval and the position
	rows     bool              // not the position either
	watches  bool              // it counts near misses, and tags say why
	others   []other           // markets that the rules read
	strategy.PerMarket[trade]
}

// trade is the state of one market. A restart keeps the exported fields; the candles of the warm-up
// build the others again.
type trade struct {
	Entered market.Time    `json:"entered"` // first fill of the position
	Left    market.Time    `json:"left"`    // when the last position ended
	High    market.Price   `json:"high"`    // highest since the candle of the entry; 0: no candle yet
	Low     market.Price   `json:"low"`
	Bought  float64        `json:"bought"` // amount of the position's buys
	Paid    float64        `json:"paid"`   // for it, without fees: price times amount
	Entries int            `json:"entries"`
	Order   market.OrderID `json:"order"`            // the limit entry that rests
	Entry   market.OrderID `json:"entry"`            // the buy whose stop is raised; 0: none
	Stop    market.Price   `json:"stop"`             // of it, as it was set last
	Seen    market.Time    `json:"seen"`             // end of the latest main candle
	Leaving bool           `json:"leaving,omitzero"` // a Close is under way
	Heard   market.Time    `json:"heard,omitzero"`   // when the signal was known whose decision waits; 0: none

	state  lang.State
	inputs lang.Inputs
	closes closes
	recall []recalled // of the warm-up: those that a restart has missed are among them
	live   bool       // the warm-up is over
	sure   sure
	ahead  bool // Skip has pushed the next candle
	count  counts

	interval market.Interval
}

// closes are the ends of the latest candles.
type closes struct {
	longer  []market.Time // by place in written.longer
	pending bool          // the decision on main waits
	grouped bool          // the main candles of all markets that closed with it are in
	main    market.Candle // the latest one, where it is kept
}

// OnCandle takes a candle, and decides when all that close with it are in.
func (w *written) OnCandle(d *strategy.Desk, c market.Candle) {
	x := w.In(c.Market)
	if c.Interval != w.interval {
		x.state.PushOf(c.Interval, c)
		if x.closes.longer != nil {
			w.note(x.closes.longer, &c)
			w.late(d, x)
		}
		return
	}
	if !x.ahead {
		x.state.Push(c)
	}
	x.ahead = false
	w.keep(d, x, &c)
	if w.on != nil {
		x.closes.main = c
		w.tend(d, x, &c)
		w.heard(d, x)
		return
	}
	if x.closes.pending = !w.whole(x, c.End()); x.closes.pending {
		x.closes.main = c
		return
	}
	w.decide(d, x, &c, c.End())
}

// keep takes a candle of the main interval into what is known of the position.
func (w *written) keep(d *strategy.Desk, x *trade, c *market.Candle) {
	if !x.live {
		x.remember(d.In(c.Market), c)
	}
	if x.Entered != 0 {
		x.extend(c.End(), c.High, c.Low)
	}
	x.Seen = c.End()
	if x.closes.pending {
		x.count.waited++
	}
}

// note takes note of the end of a candle of a longer interval.
func (w *written) note(longer []market.Time, c *market.Candle) {
	for i, interval := range w.longer {
		if interval == c.Interval {
			longer[i] = c.End()
		}
	}
}

// late decides if the decision waited for a candle.
func (w *written) late(d *strategy.Desk, x *trade) {
	if w.on != nil {
		w.heard(d, x)
		return
	}
	if x.closes.pending && w.whole(x, x.closes.main.End()) {
		x.closes.pending, x.closes.grouped = false, false
		w.decide(d, x, &x.closes.main, x.closes.main.End())
	}
}

// whole reports whether the longer candles that close at an instant are in.
func (w *written) whole(x *trade, end market.Time) bool {
	for i, interval := range w.longer {
		if x.closes.longer[i] < end && interval.Aligned(end) {
			return false
		}
		for k := range w.others {
			if w.others[k].longer[i] < end && interval.Aligned(end) {
				return false
			}
		}
	}
	return true
}

// read fills in what the rules read beside candles; at is the time of the decision.
func (w *written) read(m strategy.MarketDesk, x *trade, c *market.Candle, at market.Time) {
	x.inputs.Time = at
	if w.place != nil {
		_, seconds := at.Std().In(w.place).Zone()
		x.inputs.Offset = market.Duration(seconds) * market.Duration(time.Second)
	}
	for i, name := range w.signals {
		x.inputs.Signals[i], _ = m.Signal(name)
	}
	if w.position || w.account {
		w.fill(m, x, c)
	}
}

// decide is the decision of a time, with the latest candle.
func (w *written) decide(d *strategy.Desk, x *trade, c *market.Candle, at market.Time) {
	m := d.In(c.Market)
	x.learn(m, c)
	w.read(m, x, c, at)
	if w.plots != nil {
		w.draw(m, x)
	}
	entry, entryKnown := x.state.Eval(w.entry, &x.inputs)
	if w.watches && entry == 0 && entryKnown && m.Flat() && !m.Warming() {
		x.state.Missed(&x.inputs, at)
	}
	exit, exitKnown := 0.0, true
	if w.exit != none && (x.inputs.InPosition || !w.exitPosition) {
		exit, exitKnown = x.state.Eval(w.exit, &x.inputs)
	}
	if entry == 0 && exit == 0 && entryKnown && exitKnown && x.Order == 0 && w.ExitAfter == 0 &&
		x.Entry == 0 {
		return
	}
	if m.Warming() {
		return
	}
	if !entryKnown {
		x.count.entryUnknown++
	}
	if !exitKnown {
		x.count.exitUnknown++
	}
	if entry != 0 {
		x.count.entry++
	}
	if exit != 0 || w.on == nil && w.over(m, x, c) {
		if entry != 0 {
			x.count.both++
		}
		w.leave(m, x, exit != 0)
		return
	}
	if w.on == nil {
		w.lift(d, m, x)
	}
	old := x.resting(d)
	switch {
	case entry == 0 && old != 0:
		d.Cancel(old)
	case entry == 0:
	case !w.mayBuy(m, x, old):
		x.count.busy++
	case w.Cooldown > 0 && x.Left != 0 && x.index(c)-w.interval.Index(x.Left) < int64(w.Cooldown):
		x.count.cooling++
	default:
		w.enter(d, m, x, c, old)
	}
}

// leave sells all. Where that is under way, Close does nothing and nothing is counted.
func (w *written) leave(m strategy.MarketDesk, x *trade, ruled bool) {
	if x.Order = 0; m.Flat() {
		return
	}
	if !x.Leaving {
		x.count.exit++
	}
	x.Leaving = m.Close(strategy.Tag(w.exitTag(x, ruled))) == nil
}

// OnCloseFailed counts the next Close again.
func (w *written) OnCloseFailed(_ *strategy.Desk, f strategy.CloseFailed) {
	w.In(f.Market).Leaving = false
}

// exitTag says why the position is left.
func (w *written) exitTag(x *trade, ruled bool) string {
	if ruled {
		return w.explained(TagExit, w.exit, x)
	}
	return fmt.Sprintf("%s: %d candles", TagExit, w.ExitAfter)
}

// explained is a tag with the reason why a rule is true, where someone reads it.
func (w *written) explained(tag string, rule int, x *trade) string {
	if !w.watches {
		return tag
	}
	return clipped(tag + ": " + x.state.Explain(rule, &x.inputs))
}

// longestTag is the most characters of a tag: each order's is in the journal.
const longestTag = 200

// clipped is a tag that is not too long.
func clipped(tag string) string {
	if runes := []rune(tag); len(tag) > longestTag && len(runes) > longestTag {
		return string(runes[:longestTag-1]) + "…"
	}
	return tag
}

// over reports whether a position has lasted exit_after candles.
func (w *written) over(m strategy.MarketDesk, x *trade, c *market.Candle) bool {
	if w.ExitAfter == 0 || m.Held() == 0 {
		return false
	}
	x.adopt(m, c)
	return x.bars(c) >= w.ExitAfter
}

// lift raises the stop.
func (w *written) lift(d *strategy.Desk, m strategy.MarketDesk, x *trade) {
	if x.Entry == 0 || m.Held() == 0 {
		return
	}
	price, known := x.price(w.raise.rule, math.Floor)
	rules := m.Market()
	if price = rules.RoundPrice(market.Buy, price); known && price > x.Stop &&
		d.Update(x.Entry, strategy.StopAt(price), strategy.OrSell()) == nil {
		x.Stop = price
	}
}

// resting is the limit entry that rests and has bought nothing.
func (x *trade) resting(d *strategy.Desk) market.OrderID {
	if x.Order == 0 {
		return 0
	}
	o, open := d.Resting(x.Order)
	if !open {
		x.Order = 0
	}
	if !open || o.AmountRemaining != o.Amount {
		return 0
	}
	return o.ID
}

// mayBuy reports whether position and orders leave room for a buy, which would replace an order.
func (w *written) mayBuy(m strategy.MarketDesk, x *trade, old market.OrderID) bool {
	if old != 0 {
		return true
	}
	if m.Flat() {
		x.forget()
		return true
	}
	if w.Add == 0 || x.Entries > w.Add || m.Held() == 0 {
		return false
	}
	for _, o := range m.OpenOrders() {
		if o.Side == market.Buy {
			return false
		}
	}
	return true
}

// enter buys.
func (w *written) enter(d *strategy.Desk, m strategy.MarketDesk, x *trade, c *market.Candle, old market.OrderID) {
	var room [8]strategy.Option
	with := append(room[:0], strategy.Tag(w.explained(w.tag, w.entry, x)))
	base, ok := c.Close, true
	if w.on != nil {
		base = m.Last() // the candle may be old
	}
	if w.at.set() {
		if base, ok = x.price(w.at.rule, math.Floor); ok {
			rules := m.Market()
			base = rules.RoundPrice(market.Buy, base)
			with = append(with, strategy.At(base))
		}
	}
	if o, open := d.Resting(old); open && ok && o.Price == base {
		return // it is there already
	}
	with, stop := w.exits(m, x, base, with, &ok)
	if !ok {
		x.count.priceless++
		return
	}
	if old != 0 {
		with = append(with, strategy.Replacing(old))
	}
	x.sure.flat = 0
	id, err := m.Buy(w.Size, with...)
	if err != nil {
		x.count.refused++
		return
	}
	if x.Leaving = false; old == 0 {
		x.Entries++
	}
	if w.at.set() {
		x.Order = id
	}
	if w.raise.set() {
		x.Entry, x.Stop = id, stop
	}
}

// exits appends the exits of an entry at a price; ok becomes false where one has no price. stop is
// the first stop, if it does not follow from a trail.
func (w *written) exits(m strategy.MarketDesk, x *trade, base market.Price, with []strategy.Option,
	ok *bool) (all []strategy.Option, stop market.Price) {
	rules := m.Market()
	level := func(l level, side market.Side, rate market.Price, round func(float64) float64) market.Price {
		price := rate
		if l.rule != none {
			known := false
			if price, known = x.price(l.rule, round); !known {
				*ok = false
				return 0
			}
		}
		return rules.RoundPrice(side, price)
	}
	if first := w.stop; first.set() || w.raise.set() {
		if !first.set() {
			first = w.raise
		}
		stop = level(first, market.Buy, base.Below(first.rate), math.Floor)
		with = append(with, strategy.StopAt(stop))
	}
	if w.target.set() {
		with = append(with, strategy.TargetAt(level(w.target, market.Sell, base.Above(w.target.rate), math.Ceil)))
	}
	switch {
	case w.trail.rate != 0:
		with = append(with, strategy.Trail(w.trail.rate))
	case w.trail.rule != none:
		distance, known := x.price(w.trail.rule, math.Ceil)
		if !known {
			*ok = false
		}
		with = append(with, strategy.TrailBy(distance))
	}
	if w.BreakEven != 0 {
		with = append(with, strategy.BreakEvenAfter(w.BreakEven))
	}
	return with, stop
}

// price is a rule's price or distance, rounded. It is not known where it is undefined or below 1.
func (x *trade) price(rule int, round func(float64) float64) (p market.Price, known bool) {
	v, known := x.state.Eval(rule, &x.inputs)
	if v = round(v); !known || !(v >= 1 && v < 1<<53) {
		return 0, false
	}
	return market.Price(v), true
}
