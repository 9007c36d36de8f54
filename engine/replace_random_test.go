package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// swapped is a replacement as the naive twin of the engine sees it.
type swapped struct {
	old, id market.OrderID
	funds   market.Money // what both held after the call
	needs   market.Money // of the new one
	paid    market.Money // by the old one since
	sell    bool
}

// requoter rests orders, replaces and cancels them at random.
type requoter struct {
	strategy.Base
	chance  *rand.Rand
	bench   *bench
	quiet   bool
	waiting []*swapped
	calls   int
	dropped map[market.OrderID]bool
}

func (s *requoter) OnCandle(d *strategy.Desk, c market.Candle) {
	for range s.chance.IntN(4) {
		s.ask(d, c.Close)
	}
}

func (s *requoter) OnFill(d *strategy.Desk, f market.Fill) {
	if s.chance.IntN(3) == 0 {
		s.ask(d, f.Price)
	}
}

func (s *requoter) OnOrder(d *strategy.Desk, o market.Order, r market.Report) {
	if r.Exec == market.ExecRejected || r.Exec == market.ExecCanceled {
		s.dropped[o.ID] = true
	}
	if s.chance.IntN(3) == 0 {
		s.ask(d, d.In(1).Last())
	}
}

func (s *requoter) ask(d *strategy.Desk, price market.Price) {
	r := s.chance
	if s.quiet {
		return
	}
	m, near := d.In(1), max(at1, price+market.Price(r.IntN(601)-300))
	size := strategy.Amount(market.Qty(1+r.IntN(6000)) * btc / 100)
	side := market.Side(1 + r.IntN(2))
	if r.IntN(4) == 0 {
		size = strategy.UpTo(size)
	}
	open := m.OpenOrders()
	switch draw := r.IntN(10); {
	case draw < 3:
		m.Place(side, size, strategy.At(near))
	case draw == 3:
		m.Sell(size) // a buy at market may cost more than it held
	case draw == 4 && len(open) > 0:
		d.Cancel(open[r.IntN(len(open))].ID)
	case draw == 5 && len(open) > 0:
		d.Update(open[r.IntN(len(open))].ID, strategy.At(near))
	case draw == 6:
		m.Buy(size, strategy.At(near), strategy.StopAt(near-3*at1), strategy.TargetAt(near+3*at1))
	case draw == 7 && r.IntN(8) == 0:
		m.Close()
	case len(open) > 0:
		s.swap(m, d, &open[r.IntN(len(open))], size, near)
	}
}

// swap replaces an order, and writes down what the call held.
func (s *requoter) swap(m strategy.MarketDesk, d *strategy.Desk, old *market.Order, size strategy.Size,
	near market.Price) {
	asset := market.AssetID(1)
	if old.Side == market.Sell {
		asset = 2
	}
	with := []strategy.Option{strategy.At(near), strategy.Replacing(old.ID)}
	if old.Side == market.Buy && s.chance.IntN(3) == 0 {
		with = append(with, strategy.StopAt(near-3*at1))
	}
	w := &swapped{old: old.ID, sell: old.Side == market.Sell}
	at := slices.IndexFunc(s.waiting, func(w *swapped) bool {
		return w.id == old.ID && s.bench.account.Order(w.id) == nil
	})
	_, before := d.Balance(asset)
	id, err := m.Place(old.Side, size, with...)
	if err != nil {
		return
	}
	_, after := d.Balance(asset)
	s.calls++
	hold := old.OnHold
	if at >= 0 { // what waited has passed its place on
		first := s.waiting[at]
		w.old, hold = first.old, first.funds-first.paid
		s.waiting = slices.Delete(s.waiting, at, at+1)
	}
	o, open := d.Order(id)
	if !open {
		return
	}
	w.id, w.funds, w.needs = id, hold+after-before, o.OnHold
	s.waiting = append(s.waiting, w)
}

// twin adds up what replaced orders pay.
type replaceTwin struct {
	t       testing.TB
	players []*requoter
	left    int
}

func (w *replaceTwin) Filled(o *state.Order, f *market.Fill) {
	for _, p := range w.players {
		for _, r := range p.waiting {
			if r.old != o.ID {
				continue
			}
			if r.sell {
				r.paid += market.Money(f.Amount)
				continue
			}
			cost := market.ValueOf(int64(f.Price)).Part(int64(f.Amount), 1)
			cost, err := cost.Add(f.Fee)
			require.NoError(w.t, err)
			money, err := cost.CeilMoney(8)
			require.NoError(w.t, err)
			r.paid += money
		}
	}
}

func (w *replaceTwin) Closed(*state.Order) {}

// sent checks the replacements among the commands of a step.
func (w *replaceTwin) sent(b *bench, commands []market.Command) {
	for i := range commands {
		for _, p := range w.players {
			at := slices.IndexFunc(p.waiting, func(r *swapped) bool {
				return r.id == commands[i].Order.ID && commands[i].Kind == market.CommandPlace
			})
			if at < 0 {
				continue
			}
			r := p.waiting[at]
			old := b.venue.Order(r.old)
			require.True(w.t, old == nil || old.Status.Terminal(), "order %d still rests at the exchange", r.old)
			require.GreaterOrEqual(w.t, r.funds-r.paid, r.needs, "order %d has too little", r.id)
			require.False(w.t, p.dropped[r.id])
			w.left++
			p.waiting = slices.Delete(p.waiting, at, at+1)
		}
	}
}

// held is what all orders hold of an asset, those that wait included.
func (w *replaceTwin) held(b *bench, sell bool) (sum market.Money) {
	for _, o := range b.account.Open(nil, 0, 0) {
		if (o.Side == market.Sell) == sell {
			sum += o.OnHold
		}
	}
	for _, p := range w.players {
		for _, r := range p.waiting {
			if _, open := p.dropped[r.id]; open || r.sell != sell {
				continue
			}
			sum += max(0, r.funds-r.paid)
			if old := b.account.Own(r.old); old != nil {
				sum -= min(old.OnHold, max(0, r.funds-r.paid))
			}
		}
	}
	return sum
}

// Whatever is replaced when: each replacement that leaves has its money, and no money is there
// twice.
func TestWhateverIsReplacedNoMoneyIsSpentTwice(t *testing.T) {
	calls, left, dropped := 0, 0, 0
	for seed := range uint64(*markets) {
		r := rand.New(rand.NewPCG(seed, 41))
		w := &replaceTwin{t: t}
		for range 2 {
			w.players = append(w.players, &requoter{chance: r, dropped: map[market.OrderID]bool{}})
		}
		config := sim.Config{Path: sim.Path(r.IntN(5)), Latency: market.Duration(r.IntN(3)) * 17e9,
			Fees: func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} }}
		if r.IntN(2) == 0 {
			config.VolumeShare = market.Rate(1 + r.IntN(2_000_000))
		}
		b := newBench(t, setup{venue: config, observer: w, account: risk.AccountLimits{AllowSelfCross: r.IntN(2) == 0},
			limits: []risk.Limits{{MaxOpenOrders: 4}, {MaxOpenOrders: 4}},
			slots:  []engine.StrategyConfig{{Strategy: w.players[0]}, {Strategy: w.players[1]}}})
		w.players[0].bench, w.players[1].bench = b, b
		b.after = func(commands []market.Command) { w.sent(b, commands) }
		b.done = func() {
			for asset := range market.AssetID(3) {
				if asset > 0 {
					require.Equal(t, w.held(b, asset == 2), b.account.Total(asset).Held, "seed %d", seed)
				}
			}
			for s := range market.StrategyID(3) {
				if s > 0 {
					require.LessOrEqual(t, b.account.OpenBy(s), 5, "with an exit")
				}
			}
		}
		price := [1]market.Price{100}
		for range 80 {
			c := randomCandle(r, 1, &price[0])
			b.group(c)
			require.NoError(t, b.engine.CheckBrackets(), "seed %d", seed)
		}
		for _, p := range w.players {
			p.quiet = true
			calls, dropped = calls+p.calls, dropped+len(p.waiting)
		}
		left += w.left
	}
	require.Greater(t, calls, 20**markets)
	require.Greater(t, left, 6**markets)
	require.Greater(t, dropped, 6**markets)
}
