package synthetic_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
)

func btceur() *market.Market {
	return &market.Market{ID: 3, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8}
}

func threeYears(t testing.TB, seed uint64) []market.Candle {
	candles, err := synthetic.BTCEUR(btceur(), seed)
	require.NoError(t, err)
	return candles
}

func fingerprint(candles []market.Candle) string {
	hash := sha256.New()
	for i := range candles {
		c := &candles[i]
		_ = binary.Write(hash, binary.LittleEndian, []int64{int64(c.Open), int64(c.High), int64(c.Low), int64(c.Close),
			int64(c.Volume), int64(c.Start)})
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}

// TestTheBuiltInMarketNeverChanges pins seed 1: results quoted anywhere depend on it. A change must
// be meant.
func TestTheBuiltInMarketNeverChanges(t *testing.T) {
	require.Equal(t, "cd81a82f3ca7e130", fingerprint(threeYears(t, 1)))
	require.NotEqual(t, fingerprint(threeYears(t, 1)), fingerprint(threeYears(t, 2)))
}

func TestEveryCandleIsPossibleAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := synthetic.Config{Seed: rapid.Uint64().Draw(t, "seed"), Market: btceur(),
			Interval: rapid.SampledFrom(market.Intervals()).Draw(t, "interval"),
			Start: market.Time(rapid.Int64Range(-1e18, 2e18).
				Draw(t, "start")), First: market.Price(rapid.Int64Range(1, 1<<50).Draw(t, "first")),
			Volume:          market.Volume(rapid.Int64Range(1, 1<<50).Draw(t, "volume")),
			DailyVolatility: rapid.Float64Range(0.001, 0.5).Draw(t, "volatility"),
			Low:             1, High: 1 << 50, GapChance: rapid.Float64Range(-1, 0.9).Draw(t, "gaps")}
		g, err := synthetic.New(c)
		require.NoError(t, err)
		var last, k market.Candle
		for i := range 300 {
			g.Next(&k)
			require.NoError(t, k.Check())
			require.Equal(t, market.ID(3), k.Market)
			require.True(t, i == 0 || k.Start >= last.End(), "%s after %s", k.Start, last.Start)
			if c.GapChance < 0 && i > 0 {
				require.Equal(t, last.End(), k.Start)
			}
			last = k
		}
	})
}

func TestThreeYearsLookLikeAMarket(t *testing.T) {
	candles := threeYears(t, 1)
	hours, gaps := map[int64]float64{}, 0
	var returns []float64
	low, high := candles[0].Low, candles[0].High
	for i := 1; i < len(candles); i++ {
		c := &candles[i]
		low, high = min(low, c.Low), max(high, c.High)
		hours[market.Interval1h.Index(c.Start)%24] += float64(c.Volume)
		returns = append(returns, math.Log(float64(c.Close)/float64(candles[i-1].Close)))
		if c.Start != candles[i-1].End() {
			gaps++
		}
	}
	require.InDelta(t, synthetic.BTCEURHours, len(candles), 200)
	require.Greater(t, gaps, 5)
	require.Greater(t, low, market.Price(15_000_00))
	require.Less(t, high, market.Price(80_000_00))
	require.Greater(t, kurtosis(returns), 5.0, "tails fatter than a normal distribution's 3")
	require.Greater(t, clustering(returns), 0.05, "size of a return tells about the size of the next")
	require.Greater(t, hours[15], 2*hours[4], "afternoons are busier than nights")
}

func kurtosis(x []float64) float64 {
	var two, four float64
	for _, v := range x {
		two, four = two+v*v, four+v*v*v*v
	}
	return four / float64(len(x)) / math.Pow(two/float64(len(x)), 2)
}

// clustering is the autocorrelation of absolute returns at lag one.
func clustering(x []float64) float64 {
	var mean, variance, together float64
	for _, v := range x {
		mean += math.Abs(v) / float64(len(x))
	}
	for i := 1; i < len(x); i++ {
		a, b := math.Abs(x[i-1])-mean, math.Abs(x[i])-mean
		variance, together = variance+a*a, together+a*b
	}
	return together / variance
}

func TestNonsenseConfigsAreRefused(t *testing.T) {
	good := synthetic.Config{Market: btceur(), Interval: market.Interval1h, First: 100, Volume: 1}
	_, err := synthetic.New(good)
	require.NoError(t, err)
	for name, spoil := range map[string]func(*synthetic.Config){
		"no market":        func(c *synthetic.Config) { c.Market = nil },
		"no interval":      func(c *synthetic.Config) { c.Interval = 0 },
		"no price":         func(c *synthetic.Config) { c.First = 0 },
		"no volume":        func(c *synthetic.Config) { c.Volume = 0 },
		"NaN volatility":   func(c *synthetic.Config) { c.DailyVolatility = math.NaN() },
		"NaN gaps":         func(c *synthetic.Config) { c.GapChance = math.NaN() },
		"price too large":  func(c *synthetic.Config) { c.First = math.MaxInt64 },
		"band upside down": func(c *synthetic.Config) { c.Low, c.High = 10, 5 },
	} {
		config := good
		spoil(&config)
		_, err := synthetic.New(config)
		require.Error(t, err, name)
	}
}

func TestNextAllocatesNothing(t *testing.T) {
	g, err := synthetic.New(synthetic.Config{Market: btceur(), Interval: market.Interval1m, First: 100, Volume: 1})
	require.NoError(t, err)
	var c market.Candle
	require.Zero(t, testing.AllocsPerRun(1000, func() { g.Next(&c) }))
}

func BenchmarkBTCEUR(b *testing.B) {
	for b.Loop() {
		threeYears(b, 1)
	}
}

func ExampleGenerator() {
	m := &market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 4}
	g, err := synthetic.New(synthetic.Config{Seed: 7, Market: m, Interval: market.Interval1d,
		Start: synthetic.BTCEURStart, First: 20_000_00, Volume: 500_0000})
	if err != nil {
		fmt.Println(err)
		return
	}
	var c market.Candle
	g.Next(&c)
	fmt.Println(c.Start, m.FormatPrice(c.Open), m.FormatPrice(c.Close))
	// Output: 2021-01-01T00:00:00Z 20001.38 19414.42
}
