package backtest

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

func shippedPlan(t testing.TB, kind strategy.Definition, n int) *Plan {
	values := map[string]any(nil)
	switch kind.Name { // a few days of minutes have no daily average, and hardly a week
	case "trendfilter":
		values = map[string]any{"days": int64(0)}
	case "rotation", "accumulate":
		values = map[string]any{"every": "1h"}
	case "bandrevert": // minutes are not 3 % apart
		values = map[string]any{"gain": "0.1%"}
	}
	p, _ := planOver(t, n, 100_000_00, kind, values)
	p.SyntheticBook = true
	p.Venue.HalfSpread = 10_000 // 1 bp
	if kind.Name == "follow" {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range n / 40 {
			s := strategytest.RandomSignal(r.IntN, 1)
			s.Known = at(time.Duration(i*40)*time.Minute + time.Duration(r.IntN(600))*time.Second)
			s.Time = s.Known
			p.Signals = append(p.Signals, s)
		}
	}
	return p
}

func TestEveryShippedStrategyTradesAndEndsInGoodOrder(t *testing.T) {
	for _, kind := range shipped.Definitions() {
		t.Run(kind.Name, func(t *testing.T) {
			result, err := Run(context.Background(), shippedPlan(t, kind, 20_000), Options{})
			require.NoError(t, err)
			require.Empty(t, result.Warnings)
			require.NotZero(t, result.Orders.Fills, "refusals: %v", result.Refusals)
		})
	}
}

// until ends a source at a time.
type until struct {
	Source
	to market.Time
}

func (c *until) Next() ([]market.Candle, error) {
	batch, err := c.Source.Next()
	for i := range batch {
		if c.to != 0 && batch[i].Start >= c.to {
			return batch[:i], err
		}
	}
	return batch, err
}

// faulty trades for a while and then breaks in the middle of a callback.
type faulty struct {
	strategy.Base
	candles int
}

func (f *faulty) OnCandle(d *strategy.Desk, c market.Candle) {
	f.candles++
	if f.candles%50 == 0 {
		_, _ = d.In(c.Market).Buy(strategy.Amount(1_000_000), strategy.At(c.Close*99/100))
	}
	if f.candles == 1020 {
		_, _ = d.In(c.Market).Buy(strategy.Amount(1_000_000))
		panic("broken")
	}
}

var broken = strategy.Define("broken", "panics", func(struct{}) strategy.Needs { return strategy.Needs{} },
	func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &faulty{}, nil })

func TestCandlesInOneGoGiveWhatCandlesOneByOneGive(t *testing.T) {
	candles := 20_000
	if testing.Short() {
		candles = 4000
	}
	for _, kind := range append([]strategy.Definition{broken}, shipped.Definitions()...) {
		t.Run(kind.Name, func(t *testing.T) {
			p := shippedPlan(t, kind, candles)
			fast, slow := jsonOf(t, p), ""
			p.OneByOne = true
			slow = jsonOf(t, p)
			require.JSONEq(t, slow, fast)
		})
	}
}

// A fill probability draws the same in the fast loop and candle by candle, over one market and over
// several, on each path of the envelope. One of 0 is limit_fill through.
func TestMissedTouchesAreTheSameInOneGoAndOneByOne(t *testing.T) {
	var plain, missing []string
	for _, kind := range []strategy.Definition{shipped.Grid, shipped.Breakout} {
		p := shippedPlan(t, kind, 4000)
		plain = append(plain, jsonOf(t, p))
		p.Venue.MissProbability, p.Venue.MissSeed = 50_000_000, 1
		fast := jsonOf(t, p)
		missing = append(missing, fast)
		p.OneByOne = true
		require.JSONEq(t, jsonOf(t, p), fast)
		p.OneByOne, p.Venue.MissProbability = false, 100_000_000
		none := wholeResult(t, p)
		p.Venue.MissProbability, p.Venue.LimitFill = 0, sim.Through
		through := wholeResult(t, p)
		none.Assumptions, none.Candles.Ambiguous, none.Candles.AmbiguousShare = through.Assumptions,
			through.Candles.Ambiguous, through.Candles.AmbiguousShare
		require.Equal(t, textOf(t, through), textOf(t, none))
	}
	require.NotEqual(t, plain, missing)
}

func wholeResult(t *testing.T, p *Plan) *Result {
	result, err := Run(t.Context(), p, Options{})
	require.NoError(t, err)
	return result
}

func TestTheSamePlanGivesTheSameBytes(t *testing.T) {
	for _, path := range []sim.Path{sim.Adaptive, sim.Pessimistic} {
		p := shippedPlan(t, shipped.Breakout, 20_000)
		p.Venue.Path = path
		require.Equal(t, jsonOf(t, p), jsonOf(t, p))
	}
}

func jsonOf(t *testing.T, p *Plan) string {
	result, err := Run(context.Background(), p, Options{Envelope: true})
	require.NoError(t, err)
	text, err := json.MarshalIndent(result, "", " ")
	require.NoError(t, err)
	return string(text)
}

// fromTheStart is a plan of n candles whose feed begins where it is asked to.
func fromTheStart(t *testing.T, n int, definition strategy.Definition) *Plan {
	p, candles := planOver(t, n, 1_000_000_00, definition, nil)
	p.Open = func(_ Feed, from, to market.Time) (Source, error) {
		rest := candles
		for len(rest) > 0 && rest[0].Start < from {
			rest = rest[1:]
		}
		return &until{&memory{rest}, to}, nil
	}
	return p
}

func TestTheShippedStrategiesDecideAfterTheirWarmupAsWithMoreHistory(t *testing.T) {
	for definition, declared := range map[*strategy.Definition]int{&shipped.SMACross: 51,
		&shipped.RSIRevert: 95, &shipped.Breakout: 95, &shipped.BandRevert: 95} {
		p := fromTheStart(t, 6_000, *definition)
		if definition == &shipped.BandRevert {
			p.Strategies[0].Values = map[string]any{"gain": "0.1%"} // minutes are not 3 % apart
		}
		report, err := CheckWarmup(context.Background(), p)
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(declared), report.Declared.String(), definition.Name)
		require.Zero(t, report.Enough, "%s: %+v", definition.Name, report.Tried)
		require.Greater(t, report.Tried[0].Of, 20, definition.Name)
	}
}

// An exponential average never forgets the last bit: decisions count as the same where a price or
// an amount is a little different, and in nothing else.
func TestDecisionsAreAlikeWithinAPriceAndAnAmount(t *testing.T) {
	command := func(change func(o *market.Order)) decision {
		o := market.Order{ID: 7, Market: 1, Strategy: 1, Side: market.Buy, Type: market.TypeLimit, Tag: "in",
			OrderState: market.OrderState{Amount: 50_000, AmountQuote: 50_000, Price: 50_000, TriggerAmount: 50_000},
			Bracket:    market.Bracket{Stop: 50_000, Target: 50_000}}
		change(&o)
		return decisionOf(&market.Command{Kind: market.CommandPlace, At: 9, Order: o}, 5)
	}
	first := command(func(*market.Order) {})
	for name, change := range map[string]struct{ near, far func(o *market.Order) }{
		"price":   {func(o *market.Order) { o.Price += 50 }, func(o *market.Order) { o.Price += 51 }},
		"trigger": {func(o *market.Order) { o.TriggerAmount -= 50 }, func(o *market.Order) { o.TriggerAmount -= 51 }},
		"stop":    {func(o *market.Order) { o.Bracket.Stop += 50 }, func(o *market.Order) { o.Bracket.Stop = 0 }},
		"target":  {func(o *market.Order) { o.Bracket.Target += 50 }, func(o *market.Order) { o.Bracket.Target += 51 }},
		"amount":  {func(o *market.Order) { o.Amount -= 500 }, func(o *market.Order) { o.Amount -= 501 }},
		"money":   {func(o *market.Order) { o.AmountQuote -= 500 }, func(o *market.Order) { o.AmountQuote = 0 }},
		"side":    {func(*market.Order) {}, func(o *market.Order) { o.Side = market.Sell }},
		"type":    {func(*market.Order) {}, func(o *market.Order) { o.Type = market.TypeMarket }},
		"tag":     {func(*market.Order) {}, func(o *market.Order) { o.Tag = "out" }},
		"id":      {func(*market.Order) {}, func(o *market.Order) { o.ID++ }},
	} {
		near, far := command(change.near), command(change.far)
		require.True(t, first.like(&near) && near.like(&first), name)
		require.False(t, first.like(&far) || far.like(&first), name)
		require.NotEqual(t, first, far, name)
	}
	later := first
	later.knows++
	require.False(t, first.like(&later))
}

// The other paths of the envelope are not run where no candle was walked past its open: then they
// could not end otherwise.
func TestTheEnvelopeIsWhatRunsOnEachPathEndWith(t *testing.T) {
	walked := map[bool]int{}
	for _, kind := range shipped.Definitions() {
		p := shippedPlan(t, kind, 5_000)
		d, err := drive(t.Context(), p, runOptions{})
		require.NoError(t, err)
		walked[d.venue.PathUsed()]++
		result, err := Run(t.Context(), p, Options{Envelope: true})
		require.NoError(t, err)
		require.Len(t, result.Envelope, 3)
		for _, outcome := range result.Envelope {
			p.Venue.Path, err = sim.ParsePath(outcome.Path)
			require.NoError(t, err)
			require.Equal(t, mustRun(t, p).Performance.Final, outcome.Final, "%s, %s", kind.Name, outcome.Path)
		}
	}
	require.Positive(t, walked[false])
	require.Positive(t, walked[true])
}
