package lang

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest/replica"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// readers are the figures of package indicator after each candle, by the text that reads the same.
func readers() map[string]func(c market.Candle) (float64, bool) {
	all := map[string]func(c market.Candle) (float64, bool){}
	price := func(text string, x interface {
		Push(market.Price)
		Ready() bool
	}, value func() float64) {
		all[text] = func(c market.Candle) (float64, bool) { x.Push(c.Close); return value(), x.Ready() }
	}
	candle := func(text string, x interface {
		Push(market.Candle)
		Ready() bool
	}, value func() float64) {
		all[text] = func(c market.Candle) (float64, bool) { x.Push(c); return value(), x.Ready() }
	}
	sma, ema, wma, hma := indicator.NewSMA(20), indicator.NewEMA(20), indicator.NewWMA(20), indicator.NewHMA(20)
	price("sma(20)", &sma, sma.Value)
	price("ema(20)", &ema, ema.Value)
	price("wma(close, 20)", &wma, wma.Value)
	price("hma(20)", &hma, hma.Value)
	rma, dema, tema, kama := indicator.NewRMA(9), indicator.NewDEMA(9), indicator.NewTEMA(9), indicator.NewKAMA(10)
	price("rma(9)", &rma, rma.Value)
	price("dema(9)", &dema, dema.Value)
	price("tema(9)", &tema, tema.Value)
	price("kama(10)", &kama, kama.Value)
	macd, ppo, trix := indicator.NewMACD(5, 12, 4), indicator.NewPPO(5, 12, 4), indicator.NewTRIX(6)
	price("macd(5, 12, 4)", &macd, macd.Value)
	price("macd(close, 5, 12, 4).signal", &macd, macd.Signal)
	price("macd(5, 12, 4).hist", &macd, macd.Histogram)
	price("ppo(5, 12, 4).signal", &ppo, ppo.Signal)
	price("trix(6)", &trix, trix.Value)
	rsi, roc, dev, z := indicator.NewRSI(14), indicator.NewROC(10), indicator.NewStdDev(20), indicator.NewZScore(20)
	price("rsi(14)", &rsi, rsi.Value)
	price("roc(10)", &roc, roc.Value)
	price("stdev(20)", &dev, dev.Value)
	price("zscore(20)", &z, z.Value)
	line, high, band := indicator.NewRegression(20), indicator.NewHighest(20), indicator.NewBollinger(20, 2)
	price("linreg(20)", &line, line.Value)
	price("highest(close, 20)", &high, high.Value)
	price("bb(20, 2).upper", &band, func() float64 { return float64(band.Upper()) })
	price("bb(20, 2).lower", &band, func() float64 { return float64(band.Lower()) })
	atr, adx, cci, mfi := indicator.NewATR(14), indicator.NewADX(14), indicator.NewCCI(20), indicator.NewMFI(14)
	candle("atr(14)", &atr, atr.Value)
	candle("adx(14)", &adx, adx.Value)
	candle("adx(14).minus", &adx, adx.Minus)
	candle("cci(20)", &cci, cci.Value)
	candle("mfi(14)", &mfi, mfi.Value)
	obv, vwap, vwma := indicator.NewOBV(), indicator.NewVWAP(20), indicator.NewVWMA(20)
	stoch := indicator.NewStochastic(14, 3, 3)
	candle("obv", &obv, obv.Value)
	candle("vwap(20)", &vwap, vwap.Value)
	candle("vwma(20)", &vwma, vwma.Value)
	candle("stoch(14, 3, 3).k", &stoch, stoch.Value)
	candle("stoch(14, 3, 3).d", &stoch, stoch.Signal)
	trend, kc := indicator.NewSupertrend(10, 3), indicator.NewKeltner(20, 10, 2)
	candle("supertrend(10, 3)", &trend, trend.Value)
	candle("supertrend(10, 3).up", &trend, func() float64 { return truth(trend.Up()) })
	candle("kc(20, 10, 2).upper", &kc, func() float64 { return float64(kc.Upper()) })
	channel, exit := indicator.NewDonchian(20), indicator.NewChandelier(22, 3)
	candle("donchian(20).lower", &channel, func() float64 { return float64(channel.Low()) })
	candle("chandelier(22, 3).long", &exit, func() float64 { return float64(exit.Long()) })
	sar, ichimoku, points := indicator.NewSAR(0.02, 0.02, 0.2), indicator.NewIchimoku(9, 26, 52),
		indicator.NewPivotPoints(market.Interval1h)
	candle("sar(0.02, 0.02, 0.2)", &sar, sar.Value)
	candle("ichimoku(9, 26, 52).b", &ichimoku, func() float64 { return float64(ichimoku.SpanB()) })
	candle("pivots.s2", &points, func() float64 { return float64(points.Support(2)) })
	day, aroon, vortex := indicator.NewSessionVWAP(market.Interval1h), indicator.NewAroon(25), indicator.NewVortex(14)
	candle("dayvwap", &day, day.Value)
	candle("aroon(25).down", &aroon, aroon.Down)
	candle("vortex(14).plus", &vortex, vortex.Plus)
	wpr, uo, ao, dist := indicator.NewWilliamsR(14), indicator.NewUltimate(7, 14, 28), indicator.NewAwesome(5, 34),
		indicator.NewAccDist()
	candle("wpr(14)", &wpr, wpr.Value)
	candle("uo(7, 14, 28)", &uo, uo.Value)
	candle("ao(5, 34)", &ao, ao.Value)
	candle("accdist", &dist, dist.Value)
	chaikin, cmf, smooth, shapes := indicator.NewChaikin(3, 10), indicator.NewCMF(20), indicator.NewHeikinAshi(),
		indicator.NewPatterns()
	candle("chaikin(3, 10)", &chaikin, chaikin.Value)
	candle("cmf(20)", &cmf, cmf.Value)
	candle("ha.close", &smooth, func() float64 { return float64(smooth.Close()) })
	candle("pattern.bearishengulfing", &shapes, func() float64 { return truth(shapes.Engulfing() == indicator.Down) })
	candle("pattern.doji", &shapes, func() float64 { return truth(shapes.Doji()) })
	stochRSI, cmo, tsi := indicator.NewStochRSI(14, 14, 3, 3), indicator.NewCMO(14), indicator.NewTSI(25, 13)
	price("stochrsi(14, 14, 3, 3).d", &stochRSI, stochRSI.Signal)
	price("cmo(14)", &cmo, cmo.Value)
	price("tsi(13, 25)", &tsi, tsi.Value)
	return all
}

// anything compiles a text of any dimension.
func anything(t *testing.T, text string) *Program {
	t.Helper()
	for want := Condition; want <= Figure; want++ {
		if p, err := Compile([]Rule{{"rule", text, want}}, nil, nil, market.Interval1h); err == nil {
			return p
		}
	}
	t.Fatalf("%s does not compile", text)
	return nil
}

func TestFiguresAreThoseOfPackageIndicatorToTheLastBit(t *testing.T) {
	for text := range readers() {
		value := readers()[text] // of indicators of its own
		p := anything(t, text)
		s := p.New(aMarket())
		for i, c := range walk(7, 300) {
			s.Push(c)
			got, ok := s.Eval(0, nil)
			want, ready := value(c)
			require.Equal(t, ready, ok, "%s, candle %d", text, i)
			if ready {
				require.Equal(t, math.Float64bits(want), math.Float64bits(got), "%s, candle %d", text, i)
			}
		}
	}
}

func TestCrossingsAreThoseOfTheExactCross(t *testing.T) {
	for seed := range uint64(30) {
		x := indicator.NewCross(5, 12)
		p, err := Compile([]Rule{{"up", "sma(5) crosses above sma(12)", Condition},
			{"down", "crossunder(sma(close, 5), sma(12))", Condition}}, nil, nil, market.Interval1h)
		require.NoError(t, err)
		require.Equal(t, x.Warmup(), p.Warmup())
		s := p.New(aMarket())
		crosses := 0
		for _, c := range walk(seed, 500) {
			if seed%2 == 0 {
				c.Close = c.Close % 3 // equal averages are frequent
			}
			direction := x.Push(c.Close)
			s.Push(c)
			up, _ := s.Eval(0, nil)
			down, _ := s.Eval(1, nil)
			require.Equal(t, direction, indicator.Direction(up-down))
			crosses += int(up + down)
		}
		require.Positive(t, crosses)
	}
}

// texts are rules that read each kind of series.
var texts = []string{"rsi(14) < 50 and close > sma(20)",
	"count(close > open, 5) >= 3 or barssince(close < open[1]) > 2",
	"sma(rsi(5), 3) > 50 and macd(5, 12, 4).hist > 0",
	`close > ema(3, "4h") or sma(close - close("4h"), 5) > 0`,
	"valuewhen(close > open, high, 1) > close and highest(20).ago < 5", "correlation(close, volume, 20) > 0.1",
	"percentrank(atr(5), 20) > 50 and slope(ema(5), 5) > 0", `rising(close("4h"), 2)`}

func TestACopyOfAStateDecidesTheSame(t *testing.T) {
	for _, text := range texts {
		p, err := Compile([]Rule{{"rule", text, Condition}}, nil, nil, market.Interval1h)
		require.NoError(t, err, text)
		list := walk(3, 300)
		long := merged(list)
		s := p.New(aMarket())
		played(&s, list[:200], long[:50])
		fork, err := replica.Of(replica.New(replica.Rules{}), &s)
		require.NoError(t, err, text)
		other := walk(4, 100)
		for i := range other {
			other[i].Start = list[200+i].Start
		}
		changed := played(fork, other, merged(other))
		require.Equal(t, played(&s, list[200:], long[50:]), valuesOf(t, p, list, long)[200:], text)
		require.Equal(t, 100, len(changed))
	}
}

// valuesOf is what a fresh state says of all candles.
func valuesOf(t *testing.T, p *Program, list, long []market.Candle) []float64 {
	t.Helper()
	s := p.New(aMarket())
	return played(&s, list, long)
}

func TestNoRuleSeesACandleThatComesLater(t *testing.T) {
	for _, text := range texts {
		p, err := Compile([]Rule{{"rule", text, Condition}}, nil, nil, market.Interval1h)
		require.NoError(t, err, text)
		list := walk(3, 120)
		all := valuesOf(t, p, list, merged(list))
		defined := 0
		for k := 1; k <= len(list); k++ {
			last := valuesOf(t, p, list[:k], merged(list[:k]))[k-1]
			require.Equal(t, math.Float64bits(all[k-1]), math.Float64bits(last), "%s, candle %d", text, k)
			defined += int(truth(last == last))
		}
		require.Greater(t, defined, 50, text)
	}
}

func TestADecisionDependsOnTheCandlesAlone(t *testing.T) {
	for _, text := range texts {
		p, err := Compile([]Rule{{"rule", text, Condition}}, nil, nil, market.Interval1h)
		require.NoError(t, err, text)
		list := walk(6, 200)
		s, trues := p.New(aMarket()), 0.0
		long := merged(list)
		for i, want := range valuesOf(t, p, list, long) { // which decides at each candle
			s.Push(list[i])
			for len(long) > 0 && long[0].End() <= list[i].End() {
				s.PushOf(market.Interval4h, long[0])
				long = long[1:]
			}
			if i%7 == 6 {
				got, ok := s.Eval(0, nil)
				require.Equal(t, want == want, ok)
				require.True(t, !ok || got == want, "%s, candle %d", text, i)
				trues += got
			}
		}
		require.Positive(t, trues, text)
	}
}

func TestAMixedSeriesTakesTheCandlesOfItsInstant(t *testing.T) {
	p, err := Compile([]Rule{{"rule", `sum(close - close("15m"), 3)`, Figure}}, nil, nil, market.Interval1h)
	require.NoError(t, err)
	always, seldom := p.New(aMarket()), p.New(aMarket())
	quarter := func(c market.Candle, n int) market.Candle {
		c.Interval, c.Start = market.Interval15m, c.Start.Add(time.Duration(n)*15*time.Minute)
		c.Close += market.Price(1000 * n)
		return c
	}
	for i, c := range walk(8, 50) {
		for n := range 3 { // the first three quarters of the hour
			always.PushOf(market.Interval15m, quarter(c, n))
			seldom.PushOf(market.Interval15m, quarter(c, n))
		}
		for _, s := range []*State{&always, &seldom} {
			s.Push(c)
			s.PushOf(market.Interval15m, quarter(c, 3))
		}
		v, ok := always.Eval(0, nil)
		require.Equal(t, i >= 2, ok)
		if ok {
			require.Equal(t, -9000.0, v)
		}
	}
	v, ok := seldom.Eval(0, nil)
	require.True(t, ok)
	require.Equal(t, -9000.0, v)
}

func TestOfEqualExtremesTheLatestCounts(t *testing.T) {
	s := anything(t, "highest(high, 4).ago").New(aMarket())
	for i, high := range []market.Price{9, 7, 7, 9, 8, 8, 8} {
		s.Push(market.Candle{High: high})
		if v, ok := s.Eval(0, nil); i >= 3 {
			require.True(t, ok)
			require.Equal(t, float64([]int{0, 1, 2, 3}[i-3]), v)
		}
	}
}

func TestAStateIsReadyWithItsWarmUpAtTheLatest(t *testing.T) {
	for _, w := range Words() {
		p, err := Compile([]Rule{{w.Name, w.Example, Condition}}, nil, nil, market.Interval1h, "model")
		require.NoError(t, err)
		if len(p.Reads()) > 0 || len(p.Intervals()) > 1 {
			continue
		}
		s := p.New(aMarket())
		in := &Inputs{Signals: []market.Signal{{Source: "model", HasValue: true, HasTarget: true, Action: market.ActBuy,
			Stance: market.StanceLong}}, InPosition: true, EntryPrice: 1, Cost: 1, HighestSinceEntry: 1,
			LowestSinceEntry: 1}
		for _, c := range walk(5, max(p.Warmup(), 40)) { // what waits for a first event has come within 40
			s.Push(c)
		}
		_, ok := s.Eval(0, in)
		require.True(t, ok, "%s is not known after its warm-up of %d", w.Example, p.Warmup())
	}
}

func TestAFunctionOverALargeSeriesKeepsSevenDigits(t *testing.T) {
	for _, c := range []struct {
		text  string
		value float64
	}{ // close is 50,000.00, volume 123.45678901
		{"sma(close * volume, 5000)", 5_000_000 * 12_345_678_901},
		{"sma(ema(volume, 5), 5000)", 12_345_678_901},
		{"sma(ema(close, 5), 5000)", 5_000_000},
		{"sma(close / 3, 5000)", 5_000_000 / 3.0},
		{"sma(close / (3 * close), 5000)", 1 / 3.0},
	} {
		s := anything(t, c.text).New(aMarket())
		for range 5100 {
			s.Push(market.Candle{Open: 5_000_000, High: 5_000_000, Low: 5_000_000, Close: 5_000_000,
				Volume: 12_345_678_901})
		}
		v, ok := s.Eval(0, nil)
		require.True(t, ok, c.text)
		require.InEpsilon(t, c.value, v, 1e-7, c.text)
	}
}
