package backtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// An engine that restores what another has saved goes on as the other would have: a border at which
// no parameter changes, and no entry is cancelled, leaves every figure as it was.
func TestABorderWithTheSameParametersChangesNothing(t *testing.T) {
	kinds := slices.DeleteFunc(shipped.Definitions(), func(d strategy.Definition) bool {
		return d.Name == "maker" || d.Name == "grid" // a restart drops orders that wait to replace others
	})
	rapid.Check(t, func(t *rapid.T) {
		p := forkPlan(t)
		for i := range p.Strategies {
			s := &p.Strategies[i]
			if !slices.ContainsFunc(kinds, func(d strategy.Definition) bool { return d.Name == s.Kind.Name }) {
				s.Kind = rapid.SampledFrom(kinds).Draw(t, "instead")
			}
			s.Values = valuesOf(t, s.Kind.Name, s.Values)
		}
		first, last := p.firstAndLast(t)
		p.From = market.FloorTo(first+(last-first)/2, market.Interval1m.End(0))
		plain := resultOf(t, p, false)
		if strings.Contains(plain, `"held_by"`) {
			t.Skip("a border reads as many candles as a warm-up needs, the run had fewer before it")
		}
		own := *p
		for at := p.From; len(own.Borders) < 4; {
			at += market.Time(rapid.Int64Range(1, 200).Draw(t, "after")) * market.Interval1m.End(0)
			own.Borders = append(own.Borders, Border{At: at, Strategies: p.Strategies, exact: true})
		}
		together := rapid.Bool().Draw(t, "together")
		require.Equal(t, plain, resultOf(t, &own, together))
	})
}

// resultOf is a result as JSON, without what names the borders, and without the strategies' notes,
// which a run with borders lacks.
func resultOf(t *rapid.T, p *Plan, together bool) string {
	text := func(r *Result) string {
		r.Assumptions = nil
		for i := range r.Strategies {
			require.True(t, len(p.Borders) == 0 || r.Strategies[i].Notes == nil)
			r.Strategies[i].Notes = nil
		}
		return textOf(t, r)
	}
	if !together {
		r, err := Run(context.Background(), p, Options{})
		require.NoError(t, err)
		return text(r)
	}
	all, err := RunTogether(context.Background(), []*Plan{p}, LockstepOptions{block: 100})
	require.NoError(t, err)
	require.NoError(t, all[0].Err)
	return text(all[0].Result)
}

// A buy at market with a stop below, and a buy that rests: at the border the resting buy goes, the
// stop stays; a flat border sells at the next open.
func TestABorderCancelsEntriesAndKeepsExits(t *testing.T) {
	for _, c := range []struct {
		border, flat bool
		want         []string
	}{
		{false, false, []string{"buy @ 100 at 60", "buy @ 85 at 218", "sell @ 80 at 278"}},
		{true, false, []string{"buy @ 100 at 60", "sell @ 80 at 278"}},
		{true, true, []string{"buy @ 100 at 60", "sell @ 97 at 120"}},
	} {
		s := newStage(t, once(func(d *strategy.Desk, c market.Candle) {
			_, err := d.In(c.Market).Buy(strategy.Amount(2), strategy.StopAt(80))
			require.NoError(t, err)
			_, err = d.In(c.Market).Buy(strategy.Amount(1), strategy.At(85))
			require.NoError(t, err)
		}))
		s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()[:1]
		s.feed(1, market.Interval1h, true, true, [5]int64{0, 100, 100, 100, 100}, [5]int64{60, 100, 100, 95, 97},
			[5]int64{120, 97, 97, 95, 95}, [5]int64{180, 95, 95, 84, 90}, [5]int64{240, 90, 90, 79, 85})
		if c.border {
			quiet := newStage(t, nil)
			next := s.plan.Strategies[0]
			next.Kind = quiet.plan.Strategies[0].Kind
			s.plan.Borders = []Border{{At: 120 * market.Interval1m.End(0), Strategies: []StrategyPlan{next},
				Flat: c.flat}}
		}
		var fills []string
		for _, f := range s.run(t, Options{Keep: true}).Fills {
			fills = append(fills, fmt.Sprintf("%s @ %s at %d", f.Side, f.Price, f.Time/market.Interval1m.End(0)))
		}
		require.Equal(t, c.want, fills)
	}
}

// stubborn loads only what it has saved with the same parameter.
type stubborn struct {
	strategy.Base
	size int64
}

func (s *stubborn) OnCandle(*strategy.Desk, market.Candle) {}

func (s *stubborn) Save() ([]byte, error) { return []byte{byte(s.size)}, nil }

func (s *stubborn) Load(data []byte) error {
	if int64(data[0]) != s.size {
		return errors.New("its ladder has another size")
	}
	return nil
}

func TestAStrategyThatRefusesItsStateEndsTheRunUnlessTheBorderIsFlat(t *testing.T) {
	type params struct {
		Size int64 `toml:"size" default:"1" doc:"of the ladder"`
	}
	kind := strategy.Define("stubborn", "for a test", func(params) strategy.Needs { return strategy.Needs{} },
		func(p params, _ strategy.Setup) (strategy.Strategy, error) { return &stubborn{size: p.Size}, nil })
	for _, flat := range []bool{false, true} {
		p, candles := planOver(t, 300, 100_000_00, kind, map[string]any{"size": int64(1)})
		next := p.Strategies[0]
		next.Values = map[string]any{"size": int64(2)}
		p.From = candles[10].Start
		p.Borders = []Border{{At: candles[100].Start, Strategies: []StrategyPlan{next}, Flat: flat}}
		_, err := Run(t.Context(), p, Options{})
		if flat {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "border at 2022-01-01T01:40:00Z: strategy")
		require.ErrorContains(t, err, "its ladder has another size")
	}
}

func TestABorderChangesNothingButParameters(t *testing.T) {
	p, candles := planOver(t, 300, 100_000_00, shipped.SMACross, nil)
	for _, c := range []struct {
		change func(*Border)
		want   string
	}{
		{func(b *Border) { b.At = p.From }, "it is not behind"},
		{func(b *Border) { b.Strategies = nil }, "it has 0 strategies, the run 1"},
		{func(b *Border) { b.Strategies[0].Interval = market.Interval1h }, "its markets or its interval"},
		{func(b *Border) { b.Strategies[0].Name = "other" }, "its name or kind"},
		{func(b *Border) { b.Strategies[0].Own = true }, "its allocation or its universe"},
	} {
		own := *p
		own.From = candles[10].Start
		own.Borders = []Border{{At: candles[100].Start, Strategies: slices.Clone(p.Strategies)}}
		c.change(&own.Borders[0])
		_, err := Run(t.Context(), &own, Options{})
		require.ErrorContains(t, err, c.want)
	}
}
