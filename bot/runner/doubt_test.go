package runner

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// A write that was about to leave when the bot died is known to have come to nothing as soon as the
// window that it was signed with is over, however soon the bot is started again.
func TestAWriteThatDidNotLeaveIsInDoubtForTheWindowThatTheJournalTells(t *testing.T) {
	for _, kind := range []market.CommandKind{market.CommandPlace, market.CommandUpdate, market.CommandCancel} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 1, nil)
			p, killed := s.start(), make(chan time.Time, 1)
			var once sync.Once
			s.traffic.on(func(r *http.Request, about bool) {
				if about && commandOf(r) == kind {
					once.Do(func() {
						p.kill()
						killed <- time.Now()
					})
				}
			})
			at := <-killed
			p.bury()
			s.traffic.on(nil)
			time.Sleep(2 * time.Second)

			p, err := s.open()
			require.NoError(t, err)
			var order market.OrderID
			for _, o := range p.account.Pending(nil) {
				if o.InFlight == kind {
					order = o.ID
					until, known := p.sentUntil(o.ID, kind)
					require.True(t, known)
					require.WithinRange(t, until.Std(), at.Add(9*time.Second), at.Add(10*time.Second+trip),
						"the window is 10 s, on the exchange's clock")
				}
			}
			require.NotZero(t, order)
			go func() { p.done <- p.trade(p.ctx()) }()
			time.Sleep(time.Until(at.Add(20 * time.Second)))
			require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) {
				if o := p.account.Own(order); o != nil {
					require.NotEqual(t, kind, o.InFlight, "%s", s.Story(p.store, order))
				}
			}))
			require.NoError(t, p.end())
			s.agree(p)
		})
	}
}
