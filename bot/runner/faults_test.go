package runner

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

const hour = time.Hour

// The tests of this file and its neighbours let the real bot trade before an exchange in process:
// its client with ledger, its feeds, its loop, its state file on disk. Many seeds of each case:
//
//	go test ./bot/runner -run 'Whatever|Killed' -live-seeds 50 -timeout 2h
var liveSeeds = flag.Int("live-seeds", 1, "how many seeds the tests of the live bot play of each case")

func TestABotAtAQuietExchangeAgreesWithIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, nil)
		p := s.start()
		for minute := 0; minute < 5 || minute < 60 && s.traffic.reached() < stageLimits.open; minute++ {
			time.Sleep(time.Minute)
		}
		require.NoError(t, p.end())
		a := s.agree(p)
		s.onlyExits(p)
		require.Greater(t, a.Orders, 50)
		require.Greater(t, a.Fills, 20)
		require.Equal(t, stageLimits.open, s.traffic.reached(), "the limit was reached")
	})
}

// mishap is something that befalls requests.
type mishap struct {
	name  string
	fault fault.Fault
}

// mishaps are what can happen to a request.
var mishaps = []mishap{
	{"request lost", fault.Fault{Kind: fault.DropRequest}},
	{"answer lost", fault.Fault{Kind: fault.DropAnswer}},
	{"connection reset, nothing done", fault.Fault{Kind: fault.ResetRequest}},
	{"connection reset, done", fault.Fault{Kind: fault.ResetAnswer}},
	{"late", fault.Fault{Kind: fault.DelayRequest, Delay: 4 * time.Second}},
	// the client has gone by then
	{"later than the window", fault.Fault{Kind: fault.DelayRequest, Delay: 25 * time.Second}},
	{"answer later than the client waits", fault.Fault{Kind: fault.DelayAnswer, Delay: 25 * time.Second}},
	{"500 (101), nothing done", fault.Fault{Kind: fault.Error, Code: 101}},
	{"500 (101), done", fault.Fault{Kind: fault.Error, Code: 101, Work: true}},
	{"503 (107), nothing done", fault.Fault{Kind: fault.Error, Code: 107}},
	{"503 (107), done", fault.Fault{Kind: fault.Error, Code: 107, Work: true}},
	{"503 (108), done", fault.Fault{Kind: fault.Error, Code: 108, Work: true}},
	{"503 (109), done", fault.Fault{Kind: fault.Error, Code: 109, Work: true}},
	{"503 (111), nothing done", fault.Fault{Kind: fault.Error, Code: 111}},
	{"429 (105)", fault.Fault{Kind: fault.Error, Code: 105}},
	{"truncated", fault.Fault{Kind: fault.Truncate}},
	{"a page of a proxy, nothing done", fault.Fault{Kind: fault.HTML, Code: 502}},
	{"a page of a proxy, done", fault.Fault{Kind: fault.HTML, Code: 502, Work: true}},
	{"fills later than the answer", fault.Fault{Kind: fault.LateFill, Delay: 3 * time.Second}},
	{"fees later than the fills", fault.Fault{Kind: fault.LateSettlement, Delay: 20 * time.Second}},
	{"the exchange's clock off by 30 s", fault.Fault{Kind: fault.ClockSkew, Skew: 30 * time.Second}},
}

// boundaries are where in the life of an order, or around it, a mishap can strike.
var boundaries = []struct{ name, endpoint string }{
	{"place", "POST /order"},
	{"update", "PUT /order"},
	{"cancel", "DELETE /order"},
	{"look", "GET /order"},
	{"open orders", "GET /ordersOpen"},
	{"trades", "GET /trades"},
	{"balance", "GET /balance"},
	{"timer", "POST /cancelOrdersAfter"},
	{"markets", "GET /markets"},
	{"prices", "GET /ticker/price"},
	{"candles", "GET /{market}/candles"},
}

// eachMishap plays each mishap at each boundary of an order's life: it strikes a third of the
// requests for a minute and a half. With one seed, it plays an eighth of all pairs.
func eachMishap(t *testing.T, play func(t *testing.T, seed uint64, f fault.Fault)) {
	for i, m := range mishaps {
		for j, b := range boundaries[:6] {
			if *liveSeeds == 1 && i%8 != j%8 {
				continue
			}
			t.Run(m.name+"/"+b.name, func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(*liveSeeds) {
					synctest.Test(t, func(t *testing.T) {
						f := m.fault
						f.Endpoints, f.Probability, f.Until = []string{b.endpoint}, 0.34, 90*time.Second
						f.Key = bottest.BotKey
						play(t, seed+1, f)
					})
					if t.Failed() {
						t.Fatalf("seed %d", seed+1)
					}
				}
			})
		}
	}
}

// enough wants that the plays of eachMishap have shown something more than a number of times. It is
// called when the subtests are over, where a failure would have no text of its own: so it prints
// one.
func enough(t *testing.T, seen, more int64) {
	if seen <= more {
		fmt.Printf("%s: seen %d times, want more than %d\n", t.Name(), seen, more)
		t.Fail()
	}
}

// watched lets the bot trade for a while. Every two seconds it requires that base of brackets
// without an exit that the exchange has confirmed is among the positions that count as unprotected.
func (s *stage) watched(p *process, long time.Duration) {
	for range long / (2 * time.Second) {
		time.Sleep(2 * time.Second)
		p.look(func() {
			for _, m := range p.plan.Catalog.Markets() {
				s.counted(p, m)
			}
		})
	}
}

func (s *stage) counted(p *process, m *market.Market) {
	bare := p.engine.Brackets().Covered(1, m.ID)
	for _, o := range p.account.Open(nil, 1, m.ID) {
		own := p.account.Own(o.ID)
		if (o.Tag == "stop" || o.Tag == "target") && p.engine.Brackets().IsExit(o.ID) && own.State != state.Sent &&
			own.State != state.Unknown {
			bare -= o.AmountRemaining + max(0, o.FilledAmount-own.BookedAmount())
		}
	}
	of := func(u strategy.Unprotected) bool { return u.Market == m.ID }
	if m.Tradable(bare, p.account.Last(m.ID)) > 0 && !slices.ContainsFunc(p.engine.Brackets().Bare(), of) {
		s.T.Errorf("%s of brackets have no exit, and nothing counts as unprotected", m.FormatQty(bare))
	}
}

func TestWhateverGoesWrongExchangeAndBotAgree(t *testing.T) {
	var refused refusalCount
	t.Cleanup(func() { refused.require(t) })
	for i, m := range mishaps {
		for j, b := range boundaries {
			// all pairs from two seeds on, else a third of the writes and a sixth of the reads,
			// with -short one at each boundary
			every := 3
			if b.endpoint[:3] == "GET" {
				every = 6
			}
			left := i%every != j%every
			if testing.Short() {
				left = i != 2*j%len(mishaps)
			}
			if *liveSeeds == 1 && left {
				continue
			}
			t.Run(m.name+"/"+b.name, func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(*liveSeeds) {
					synctest.Test(t, func(t *testing.T) {
						strike(t, seed+1, uint64(i/4+j)+seed, b.endpoint, m.fault,
							&refused)
					})
					if t.Failed() {
						t.Fatalf("seed %d", seed+1)
					}
				}
			})
		}
	}
}

// strike lets a fault befall a third of an endpoint's requests for a minute and a half, and then
// lets everything be well.
func strike(t *testing.T, seed, limit uint64, endpoint string, f fault.Fault, refused *refusalCount) {
	f.Endpoints, f.Probability, f.Until = []string{endpoint}, 0.34, 90*time.Second
	if private(endpoint) {
		f.Key = bottest.BotKey
	}
	s := newStage(t, seed, func(c *sandbox.Config) { c.Faults = []fault.Fault{f} })
	s.tighten(limit)
	if f.Delay > 20*time.Second && s.hears != overPolls {
		// Over a socket a request that waits holds up all behind it, and no window ends them: they
		// would be carried out minutes after they were held for lost.
		s.hears = overStream
	}
	s.tradesOn(s.start(), refused)
}

// private reports whether an endpoint asks for a key: only the bot's is struck then.
func private(endpoint string) bool {
	return slices.Contains([]string{"POST /order", "PUT /order", "DELETE /order", "GET /order", "GET /ordersOpen",
		"GET /trades", "GET /balance", "POST /cancelOrdersAfter"}, endpoint)
}
