package sandbox

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// client makes a client order id that differs in its last byte.
func client(n byte) string { return uuid.UUID{15: n, 6: 0x40}.String() }

// ids are the names of records, by a member.
func ids(rows []row, member string) []string {
	names := []string{}
	for _, r := range rows {
		names = append(names, r[member].(string))
	}
	return names
}

const firstOrder = "00000000-0000-0001-0100-000000000001"

func TestARestingLimitOrderIsToldAsInSection21(t *testing.T) {
	s := newStage(t)
	answer := s.ask("alice",
		orderLine("buy limit amount=0.0003 price=30000 codGroupId=4 clientOrderId="+client(1))).body
	require.Equal(t, `{"orderId":"`+firstOrder+`","clientOrderId":"`+client(1)+`","market":"BTC-EUR",`+
		`"created":1767614415000,"updated":1767614415000,"createdNs":1767614415000000000,"updatedNs":1767614415000000000,`+
		`"status":"new","side":"buy","orderType":"limit","amount":"0.0003","amountRemaining":"0.0003","price":"30000",`+
		`"onHold":"9.03","onHoldCurrency":"EUR","filledAmount":"0","filledAmountQuote":"0","feePaid":"0","feeCurrency":"EUR",`+
		`"fills":[],"selfTradePrevention":"decrementAndCancel","visible":true,"timeInForce":"GTC","postOnly":false,`+
		`"disableMarketProtection":false,"operatorId":7,"codGroupId":4}`, answer)
	require.Equal(t, answer, s.ask("alice", "GET /order market=BTC-EUR orderId="+firstOrder).body)
	require.Equal(t, "["+answer+"]", s.ask("alice", "GET /ordersOpen").body)
	require.Equal(t, "["+answer+"]", s.ask("alice", "GET /orders market=BTC-EUR").body)
}

// The short answers have their members in this order. A setting shortens the answer to a new order
// instead of leaving it out.
func TestWithoutResponseRequiredTheAnswerIsShort(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Rules.ShortCreate = true })
	short := `{"orderId":"` + firstOrder + `","clientOrderId":"` + client(1) + `","market":"BTC-EUR",` +
		`"created":1767614415000,"updated":1767614415000,"createdNs":1767614415000000000,"updatedNs":1767614415000000000}`
	require.Equal(t, short, s.ask("alice",
		orderLine("buy limit amount=1 price=100 responseRequired=false clientOrderId="+client(1))).body)
	require.Equal(t, short, s.ask("alice",
		"PUT /order market=BTC-EUR operatorId=7 price=101 responseRequired=false orderId="+firstOrder).body)
}

func TestEachParameterOfAnUpdateCountsAsAChange(t *testing.T) {
	s := newStage(t)
	limit, stop := s.place("alice", "buy limit amount=1 price=100"), s.place("alice",
		"sell stopLoss amountQuote=100 triggerAmount=90")
	for _, change := range []string{"amount=2", "amountRemaining=1", "price=99", "timeInForce=GTC", "postOnly=false",
		"selfTradePrevention=cancelBoth"} {
		s.update("alice", limit, change)
	}
	for _, change := range []string{"amountQuote=50", "triggerAmount=80", "timeInForce=IOC"} {
		s.update("alice", stop, change)
	}
	other := newStage(t, func(c *Config) { c.Rules.TriggerReference = market.BestAsk })
	other.has(other.place("alice", "sell stopLoss amount=1 triggerAmount=90"), "triggerReference=bestAsk")
}

// Where all orders are to be cancelled, those of a halted market stay.
func TestCancellingManyCancelsOnlyWhatWasAskedFor(t *testing.T) {
	s := newStage(t)
	first := s.place("alice", "buy limit amount=1 price=100")
	other := s.one("alice", strings.Replace(orderLine("buy limit amount=1 price=100"), "BTC", "ETH", 1))
	s.place("bob", "buy limit amount=1 price=90")
	s.become(market.Halted, 0)
	require.Equal(t, `[{"orderId":"`+other.id()+`","operatorId":5,"market":"ETH-EUR"}]`,
		s.ask("alice", "DELETE /orders operatorId=5").ok(t).body)
	s.become(market.CancelOnly, 0)
	require.Equal(t, `[{"orderId":"`+first.id()+`","operatorId":5,"market":"BTC-EUR"}]`,
		s.ask("alice", "DELETE /orders operatorId=5").ok(t).body)
	require.Len(t, s.rows("bob", "GET /ordersOpen"), 1)
}

func TestOrdersAndTradesAreListedLatestFirstBetweenTheirBounds(t *testing.T) {
	s := newStage(t)
	for range 5 {
		s.place("alice", "buy limit amount=1 price=100")
		s.place("bob", "sell limit amount=1 price=100")
		s.place("bob", "buy limit amount=1 price=99") // it trades nothing, and stands in no list of trades
		s.pass(time.Second)
	}
	for line, member := range map[string]string{"GET /orders market=BTC-EUR ": "orderId",
		"GET /trades market=BTC-EUR ": "id", "GET /BTC-EUR/trades ": "id", "GET /report/BTC-EUR/trades ": "tradeId"} {
		made := ids(s.rows("alice", line), member) // latest first
		require.Len(t, made, 5)
		from, to := "tradeIdFrom=", "tradeIdTo="
		if member == "orderId" {
			from, to = "orderIdFrom=", "orderIdTo="
		}
		for bounds, want := range map[string][]string{
			"limit=2":                                       made[:2],
			"start=1767614417000":                           made[:3],
			"start=1767614417001":                           made[:2],
			"start=8640000000000000":                        {},
			"end=8640000000000000":                          made,
			"end=1767614416000":                             made[3:],
			"end=1767614415999":                             made[4:],
			"start=1767614416000 end=1767614418000":         made[1:4],
			"start=1767614416000 end=1767614418000 limit=1": made[1:2],
			from + made[3]:                                  made[:4],
			to + made[3]:                                    made[3:],
			from + made[3] + " " + to + made[1]:             made[1:4],
			from + made[1] + " " + to + made[3]:             {},
			"start=1767614415000 end=1767700815000":         made, // a day
		} {
			require.Equal(t, want, ids(s.rows("alice", line+bounds), member), bounds)
		}
	}
	made := ids(s.rows("alice", "GET /orders market=BTC-EUR"), "orderId")
	bobs := s.rows("alice", "GET /orders market=BTC-EUR orderIdTo=00000000-0000-0001-0100-000000000006")
	require.Equal(t, made[3:], ids(bobs, "orderId"), "a place like any other")
	require.Empty(t, s.rows("alice", "GET /orders market=BTC-EUR orderIdFrom=00000000-0000-0001-0100-0000000000ff"))
	require.Empty(t, s.rows("alice", "GET /trades market=ETH-EUR"))
	s.ask("alice", "GET /orders market=BTC-EUR start=1767614415000 end=1767700815001").ok(t)
	s.ex.config.Rules.DayWindow = true
	s.refuse("alice", "GET /orders market=BTC-EUR start=1767614415000 end=1767700815001", 400, 205)
	s.ask("alice", "GET /orders market=BTC-EUR start=0").ok(t)
}

func TestOpenOrdersAreListedByMarketOrBase(t *testing.T) {
	s := newStage(t)
	btc := s.place("alice", "buy limit amount=2 price=100").id()
	eth := s.one("alice", strings.Replace(orderLine("buy limit amount=1 price=100"), "BTC", "ETH", 1)).id()
	for parameters, want := range map[string][]string{
		"": {btc, eth}, " market=BTC-EUR": {btc}, " base=ETH": {eth}, " market=BTC-EUR base=ETH": {},
		" market=ETH-EUR base=ETH": {eth}, " base=EUR": {},
	} {
		require.Equal(t, want, ids(s.rows("alice", "GET /ordersOpen"+parameters), "orderId"), parameters)
	}
}

// A group's timer ends the orders of its group in all markets, and no others; it expires once, is
// set anew or stopped, and timers expire in their order.
func TestAGroupEndsWhenItsTimerExpires(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Rules.GroupsPerAccount = 2 })
	after := func(account string, group, seconds string) answer {
		return s.ask(account, "POST /cancelOrdersAfter codGroupId="+group+" expiryAfterSeconds="+seconds)
	}
	open := func(account string) int { return len(s.rows(account, "GET /ordersOpen")) }
	s.pass(500 * time.Millisecond)
	waiting := s.place("alice", "sell stopLoss amount=1 triggerAmount=50 codGroupId=3")
	s.one("alice", strings.Replace(orderLine("buy limit amount=1 price=100 codGroupId=3"), "BTC", "ETH", 1))
	for _, others := range []string{"", " codGroupId=4"} {
		s.place("alice", "buy limit amount=1 price=100"+others)
		s.place("bob", "buy limit amount=1 price=100 codGroupId=3")
	}
	after("bob", "3", "20").ok(t)
	require.Equal(t, `{"codGroupId":3,"timeOfExpirySeconds":1767614426}`, after("alice", "3", "10").body,
		"up to a whole second")
	after("alice", "4", "300").ok(t)
	after("alice", "5", "10").refused(t, 400, 205).says(t, "codGroupId parameter is invalid.")
	s.pass(10500*time.Millisecond - 1)
	require.Equal(t, 4, open("alice"))
	s.pass(1)
	s.has(s.again("alice", waiting), "status=canceled", "restatementReason=cancelOnDisconnect")
	require.Equal(t, []int{2, 2}, []int{open("alice"), open("bob")})
	s.place("alice", "buy limit amount=1 price=100 codGroupId=3")
	after("alice", "5", "10").ok(t) // 3 has expired
	s.pass(10 * time.Second)
	require.Equal(t, []int{3, 0}, []int{open("alice"), open("bob")}, "a timer expires once")
	require.Equal(t, `{"codGroupId":4,"timeOfExpirySeconds":0}`, after("alice", "4", "0").body)
	s.pass(time.Hour)
	require.Equal(t, 3, open("alice"))
	require.Equal(t, never, s.ex.disconnects.due())
}

func TestAFeeIsToldWhenItsFillHasSettled(t *testing.T) {
	s := newStage(t, func(c *Config) { c.Rules.SettleAfter = 2 * time.Second })
	bid := s.place("alice", "buy limit amount=2 price=100")
	s.has(s.place("bob", "sell market amount=1"), "feePaid=0")
	s.has(s.rows("bob", "GET /balance symbol=EUR")[0], "available=10000099.75") // the money has moved
	s.pass(time.Second)
	s.place("bob", "sell market amount=1")
	s.pass(time.Second)
	s.has(s.again("alice", bid), "feePaid=0.15") // of the first fill alone
	for i, fill := range s.again("alice", bid).fills() {
		s.has(fill, []string{"settled:=true", "settled:=false"}[i])
	}
	trades := s.rows("alice", "GET /trades market=BTC-EUR")
	s.has(trades[0], "settled:=false", "-fee")
	s.has(trades[1], "settled:=true", "fee=0.15", "feeCurrency=EUR")
	s.pass(time.Second)
	s.has(s.again("alice", bid), "feePaid=0.3")
}

// A sale that would bring more than a balance can count expires; what it would have met stays, and
// everything goes on.
func TestASaleThatABalanceCannotCountExpiresAndTheExchangeGoesOn(t *testing.T) {
	s := newStage(t)
	s.place("alice", "buy limit amount=1 price=100")
	s.place("alice", "buy limit amount=1 price=90")
	bob := s.ex.accounts.named("bob").id
	rich := s.ex.venue.BalanceOf(bob, 1).Total
	require.NoError(t, s.ex.venue.Transfer(bob, 1, math.MaxInt64-rich))
	s.has(s.place("bob", "sell market amount=1"), "status=expired")
	require.Equal(t, market.Money(math.MaxInt64), s.ex.venue.BalanceOf(bob, 1).Total)
	require.NoError(t, s.ex.venue.Transfer(bob, 1, -1000_00)) // room for the next one
	s.has(s.place("bob", "sell market amount=1"), "status=filled")
	require.NoError(t, s.ex.venue.Err())
}

func TestPlacingARestingOrderAllocatesLittle(t *testing.T) {
	s := newStage(t)
	s.ex.listings[1].MaxOpenOrders = 0
	alice := s.ex.accounts.named("alice")
	c := &api.Call{Account: alice.place(), Now: rigStart}
	c.Endpoint = listed.Named("POST /order")
	c.Args = make(api.Arguments, len(c.Endpoint.Params))
	for name, value := range map[string]string{"market": "BTC-EUR", "side": "buy", "orderType": "limit",
		"amount": "0.01", "price": "700"} {
		*c.Arg(name) = api.Argument{Set: true, Text: value}
	}
	allocations := testing.AllocsPerRun(20_000, func() {
		c.Out = c.Out[:0]
		if refused := s.ex.postOrder(c); refused != nil {
			t.Fatal(refused)
		}
	})
	require.LessOrEqual(t, allocations, 1.0, "what grows grows by slabs")
	require.Equal(t, 20_001, alice.recordsOf(1).open.length)
}
