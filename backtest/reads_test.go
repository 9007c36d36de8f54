package backtest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules"
)

// readingPlan trades the first market of rotationPlan by rules that read the two others.
func readingPlan(t *testing.T) *Plan {
	p := rotationPlan(t, 0, 6000, 1)
	p.Strategies = []StrategyPlan{{Name: "reader", Kind: rules.Definition, Markets: p.Catalog.Markets()[:1],
		Interval: p.Strategies[0].Interval, Values: map[string]any{"rules.size": "40% cash",
			"rules.entry": `close("ETH-EUR") > ema(3, "ETH-EUR") and close("ADA-EUR") crosses above sma(40, "ADA-EUR")`,
			"rules.exit":  `close("ETH-EUR") < ema(3, "ETH-EUR") and bars_since_entry > 2`}}}
	return p
}

func TestAMarketThatIsReadMovesNoMoneyAndHidesNoFuture(t *testing.T) {
	p := readingPlan(t)
	result, err := Run(context.Background(), p, Options{})
	require.NoError(t, err)
	require.Greater(t, result.Orders.Fills, int64(30))
	require.Equal(t, []string{"BTC-EUR"}, result.Strategies[0].Markets)
	report, err := CheckLookahead(context.Background(), readingPlan(t), LookaheadOptions{})
	require.NoError(t, err)
	require.Empty(t, report.Changed)
	require.Empty(t, report.FromStart)
	require.Greater(t, report.Decisions, 30)
}

func TestARehearsalHasTheNotesOfWatchedStrategies(t *testing.T) {
	r, err := Rehearse(context.Background(), readingPlan(t))
	require.NoError(t, err)
	require.NotEmpty(t, r.Placed)
	require.Len(t, r.Notes, 1)
	require.Contains(t, strings.Join(r.Notes[0], " "), `lacked close("ETH-EUR") > ema(3, "ETH-EUR") alone at`)
}

func TestTheWarmUpHasTheMarketsThatAreRead(t *testing.T) {
	p := readingPlan(t)
	length := p.Strategies[0].Interval.End(0)
	p.From = day + 100*length
	needs, err := rules.Definition.Needs(p.Strategies[0].Values)
	require.NoError(t, err)
	for _, f := range p.Feeds {
		if f.Deliver {
			require.Equal(t, day+100*length-market.Time(needs.Warmup)*length, p.ReadFrom(f), f.Market.Name)
		}
	}
}

func TestARunWithoutTheMarketThatIsReadIsRefused(t *testing.T) {
	p := readingPlan(t)
	p.Strategies[0].Values["rules.exit"] = `close("XRP-EUR") > 1`
	_, err := Run(context.Background(), p, Options{})
	require.ErrorContains(t, err, "strategy reader: it reads candles of XRP-EUR, which is no market of this run")
}

// meddler reads a market and buys in it.
type meddler struct {
	strategy.Base
	candles map[market.ID]int
	errs    *[]error
}

func (m *meddler) OnCandle(d *strategy.Desk, c market.Candle) {
	if m.candles[c.Market]++; c.Market == 2 {
		_, err := d.In(c.Market).Buy(strategy.Amount(100_0000))
		*m.errs = append(*m.errs, err)
	}
}

func TestAMarketThatIsReadIsNotTraded(t *testing.T) {
	p, errs, got := readingPlan(t), []error{}, map[market.ID]int{}
	p.Strategies[0].Kind = strategy.Define("meddler", "for a test",
		func(struct{}) strategy.Needs { return strategy.Needs{Reads: []string{"ETH-EUR", "BTC-EUR"}} },
		func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
			require.Len(t, s.Markets, 1)
			require.Equal(t, "ETH-EUR", s.Reads[0].Name)
			return &meddler{candles: got, errs: &errs}, nil
		})
	p.Strategies[0].Values = nil
	result, err := Run(context.Background(), p, Options{})
	require.NoError(t, err)
	require.Zero(t, result.Orders.Fills)
	require.Equal(t, map[market.ID]int{1: 1200, 2: 1200}, got, "a market that is traded and read comes once")
	require.Len(t, errs, 1200)
	require.ErrorContains(t, errs[0], "the strategy does not trade the market now")
}
