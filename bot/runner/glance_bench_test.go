package runner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// BenchmarkGlance is what a look of the dashboard takes from the loop of a bot. A dashboard takes
// one a second, however many pages are open; the goal is 1 % of a core, 10 ms. The floor is a call
// of an empty function in the loop.
func BenchmarkGlance(b *testing.B) {
	for _, strategies := range []int{1, 20} {
		b.Run(fmt.Sprint(strategies), func(b *testing.B) {
			h := &hearing{benchEnds: benchEnds{b: b}, heard: make(chan time.Time, 1),
				idle: idleStrategies(strategies - 1)}
			h.open(b.TempDir())
			c := &control{r: h.bot}
			h.fill()
			var looked, floor time.Duration
			for b.Loop() {
				err := h.bot.loop.Inspect(b.Context(), func(at market.Time) {
					began := time.Now()
					require.NoError(b, c.statusAt(c.newStatus(), at))
					c.prices()
					h.bot.uses(at)
					looked += time.Since(began)
				})
				require.NoError(b, err)
				require.NoError(b, h.bot.loop.Inspect(b.Context(), func(market.Time) {
					began := time.Now()
					floor += time.Since(began)
				}))
			}
			b.ReportMetric(float64(looked.Microseconds())/float64(b.N), "µs-of-the-loop")
			b.ReportMetric(float64(floor.Nanoseconds())/float64(b.N), "floor-ns")
			h.close()
		})
	}
}

// idleStrategies are sections of a config, each with an operator id of its own.
func idleStrategies(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "[strategies.idle%d]\nkind = \"idle\"\nmarkets = [\"BTC-EUR\"]\ninterval = \"1m\"\n"+
			"operator_id = %d\n", i, i+8)
	}
	return text.String()
}
