package runner

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// priced are the fields that follow from the price of a fill.
var priced = regexp.MustCompile(`(Price|Fee|FilledAmountQuote|FilledFee|FeePaid|Cost|Realised|Realized|Fees) \S+ `)

var cash = regexp.MustCompile(`^\d+ EUR$`)

// A TWAP whose parts lie inside candles sends the same parts, and each fills. Its prices are those
// of other moments of the same candle: they differ by no more than the widest candle from high to
// low.
func TestATWAPInsideACandleTradesTheSameLiveOnPaperAndInABacktest(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	for n := range 2 * *liveSeeds {
		p := play{weather: weather{seed: uint64(n + 200), wicks: true}, minutes: shortened(t, 60),
			into:       10 * time.Second,
			strategies: section("s", "slicer", both, "1m", "params = { seed = 4, inside = true }"), paper: n%2 == 1}
		live, tested, all := p.both(t)
		var widest float64
		for _, s := range all {
			for _, c := range s.candles {
				widest = max(widest, float64(c.High-c.Low)/100)
			}
		}
		differ := 0
		for where, lines := range tested.lines {
			require.Len(t, live.lines[where], len(lines), where)
			for i, line := range lines {
				other := live.lines[where][i]
				if cash.MatchString(line) {
					continue
				}
				require.Equal(t, priced.ReplaceAllString(line, ""), priced.ReplaceAllString(other, ""), where)
				if x, y := priceOf(t, line), priceOf(t, other); x != y {
					differ++
					require.InDelta(t, x, y, widest, "%s\n%s", line, other)
				}
			}
		}
		require.Greater(t, live.counts["fill"], 10)
		require.Positive(t, differ, "each part met the same price: the bound proves nothing")
	}
}

var fillPrice = regexp.MustCompile(`^fill .*\bPrice (\S+) `)

// priceOf is the price of a line about a fill, 0 for another line.
func priceOf(t *testing.T, line string) float64 {
	found := fillPrice.FindStringSubmatch(line)
	if found == nil {
		return 0
	}
	price, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	return price
}
