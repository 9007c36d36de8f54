package runner

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
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

// closers is a stage on which quitterKind or plainKind trades. A Close counts for orders_per_minute
// when it is asked for, and its sale leaves later: with a stream so often that the writes of a
// minute may be more.
func closers(kind strategy.Definition) func(t *testing.T, seed uint64, faults ...fault.Fault) *stage {
	return func(t *testing.T, seed uint64, faults ...fault.Fault) *stage {
		s := playing(t, seed, kind, &sales{}, faults...)
		if s.hears != overPolls {
			s.traffic.perMinute = 0
		}
		return s
	}
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
