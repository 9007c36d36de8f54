package backtest

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// The rules of the market rise while the entry waits: what it buys cannot be sold at the stop any
// more.
func TestTheReportSaysThatAPositionHadNoExitAndWhy(t *testing.T) {
	var s *stage
	s = newStage(t, func(d *strategy.Desk, c market.Candle) {
		if c.Start > 0 {
			s.plan.Catalog.Market(1).MinOrderInQuote = 900
			return
		}
		_, err := d.In(1).Buy(strategy.Amount(10), strategy.At(95), strategy.Exits(80, 0))
		require.NoError(t, err)
	})
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()[:1]
	s.plan.Catalog.Market(1).MinOrderInQuote = 1
	s.feed(1, market.Interval1h, true, true, [5]int64{0, 100, 100, 100, 100}, [5]int64{60, 100, 100, 100, 100},
		[5]int64{120, 100, 110, 90, 105}, [5]int64{180, 105, 105, 105, 105})
	res := s.run(t, Options{})
	require.Len(t, res.Warnings, 1)
	t.Log(res.Warnings[0], res.UnprotectedBy)
	require.Contains(t, res.Warnings[0], "was left without an exit once (too small), first at ")
	require.Contains(t, res.Warnings[0], "stop: ")
	require.Len(t, res.UnprotectedBy, 1)
	require.Equal(t, "too small", res.UnprotectedBy[0].Cause)
	require.Equal(t, res.Unprotected, res.UnprotectedBy[0].Time)
	require.Greater(t, time.Duration(res.Unprotected), time.Hour,
		"to the end of the run, not to the last report of the bracket")
	var text bytes.Buffer
	require.NoError(t, WriteSummary(&text, res, SummaryOptions{}))
	require.Contains(t, text.String(), "  too small")
}

// A strategy that asks for no exits is not called protected.
func TestARunWithoutTimeUnprotectedHasNoSuchRow(t *testing.T) {
	require.Empty(t, (&Result{}).unprotectedRows())
	minute := Seconds(time.Minute)
	res := &Result{Unprotected: minute, UnprotectedBy: []CauseSeconds{{Cause: "refused", Time: minute}}}
	require.Equal(t, []figureRow{{"unprotected", minute.String(), ""}, {"  refused", minute.String(), ""}},
		res.unprotectedRows())
}
