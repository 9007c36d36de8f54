package backtest

import (
	"context"
	"strconv"
	"testing"

	talib "github.com/markcheno/go-talib"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// batched holds while the function of another library is below the close.
type batched struct {
	strategy.Base
	line indicator.Batch
}

func (b *batched) OnCandle(d *strategy.Desk, c market.Candle) {
	b.line.Push(float64(c.Close))
	switch {
	case !b.line.Ready():
	case b.line.Value() < float64(c.Close):
		_, _ = d.In(c.Market).Target(strategy.Amount(1_000_000))
	default:
		_, _ = d.In(c.Market).Target(strategy.Amount(0))
	}
}

// batchPlan runs f over windows of 40 closes, in a strategy that declares a warm-up.
func batchPlan(t *testing.T, warmup int, f func([]float64) []float64) *Plan {
	definition := strategy.Define("batched", "holds above a line", func(struct{}) strategy.Needs {
		return strategy.Needs{Warmup: warmup}
	}, func(struct{}, strategy.Setup) (strategy.Strategy, error) {
		return &batched{line: indicator.NewBatch(40, f)}, nil
	})
	return fromTheStart(t, 3_000, definition)
}

func ema20(closes []float64) []float64 { return talib.Ema(closes, 20) }

func TestAFunctionOfAnotherLibraryPassesTheLookaheadCheckByForks(t *testing.T) {
	report, err := CheckLookahead(context.Background(), batchPlan(t, 40, ema20), quickLook)
	require.NoError(t, err)
	require.Greater(t, report.Decisions, 50)
	require.NotZero(t, report.Forks)
	require.Empty(t, report.FromStart)
	require.Empty(t, report.Changed)
}

// A function with variables of its own cannot be copied. The check is right all the same.
func TestAFunctionThatRemembersCloseToCloseIsFoundByTheLookaheadCheck(t *testing.T) {
	next := map[float64]float64{} // the close that followed a close, in any run
	last := 0.0
	hindsight := func(closes []float64) []float64 {
		now := closes[len(closes)-1]
		next[last], last = now, now
		if later, known := next[now]; known {
			return []float64{2*now - later}
		}
		return closes
	}
	report, err := CheckLookahead(context.Background(), batchPlan(t, 40, hindsight), quickLook)
	require.NoError(t, err)
	require.NotEmpty(t, report.Changed)
}

func TestTheWarmupOfAFunctionIsItsWindow(t *testing.T) {
	for _, c := range []struct{ declared, enough int }{{40, 40}, {20, 40}} {
		report, err := CheckWarmup(context.Background(), batchPlan(t, c.declared, ema20))
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(c.declared), report.Declared.String())
		require.Equal(t, strconv.Itoa(c.enough), report.Tried[report.Enough].History.String(), "%+v", report.Tried)
	}
}
