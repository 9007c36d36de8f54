package indicator_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	talib "github.com/markcheno/go-talib"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// The parabolic line, and figures of whole candles and of days: as figures, in a textbook's words,
// and beside TA-Lib.

func candleFigures() []figure {
	sar, smoother := indicator.NewSAR(0.02, 0.02, 0.2), indicator.NewHeikinAshi()
	vwap, pivots := indicator.NewSessionVWAP(market.Interval1h), indicator.NewPivotPoints(market.Interval1h)
	patterns, batch := indicator.NewPatterns(), indicator.NewCandleBatch(20, func(c indicator.Columns) []float64 {
		return c.Low[:1]
	})
	return []figure{
		made("NewSAR(0.02, 0.02, 0.2)", exponential, &sar, sar.Push, sar.Value, level(sar.Next)),
		made("NewHeikinAshi()", exponential, &smoother, smoother.Push, level(smoother.Open), level(smoother.High),
			level(smoother.Low), level(smoother.Close)),
		made("NewSessionVWAP(market.Interval1h)", windowed, &vwap, vwap.Push, vwap.Value),
		made("NewPivotPoints(market.Interval1h)", windowed, &pivots, pivots.Push, pivotLevels(&pivots)...),
		made("NewPatterns()", event, &patterns, patterns.Push, flags(&patterns)...),
		made("NewCandleBatch(20, f)", windowed, &batch, batch.Push, batch.Value),
	}
}

func pivotLevels(p *indicator.PivotPoints) (all []func() float64) {
	all = append(all, level(p.Pivot))
	for n := 1; n <= 3; n++ {
		all = append(all, level(func() indicator.Level { return p.Resistance(n) }),
			level(func() indicator.Level { return p.Support(n) }))
	}
	return all
}

func flags(p *indicator.Patterns) (all []func() float64) {
	for _, f := range []func() bool{p.Doji, p.Hammer, p.HangingMan, p.InvertedHammer, p.ShootingStar} {
		all = append(all, func() float64 {
			if f() {
				return 1
			}
			return 0
		})
	}
	for _, f := range []func() indicator.Direction{p.Engulfing, p.Harami, p.Star, p.Three} {
		all = append(all, func() float64 { return float64(f()) })
	}
	return all
}

func textbookCandles(n int) []textbook {
	smoother, batch := indicator.NewHeikinAshi(), indicator.NewCandleBatch(n, func(c indicator.Columns) []float64 {
		return []float64{mean(c.Open) + 2*mean(c.High) + 3*mean(c.Low) + 4*mean(c.Close) + 5*mean(c.Volume)}
	})
	return []textbook{
		{"HeikinAshi", 1, made("", 0, &smoother, smoother.Push, level(smoother.Open), level(smoother.High),
			level(smoother.Low), level(smoother.Close), func() float64 { return float64(smoother.Candle().High) }),
			func(all []market.Candle) []float64 {
				open, close := 0.0, 0.0
				for i, c := range all {
					if open = (open + close) / 2; i == 0 {
						open = float64(c.Open)/2 + float64(c.Close)/2
					}
					close = (float64(c.Open) + float64(c.High) + float64(c.Low) + float64(c.Close)) / 4
				}
				now := all[len(all)-1]
				high, low := max(float64(now.High), open, close), min(float64(now.Low), open, close)
				return []float64{open, high, low, close, math.Round(high)}
			}, nil},
		{"CandleBatch", n, made("", 0, &batch, batch.Push, batch.Value), func(all []market.Candle) []float64 {
			total := 0.0
			for _, c := range last(all, n) {
				total += float64(c.Open+2*c.High+3*c.Low+4*c.Close) + 5*float64(c.Volume)
			}
			return []float64{total / float64(n)}
		}, nil},
	}
}

func comparedCandles(c columns) []compared {
	sar, batch := indicator.NewSAR(0.02, 0.02, 0.2), indicator.NewCandleBatch(200, func(c indicator.Columns) []float64 {
		return talib.Mfi(c.High, c.Low, c.Close, c.Volume, 14)
	})
	return []compared{
		{made("SAR", 0, &sar, sar.Push, sar.Value), 1, [][]float64{talib.Sar(c.high, c.low, 0.02, 0.2)}},
		{made("CandleBatch", 0, &batch, batch.Push, batch.Value), 199, [][]float64{
			talib.Mfi(c.high, c.low, c.close, c.volume, 14)}},
	}
}

// Next is what a chart draws over the next candle, unless that turns the trend.
func TestTheNextParabolicLineIsTheOneOfTheNextCandle(t *testing.T) {
	sar, kept := indicator.NewSAR(0.01, 0.03, 0.1), 0
	for i, c := range walk(1000) {
		next, up := sar.Next(), sar.Up()
		if sar.Push(c); i > 1 && sar.Up() == up {
			require.Equal(t, next.Value(), sar.Value())
			kept++
		}
	}
	require.Greater(t, kept, 500)
	require.PanicsWithValue(t, "indicator: a parabolic line from 0.2 by 0.02 to 0.02",
		func() { indicator.NewSAR(0.2, 0.02, 0.02) })
}

func TestTheParabolicLinesOfTwoStartsMeet(t *testing.T) {
	random, price := rand.New(rand.NewPCG(5, 3)), 1e9
	all := make([]market.Candle, 12_000)
	for i := range all {
		low, high := price, price
		for range 20 {
			price += random.NormFloat64() * 1e6
			low, high = min(low, price), max(high, price)
		}
		all[i] = market.Candle{High: market.Price(high), Low: market.Price(low), Close: market.Price(price)}
	}
	apart := func(pushes int) (starts int) {
		for from := 100; from < 11_100; from += 11 {
			early, late := indicator.NewSAR(0.02, 0.02, 0.2), indicator.NewSAR(0.02, 0.02, 0.2)
			for i := from - 99; i < from+pushes; i++ {
				if early.Push(all[i]); i >= from {
					late.Push(all[i])
				}
			}
			if early != late {
				starts++
			}
		}
		return starts
	}
	sar := indicator.NewSAR(0.02, 0.02, 0.2)
	require.LessOrEqual(t, apart(sar.Warmup()), 1)
	require.Greater(t, apart(sar.Warmup()/4), 100)
}

// A day of which the first candle is unknown has no figures, also where candles are missing.
func TestFiguresOfDaysEqualTheirTwins(t *testing.T) {
	for _, x := range []struct {
		interval market.Interval
		daily    int
	}{{market.Interval1h, 24}, {market.Interval4h, 6}, {market.Interval1d, 1}, {market.Interval1W, 1}} {
		for seed := range uint64(30) {
			random := rand.New(rand.NewPCG(seed, 1))
			vwap, pivots := indicator.NewSessionVWAP(x.interval), indicator.NewPivotPoints(x.interval)
			require.Equal(t, []int{x.daily, 2 * x.daily}, []int{vwap.Warmup(), pivots.Warmup()})
			days, order := map[int64][]market.Candle{}, []int64{}
			start := x.interval.Floor(hour(24*400 + random.IntN(48)))
			for _, c := range walk(5 * x.daily) {
				c.Start, c.Interval = start, x.interval
				for start = c.End(); random.IntN(6) == 0; start = x.interval.End(start) {
				}
				day := c.Start.Day()
				if len(days[day]) == 0 {
					order = append(order, day)
				}
				days[day] = append(days[day], c)
				vwap.Push(c)
				pivots.Push(c)
				requireDay(t, &vwap, days[day], len(order) > 1 || days[day][0].Start == hour(int(24*day)))
				before := max(0, len(order)-2)
				requirePivots(t, &pivots, days[order[before]], len(order) > 2 ||
					len(order) == 2 && days[order[0]][0].Start == hour(int(24*order[0])))
			}
		}
	}
}

func requireDay(t *testing.T, vwap *indicator.SessionVWAP, day []market.Candle, whole bool) {
	value, volume := 0.0, 0.0
	for _, c := range day {
		value += float64(typical(c)) / 3 * float64(c.Volume)
		volume += float64(c.Volume)
	}
	require.Equal(t, whole && volume > 0, vwap.Ready())
	if volume > 0 {
		near(t, value/volume, vwap.Value(), "vwap of the day")
	}
}

func requirePivots(t *testing.T, p *indicator.PivotPoints, before []market.Candle, known bool) {
	require.Equal(t, known, p.Ready())
	if !known {
		return
	}
	top, bottom := extremes(before)
	h, l, c := float64(top), float64(bottom), float64(before[len(before)-1].Close)
	pivot := (h + l + c) / 3
	for i, want := range []float64{pivot, 2*pivot - l, 2*pivot - h, pivot + (h - l), pivot - (h - l),
		h + 2*(pivot-l), l - 2*(h-pivot)} {
		near(t, want, pivotLevels(p)[i](), fmt.Sprint("level ", i))
	}
}

func TestPivotPointsHaveThreeLevels(t *testing.T) {
	p := indicator.NewPivotPoints(market.Interval1h)
	require.PanicsWithValue(t, "indicator: level 4 of pivot points, which have 1 to 3", func() { p.Support(4) })
}

func TestABatchWhoseFunctionReturnsNothingPanics(t *testing.T) {
	b := indicator.NewCandleBatch(2, func(indicator.Columns) []float64 { return nil })
	b.Push(market.Candle{})
	require.PanicsWithValue(t, "indicator: the function of a batch of 2 values returned nothing",
		func() { b.Push(market.Candle{}) })
}
