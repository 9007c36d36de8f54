package plan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
)

// A week whose month is a span of its own is none: its days outside of the month move the market.
func TestAWeekThatASpanOfAMonthCutsIsNoSpan(t *testing.T) {
	m := &market.Market{ID: 1, Name: "BTC-EUR"}
	feed := func(i market.Interval) backtest.Feed { return backtest.Feed{Market: m, Interval: i} }
	span := func(i market.Interval, year int, month time.Month, day int) backtest.CoarseSpan {
		at := i.Floor(market.Time(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).UnixNano()))
		return backtest.CoarseSpan{From: at, To: i.End(at), Interval: i}
	}
	p := &Backtest{Run: &backtest.Plan{}}
	cut, other := span(market.Interval1W, 2024, 2, 1), span(market.Interval1W, 2024, 2, 7)
	month := span(market.Interval1M, 2024, 1, 1)
	p.addCoarse(feed(market.Interval1d), feed(market.Interval1W), []backtest.CoarseSpan{cut, other}, 9)
	p.addCoarse(feed(market.Interval1d), feed(market.Interval1M), []backtest.CoarseSpan{month}, 2)
	require.Equal(t, []backtest.CoarseSpan{month, other}, p.Run.Coarse[m.ID])
	require.Len(t, p.Options.Warnings, 2)
}
