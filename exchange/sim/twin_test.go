package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// twin is the venue done again without a clever thought: one list of orders, looked through at
// every price of the path, one unit after the other. It knows limit orders, market orders and
// stops, the adaptive path, and nothing of money.
type twin struct {
	atOpen bool            // a limit that the open has passed fills at the open
	orders []*market.Order // open ones
	place  map[market.OrderID]int64
	last   market.Price
	trades []string
	missed func(id market.OrderID) bool // by a touch in this candle
}

// TestDumbTwinTradesTheSame gives both venues the same commands and candles.
func TestDumbTwinTradesTheSame(t *testing.T) {
	trades := 0
	rapid.Check(t, func(t *rapid.T) {
		pair := newPair(t)
		for range rapid.IntRange(1, 15).Draw(t, "candles") {
			pair.candle(t)
			require.Equal(t, pair.dumb.trades, pair.clever)
			pair.compareOpen(t)
			check(t, pair.venue)
			for range rapid.IntRange(0, 3).Draw(t, "commands") {
				pair.command(t)
			}
		}
		trades += len(pair.clever)
	})
	require.Positive(t, trades, "the test has tested nothing")
}

// pair is both venues and what is on its way to them.
type pair struct {
	venue    *Venue
	clever   []string
	dumb     twin
	commands []market.Command
	now      market.Time
	next     market.OrderID
	count    int64 // commands so far: the twin finds it in OperatorID
}

func newPair(t *rapid.T) *pair {
	p := &pair{dumb: twin{place: map[market.OrderID]int64{}}}
	p.dumb.atOpen = rapid.Bool().Draw(t, "gaps at the open")
	config := Config{MissSeed: rapid.Uint64().Draw(t, "seed"),
		MissProbability: rapid.SampledFrom([]market.Rate{0, 50_000_000, 100_000_000}).Draw(t, "missed touches")}
	if p.dumb.atOpen {
		config.LimitGap = GapOpen
	}
	catalog := &market.Catalog{}
	for _, symbol := range [...]string{"EUR", "BTC"} {
		must(catalog.AddAsset(symbol, 2))
	}
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "BTC-EUR", Rules: market.Rules{QuantityDecimals: 2}}))
	p.venue = New(catalog, config, func(ev *market.Event) {
		for _, f := range ev.Fills {
			p.clever = append(p.clever, trade(f.Order, f.Amount, f.Price, f.Taker))
		}
	})
	p.dumb.missed = func(id market.OrderID) bool { return p.venue.books[1].drawMiss(id) }
	for asset := market.AssetID(1); asset <= 2; asset++ {
		require.NoError(t, p.venue.Deposit(asset, 1e12)) // no order is ever too dear
	}
	return p
}

func trade(id market.OrderID, amount market.Qty, price market.Price, taker bool) string {
	return fmt.Sprintf("order %d: %d @ %d, taker %t", id, amount, price, taker)
}

func randomCandle(t *rapid.T, start market.Time) market.Candle {
	price := func(label string) market.Price { return market.Price(rapid.Int64Range(80, 120).Draw(t, label)) }
	c := market.Candle{Open: price("open"), Close: price("close"), Start: start, Market: 1, Interval: market.Interval1m}
	c.High = max(c.Open, c.Close) + market.Price(rapid.IntRange(0, 8).Draw(t, "above"))
	c.Low = min(c.Open, c.Close) - market.Price(rapid.IntRange(0, 8).Draw(t, "below"))
	return c
}

func (p *pair) candle(t *rapid.T) {
	c := randomCandle(t, p.now)
	p.now = p.now.Add(time.Minute)
	require.NoError(t, p.venue.Advance(&market.Event{At: p.now, Kind: market.KindCandles, Candles: []market.Candle{c}}))
	p.dumb.candle(&c, p.commands)
	p.commands = p.commands[:0]
}

func (p *pair) command(t *rapid.T) {
	price := market.Price(rapid.Int64Range(80, 120).Draw(t, "price"))
	c := market.Command{At: p.now, Kind: market.CommandKind(rapid.IntRange(1, 5).Draw(t, "kind"))}
	c.Order = market.Order{ID: market.OrderID(rapid.Int64Range(1, int64(p.next)+1).Draw(t, "order")), Market: 1,
		OrderState: market.OrderState{Price: price, TriggerAmount: price}}
	switch {
	case c.Kind == market.CommandUpdate:
		c.Changed = market.ChangePrice
		if rapid.Bool().Draw(t, "trigger") {
			c.Changed = market.ChangeTriggerAmount
		}
	case c.Kind >= market.CommandPlace:
		c.Kind = market.CommandPlace
		p.next++
		c.Order = randomOrder(t, p.next, price)
	}
	p.count++
	c.Order.OperatorID = p.count
	p.commands = append(p.commands, c)
	p.venue.Do(&c)
}

func randomOrder(t *rapid.T, id market.OrderID, price market.Price) market.Order {
	o := market.Order{
		ID: id, Market: 1, Side: market.Side(rapid.IntRange(1, 2).Draw(t,
			"side")), OrderState: market.OrderState{TimeInForce: market.GTC, SelfTradePrevention: market.CancelNewest},
		Type: rapid.SampledFrom([]market.OrderType{market.TypeMarket, market.TypeLimit, market.TypeLimit,
			market.TypeStopLoss}).Draw(t, "type"),
	}
	o.Amount = market.Qty(rapid.IntRange(1, 900).Draw(t, "amount"))
	switch o.Type {
	case market.TypeLimit:
		o.Price = price
	case market.TypeStopLoss:
		o.TriggerAmount, o.TriggerReference = price, market.LastTrade
	}
	return o
}

// compareOpen compares which orders are left.
func (p *pair) compareOpen(t *rapid.T) {
	var want, have []market.OrderID
	for _, o := range p.dumb.orders {
		want = append(want, o.ID)
	}
	for _, o := range openOrders(p.venue) {
		have = append(have, o.ID)
	}
	require.ElementsMatch(t, want, have)
}

// candle walks open, nearer extreme, farther extreme, close.
func (d *twin) candle(c *market.Candle, commands []market.Command) {
	d.last = c.Open
	arrived := d.arrive(commands)
	d.gap()
	for _, o := range arrived {
		d.orders = append(d.orders, o)
		d.take(o)
	}
	points := [...]market.Price{c.High, c.Low, c.Close}
	if c.Open-c.Low < c.High-c.Open || (c.Open-c.Low == c.High-c.Open && c.Close >= c.Open) {
		points = [...]market.Price{c.Low, c.High, c.Close}
	}
	for _, to := range points {
		d.walk(to)
	}
}

// arrive lets cancels, then updates, then new orders in. What is new or changed waits in arrived
// for the open to be over.
func (d *twin) arrive(commands []market.Command) (arrived []*market.Order) {
	slices.SortStableFunc(commands, func(a, b market.Command) int { return int(a.Kind) - int(b.Kind) })
	for i := range commands {
		c := &commands[i]
		all := append(slices.Clone(d.orders), arrived...)
		at := slices.IndexFunc(all, func(o *market.Order) bool { return o.ID == c.Order.ID })
		o := &c.Order
		switch {
		case c.Kind == market.CommandPlace:
			placed := c.Order
			o = &placed
		case at < 0 || !d.change(all[at], c):
			continue
		default:
			o = all[at]
		}
		d.drop(o)
		d.place[o.ID] = c.Order.OperatorID
		arrived = append(slices.DeleteFunc(arrived, func(one *market.Order) bool { return one == o }), o)
	}
	slices.SortFunc(arrived, func(a, b *market.Order) int { return int(d.place[a.ID] - d.place[b.ID]) })
	return arrived
}

// change carries out a cancel or an update and reports whether the order has a new place in the
// queue.
func (d *twin) change(o *market.Order, c *market.Command) bool {
	switch {
	case c.Kind == market.CommandCancel:
		d.drop(o)
		return false
	case c.Changed == market.ChangePrice && o.Type == market.TypeLimit:
		o.Price = c.Order.Price
		return true
	case c.Changed == market.ChangeTriggerAmount && o.Type == market.TypeStopLoss && !o.Triggered:
		o.TriggerAmount = c.Order.TriggerAmount
		o.Triggered = d.met(o) // from here on the trigger stays as it is
		return true
	}
	return false
}

// gap lets happen at the open what the price has reached: first what waits below, highest first,
// then what waits above.
func (d *twin) gap() {
	for _, falling := range [...]bool{true, false} {
		for o := d.reached(falling); o != nil; o = d.reached(falling) {
			if d.atOpen || o.Type != market.TypeLimit {
				d.happen(o, d.last)
			} else {
				d.happen(o, o.Price)
			}
		}
	}
}

// walk goes one unit of price after the other.
func (d *twin) walk(to market.Price) {
	falling, step := to < d.last, market.Price(1)
	if falling {
		step = -1
	}
	if to == d.last {
		return
	}
	for {
		for o := d.reached(falling); o != nil; o = d.reached(falling) {
			d.happen(o, waitedFor(o))
		}
		if d.last == to {
			return
		}
		d.last += step
	}
}

// waitedFor is the price that an order waits for.
func waitedFor(o *market.Order) market.Price { return max(o.Price, o.TriggerAmount) }

// levelOf is the price at which something happens to an order: a limit order that touches miss in
// this candle needs a price beyond its own.
func (d *twin) levelOf(o *market.Order) market.Price {
	switch {
	case o.Type != market.TypeLimit || !d.missed(o.ID):
		return waitedFor(o)
	case o.Side == market.Buy:
		return o.Price - 1
	}
	return o.Price + 1
}

// waitsBelow reports whether a falling price brings the order about.
func waitsBelow(o *market.Order) bool { return (o.Type == market.TypeLimit) == (o.Side == market.Buy) }

// met reports whether the price has come to what the order waits for.
func (d *twin) met(o *market.Order) bool {
	if waitsBelow(o) {
		return d.last <= waitedFor(o)
	}
	return d.last >= waitedFor(o)
}

// due reports whether the price has come to where something happens to a resting order.
func (d *twin) due(o *market.Order) bool {
	if waitsBelow(o) {
		return d.last <= d.levelOf(o)
	}
	return d.last >= d.levelOf(o)
}

// reached returns the order that a falling or rising price meets first, the oldest at a price; nil
// where it meets none.
func (d *twin) reached(falling bool) (first *market.Order) {
	for _, o := range d.orders {
		if waitsBelow(o) != falling || !d.due(o) {
			continue
		}
		if first == nil || d.sooner(o, first, falling) {
			first = o
		}
	}
	return first
}

func (d *twin) sooner(a, b *market.Order, falling bool) bool {
	if x, y := d.levelOf(a), d.levelOf(b); x != y {
		return (x > y) == falling
	}
	return d.place[a.ID] < d.place[b.ID]
}

// happen fills a limit order as a maker, or lets a stop take.
func (d *twin) happen(o *market.Order, price market.Price) {
	if o.Type == market.TypeLimit {
		d.fill(o, price, false)
		return
	}
	d.take(o)
}

// take lets an order take at the price of the path, unless an own order is in its way or it has to
// wait.
func (d *twin) take(o *market.Order) {
	switch {
	case o.Type != market.TypeMarket && !d.met(o):
		return // rests, or waits
	case d.meetsOwn(o):
		d.drop(o)
		return
	}
	d.fill(o, d.last, true)
}

// meetsOwn reports whether an own limit order offers the price, or a better one.
func (d *twin) meetsOwn(o *market.Order) bool {
	return slices.ContainsFunc(d.orders, func(own *market.Order) bool {
		if own.Type != market.TypeLimit || own.Side == o.Side {
			return false
		}
		return (own.Side == market.Buy && own.Price >= d.last) || (own.Side == market.Sell && own.Price <= d.last)
	})
}

func (d *twin) fill(o *market.Order, price market.Price, taker bool) {
	d.trades = append(d.trades, trade(o.ID, o.Amount, price, taker))
	d.drop(o)
}

func (d *twin) drop(o *market.Order) {
	d.orders = slices.DeleteFunc(d.orders, func(one *market.Order) bool { return one == o })
}
