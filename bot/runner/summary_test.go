package runner

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

func instant(t *testing.T, text string) market.Time {
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return market.Time(at.UnixNano())
}

func TestADayIsSummedUpOnceTwoMinutesAfterItsEnd(t *testing.T) {
	c := config.DefaultRun()
	c.Bot.Zone, c.Alerts.Summary = "Europe/Berlin", config.SummaryDaily
	s, err := newSummaries(c, instant(t, "2026-10-24T23:00:00Z"))
	require.NoError(t, err)
	require.Nil(t, s.due(instant(t, "2026-10-25T23:01:59Z"))) // the day of 25 hours
	require.Equal(t, &profit.Query{By: profit.ByDay, Since: "2026-10-24T22:00:00Z", Until: "2026-10-25T23:00:00Z"},
		s.due(instant(t, "2026-10-25T23:02:00Z")))
	require.Nil(t, s.due(instant(t, "2026-10-25T23:02:20Z")))

	c.Alerts.Summary = config.SummaryWeekly
	s, err = newSummaries(c, instant(t, "2026-10-21T12:00:00Z"))
	require.NoError(t, err)
	require.Nil(t, s.due(instant(t, "2026-10-25T22:59:00Z")))
	require.Equal(t, &profit.Query{By: profit.ByWeek, Since: "2026-10-18T22:00:00Z", Until: "2026-10-25T23:00:00Z"},
		s.due(instant(t, "2026-10-25T23:03:00Z")))
}

func TestASummarySaysWhatTheDayBrought(t *testing.T) {
	weighted, drawdown := 0.0123, 0.004
	day := profit.Earned{Name: "2026-11-22", Realised: "12.50004", Unrealised: "-1", Fees: "0.7", Turnover: "800",
		Trips: 5,
		Won:   3, Flows: "-100", Equity: "912.3", Return: &weighted, Drawdown: &drawdown}
	require.Equal(t, "day 2026-11-22 (UTC): realised 12.5, unrealised -1, fees 0.7 EUR\n"+
		"5 round trips, 3 won, turnover 800\nequity 912.3 EUR\nreturn +1.23%, drawdown 0.40%\ncame or left -100 EUR",
		summaryText(&profit.ProfitReport{By: profit.ByDay, Zone: "UTC", Currency: "EUR", Groups: []profit.Earned{day},
			Total: day}))
	require.Equal(t, "nothing was traded (UTC): realised 0, unrealised unknown, fees 0 EUR\n0 round trips, 0 won, "+
		"turnover 0",
		summaryText(&profit.ProfitReport{By: profit.ByDay, Zone: "UTC", Currency: "EUR",
			Total: profit.Earned{Realised: "0", Fees: "0", Turnover: "0"}}))
}

func TestADayThatEndsWhileTheBotIsDownIsSummedUpAtTheNextStart(t *testing.T) {
	store, err := journal.Open(filepath.Join(t.TempDir(), "bot.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	start := instant(t, "2026-11-22T09:00:00Z")
	alive, err := aliveBefore(store, start)
	require.NoError(t, err)
	require.Equal(t, start, alive, "the first start")

	b := store.NewBatch()
	last := instant(t, "2026-11-19T21:17:00Z")
	b.Equity(journal.EquitySample{At: last, Equity: 1})
	b.Equity(journal.EquitySample{At: start.Add(market.Duration(time.Minute)), Equity: 1}) // this run's
	require.NoError(t, store.Commit(b))
	alive, err = aliveBefore(store, start)
	require.NoError(t, err)
	require.Equal(t, last, alive)

	c := config.DefaultRun()
	c.Alerts.Summary = config.SummaryDaily
	s, err := newSummaries(c, alive)
	require.NoError(t, err)
	require.Equal(t, &profit.Query{By: profit.ByDay, Since: "2026-11-19T00:00:00Z", Until: "2026-11-20T00:00:00Z"},
		s.due(start))
	require.Nil(t, s.due(start), "the days between have none, and the present one is not over")
}
