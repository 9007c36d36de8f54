package backtest

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// closeOf is an account at a close.
type closeOf struct {
	at             market.Time
	invested, cash float64
}

// exposureOf is the mean over days of the part that is invested over the closes of a day; a day
// without a close is as the last one before.
func exposureOf(all []closeOf) (mean float64) {
	invested, equity := map[market.Time]float64{}, map[market.Time]float64{}
	for _, c := range all {
		day := endOfDay(c.at)
		invested[day] += c.invested
		equity[day] += c.invested + c.cash
	}
	days, part := 0.0, 0.0
	for day := endOfDay(all[0].at); day <= endOfDay(all[len(all)-1].at); day += dayLength {
		if equity[day] > 0 {
			part = invested[day] / equity[day]
		}
		mean += part
		days++
	}
	return mean / days
}

// The exposure of closes that come in rows, one by one, or both, is that of each close added up. To
// the last bit it is the same however they come.
func TestExposureIsTheMeanOverDaysOfThePartInvested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, eur := &market.Market{PriceDigits: 2, AmountDigits: 8}, &market.Asset{Digits: 2}
		recorders := [2]*recorder{{}, {}}
		var each [2]days
		for i, r := range recorders {
			r.cfg.Currency = eur
			r.follow(&each[i], m)
		}
		length := market.Time(rapid.SampledFrom([]market.Interval{market.Interval1m, market.Interval1h,
			market.Interval1d}).Draw(t, "interval").Fixed())
		var all []closeOf
		start := market.Time(1640995200_000_000_000) + market.Time(rapid.IntRange(0, 30).Draw(t, "begin"))*length
		for range rapid.IntRange(1, 20).Draw(t, "rows") {
			b := balances{base: market.Qty(rapid.SampledFrom([]int64{0, 5e7, 3e8}).Draw(t, "base")),
				cash: market.Money(rapid.Int64Range(0, 1_000_00).Draw(t, "cash"))}
			b.rest = b.cash + market.Money(rapid.SampledFrom([]int64{0, 0, 50_00}).Draw(t, "others"))
			series := make([]market.Candle, rapid.IntRange(1, 90).Draw(t, "closes"))
			for i := range series {
				price := rapid.Int64Range(1_00, 900_00).Draw(t, "price")
				series[i] = market.Candle{Start: start, Close: market.Price(price)}
				start += length * market.Time(rapid.SampledFrom([]int64{1, 1, 1, 1, 40}).Draw(t, "gap"))
				all = append(all, closeOf{series[i].Start + length, float64(b.base)/1e8*float64(price)/100 +
					float64(b.rest-b.cash)/100, float64(b.cash) / 100})
				each[0].stay(series[i].Start+length, b, price, 1)
			}
			for rest, o := series, outlined(t, series); len(rest) > 0; {
				n := rapid.IntRange(1, len(rest)).Draw(t, "block")
				each[1].quiet(b, rest[:n], length, o)
				rest, o = rest[n:], o.after(n)
			}
		}
		one, row := recorders[0].track(), recorders[1].track()
		require.Equal(t, one, row)
		require.InDelta(t, exposureOf(all), one.Exposure, 1e-9)
	})
}

func TestExcessIsOverAHoldAtTheSameExposure(t *testing.T) {
	day := market.Time(dayLength)
	r := &recorder{cfg: recorderConfig{Currency: &market.Asset{Digits: 2}}}
	r.hold.fee, r.cfg.Spread.Half = 250_000, 100_000
	var d days
	r.follow(&d, &market.Market{PriceDigits: 2, AmountDigits: 8})
	d.stay(10*day, balances{base: 1e8, rest: 150_00, cash: 150_00}, 50_00, 1)
	d.stay(11*day, balances{rest: 200_00, cash: 200_00}, 50_00, 1)
	d.own = []report.Day{{End: 11 * day, Return: 0.02}, {End: 12 * day, Return: -0.01}, {End: 13 * day, Return: 0.03}}
	d.hold = []report.Day{{End: 12 * day, Return: 0.04}, {End: 13 * day, Return: -0.02}}
	track := r.track()
	require.Equal(t, 11*day, track.First)
	require.Equal(t, []float64{0, 0.04, -0.02}, track.Hold, "the hold began a day later")
	require.InDelta(t, 0.125, track.Exposure, 1e-12, "a quarter on one day, nothing on the other")
	require.InDelta(t, 1-1/(1.001*1.0025), track.Costs, 1e-9)
	want := []float64{0.02 + 0.125*track.Costs, -0.01 - 0.125*0.04, 0.03 + 0.125*0.02}
	require.InDeltaSlice(t, want, track.Excess(nil), 1e-15)
	require.Len(t, track.Excess([]float64{7}), 4)
}

// The first day is held against the start equity: what the days earned is what the run earned, for
// the account and for the hold, alone and beside other runs.
func TestTheFirstDayCounts(t *testing.T) {
	p, candles := planOver(t, 5*24*60, 10_000_00, shipped.SMACross, map[string]any{"fast": int64(5),
		"slow": int64(15)})
	p.Venue.HalfSpread, p.Venue.Slippage = 100_000, 200_000
	for _, from := range []market.Time{0, candles[700].Start} {
		p.From = from
		runs, err := RunTogether(t.Context(), []*Plan{p, p}, LockstepOptions{})
		require.NoError(t, err)
		dir := t.TempDir()
		alone, err := Run(t.Context(), p, Options{Out: dir})
		require.NoError(t, err)
		for _, r := range runs {
			require.NoError(t, r.Err)
			require.Equal(t, alone.Performance, r.Result.Performance)
			require.Equal(t, alone.Hold, r.Result.Hold)
		}
		track := &runs[0].Track
		require.Equal(t, endOfDay(market.Time(alone.From)+1), track.First)
		require.Len(t, track.Returns, int(alone.Performance.Days))
		require.Len(t, track.Returns, 5)
		require.NotZero(t, track.Returns[0])
		own, hold := 1.0, 1-track.Costs
		var account spread
		for i, r := range track.Returns {
			own, hold = own*(1+r), hold*(1+track.Hold[i])
			account.add(r)
		}
		require.InEpsilon(t, 1+float64(alone.Performance.Return), own, 1e-12)
		require.InEpsilon(t, 1+float64(alone.Hold.Return), hold, 1e-6)
		volatility, sharpe, sortino := account.figures(false)
		require.Equal(t, []Figure{volatility, sharpe, sortino},
			[]Figure{alone.Performance.Volatility, alone.Performance.Sharpe, alone.Performance.Sortino})
		require.EqualValues(t, 5, alone.Hold.Days)
		alpha, beta := alphaBeta(daysFrom(1, track.Returns...), daysFrom(1, track.Hold...))
		require.InDelta(t, float64(alpha), float64(alone.Performance.Alpha), 1e-9)
		require.InDelta(t, float64(beta), float64(alone.Performance.Beta), 1e-9)
		require.NotZero(t, beta)
		rows := readCSV(t, filepath.Join(dir, "days.csv"))
		require.Len(t, rows, 5)
		require.InEpsilon(t, track.Returns[0], decimalOf(t, rows[0][1]), 1e-12)
	}
}
