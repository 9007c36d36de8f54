package sim

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// pool is what a bench believes to be alive: some of it has been filled.
type pool[T any] []T

// cancel takes things out by chance until drop finds one alive.
func (p *pool[T]) cancel(chance *rand.Rand, drop func(T) bool) {
	for dropped := false; !dropped && len(*p) > 0; {
		i, last := chance.IntN(len(*p)), len(*p)-1
		dropped = drop((*p)[i])
		(*p)[i] = (*p)[last]
		*p = (*p)[:last]
	}
}

// integerLadder is the floor of BenchmarkBook: prices are places in an array, a bitmap says which
// have orders, orders are integers in queues, and an order's number is its index. It has no
// accounts, no names, no lives.
type integerLadder struct {
	heads, tails [2][ladderTicks]int32
	used         [2][ladderTicks / 64]uint64
	orders       []ladderOrder
	free         []int32
}

type ladderOrder struct {
	left         int64
	tick         int32
	next, before int32
	side         uint8
}

// taken is the amount of a market order: with it as many orders go as come.
const taken = 13

const ladderTicks = 1 << 15

func (l *integerLadder) add(side uint8, tick int32, left int64) int32 {
	other := 1 - side
	for left > 0 {
		best := l.best(other)
		if best < 0 || side == 0 && tick < best || side == 1 && tick > best {
			break
		}
		left = l.trade(other, best, left)
	}
	if left == 0 {
		return 0
	}
	id := l.place()
	l.orders[id] = ladderOrder{left: left, tick: tick, before: l.tails[side][tick], side: side}
	if last := l.tails[side][tick]; last != 0 {
		l.orders[last].next = id
	} else {
		l.heads[side][tick] = id
		l.used[side][tick>>6] |= 1 << (tick & 63)
	}
	l.tails[side][tick] = id
	return id
}

func (l *integerLadder) trade(side uint8, tick int32, left int64) int64 {
	id := l.heads[side][tick]
	o := &l.orders[id]
	amount := min(left, o.left)
	if o.left -= amount; o.left == 0 {
		l.remove(id)
	}
	return left - amount
}

func (l *integerLadder) market(side uint8, left int64) {
	for left > 0 {
		best := l.best(1 - side)
		if best < 0 {
			return
		}
		left = l.trade(1-side, best, left)
	}
}

func (l *integerLadder) remove(id int32) bool {
	o := &l.orders[id]
	if o.tick < 0 {
		return false
	}
	if o.before != 0 {
		l.orders[o.before].next = o.next
	} else {
		l.heads[o.side][o.tick] = o.next
	}
	if o.next != 0 {
		l.orders[o.next].before = o.before
	} else {
		l.tails[o.side][o.tick] = o.before
	}
	if l.heads[o.side][o.tick] == 0 {
		l.used[o.side][o.tick>>6] &^= 1 << (o.tick & 63)
	}
	o.tick = -1
	l.free = append(l.free, id)
	return true
}

// place returns the index of a free order.
func (l *integerLadder) place() int32 {
	if n := len(l.free); n > 0 {
		id := l.free[n-1]
		l.free = l.free[:n-1]
		return id
	}
	l.orders = append(l.orders, ladderOrder{})
	return int32(len(l.orders) - 1)
}

// best scans the bitmap from the middle outwards: buys (0) from the top, sells (1) from the bottom.
func (l *integerLadder) best(side uint8) int32 {
	if side == 0 {
		for word := ladderTicks/128 + 4; word >= 0; word-- {
			if used := l.used[0][word]; used != 0 {
				return int32(word*64 + 63 - bits.LeadingZeros64(used))
			}
		}
		return -1
	}
	for word := ladderTicks/128 - 4; word < ladderTicks/64; word++ {
		if used := l.used[1][word]; used != 0 {
			return int32(word*64 + bits.TrailingZeros64(used))
		}
	}
	return -1
}

// flow is a stream of operations: 60 % limit orders, 30 % cancels, 10 % market orders.
type flow struct{ chance *rand.Rand }

// play places resting orders and returns what plays so many operations of the mix.
func (f *flow) play(resting int, place, cancel, take func()) func(operations int) {
	for range resting {
		place()
	}
	return func(operations int) {
		for range operations {
			switch draw := f.chance.IntN(10); {
			case draw < 6:
				place()
			case draw < 9:
				cancel()
			default:
				take()
			}
		}
	}
}

// limit draws a limit order's side, distance from the middle in ticks, and amount. Few cross.
func (f *flow) limit() (side uint8, away int32, amount int64) {
	draw := f.chance.Uint64()
	side, amount = uint8(draw&1), int64(1+draw>>1&7)
	away = int32(draw >> 8 & 1023)
	if draw>>32&63 == 0 {
		away = -away & 3
	}
	return side, away, amount
}

// BenchmarkBook measures the book beside its floor, in turn, round by round, and tells the least of
// each in ns an operation: the integer ladder, the matching core (queues, UUID index, self-trade
// prevention), and the whole order life at the venue (checks, holds, fees, reports besides), with
// so many orders resting.
func BenchmarkBook(b *testing.B) {
	for _, resting := range [...]int{10_000, 1_000_000} {
		b.Run(fmt.Sprint(resting), func(b *testing.B) {
			play := [...]func(operations int){playLadder(resting), playCore(resting), playVenue(b, resting)}
			var least [len(play)]float64
			for b.Loop() {
				for i := range play {
					// a few milliseconds: of many rounds some have the processor to themselves
					const operations = 20_000
					began := time.Now()
					play[i](operations)
					if took := float64(time.Since(began)) / operations; least[i] == 0 || took < least[i] {
						least[i] = took
					}
				}
			}
			b.ReportMetric(0, "ns/op") // the time of all together says nothing
			b.ReportMetric(least[0], "ladder-ns")
			b.ReportMetric(least[1], "core-ns")
			b.ReportMetric(least[2], "venue-ns")
			b.ReportMetric(least[1]/least[0], "core/ladder")
			b.ReportMetric(least[2]/least[0], "venue/ladder")
		})
	}
}

func playLadder(resting int) func(operations int) {
	l := &integerLadder{orders: make([]ladderOrder, 1, 2*resting)}
	f := &flow{chance: rand.New(rand.NewPCG(1, 2))}
	var alive pool[int32]
	place := func() {
		side, away, amount := f.limit()
		tick := int32(ladderTicks/2) - away
		if side == 1 {
			tick = ladderTicks/2 + 1 + away
		}
		if id := l.add(side, tick, amount); id != 0 {
			alive = append(alive, id)
		}
	}
	return f.play(resting, place, func() {
		alive.cancel(f.chance, l.remove)
	}, func() {
		l.market(uint8(f.chance.Uint64()&1), taken)
	})
}

// core is the matching without the money: both sides of a book, orders found by their UUID,
// self-trades prevented.
type core struct {
	sides    [2]depth            // by side, less one
	index    market.Index[order] // by the counter in an order's name, as the exchange over HTTP finds it
	count    uint64
	accounts [8]account
	spare    []*order
}

func (c *core) blank() *order {
	if n := len(c.spare); n > 0 {
		o := c.spare[n-1]
		c.spare = c.spare[:n-1]
		return o
	}
	return &order{}
}

// place matches an order and lets the rest of a limit order rest.
func (c *core) place(side market.Side, price market.Price, amount market.Qty) *order {
	o := c.blank()
	c.count++
	o.account = &c.accounts[c.count&7]
	setName(&o.ExchangeID, 1, 1, c.count)
	o.Side, o.Price, o.AmountRemaining = side, price, amount
	c.index.Put(market.OrderID(c.count), o)
	other := &c.sides[2-side]
	for o.AmountRemaining > 0 && other.first != nil && (price == 0 || crosses(side, price, other.first.price)) {
		resting := other.first.first
		if resting.account == o.account { // cancelOldest
			c.drop(other, resting)
			continue
		}
		traded := min(o.AmountRemaining, resting.AmountRemaining)
		o.AmountRemaining -= traded
		if resting.AmountRemaining -= traded; resting.AmountRemaining == 0 {
			c.drop(other, resting)
			continue
		}
		other.resize(resting)
	}
	if o.AmountRemaining == 0 || price == 0 {
		c.forget(o)
		return nil
	}
	c.sides[side-1].add(o)
	return o
}

func (c *core) drop(side *depth, o *order) {
	side.remove(o)
	c.forget(o)
}

func (c *core) forget(o *order) {
	c.index.Delete(countOf(o.ExchangeID))
	c.spare = append(c.spare, o)
}

func (c *core) cancel(name uuid.UUID) bool {
	o := c.index.Get(countOf(name))
	if o == nil || o.ExchangeID != name {
		return false
	}
	c.drop(&c.sides[o.Side-1], o)
	return true
}

// countOf is the counter in a name that nameOf has made.
func countOf(name uuid.UUID) market.OrderID {
	return market.OrderID(binary.BigEndian.Uint64(name[8:]) & (1<<48 - 1))
}

func playCore(resting int) func(operations int) {
	c := &core{}
	c.sides[0] = depth{bids: true, unit: 5}
	c.sides[1] = depth{unit: 5}
	f := &flow{chance: rand.New(rand.NewPCG(1, 2))}
	var alive pool[uuid.UUID]
	place := func() {
		side, away, amount := f.limit()
		price := market.Price(100_000) - 5*market.Price(away)
		if side == 1 {
			price = 100_005 + 5*market.Price(away)
		}
		if o := c.place(market.Side(side+1), price, market.Qty(amount)); o != nil {
			alive = append(alive, o.ExchangeID)
		}
	}
	return f.play(resting, place, func() {
		alive.cancel(f.chance, c.cancel)
	}, func() {
		c.place(market.Side(f.chance.Uint64()&1+1), 0, taken)
	})
}

func playVenue(b *testing.B, resting int) func(operations int) {
	catalog := &market.Catalog{}
	for _, symbol := range [...]string{"EUR", "BTC"} {
		if _, err := catalog.AddAsset(symbol, 4); err != nil {
			b.Fatal(err)
		}
	}
	if err := catalog.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2,
		Rules: market.Rules{QuantityDecimals: 4, NotionalDecimals: 4, TickSize: 5}}); err != nil {
		b.Fatal(err)
	}
	var fills int
	var last market.Report
	v := New(catalog, Config{Book: true}, func(ev *market.Event) {
		fills += len(ev.Fills)
		last.Order, last.ExchangeID, last.Status = ev.Report.Order, ev.Report.ExchangeID, ev.Report.Status
	})
	for range 7 {
		v.OpenAccount(nil)
	}
	for a := range AccountID(8) {
		for asset := range market.AssetID(2) {
			if err := v.Transfer(a, asset+1, 1e18); err != nil {
				b.Fatal(err)
			}
		}
	}
	f := &flow{chance: rand.New(rand.NewPCG(1, 2))}
	var alive pool[uuid.UUID]
	next := market.OrderID(0)
	limit := market.Command{Kind: market.CommandPlace,
		Order: market.Order{Market: 1, Type: market.TypeLimit,
			OrderState: market.OrderState{TimeInForce: market.GTC, SelfTradePrevention: market.CancelOldest}}}
	atMarket := market.Command{Kind: market.CommandPlace,
		Order: market.Order{Market: 1, Type: market.TypeMarket,
			OrderState: market.OrderState{Amount: taken, TimeInForce: market.GTC,
				SelfTradePrevention: market.CancelOldest}}}
	cancel := market.Command{Kind: market.CommandCancel, Order: market.Order{Market: 1}}
	place := func() {
		side, away, amount := f.limit()
		price := market.Price(100_000) - 5*market.Price(away)
		if side == 1 {
			price = 100_005 + 5*market.Price(away)
		}
		next++
		limit.Order.ID, limit.Order.Side, limit.Order.Price, limit.Order.Amount = next, market.Side(side+1), price,
			market.Qty(amount)
		v.Submit(AccountID(next&7), 1, &limit)
		if last.Order == next && !last.Status.Terminal() {
			alive = append(alive, last.ExchangeID)
		}
	}
	return f.play(resting, place, func() {
		alive.cancel(f.chance, func(name uuid.UUID) bool {
			id := countOf(name) // all orders are taken, so that the venue's count is ours
			cancel.Order.ID = id
			refused, _ := v.Submit(AccountID(id&7), 1, &cancel)
			return refused == nil
		})
	}, func() {
		next++
		atMarket.Order.ID, atMarket.Order.Side = next, market.Side(f.chance.Uint64()&1+1)
		v.Submit(AccountID(next&7), 1, &atMarket)
	})
}
