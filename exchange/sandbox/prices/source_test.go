package prices

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// noon is when the tests of this package begin: 2026-03-02 12:00 UTC, a Monday.
const noon market.Time = 1772452800_000000000

// never is after every moment.
const never = market.Time(math.MaxInt64)

// newMarkets is a catalog of BTC-EUR, with a tick of 0.5, and ADA-EUR, with one of 0.00001.
func newMarkets(t require.TestingT) *market.Catalog {
	catalog := &market.Catalog{}
	for _, asset := range []market.Asset{{Symbol: "BTC", Digits: 8}, {Symbol: "EUR", Digits: 2},
		{Symbol: "ADA", Digits: 6}} {
		_, err := catalog.AddAsset(asset.Symbol, asset.Digits)
		require.NoError(t, err)
	}
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8,
		Rules: market.Rules{TickSize: 50, QuantityDecimals: 8, NotionalDecimals: 2, MinOrderInBase: 6100,
			MinOrderInQuote: 500, MaxOpenOrders: 100, FeeCategory: "A"}}))
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "ADA-EUR", PriceDigits: 5, VolumeDigits: 6,
		Rules: market.Rules{TickSize: 1, QuantityDecimals: 4, NotionalDecimals: 2, MinOrderInQuote: 500,
			MaxOpenOrders: 100, FeeCategory: "B"}}))
	return catalog
}

// collect returns what a source does from start on until a time.
func collect(t require.TestingT, source Source, start Start, until market.Time) []Movement {
	next, err := source.Movements(start)
	require.NoError(t, err)
	var all []Movement
	for {
		var m Movement
		more, err := next(&m)
		require.NoError(t, err)
		if !more || m.At >= until {
			return all
		}
		all = append(all, m)
	}
}

// played returns an iterator over candles.
func played(candles ...market.Candle) func() (market.Candle, bool, error) {
	return func() (market.Candle, bool, error) {
		if len(candles) == 0 {
			return market.Candle{}, false, nil
		}
		c := candles[0]
		candles = candles[1:]
		return c, true, nil
	}
}

// drawCandles draws candles that follow one another, with gaps.
func drawCandles(t *rapid.T, m *market.Market, from market.Time, most int) []market.Candle {
	interval := rapid.SampledFrom([]market.Interval{market.Interval1m, market.Interval5m, market.Interval1h}).Draw(t,
		"interval")
	var candles []market.Candle
	start := interval.Floor(from)
	for range rapid.IntRange(1, most).Draw(t, "candles") {
		price := rapid.Int64Range(1, 2_000)
		c := market.Candle{Market: m.ID, Interval: interval, Start: start, Low: market.Price(price.Draw(t, "low"))}
		high := rapid.SampledFrom([]int64{0, 1, 7, 1000}).Draw(t, "height")
		inside := rapid.Int64Range(0, high)
		c.High, c.Open, c.Close = c.Low+market.Price(high), c.Low+market.Price(inside.Draw(t,
			"open")), c.Low+market.Price(inside.Draw(t, "close"))
		c.Volume = market.Volume(rapid.Int64Range(4, 1_000_000_000).Draw(t, "volume"))
		candles = append(candles, c)
		start = c.End().Add(interval.Fixed() * market.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 5}).Draw(t, "gap")))
	}
	return candles
}

func TestReplayedTradesAddUpToTheirCandles(t *testing.T) {
	m := newMarkets(t).Market(1)
	rapid.Check(t, func(t *rapid.T) {
		candles := drawCandles(t, m, noon, 5)
		step := rapid.SampledFrom([]market.Duration{0, 100 * time.Millisecond, time.Minute, time.Hour}).Draw(t, "step")
		path := rapid.Bool().Draw(t, "path")
		if path {
			step = 0
		}
		all := collect(t, Replay{Candles: played(candles...), Step: step, Path: path},
			Start{Market: m, Seed: rapid.Uint64().Draw(t, "seed"), Beginning: noon, From: noon}, never)
		i := 0
		for _, c := range candles {
			var have market.Candle
			var volume market.Qty
			for n := 0; i < len(all) && all[i].At < c.End(); i, n = i+1, n+1 {
				move := &all[i]
				require.GreaterOrEqual(t, move.At, c.Start)
				require.True(t, move.Amount > 0 || path && move.Amount == 0)
				require.Contains(t, []market.Side{market.Buy, market.Sell}, move.Side)
				if n == 0 {
					have.Open, have.High, have.Low = move.Price, move.Price, move.Price
				}
				require.True(t, i == 0 || all[i-1].At <= move.At, "time runs backwards")
				have.High, have.Low, have.Close = max(have.High, move.Price), min(have.Low, move.Price), move.Price
				volume += move.Amount
			}
			require.Equal(t, [5]int64{int64(c.Open), int64(c.High), int64(c.Low), int64(c.Close), int64(c.Volume)},
				[5]int64{int64(have.Open), int64(have.High), int64(have.Low), int64(have.Close), int64(volume)})
		}
		require.Len(t, all, i)
	})
}

func TestASourceThatStartsLaterGoesOnIdentically(t *testing.T) {
	catalog := newMarkets(t)
	rapid.Check(t, func(t *rapid.T) {
		m := catalog.Market(market.ID(rapid.IntRange(1, 2).Draw(t, "market")))
		start := Start{Market: m, Seed: rapid.Uint64().Draw(t, "seed"), Beginning: noon, From: noon}
		candles := drawCandles(t, m, noon, 8)
		speed := rapid.SampledFrom([]int{0, 1, 3, 60}).Draw(t, "speed")
		// The first day's second half, midnight, and the next day's first minutes.
		later := market.Duration(rapid.Int64Range(0, int64(13*time.Hour)).Draw(t, "later"))
		until := noon.Add(later + 20*time.Minute)
		for name, source := range map[string]func() Source{
			"synthetic": func() Source { return Synthetic{Price: "2000", Step: time.Minute} },
			"replay":    func() Source { return Replay{Candles: played(candles...), Speed: speed} },
			"path":      func() Source { return Replay{Candles: played(candles...), Speed: speed, Path: true} },
		} {
			whole := collect(t, source(), start, until)
			again := start
			again.From = start.From.Add(later)
			rest := collect(t, source(), again, until)
			for len(whole) > 0 && whole[0].At < again.From {
				whole = whole[1:]
			}
			if len(whole) == 0 {
				require.LessOrEqual(t, len(rest), 1, "%s: at most the price that stands still", name)
				continue
			}
			require.Equal(t, whole, rest, name)
		}
	})
}

func TestSyntheticPricesDependOnSeedMarketAndTimeAlone(t *testing.T) {
	catalog := newMarkets(t)
	source := Synthetic{Price: "2000", Anchor: noon - 400*market.Time(market.Interval1d.Fixed())}
	start := Start{Market: catalog.Market(1), Seed: 7, Beginning: noon, From: noon}
	until := noon.Add(10 * time.Minute)
	want := collect(t, source, start, until)
	require.InDelta(t, 600, len(want), 200)

	earlier := start
	earlier.Beginning = noon.Add(-30 * time.Hour)
	require.Equal(t, want, collect(t, source, earlier, until), "an anchor makes the start of the exchange indifferent")

	other := start
	other.Seed = 8
	require.NotEqual(t, want[:10], collect(t, source, other, until)[:10])
	other = start
	other.Market = catalog.Market(2)
	require.NotEqual(t, want[0].At, collect(t, source, other, until)[0].At, "two markets of one seed move apart")
	own := source
	own.Seed = 8
	require.NotEqual(t, want[:10], collect(t, own, start, until)[:10], "a seed of its own")
}

func TestSyntheticPricesStartAtTheAnchorAndKeepTheTick(t *testing.T) {
	m := newMarkets(t).Market(1)
	day := market.Interval1d.Floor(noon)
	all := collect(t, Synthetic{Price: "95000.50"}, Start{Market: m, Seed: 3, Beginning: day, From: day},
		day.Add(72*time.Hour))
	require.InDelta(t, 95000_50, float64(all[0].Price), 200_00)
	require.InDelta(t, 3*86400, len(all), 3000)
	last := all[0]
	for _, move := range all {
		cliff := math.Abs(float64(move.Price-last.Price)) > 0.03*float64(last.Price) // none, at midnight neither
		if move.Price%50 != 0 || move.Amount <= 0 || move.At < last.At || cliff {
			require.Fail(t, "a price off the tick, of no amount, before its time or beyond a cliff", "%+v after %+v",
				move, last)
		}
		last = move
	}
	require.NotEqual(t, all[0].Price, last.Price)
}

func TestAReplayRunsNTimesAsFast(t *testing.T) {
	m := newMarkets(t).Market(1)
	candle := market.Candle{Open: 100_00, High: 103_00, Low: 99_00, Close: 101_00, Volume: 1_00000000,
		Interval: market.Interval1h, Start: 0}
	next := candle
	next.Start = candle.End()
	from := noon.Add(25 * time.Minute)
	all := collect(t, Replay{Candles: played(candle, next), Speed: 60}, Start{Market: m, Beginning: from, From: from},
		never)
	require.Len(t, all, 60+35, "25 minutes into the hour, so 25 seconds into the first candle")
	require.Less(t, all[0].At, from.Add(time.Second))
	require.Less(t, all[34].At, from.Add(35*time.Second))

	all = collect(t, Replay{Candles: played(candle, next), Speed: 60}, Start{Market: m, Beginning: noon, From: noon},
		never)
	require.Len(t, all, 2*60)
	require.Less(t, all[119].At, noon.Add(2*time.Minute))
	require.GreaterOrEqual(t, all[60].At, noon.Add(time.Minute))
}

func TestAReplayThatHasEndedLeavesItsPriceStanding(t *testing.T) {
	m := newMarkets(t).Market(1)
	candle := market.Candle{Open: 100_00, High: 103_00, Low: 99_00, Close: 101_00, Volume: 1_00000000,
		Interval: market.Interval1m, Start: 0}
	late := noon.Add(time.Hour)
	all := collect(t, Replay{Candles: played(candle)}, Start{Market: m, Beginning: noon, From: late}, never)
	require.Equal(t, []Movement{{At: late, Price: 101_00, Side: market.Buy}}, all, "a price, and no trade")
	require.Empty(t, collect(t, Replay{Candles: played()}, Start{Market: m, Beginning: noon, From: noon}, never),
		"nor a price without candles")
}

func TestACandleOfLittleVolumeShowsWhatItCan(t *testing.T) {
	m := newMarkets(t).Market(1)
	for volume, want := range map[market.Volume][]market.Price{
		0: {100_00, 99_00, 103_00, 101_00}, // the price moves without a trade
		1: {101_00},
		2: {100_00, 101_00},
		3: {100_00, 99_00, 101_00},
		4: {100_00, 99_00, 103_00, 101_00},
	} {
		candle := market.Candle{Open: 100_00, High: 103_00, Low: 99_00, Close: 101_00, Volume: volume,
			Interval: market.Interval1m}
		var prices []market.Price
		var sum market.Volume
		for _, move := range collect(t, Replay{Candles: played(candle), Step: time.Minute},
			Start{Market: m, Beginning: noon, From: noon}, never) {
			prices = append(prices, move.Price)
			sum += market.Volume(move.Amount)
		}
		require.Equal(t, want, prices, "volume %d", volume)
		require.Equal(t, volume, sum)
	}
}

func TestAFixedPriceIsTradedOnce(t *testing.T) {
	m := newMarkets(t).Market(1)
	all := collect(t, Fixed("95000.50"), Start{Market: m, Beginning: noon, From: noon}, never)
	require.Equal(t, []Movement{{At: noon, Price: 95000_50, Amount: 6100, Side: market.Buy}}, all)
	all = collect(t, Fixed("0.5"), Start{Market: newMarkets(t).Market(2), From: noon}, never)
	require.EqualValues(t, 100, all[0].Amount, "without a minimum, the smallest of quantityDecimals")
}

func TestASteadyPriceComesAgainAndAgainWithoutATrade(t *testing.T) {
	m := newMarkets(t).Market(1)
	start := Start{Market: m, Beginning: noon, From: noon.Add(2500 * time.Millisecond)}
	all := collect(t, Steady{Price: "95000.50", Refill: time.Second}, start, start.From.Add(2*time.Second))
	require.Equal(t, []Movement{
		{At: start.From, Price: 95000_50, Amount: 6100, Side: market.Buy},
		{At: noon.Add(3 * time.Second), Price: 95000_50, Side: market.Buy}, {At: noon.Add(4 * time.Second),
			Price: 95000_50, Side: market.Buy},
	}, all[:3])
	require.Len(t, collect(t, Steady{Price: "95000.50"}, start, never), 1)
}

func TestNonsenseSourcesAreRefused(t *testing.T) {
	m := newMarkets(t).Market(1)
	for name, source := range map[string]Source{
		"no price": Fixed(""), "price of zero": Fixed("0"), "price off the tick": Fixed("100.25"),
		"price with too many decimals": Fixed("1.001"),
		"made up of nothing":           Synthetic{}, "negative volume": Synthetic{Price: "100",
			Volume: "-1"}, "wild": Synthetic{Price: "100", Volatility: 7},
		"anchor to come": Synthetic{Price: "100", Anchor: noon + 1}, "tiny steps": Synthetic{Price: "100", Step: 1},
		"no candles": Replay{}, "backwards": Replay{Candles: played(), Speed: -1}, "too fast": Replay{Candles: played(),
			Speed: maxSpeed + 1},
		"ticks and steps": Replay{Candles: played(), Path: true, Step: time.Second},
	} {
		_, err := source.Movements(Start{Market: m, Beginning: noon, From: noon})
		require.Error(t, err, name)
	}
}

func TestBadCandlesStopAReplay(t *testing.T) {
	m := newMarkets(t).Market(1)
	good := market.Candle{Open: 2, High: 3, Low: 1, Close: 2, Volume: 100, Interval: market.Interval1m}
	bad, far := good, good
	bad.High = 0
	far.Start = market.Interval1m.Floor(math.MaxInt64 - market.Time(time.Hour))
	broken := errors.New("disk")
	for name, candles := range map[string]func() (market.Candle, bool, error){
		"impossible": played(bad), "not in order": played(good, good), "too far ahead": played(good, far),
		"unreadable": func() (market.Candle, bool, error) { return market.Candle{}, false, broken },
	} {
		next, err := Replay{Candles: candles}.Movements(Start{Market: m, Beginning: noon, From: noon})
		require.NoError(t, err)
		var move Movement
		more := true
		for err == nil && more {
			more, err = next(&move)
		}
		require.ErrorContains(t, err, "BTC-EUR: replay", name)
		more, err = next(&move)
		require.False(t, more || err != nil, "it has ended")
	}
}

func TestAMovementAllocatesNothing(t *testing.T) {
	next, err := Synthetic{Price: "95000"}.Movements(Start{Market: newMarkets(t).Market(1), Beginning: noon,
		From: noon})
	require.NoError(t, err)
	var m Movement
	require.Zero(t, testing.AllocsPerRun(10_000, func() { _, _ = next(&m) }))
}

func BenchmarkMovement(b *testing.B) {
	next, err := Synthetic{Price: "95000"}.Movements(Start{Market: newMarkets(b).Market(1), Beginning: noon,
		From: noon})
	require.NoError(b, err)
	var m Movement
	for b.Loop() {
		_, _ = next(&m)
	}
}

func BenchmarkStartAYearAfterTheAnchor(b *testing.B) {
	m := newMarkets(b).Market(1)
	for b.Loop() {
		_, err := Synthetic{Price: "95000", Anchor: noon.Add(-365 * 24 * time.Hour)}.Movements(Start{Market: m,
			Beginning: noon, From: noon})
		require.NoError(b, err)
	}
}
