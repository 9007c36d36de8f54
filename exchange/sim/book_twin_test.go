package sim

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// naiveBook is a list of orders and nothing else: each trade looks through all of it. It knows
// limit and market orders, time in force, post-only and self-trade prevention; no money.
type naiveBook struct {
	orders []naiveOrder // in the order of their sequence
	trades []string
}

type naiveOrder struct {
	id      market.OrderID
	account AccountID
	side    market.Side
	price   market.Price // 0: a market order
	left    market.Qty
	stp     market.SelfTradePrevention
	post    bool // post-only
}

// best returns the place of the best order against side, -1 where none is as good as price.
func (n *naiveBook) best(side market.Side, price market.Price) int {
	best := -1
	for i, o := range n.orders {
		if o.side == side || (price != 0 && !crosses(side, price, o.price)) {
			continue
		}
		if best < 0 || o.price != n.orders[best].price && crosses(side, n.orders[best].price, o.price) {
			best = i
		}
	}
	return best
}

func (n *naiveBook) drop(i int) { n.orders = append(n.orders[:i], n.orders[i+1:]...) }

func (n *naiveBook) place(o naiveOrder, tif market.TimeInForce) {
	if o.post && n.best(o.side, o.price) >= 0 {
		return
	}
	if tif == market.FOK && !n.offersWhole(o) {
		return
	}
	for o.left > 0 {
		i := n.best(o.side, o.price)
		if i < 0 {
			break
		}
		resting := &n.orders[i]
		if resting.account == o.account {
			n.prevent(&o, i)
			continue
		}
		amount := min(o.left, resting.left)
		n.trades = append(n.trades, fmt.Sprint(resting.id, o.id, resting.price, amount))
		o.left -= amount
		if resting.left -= amount; resting.left == 0 {
			n.drop(i)
		}
	}
	if o.left > 0 && o.price != 0 && tif == market.GTC {
		n.orders = append(n.orders, o)
	}
}

// offersWhole reports whether an order would trade whole: on a copy of the book, on which it must
// meet no own order but with cancelOldest.
func (n *naiveBook) offersWhole(o naiveOrder) bool {
	paper := naiveBook{orders: slices.Clone(n.orders)}
	for o.left > 0 {
		i := paper.best(o.side, o.price)
		if i < 0 {
			return false
		}
		if r := paper.orders[i]; r.account != o.account {
			o.left -= min(o.left, r.left)
		} else if o.stp != market.CancelOldest {
			return false
		}
		paper.drop(i)
	}
	return true
}

func (n *naiveBook) prevent(o *naiveOrder, i int) {
	switch o.stp {
	case market.CancelNewest:
		o.left = 0
	case market.CancelOldest:
		n.drop(i)
	case market.CancelBoth:
		o.left = 0
		n.drop(i)
	default:
		amount := min(o.left, n.orders[i].left)
		o.left -= amount
		if n.orders[i].left -= amount; n.orders[i].left == 0 {
			n.drop(i)
		}
	}
}

func (n *naiveBook) cancel(id market.OrderID) bool {
	for i, o := range n.orders {
		if o.id == id {
			n.drop(i)
			return true
		}
	}
	return false
}

// reprice updates an order: it becomes the youngest.
func (n *naiveBook) reprice(id market.OrderID, price market.Price) {
	for i, o := range n.orders {
		if o.id == id {
			n.drop(i)
			o.price = price
			n.place(o, market.GTC)
			return
		}
	}
}

// twins are a venue and its naive twin that are told the same.
type twins struct {
	t      *testing.T
	chance *rand.Rand
	venue  *Venue
	naive  naiveBook
	makers []string
	trades []string
	at     market.Time
	next   market.OrderID
}

func newTwins(t *testing.T, seed uint64) *twins {
	w := &twins{t: t, chance: rand.New(rand.NewPCG(seed, 1))}
	catalog := &market.Catalog{}
	for _, symbol := range [...]string{"EUR", "BTC"} {
		_, err := catalog.AddAsset(symbol, 4)
		require.NoError(t, err)
	}
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2,
		Rules: market.Rules{QuantityDecimals: 4, NotionalDecimals: 4, TickSize: 5}}))
	w.venue = New(catalog, Config{Book: true}, w.hear)
	for range 3 {
		w.venue.OpenAccount(nil)
	}
	for a := range AccountID(4) {
		for asset := range market.AssetID(2) {
			require.NoError(t, w.venue.Transfer(a, asset+1, 1e17))
		}
	}
	return w
}

// hear joins the two fills of a trade into one line.
func (w *twins) hear(ev *market.Event) {
	for i := range ev.Fills {
		f := &ev.Fills[i]
		if !f.Taker {
			w.makers = append(w.makers, fmt.Sprint(f.Order))
			continue
		}
		w.trades = append(w.trades, fmt.Sprint(w.makers[len(w.makers)-1], " ", int64(f.Order), " ", int64(f.Price), " ",
			int64(f.Amount)))
	}
}

func (w *twins) command(account AccountID, c market.Command) {
	w.at++
	c.Order.Market = 1
	refused, err := w.venue.Submit(account, w.at, &c)
	require.NoError(w.t, err)
	require.Nil(w.t, refused, "%+v", c)
}

// step draws one operation: 60 % orders with a limit, 25 % cancels, 5 % updates, 10 % market
// orders.
func (w *twins) step() {
	switch draw := w.chance.IntN(100); {
	case draw < 60:
		w.place(market.TypeLimit)
	case draw < 90 && len(w.naive.orders) > 0:
		o := w.naive.orders[w.chance.IntN(len(w.naive.orders))]
		if draw < 65 {
			price := w.price()
			if price == o.price {
				price += 5
			}
			w.naive.reprice(o.id, price)
			w.command(o.account, market.Command{Kind: market.CommandUpdate, Changed: market.ChangePrice,
				Order: market.Order{ID: o.id, OrderState: market.OrderState{Price: price}}})
			return
		}
		require.True(w.t, w.naive.cancel(o.id))
		w.command(o.account, market.Command{Kind: market.CommandCancel, Order: market.Order{ID: o.id}})
	default:
		w.place(market.TypeMarket)
	}
}

func (w *twins) price() market.Price { return 100_00 + 5*market.Price(w.chance.IntN(41)-20) }

func (w *twins) place(kind market.OrderType) {
	w.next++
	o := market.Order{
		ID: w.next, Type: kind, Side: market.Side(1 +
			w.chance.IntN(2)), OrderState: market.OrderState{Amount: market.Qty(1 + w.chance.IntN(5)*10_000),
			TimeInForce:         market.GTC,
			SelfTradePrevention: market.SelfTradePrevention(1 + w.chance.IntN(4))},
	}
	account := AccountID(w.chance.IntN(4))
	if kind == market.TypeLimit {
		o.Price = w.price()
		switch w.chance.IntN(10) {
		case 0:
			o.TimeInForce = market.IOC
		case 1:
			o.TimeInForce = market.FOK
		case 2, 3:
			o.PostOnly = true
		}
	}
	w.naive.place(naiveOrder{id: o.ID, account: account, side: o.Side, price: o.Price, left: o.Amount,
		stp: o.SelfTradePrevention, post: o.PostOnly}, o.TimeInForce)
	w.command(account, market.Command{Kind: market.CommandPlace, Order: o})
}

var operations = flag.Int("operations", 250_000,
	"how many operations TestTheBookTradesLikeANaiveOne does; with -short at most 50,000")

// Four million operations:
//
//	go test ./exchange/sim -run Naive -operations 4000000
func TestTheBookTradesLikeANaiveOne(t *testing.T) {
	operations := *operations
	if testing.Short() {
		operations = min(operations, 50_000)
	}
	const seed = 20261121
	w := newTwins(t, seed)
	for i := range operations {
		w.step()
		if i%997 == 0 {
			w.compare(i)
			check(t, w.venue)
		}
	}
	w.compare(operations)
	t.Logf("seed %d: %d operations, %d orders", seed, operations, w.next)
}

// compare holds trades and books against each other, and forgets the trades.
func (w *twins) compare(operation int) {
	require.Equal(w.t, len(w.naive.trades), len(w.trades), "trades up to operation %d", operation)
	for i, want := range w.naive.trades {
		require.Equal(w.t, want, w.trades[i], "operation %d", operation)
	}
	w.naive.trades, w.trades, w.makers = w.naive.trades[:0], w.trades[:0], w.makers[:0]
	require.Equal(w.t, len(w.naive.orders), w.venue.orders.Len(), "open orders at operation %d", operation)
	for _, o := range w.naive.orders {
		have := w.venue.Order(o.id)
		require.NotNil(w.t, have, "order %d at operation %d", o.id, operation)
		require.Equal(w.t, o.left, have.AmountRemaining, "order %d at operation %d", o.id, operation)
	}
}
