package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// prober asks for an order in every market at each candle and group. What is not refused for the
// warm-up is refused for lack of money.
type prober struct {
	strategy.Base
	heard func(c market.Candle)
	ended func(g strategy.Group)
	probe func(m market.ID, why *risk.Refusal)
}

func (s *prober) OnCandle(d *strategy.Desk, c market.Candle) {
	s.heard(c)
	for m := market.ID(1); m <= 3; m++ {
		_, err := d.In(m).Buy(strategy.Amount(1000*btc), strategy.At(50*at1))
		var why *risk.Refusal
		errors.As(err, &why)
		s.probe(m, why)
	}
}

func (s *prober) OnCandles(_ *strategy.Desk, g strategy.Group) { s.ended(g) }

// waiting is the naive twin of a warm-up: it keeps every candle, and counts them at each question.
type waiting struct {
	slot  engine.StrategyConfig
	from  market.Time
	had   []market.Candle
	begun bool
	first map[market.ID]market.Time // close of the first candle with orders
}

// hear takes a candle that arrives at its close.
func (w *waiting) hear(c market.Candle, replayed bool) {
	w.had = append(w.had, c)
	w.begun = w.begun || !replayed && (w.from == 0 || c.End() > w.from)
}

// missing is how many candles of an interval a market lacks.
func (w *waiting) missing(m market.ID, place int) int {
	left := w.slot.Warmup[place]
	for _, c := range w.had {
		if c.Market == m && c.Interval == w.slot.Intervals[place] {
			left--
		}
	}
	return max(0, left)
}

// text is what a market needs, or "" where it needs no candle. Of several intervals it is the one
// that takes longest.
func (w *waiting) text(m market.ID) (text string) {
	longest := market.Time(0)
	for place, interval := range w.slot.Intervals {
		left := w.missing(m, place)
		span := market.Time(left) * market.Time(interval.Fixed())
		if span <= longest {
			continue
		}
		longest, text = span, fmt.Sprintf(": %s-EUR needs %d more %s candles", []string{"", "BTC", "ETH", "ADA"}[m],
			left,
			interval)
		if left == 1 {
			text = text[:len(text)-1]
		}
	}
	return text
}

// cold reports whether a market may not be traded. A market that is not the strategy's waits for
// all of its own.
func (w *waiting) cold(m market.ID) bool {
	if !slices.Contains(w.slot.Markets, m) {
		return slices.ContainsFunc(w.slot.Markets, w.cold)
	}
	return !w.begun || w.text(m) != ""
}

// Each market begins with its own first candle on which all of its intervals are complete, also
// after a restart, whatever the other markets lack.
func TestAMarketWaitsForItsOwnCandlesOnly(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s, w := drawWarmUp(r)
		b := newBench(t, setup{markets: 3, noDeposit: true, from: w.from, slots: []engine.StrategyConfig{w.slot}})
		begins := rapid.SliceOfN(rapid.IntRange(0, 12), 3, 3).Draw(r, "first minute by market")
		var all [][]market.Candle
		restart := rapid.IntRange(1, 60).Draw(r, "minute of the restart")
		for minutes := 1; minutes <= 40; minutes++ {
			group := drawClosed(r, w, begins, minutes)
			if len(group) > 0 {
				all = append(all, group)
				b.engine.Step(&market.Event{Kind: market.KindCandles, At: group[0].End(), Candles: group})
			}
			if minutes == restart {
				b.engine = restarted(r, b, s, w, all)
			}
			require.Equal(r, slices.ContainsFunc(w.slot.Markets, w.cold) &&
				!slices.ContainsFunc(w.slot.Markets, func(m market.ID) bool { return !w.cold(m) }), b.engine.Warming(1))
		}
		require.Empty(r, b.engine.Halts())
		for _, began := range b.engine.Began(1) {
			require.Equal(r, !w.cold(began.Market), began.Ended)
			if began.At != 0 && restart > 40 {
				require.Equal(r, w.first[began.Market], began.At)
			}
		}
	})
}

// drawWarmUp draws a strategy over one or more markets and intervals, and its twin.
func drawWarmUp(r *rapid.T) (*prober, *waiting) {
	w := &waiting{first: map[market.ID]market.Time{}}
	s := &prober{heard: func(c market.Candle) { w.hear(c, false) }}
	s.probe = func(m market.ID, why *risk.Refusal) {
		require.Equal(r, w.cold(m), why.Reason == risk.ReasonWarmUp, "market %d: %v", m, why)
		if slices.Contains(w.slot.Markets, m) && w.cold(m) {
			require.Equal(r, "refused: warm_up"+w.text(m), why.Error())
		} else if latest := w.had[len(w.had)-1]; w.first[m] == 0 && !w.cold(m) {
			w.first[m] = latest.End()
		}
	}
	s.ended = func(g strategy.Group) {
		require.ElementsMatch(r, slices.DeleteFunc(slices.Clone(w.slot.Markets),
			func(m market.ID) bool { return !w.cold(m) }), g.Warming)
	}
	w.slot = engine.StrategyConfig{Name: "s", Strategy: s,
		Markets:   []market.ID{1, 2, 3}[:rapid.IntRange(1, 3).Draw(r, "markets")],
		Intervals: []market.Interval{market.Interval1m, market.Interval5m}[:rapid.IntRange(1, 2).Draw(r, "intervals")]}
	for _, interval := range w.slot.Intervals {
		w.slot.Warmup = append(w.slot.Warmup, rapid.IntRange(0, 8).Draw(r, "candles of "+interval.String()))
	}
	if rapid.Bool().Draw(r, "range") {
		w.from = start + market.Time(rapid.IntRange(1, 20).Draw(r, "begins"))*minute
	}
	w.begun = w.from == 0
	return s, w
}

// drawClosed is the candles that close after some minutes: a market has none before its first
// minute, and now and then one is missing.
func drawClosed(r *rapid.T, w *waiting, begins []int, minutes int) (group []market.Candle) {
	for _, interval := range w.slot.Intervals {
		length := market.Time(interval.Fixed())
		end := start + market.Time(minutes)*minute
		for _, m := range w.slot.Markets {
			c := candleOf(m, 100, 100, 100, 100)
			c.Interval, c.Start = interval, end-length
			if end%length == 0 && c.Start >= start+market.Time(begins[m-1])*minute &&
				rapid.IntRange(0, 9).Draw(r, "trade") > 0 {
				group = append(group, c)
			}
		}
	}
	return group
}

// restarted saves the engine and restores another one, with the latest groups as its history.
func restarted(r *rapid.T, b *bench, s *prober, w *waiting, all [][]market.Candle) *engine.Engine {
	saved, now := saveAll(b.t, b.engine), b.engine.Now()
	_, again := b.remake(s)
	history := all[rapid.IntRange(0, len(all)).Draw(r, "older candles"):]
	w.had = nil
	clear(w.first)
	heard, probe := s.heard, s.probe
	s.heard = func(c market.Candle) { w.hear(c, true) }
	s.probe = func(_ market.ID, why *risk.Refusal) { require.Equal(r, risk.ReasonWarmUp, why.Reason) }
	ended := s.ended
	s.ended = func(strategy.Group) {}
	_, err := again.Restore(now, saved, past(history))
	require.NoError(r, err)
	if s.heard, s.probe, s.ended = heard, probe, ended; slices.Max(w.slot.Warmup) == 0 {
		w.had = nil
	}
	return again
}
