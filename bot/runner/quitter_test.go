package runner

import (
	"context"
	"math/rand/v2"
	"strconv"
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

// quitterKind is a strategy that holds what it has in brackets alone, and leaves by Close, all or a
// part, at any moment: while the entry fills, while an exit is on its way, and again after a
// failure.
var quitterKind = strategy.Define("quitter", "enters with brackets and leaves by Close",
	func(restlessParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p restlessParams, _ strategy.Setup) (strategy.Strategy, error) {
		return &quitter{chance: rand.New(rand.NewPCG(uint64(p.Seed), 6))}, nil
	})

// plainKind is quitterKind without brackets: it buys and sells by plain orders and leaves by Close.
var plainKind = strategy.Define("plain", "enters without brackets and leaves by Close",
	func(restlessParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p restlessParams, _ strategy.Setup) (strategy.Strategy, error) {
		return &quitter{chance: rand.New(rand.NewPCG(uint64(p.Seed), 6)), plain: true}, nil
	})

type quitter struct {
	strategy.Base
	chance *rand.Rand
	plain  bool
}

func (s *quitter) OnTicker(d *strategy.Desk, t market.Ticker) {
	m, hundredth := d.In(t.Market), strategy.Amount(1_000_000)
	step := market.Price(1+s.chance.IntN(12)) * 500
	last, have := t.Last/100*100, m.Position().Amount
	switch draw := s.chance.IntN(9); {
	case s.plain && draw < 2:
		_, _ = m.Buy(hundredth)
	case s.plain && draw == 2:
		_, _ = m.Place(market.Buy+market.Side(s.chance.IntN(2)), hundredth, strategy.At(last-step/10/100*100))
	case draw == 0:
		_, _ = m.Buy(hundredth, strategy.Exits(last-step-1000, last+step+1000),
			strategy.PartAt(last+step/2, 40*market.Percent))
	case draw == 1:
		_, _ = m.Buy(hundredth, strategy.Exits(last-step-1000, last+step+1000), strategy.TrailBy(step+1000),
			strategy.ByPrices(), strategy.ExitAfterTime(time.Minute))
	case draw == 2:
		_, _ = m.Buy(hundredth, strategy.Exits(last-3000, last+step+1000), strategy.At(last-step/10/100*100),
			strategy.Keep(market.KeepTarget))
	case draw < 5:
		_ = m.Close()
	case draw < 7:
		_ = m.ClosePart(strategy.Amount(have / market.Qty(2+s.chance.IntN(3))))
	}
}

func (s *quitter) OnCloseFailed(d *strategy.Desk, f strategy.CloseFailed) {
	if s.chance.IntN(2) == 0 {
		_ = d.In(f.Market).Close()
	}
}

// sales counts the sales of Closes and the fills of partial targets: an observer.
type sales struct{ sent, filled, parts atomic.Int64 }

func (n *sales) Approved(_ state.Terms, c *market.Command, _ []state.Figure) {
	if c.Kind == market.CommandPlace && c.Order.Tag == "close" {
		n.sent.Add(1)
	}
}

func (n *sales) Filled(o *state.Order, _ *market.Fill) {
	switch o.Tag {
	case "close":
		n.filled.Add(1)
	case strategy.TagPart:
		n.parts.Add(1)
	}
}

func (n *sales) Closed(*state.Order) {}

// quitters is a stage on which quitterKind trades.
func quitters(t *testing.T, seed uint64, change func(*sandbox.Config)) *stage {
	return closers(t, "quitter", seed, change)
}

// closers is a stage on which quitterKind or plainKind trades. A Close counts for orders_per_minute
// when it is asked for, and its sale leaves later: with a stream so often that the writes of a
// minute may be more.
func closers(t *testing.T, kind string, seed uint64, change func(*sandbox.Config)) *stage {
	s := newStage(t, seed, change)
	if s.hears != overPolls {
		s.traffic.perMinute = 0
	}
	s.kinds = append(s.kinds, quitterKind, plainKind)
	s.config = strings.NewReplacer("strategies.restless", "strategies."+kind, `"restless"`, strconv.Quote(kind)).
		Replace(s.config)
	return s
}

// guarded requires that the bot has sold no more than it bought, and that base without an exit that
// the exchange has confirmed is among the positions that count as unprotected.
func (s *stage) guarded(p *process) {
	base := s.Market().Base
	require.GreaterOrEqual(s.T, s.Holdings()[base], s.Before[base], "base of others was sold")
	require.NoError(s.T, p.loop.Inspect(context.Background(), func(market.Time) {
		free := p.account.Position(1, 1).Amount
		for _, o := range p.account.Open(nil, 1, 1) {
			own := p.account.Own(o.ID)
			if o.Side == market.Sell && own.State != state.Sent && own.State != state.Unknown {
				free -= o.AmountRemaining
			}
		}
		m := p.plan.Catalog.Market(1)
		if m.Tradable(free, p.account.Last(1)) > 0 && len(p.engine.Brackets().Bare()) == 0 {
			s.T.Errorf("%s have no exit, and nothing counts as unprotected", m.FormatQty(free))
		}
	}))
}

// Each mishap strikes a third of the requests at a boundary of an order's life for a minute and a
// half, while a strategy enters and closes. Nothing is sold twice, no base lacks an exit uncounted,
// and at the end books, exchange and money agree.
func TestWhateverBefallsAClose(t *testing.T) {
	bottest.Unraced(t)
	closed := &sales{}
	t.Cleanup(func() {
		t.Logf("%d sales were sent, %d fills came, %d of parts", closed.sent.Load(), closed.filled.Load(),
			closed.parts.Load())
		enough(t, closed.filled.Load(), 100)
		enough(t, closed.parts.Load(), 0)
	})
	eachMishap(t, func(t *testing.T, seed uint64, f fault.Fault) {
		s := quitters(t, seed, func(c *sandbox.Config) { c.Faults = []fault.Fault{f} })
		s.observer = closed
		p := s.start()
		for range 90 {
			time.Sleep(2 * time.Second)
			s.guarded(p)
		}
		s.sameOpen(p)
		require.NoError(t, p.end())
		s.onlyExits(p)
		s.agree(p)
	})
}

// Kills as a write is about to reach the exchange, and when it has been carried out and the bot has
// not heard of it, while a strategy enters and closes.
func TestABotKilledAtAnyBoundaryOfACloseGoesOn(t *testing.T) {
	bottest.Unraced(t)
	eachBoundary(t, 2**liveSeeds-1, func(t *testing.T, seed uint64, kind market.CommandKind, before bool) {
		killClose(t, "quitter", seed, kind, before)
	})
}

// The same without brackets, which sends no updates. With -short, kills come before the writes.
func TestABotKilledAtAnyBoundaryOfAPlainCloseGoesOn(t *testing.T) {
	bottest.Unraced(t)
	for _, kind := range []market.CommandKind{market.CommandPlace, market.CommandCancel} {
		for _, before := range []bool{true, false} {
			if testing.Short() && !before {
				continue
			}
			for seed := range uint64(*liveSeeds) {
				synctest.Test(t, func(t *testing.T) { killClose(t, "plain", seed+1, kind, before) })
			}
		}
	}
}

func killClose(t *testing.T, strategies string, seed uint64, kind market.CommandKind, before bool) {
	s, chance := closers(t, strategies, seed, nil), rand.New(rand.NewPCG(seed, 8))
	for range 6 {
		s.killAtWrite(kind, before, 1+chance.Int64N(6))
		base := s.Market().Base
		require.GreaterOrEqual(t, s.Holdings()[base], s.Before[base], "base of others was sold")
		time.Sleep(time.Duration(chance.IntN(30)) * time.Second)
	}
	s.traffic.on(nil)
	p := s.start()
	for range 60 {
		time.Sleep(2 * time.Second)
		if strategies == "quitter" {
			s.guarded(p)
		}
		require.GreaterOrEqual(t, s.Holdings()[s.Market().Base], s.Before[s.Market().Base], "base of others was sold")
	}
	s.sameOpen(p)
	require.NoError(t, p.end())
	s.onlyExits(p)
	require.Positive(t, s.agree(p).Orders)
}
