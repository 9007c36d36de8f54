package runner

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine/live"
)

// breached waits for so many breaches.
func (s *stage) breached(p *process, atLeast int) (found []live.Breach) {
	for range 120 {
		time.Sleep(5 * time.Second)
		if p.look(func() { found = slices.Clone(p.loop.Breaches()) }); len(found) >= atLeast {
			return found
		}
	}
	require.Fail(s.T, "too few breaches", "%+v", found)
	return nil
}

// A kill comes right after the breach. The next process knows of it, and so do `bot state check`
// and `bot explain`, with rule and values.
func TestABreachOutlivesAKillAndIsShownByCheckAndExplain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := lying(t, 3, 0)
		p := s.start()
		time.Sleep(20 * time.Second)
		l.tell(fills(func(f map[string]any) { f["fee"] = "5.5" }))
		before := s.breached(p, 1)
		p.kill()
		p.bury()

		shown, first := s.asked("state", "check"), before[0]
		want := fmt.Sprintf("order %d: an answer of the exchange was not booked: %s: want %s, got %s\n", first.Order,
			first.Rule, first.Wanted, first.Seen)
		require.Contains(t, shown, want)
		require.Contains(t, shown, "; 0 problems")
		require.Contains(t, s.asked("state", "check", "--json"), `"breaches": [`)
		require.Contains(t, s.asked("explain", fmt.Sprint(first.Order)),
			fmt.Sprintf("answer: %s: here %q, there %q; not booked", first.Rule, first.Wanted, first.Seen))

		p = s.start()
		var after []live.Breach
		p.look(func() { after = slices.Clone(p.loop.Breaches()) })
		require.Subset(t, after, before)
		l.hush()
		_ = p.end()
	})
}
