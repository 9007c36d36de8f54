package runner

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// tacticianKind is a strategy that buys and sells by tactics, with and without exits. The tag of
// each has its size.
var tacticianKind = strategy.Define("tactician",
	"buys and sells by tactics, with all kinds of exits and replaced orders",
	func(restlessParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p restlessParams, s strategy.Setup) (strategy.Strategy, error) {
		return &tactician{chance: rand.New(rand.NewPCG(uint64(p.Seed), 7))}, nil
	})

type tactician struct {
	strategy.Base
	chance *rand.Rand
}

func (s *tactician) OnTicker(d *strategy.Desk, t market.Ticker) {
	m := d.In(t.Market)
	switch draw := s.chance.IntN(40); {
	case draw == 0:
		_ = m.Close()
	case draw == 1:
		_ = m.CancelAll()
	case draw == 2:
		_ = m.ClosePart(strategy.PositionShare(30 * market.Percent))
	case draw == 3:
		s.rest(m, t.Last)
	case m.Working():
	case draw < 14:
		s.begin(m, t.Last, market.Buy)
	case draw < 20 && m.Held() > 0:
		s.begin(m, t.Last, market.Sell)
	}
}

// rest places an order beside the tactics, in the place of an open one where there is any: those of
// tactics and exits refuse.
func (s *tactician) rest(m strategy.MarketDesk, last market.Price) {
	with := []strategy.Option{strategy.At((last - market.Price(s.chance.IntN(20))*100) / 100 * 100),
		strategy.StopAt(last.Below(2 * market.Percent))}
	if open := m.OpenOrders(); len(open) > 0 {
		with = append(with, strategy.Replacing(open[s.chance.IntN(len(open))].ID))
	}
	_, _ = m.Buy(strategy.Amount(1_000_000), with...)
}

func (s *tactician) begin(m strategy.MarketDesk, last market.Price, side market.Side) {
	amount := market.Qty(1+s.chance.IntN(5)) * 400_000
	with := []strategy.Option{strategy.Tag(fmt.Sprintf("%d %x", amount, uuid.New()))}
	seconds := func(least, most int) time.Duration {
		return time.Duration(least+s.chance.IntN(most-least)) * time.Second
	}
	if s.chance.IntN(2) == 0 {
		with = append(with, strategy.TWAP(seconds(10, 40), 2+s.chance.IntN(4)))
	} else {
		with = append(with, strategy.MakerFirst(seconds(1, 4)), strategy.TakeAfter(seconds(3, 20)),
			strategy.TakeBeyond(market.Rate(1+s.chance.IntN(20))*market.BasisPoint))
	}
	if side == market.Buy && s.chance.IntN(2) == 0 {
		with = append(with, strategy.StopAt(last.Below(market.Percent)), strategy.TargetAt(last.Above(market.Percent)),
			strategy.PartAt(last.Above(market.Percent/3), 40*market.Percent), strategy.Trail(market.Percent))
	}
	_, _ = m.Place(side, strategy.Amount(amount), with...)
}

// tactics adds up the fills of each tactic by its tag: an observer, also over restarts.
type tactics struct {
	mutex sync.Mutex
	seen  map[uuid.UUID]bool
	done  map[string]market.Qty
	over  []string
	whole int
}

func newTactics() *tactics {
	return &tactics{seen: map[uuid.UUID]bool{}, done: map[string]market.Qty{}}
}

func (n *tactics) Filled(o *state.Order, f *market.Fill) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	size, _, _ := strings.Cut(o.Tag, " ")
	amount, err := strconv.ParseInt(size, 10, 64)
	if err != nil || n.seen[f.ID] {
		return // no tactic's
	}
	n.seen[f.ID] = true
	n.done[o.Tag] += f.Amount
	switch {
	case n.done[o.Tag] > market.Qty(amount):
		n.over = append(n.over, fmt.Sprintf("%s: %d", o.Tag, n.done[o.Tag]))
	case n.done[o.Tag] == market.Qty(amount):
		n.whole++
	}
}

func (n *tactics) Closed(*state.Order)                                   {}
func (n *tactics) Approved(state.Terms, *market.Command, []state.Figure) {}

// tacticians is a stage on which tacticianKind trades.
func tacticians(t *testing.T, seed uint64, faults ...fault.Fault) *stage {
	return playing(t, seed, tacticianKind, newTactics(), faults...)
}
