package runner

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
)

func TestTheLineOfTheDayComesOnceAtItsTime(t *testing.T) {
	c := &config.Run{}
	c.Bot.Zone, c.Alerts.Daily = "Europe/Berlin", "18:00"
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err)
		return when
	}
	var d dailyLine
	for _, row := range []struct {
		now string
		due bool
	}{
		{"2026-03-27T17:30:00Z", false}, // a start after 18:00 waits for the next day
		{"2026-03-28T16:59:59Z", false},
		{"2026-03-28T17:00:00Z", true},
		{"2026-03-28T17:00:01Z", false},
		{"2026-03-29T15:59:59Z", false},
		{"2026-03-29T16:00:00Z", true}, // the clocks have changed
		{"2026-04-05T20:00:00Z", true}, // the machine has slept: one line for all
		{"2026-04-05T20:00:01Z", false},
	} {
		require.Equal(t, row.due, d.due(c, at(row.now)), row.now)
	}
	c.Alerts.Daily = "21:59" // a reload
	require.False(t, d.due(c, at("2026-04-05T20:00:02Z")))
	require.False(t, d.due(c, at("2026-04-06T19:58:59Z")))
	require.True(t, d.due(c, at("2026-04-06T19:59:00Z")))
	c.Alerts.Daily = ""
	require.False(t, d.due(c, at("2026-04-07T19:59:00Z")))
}
