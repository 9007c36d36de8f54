package runner

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/market"
)

// A stop with keep_exits = false meets a flatten at any of its moments. A sale whose exit has gone
// for it leaves before the end; where it is refused, the last line says what is left, and the next
// start protects it.
func TestAStopThatKeepsNoExitsFinishesTheSalesThatHaveBegun(t *testing.T) {
	for name, hears := range hearings {
		for _, refused := range []bool{false, true} {
			for ms := 0; ms <= 60; ms += 4 {
				t.Run(fmt.Sprintf("%s %t %d", name, refused, ms), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := stageOf(t, "patient", patientKind)
						s.hears = hears
						p := s.start()
						time.Sleep(10 * time.Second)
						require.Len(t, s.OpenAtTheExchange(), 1)
						if refused {
							m := *s.Market()
							m.Status = market.CancelOnly // the bot has not heard of it yet
							require.NoError(t, s.ex.SetRules(m.Name, &m))
						}
						c := &control{r: p.runner, ctx: t.Context()}
						go func() { _, _ = c.flatten(t.Context(), &operator.Request{}) }()
						time.Sleep(time.Duration(ms) * time.Millisecond)
						require.NoError(t, p.end())
						require.Empty(t, s.OpenAtTheExchange())
						held := p.account.Position(1, s.Market().ID).Amount
						if ms > 0 || refused { // at 0 ms either comes first
							require.Equal(t, refused, held > 0)
						}
						if held > 0 {
							require.Regexp(t, "position left: it has no exit until the next start", s.log.Tail(1))
						}
					})
				})
			}
		}
	}
}
