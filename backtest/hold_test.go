package backtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// Two markets get half of 1000 each: A at its first look, B a day later, when it is listed. At the
// end A has doubled and B has lost a tenth.
func TestBuyAndHoldOfTwoMarketsWaitsForEach(t *testing.T) {
	s := newStage(t, func(*strategy.Desk, market.Candle) {})
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()
	const day = 24 * 60
	s.feed(1, market.Interval1h, true, true, [5]int64{0, 9, 10, 9, 10}, [5]int64{day, 10, 10, 10, 10},
		[5]int64{2 * day, 10, 20, 10, 20})
	s.feed(2, market.Interval1h, true, true, [5]int64{day, 100, 100, 100, 100},
		[5]int64{2 * day, 100, 100, 90, 90})
	hold := s.run(t, Options{}).Hold
	require.Equal(t, []string{"2 markets", "A-EUR", "B-EUR"}, append([]string{hold.Market}, hold.Markets...))
	require.Equal(t, "1450", hold.Final.String())
	require.InDelta(t, 0.45, float64(hold.Return), 1e-12)
}

// The benchmark pays fee, spread and slippage, and buys at the open after the warm-up.
func TestBuyAndHoldBeginsWhereTradingCould(t *testing.T) {
	p, candles := planOver(t, 2000, 100_000_00, shipped.SMACross,
		map[string]any{"fast": int64(20), "slow": int64(50)})
	p.Fees = Fees{Taker: 250_000}
	p.Venue.HalfSpread, p.Venue.Slippage = 100_000, 200_000
	result, err := Run(t.Context(), p, Options{})
	require.NoError(t, err)
	first := &candles[51] // the average of 50 candles, and the one before
	require.Equal(t, Moment(first.Start), result.Hold.From)
	paid := float64(first.Open) * 1.001 * 1.002 * 1.0025
	require.InDelta(t, 100_000*float64(candles[1999].Close)/paid, result.Hold.Final.Float(), 0.2)

	p.ColdStart, p.From = false, candles[500].Start // a warm-up before the range
	result, err = Run(t.Context(), p, Options{})
	require.NoError(t, err)
	require.Equal(t, result.From, result.Hold.From)
}

func TestTheDeepestDrawdownsAreThoseOfTheCurve(t *testing.T) {
	var own track
	own.start(0, 100)
	for i, value := range []int64{100, 90, 95, 101, 100, 102, 51, 102, 103, 99, 98, 104, 80, 110, 109, 111, 100} {
		at := market.Time(i+1) * market.Interval1h.End(0)
		if at > own.dayEnd {
			own.roll(at)
		}
		own.add(at, value)
	}
	var depths []string
	for _, d := range own.drawdowns(20 * market.Interval1h.End(0)) {
		depths = append(depths, d.Depth.Percent(2))
	}
	require.Equal(t, []string{"50.00 %", "23.08 %", "10.00 %", "9.91 %", "4.85 %"}, depths)
}
