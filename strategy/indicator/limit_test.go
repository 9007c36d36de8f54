package indicator_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// pushAll pushes candles whose prices and volumes are shifted. It returns the figure's values, or
// why it refuses them.
func pushAll(f figure, all []market.Candle, prices, volumes int) (values []float64, refused string) {
	defer func() {
		if cause := recover(); cause != nil {
			refused = fmt.Sprint(cause)
		}
	}()
	for _, c := range all {
		f.push(market.Candle{Open: c.Open << prices, High: c.High << prices, Low: c.Low << prices,
			Close: c.Close << prices, Volume: c.Volume << volumes, Start: c.Start, Interval: c.Interval})
	}
	return f.values(), ""
}

// Doubled numbers double a figure, or leave it as it is, up to the last bit of an int64. A figure
// whose sums have no room for them refuses them, and no others.
func TestNumbersOfAnySizeHaveTheirFigureOrAreRefused(t *testing.T) {
	all, refusals := walk(300), 0
	highest, largest := market.Price(0), market.Volume(0)
	for _, c := range all {
		highest, largest = max(highest, c.High), max(largest, c.Volume)
	}
	for i := range figures() {
		want, _ := pushAll(figures()[i], all, 0, 0)
		same := func(have []float64, shift int) {
			for v := range want {
				apart := min(math.Abs(have[v]-want[v]), math.Abs(have[v]-math.Ldexp(want[v], shift)))
				require.LessOrEqual(t, apart, 1e-9*math.Abs(have[v]), "%s, times 2^%d", figures()[i].name, shift)
			}
		}
		for shift := 1; highest <= math.MaxInt64>>shift; shift++ {
			have, refused := pushAll(figures()[i], all, shift, 0)
			if refused == "" {
				same(have, shift)
				continue
			}
			refusals++
			require.Contains(t, refused, "fewer decimals", figures()[i].name)
			require.Greater(t, highest<<shift, market.Price(math.MaxInt64/(3*24)), figures()[i].name)
		}
		for shift := 1; largest <= math.MaxInt64>>shift; shift++ {
			have, refused := pushAll(figures()[i], all, 0, shift)
			require.Empty(t, refused, figures()[i].name)
			same(have, shift)
		}
	}
	require.Greater(t, refusals, 20)
}

func TestAPriceThatHasNoRoomIsRefusedFromItsFirstUnitOn(t *testing.T) {
	average := indicator.NewSMA(20)
	for range 3 {
		average.Push(math.MaxInt64 / 20)
		average.Push(-math.MaxInt64 / 20)
	}
	for _, p := range []market.Price{math.MaxInt64/20 + 1, -math.MaxInt64/20 - 1, math.MaxInt64, math.MinInt64} {
		fewer := 1 + strings.Count(fmt.Sprint(p), "92233720368547758")
		require.PanicsWithValue(t, fmt.Sprintf("indicator: %d is beyond 461168601842738790, up to "+
			"which sums over windows of these lengths are exact; it needs at least %d fewer decimals "+
			"(prices: bot candles import --replace --price-digits)", p, fewer), func() { average.Push(p) })
	}
	one := indicator.NewSMA(1)
	one.Push(math.MaxInt64)
	require.EqualValues(t, math.MaxInt64, one.Sum())
}
