package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// naiveQueue is LimitFill Queue, unit by unit: each unit of a trade or of an offer looks for its
// owner, and what stands before an order is counted anew from everything that has happened. All own
// orders are on one side. Prices are such that own orders want high ones: those of sells are
// negative.
type naiveQueue struct {
	side    market.Side
	now     market.Time
	own     map[int]naiveLevel // the side of the own orders, by price
	other   map[int]naiveLevel
	shown   bool // there was a book
	seen    market.Time
	traded  bool // trades are recorded
	last    int
	orders  []*naiveQueued
	filled  []string
	claimed []int // of the present trade, units of others, by order
}

type naiveLevel struct {
	amount, own, others int
	seen                market.Time
}

type naiveQueued struct {
	id          market.OrderID
	price, left int
	since       market.Time
	ahead       []naiveAhead
}

// naiveAhead is one reason why at most so many stand before an order, and the trades since.
type naiveAhead struct {
	amount int
	seen   market.Time // 0: at its arrival
	passed []naivePassed
}

type naivePassed struct {
	amount int
	at     market.Time
}

// unknown is the amount before an order beyond the recorded levels.
const unknown = 1 << 40

func (o *naiveQueued) see(amount int, seen market.Time) {
	o.ahead = append(o.ahead, naiveAhead{amount: amount, seen: seen})
}

// before is what stands before the order for a trade that happened at a time; 0: now.
func (o *naiveQueued) before(at market.Time) int {
	least := unknown
	for _, a := range o.ahead {
		if at != 0 && at <= a.seen {
			continue
		}
		for _, p := range a.passed {
			if p.at > a.seen {
				a.amount -= p.amount
			}
		}
		least = min(least, max(0, a.amount))
	}
	return least
}

func (n *naiveQueue) fill(o *naiveQueued, taker bool, price int) {
	o.left--
	n.note(o.id, price, taker, 1)
}

// note adds a fill to the list, or to the fill before it of the same order at the same price.
func (n *naiveQueue) note(id market.OrderID, price int, taker bool, amount int) {
	n.filled = append(n.filled, slices.Repeat([]string{fmt.Sprint(id, " ", price, " ", taker)}, amount)...)
}

// sorted are the own orders by price and age.
func (n *naiveQueue) sorted() []*naiveQueued {
	n.orders = slices.DeleteFunc(n.orders, func(o *naiveQueued) bool { return o.left == 0 })
	list := slices.Clone(n.orders)
	slices.SortStableFunc(list, func(a, b *naiveQueued) int { return b.price - a.price })
	return list
}

// level is what is displayed at a price of the own orders' side, and whether that is known.
func (n *naiveQueue) level(price int) (amount int, known bool) {
	for p := range n.own {
		known = known || p <= price
	}
	return n.own[price].amount, known
}

// best is the best price that is left for an own taker.
func (n *naiveQueue) best() (price int, found bool) {
	for p, l := range n.other {
		if l.amount > l.own+l.others && (!found || p < price) {
			price, found = p, true
		}
	}
	return price, found
}

func (n *naiveQueue) take(price int) {
	l := n.other[price]
	l.own++
	n.other[price] = l
}

// place lets an order take up to its price, unit by unit, and rest. ioc: it does not rest.
func (n *naiveQueue) place(id market.OrderID, price, amount int, ioc bool) {
	o := &naiveQueued{id: id, price: price, left: amount, since: n.now}
	for o.left > 0 {
		best, found := n.best()
		if !found || best > price {
			break
		}
		n.take(best)
		n.fill(o, true, best)
	}
	if o.left == 0 || ioc {
		return
	}
	n.join(o)
	n.orders = append(n.orders, o)
}

func (n *naiveQueue) join(o *naiveQueued) {
	amount, known := n.level(o.price)
	if !known {
		amount = unknown
	}
	o.ahead = nil
	o.see(amount, 0)
}

func (n *naiveQueue) cancel(id market.OrderID) {
	n.orders = slices.DeleteFunc(n.orders, func(o *naiveQueued) bool { return o.id == id })
}

// book takes a snapshot: what own orders took of a price stays taken while the price is there.
func (n *naiveQueue) book(own, other map[int]int, seen market.Time) {
	n.seen = seen
	before := n.other
	n.own, n.other = map[int]naiveLevel{}, map[int]naiveLevel{}
	for p, a := range own {
		n.own[p] = naiveLevel{amount: a, seen: seen}
	}
	for p, a := range other {
		n.other[p] = naiveLevel{amount: a, own: min(a, before[p].own), seen: seen}
	}
	for _, o := range n.orders {
		if amount, known := n.level(o.price); known && n.shown {
			o.see(amount, seen)
		} else if !n.shown {
			n.join(o)
		}
	}
	n.shown = true
	n.cross()
}

// cross fills, unit by unit, what displayed offers have reached.
func (n *naiveQueue) cross() {
	for _, o := range n.sorted() {
		for o.left > 0 {
			best, found := n.best()
			if !found || best > o.price {
				break
			}
			n.take(best)
			n.fill(o, false, o.price)
		}
	}
}

// trade gives each unit of a trade to its owner. taker is its direction; 0: unknown.
func (n *naiveQueue) trade(price, amount int, taker market.Side, at market.Time) {
	n.traded = true
	passed, got, reached := 0, 0, n.sorted()
	before := map[*naiveQueued]int{}
	for _, o := range reached {
		before[o] = o.before(at)
	}
	for range amount {
		if i := n.owner(reached, before, price, taker, at, passed); i < 0 {
			passed++
		} else {
			got++
			n.fill(reached[i], false, reached[i].price)
		}
	}
	n.pass(reached, price, taker, at, passed)
	n.takeOthers(n.other, price, taker, n.side, amount-got, at)
	n.takeOthers(n.own, price, taker, n.side.Opposite(), amount-got, at)
	n.last = price
}

// owner is the place of the own order that gets the next unit, -1 for others.
func (n *naiveQueue) owner(reached []*naiveQueued, before map[*naiveQueued]int, price int, taker market.Side,
	at market.Time, passed int) int {
	for i, o := range reached {
		switch {
		case at < o.since || o.left == 0 || o.price < price || o.price == price && taker == n.side:
		case o.price > price:
			return i
		case passed < before[o]:
			return -1
		default:
			return i
		}
	}
	return -1
}

// pass writes down what passed before each order of those at the price or better.
func (n *naiveQueue) pass(reached []*naiveQueued, price int, taker market.Side, at market.Time, passed int) {
	for _, o := range reached {
		switch {
		case at < o.since || o.price < price || o.price == price && taker == n.side:
		case o.price > price:
			o.see(0, 0)
		default:
			for i := range o.ahead {
				o.ahead[i].passed = append(o.ahead[i].passed, naivePassed{passed, at})
			}
		}
	}
}

// takeOthers takes a trade's amount from levels of a side, for a taker of the other one.
func (n *naiveQueue) takeOthers(levels map[int]naiveLevel, price int, taker, takes market.Side, amount int,
	at market.Time) {
	for p, l := range levels {
		better := p < price
		if takes != n.side {
			better = p > price
		}
		switch {
		case at <= l.seen:
		case better:
			l.others = l.amount
		case p == price && (taker == 0 || taker == takes):
			l.others = min(l.amount, l.others+amount)
		}
		levels[p] = l
	}
}

// ticker takes bid and ask with their sizes, and a last price.
func (n *naiveQueue) ticker(own, ownSize, other, otherSize, last int) {
	if n.shown {
		quote := func(levels map[int]naiveLevel, price, size int, better func(int) bool) {
			for p := range levels {
				if better(p) {
					delete(levels, p)
				}
			}
			if size > 0 {
				levels[price] = naiveLevel{amount: size, own: min(size, levels[price].own), seen: n.now}
			}
		}
		quote(n.own, own, ownSize, func(p int) bool { return p > own })
		quote(n.other, other, otherSize, func(p int) bool { return p < other })
		for _, o := range n.orders {
			if o.price > own {
				o.see(0, n.now)
			} else if o.price == own && ownSize > 0 {
				o.see(ownSize, n.now)
			}
		}
		n.cross()
		for _, o := range n.sorted() {
			for !n.traded && n.last != 0 && last != n.last && last < o.price && o.left > 0 {
				n.fill(o, false, o.price)
			}
		}
	}
	n.last = last
}

// queueTwins are a venue and its naive twin that meet the same, drawn from some bytes.
type queueTwins struct {
	t      require.TestingT
	bytes  []byte
	venue  *Venue
	naive  naiveQueue
	filled []string
	next   market.OrderID
	trades bool // the recording has trades
}

// draw is a number below n.
func (w *queueTwins) draw(n int) int {
	if len(w.bytes) == 0 {
		return 0
	}
	b := w.bytes[0]
	w.bytes = w.bytes[1:]
	return int(b) % n
}

// playQueue plays the operations that some bytes spell, and compares after each.
func playQueue(t require.TestingT, bytes []byte) *queueTwins {
	w := &queueTwins{t: t, bytes: bytes}
	catalog := &market.Catalog{}
	for _, symbol := range [...]string{"EUR", "BTC"} {
		_, err := catalog.AddAsset(symbol, 0)
		require.NoError(t, err)
	}
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "BTC-EUR", Rules: market.Rules{MaxOpenOrders: 1000}}))
	w.venue = New(catalog, Config{LimitFill: Queue}, w.hear)
	for asset := range market.AssetID(2) {
		require.NoError(t, w.venue.Deposit(asset+1, 1e9))
	}
	w.naive.side = market.Side(1 + w.draw(2))
	w.trades = w.draw(4) > 0
	w.naive.now = 1000
	w.naive.last = w.view(100)
	require.NoError(t, w.venue.Advance(&market.Event{At: 1000, Kind: market.KindTicker, Market: 1,
		Ticker: &market.Ticker{Market: 1, Last: 100}}))
	w.book()
	for operation := 0; len(w.bytes) > 0; operation++ {
		w.naive.now += market.Time(1 + w.draw(3))
		w.step()
		w.compare(operation)
	}
	return w
}

// view is a price as the naive twin sees it, and back.
func (w *queueTwins) view(price int) int {
	if w.naive.side == market.Sell {
		return -price
	}
	return price
}

func (w *queueTwins) hear(ev *market.Event) {
	for i := range ev.Fills {
		f := &ev.Fills[i]
		line := fmt.Sprint(f.Order, " ", w.view(int(f.Price)), " ", f.Taker)
		w.filled = append(w.filled, slices.Repeat([]string{line}, int(f.Amount))...)
	}
}

// step draws an operation: orders, cancels, updates, trades, books, tickers.
func (w *queueTwins) step() {
	switch draw := w.draw(16); {
	case draw < 3:
		w.place()
	case draw == 3:
		w.cancel()
	case draw == 4:
		w.update()
	case draw < 8:
		w.book()
	case draw == 8 || !w.trades:
		w.ticker()
	default:
		w.trade()
	}
}

// do sends a command, which arrives at once.
func (w *queueTwins) do(c market.Command) {
	c.At, c.Order.Market = w.naive.now, 1
	w.venue.Do(&c)
	require.NoError(w.t, w.venue.Arrive(w.naive.now))
}

func (w *queueTwins) place() {
	w.next++
	price, amount, ioc := 94+w.draw(13), 1+w.draw(4), w.draw(4) == 0
	o := market.Order{ID: w.next, Type: market.TypeLimit, Side: w.naive.side,
		OrderState: market.OrderState{Amount: market.Qty(amount), TimeInForce: market.GTC,
			Price: market.Price(price), SelfTradePrevention: market.DecrementAndCancel}}
	if ioc {
		o.TimeInForce = market.IOC
	}
	w.naive.place(o.ID, w.view(price), amount, ioc)
	w.do(market.Command{Kind: market.CommandPlace, Order: o})
}

// some is one of the twin's open orders, or nil.
func (w *queueTwins) some() *naiveQueued {
	if list := w.naive.sorted(); len(list) > 0 {
		return list[w.draw(len(list))]
	}
	return nil
}

func (w *queueTwins) cancel() {
	if o := w.some(); o != nil {
		w.naive.cancel(o.id)
		w.do(market.Command{Kind: market.CommandCancel, Order: market.Order{ID: o.id}})
	}
}

func (w *queueTwins) update() {
	o, price := w.some(), 94+w.draw(13)
	if o == nil || o.price == w.view(price) {
		return
	}
	w.naive.cancel(o.id)
	w.naive.place(o.id, w.view(price), o.left, false)
	w.do(market.Command{Kind: market.CommandUpdate, Changed: market.ChangePrice,
		Order: market.Order{ID: o.id, OrderState: market.OrderState{Price: market.Price(price)}}})
}

// book draws a snapshot of up to four levels a side, with holes, made up to two moments ago.
func (w *queueTwins) book() {
	bid := 95 + w.draw(9)
	seen := max(w.naive.now-market.Time(w.draw(3)), w.naive.seen)
	book := &market.OrderBook{Market: 1, Time: seen}
	sides := [2]map[int]int{{}, {}} // asks, bids
	for i := range 4 {
		if a := w.draw(8); a > 1 {
			sides[1][w.view(bid-i)] = a - 1
			book.Bids = append(book.Bids, market.Level{Price: market.Price(bid - i), Amount: market.Qty(a - 1)})
		}
		if a := w.draw(8); a > 1 {
			sides[0][w.view(bid+1+i)] = a - 1
			book.Asks = append(book.Asks, market.Level{Price: market.Price(bid + 1 + i), Amount: market.Qty(a - 1)})
		}
	}
	w.naive.book(sides[w.naive.side.Opposite()-1], sides[w.naive.side-1], seen)
	require.NoError(w.t, w.venue.Advance(&market.Event{At: w.naive.now, Kind: market.KindBook, Market: 1, Book: book}))
}

// trade draws a trade, which may have happened up to five moments ago.
func (w *queueTwins) trade() {
	price, amount, taker := 94+w.draw(13), 1+w.draw(9), market.Side(w.draw(3))
	at := w.naive.now - market.Time(w.draw(6))
	w.naive.trade(w.view(price), amount, taker, at)
	require.NoError(w.t, w.venue.Advance(&market.Event{At: w.naive.now, Kind: market.KindTrade, Market: 1,
		Trade: &market.Trade{Market: 1, Price: market.Price(price), Amount: market.Qty(amount), Side: taker,
			Time: at}}))
}

func (w *queueTwins) ticker() {
	bid, bidSize, askSize, last := 95+w.draw(9), w.draw(4), w.draw(4), 94+w.draw(13)
	ask := bid + 1 + w.draw(2)
	if w.naive.side == market.Buy {
		w.naive.ticker(bid, bidSize, ask, askSize, last)
	} else {
		w.naive.ticker(-ask, askSize, -bid, bidSize, -last)
	}
	require.NoError(w.t, w.venue.Advance(&market.Event{At: w.naive.now, Kind: market.KindTicker, Market: 1,
		Ticker: &market.Ticker{Market: 1, Last: market.Price(last), Bid: market.Price(bid), Ask: market.Price(ask),
			BidSize: market.Qty(bidSize), AskSize: market.Qty(askSize)}}))
}

// compare holds fills, open orders and what stands before them against each other.
func (w *queueTwins) compare(operation int) {
	require.Equal(w.t, w.naive.filled, w.filled, "operation %d", operation)
	w.naive.filled, w.filled = nil, nil
	list := w.naive.sorted()
	require.Equal(w.t, len(list), w.venue.orders.Len(), "operation %d", operation)
	for _, o := range list {
		require.Equal(w.t, o.left, int(w.venue.Order(o.id).AmountRemaining), "order %d, operation %d", o.id, operation)
		ahead, known := w.venue.Ahead(o.id)
		if known {
			require.Equal(w.t, o.before(0), int(ahead), "order %d, operation %d", o.id, operation)
		} else {
			require.Greater(w.t, o.before(0), unknown/2, "order %d, operation %d", o.id, operation)
		}
	}
	if operation%16 == 0 {
		check(w.t, w.venue)
	}
}

// A hundred times as many games: go test ./exchange/sim -run AQueueIsLike -operations 25000000
func TestAQueueIsLikeANaiveOne(t *testing.T) {
	const seed = 20261123
	chance, counts := rand.New(rand.NewPCG(seed, 1)), QueueCounts{}
	games := *operations / 2500
	if testing.Short() {
		games = min(games, 25)
	}
	for range games {
		bytes := make([]byte, 1500)
		for i := range bytes {
			bytes[i] = byte(chance.IntN(256))
		}
		c := playQueue(t, bytes).venue.Counts()
		counts.Queued, counts.Through = counts.Queued+c.Queued, counts.Through+c.Through
		counts.Crossed, counts.Ticked = counts.Crossed+c.Crossed, counts.Ticked+c.Ticked
	}
	t.Logf("seed %d: %+v", seed, counts)
	require.Positive(t, min(counts.Queued, counts.Through, counts.Crossed, counts.Ticked))
}
