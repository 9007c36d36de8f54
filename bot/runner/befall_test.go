package runner

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// playing is a stage on which a kind with a seed trades before an observer, at an exchange with
// faults.
func playing(t *testing.T, seed uint64, kind strategy.Definition, seen observer, faults ...fault.Fault) *stage {
	return playingAt(t, seed, kind, seen, func(c *sandbox.Config) { c.Faults = faults })
}

func playingAt(t *testing.T, seed uint64, kind strategy.Definition, seen observer,
	change func(*sandbox.Config)) *stage {
	s := newStage(t, seed, change)
	s.kinds, s.observer = append(s.kinds, kind), seen
	s.config = strings.NewReplacer("strategies.restless", "strategies."+kind.Name, `"restless"`,
		strconv.Quote(kind.Name)).Replace(s.config)
	return s
}

// subject is a kind of strategy that mishaps and kills befall.
type subject struct {
	name     string
	stage    func(t *testing.T, seed uint64, faults ...fault.Fault) *stage
	watch    func(s *stage, p *process, long time.Duration)
	over     func(s *stage, p *process) // ends the bot, and requires what must hold then
	shown    func(o observer) []int64   // how often the stage has shown what it is about
	least    []int64                    // more of it than that come with all mishaps
	noUpdate bool                       // it sends no updates
	early    int64                      // it is killed at one of its first writes
	kills    int                        // of six, that must meet a write
	rest     int                        // seconds between two starts, at most
}

var subjects = []subject{
	{name: "close", stage: closers(quitterKind), watch: guardedFor, over: (*stage).over, early: 6, rest: 30,
		shown: func(o observer) []int64 { return []int64{o.(*sales).filled.Load(), o.(*sales).parts.Load()} },
		least: []int64{100, 0}},
	{name: "plain close", stage: closers(plainKind), watch: unsoldFor, over: (*stage).over, noUpdate: true, early: 6,
		rest: 30},
	{name: "replacement", stage: requoters, watch: (*stage).watched, over: (*stage).over, noUpdate: true, early: 6,
		kills: 6, rest: 30, least: []int64{100, 100},
		shown: func(o observer) []int64 { return []int64{o.(*requotes).left.Load(), o.(*requotes).filled.Load()} }},
	{name: "rebalance", stage: balancers, watch: (*stage).watched, over: (*stage).kept, early: 4, kills: 1, rest: 30,
		shown: func(o observer) []int64 { return []int64{o.(*legsSeen).sold.Load(), o.(*legsSeen).bought.Load()} },
		least: []int64{100, 100}},
	{name: "tactic", stage: tacticians, watch: (*stage).watched, over: (*stage).kept, early: 6, kills: 6, rest: 15,
		shown: func(o observer) []int64 { return []int64{int64(o.(*tactics).whole)} }, least: []int64{20}},
}

// guardedFor lets the bot trade for a while, and requires that no base lacks an exit uncounted.
func guardedFor(s *stage, p *process, long time.Duration) {
	for range long / (2 * time.Second) {
		time.Sleep(2 * time.Second)
		s.guarded(p)
	}
}

// unsoldFor lets the bot trade for a while, and requires that it sells nothing of others.
func unsoldFor(s *stage, _ *process, long time.Duration) {
	for range long / (2 * time.Second) {
		time.Sleep(2 * time.Second)
		s.unsold()
	}
}

func (s *stage) unsold() {
	base := s.Market().Base
	require.GreaterOrEqual(s.T, s.Holdings()[base], s.Before[base], "base of others was sold")
}

// over ends the bot, and requires that books, exchange and money agree.
func (s *stage) over(p *process) {
	s.sameOpen(p)
	s.kept(p)
	require.Positive(s.T, s.agree(p).Orders)
}

// kept ends the bot, and requires that no money is lost, and that no tactic traded more than its
// size.
func (s *stage) kept(p *process) {
	require.NoError(s.T, p.end())
	s.onlyExits(p)
	s.conserved(p)
	if seen, ok := s.observer.(*tactics); ok {
		require.Empty(s.T, seen.over)
	}
}

// Each mishap strikes a third of the requests at a boundary of an order's life for a minute and a
// half, while a strategy closes, replaces, rebalances, or trades by tactics.
func TestWhateverBefallsAStrategy(t *testing.T) {
	bottest.Unraced(t)
	for _, sub := range subjects {
		if sub.shown == nil {
			continue
		}
		t.Run(sub.name, func(t *testing.T) {
			all := make([]atomic.Int64, len(sub.least))
			t.Cleanup(func() {
				for i, least := range sub.least {
					enough(t, all[i].Load(), least)
				}
			})
			eachMishap(t, func(t *testing.T, seed uint64, f fault.Fault) {
				s := sub.stage(t, seed, f)
				p := s.start()
				sub.watch(s, p, 3*time.Minute)
				sub.over(s, p)
				for i, n := range sub.shown(s.observer) {
					all[i].Add(n)
				}
			})
		})
	}
}

// Kills as a write is about to reach the exchange, and when it has been carried out and the bot has
// not heard of it, while a strategy does the same.
func TestABotKilledAtAnyBoundaryOfAStrategyGoesOn(t *testing.T) {
	bottest.Unraced(t)
	for _, sub := range subjects {
		t.Run(sub.name, func(t *testing.T) {
			seen := int64(0)
			eachBoundary(t, 2**liveSeeds-1, func(t *testing.T, seed uint64, kind market.CommandKind, before bool) {
				if !sub.noUpdate || kind != market.CommandUpdate {
					seen += sub.killed(t, seed, kind, before)
				}
			})
			require.True(t, sub.shown == nil || seen > 0)
		})
	}
}

// killed returns how often the stage has shown what its strategy is about.
func (sub *subject) killed(t *testing.T, seed uint64, kind market.CommandKind, before bool) int64 {
	s, chance := sub.stage(t, seed), rand.New(rand.NewPCG(seed, 8))
	met := 0
	for range 6 {
		if s.killAtWrite(kind, before, 1+chance.Int64N(sub.early)) {
			met++
		}
		s.unsold()
		time.Sleep(time.Duration(chance.IntN(sub.rest)) * time.Second)
	}
	require.GreaterOrEqual(t, met, sub.kills)
	s.traffic.on(nil)
	p := s.start()
	sub.watch(s, p, 2*time.Minute)
	sub.over(s, p)
	if sub.shown == nil {
		return 0
	}
	return slices.Max(sub.shown(s.observer))
}
