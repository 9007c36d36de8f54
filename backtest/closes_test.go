package backtest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// leaving enters with exits and leaves by Close, on candles and on fills, by what it sees alone.
type leaving struct{ strategy.Base }

func (leaving) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	switch {
	case m.Flat() && c.Close%3 == 0:
		_, _ = m.Buy(strategy.Amount(1_000_000),
			strategy.Exits(c.Close.Below(market.Percent), c.Close.Above(market.Percent)))
	case m.Flat() && c.Close%3 == 1:
		_, _ = m.Buy(strategy.Amount(1_000_000), strategy.At(c.Close.Below(10*market.BasisPoint)),
			strategy.Exits(c.Close.Below(market.Percent), c.Close.Above(market.Percent)))
	case c.Close%7 == 0:
		_ = m.Close()
	case c.Close%7 == 1:
		_ = m.ClosePart(strategy.PositionShare(40 * market.Percent))
	}
}

func (leaving) OnFill(d *strategy.Desk, f market.Fill) {
	if f.Side == market.Buy && f.Price%5 == 0 {
		_ = d.In(f.Market).Close()
	}
}

func leavingKind() strategy.Definition {
	return strategy.Define("leaving", "for a test", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return leaving{}, nil })
}

// The sale of a Close acts inside the path of the candle after the decision, and knows no more than
// the decision did.
func TestAStrategyThatClosesDecidesTheSameWhateverComesLater(t *testing.T) {
	report, err := CheckLookahead(context.Background(), shippedPlan(t, leavingKind(), 3_000), quickLook)
	require.NoError(t, err)
	require.Greater(t, report.Decisions, 500)
	require.Empty(t, report.Changed)
}

// With little volume sales expire in part: the report says how often.
func TestFailedClosesAreWarnedOf(t *testing.T) {
	p := shippedPlan(t, leavingKind(), 3_000)
	p.Venue.VolumeShare = 100
	result, err := Run(context.Background(), p, Options{})
	require.NoError(t, err)
	require.Regexp(t, `strategy bench: a close failed \d+ times, first at .*: sale \d+ found (no|too few) buyers`,
		strings.Join(result.Warnings, "\n"))
}
