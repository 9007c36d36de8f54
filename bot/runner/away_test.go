package runner

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/adopt"
	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A strategy that holds what it has in brackets, with stops that follow, partial targets, exits
// after a time and Closes, is stopped at any moment and starts again. What is held has its exit at
// the exchange while no bot runs, or is told; a few seconds after the start it has it again.
func TestAPositionHasItsExitOverEveryStop(t *testing.T) {
	bottest.Unraced(t)
	for seed := range uint64(3 * *liveSeeds) {
		for _, keep := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				s, chance := closers(quitterKind)(t, seed+1), rand.New(rand.NewPCG(seed, 25))
				if keep {
					s.edit("keep_exits = false", "keep_exits = true")
				}
				left := 0
				for range 5 {
					p := s.start()
					time.Sleep(5 * time.Second)
					s.guarded(p)
					time.Sleep(time.Duration(1000+chance.IntN(60_000)) * time.Millisecond)
					require.NoError(t, p.end())
					s.onlyExits(p)
					open := len(s.OpenAtTheExchange())
					left += open
					require.True(t, !keep || len(p.engine.Brackets().Bare()) == 0, "%+v", p.engine.Brackets().Bare())
					if !keep {
						require.Zero(t, open)
					}
					time.Sleep(time.Duration(chance.IntN(60)) * time.Second)
				}
				require.Equal(t, keep, left > 0)
				if keep {
					s.edit("keep_exits = true", "keep_exits = false")
				}
				p := s.start()
				time.Sleep(20 * time.Second)
				s.guarded(p)
				require.NoError(t, p.end())
				s.onlyExits(p)
				require.Positive(t, s.agree(p).Orders)
			})
		}
	}
}

// patientKind buys once, with a stop and a target far away.
var patientKind = scripted("patient", patient)

var patient = whenFlat(func(m strategy.MarketDesk, last market.Price) {
	units := last / 100_00 * 100 // of a hundredth of the price
	_, _ = m.Buy(strategy.Amount(1_000_000), strategy.StopAt(units*80), strategy.TargetAt(units*120))
})

// inBracket is a stage whose bot has bought in a bracket.
func inBracket(t *testing.T, keep bool) (*stage, *process) {
	s := stageOf(t, "patient", patientKind)
	s.edit("keep_exits = false", fmt.Sprintf("keep_exits = %t", keep))
	p := s.start()
	time.Sleep(10 * time.Second)
	require.Len(t, s.OpenAtTheExchange(), 1)
	return s, p
}

// eagerKind buys once, in a bracket, and asks its bot to stop with the same price.
func eagerKind(stop func()) strategy.Definition {
	return scripted("eager", func() onTicker {
		buy := patient()
		return func(d *strategy.Desk, t market.Ticker) {
			if d.In(t.Market).Flat() {
				buy(d, t)
				stop()
			}
		}
	})
}

// What a purchase brings that was on its way when the bot was asked to stop has its exit at the
// exchange before the process ends. With keep_exits = false it is told instead.
func TestAPurchaseThatAStopMeetsHasItsExitBeforeTheEnd(t *testing.T) {
	for _, keep := range []bool{true, false} {
		for _, paper := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var p atomic.Pointer[process]
				s := stageOf(t, "eager", eagerKind(func() { p.Load().stop() }))
				if paper {
					s.config = strings.NewReplacer("strategies.restless", "strategies.eager", `"restless"`, `"eager"`,
						"params.seed = %d\n", "", `"paper"`, "\"paper\"\nkeep_exits = false").Replace(paperBot)
				}
				s.edit("keep_exits = false", fmt.Sprintf("keep_exits = %t", keep))
				p.Store(s.start())
				failed := <-p.Load().done
				require.NoError(t, failed)
				bare := p.Load().engine.Brackets().Bare()
				if keep {
					require.Empty(t, bare)
					require.Len(t, p.Load().account.Open(nil, 0, 0), 1)
				} else {
					require.Len(t, bare, 1)
				}
				require.Equal(t, market.Qty(1_000_000), p.Load().engine.Brackets().Covered(1, 1))
				told := &recorder{}
				p.Load().watch.alerts = told
				p.Load().leaveAndClose(nil)
				how := "it has no exit until the next start"
				if keep {
					how = "the exchange has its stop at"
				}
				require.Contains(t, s.log.Tail(3), "position left: "+how)
				require.Contains(t, strings.Join(told.got(), ""), "position left: eager 0.01 BTC-EUR: "+how)
				require.Contains(t, strings.Join(told.got(), ""), "not watched while the bot is away: ")
				if !paper {
					s.onlyExits(p.Load())
				}
			})
		}
	}
}

// guards requires that the exit rests at the exchange and the target is watched.
func (s *stage) guards(p *process) {
	s.T.Helper()
	require.Len(s.T, s.OpenAtTheExchange(), 1)
	p.look(func() {
		require.Empty(s.T, p.engine.Brackets().Bare())
		require.Len(s.T, p.engine.Brackets().Watched(1), 1)
		require.False(s.T, p.engine.Brackets().Watched(1)[0].Stop)
	})
}

// status sets the status of the exchange's market.
func (s *stage) status(to market.MarketStatus) error {
	m := *s.Market()
	m.Status = to
	return s.ex.SetRules(m.Name, &m)
}

// A stop in a market that takes no cancels leaves the whole bracket, also one that was to take the
// exits with it.
func TestAStopInAHaltedMarketKeepsTheBracket(t *testing.T) {
	bottest.Unraced(t)
	for _, keep := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s, p := inBracket(t, keep)
			require.NoError(t, s.status(market.Halted))
			time.Sleep(40 * time.Second)
			if err := p.end(); keep {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "orders are still open")
			}
			p = s.start()
			time.Sleep(10 * time.Second)
			require.NoError(t, s.status(market.Trading))
			time.Sleep(time.Minute)
			s.guards(p)
			require.NoError(t, p.end())
			s.onlyExits(p)
		})
	}
}

// After a stop in good order the exits go over to another name, and so do those that the stop took
// away: the handover says that the next start places them.
func TestAHandoverAfterAStopTakesTheExitsAlong(t *testing.T) {
	bottest.Unraced(t)
	for _, keep := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s, p := inBracket(t, keep)
			require.NoError(t, p.end())
			s.onlyExits(p)
			s.rename("patient", "heir")
			for _, check := range []bool{true, false} {
				r, err := s.adopt("patient", "heir", func(a *adopt.Ask) { a.Check = check })
				require.NoError(t, err)
				require.Equal(t, 1, r.Exits)
				said := strings.Join(r.Notes, "\n")
				bare := strings.Contains(said, "have no exit at the exchange; the next start places it")
				require.Equal(t, !keep, bare)
			}
			p = s.start()
			time.Sleep(10 * time.Second)
			s.guards(p)
			require.NoError(t, p.end())
		})
	}
}

// The last lines of a run name what only a running bot does.
func TestTheLastLinesOfARunSayWhatIsNotWatched(t *testing.T) {
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, AmountDigits: 8}
	both := bracket.Saved{Stop: 90_00, Target: 110_00, Amount: 1e8, Exit: 2}
	for _, c := range []struct {
		change func(b *bracket.Saved)
		exit   market.Qty
		lost   bool
		want   string
	}{
		{func(*bracket.Saved) {}, 1e8, true, "it is not known whether the exchange has its stop at 90; not watched " +
			"while the bot is away: target at 110"},
		{func(*bracket.Saved) {}, 1e8, false,
			"the exchange has its stop at 90; not watched while the bot is away: target at 110"},
		{func(b *bracket.Saved) { b.Leg = market.KeepTarget }, 1e8, false,
			"the exchange has its target at 110; not watched while the bot is away: stop at 90"},
		{func(b *bracket.Saved) { b.Target = 0 }, 1e8, false, "the exchange has its stop at 90"},
		{func(b *bracket.Saved) { b.Target = 0 }, 4e7, false,
			"the exchange has its stop at 90 over 0.4; 0.6 have no exit until the next start"},
		{func(b *bracket.Saved) { b.Exit = 0 }, 0, false,
			"it has no exit until the next start; not watched while the bot is away: stop at 90, target at 110"},
		{func(b *bracket.Saved) { b.Target, b.Follow.Trail, b.Follow.Candles = 0, 5*market.Percent, 20 }, 1e8, false,
			"the exchange has its stop at 90; not watched while the bot is away: trail 5%, exit after 20 candles"},
	} {
		b := both
		c.change(&b)
		require.Equal(t, c.want, b.Away(m, c.exit, !c.lost))
	}
}

// requests notes what a bot asks and sends, in order. It is safe for concurrent use.
type requests struct {
	http.RoundTripper
	mu   sync.Mutex // guards list
	list []string
}

func (q *requests) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	q.mu.Lock()
	q.list = append(q.list, r.Method+" "+r.URL.Path+" "+string(body))
	q.mu.Unlock()
	return q.RoundTripper.RoundTrip(r)
}

// noted are the requests that begin with a text and have another, and their places among all.
func (q *requests) noted(begins, has string) (places []int, found []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, text := range q.list {
		if strings.HasPrefix(text, begins) && strings.Contains(text, has) {
			places, found = append(places, i), append(found, text)
		}
	}
	return places, found
}

// The owner cancels the exit and sells while the bot is away. The start learns of the exit's end
// before it has compared the balances: no exit is sent until then, and none over what is gone.
func TestNoExitIsSentBeforeTheBalancesAreCompared(t *testing.T) {
	for sold, left := range map[string]string{"1.01": "", "1.006": "0.004"} {
		for _, hears := range []string{overPolls, overStream} {
			synctest.Test(t, func(t *testing.T) {
				s := stageOf(t, "patient", patientKind)
				s.hears = hears
				p := s.start()
				time.Sleep(45 * time.Second)
				old := s.resting()
				p.kill()
				p.bury()
				s.byHand(old, market.CommandCancel, 0)
				s.place(s.Auditor, 99, market.Sell, sold, "20000")
				time.Sleep(20 * time.Second)
				q := &requests{}
				s.wrap = func(next http.RoundTripper) http.RoundTripper {
					q.RoundTripper = next
					return q
				}
				p = s.start()
				time.Sleep(time.Minute)
				compared, _ := q.noted("GET /v2/balance", "")
				exits, text := q.noted("POST /v2/order", `"side":"sell"`)
				require.NotEmpty(t, compared)
				require.Greater(t, exits[0], compared[0])
				for i := range text {
					buys, _ := q.noted("POST /v2/order", `"side":"buy"`)
					if left == "" {
						require.Greater(t, exits[i], buys[0], "it is the exit of the next purchase")
					} else {
						require.Contains(t, text[i], left)
					}
				}
				p.look(func() {
					_, halted := p.engine.Halted(1)
					require.False(t, halted)
					require.Empty(t, p.engine.Brackets().Bare())
				})
				require.NoError(t, p.end())
			})
		}
	}
}
