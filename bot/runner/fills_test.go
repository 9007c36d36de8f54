package runner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
)

func TestTheFillsOfAMinuteAreOneAlert(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	place := &recorder{}
	p := &plan.Live{Access: plan.Access{Config: &config.Run{Bot: config.BotSection{Name: "north"},
		Source: &config.Source{File: "live.toml"}}}}
	w := &watch{r: &runner{books: books{plan: p}}, name: p.Name(), now: func() time.Time { return now }, alerts: place}
	for n := range 25 {
		w.fills.add(now, fmt.Sprint("fill ", n))
		now = now.Add(2 * time.Second)
		w.alertFills(false)
	}
	require.Empty(t, place.told, "the minute is not over")
	now = now.Add(10 * time.Second)
	w.alertFills(false)
	require.Len(t, place.told, 1)
	require.Equal(t, []string{alert.Fill, "north"}, []string{place.told[0].Kind, place.told[0].Bot})
	text := place.told[0].Text
	require.True(t, strings.HasPrefix(text, "25 fills\nfill 0\n"), text)
	require.True(t, strings.HasSuffix(text, "\nfill 19\nand 5 more"), text)
	w.alertFills(true)
	require.Len(t, place.told, 1, "there is nothing to tell")
	w.fills.add(now, "trend: buy 1 BTC-EUR")
	w.alertFills(true)
	require.Equal(t, "trend: buy 1 BTC-EUR", place.told[1].Text, "a stop waits for no more")
}
