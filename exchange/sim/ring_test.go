package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// brain is an engine that answers by chance to what a venue tells it inside the path of candles: it
// sets watched prices and timers, places orders and cancels them. Two brains of one seed that hear
// the same do the same.
type brain struct {
	r       *rand.Rand
	watches []market.Watch
	used    map[market.Price]bool // watched in this candle by Above or Below: each is told once
	last    func(market.ID) market.Price
	do      func(*market.Command)
	now     market.Time
	next    market.OrderID
	tick    market.Price
	early   bool // it sets timers at any event, not at timers alone
	lines   []string
	rung    int
}

func newBrain(seed uint64) *brain {
	b := &brain{r: rand.New(rand.NewPCG(seed, 5)), watches: make([]market.Watch, 3), used: map[market.Price]bool{}}
	b.tick, b.early = market.Price(1+2*b.r.IntN(2)), b.r.IntN(3) > 0
	b.watches[0].Tactic, b.watches[1].Tactic = true, true
	b.watches[2].Tactic = b.r.IntN(2) == 0
	return b
}

// hear notes an event, and acts. A price ends the watches that it has reached.
func (b *brain) hear(at market.Time, m market.ID, price market.Price, line string) {
	b.lines = append(b.lines, fmt.Sprintf("%d: market %d %s", at, m, line))
	b.now = max(b.now, at)
	timer := line == "timer"
	if timer {
		b.watches[0].Timer = 0
		b.rung++
	}
	if price != 0 {
		w := &b.watches[m]
		for _, level := range [...]*market.Price{&w.Below, &w.Fall} {
			if price <= *level {
				*level = 0
			}
		}
		for _, level := range [...]*market.Price{&w.Above, &w.Rise} {
			if price >= *level {
				*level = 0
			}
		}
	}
	for range b.r.IntN(3) {
		b.act(m, timer)
	}
}

// forget makes all prices but those that are watched new to the next candle.
func (b *brain) forget() {
	clear(b.used)
	for _, w := range b.watches {
		b.used[w.Above], b.used[w.Below] = true, true
	}
}

// level is a price on a tick, some ticks away from where the path stands.
func (b *brain) level(m market.ID, up bool) market.Price {
	away := market.Price(b.r.IntN(8)) * b.tick
	if up {
		return market.FloorTo(b.last(m), b.tick) + b.tick + away
	}
	return max(b.tick, market.CeilTo(b.last(m), b.tick)-b.tick-away)
}

// act acts in the market of an event; after a timer in any.
func (b *brain) act(m market.ID, timer bool) {
	if timer && !b.early {
		m = market.ID(1 + b.r.IntN(2))
	}
	m = max(m, 1)
	w, up := &b.watches[m], b.r.IntN(2) == 0
	level := b.level(m, up)
	switch draw := b.r.IntN(12); {
	case draw < 3 && up && w.Tactic:
		w.Rise = level
	case draw < 3 && w.Tactic:
		w.Fall = level
	case draw < 5 && b.used[level]:
	case draw < 5 && up:
		w.Above, b.used[level] = level, true
	case draw < 5:
		w.Below, b.used[level] = level, true
	case draw < 8 && (timer || b.early):
		b.watches[0].Timer = b.now + market.Time(b.r.Int64N(int64(15*time.Second)))
	case draw < 10:
		b.order(m, up, level)
	case draw == 10 && b.next > 0:
		b.do(&market.Command{At: b.now, Attached: true, Kind: market.CommandCancel,
			Order: market.Order{Market: m, ID: 1 + market.OrderID(b.r.Int64N(int64(b.next)))}})
	}
}

// order places a limit order that rests, or one at market.
func (b *brain) order(m market.ID, up bool, level market.Price) {
	b.next++
	c := market.Command{At: b.now, Attached: true, Kind: market.CommandPlace,
		Order: market.Order{ID: b.next, Market: m, Side: market.Buy, Type: market.TypeLimit,
			OrderState: market.OrderState{Price: level, Amount: 100, TimeInForce: market.GTC,
				SelfTradePrevention: market.CancelNewest}}}
	if up {
		c.Order.Side = market.Sell
	}
	if b.r.IntN(3) == 0 {
		c.Order.Type, c.Order.Price = market.TypeMarket, 0
	}
	b.do(&c)
}

// outcome is the line of an event about an order.
func outcome(exec market.ExecutionType, id market.OrderID, price market.Price, taker bool) string {
	return fmt.Sprintf("order %d %s %d, taker %t", id, exec, price, taker)
}

// naivePath walks the paths of candles one unit of price after the other, and looks at everything
// at each of them.
type naivePath struct {
	*brain
	books [3]naiveLeg
	queue []market.Command
	clock market.Time
}

// naiveLeg is the orders of a market and where its path stands.
type naiveLeg struct {
	id     market.ID
	last   market.Price
	time   market.Time
	orders []market.Order
	from   market.Price // the leg
	to     market.Price
	begin  market.Time
	end    market.Time
	passed int64 // units of price
	done   bool
}

func (n *naivePath) hear(b *naiveLeg, price market.Price, line string) {
	n.clock = max(n.clock, b.time)
	n.brain.hear(n.clock, b.id, price, line)
	n.carryOut()
}

// carryOut lets the commands act where the paths stand: one market after the other, in the order of
// the commands.
func (n *naivePath) carryOut() {
	for len(n.queue) > 0 {
		slices.SortStableFunc(n.queue,
			func(x, y market.Command) int { return cmp.Compare(x.Order.Market, y.Order.Market) })
		c := n.queue[0]
		n.queue = n.queue[1:]
		b := &n.books[c.Order.Market]
		line := ""
		at := slices.IndexFunc(b.orders, func(o market.Order) bool { return o.ID == c.Order.ID })
		switch {
		case c.Kind == market.CommandPlace && b.meetsOwn(&c.Order):
			line = outcome(market.ExecCanceled, c.Order.ID, 0, false)
		case c.Kind == market.CommandPlace && c.Order.Type == market.TypeMarket:
			line = outcome(market.ExecTrade, c.Order.ID, b.last, true)
		case c.Kind == market.CommandPlace:
			b.orders = append(b.orders, c.Order)
			line = outcome(market.ExecNew, c.Order.ID, 0, false)
		case at < 0:
			line = outcome(market.ExecRejected, c.Order.ID, 0, false)
		default:
			b.orders = slices.Delete(b.orders, at, at+1)
			line = outcome(market.ExecCanceled, c.Order.ID, 0, false)
		}
		n.clock = max(n.clock, b.time)
		n.brain.hear(n.clock, b.id, 0, line)
	}
}

// meetsOwn reports whether a new order would trade with an own one, which a gap has passed.
func (b *naiveLeg) meetsOwn(c *market.Order) bool {
	price := cmp.Or(c.Price, b.last)
	return slices.ContainsFunc(b.orders, func(o market.Order) bool {
		return c.Side == market.Sell && o.Side == market.Buy && o.Price >= price ||
			c.Side == market.Buy && o.Side == market.Sell && o.Price <= price
	})
}

// fill executes the order that the price has reached first, if there is one.
func (n *naivePath) fill(b *naiveLeg, gap bool) bool {
	best := -1
	for i, o := range b.orders {
		if o.Side == market.Buy && b.last > o.Price || o.Side == market.Sell && b.last < o.Price {
			continue
		}
		if best < 0 || o.Side == market.Buy && b.orders[best].Side == market.Sell || o.Side == b.orders[best].Side &&
			(o.Side == market.Buy && o.Price > b.orders[best].Price ||
				o.Side == market.Sell && o.Price < b.orders[best].Price) {
			best = i
		}
	}
	if best < 0 {
		return false
	}
	o := b.orders[best]
	b.orders = slices.Delete(b.orders, best, best+1)
	price := o.Price
	n.hear(b, 0, outcome(market.ExecTrade, o.ID, price, false))
	return true
}

// tell tells a price that is watched.
func (n *naivePath) tell(b *naiveLeg) bool {
	w := &n.watches[b.id]
	reached := b.last <= max(w.Below, w.Fall) || w.Above != 0 && b.last >= w.Above || w.Rise != 0 && b.last >= w.Rise
	if reached {
		n.hear(b, b.last, "price "+fmt.Sprint(b.last))
	}
	return reached
}

// here is everything that happens at a price: one order first, then what is watched, then the other
// orders.
func (n *naivePath) here(b *naiveLeg) {
	n.fill(b, false)
	for n.tell(b) || n.fill(b, false) {
	}
}

// reached is the time at which the path has passed so many units of its leg.
func (b *naiveLeg) reached(units int64) market.Time {
	way := max(b.to-b.from, b.from-b.to)
	return b.begin + (b.end-b.begin)*market.Time(units)/market.Time(way)
}

// step goes on by a unit of price if the path is there by a time.
func (n *naivePath) step(b *naiveLeg, until market.Time) bool {
	way := int64(max(b.to-b.from, b.from-b.to))
	if b.passed == way || until < b.end && market.Time(b.passed+1)*(b.end-b.begin) > market.Time(way)*(until-b.begin) {
		return false
	}
	b.passed++
	price := b.from + market.Price(b.passed)
	if b.to < b.from {
		price = b.from - market.Price(b.passed)
	}
	if price%n.tick == 0 || price == b.to {
		b.last, b.time = price, max(b.time, b.reached(b.passed))
		n.here(b)
	}
	return true
}

// leg walks all markets to their next points.
func (n *naivePath) leg(active []*naiveLeg) {
	end := active[0].end
	for i := 0; i < len(active); {
		for n.ringsBefore(end) {
			n.ring(active, end)
		}
		b := active[i]
		for !n.ringsBefore(end) && n.step(b, end) {
		}
		if !n.ringsBefore(end) {
			b.last, b.time = b.to, end
			n.tell(b)
			i++
		}
	}
}

// ringsBefore reports whether a timer comes before the point.
func (n *naivePath) ringsBefore(end market.Time) bool {
	at := n.watches[0].Timer
	return at != 0 && at < end
}

// ring goes on to the next timer, unless something on the way sets another.
func (n *naivePath) ring(active []*naiveLeg, end market.Time) {
	at := n.watches[0].Timer
	same := func() bool { t := n.watches[0].Timer; return t == 0 || t >= at }
	for _, b := range active {
		if b.begin < at {
			for same() && n.step(b, at) {
			}
		}
		if n.watches[0].Timer == at && n.watches[b.id].Tactic {
			n.hear(b, b.last, "price "+fmt.Sprint(b.last))
		}
		if n.watches[0].Timer != at {
			return
		}
	}
	for _, b := range active {
		b.time = max(b.time, at)
	}
	n.brain.hear(at, 0, 0, "timer")
	n.carryOut()
}

// candles walks a group.
func (n *naivePath) candles(path Path, group []market.Candle) {
	var active []*naiveLeg
	points := map[*naiveLeg][4]market.Price{}
	for i := range group {
		c := &group[i]
		b := &n.books[c.Market]
		b.id, b.last, b.time = c.Market, c.Open, c.Start
		points[b] = path.Points(c, true)
		active = append(active, b)
	}
	for _, b := range active {
		for n.fill(b, true) {
		}
		n.tell(b)
	}
	start, third := group[0].Start, (group[0].End()-group[0].Start)/3
	times := [4]market.Time{start, start + third, start + 2*third, group[0].End()}
	for point := 1; point < 4; point++ {
		for _, b := range active {
			b.from, b.to, b.begin, b.end = points[b][point-1], points[b][point], times[point-1], times[point]
			b.passed = 0
		}
		n.leg(active)
	}
}

// clever is a venue with a brain.
func clever(t *testing.T, seed uint64, path Path) (*Venue, *brain) {
	b := newBrain(seed)
	catalog := &market.Catalog{}
	for _, symbol := range [...]string{"EUR", "BTC", "ETH"} {
		must(catalog.AddAsset(symbol, 2))
	}
	for _, name := range [...]string{"BTC-EUR", "ETH-EUR"} {
		require.NoError(t, catalog.AddMarket(&market.Market{Name: name,
			Rules: market.Rules{QuantityDecimals: 2, TickSize: b.tick}}))
	}
	v := New(catalog, Config{Path: path, Watches: b.watches}, func(ev *market.Event) {
		switch {
		case ev.Kind == market.KindTimer:
			b.hear(ev.At, 0, 0, "timer")
		case ev.Kind == market.KindTrade:
			b.hear(ev.At, ev.Market, ev.Trade.Price, "price "+fmt.Sprint(ev.Trade.Price))
		case len(ev.Fills) > 0:
			b.hear(ev.At, ev.Market, 0, outcome(ev.Report.Exec, ev.Report.Order, ev.Fills[0].Price, ev.Fills[0].Taker))
		default:
			b.hear(ev.At, ev.Market, 0, outcome(ev.Report.Exec, ev.Report.Order, 0, false))
		}
	})
	for asset := market.AssetID(1); asset <= 3; asset++ {
		require.NoError(t, v.Deposit(asset, 1e12))
	}
	b.last, b.do = v.Last, v.Do
	return v, b
}

// Timers and watched prices inside the path of candles come where a walk in single units meets
// them.
func TestTimersAndPricesInsideAPathComeWhereANaiveWalkMeetsThem(t *testing.T) {
	lines, rung := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 9))
		path := Path(r.IntN(4))
		v, b := clever(t, seed, path)
		n := &naivePath{brain: newBrain(seed)}
		n.last = func(m market.ID) market.Price { return n.books[m].last }
		n.do = func(c *market.Command) { n.queue = append(n.queue, *c) }
		for minute := range int64(30) {
			group := ringGroup(r, minute, !b.early)
			require.NoError(t, v.Advance(&market.Event{Kind: market.KindCandles, Candles: group, At: group[0].End()}))
			n.candles(path, group)
			require.Equal(t, n.lines, b.lines, "seed %d, candles %+v", seed, group)
			require.Equal(t, n.watches, b.watches, "seed %d, minute %d", seed, minute)
			check(t, v)
			lines += len(b.lines)
			b.lines, n.lines = b.lines[:0], n.lines[:0]
			b.forget()
			n.forget()
			if now := group[0].End(); b.watches[0].Timer == 0 {
				b.watches[0].Timer, n.watches[0].Timer = now+40e9, now+40e9
			}
		}
		rung += b.rung
	}
	require.Greater(t, rung, 5_000)
	require.Greater(t, lines, 50_000)
}

// ringGroup is the next candles: of one market, or of two.
func ringGroup(r *rand.Rand, minute int64, both bool) (group []market.Candle) {
	for m := market.ID(1); m <= 2; m++ {
		if m == 2 && !both {
			continue
		}
		c := market.Candle{Market: m, Interval: market.Interval1m, Volume: 100,
			Start: market.Interval1m.End(0) * market.Time(minute),
			Open:  market.Price(90 + r.Int64N(20)), Close: market.Price(90 + r.Int64N(20))}
		c.High = max(c.Open, c.Close) + market.Price(r.IntN(12))
		c.Low = min(c.Open, c.Close) - market.Price(r.IntN(12))
		group = append(group, c)
	}
	return group
}
