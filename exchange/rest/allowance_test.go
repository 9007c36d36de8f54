package rest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

const noon = market.Time(1_772_452_800_000_000_000) // 2026-03-02T12:00:00Z

func TestARequestThatNobodyAnsweredCountsInTheNextMinuteToo(t *testing.T) {
	a := allowance{payer: PaidByKey, limit: 100, margin: time.Second / 4}
	a.roll(noon.Add(50 * time.Second))
	a.observe(rate{limit: 100, remaining: 60, reset: noon.Add(time.Minute)}, 0, noon.Add(50*time.Second))
	a.addStray(7, noon.Add(55*time.Second))
	require.Equal(t, 47, a.spent())
	a.roll(noon.Add(60 * time.Second))
	require.Equal(t, 47, a.spent(), "the exchange may not be there yet")
	a.roll(noon.Add(61 * time.Second))
	require.Equal(t, 7, a.spent(), "it may arrive in this minute")
	a.roll(noon.Add(86 * time.Second))
	require.Equal(t, 7, a.spent(), "it has arrived in this minute")
	a.observe(rate{limit: 100, remaining: 91, reset: noon.Add(2 * time.Minute)}, 0, noon.Add(87*time.Second))
	require.Equal(t, 9, a.spent())
	a.roll(noon.Add(121 * time.Second))
	require.Zero(t, a.spent())
}

func TestAnswersInAnyOrderGiveTheLargestCount(t *testing.T) {
	first, second := noon.Add(time.Minute), noon.Add(2*time.Minute)
	a := allowance{payer: PaidByKey, limit: 100, margin: time.Second / 4}
	for _, row := range []struct {
		at    time.Duration
		limit int
		left  int
		reset market.Time
		want  int
	}{
		{10 * time.Second, 100, 90, first, 10},
		{11 * time.Second, 100, 80, first, 20},
		{12 * time.Second, 100, 85, first, 20},         // overtaken
		{59900 * time.Millisecond, 100, 98, second, 2}, // the exchange's clock is ahead
		{59950 * time.Millisecond, 100, 50, first, 2},  // late
		{61 * time.Second, 100, 50, first, 2},
		{62 * time.Second, 200, 190, second, 10}, // the exchange has raised the limit
	} {
		now := noon.Add(row.at)
		a.roll(now)
		a.observe(rate{limit: row.limit, remaining: row.left, reset: row.reset}, 0, now)
		require.Equal(t, row.want, a.spent(), "at %s", row.at)
		require.Equal(t, row.limit, a.limit)
	}
}

func TestHeadersThatCannotBeAreNotBelieved(t *testing.T) {
	names := rateHeadersOf("Service")
	header := func(limit, remaining, resetAt string) map[string][]string {
		return map[string][]string{"Service-Ratelimit-Limit": {limit}, "Service-Ratelimit-Remaining": {remaining},
			"Service-Ratelimit-Resetat": {resetAt}}
	}
	r, ok := names.read(header("1000", "999", "1772452860000"), noon)
	require.True(t, ok)
	require.Equal(t, rate{limit: 1000, remaining: 999, reset: noon.Add(time.Minute)}, r)
	for resetAt, doubted := range map[string]string{"1898640000000": "2030-03-02 00:00:00 UTC",
		"9223372036854775807": "9223372036854775807 ms"} {
		r, ok = names.read(header("1000", "999", resetAt), noon)
		require.True(t, ok, "the points count")
		require.Equal(t, rate{limit: 1000, remaining: 999, reset: noon.Add(maxReset), claimed: doubted}, r)
	}
	for _, bad := range [][3]string{
		{"", "", ""}, {"1000", "", "1772452860000"}, {"0", "0", "1772452860000"}, {"1000", "-1",
			"1772452860000"}, {"10", "11", "1772452860000"},
		{"1000", "999", "1772452860"}, {"1000", "999", "soon"}, {"1000", "999", "-9223372036854775808"},
	} {
		_, ok := names.read(header(bad[0], bad[1], bad[2]), noon)
		require.False(t, ok, bad)
	}
}

func TestABudgetWithoutHeadersStillCounts(t *testing.T) {
	now := noon
	l := NewWeightBudget(LedgerConfig{PerIP: 100, Now: func() market.Time { return now },
		After: func(market.Duration, func()) func() bool { return func() bool { return true } }})
	for range 30 {
		done, err := l.Begin(t.Context(), Reconcile, "", 1, PaidByIP)
		require.NoError(t, err)
		done(map[string][]string{}, 200, nil)
		now = now.Add(time.Second)
	}
	left, reset := l.Left(PaidByIP)
	require.Equal(t, 70, left)
	require.Equal(t, noon.Add(time.Minute), reset)
}
