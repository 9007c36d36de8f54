package rounds

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
	"github.com/tidemark-trading/tidemark/market"
)

// away is a report in which live earned so many cents less than the backtest, of 1000 EUR.
func away(cents market.Money, short string) *gap.Comparison {
	amount := func(units market.Money) gap.Amount { return gap.Amount{Units: units, Digits: 2} }
	return &gap.Comparison{Short: short, Strategies: []gap.Bridge{{Name: "trend", Gap: amount(-cents),
		Equity: amount(100_000), Unexplained: amount(0), Terms: []gap.Term{{Fact: "data", Step: amount(-cents)}}}}}
}

// A strategy that is far from its backtest is told once, until it is half as near. A round that
// compares nothing, or less than what happened, is told of in its line alone.
func TestWhatIsFarIsToldOnce(t *testing.T) {
	var heard []alert.Alert
	phone := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		var one alert.Alert
		if json.NewDecoder(q.Body).Decode(&one) == nil {
			heard = append(heard, one)
		}
	}))
	defer phone.Close()
	places, err := alert.NewReceivers(&config.AlertsSection{To: map[string]config.AlertSection{
		"phone": {Template: "json", URL: phone.URL}}}, func(string) string { return "" })
	require.NoError(t, err)
	var out bytes.Buffer
	var report *gap.Comparison
	var failed error
	o := Options{Every: time.Hour, Out: &out, Bot: "live", Limit: 50,
		Alerts:  alert.NewSender(places, nil, zerolog.Nop()),
		Compare: func(context.Context) (*gap.Comparison, error) { return report, failed }}
	r := New(o)
	for _, row := range []struct {
		cents market.Money
		short string
		err   error
		line  string
	}{
		{cents: 499, line: "trend -49.9 bps (data -49.9)"},
		{cents: 900, short: "the recording ends at event 7", line: "no comparison: the recording ends at event 7"},
		{err: errors.New("no bot is running"), line: "no comparison: no bot is running"},
		{cents: 500, line: "trend -50.0 bps"}, // told
		{cents: 250, line: "trend -25.0 bps"},
		{cents: 600, line: "trend -60.0 bps"},
		{cents: 249, line: "trend -24.9 bps"},
		{cents: -700, line: "trend +70.0 bps (data +70.0)"}, // told
	} {
		report, failed = away(row.cents, row.short), row.err
		out.Reset()
		require.NoError(t, r.round(t.Context()))
		require.Contains(t, out.String(), row.line)
	}
	o.Alerts.Stop(time.Minute)
	require.Len(t, heard, 2)
	require.Equal(t, "trend is away from its backtest since 1970-01-01 00:00:00: -50.0 bps (data -50.0)", heard[0].Text)
	require.Contains(t, heard[1].Text, "+70.0 bps")
	answer := httptest.NewRecorder()
	r.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Contains(t, answer.Body.String(), `tidemark_gap_tracking_bps{strategy="trend"} 70`)
	require.Contains(t, answer.Body.String(), `tidemark_gap_rounds_total{outcome="compared"} 6`)
	require.Contains(t, answer.Body.String(), `tidemark_gap_rounds_total{outcome="failed"} 2`)
}

func TestThePageOnMetricsNamesEachOfARound(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/metrics.md")
	require.NoError(t, err)
	f := newFigures()
	f.take(away(1, ""))
	metrics, err := f.registry.Gather()
	require.NoError(t, err)
	require.Len(t, metrics, strings.Count(string(page), "| `tidemark_gap_"))
	for _, m := range metrics {
		require.Contains(t, string(page), "| `"+m.GetName()+"` |")
	}
}

// A strategy without money has no tracking error.
func TestAStrategyWithoutMoneyIsNotFar(t *testing.T) {
	one := away(900, "")
	one.Strategies[0].Equity.Units = 0
	require.Equal(t, "had no money", Text(&one.Strategies[0]))
	f := newFigures()
	f.take(one)
	metrics, err := f.registry.Gather()
	require.NoError(t, err)
	for _, m := range metrics {
		require.NotContains(t, m.GetName(), "bps")
	}
}

// The end of the context ends a round, and the rounds.
func TestRoundsEndAtOnce(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	var out bytes.Buffer
	r := New(Options{Every: time.Hour, Out: &out, Compare: func(ctx context.Context) (*gap.Comparison, error) {
		end()
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	require.NoError(t, r.Run(ctx))
	require.Empty(t, out.String())
}
