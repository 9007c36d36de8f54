package runner

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// closeBehindKind buys once, with a stop that follows prices at 5 %.
var closeBehindKind = scripted("behind", buysOnce(func(m strategy.MarketDesk, _ market.Price) error {
	_, err := m.Buy(strategy.Amount(1_000_000), strategy.Trail(5*market.Percent), strategy.ByPrices())
	return err
}))

// The owner moves a stop that follows prices, and the price rises after the first answer that shows
// the owner's terms: the stop would follow. The next answers are lost for ten seconds, and the
// owner's terms win all the same.
func TestATrailingStopMovesNotBetweenTheOwnersMoveAndItsConfirmation(t *testing.T) {
	bottest.Unraced(t)
	for name, hears := range hearings {
		for by, c := range map[string]struct{ move, last market.Price }{
			"lower":  {-3_000_00, 25_500_00},
			"higher": {1_000_00, 31_350_00}, // 5 % below the price: the terms have passed the owner's level
		} {
			t.Run(name+" "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newStage(t, 7, func(c *sandbox.Config) {
						c.Admin, c.Markets[0].Source = "open", prices.Fixed("30000")
					})
					s.hears, s.kinds = hears, append(s.kinds, closeBehindKind)
					s.config = strings.NewReplacer("strategies.restless", "strategies.behind", `"restless"`, `"behind"`,
						"params.seed = 7\n", "").Replace(s.config)
					moved, seen, until := atomic.Bool{}, atomic.Bool{}, time.Time{}
					s.wrap = func(next http.RoundTripper) http.RoundTripper {
						return tripper(func(r *http.Request) (*http.Response, error) {
							asks := r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/order")
							if asks && seen.Load() && time.Now().Before(until) {
								return nil, errors.New("no answer")
							}
							answer, err := next.RoundTrip(r)
							if moved.Load() && asks && seen.CompareAndSwap(false, true) {
								until = time.Now().Add(10 * time.Second)
								s.admin(http.MethodPost, "price",
									map[string]any{"market": "BTC-EUR", "price": "33000", "amount": "0.01"})
							}
							return answer, err
						})
					}
					p := s.start()
					time.Sleep(30 * time.Second)
					o := s.resting()
					o.TriggerAmount += c.move
					moved.Store(true)
					s.byHand(o, market.CommandUpdate, market.ChangeTriggerAmount)
					time.Sleep(3 * time.Minute)
					last := s.resting().TriggerAmount
					require.NoError(t, p.end())
					require.True(t, seen.Load())
					require.Equal(t, c.last, last)
					require.Contains(t, s.log.String(), "an order was changed by someone else: its new terms are taken")
				})
			})
		}
	}
}
