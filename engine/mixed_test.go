package engine_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

var (
	mixedSeeds   = flag.Uint64("mixed-seeds", 20, "seeds of the strategy that uses everything at once")
	updateTraces = flag.Bool("update-traces", false, "write the traces of the strategy that uses everything at once")
)

// mixer asks for everything that a desk offers, by chance, in two markets.
type mixer struct {
	strategy.Base
	chance    *rand.Rand
	sheltered bool // all that it buys has exits, and it takes none away
	replaces  bool // it replaces orders, too
	stop      bool
	leave     bool                      // closes all
	seen      map[market.ID]market.Time // a restart shows candles again
	sizes     map[string]bulk           // of tactics, by tag
	asked     map[string]int            // asks that passed, by kind
	trace     io.Writer                 // of all callbacks
}

// bulk is the size of a tactic: base or money.
type bulk struct {
	amount market.Qty
	money  market.Money
}

func (s *mixer) OnCandle(d *strategy.Desk, c market.Candle) {
	fmt.Fprintln(s.trace, "candle", c)
	if c.Start < s.seen[c.Market] {
		return
	}
	s.seen[c.Market] = c.Start + 1
	if s.leave {
		d.In(c.Market).Close()
	}
	for range s.chance.IntN(3) {
		s.ask(d, d.In(c.Market), c.Close)
	}
}

func (s *mixer) OnFill(d *strategy.Desk, f market.Fill) {
	fmt.Fprintln(s.trace, "fill", f)
	if s.chance.IntN(6) == 0 {
		s.ask(d, d.In(f.Market), f.Price)
	}
}

func (s *mixer) OnOrder(d *strategy.Desk, o market.Order, r market.Report) {
	fmt.Fprintln(s.trace, "order", o, r)
	if m := d.In(o.Market); s.chance.IntN(10) == 0 && m.Last() > 0 {
		s.ask(d, m, m.Last())
	}
}

func (s *mixer) OnCloseFailed(_ *strategy.Desk, f strategy.CloseFailed) {
	fmt.Fprintln(s.trace, "close failed", f)
}

// ask draws one ask.
func (s *mixer) ask(d *strategy.Desk, m strategy.MarketDesk, price market.Price) {
	if s.stop {
		return
	}
	name, err := s.draw(d, m, price)
	if err == nil {
		s.asked[name]++
	}
}

func (s *mixer) draw(d *strategy.Desk, m strategy.MarketDesk, price market.Price) (name string, err error) {
	r := s.chance
	open := m.OpenOrders()
	switch r.IntN(16) {
	case 0, 1, 2:
		return "entry", s.enter(m, price, 0)
	case 3, 4, 5:
		return s.tactic(m, price)
	case 6, 7:
		if len(open) == 0 || !s.replaces {
			return "", strategy.ErrNoPosition
		}
		return "replace", s.replace(m, &open[r.IntN(len(open))], price)
	case 8:
		if len(open) == 0 {
			return "", strategy.ErrNoPosition
		}
		return "update", s.update(d, &open[r.IntN(len(open))], price)
	case 9:
		return "cancel", s.cancel(d, m, open)
	case 10:
		return "close", m.Close()
	case 11:
		return "part", m.ClosePart(strategy.PositionShare(market.Rate(1+r.IntN(99))*market.Percent),
			strategy.Tag("less"))
	case 12:
		_, err = m.Protect(s.exits(price)...)
		return "protect", err
	case 13:
		if s.sheltered {
			return "", strategy.ErrNoPosition
		}
		return "rebalance", s.rebalance(d)
	case 14:
		if s.sheltered {
			return "", strategy.ErrNoPosition
		}
		_, err = m.Place(market.Side(1+r.IntN(2)), s.size(), s.at(price)...)
		return "plain", err
	}
	_, err = m.Sell(s.size(), s.at(price)...)
	return "sell", err
}

// size draws a size.
func (s *mixer) size() strategy.Size {
	r := s.chance
	size := strategy.Amount(1 + market.Qty(r.Int64N(int64(4*btc))))
	switch r.IntN(5) {
	case 0:
		return strategy.UpTo(strategy.CashShare(market.Rate(1+r.IntN(20)) * market.Percent))
	case 1:
		return strategy.EquityShare(market.Rate(1+r.IntN(5)) * market.Percent)
	case 2:
		return strategy.UpTo(size)
	}
	return size
}

func (s *mixer) at(price market.Price) []strategy.Option {
	if s.chance.IntN(3) == 0 {
		return nil
	}
	return []strategy.Option{strategy.At(max(at1, price+market.Price(s.chance.IntN(601)-300)))}
}

// exits draws exits with all that they can follow.
func (s *mixer) exits(price market.Price) []strategy.Option {
	r := s.chance
	away := func() market.Price { return market.Price(1+r.IntN(6)) * at1 }
	return append(append(following(r), strategy.Exits(max(at1, price-away()), price+away()),
		strategy.Keep(market.Leg(r.IntN(2)))), inParts(r, price)...)
}

// enter places a buy with exits; old is the order that it replaces, or 0.
func (s *mixer) enter(m strategy.MarketDesk, price market.Price, old market.OrderID) error {
	with := append(s.exits(price), s.at(price)...)
	if old != 0 {
		with = append(with, strategy.Replacing(old))
	}
	_, err := m.Buy(s.size(), with...)
	return err
}

// tactic begins a MakerFirst or a TWAP.
func (s *mixer) tactic(m strategy.MarketDesk, price market.Price) (string, error) {
	r := s.chance
	side, x := market.Side(1+r.IntN(4)/3), bulk{amount: 1 + market.Qty(r.Int64N(int64(4*btc)))}
	size := strategy.Amount(x.amount)
	if side == market.Buy && r.IntN(2) == 0 {
		x = bulk{money: market.Money(1+r.Int64N(400)) * eur}
		size = strategy.Money(x.money)
	}
	tag := fmt.Sprint("tactic ", len(s.sizes))
	with := []strategy.Option{strategy.Tag(tag)}
	if side == market.Buy && (s.sheltered || r.IntN(4) > 0) {
		with = append(with, s.exits(price)...)
	}
	seconds := func(most int) time.Duration { return time.Duration(1+r.IntN(most)) * time.Second }
	name := "twap"
	if r.IntN(2) == 0 {
		with = append(with, strategy.TWAP(10*time.Second+seconds(400), 1+r.IntN(8)))
	} else {
		name = "maker first"
		with = append(with, strategy.MakerFirst(seconds(200)), strategy.TakeAfter(seconds(500)))
		if r.IntN(2) == 0 {
			with = append(with, strategy.TakeBeyond(market.Rate(1+r.IntN(400))*market.BasisPoint))
		}
	}
	s.sizes[tag] = x
	_, err := m.Place(side, size, with...)
	return name, err
}

// replace puts an order in the place of another: of a resting one, of one that waits, of a
// tactic's, of an exit.
func (s *mixer) replace(m strategy.MarketDesk, old *market.Order, price market.Price) error {
	if old.Side == market.Buy && (s.sheltered || s.chance.IntN(2) == 0) {
		return s.enter(m, price, old.ID)
	}
	_, err := m.Place(old.Side, s.size(), append(s.at(price), strategy.Replacing(old.ID))...)
	return err
}

func (s *mixer) update(d *strategy.Desk, o *market.Order, price market.Price) error {
	switch s.chance.IntN(3) {
	case 0:
		return d.Update(o.ID, s.exits(price)...)
	case 1:
		return d.Update(o.ID, strategy.Resize(strategy.Amount(1+market.Qty(s.chance.Int64N(int64(4*btc))))))
	}
	return d.Update(o.ID, strategy.At(max(at1, price+market.Price(s.chance.IntN(601)-300))))
}

// cancel cancels an order or all; where all is to stay protected, an order of a bracket stays.
func (s *mixer) cancel(d *strategy.Desk, m strategy.MarketDesk, open []market.Order) error {
	switch {
	case s.sheltered || len(open) == 0:
		for i := range open {
			if open[i].Side == market.Sell && !open[i].Bracket.Any() && open[i].Tag == "" {
				return d.Cancel(open[i].ID)
			}
		}
		return strategy.ErrNoPosition
	case s.chance.IntN(4) == 0:
		return m.CancelAll()
	}
	return d.Cancel(open[s.chance.IntN(len(open))].ID)
}

func (s *mixer) rebalance(d *strategy.Desk) error {
	p := strategy.Portfolio{Band: market.Rate(s.chance.IntN(5)) * market.Percent, ToEdge: s.chance.IntN(2) == 0}
	for _, m := range d.Universe() {
		p.Weights = append(p.Weights,
			strategy.Weight{Market: m, Share: market.Rate(s.chance.IntN(30)) * market.Percent})
	}
	return d.Rebalance(p)
}

// mixedBook is the naive twin of all orders: it adds up every fill.
type mixedBook struct {
	t       testing.TB
	catalog *market.Catalog
	cash    market.Money
	held    map[market.ID]market.Qty
	base    map[string]market.Qty // by tag
	paid    map[string]market.Value
}

func (l *mixedBook) Closed(*state.Order) {}

func (l *mixedBook) Filled(o *state.Order, f *market.Fill) {
	m := l.catalog.Market(o.Market)
	value, err := m.Value(f.Price, f.Amount)
	require.NoError(l.t, err)
	amount := f.Amount
	if o.Side == market.Sell {
		amount, value = -amount, value.Neg()
	}
	with, err := value.Add(f.Fee)
	require.NoError(l.t, err)
	money, err := with.CeilMoney(m.MoneyDrop())
	require.NoError(l.t, err)
	l.cash -= money
	l.held[o.Market] += amount
	if l.base[o.Tag] += f.Amount; o.Side == market.Buy {
		l.paid[o.Tag], err = l.paid[o.Tag].Add(with)
		require.NoError(l.t, err)
	}
}

// mixed is a run of mixers before an exchange with latency, little volume and a hand that cancels
// orders. Market 2 is young; market 1 leaves the universe of the first strategy.
type mixed struct {
	*bench
	player    *mixer
	sheltered bool
	book      *mixedBook
	chance    *rand.Rand
	from      market.Time // the first candle of market 2 closes then
	until     market.Time // market 1 leaves then
	history   [][]market.Candle
	orders    []market.Time // sent, of the first strategy
}

const mixedOrders, mixedPerMinute = 6, 40

func newMixed(t *testing.T, seed uint64, sheltered, replaces bool) *mixed {
	r := rand.New(rand.NewPCG(seed, 53))
	x := &mixed{chance: r, book: &mixedBook{t: t, held: map[market.ID]market.Qty{}, base: map[string]market.Qty{},
		paid: map[string]market.Value{}}}
	x.from, x.until = start+market.Time(1+r.IntN(30))*minute, start+market.Time(50+r.IntN(40))*minute
	config := sim.Config{Path: sim.Path(r.IntN(5)), Latency: market.Duration(r.IntN(3)) * 7e9,
		HalfSpread: market.Rate(r.IntN(3)) * market.BasisPoint, FeeRounding: exchange.FeeRounding(r.IntN(3)),
		Fees: func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} }}
	if r.IntN(2) == 0 {
		config.VolumeShare = market.Rate(1+r.IntN(40)) * market.Percent / 100
	}
	both := []market.ID{1, 2}
	s := &mixer{chance: rand.New(rand.NewPCG(seed, 59)), sheltered: sheltered, replaces: replaces,
		seen: map[market.ID]market.Time{}, sizes: map[string]bulk{}, asked: map[string]int{}, trace: io.Discard}
	x.player = s
	slots := []engine.StrategyConfig{{Strategy: s, Markets: both, Warmup: []int{5},
		Universe: []strategy.Membership{{Markets: both},
			{From: x.until, Markets: []market.ID{2}}}}}
	x.bench = newBench(t, setup{markets: 2, slots: slots, venue: config, observer: x.book,
		account: risk.AccountLimits{AllowSelfCross: true},
		limits:  []risk.Limits{{MaxOpenOrders: mixedOrders, OrdersPerMinute: mixedPerMinute}}})
	x.book.catalog, x.book.cash = x.catalog, x.account.Total(1).Total
	watches := x.engine.Watches() // the venue reads those of the first engine
	x.after = func(commands []market.Command) {
		copy(watches, x.engine.Watches())
		x.checkSent(commands)
	}
	x.done = x.check
	x.sheltered = sheltered
	x.before = func(ev *market.Event) {
		if ev.Kind == market.KindCandles {
			x.history = append(x.history, slices.Clone(ev.Candles))
		}
	}
	return x
}

// checkSent holds the commands of a step against the universe and the limit on orders.
func (x *mixed) checkSent(commands []market.Command) {
	for i := range commands {
		c := &commands[i]
		o := x.account.Known(c.Order.ID)
		if c.Kind == market.CommandCancel || o == nil || o.Strategy != 1 {
			continue
		}
		require.False(x.t, c.Kind == market.CommandPlace && o.Side == market.Buy && o.Market == 1 &&
			x.engine.Now() >= x.until, "order %d buys outside the universe", o.ID)
		if !c.Attached {
			x.orders = append(x.orders, x.engine.Now())
		}
	}
}

// check is what holds after every step.
func (x *mixed) check() {
	t, e := x.t, x.engine
	require.NoError(t, e.CheckBrackets())
	require.Equal(t, x.book.cash, x.account.Total(1).Total)
	for _, m := range x.catalog.Markets() {
		require.GreaterOrEqual(t, x.book.held[m.ID], market.Qty(0))
		require.Equal(t, market.Money(x.book.held[m.ID]), x.account.Total(m.Base).Total)
		require.LessOrEqual(t, e.Brackets().Covered(1, m.ID), x.account.Position(1, m.ID).Amount)
	}
	count := 0
	for _, o := range x.account.Open(nil, 1, 0) {
		own := x.account.Own(o.ID)
		leaves := own.InFlight == market.CommandCancel || own.CancelWanted
		ended := leaves && (o.Tag == "stop" || o.Tag == "target") // the exit of a bracket that has ended
		if !e.Brackets().IsExit(o.ID) && !ended {
			count++
		}
	}
	require.LessOrEqual(t, count, mixedOrders)
	for len(x.orders) > 0 && x.orders[0] <= e.Now()-minute {
		x.orders = x.orders[1:]
	}
	require.LessOrEqual(t, len(x.orders), mixedPerMinute)
	for tag, amount := range x.book.base {
		if !strings.HasPrefix(tag, "tactic") {
			continue
		}
		size := x.player.sizes[tag]
		if size.money == 0 {
			require.LessOrEqual(t, amount, size.amount, tag)
			continue
		}
		spent, err := x.book.paid[tag].CeilMoney(x.catalog.Market(1).MoneyDrop())
		require.NoError(t, err)
		require.LessOrEqual(t, spent, size.money, tag)
	}
	if x.sheltered {
		x.checkShelter()
	}
}

// checkShelter requires that base without a confirmed sell counts as unprotected.
func (x *mixed) checkShelter() {
	for _, m := range x.catalog.Markets() {
		free := x.account.Position(1, m.ID).Amount
		for _, o := range x.account.Open(nil, 1, m.ID) {
			own := x.account.Own(o.ID)
			if o.Side == market.Sell && own.State != state.Sent && own.State != state.Unknown {
				free -= o.AmountRemaining
			}
		}
		bare := slices.ContainsFunc(x.engine.Brackets().Bare(),
			func(u strategy.Unprotected) bool { return u.Market == m.ID })
		require.True(x.t, free <= 0 || bare, "%d of %s have no exit", free, m.Name)
	}
}

// run plays minutes; restarting is the chance of one in so many for a restart after a step.
func (x *mixed) run(minutes, restarting int) {
	hit, again := x.chance, rand.New(rand.NewPCG(uint64(restarting), 61))
	check := x.done
	x.done = func() {
		check()
		if restarting > 0 && again.IntN(restarting) == 0 {
			x.begin()
			check()
		}
	}
	price := [2]market.Price{100, 60}
	for range minutes {
		for _, o := range x.account.Open(nil, 0, 0) {
			if hit.IntN(40) == 0 {
				x.venue.Cancel(o.ID, 0, market.CancelOnAdminRequest)
			}
		}
		group := []market.Candle{randomCandle(hit, 1, &price[0])}
		if x.now+minute >= x.from {
			group = append(group, randomCandle(hit, 2, &price[1]))
		}
		x.group(group...)
	}
	x.player.stop, x.done = true, check
}

// begin restarts the engine.
func (x *mixed) begin() {
	if !x.player.replaces {
		require.Empty(x.t, x.restartNow(x.history, x.player))
		x.after(nil)
		return
	}
	commands := x.restartAt(x.engine.Now(), x.history, x.player) // asks on orders that the restart has dropped
	x.after(commands)
	x.send(commands)
}

// ends lets all that is under way end: nothing may be left of holds and claims.
func (x *mixed) ends() {
	for range 12 { // no tactic of the mixers lasts longer
		x.group(ample(100), ampleOf(2, 60))
	}
	x.player.leave = true
	for range 12 {
		x.group(ample(100), ampleOf(2, 60))
	}
	require.False(x.t, x.engine.Working(1, 0))
	require.Zero(x.t, x.account.SlotsBy(1))
	require.Empty(x.t, x.account.Open(nil, 0, 0))
	require.Empty(x.t, x.engine.Brackets().Bare())
	require.Equal(x.t, x.book.cash, x.account.Total(1).Total)
	for _, asset := range x.catalog.Assets() {
		require.Zero(x.t, x.account.Total(asset.ID).Held, asset.Symbol)
	}
	for m, held := range x.book.held {
		require.Less(x.t, held, btc/1000, "market %d", m)
	}
}

// ampleOf is ample for a market.
func ampleOf(m market.ID, price market.Price) market.Candle {
	c := ample(price)
	c.Market = m
	return c
}

// Everything at once, before an exchange that fills little, answers late and cancels by itself:
// what the strategy holds is what it has bought and not sold, no tactic trades more than its size,
// no base without an exit goes uncounted, and in the end nothing is held back.
func TestWhateverIsMixedNothingIsSoldOrSpentTwice(t *testing.T) {
	asked := map[string]int{}
	for seed := range *mixedSeeds {
		for _, sheltered := range []bool{false, true} {
			t.Run(fmt.Sprintf("seed %d, sheltered %v", seed, sheltered), func(t *testing.T) {
				x := newMixed(t, seed, sheltered, true)
				x.run(100, int(seed%3)*200)
				x.ends()
				for name, n := range x.player.asked {
					asked[name] += n
				}
			})
		}
	}
	for _, name := range []string{"entry", "maker first", "twap", "replace", "update", "cancel", "close", "part",
		"protect",
		"rebalance", "plain", "sell"} {
		require.Greater(t, asked[name], int(*mixedSeeds)/2, name)
	}
}

// A restart drops what waits to replace an order; without that, a restart that takes no time
// changes nothing.
func TestARestartAtAnyMomentOfAMixtureChangesNothing(t *testing.T) {
	for seed := range max(8, *mixedSeeds/10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			want, have := newMixed(t, seed, seed%2 == 0, false), newMixed(t, seed, seed%2 == 0, false)
			want.run(80, 0)
			have.run(80, 20)
			require.Equal(t, want.sent, have.sent)
			require.Equal(t, want.told, have.told)
			require.Equal(t, want.causes(), have.causes())
		})
	}
}

// The traces of mixtures, 20 seeds a line, are those that the file has: every callback and every
// command in its order. A change that is meant to keep results keeps them; -update-traces
// -mixed-seeds 200 writes them anew.
func TestTheCallbacksAndCommandsOfAMixtureAreThoseOfTheFile(t *testing.T) {
	const file, each = "testdata/mixed-traces.txt", 20
	var have []string
	for first := uint64(0); first < min(*mixedSeeds, 200); first += each {
		trace := sha256.New()
		for seed := first; seed < first+each; seed++ {
			x := newMixed(t, seed, seed%2 == 0, true)
			x.player.trace = trace
			x.run(100, int(seed%3)*200)
			x.ends()
			fmt.Fprintln(trace, x.sent, x.told)
		}
		have = append(have, fmt.Sprintf("seeds %d to %d: %x", first, first+each-1, trace.Sum(nil)))
	}
	if *updateTraces {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(have, "\n")+"\n"), 0o644))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.Split(string(text), "\n")[:len(have)], have)
}
