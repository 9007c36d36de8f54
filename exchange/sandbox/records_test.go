package sandbox

import (
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

func TestOldClosedOrdersAreForgottenAndOpenOnesAreNot(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Retention.Orders, c.Retention.Trades = 3, 2 })
	old := s.place("alice", "buy limit amount=5 price=100 clientOrderId="+client(1))
	var closed []string // latest first
	for range 6 {
		sale := s.place("bob", "sell limit amount=0.5 price=100 clientOrderId="+client(2))
		closed = slices.Insert(closed, 0, sale.id())
	}
	require.Equal(t, closed[:3], ids(s.rows("bob", "GET /orders market=BTC-EUR"), "orderId"))
	s.refuse("bob", "GET /order market=BTC-EUR orderId="+closed[3], 404, 240)
	s.has(s.one("bob", "GET /order market=BTC-EUR clientOrderId="+client(2)), "orderId="+closed[0])
	require.Equal(t, 4, s.ex.listings[1].orders.Len())

	kept := s.one("alice", "GET /order market=BTC-EUR clientOrderId="+client(1))
	s.has(kept, "orderId="+old.id(), "filledAmount=3") // all of it, though its first fills are forgotten
	fills := kept.fills()
	s.has(fills[len(fills)-1], "id=00000000-0000-0001-0000-000000000006")
	require.LessOrEqual(t, len(fills), 4)
	trades := s.rows("alice", "GET /trades market=BTC-EUR")
	require.Len(t, trades, 2)
	s.has(trades[0], "id=00000000-0000-0001-0000-000000000006")

	require.Empty(t, s.update("alice", old, "price=101").fills(), "its earlier fills are not those of the update")
	for range 4 {
		s.ask("alice", "DELETE /order market=BTC-EUR operatorId=7 orderId="+
			s.place("alice", "buy limit amount=1 price=90").id()).ok(t)
	}
	s.has(s.rows("alice", "GET /orders market=BTC-EUR")[3], "orderId="+old.id()) // open orders do not count
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
		s := newStage(t, func(c *Config) {
			c.Retention.Orders, c.Retention.Trades, c.Budget = keep, keep, api.Budget{PerKey: -1, PerIP: -1}
		})
		twin := &naiveRecords{}
		s.listenToo(twin.hear)
		for range rapid.IntRange(1, 40).Draw(r, "requests") {
			account := rapid.SampledFrom([]string{"alice", "bob"}).Draw(r, "account")
			s.quick(account, drawRequest(r, twin)) // refused or not
			s.pass(time.Millisecond)
			compareLedgers(r, s, twin, keep)
		}
	})
}

// quick asks without holding the answer against the description of the API.
func (s *stage) quick(account, line string) answer {
	a := httptest.NewRecorder()
	method, path, body := wordsOf(line)
	s.ex.ServeHTTP(a, s.request(account, method, path, body))
	return answer{status: a.Code, body: a.Body.String()}
}

// listenToo gives the exchange a new venue, whose events a second one hears.
func (s *stage) listenToo(too func(*sim.Venue, *market.Event)) {
	ex := s.ex
	ex.venue = sim.New(ex.catalog, sim.Config{Book: true}, func(ev *market.Event) {
		too(ex.venue, ev)
		ex.onReport(ev)
	})
	ex.bank.venue = ex.venue
	ex.venue.OpenAccount(nil)
	for _, a := range ex.accounts {
		for _, asset := range ex.catalog.Assets() {
			require.NoError(s.t, ex.venue.Transfer(a.id, asset.ID, market.Money(1000*market.Pow10(asset.Digits))))
		}
	}
}

func drawRequest(r *rapid.T, twin *naiveRecords) string {
	parameters := " market=" + rapid.SampledFrom([]string{"BTC-EUR", "ETH-EUR"}).Draw(r, "market") + " operatorId=7"
	price := " price=" + strconv.Itoa(rapid.IntRange(98, 102).Draw(r, "price"))
	amount := " amount=" + strconv.Itoa(rapid.IntRange(1, 3).Draw(r, "amount"))
	name := " clientOrderId=" + client(byte(rapid.IntRange(1, 3).Draw(r, "name")))
	if len(twin.orders) > 0 && rapid.Bool().Draw(r, "by orderId") {
		name = " orderId=" + rapid.SampledFrom(twin.orders).Draw(r, "order").order.ExchangeID.String()
	}
	side := rapid.SampledFrom([]string{" side=buy", " side=sell"}).Draw(r, "side")
	switch rapid.IntRange(0, 9).Draw(r, "request") {
	case 0:
		return "DELETE /order" + parameters + name
	case 1:
		return "DELETE /orders" + parameters
	case 2:
		return "PUT /order" + parameters + name + price
	case 3:
		return "PUT /order" + parameters + name + amount
	case 4:
		return "POST /order" + parameters + side + " orderType=market" + amount
	case 5:
		return "POST /order" + parameters + side + " orderType=stopLossLimit triggerAmount=100" + price + amount
	case 6:
		return "POST /order" + parameters + side + " orderType=limit" + price + amount
	}
	return "POST /order" + parameters + side + " orderType=limit clientOrderId=" +
		client(byte(rapid.IntRange(1, 3).Draw(r, "new name"))) + price + amount
}

func compareLedgers(r *rapid.T, s *stage, twin *naiveRecords, keep int) {
	for _, a := range s.ex.accounts {
		for _, m := range s.ex.catalog.Markets() {
			list := func(endpoint string) []row {
				return decodedText[[]row](s, s.quick(a.name, "GET /"+endpoint+" market="+m.Name).body)
			}
			var have, open [][3]string
			for _, o := range list("orders") {
				name, _ := o["clientOrderId"].(string)
				have = append(have, [3]string{o.id(), o["status"].(string), name})
			}
			want := twin.listed(a.id, m.ID, keep)
			require.Equal(r, want, have)
			for _, o := range list("ordersOpen") {
				open = append(open, [3]string{o.id(), o["status"].(string)})
			}
			stillOpen := 0
			for _, row := range want {
				if status, _ := market.ParseStatus(row[1]); status.Open() {
					require.Equal(r, row[:2], open[stillOpen][:2])
					stillOpen++
				}
			}
			require.Len(r, open, stillOpen)
			trades := []string(nil)
			for _, one := range list("trades") {
				trades = append(trades, one["id"].(string))
			}
			require.Equal(r, twin.trades(a.id, m.ID, keep), trades)
		}
	}
	for _, l := range s.ex.listings[1:] {
		kept := 0
		for _, a := range s.ex.accounts {
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
	ex := newStage(t).ex
	alice := ex.accounts.named("alice")
	o := &market.Order{Market: 1, Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{Status: market.StatusNew}}
	before := alive()
	for n := range orders {
		o.ID, o.ClientOrderID = market.OrderID(n+1), uuid.UUID{byte(n), byte(n >> 8), byte(n >> 16), 6: 0x40}
		ex.enter(alice, o, n+1)
	}
	each := (alive() - before) / orders
	require.LessOrEqual(t, each, uint64(170), "bytes, of which the clientOrderId's entry is a good third")
	runtime.KeepAlive(ex)
}

func TestSteadyTradeLeavesTheRecordsAsTheyAre(t *testing.T) {
	s := newStage(t, func(c *Config) {
		c.Retention.Orders, c.Retention.Trades, c.Budget.PerKey = 100, 100, -1
	})
	trade := func(times int) {
		for range times {
			for _, side := range [][2]string{{"alice", "bob"}, {"bob", "alice"}} {
				s.quick(side[0], orderLine("buy limit amount=0.1 price=100"))
				s.quick(side[1], orderLine("sell limit amount=0.1 price=100"))
			}
		}
	}
	trade(500)
	before := s.ex.recordsMade()
	trade(500)
	require.Equal(t, before, s.ex.recordsMade(), "what is forgotten serves again")
	require.Equal(t, 200, s.ex.listings[1].orders.Len(), "of two accounts")
	require.LessOrEqual(t, len(s.ex.accounts.named("alice").recordsOf(1).trades), 200)
}

// recordsMade counts the records that there is memory for.
func (ex *Exchange) recordsMade() (count int) {
	for r := ex.spare; r != nil; r = r.links[byState].newer {
		count++
	}
	for _, l := range ex.listings[1:] {
		count += l.orders.Len()
	}
	return count
}
