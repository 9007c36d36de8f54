package sandbox

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// readRules are sections 4.2 and 4.3.
var readRules = []rule{
	{"4.2 weight", "1", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		require.Equal(s.t, 998, s.ask("alice", "GET /order market=BTC-EUR orderId="+o.id()).ok(s.t).remaining(s.t))
	}},
	{"4.2 ids", "one of orderId and clientOrderId must be there; clientOrderId counts where both are", func(s *stage) {
		a, b := s.place("alice", "buy limit amount=1 price=100 clientOrderId="+named), s.place("alice",
			"buy limit amount=1 price=101")
		s.refuse("alice", "GET /order market=BTC-EUR", 400, 203)
		s.has(s.one("alice", "GET /order market=BTC-EUR clientOrderId="+named+" orderId="+b.id()), "orderId="+a.id())
		s.refuse("alice", "GET /order market=BTC-EUR orderId=5", 400, 205).says(s.t, "orderId parameter is invalid.")
		s.refuse("alice", "GET /order market=ETH-EUR orderId="+a.id(), 404, 240)
		s.refuse("bob", "GET /order market=BTC-EUR orderId="+a.id(), 404, 240)
	}},
	{"4.2 market", "is required", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.refuse("alice", "GET /order orderId="+o.id(), 400, 203).says(s.t, "market parameter is required.")
	}},
	{"4.2 response", "the record with all fills and the headers of the budget", func(s *stage) {
		o := s.place("alice", "buy limit amount=3 price=100")
		s.place("bob", "sell limit amount=1 price=100")
		s.place("bob", "sell limit amount=1 price=100")
		require.Len(s.t, s.again("alice", o).fills(), 2)
		s.rateHeaders(s.ask("alice", "GET /order market=BTC-EUR orderId="+o.id()).ok(s.t))
	}},
	{"4.3 weight", "5", func(s *stage) {
		require.Equal(s.t, 995, s.ask("alice", "GET /orders market=BTC-EUR").ok(s.t).remaining(s.t))
	}},
	{"4.3 order", "latest to earliest, with fills", func(s *stage) {
		a, b := s.ladderOfOrders()
		list := s.rows("alice", "GET /orders market=BTC-EUR")
		require.Equal(s.t, []string{b.id(), a.id()}, []string{list[0].id(), list[1].id()})
		bid, _ := s.trade("1", "100")
		require.Len(s.t, s.rows("alice", "GET /orders market=BTC-EUR")[0].fills(), 1)
		s.has(bid, "status=filled")
	}},
	{"4.3 market", "is required", func(s *stage) {
		s.refuse("alice", "GET /orders", 400, 203).says(s.t, "market parameter is required.")
		s.refuse("alice", "GET /orders market=DOGE-EUR", 400, 205)
	}},
	{"4.3 maximum number of orders to return", "1 to 1000", func(s *stage) {
		s.ladderOfOrders()
		require.Len(s.t, s.rows("alice", "GET /orders market=BTC-EUR limit=1"), 1)
		s.ask("alice", "GET /orders market=BTC-EUR limit=1000").ok(s.t)
		s.outOfBounds("GET /orders market=BTC-EUR limit=", "0", "1001", "-1", "x", "1.0", "")
	}},
	{"4.3 return orders from this Unix timestamp", "at least 0", func(s *stage) {
		_, b := s.ladderOfOrders()
		require.Equal(s.t, b.id(), s.rows("alice", "GET /orders market=BTC-EUR start=1767614416000")[0].id())
		require.Len(s.t, s.rows("alice", "GET /orders market=BTC-EUR start=1767614416000"), 1)
		require.Len(s.t, s.rows("alice", "GET /orders market=BTC-EUR start=0"), 2)
		s.outOfBounds("GET /orders market=BTC-EUR start=", "-1", "x", "99999999999999999999")
	}},
	{"4.3 return orders up to this Unix timestamp", "at most 8640000000000000", func(s *stage) {
		a, _ := s.ladderOfOrders()
		require.Equal(s.t, a.id(), s.rows("alice", "GET /orders market=BTC-EUR end=1767614415000")[0].id())
		require.Len(s.t, s.rows("alice", "GET /orders market=BTC-EUR end=8640000000000000"), 2)
		s.outOfBounds("GET /orders market=BTC-EUR end=", "8640000000000001", "-1")
	}},
	{"4.3 return orders starting from this order identifier", "orderIdFrom, inclusive", func(s *stage) {
		a, b := s.ladderOfOrders()
		require.Len(s.t, s.rows("alice", "GET /orders market=BTC-EUR orderIdFrom="+a.id()), 2)
		require.Equal(s.t, b.id(), s.rows("alice", "GET /orders market=BTC-EUR orderIdFrom="+b.id())[0].id())
		s.outOfBounds("GET /orders market=BTC-EUR orderIdFrom=", "x", named)
	}},
	{"4.3 return orders up to this order identifier", "orderIdTo, inclusive", func(s *stage) {
		a, b := s.ladderOfOrders()
		require.Len(s.t, s.rows("alice", "GET /orders market=BTC-EUR orderIdTo="+b.id()), 2)
		require.Equal(s.t, a.id(), s.rows("alice", "GET /orders market=BTC-EUR orderIdTo="+a.id())[0].id())
	}},
	{"4.3 orderId", "has been removed: 204", func(s *stage) {
		a, _ := s.ladderOfOrders()
		s.refuse("alice", "GET /orders market=BTC-EUR orderId="+a.id(), 400, 204)
	}},
	{"4.3 response", "a list, empty where there is none", func(s *stage) {
		require.Equal(s.t, `[]`, s.ask("alice", "GET /orders market=BTC-EUR").ok(s.t).body)
	}},
}

// ladderOfOrders places two orders of alice, a second apart.
func (s *stage) ladderOfOrders() (first, second row) {
	first = s.place("alice", "buy limit amount=1 price=90")
	s.pass(time.Second)
	return first, s.place("alice", "buy limit amount=1 price=91")
}

// outOfBounds requires 205 for each value.
func (s *stage) outOfBounds(line string, values ...string) {
	s.t.Helper()
	name := line[strings.LastIndexByte(line, ' ')+1 : len(line)-1]
	for _, value := range values {
		s.refuse("alice", line+value, 400, 205).says(s.t, name+" parameter is invalid.")
	}
}

// updateRules are sections 4.4 and 4.5.
var updateRules = []rule{
	{"4.4 weight", "1", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		require.Equal(s.t, 998, s.ask("alice", "PUT /order market=BTC-EUR operatorId=7 price=101 orderId="+o.id()).
			ok(s.t).remaining(s.t))
	}},
	{"4.4 kinds", "limit and trigger orders only; a market order is 234", func(s *stage) {
		s.place("bob", "sell limit amount=1 price=100")
		o := s.place("alice", "buy market amount=1")
		s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 amount=2 orderId="+o.id(), 400, 234)
	}},
	{"4.4 book", "the order loses its place", func(s *stage) {
		first, second := s.place("alice", "buy limit amount=1 price=100"), s.place("bob",
			"buy limit amount=1 price=100")
		s.update("alice", first, "timeInForce=GTC")
		s.place("alice", "sell limit amount=1 price=100 selfTradePrevention=cancelNewest")
		s.has(s.again("bob", second), "status=filled")
	}},
	{"4.4 market", "is required", func(s *stage) {
		s.refuse("alice", "PUT /order operatorId=7 price=100 orderId="+named, 400, 203).says(s.t,
			"market parameter is required.")
	}},
	{"4.4 orderId", "names the order; it keeps it", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.has(s.update("alice", o, "price=99"), "orderId="+o.id())
		s.refuse("bob", "PUT /order market=BTC-EUR operatorId=7 price=99 orderId="+o.id(), 404, 240)
		s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 price=99 orderId=7", 400, 205)
	}},
	{"4.4 clientOrderId", "names the order where both ids are given; one of the two must be", func(s *stage) {
		a, b := s.place("alice", "buy limit amount=1 price=100 clientOrderId="+named), s.place("alice",
			"buy limit amount=1 price=101")
		s.has(s.update("alice", b, "price=99 clientOrderId="+named), "orderId="+a.id(), "price=99",
			"clientOrderId="+named)
		s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 price=99", 400, 203)
	}},
	{"4.4 operatorId", "is required and is in the answer", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.refuse("alice", "PUT /order market=BTC-EUR price=99 orderId="+o.id(), 400, 203).says(s.t,
			"operatorId parameter is required.")
		s.has(s.one("alice", "PUT /order market=BTC-EUR operatorId=8 price=99 orderId="+o.id()), "operatorId:=8")
	}},
	{"4.4 amount", "the whole amount: it moves amountRemaining", func(s *stage) {
		o := s.partly()
		s.has(s.update("alice", o, "amount=3"), "amount=3", "amountRemaining=2", "filledAmount=1")
		s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 amount=1.123456789 orderId="+o.id(), 400, 429)
		s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 amount=1 orderId="+o.id(), 400, 205)
	}},
	{"4.4 amountQuote", "of takeProfit and stopLoss before the trigger", func(s *stage) {
		o := s.place("alice", "buy stopLoss amountQuote=50 triggerAmount=110")
		s.has(s.update("alice", o, "amountQuote=60.5"), "amountQuote=60.5", "amountQuoteRemaining=60.5")
		s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 amountQuote=60.555 orderId="+o.id(), 400, 429)
		limit := s.place("alice", "buy limit amount=1 price=100")
		s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 amountQuote=60 orderId="+limit.id(), 400, 239)
	}},
	{"4.4 amountRemaining", "what is left: it moves amount", func(s *stage) {
		s.has(s.update("alice", s.partly(), "amountRemaining=0.5"), "amount=1.5", "amountRemaining=0.5")
	}},
	{"4.4 price", "a multiple of tickSize", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.has(s.update("alice", o, "price=99.99"), "price=99.99")
		s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 price=99.999 orderId="+o.id(), 400, 422)
	}},
	{"4.4 triggerAmount", "of orders that are not yet triggered", func(s *stage) {
		s.trade("1", "100")
		o := s.place("alice", "sell stopLossLimit amount=1 price=150 triggerAmount=90")
		s.has(s.update("alice", o, "triggerAmount=80"), "triggerAmount=80", "triggerPrice=80", "status=awaitingTrigger")
		s.trade("1", "80")
		s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 triggerAmount=70 orderId="+o.id(), 400, 202)
		limit := s.place("alice", "buy limit amount=1 price=70")
		s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 triggerAmount=70 orderId="+limit.id(), 400, 202)
	}},
	{"4.4 timeInForce", "GTC, IOC or FOK: an order that may not rest any more ends", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.has(s.update("alice", o, "timeInForce=IOC"), "status=expired", "timeInForce=IOC")
	}},
	{"4.4 FOK", "fills the whole order or nothing of it, whatever stands in its way: too little on offer, money, a " +
		"price protection, an own order", func(s *stage) {
		s = newStage(s.t, func(c *Config) { c.Accounts[0].Balances["EUR"] = "250" })
		s.place("bob", "sell limit amount=1 price=100")
		s.place("alice", "sell limit amount=1 price=150")
		s.place("bob", "sell limit amount=1 price=200")
		for _, none := range []string{
			"limit amount=2.1 price=100",
			"market amount=2", // its hold is reckoned at the best price, and all of it costs more
			"limit amount=1.2 price=200 selfTradePrevention=cancelNewest",
		} {
			s.has(s.place("alice", "buy "+none+" timeInForce=FOK"), "status=expired", "filledAmount=0",
				"-restatementReason")
		}
		s.has(s.place("alice", "buy market amountQuote=240 timeInForce=FOK selfTradePrevention=cancelOldest"),
			"status=filled", "amountQuoteRemaining=0")
		guarded := newStage(s.t, func(c *Config) { c.Rules.ExecutionLimit = 10_000_000 })
		guarded.place("bob", "sell limit amount=1 price=100")
		guarded.place("bob", "sell limit amount=1 price=111")
		guarded.has(guarded.place("alice", "buy limit amount=2 price=200 timeInForce=FOK"), "status=canceled",
			"restatementReason=cancelOnExecutionPriceProtection", "filledAmount=0")
	}},
	{"4.4 selfTradePrevention", "decrementAndCancel where it is left out", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100 selfTradePrevention=cancelBoth")
		s.has(s.update("alice", o, "price=99 selfTradePrevention=cancelOldest"), "selfTradePrevention=cancelOldest")
		s.has(s.update("alice", o, "price=98"), "selfTradePrevention=decrementAndCancel")
	}},
	{"4.4 postOnly", "as in create, false where it is left out", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100 postOnly=true")
		s.has(s.update("alice", o, "price=99"), "postOnly:=false")
		s.place("bob", "sell limit amount=1 price=100")
		s.has(s.update("alice", o, "price=100 postOnly=true"), "status=canceled", "restatementReason=cancelPostOnly",
			"filledAmount=0")
	}},
	{"4.4 responseRequired", "false answers market, ids and times", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100 clientOrderId="+named)
		short := s.update("alice", o, "price=99 responseRequired=false")
		require.Len(s.t, short, 7)
		s.has(short, "market=BTC-EUR", "orderId="+o.id(), "clientOrderId="+named, "created#", "updated#", "createdNs#",
			"updatedNs#")
	}},
	{"4.4 response", "fills of this request only, with operatorId, times and, where there are, restatementReason and " +
		"codGroupId", func(s *stage) {
		o := s.place("alice", "buy limit amount=2 price=100 codGroupId=4")
		s.place("bob", "sell limit amount=1 price=100")
		moved := s.update("alice", o, "price=99")
		require.Empty(s.t, moved.fills())
		s.has(moved, "operatorId:=7", "createdNs#", "updatedNs#", "codGroupId:=4", "-restatementReason",
			"filledAmount=1")
		s.place("bob", "sell limit amount=0.25 price=102")
		require.Len(s.t, s.update("alice", o, "price=102").fills(), 1)
	}},
	{"4.4 unchanged", "an update that names nothing to change is 232; a value that stays as it is counts as a change",
		func(s *stage) {
			o := s.place("alice", "buy limit amount=1 price=100")
			s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 orderId="+o.id(), 400, 232)
			s.has(s.update("alice", o, "price=100"), "price=100", "status=new")
		}},

	{"4.5 ordersOpen", "answers an empty list of fills", func(s *stage) {
		s.partly()
		s.has(s.rows("alice", "GET /ordersOpen")[0], "fills:=[]", "filledAmount=1")
	}},
	{"4.5 book", "takes a depth of 1 to 1000", func(s *stage) {
		s.place("alice", "buy limit amount=1 price=100")
		s.place("alice", "buy limit amount=1 price=99")
		s.get("/BTC-EUR/book?depth=1").ok(s.t).says(s.t, `"bids":[["100","1"]]`)
		s.get("/BTC-EUR/book?depth=1000").ok(s.t)
		s.outOfBounds("GET /BTC-EUR/book depth=", "0", "1001", "-5", "x", "")
	}},
	{"4.5 trades", "has no tradeId any more: 204", func(s *stage) {
		s.refuse("alice", "GET /trades market=BTC-EUR tradeId="+named, 400, 204)
		s.refuse("", "GET /BTC-EUR/trades tradeId="+named, 400, 204)
	}},
}

// partly is an order of alice for 2 of which 1 is filled.
func (s *stage) partly() row {
	o := s.place("alice", "buy limit amount=2 price=100")
	s.place("bob", "sell limit amount=1 price=100")
	s.has(s.again("alice", o), "status=partiallyFilled")
	return o
}
