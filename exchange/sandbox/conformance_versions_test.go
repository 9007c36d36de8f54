package sandbox

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
)

// versionRules are section 9: what the release notes say has changed. What is of the WebSocket
// alone is not part of this exchange.
var versionRules = []rule{
	{"9 version", "is the prefix /v2",
		func(s *stage) { s.do(httptest.NewRequest("GET", "/v1/time", nil)).refused(s.t, 404, 110) }},
	{"9 Account-management and subaccount interfaces added",
		"not part of this exchange: paths are known, methods, parameters and answers are not", func(s *stage) {
			s.refuse("alice", "GET /subaccounts", 404, 110)
		}},
	{"9 Tick size validation: price must be a multiple of the market tickSize, otherwise an error", "422",
		ruleOf("4.1 rule 4")},
	{"9 pricePrecision of markets always null, to be removed", "null", ruleOf("2.3 pricePrecision")},
	{"9 Cancel on disconnect: cancels open orders after a period without client activity; groups of orders via " +
		"codGroupId", "at the end of the timer, with cancelOnDisconnect", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100 codGroupId=1")
		other := s.place("alice", "buy limit amount=1 price=100")
		s.has(s.one("alice", "POST /cancelOrdersAfter codGroupId=1 expiryAfterSeconds=10"), "codGroupId:=1",
			"timeOfExpirySeconds:=1767614425")
		s.pass(10*time.Second - 1)
		s.has(s.again("alice", o), "status=new")
		s.pass(1)
		s.has(s.again("alice", o), "status=canceled", "restatementReason=cancelOnDisconnect")
		s.has(s.again("alice", other), "status=new")
	}},
	{"9 createdNs, updatedNs on get-order and get-orders responses", "are there", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.has(s.again("alice", o), "createdNs#", "updatedNs#")
		s.has(s.rows("alice", "GET /orders market=BTC-EUR")[0], "createdNs#", "updatedNs#")
	}},
	{"9 Nanosecond timestamps: timeNs (server time), createdNs/updatedNs (create, update, open orders responses), " +
		"timestampNs (trades and fill events); the millisecond fields are to be deprecated with advance notice",
		"are there beside the milliseconds", func(s *stage) {
			s.has(s.one("", "GET /time"), "time#", "timeNs#")
			o := s.place("alice", "buy limit amount=1 price=100")
			s.has(o, "created#", "createdNs#", "updatedNs#")
			s.has(s.update("alice", o, "price=99"), "updated#", "updatedNs#")
			s.has(s.rows("alice", "GET /ordersOpen")[0], "createdNs#", "updatedNs#")
		}},
	{"9 Ticker price without price returns 200 with null", "200 and null", ruleOf("2.4 ticker price")},
	{"9 Completed order statuses limited to filled, expired, canceled; restatementReason added", "no other end",
		ruleOf("3.1 completed")},
	{"9 filledAmount, filledAmountQuote and executionType in WebSocket order events", "are there",
		ruleOf("6")},
	{"9 MiCA report endpoints for order book and trades", "are there", ruleOf("1 reports")},
	{"9 HTTP 409 instead of 503 for order book of a non-trading market", "409", ruleOf("7 409")},
	{"9 operatorId required in create and other order requests",
		"POST, PUT and DELETE of orders: 203; of DELETE a setting may let it be left out", func(s *stage) {
			for _, line := range []string{"POST /order market=BTC-EUR side=buy orderType=limit amount=1 price=100",
				"PUT /order market=BTC-EUR price=1 orderId=" + named, "DELETE /order market=BTC-EUR orderId=" +
					named, "DELETE /orders"} {
				s.refuse("alice", line, 400, 203).says(s.t, "operatorId parameter is required.")
			}
			lenient := newStage(s.t, func(c *Config) { c.Rules.OperatorOptional = true })
			lenient.ask("alice", "DELETE /orders").ok(s.t)
			lenient.refuse("alice", "PUT /order market=BTC-EUR price=1 orderId="+named, 400, 203)
		}},
	{"9 orderId query parameter of list orders and tradeId query parameter of get trades removed", "204",
		func(s *stage) {
			ruleOf("4.3 orderId")(s)
			ruleOf("4.5 trades")(s)
		}},
	{"9 Timestamps in order book snapshots", "are there", ruleOf("2.4 book")},
	{"9 Markets response gains quantityDecimals, notionalDecimals, tickSize, maxOpenOrders, feeCategory", "are there",
		func(s *stage) {
			s.has(s.one("", "GET /markets market=ADA-EUR"), "quantityDecimals:=6", "notionalDecimals:=2",
				"tickSize=0.00001", "maxOpenOrders:=100", "feeCategory=B")
		}},
	{"9 Market statuses halted, auction, auctionMatching, cancelOnly added beside trading", "are told by their names",
		func(s *stage) {
			for status, name := range map[market.MarketStatus]string{market.Halted: "halted", market.Auction: "auction",
				market.AuctionMatching: "auctionMatching", market.CancelOnly: "cancelOnly", market.Trading: "trading"} {
				s.become(status, 0)
				s.has(s.one("", "GET /markets market=BTC-EUR"), "status="+name)
			}
		}},
	{"9 operatorId returned in responses when specified", "create, update, cancel", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.has(o, "operatorId:=7")
		require.Equal(s.t, `{"orderId":"`+o.id()+`","operatorId":9}`,
			s.ask("alice", "DELETE /order market=BTC-EUR operatorId=9 orderId="+o.id()).ok(s.t).body)
		lenient := newStage(s.t, func(c *Config) { c.Rules.OperatorOptional = true })
		o = lenient.place("alice", "buy limit amount=1 price=100")
		lenient.has(lenient.one("alice", "DELETE /order market=BTC-EUR orderId="+o.id()), "-operatorId")
	}},
	{"9 Error codes 429, 430, 431", "as in section 7", func(s *stage) { ruleOf("7 431")(s) }},
	{"9 Update order returns only fills generated by the request; clientOrderId uniqueness limited to open orders; " +
		"get balance returns only non-zero assets; order book depth at most 1000", "all four", func(s *stage) {
		for _, section := range []string{"4.4 response", "2.5 rule 1", "1 GET /balance",
			"8 Order book depth per request"} {
			ruleOf(section)(newStage(s.t))
		}
	}},
	{"9 Get open orders returns empty fills; disableMarketProtection ignored", "both", func(s *stage) {
		ruleOf("4.5 ordersOpen")(s)
		ruleOf("4.1 disableMarketProtection")(s)
	}},
	{"9 Transaction history endpoint; market fees endpoint", "are there", func(s *stage) {
		s.ask("alice", "GET /account/history").ok(s.t)
		s.ask("alice", "GET /account/fees market=BTC-EUR").ok(s.t)
	}},
	{"9 clientOrderId, WebSocket requestId", "both; a requestId comes back digit by digit", func(s *stage) {
		ruleOf("2.1 clientOrderId")(s)
		require.Contains(s.t, dial(s.t, s.rig).ask(`{"action":"getTime","requestId":12345678901234567}`),
			`"requestId":12345678901234567,`)
	}},
	{"9 Order types stopLoss, stopLossLimit, takeProfit, takeProfitLimit; account endpoints", "are there",
		ruleOf("4.1 rule 3")},
}

// ruleOf shows the rule of a section which is there already.
func ruleOf(section string) func(*stage) {
	return func(s *stage) {
		for _, rules := range [][]rule{serviceRules, endpointRules, orderRecordRules, recordRules, stateRules,
			createRules, readRules, updateRules, accessRules, errorRules} {
			for i := range rules {
				if rules[i].section == section {
					rules[i].show(s)
					return
				}
			}
		}
		require.Fail(s.t, "there is no rule of "+section)
	}
}

// banEnd returns when a ban ends, as its text says.
func (a answer) banEnd() (int64, error) {
	_, rest, _ := strings.Cut(a.body, " at ")
	text, _, _ := strings.Cut(rest, ".")
	return strconv.ParseInt(text, 10, 64)
}

// strike installs a script of faults; none is none.
func (s *stage) strike(faults ...fault.Fault) {
	s.ex.mu.Lock() // a socket's pump may be running
	defer s.ex.mu.Unlock()
	script, err := s.ex.loadFaults(faults, 1, s.ex.clock.Now())
	require.NoError(s.t, err)
	s.ex.install(script)
}
