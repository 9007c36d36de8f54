package runner

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// targetedKind buys once, with a near target, and holds.
var targetedKind = scripted("targeted", whenFlat(func(m strategy.MarketDesk, last market.Price) {
	_, _ = m.Buy(strategy.Amount(1_000_000), strategy.TargetAt(last+20_00))
}))

// meeterParams are the parameters of meeterKind.
type meeterParams struct {
	Mode   int64 `toml:"mode" default:"1" min:"0" doc:"self-trade prevention"`
	Amount int64 `toml:"amount" default:"1" min:"0" doc:"of its purchase"`
}

// meeterKind buys at market twenty seconds after its first ticker, once.
var meeterKind = strategy.Define("meeter", "meets the target of another strategy",
	func(meeterParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p meeterParams, _ strategy.Setup) (strategy.Strategy, error) { return &meeter{params: p}, nil })

type meeter struct {
	strategy.Base
	params meeterParams
	began  market.Time
	bought bool
}

func (s *meeter) OnTicker(d *strategy.Desk, t market.Ticker) {
	if s.began == 0 {
		s.began = d.Now()
	}
	if s.bought || d.Now() < s.began.Add(20*time.Second) {
		return
	}
	_, err := d.In(t.Market).Buy(strategy.Amount(market.Qty(s.params.Amount)),
		strategy.SelfTrade(market.SelfTradePrevention(s.params.Mode)))
	s.bought = err == nil
}

// meeting is a stage of two strategies: the purchase of one meets the target of the other, which
// rests before the house's asks.
func meeting(t *testing.T, hears string, mode market.SelfTradePrevention, amount int) *stage {
	s := newStage(t, 7, func(c *sandbox.Config) {
		c.Admin = "open"
		c.Markets[0].Source = prices.Fixed("30000")
		c.Markets[0].Liquidity = sandbox.Liquidity{Levels: 1, HalfSpread: 50_000, Endless: true}
	})
	s.hears, s.kinds = hears, append(s.kinds, targetedKind, meeterKind)
	s.config = fmt.Sprintf(lifeHead+meetingStrategies, false, mode, amount)
	s.edit("[risk]", "[risk]\nallow_self_cross = true")
	return s
}

const meetingStrategies = `
[strategies.targeted]
kind = "targeted"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "4000"
operator_id = 7
[strategies.meeter]
kind = "meeter"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "4000"
operator_id = 8
params.mode = %d
params.amount = %d
`

// onPaper lets the bot trade on paper.
func (s *stage) onPaper() {
	s.edit("[bot]", "[bot]\nmode = \"paper\"")
	s.edit("key_env = \"KEY\"\nsecret_env = \"SECRET\"\n", "")
	s.config += "[paper.start]\nEUR = \"20000\"\n"
}

// rests is the only open order at the exchange that the bot trades at.
func (p *process) rests() market.Order {
	open, err := p.trading.OpenOrders(p.stage.T.Context())
	require.NoError(p.stage.T, err)
	require.Len(p.stage.T, open, 1)
	return open[0].Order
}

// raise lets the house's asks rise above the target.
func (s *stage) raise() {
	s.admin(http.MethodPost, "price", map[string]any{"market": "BTC-EUR", "price": "30010", "amount": "0.01"})
}

// met raises the asks, and waits until the bot knows that the purchase of the meeter has ended.
func (s *stage) met() {
	time.Sleep(10 * time.Second)
	s.raise()
	for range 60_000 {
		if ended.MatchString(s.log.Tail(10)) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	require.Fail(s.T, "no purchase has met the target")
}

var ended = regexp.MustCompile(`"strategy":"meeter".*"order ended"`)

// Self-trade prevention makes a resting exit smaller or cancels it. The record of the other order
// tells of it, or no record does. The bot asks for the exit, and the bracket places the rest again.
// A stop at once leaves the whole exit, too.
func TestAnExitThatAnOwnOrderHasMetIsWholeAgain(t *testing.T) {
	bottest.Unraced(t)
	for name, hears := range map[string]string{"poll": overPolls, "stream": overStream, "orders": overOrders,
		"paper": overPolls} {
		for mode := market.DecrementAndCancel; mode <= market.CancelBoth; mode++ {
			for i, amount := range []int{400_000, 1_000_000, 3_000_000} {
				if name != "poll" && i != int(mode-1)%3 {
					continue // all pairs over polls
				}
				for _, stops := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s %s %d %t", name, mode, amount, stops), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							s := meeting(t, hears, mode, amount)
							if name == "paper" {
								s.onPaper()
							}
							p := s.start()
							s.met()
							if !stops {
								time.Sleep(3 * time.Second)
								require.EqualValues(t, 1_000_000, p.rests().AmountRemaining)
							}
							p.stop()
							require.NoError(t, <-p.done)
							require.EqualValues(t, 1_000_000, p.rests().AmountRemaining)
							p.leaveAndClose(nil)
							require.Contains(t, s.log.Tail(1), "position left: the exchange has its target at 30020")
						})
					})
				}
			}
		}
	}
}

// The owner's order by hand meets an exit, and a stop follows at once: the exit is whole in spite
// of that, also where a stop has seen no own order end.
func TestAStopAfterTheOwnerMetAnExitLeavesItWhole(t *testing.T) {
	bottest.Unraced(t)
	for name, hears := range hearings {
		for mode := market.DecrementAndCancel; mode <= market.CancelBoth; mode++ {
			t.Run(fmt.Sprintf("%s %s", name, mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := meeting(t, hears, mode, 0)
					p := s.start()
					time.Sleep(10 * time.Second)
					require.NoError(t, p.end())
					p = s.start()
					time.Sleep(10 * time.Second)
					s.raise()
					s.byHand(market.Order{Market: 1, Side: market.Buy, Type: market.TypeMarket,
						ClientOrderID: uuid.New(), OrderState: market.OrderState{Amount: 400_000,
							TimeInForce: market.GTC, SelfTradePrevention: mode}},
						market.CommandPlace, 0)
					require.NoError(t, p.end())
					require.EqualValues(t, 1_000_000, s.resting().AmountRemaining)
					require.Contains(t, s.log.Tail(1), "position left: the exchange has its target at 30020")
				})
			})
		}
	}
}
