package backtest

import (
	"testing"

	"github.com/tidemark-trading/tidemark/strategy/smacross"
)

var smacrossKind = smacross.Kind

func BenchmarkBusyOnly(b *testing.B) {
	busy, _ := planOver(b, 100_000, 1_000_000_00, flip, nil)
	for b.Loop() {
		mustRun(b, busy)
	}
}

func BenchmarkQuietOnly(b *testing.B) {
	quiet, _ := planOver(b, 1_000_000, 1, smacrossKind, map[string]any{"fast": int64(20), "slow": int64(50)})
	for b.Loop() {
		mustRun(b, quiet)
	}
}
