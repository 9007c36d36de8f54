package runner

import (
	"math/rand/v2"
	"strings"
	"sync/atomic"
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

// requoterKind is a strategy that rests orders near the market and replaces them: one that rests,
// one that waits for the end of another, one whose cancel is on its way.
var requoterKind = strategy.Define("requoter", "rests orders and replaces them",
	func(restlessParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p restlessParams, _ strategy.Setup) (strategy.Strategy, error) {
		return &requoter{chance: rand.New(rand.NewPCG(uint64(p.Seed), 6))}, nil
	})

type requoter struct {
	strategy.Base
	chance *rand.Rand
}

func (s *requoter) OnTicker(d *strategy.Desk, t market.Ticker) {
	m, last := d.In(t.Market), t.Last/100*100
	below := strategy.At(last - market.Price(s.chance.IntN(15))*100)
	open := m.OpenOrders()
	switch draw := s.chance.IntN(8); {
	case draw == 0 && len(open) > 0:
		_ = d.Cancel(open[s.chance.IntN(len(open))].ID)
	case draw < 3 && m.Held() > 0:
		_, _ = m.Sell(strategy.Amount(min(1_000_000, m.Held())), strategy.At(last+market.Price(s.chance.IntN(15))*100))
	case draw < 5 && len(open) < 3:
		_, _ = m.Buy(strategy.Amount(1_000_000), below)
	case draw > 2 && len(open) > 0:
		s.replace(m, &open[s.chance.IntN(len(open))], below, last)
	}
}

// replace asks for less, as much, or more than an order still has to trade; a buy may get a stop.
func (s *requoter) replace(m strategy.MarketDesk, old *market.Order, below strategy.Option, last market.Price) {
	size, with := strategy.Amount(old.AmountRemaining*market.Qty(2+s.chance.IntN(3))/3), strategy.Replacing(old.ID)
	switch {
	case old.Side == market.Sell:
		_, _ = m.Sell(size, strategy.At(last+market.Price(s.chance.IntN(15))*100), with)
	case s.chance.IntN(3) == 0:
		_, _ = m.Buy(size, below, with, strategy.StopAt(last.Below(market.Percent)))
	default:
		_, _ = m.Buy(size, below, with)
	}
}

// requotes counts the orders that have left in the place of others, and all fills: an observer.
type requotes struct{ left, filled atomic.Int64 }

func (n *requotes) Approved(_ state.Terms, c *market.Command, figures []state.Figure) {
	for _, f := range figures {
		if f.Name == "replace" && c.Kind == market.CommandPlace {
			n.left.Add(1)
		}
	}
}

func (n *requotes) Filled(*state.Order, *market.Fill) { n.filled.Add(1) }
func (n *requotes) Closed(*state.Order)               {}

// requoters is a stage on which requoterKind trades.
func requoters(t *testing.T, seed uint64, seen *requotes, faults ...fault.Fault) *stage {
	s := newStage(t, seed, func(c *sandbox.Config) { c.Faults = faults })
	s.kinds, s.observer = append(s.kinds, requoterKind), seen
	s.config = strings.NewReplacer("strategies.restless", "strategies.requoter", `"restless"`, `"requoter"`).
		Replace(s.config)
	return s
}

// over ends the bot, and requires that books, exchange and money agree.
func (s *stage) over(p *process) {
	s.sameOpen(p)
	require.NoError(s.T, p.end())
	s.onlyExits(p)
	s.conserved(p)
	require.Positive(s.T, s.agree(p).Orders)
}

// Each mishap strikes a third of the requests at a boundary of an order's life for a minute and a
// half, while a strategy replaces its orders.
func TestWhateverBefallsAReplacement(t *testing.T) {
	bottest.Unraced(t)
	seen := &requotes{}
	t.Cleanup(func() {
		t.Logf("%d orders left in the place of others, %d fills came", seen.left.Load(), seen.filled.Load())
		enough(t, min(seen.left.Load(), seen.filled.Load()), 100)
	})
	eachMishap(t, func(t *testing.T, seed uint64, f fault.Fault) {
		s := requoters(t, seed, seen, f)
		p := s.start()
		s.watched(p, 3*time.Minute)
		s.over(p)
	})
}

// Kills as a write is about to reach the exchange, and when it has been carried out and the bot has
// not heard of it, while a strategy replaces its orders.
func TestABotKilledAtAnyBoundaryOfAReplacementGoesOn(t *testing.T) {
	bottest.Unraced(t)
	seen := &requotes{}
	for _, kind := range []market.CommandKind{market.CommandPlace, market.CommandCancel} {
		for _, before := range []bool{true, false} {
			for seed := range uint64(2**liveSeeds - 1) {
				synctest.Test(t, func(t *testing.T) { killReplacement(t, seed+1, kind, before, seen) })
			}
		}
	}
	require.Positive(t, seen.left.Load())
}

func killReplacement(t *testing.T, seed uint64, kind market.CommandKind, before bool, seen *requotes) {
	s, chance := requoters(t, seed, seen), rand.New(rand.NewPCG(seed, 8))
	for range 6 {
		require.True(t, s.killAtWrite(kind, before, 1+chance.Int64N(6)))
		time.Sleep(time.Duration(chance.IntN(30)) * time.Second)
	}
	s.traffic.on(nil)
	p := s.start()
	s.watched(p, 2*time.Minute)
	s.over(p)
}
