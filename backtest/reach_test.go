package backtest

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// MAE and MFE are those of a walk over the candles of each trip by itself, in quiet stretches and
// candle by candle.
func TestExcursionsAreThoseOfTheCandlesOfATrip(t *testing.T) {
	for _, kind := range []strategy.Definition{shipped.SMACross, shipped.Breakout, shipped.Grid,
		shipped.TrendFilter} {
		for _, oneByOne := range []bool{false, true} {
			p := shippedPlan(t, kind, 12_000)
			p.OneByOne = oneByOne
			candles := minutes(t, p.Catalog.Markets()[0], 12_000)
			out := t.TempDir()
			_, err := Run(t.Context(), p, Options{Out: out})
			require.NoError(t, err)
			trades := readCSV(t, filepath.Join(out, "trades.csv"))
			require.NotEmpty(t, trades, kind.Name)
			for _, row := range trades {
				worst, best := excursionsByHand(candles, market.Time(number(t, row[2]))*1e6,
					market.Time(number(t, row[4]))*1e6,
					number(t, row[3]), number(t, row[5]))
				require.InDelta(t, worst, number(t, row[12]), 1e-6, "%s: %v", kind.Name, row)
				require.InDelta(t, best, number(t, row[13]), 1e-6, "%s: %v", kind.Name, row)
			}
		}
	}
}

// excursionsByHand are MAE and MFE of a trip.
func excursionsByHand(candles []market.Candle, entered, exited market.Time, entry, exit float64) (worst, best float64) {
	low, high := exit, exit
	for _, c := range candles {
		switch {
		case c.End() <= entered || c.End() > exited:
		case c.Start < entered:
			low, high = min(low, float64(c.Close)/100), max(high, float64(c.Close)/100)
		default:
			low, high = min(low, float64(c.Low)/100), max(high, float64(c.High)/100)
		}
	}
	return math.Min(low/entry-1, 0), math.Max(high/entry-1, 0)
}

// inParts buys at times, and sells all or a part at times, by chance.
type inParts struct {
	strategy.Base
	chance randomSequence
}

func (s *inParts) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	switch s.chance.below(200) {
	case 0:
		_, _ = m.Buy(strategy.Amount(10_000_000))
	case 1:
		_, _ = m.Sell(strategy.PositionShare(market.Whole))
	case 2, 3:
		_, _ = m.Sell(strategy.PositionShare(market.Whole / 2))
	}
}

// A position is counted once, by the sum of its trips. The twin follows the fills.
func TestPositionsAreCountedFromFlatToFlat(t *testing.T) {
	kind := strategy.Define("parts", "sells in parts", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) {
			return &inParts{chance: randomSequence(7)}, nil
		})
	p, _ := planOver(t, 30_000, 1_000_000_00, kind, nil)
	result, err := Run(t.Context(), p, Options{Keep: true})
	require.NoError(t, err)
	amount, positions := market.Money(0), int64(0)
	for i := range result.Fills {
		f := &result.Fills[i]
		if f.Side == market.Sell {
			amount -= f.Amount.Units
		} else {
			amount += f.Amount.Units
		}
		if amount == 0 {
			positions++
		}
	}
	gains, won := map[market.Time]float64{}, int64(0)
	last := result.Trades[len(result.Trades)-1].Entered
	for i := range result.Trades {
		gains[result.Trades[i].Entered] += result.Trades[i].Profit.Float()
	}
	if amount > 0 {
		delete(gains, last) // open at the end
	}
	for _, gain := range gains {
		require.Greater(t, math.Abs(gain), 0.05, "profits are rounded: another seed")
		if gain > 0 {
			won++
		}
	}
	require.Len(t, gains, int(positions))
	trips := &result.Trips
	require.Greater(t, trips.Count, positions+20)
	require.Equal(t, []int64{positions, won}, []int64{trips.Positions, trips.PositionsWon})
	require.NotEqual(t, trips.WinRate, trips.PositionRate)
	require.Contains(t, trips.text(), " won; ")
}

// A position that is sold in parts has a trip for each, which say so; one sold at once does not.
func TestPartialSalesSayThatTheyAre(t *testing.T) {
	step := 0
	s := newStage(t, func(d *strategy.Desk, c market.Candle) {
		step++
		switch m := d.In(c.Market); step {
		case 1, 5:
			_, _ = m.Buy(strategy.Amount(4))
		case 2:
			_, _ = m.Sell(strategy.Amount(1))
		case 3, 6:
			_, _ = m.Sell(strategy.PositionShare(market.Whole))
		}
	})
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()[:1]
	for i := range int64(8) {
		s.feed(1, market.Interval1h, true, true, [5]int64{60 * i, 10, 10, 10, 10})
		if i > 0 { // one feed
			s.plan.Feeds = s.plan.Feeds[:1]
		}
	}
	out := t.TempDir()
	result := s.run(t, Options{Out: out})
	var parts []string
	for _, row := range readCSV(t, filepath.Join(out, "trades.csv")) {
		parts = append(parts, row[14])
	}
	require.Equal(t, []string{"1", "2", "0"}, parts)
	require.EqualValues(t, 2, result.Trips.Partial)
	require.EqualValues(t, 3, result.Trips.Count)
	require.EqualValues(t, 2, result.Trips.Positions)
}

// A stop stands from its placing to its fill, and anew from each price that it was moved to.
func TestStopsStandAsLongAsTheyDid(t *testing.T) {
	var s stops
	m := &market.Market{ID: 1, PriceDigits: 2}
	s.begin(m, 7, 10, 90_00)
	require.False(t, s.end(8, 11))
	require.True(t, s.end(7, 20))
	s.begin(m, 7, 20, 95_00)
	require.Equal(t, []report.Stop{{From: 10, To: 20, Price: 90}, {From: 20, To: 30, Price: 95}}, s.all(30))

	// Moved when the run ends: the order was last changed before.
	s.begin(m, 9, 30, 96_00)
	require.True(t, s.end(9, 20))
	require.Equal(t, report.Stop{From: 30, To: 30, Price: 96}, s.all(30)[2])
}

// A price is in the unit of the market's prices, and money in that of the quote asset, also where a
// position was bought at several prices.
func TestTradesHaveTheUnitsOfTheirMarket(t *testing.T) {
	m := &market.Market{PriceDigits: 2, AmountDigits: 8, ValueDigits: 10, QuoteDigits: 2}
	for _, c := range []struct {
		value  int64 // of ValueDigits
		amount market.Qty
		want   string
	}{{10_922_722_166_858_787, 1_00000000 * 10, "109227.22"}, {1_005 * 100_000, 1_000_000, "1.01"}, {0, 5, "0"},
		{5, 0, "0"}} {
		require.Equal(t, c.want, averageOf(m, market.ValueOf(c.value), c.amount).String())
	}
	p := shippedPlan(t, shipped.Grid, 12_000)
	out := t.TempDir()
	result, err := Run(t.Context(), p, Options{Out: out, Keep: true})
	require.NoError(t, err)
	for i, row := range readCSV(t, filepath.Join(out, "trades.csv")) {
		one := &result.Trades[i]
		require.Equal(t, []string{one.Entry.String(), one.Exit.String(), one.Fees.String(), one.Profit.String()},
			[]string{row[3], row[5], row[7], row[8]})
		for _, cell := range []string{row[3], row[5], row[7], row[8]} {
			require.Regexp(t, `^-?\d+(\.\d\d?)?$`, cell)
		}
	}
}
