package warmup

import (
	"slices"

	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// WarmupEnd is the end of a strategy's warm-up in a market, or what it still waits for there.
type WarmupEnd struct {
	Market market.ID
	Ended  bool
	// Interval: of the candle that ended the warm-up or, while it lasts, of the missing candles. 0:
	// it waits, or waited, for the start of trading only.
	Interval market.Interval
	At       market.Time // close of the candle that ended it; 0: the candles were there before trading began
	Left     int         // candles of Interval that are missing
}

// Rules are those of all warm-ups of an engine.
type Rules struct {
	core      port.Strategies
	catalog   *market.Catalog
	clock     *market.Time // arrival of the current event
	gate      *risk.Gate
	tradeFrom market.Time // no strategy trades before it; 0: none
}

// New is the rules of an engine's warm-ups. clock is the engine's.
func New(core port.Strategies, catalog *market.Catalog, clock *market.Time, gate *risk.Gate,
	tradeFrom market.Time) *Rules {
	return &Rules{core, catalog, clock, gate, tradeFrom}
}

// Wait has the candles that a strategy waits for before it may trade.
type Wait struct {
	*Rules
	id        market.StrategyID
	markets   []market.ID
	intervals []market.Interval
	warms     bool        // it has a warm-up
	going     bool        // some market is in its warm-up
	early     bool        // trading has not begun: Config.TradeFrom
	begun     bool        // trading has begun, or had begun before a restart: tradeFrom no longer holds it
	left      []int       // by market and interval: candles to come
	lacking   []int       // by market: intervals with candles to come
	began     []WarmupEnd // by place in markets
}

// Begin is what a new strategy waits for. candles has, by place in its intervals, the candles up to
// and including the first on which it may trade.
func (r *Rules) Begin(id market.StrategyID, markets []market.ID, of []market.Interval, candles []int) Wait {
	all := r.catalog.Markets()
	w := Wait{Rules: r, id: id, markets: markets, intervals: of, left: make([]int, (len(all)+1)*market.IntervalSlots),
		lacking: make([]int, len(all)+1), began: make([]WarmupEnd, len(markets)), early: r.tradeFrom > 0}
	for place, n := range candles {
		for _, m := range markets {
			if n > 0 {
				w.left[int(m)*market.IntervalSlots+int(of[place])] = n
				w.lacking[m]++
			}
		}
	}
	w.warms = slices.Max(append(w.lacking, 0)) > 0
	w.going = w.warms || w.early
	for _, m := range all {
		if w.going {
			w.hold(m.ID) // those that are not the strategy's too: they wait for all of its own
		}
	}
	for i, m := range markets {
		w.began[i] = WarmupEnd{Market: m, Ended: !w.going}
	}
	return w
}

// Warms reports whether a strategy has a warm-up.
func (w *Wait) Warms() bool { return w.warms }

// Going reports whether a market is in its warm-up.
func (w *Wait) Going() bool { return w.going }

// Begun reports whether the strategy has begun to trade, now or before a restart.
func (w *Wait) Begun() bool { return !w.going || w.begun }

// Cold reports whether the strategy may not trade in a market yet.
func (w *Wait) Cold(m market.ID) bool { return w.going && (w.early || w.lacking[m] > 0) }

// hold tells the gate what the strategy lacks in a market: of several intervals, the one that takes
// longest.
func (w *Wait) hold(m market.ID) {
	interval, candles := w.lacks(m)
	w.gate.WarmUp(w.id, m, candles, interval)
}

// lacks is the interval for which a market's warm-up has to wait longest, and how many candles of
// it are missing.
func (w *Wait) lacks(m market.ID) (longest market.Interval, candles int) {
	most := market.Time(0)
	for _, interval := range w.intervals {
		left := w.left[int(m)*market.IntervalSlots+int(interval)]
		if wait := market.Time(left) * interval.End(0); wait > most {
			longest, candles, most = interval, left, wait
		}
	}
	return longest, candles
}

// count counts a candle towards the end of a market's warm-up, and reports whether it was the last
// one that the market lacked.
func (w *Wait) count(c *market.Candle) (last bool) {
	left := &w.left[int(c.Market)*market.IntervalSlots+int(c.Interval)]
	if *left == 0 {
		return false
	}
	if *left--; *left == 0 {
		w.lacking[c.Market]--
	}
	return w.lacking[c.Market] == 0
}

// Count counts a candle of a strategy that has a market in warm-up.
func (w *Wait) Count(c *market.Candle) {
	waited := w.lacking[c.Market] > 0
	last := w.count(c)
	switch {
	case w.early:
		w.Release(*w.clock - 1) // a candle closing exactly at tradeFrom still counts as warm-up
	case last:
		w.ready(c)
	}
	if waited && w.Cold(c.Market) {
		w.hold(c.Market)
	}
}

// CountPast counts a candle that a restart shows again.
func (w *Wait) CountPast(c *market.Candle) {
	if w.going && w.count(c) && !w.early {
		w.ready(c)
	}
}

// Resume goes on after a restart. begun: the strategy had begun to trade before.
func (w *Wait) Resume(begun bool) {
	if w.begun = begun; begun {
		w.Release(w.tradeFrom)
	}
	for _, m := range w.markets {
		if w.Cold(m) {
			w.hold(m)
		}
	}
}

// TakeOver continues with the wait of a strategy that takes over.
func (w *Wait) TakeOver(next *Wait) {
	rules := w.Rules
	*w = *next
	w.Rules = rules
	for _, m := range w.catalog.Markets() {
		if w.going && (!slices.Contains(w.markets, m.ID) || w.Cold(m.ID)) {
			w.hold(m.ID)
		} else {
			w.gate.Warm(w.id, m.ID)
		}
	}
}

// Release lets the strategy trade once an event, at time of, is not before tradeFrom: in the
// markets that have all their candles.
func (w *Wait) Release(of market.Time) {
	if !w.early || of < w.tradeFrom && !w.begun {
		return
	}
	w.early, w.begun = false, true
	w.core.Changed()
	for i, m := range w.markets {
		if w.lacking[m] == 0 {
			w.began[i].Ended = true
			w.gate.Warm(w.id, m)
		}
	}
	w.end()
}

// ready lets the strategy trade in the market whose last missing candle has closed.
func (w *Wait) ready(c *market.Candle) {
	w.began[slices.Index(w.markets, c.Market)] = WarmupEnd{Market: c.Market, Ended: true, Interval: c.Interval,
		At: c.End()}
	w.gate.Warm(w.id, c.Market)
	w.core.Changed()
	if w.tradeFrom > 0 {
		w.core.Log(w.id).Info().Str("market", w.catalog.Market(c.Market).Name).
			Stringer("held_by", c.Interval).Msg(Message)
	}
	w.end()
}

// Message is the log message of a market whose warm-up ended after trading had begun elsewhere.
const Message = "the warm-up of the market is over: it is traded from now on"

// end ends the warm-up of the strategy where no market is left in it.
func (w *Wait) end() {
	if w.early || slices.Max(w.lacking) > 0 {
		return
	}
	w.going, w.begun = false, true
	for _, m := range w.catalog.Markets() {
		w.gate.Warm(w.id, m.ID)
	}
}

// All reports whether the strategy may not trade in any of its markets yet.
func (w *Wait) All() bool {
	return !slices.ContainsFunc(w.markets, func(m market.ID) bool { return !w.Cold(m) })
}

// Began lists the markets of the strategy in their order, with the ends of their warm-ups.
func (w *Wait) Began() []WarmupEnd {
	began := slices.Clone(w.began)
	for i := range began {
		if b := &began[i]; !b.Ended {
			b.Interval, b.Left = w.lacks(b.Market)
		}
	}
	return began
}

// Lacking lists the markets of the strategy in which candles are missing, in words: "BTC-EUR needs
// 12 more 1d candles".
func (w *Wait) Lacking() (texts []string) {
	for _, m := range w.markets {
		if w.lacking[m] > 0 {
			texts = append(texts, w.Lacks(m))
		}
	}
	return texts
}

// Lacks says what a market in warm-up needs: "BTC-EUR needs 12 more 1d candles".
func (w *Wait) Lacks(m market.ID) string {
	interval, candles := w.lacks(m)
	why := risk.Refusal{Reason: risk.ReasonWarmUp, Have: int64(candles), Limit: int64(interval)}
	return why.Words(w.catalog.Market(m), nil)
}
