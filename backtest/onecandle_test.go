package backtest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// inHalves is a stop and a partial target at 110.
func inHalves(stop market.Price) []strategy.Option {
	return []strategy.Option{strategy.StopAt(stop), strategy.PartAt(110, 50*market.Percent)}
}

// Bought 2 at 100, with a stop 10 % below the highest price.
func TestTheReportCountsExitsThatOneCandleDecided(t *testing.T) {
	for _, c := range []struct {
		name       string
		path       sim.Path
		candle     [4]int64
		with       []strategy.Option
		count      int64
		sold       int64 // the proceeds
		pess, opti int64
	}{
		{"the old stop or the new one, high first", sim.Optimistic, [4]int64{100, 120, 85, 119}, nil, 1, 216, 180, 216},
		{"low first: the old stop has not moved", sim.Pessimistic, [4]int64{100, 120, 85, 119}, nil, 0, 0, 0, 0},
		{"high first: it is the worse order", sim.Pessimistic, [4]int64{100, 120, 95, 110}, nil, 1, 216, 216, 220},
		{"low first: the new stop is not reached", sim.Optimistic, [4]int64{100, 120, 95, 110}, nil, 0, 0, 0, 0},
		{"high first: low first would have held on", sim.OHLC, [4]int64{100, 120, 95, 110}, nil, 1, 216, 216, 220},
		{"both orders reach the new stop", sim.Adaptive, [4]int64{100, 120, 95, 105}, nil, 1, 216, 216, 216},
		{"a gap up, then down", sim.Adaptive, [4]int64{150, 150, 120, 125}, nil, 1, 270, 270, 270},
		{"a gap down meets the old stop", sim.Optimistic, [4]int64{80, 120, 70, 110}, nil, 0, 0, 0, 0},
		{"a stop that follows closes", sim.Optimistic, [4]int64{100, 120, 85, 119},
			[]strategy.Option{strategy.Trail(10 * market.Percent)}, 0, 0, 0, 0},
		{"a part and the stop", sim.Optimistic, [4]int64{100, 120, 85, 119}, inHalves(90), 1, 200, 180, 200},
		{"a part and the stop, low first", sim.Pessimistic, [4]int64{100, 120, 85, 119}, inHalves(90), 0, 0, 0, 0},
		{"a gap over a part, then the stop", sim.Adaptive, [4]int64{115, 116, 85, 119}, inHalves(90), 1, 205, 205, 205},
		{"a partial target alone", sim.OHLC, [4]int64{100, 120, 95, 119}, inHalves(90), 0, 0, 0, 0},
		{"a partial target and a stop that moved", sim.OHLC, [4]int64{100, 120, 95, 110},
			append(inHalves(90), strategy.Trail(10*market.Percent), strategy.ByPrices()), 1, 218, 218, 220},
	} {
		with := c.with
		if with == nil {
			with = []strategy.Option{strategy.Trail(10 * market.Percent), strategy.ByPrices()}
		}
		s := newStage(t, once(func(d *strategy.Desk, _ market.Candle) {
			_, err := d.In(1).Buy(strategy.Amount(2), with...)
			require.NoError(t, err)
		}))
		s.plan.Strategies[0].Markets, s.plan.Venue.Path = s.plan.Catalog.Markets()[:1], c.path
		s.feed(1, market.Interval1h, true, true, [5]int64{0, 100, 100, 100, 100}, [5]int64{60, 100, 100, 100, 100},
			[5]int64{120, c.candle[0], c.candle[1], c.candle[2], c.candle[3]},
			[5]int64{180, c.candle[3], c.candle[3], c.candle[3], c.candle[3]})
		res := s.run(t, Options{})
		text, err := res.JSON()
		require.NoError(t, err)
		if c.count == 0 {
			require.Nil(t, res.OneCandle, c.name)
			require.Empty(t, res.Warnings, c.name)
			require.NotContains(t, string(text), "one_candle", c.name)
			continue
		}
		require.Equal(t, &OneCandleExits{c.count, Amount{Units: market.Money(c.sold)},
			Amount{Units: market.Money(c.pess)},
			Amount{Units: market.Money(c.opti)}}, res.OneCandle, c.name)
		require.True(t, json.Valid(text))
		require.Contains(t, string(text), `"one_candle_exits"`)
		var summary bytes.Buffer
		require.NoError(t, WriteSummary(&summary, res, SummaryOptions{}))
		require.Contains(t, summary.String(), "exits that one candle decided: 1 ", c.name)
	}
}
