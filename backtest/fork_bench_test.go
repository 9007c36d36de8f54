package backtest

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// BenchmarkFork copies a run in the middle of its data, and in the second row continues the copy
// for a window of candles.
func BenchmarkFork(b *testing.B) {
	for name, continued := range map[string]bool{"copy": false, "copy and window": true} {
		b.Run(name, func(b *testing.B) {
			p, candles := planOver(b, 10_000, 1_000_000_00, shipped.SMACross, nil)
			p.OneByOne = true
			at := candles[5_000].End()
			_, err := drive(context.Background(), p, runOptions{began: func(d *driver) {
				d.pauseAt = at
				d.pause = func(market.Time) error {
					d.pauseAt = math.MaxInt64
					forker := newForker(d)
					b.ReportAllocs()
					for b.Loop() {
						fork, err := forker.fork(at, func(s Source, _ Feed) Source { return s }, nil)
						require.NoError(b, err)
						if continued {
							require.NoError(b, fork.runPast(context.Background(), at+window*candles[0].Interval.End(0)))
						}
					}
					return nil
				}
			}})
			require.NoError(b, err)
		})
	}
}
