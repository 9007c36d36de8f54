package engine

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// Began is the end of a strategy's warm-up in a market, or what it still waits for there.
type Began struct {
	Market market.ID
	Ended  bool
	// Interval is that of the candle that ended the warm-up, or of the candles that are missing.
	// 0: it waits, or waited, for the start of trading only.
	Interval market.Interval
	At       market.Time // close of the candle that ended it; 0: the candles were there before trading began
	Left     int         // candles of Interval that are missing
}

// warmup is what a strategy waits for before it may trade.
type warmup struct {
	early   bool    // trading has not begun: Config.TradeFrom
	begun   bool    // trading has begun, or had begun before a restart: TradeFrom no longer holds it
	left    []int   // by market and interval: candles to come
	lacking []int   // by market: intervals with candles to come
	began   []Began // by place in Slot.Markets
}

// beginWarmUp sets what a new strategy waits for.
func (e *Engine) beginWarmUp(s *slot) {
	markets := e.catalog.Markets()
	s.left, s.lacking = make([]int, (len(markets)+1)*intervals), make([]int, len(markets)+1)
	s.began = make([]Began, len(s.Markets))
	s.early = e.tradeFrom > 0
	for place, candles := range s.Warmup {
		for _, m := range s.Markets {
			if candles > 0 {
				s.left[int(m)*intervals+int(s.Intervals[place])] = candles
				s.lacking[m]++
			}
		}
	}
	s.warms = slices.Max(append(s.lacking, 0)) > 0
	s.warming = s.warms || s.early
	for _, m := range markets {
		if s.warming {
			e.hold(s, m.ID) // those that are not the strategy's too: they wait for all of its own
		}
	}
	for i, m := range s.Markets {
		s.began[i] = Began{Market: m, Ended: !s.warming}
	}
}

// holdAll tells the gate what a strategy lacks in each of its markets.
func (e *Engine) holdAll(s *slot) {
	for _, m := range s.Markets {
		if s.cold(m) {
			e.hold(s, m)
		}
	}
}

// hold tells the gate what a strategy lacks in a market: of several intervals, the one that takes
// longest.
func (e *Engine) hold(s *slot, m market.ID) {
	interval, candles := s.lacks(m)
	e.gate.WarmUp(s.id, m, candles, interval)
}

// lacks is the interval for which a market's warm-up has to wait longest, and how many candles of
// it are missing.
func (s *slot) lacks(m market.ID) (longest market.Interval, candles int) {
	most := market.Time(0)
	for _, interval := range s.Intervals {
		left := s.left[int(m)*intervals+int(interval)]
		if wait := market.Time(left) * interval.End(0); wait > most {
			longest, candles, most = interval, left, wait
		}
	}
	return longest, candles
}

// cold reports whether a strategy may not trade in a market yet.
func (s *slot) cold(m market.ID) bool { return s.warming && (s.early || s.lacking[m] > 0) }

// count counts a candle towards the end of a market's warm-up, and reports whether it was the last
// one that the market lacked.
func (s *slot) count(c *market.Candle) (last bool) {
	left := &s.left[int(c.Market)*intervals+int(c.Interval)]
	if *left == 0 {
		return false
	}
	if *left--; *left == 0 {
		s.lacking[c.Market]--
	}
	return s.lacking[c.Market] == 0
}

// warm counts a candle of a strategy that has a market in warm-up.
func (e *Engine) warm(s *slot, c *market.Candle) {
	waited := s.lacking[c.Market] > 0
	last := s.count(c)
	switch {
	case s.early:
		e.release(s, e.now-1) // a candle closing exactly at TradeFrom still counts as warm-up
	case last:
		e.ready(s, c)
	}
	if waited && s.cold(c.Market) {
		e.hold(s, c.Market)
	}
}

// release lets a strategy trade once the event, at time of, is not before TradeFrom: in the markets
// that have all their candles.
func (e *Engine) release(s *slot, of market.Time) {
	if !s.early || of < e.tradeFrom && !s.begun {
		return
	}
	s.early, s.begun, e.saves.changed = false, true, true
	for i, m := range s.Markets {
		if s.lacking[m] == 0 {
			s.began[i].Ended = true
			e.gate.Warm(s.id, m)
		}
	}
	e.endWarmUp(s)
}

// ready lets a strategy trade in the market whose last missing candle has closed.
func (e *Engine) ready(s *slot, c *market.Candle) {
	s.began[slices.Index(s.Markets, c.Market)] = Began{Market: c.Market, Ended: true, Interval: c.Interval, At: c.End()}
	e.gate.Warm(s.id, c.Market)
	e.saves.changed = true
	if e.tradeFrom > 0 {
		s.Log.Info().Str("market", e.catalog.Market(c.Market).Name).
			Stringer("held_by", c.Interval).Msg(WarmMessage)
	}
	e.endWarmUp(s)
}

// WarmMessage is the log message of a market whose warm-up ended after trading had begun elsewhere.
const WarmMessage = "the warm-up of the market is over: it is traded from now on"

// endWarmUp ends the warm-up of a strategy where no market is left in it.
func (e *Engine) endWarmUp(s *slot) {
	if s.early || slices.Max(s.lacking) > 0 {
		return
	}
	s.warming, s.begun = false, true
	for _, m := range e.catalog.Markets() {
		e.gate.Warm(s.id, m.ID)
	}
}

// Warming reports whether a strategy may not trade in any of its markets yet.
func (e *Engine) Warming(id market.StrategyID) bool {
	s := &e.slots[id-1]
	return !slices.ContainsFunc(s.Markets, func(m market.ID) bool { return !s.cold(m) })
}

// InWarmUp reports whether a strategy's asks in a market are refused because of its warm-up.
func (e *Engine) InWarmUp(id market.StrategyID, m market.ID) bool {
	return e.replaying || e.slots[id-1].cold(m)
}

// Began lists the markets of a strategy in their order, with the ends of their warm-ups.
func (e *Engine) Began(id market.StrategyID) []Began {
	s := &e.slots[id-1]
	began := slices.Clone(s.began)
	for i := range began {
		if b := &began[i]; !b.Ended {
			b.Interval, b.Left = s.lacks(b.Market)
		}
	}
	return began
}

// Lacking lists the markets of a strategy in which candles are missing, in words: "BTC-EUR needs 12
// more 1d candles".
func (e *Engine) Lacking(id market.StrategyID) (texts []string) {
	s := &e.slots[id-1]
	for _, m := range s.Markets {
		if s.lacking[m] > 0 {
			texts = append(texts, e.warmingText(s, m))
		}
	}
	return texts
}

// warmingText says what a market in warm-up needs: "BTC-EUR needs 12 more 1d candles".
func (e *Engine) warmingText(s *slot, m market.ID) string {
	interval, candles := s.lacks(m)
	why := risk.Refusal{Reason: risk.ReasonWarmUp, Have: int64(candles), Limit: int64(interval)}
	return why.Words(e.catalog.Market(m), nil)
}
