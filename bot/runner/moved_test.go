package runner

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// withoutCoins leaves the owner no base: what an order of the bot holds is missing elsewhere.
func withoutCoins(c *sandbox.Config) { c.Accounts[0].Balances["BTC"] = "0" }

const raisedTo = 26_000_00

// raisedKind is heldKind that raises its stop when it is told to.
func raisedKind(raise *atomic.Bool) strategy.Definition {
	return scripted("held", func() onTicker {
		hold := held()
		return func(d *strategy.Desk, t market.Ticker) {
			hold(d, t)
			if raise.Load() {
				_ = d.Update(1, strategy.StopAt(raisedTo))
			}
		}
	})
}

// The owner moves an exit, and the exchange's answers say for a while that it has ended: the
// bracket has it at the owner's level when the lists show it. Where the bracket has another level
// by then, the exit makes room for its own.
func TestAnExitThatIsMovedAndEndsFalselyIsTheBracketsAgain(t *testing.T) {
	bottest.Unraced(t)
	for name, another := range map[string]bool{"at the owner's level": false, "at another level": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, raise := owned(t, overPolls, withoutCoins), new(atomic.Bool)
				s.kinds[len(s.kinds)-1] = raisedKind(raise)
				lens := &falsifier{chance: rand.New(rand.NewPCG(1, 1)), quiet: true}
				s.wrap = func(next http.RoundTripper) http.RoundTripper { lens.next = next; return lens }
				p := s.start()
				time.Sleep(30 * time.Second)
				lens.tell(func(path string, answer any) any {
					if order, is := answer.(map[string]any); is && path == "GET /v2/order" {
						order["status"] = "canceled"
					}
					return answer
				})
				o := s.resting()
				o.TriggerAmount += 100_00
				s.byHand(o, market.CommandUpdate, market.ChangeTriggerAmount)
				time.Sleep(12 * time.Second)
				lens.hush()
				raise.Store(another)
				time.Sleep(3 * time.Minute)
				var bare int
				p.look(func() { bare = len(p.engine.Brackets().Bare()) })
				require.Zero(t, bare)
				if another {
					require.EqualValues(t, raisedTo, s.resting().TriggerAmount)
				} else {
					require.Equal(t, o.TriggerAmount, s.resting().TriggerAmount)
					require.Equal(t, o.ClientOrderID, s.resting().ClientOrderID)
				}
				require.NoError(t, p.end())
			})
		})
	}
}

// The bot dies before the answer to its exit, and the owner moves the exit meanwhile: the next
// start takes it over, also where it has sold there.
func TestAnExitThatTheOwnerMovesBeforeItsFirstAnswerIsTakenOver(t *testing.T) {
	bottest.Unraced(t)
	for name, higher := range map[string]market.Price{"and rests": 100_00, "and sells": 6_000_00} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := owned(t, overPolls)
				p, places := s.start(), 0
				s.traffic.on(func(r *http.Request, before bool) {
					if !before && strings.HasSuffix(r.URL.Path, "/order") && r.Method == http.MethodPost {
						if places++; places == 2 {
							p.kill()
						}
					}
				})
				require.Error(t, <-p.done)
				s.traffic.on(nil)
				time.Sleep(5 * time.Second)
				o := s.resting()
				o.TriggerAmount += higher
				s.byHand(o, market.CommandUpdate, market.ChangeTriggerAmount)
				time.Sleep(20 * time.Second)
				p = s.start()
				time.Sleep(3 * time.Minute)
				_, halted := p.engine.Halted(1)
				require.False(t, halted)
				require.Empty(t, s.rules(p))
				at := slices.IndexFunc(s.OpenAtTheExchange(), func(r exchange.WireOrder) bool {
					return r.Order.ClientOrderID == o.ClientOrderID && r.Order.TriggerAmount == o.TriggerAmount
				})
				require.Equal(t, name == "and rests", at >= 0)
				held := market.Qty(1_000_000) // of a second purchase: its strategy saves nothing
				if at >= 0 {
					held *= 2
				}
				p.look(func() { require.Equal(t, held, p.account.Position(1, 1).Amount) })
				require.NoError(t, p.end())
			})
		})
	}
}

// Flatten that names who holds the coins answers in its time, also where the exchange does not.
func TestFlattenAnswersInItsTimeWhereTheExchangeDoesNotSayWhoHoldsTheCoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, silent := owned(t, overPolls, withoutCoins), new(atomic.Bool)
		s.wrap = func(next http.RoundTripper) http.RoundTripper {
			return tripper(func(r *http.Request) (*http.Response, error) {
				if silent.Load() && strings.HasSuffix(r.URL.Path, "/ordersOpen") {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}
				return next.RoundTrip(r)
			})
		}
		p := s.start()
		time.Sleep(30 * time.Second)
		s.byHand(s.resting(), market.CommandCancel, 0)
		s.place(s.Auditor, 99, market.Sell, "0.01", "90000")
		silent.Store(true)
		asked := time.Now()
		report, err := s.flatten(p)
		require.NoError(t, err)
		require.False(t, report.Done)
		silent.Store(false)
		require.Less(t, time.Since(asked), 65*time.Second)
		require.NoError(t, p.end())
	})
}

type tripper func(*http.Request) (*http.Response, error)

func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }
