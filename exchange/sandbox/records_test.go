package sandbox

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

func TestOldClosedOrdersAreForgottenAndOpenOnesAreNot(t *testing.T) {
	f := newFloor(t, func(c *Config) { c.Retention.Orders, c.Retention.Trades = 3, 2 })
	old := f.place(f.alice, "buy limit amount=5 price=100 clientOrderId="+client(1))
	var closed []string
	for range 6 {
		closed = slices.Insert(closed, 0,
			f.place(f.bob, "sell limit amount=0.5 price=100 clientOrderId="+client(2)).OrderID)
	}
	require.Equal(t, closed[:3], ids(f.list(f.bob, "GET /orders", "market=BTC-EUR")))
	f.refused(f.bob, "GET /order", "market=BTC-EUR orderId="+closed[3], 240, "")
	require.Equal(t, closed[0], f.order(f.bob, "GET /order", "market=BTC-EUR clientOrderId="+client(2)).OrderID)
	require.Equal(t, 4, f.listings[1].orders.Len())

	kept := f.order(f.alice, "GET /order", "market=BTC-EUR clientOrderId="+client(1))
	require.Equal(t, old.OrderID, kept.OrderID)
	require.Equal(t, "3", kept.FilledAmount, "all of it, though its first fills are forgotten")
	require.Equal(t, "00000000-0000-0001-0000-000000000006", kept.Fills[len(kept.Fills)-1].ID)
	require.LessOrEqual(t, len(kept.Fills), 4)
	trades := read[[]toldTrade](f, f.ok(f.alice, "GET /trades", "market=BTC-EUR"))
	require.Len(t, trades, 2)
	require.Equal(t, "00000000-0000-0001-0000-000000000006", trades[0].ID)

	moved := f.order(f.alice, "PUT /order", "market=BTC-EUR operatorId=7 price=101 orderId="+old.OrderID)
	require.Empty(t, moved.Fills, "its earlier fills are not those of the update")
	for range 4 {
		f.ok(f.alice, "DELETE /order",
			"market=BTC-EUR operatorId=7 orderId="+f.place(f.alice, "buy limit amount=1 price=90").OrderID)
	}
	require.Equal(t, old.OrderID, f.list(f.alice, "GET /orders", "market=BTC-EUR")[3].OrderID,
		"open orders do not count")
}

// naiveRecords is the naive twin of the records: it keeps every order and fill it hears of.
type naiveRecords struct {
	orders []*entry // by creation
	ended  int
}

type entry struct {
	order market.Order
	owner sim.AccountID
	fills []uuid.UUID
	ended int // in which place; 0: open
}

func (l *naiveRecords) hear(v *sim.Venue, ev *market.Event) {
	o := v.Order(ev.Report.Order)
	at := slices.IndexFunc(l.orders, func(e *entry) bool { return e.order.ID == o.ID })
	if at < 0 {
		at = len(l.orders)
		l.orders = append(l.orders, &entry{owner: v.Owner(o.ID)})
	}
	e := l.orders[at]
	e.order = *o
	for _, fill := range ev.Fills {
		e.fills = append(e.fills, fill.ID)
	}
	if o.Done() {
		l.ended++
		e.ended = l.ended
	}
}

// listed returns what GET /orders has to tell: orderId, status, clientOrderId, latest first.
func (l *naiveRecords) listed(a sim.AccountID, id market.ID, keep int) (listed [][3]string) {
	latest := map[uuid.UUID]bool{}
	for i := len(l.orders) - 1; i >= 0; i-- {
		e := l.orders[i]
		if e.owner != a || e.order.Market != id {
			continue
		}
		name := e.order.ClientOrderID
		told := ""
		if name != uuid.Nil && !latest[name] {
			told = name.String()
		}
		latest[name] = true
		if e.ended == 0 || l.endedLater(e) < keep {
			listed = append(listed, [3]string{e.order.ExchangeID.String(), e.order.Status.String(), told})
		}
	}
	return listed
}

// endedLater counts the orders of the same account and market that ended after one.
func (l *naiveRecords) endedLater(than *entry) (count int) {
	for _, e := range l.orders {
		if e.owner == than.owner && e.order.Market == than.order.Market && e.ended > than.ended {
			count++
		}
	}
	return count
}

// trades returns what GET /trades has to tell, latest first.
func (l *naiveRecords) trades(a sim.AccountID, id market.ID, keep int) (names []string) {
	for _, e := range l.orders {
		if e.owner == a && e.order.Market == id {
			for _, fill := range e.fills {
				names = append(names, fill.String())
			}
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names[:min(len(names), keep)]
}

func TestRecordsAreThoseOfANaiveLedger(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const keep = 3
		f := newFloor(t, func(c *Config) { c.Retention.Orders, c.Retention.Trades = keep, keep })
		twin := &naiveRecords{}
		f.listenToo(twin.hear)
		for range rapid.IntRange(1, 40).Draw(r, "requests") {
			a := f.accounts[rapid.IntRange(0, 1).Draw(r, "account")]
			endpoint, parameters := drawRequest(r, twin)
			f.call(a, endpoint, parameters) // refused or not
			f.wait(time.Millisecond)
			compareLedgers(r, f, twin, keep)
		}
	})
}

// listenToo gives the floor a new venue, whose events a second one hears.
func (f *floor) listenToo(too func(*sim.Venue, *market.Event)) {
	fees := func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} }
	f.venue = sim.New(f.catalog, sim.Config{Book: true, Fees: fees}, func(ev *market.Event) {
		too(f.venue, ev)
		f.onReport(ev)
	})
	f.venue.OpenAccount(fees)
	for _, a := range f.accounts {
		for _, asset := range f.catalog.Assets() {
			require.NoError(f.t, f.venue.Transfer(a.id, asset.ID, market.Money(1000*market.Pow10(asset.Digits))))
		}
	}
}

func drawRequest(r *rapid.T, twin *naiveRecords) (endpoint, parameters string) {
	parameters = "market=" + rapid.SampledFrom([]string{"BTC-EUR", "ETH-EUR"}).Draw(r, "market") + " operatorId=7"
	price := " price=" + strconv.Itoa(rapid.IntRange(98, 102).Draw(r, "price"))
	amount := " amount=" + strconv.Itoa(rapid.IntRange(1, 3).Draw(r, "amount"))
	name := " clientOrderId=" + client(byte(rapid.IntRange(1, 3).Draw(r, "name")))
	if len(twin.orders) > 0 && rapid.Bool().Draw(r, "by orderId") {
		name = " orderId=" + rapid.SampledFrom(twin.orders).Draw(r, "order").order.ExchangeID.String()
	}
	side := rapid.SampledFrom([]string{" side=buy", " side=sell"}).Draw(r, "side")
	switch rapid.IntRange(0, 9).Draw(r, "request") {
	case 0:
		return "DELETE /order", parameters + name
	case 1:
		return "DELETE /orders", parameters
	case 2:
		return "PUT /order", parameters + name + price
	case 3:
		return "PUT /order", parameters + name + amount
	case 4:
		return "POST /order", parameters + side + " orderType=market" + amount
	case 5:
		return "POST /order", parameters + side + " orderType=stopLossLimit triggerAmount=100" + price + amount
	case 6:
		return "POST /order", parameters + side + " orderType=limit" + price + amount
	}
	return "POST /order", parameters + side + " orderType=limit clientOrderId=" +
		client(byte(rapid.IntRange(1, 3).Draw(r, "new name"))) + price + amount
}

func compareLedgers(r *rapid.T, f *floor, twin *naiveRecords, keep int) {
	for _, a := range f.accounts {
		for _, m := range f.catalog.Markets() {
			var have, open [][3]string
			for _, o := range f.list(a, "GET /orders", "market="+m.Name) {
				row := [3]string{o.OrderID, o.Status}
				if o.ClientOrderID != nil {
					row[2] = *o.ClientOrderID
				}
				have = append(have, row)
			}
			want := twin.listed(a.id, m.ID, keep)
			require.Equal(r, want, have)
			for _, o := range f.list(a, "GET /ordersOpen", "market="+m.Name) {
				open = append(open, [3]string{o.OrderID, o.Status})
			}
			stillOpen := 0
			for _, row := range want {
				if status, _ := market.ParseStatus(row[1]); status.Open() {
					require.Equal(r, row[:2], open[stillOpen][:2])
					stillOpen++
				}
			}
			require.Len(r, open, stillOpen)
			var trades []string
			for _, one := range read[[]toldTrade](f, f.ok(a, "GET /trades", "market="+m.Name)) {
				trades = append(trades, one.ID)
			}
			require.Equal(r, twin.trades(a.id, m.ID, keep), trades)
		}
	}
	for _, l := range f.listings[1:] {
		kept := 0
		for _, a := range f.accounts {
			kept += a.recordsOf(l.ID).all.length
		}
		require.Equal(r, kept, l.orders.Len(), "%s", l.Name)
	}
}

func TestAMillionOpenOrdersTakeLittleBesideTheVenue(t *testing.T) {
	orders := uint64(*manyOrders)
	if orders == 0 {
		orders = 200_000
	}
	f := newFloor(t, nil)
	o := &market.Order{Market: 1, Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{Status: market.StatusNew}}
	before := alive()
	for n := range orders {
		o.ID, o.ClientOrderID = market.OrderID(n+1), uuid.UUID{byte(n), byte(n >> 8), byte(n >> 16), 6: 0x40}
		f.enter(f.alice, o, n+1)
	}
	each := (alive() - before) / orders
	require.LessOrEqual(t, each, uint64(170), "bytes, of which the clientOrderId's entry is a good third")
	runtime.KeepAlive(f)
}

func TestSteadyTradeLeavesTheRecordsAsTheyAre(t *testing.T) {
	f := newFloor(t, func(c *Config) { c.Retention.Orders, c.Retention.Trades = 100, 100 })
	trade := func(times int) {
		for range times {
			f.place(f.alice, "buy limit amount=0.1 price=100")
			f.place(f.bob, "sell limit amount=0.1 price=100")
			f.place(f.bob, "buy limit amount=0.1 price=100")
			f.place(f.alice, "sell limit amount=0.1 price=100")
		}
	}
	trade(500)
	before := f.recordsMade()
	trade(500)
	require.Equal(t, before, f.recordsMade(), "what is forgotten serves again")
	require.Equal(t, 200, f.listings[1].orders.Len(), "of two accounts")
	require.LessOrEqual(t, len(f.alice.recordsOf(1).trades), 200)
}

// recordsMade counts the records that there is memory for.
func (f *floor) recordsMade() (count int) {
	for r := f.spare; r != nil; r = r.links[byState].newer {
		count++
	}
	for _, l := range f.listings[1:] {
		count += l.orders.Len()
	}
	return count
}
