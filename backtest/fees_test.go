package backtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A fee that rises under a resting buy takes no more than there is. The next order pays it whole,
// and buy and hold pays the fee of its own day.
func TestAFeeThatRisesUnderARestingBuyTakesNoMoreThanThereIs(t *testing.T) {
	step := 0
	s := newStage(t, func(d *strategy.Desk, c market.Candle) {
		var err error
		switch step++; step {
		case 1:
			_, err = d.In(c.Market).Buy(strategy.Amount(9), strategy.At(100))
		case 4:
			_, err = d.In(c.Market).Sell(strategy.Amount(9))
		}
		require.NoError(t, err)
	})
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()[:1]
	s.feed(1, market.Interval1h, true, true, [5]int64{0, 110, 110, 110, 110}, [5]int64{60, 110, 110, 110, 110},
		[5]int64{120, 110, 110, 110, 110}, [5]int64{180, 110, 110, 90, 110}, [5]int64{240, 110, 110, 110, 110})
	hour := market.Interval1h.End(0)
	for i, rate := range []market.Rate{10 * market.Percent, 50 * market.Percent} {
		s.plan.Changes = append(s.plan.Changes, MarketChange{At: market.Time(i) * (2*hour + 1), Market: 1,
			Fees: &Fees{Maker: rate, Taker: rate}})
	}
	r := s.run(t, Options{Keep: true})
	require.Len(t, r.Fills, 2)
	require.Equal(t, []string{"100 9 100", "110 9 495"}, []string{
		r.Fills[0].Price.String() + " " + r.Fills[0].Amount.String() + " " + r.Fills[0].Fee.String(),
		r.Fills[1].Price.String() + " " + r.Fills[1].Amount.String() + " " + r.Fills[1].Fee.String()})
	require.Equal(t, "495", r.Performance.Final.String())
	require.Equal(t, "945", r.Performance.Fees.String(), "by the rates of the moment")
	require.Equal(t, "-350", r.Performance.Rounding.String(), "of which so much was not there")
	require.Equal(t, "909", r.Hold.Final.String(), "it pays 10 %")
	require.Contains(t, r.Assumptions[0], "Fees: maker 10 % to 50 %, taker 10 % to 50 % of the value")
}
