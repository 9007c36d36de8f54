package sandbox

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
)

// accessRules are section 5, and section 6 of which nothing is here.
var accessRules = []rule{
	{"5 Service-Access-Key", "the API key: without it 300", func(s *stage) {
		request := s.request("alice", "GET", "/balance", "")
		request.Header.Del("Service-Access-Key")
		s.do(request).refused(s.t, 403, 300)
		request.Header.Set("sErViCe-aCcEsS-kEy", rigKey("alice")) // names of headers have no case
		s.do(request).ok(s.t)
	}},
	{"5 Service-Access-Timestamp", "Unix milliseconds: without it 300, of another unit 302", func(s *stage) {
		request := s.request("alice", "GET", "/balance", "")
		request.Header.Set("Service-Access-Timestamp", "1767614415")
		s.do(request).refused(s.t, 403, 302)
		request.Header.Del("Service-Access-Timestamp")
		s.do(request).refused(s.t, 403, 300)
	}},
	{"5 Service-Access-Signature", "HMAC-SHA256 in hex: without it 300, of another length 308, wrong 309",
		func(s *stage) {
			for signed, code := range map[string]int{"": 300, "abc": 308, strings.Repeat("0", 64): 309} {
				request := s.request("alice", "GET", "/balance", "")
				request.Header.Set("Service-Access-Signature", signed)
				s.do(request).refused(s.t, 403, code)
			}
		}},
	{"5 Service-Access-Window", "milliseconds after the timestamp, 10000 by default, 60000 at most", func(s *stage) {
		for _, c := range []struct {
			window string
			age    time.Duration
			code   int
		}{{"", 10 * time.Second, 0}, {"", 10*time.Second + time.Millisecond, 304}, {"60000", time.Minute, 0}, {"60001",
			0, 303}, {"100", 100 * time.Millisecond, 0}, {"99", 0, 303}, {"500", 501 * time.Millisecond, 304}} {
			request := s.request("alice", "GET", "/balance", "")
			if c.window != "" {
				request.Header.Set("Service-Access-Window", c.window)
			}
			s.pass(c.age)
			if a := s.do(request); c.code == 0 {
				a.ok(s.t)
			} else {
				a.refused(s.t, 403, c.code)
			}
		}
	}},
	{"5 rule 1", "signed is timestamp, METHOD, path with /v2 and query, body, one after the other", func(s *stage) {
		s.signedAs("GET", "/balance?symbol=EUR", "", "GET/v2/balance?symbol=EUR", 0)
		s.signedAs("GET", "/balance?symbol=EUR", "", "GET/v2/balance", 309)
		s.signedAs("GET", "/balance?symbol=EUR", "", "get/v2/balance?symbol=EUR", 309)
		s.signedAs("GET", "/balance?symbol=%45UR", "", "GET/v2/balance?symbol=%45UR", 0) // as sent
		s.signedAs("GET", "/balance?symbol=%45UR", "", "GET/v2/balance?symbol=EUR", 309) // not what it means
	}},
	{"5 rule 2", "the body counts exactly as sent; an empty one adds nothing", func(s *stage) {
		const body = `{"codGroupId":1,"expiryAfterSeconds":30}`
		s.signedAs("POST", "/cancelOrdersAfter", body, "POST/v2/cancelOrdersAfter"+body, 0)
		s.signedAs("POST", "/cancelOrdersAfter", body, "POST/v2/cancelOrdersAfter", 309)
		s.signedAs("POST", "/cancelOrdersAfter", body, "POST/v2/cancelOrdersAfter"+strings.Replace(body, "30", "31", 1),
			309)
	}},
	{"5 rule 3", "the key of the HMAC is the secret of the API key, its output hex", func(s *stage) {
		request := s.request("alice", "GET", "/balance", "")
		request.Header.Set("Service-Access-Signature", strings.ToUpper(request.Header.Get("Service-Access-Signature")))
		s.do(request).ok(s.t)
		request.Header.Set("Service-Access-Key", rigKey("bob"))
		s.do(request).refused(s.t, 403, 309)
	}},
	{"5 rule 4", "the timestamp is signed as it stands in the header", func(s *stage) {
		request := s.request("alice", "GET", "/balance", "")
		stamp := request.Header.Get("Service-Access-Timestamp")
		request.Header.Set("Service-Access-Timestamp", "0"+stamp)
		s.do(request).refused(s.t, 403, 309)
	}},
	{"5 Read-only", "account and transfer information; without it 311", func(s *stage) {
		s.needs(func(k *api.Key) { k.Read = false }, 311, "GET /balance", "GET /account", "GET /account/fees",
			"GET /account/history", "GET /deposit symbol=BTC", "GET /depositHistory", "GET /withdrawalHistory",
			"GET /stakingBalance", "GET /order market=BTC-EUR orderId="+named, "GET /orders market=BTC-EUR",
			"GET /ordersOpen",
			"GET /trades market=BTC-EUR")
	}},
	{"5 Trade digital assets", "placing, updating, viewing and cancelling orders; without it 310", func(s *stage) {
		s.needs(func(k *api.Key) { k.Trade = false }, 310, orderLine("buy limit amount=1 price=100"), "PUT /order",
			"DELETE /order", "DELETE /orders", "DELETE /atomic/orders", "POST /cancelOrdersAfter",
			"GET /order market=BTC-EUR orderId="+named, "GET /orders market=BTC-EUR", "GET /ordersOpen",
			"GET /trades market=BTC-EUR")
	}},
	{"5 Withdraw digital assets", "withdrawals; without it 312; no further confirmation is asked for", func(s *stage) {
		s.needs(func(k *api.Key) { k.Withdraw = false }, 312,
			"POST /withdrawal symbol=BTC amount=1 address=bc1q0000000000000000", "POST /crypto/withdrawal")
		s.ask("alice", "POST /withdrawal symbol=BTC amount=1 address=bc1q0000000000000000").ok(s.t)
		s.pass(30 * time.Second)
		s.has(s.rows("alice", "GET /withdrawalHistory")[0], "status=in_mempool")
	}},
	{"5 replay", "a request that comes again within its window is carried out again: there is no nonce",
		func(s *stage) {
			request := s.request("alice", "GET", "/balance", "")
			s.do(request).ok(s.t)
			s.do(request).ok(s.t)
		}},
	{"6", "order and fill events come on the channel account of the socket", func(s *stage) {
		c := dial(s.t, s.rig)
		c.authenticate(s.rig, "alice")
		c.ask(`{"action":"subscribe","channels":[{"name":"account","markets":"*"}]}`)
		s.place("alice", "buy limit amount=1 price=100")
		require.Contains(s.t, c.hear(), `"executionType":"new"`)
	}},
}

// signedAs sends a request whose signature is that of the timestamp and a message.
func (s *stage) signedAs(method, path, body, message string, code int) {
	s.t.Helper()
	request := s.request("alice", method, path, body)
	stamp := request.Header.Get("Service-Access-Timestamp")
	request.Header.Set("Service-Access-Signature", signature("secret of alice", stamp, message, "", ""))
	if a := s.do(request); code == 0 {
		a.ok(s.t)
	} else {
		a.refused(s.t, 403, code)
	}
}

// needs requires that requests are refused with a code where the key lacks a right.
func (s *stage) needs(lose func(*api.Key), code int, lines ...string) {
	s.t.Helper()
	poor := newStage(s.t, func(c *Config) { lose(&c.Accounts[0].Keys[0]) })
	for _, line := range lines {
		poor.refuse("alice", line, 403, code)
		require.NotEqual(s.t, 403, s.ask("alice", line).status, line)
	}
}

// errorRules are sections 7 and 8. The codes of each endpoint are in conformance_codes_test.go.
var errorRules = []rule{
	{"7 body", "an object of an integer errorCode and a text error, in the form that names the parameter",
		func(s *stage) {
			refusal := s.refuse("alice", orderLine("buy limit amount=x price=100"), 400, 205)
			require.JSONEq(s.t, `{"errorCode":205,"error":"amount parameter is invalid."}`, refusal.body)
		}},
	{"7 200", "success", func(s *stage) { s.get("/time").ok(s.t) }},
	{"7 400", "a malformed request or invalid parameters", func(s *stage) {
		for _, body := range []string{`{"market":`, `[]`, `null`, `"x"`, `{}{}`, `{"a":1,}`, "{\"a\":\"\x01\"}", "\xff",
			`{'a':1}`, ` `} {
			s.send("alice", "POST", "/order", body).refused(s.t, 400, 102)
		}
		s.send("alice", "POST", "/order", `{}`).refused(s.t, 400, 203)
	}},
	{"7 403", "not allowed: credentials and permissions", func(s *stage) { s.get("/balance").refused(s.t, 403, 300) }},
	{"7 409", "the book of a market that is not trading", func(s *stage) {
		s.become(market.Halted, 0)
		s.get("/BTC-EUR/book").refused(s.t, 409, 431)
	}},
	{"7 429", "rate-limited", func(s *stage) { s.exhausted("alice").refused(s.t, 429, 105) }},
	{"7 500", "a problem of the server: 101, the outcome is unknown", func(s *stage) {
		s.ex.onPanic = nil
		broken := *s.ex.listings[1]
		s.ex.listings[1] = nil
		s.get("/BTC-EUR/trades").refused(s.t, 500, 101)
		s.ex.listings[1] = &broken
		s.get("/BTC-EUR/trades").ok(s.t)
	}},
	{"7 503", "the service is unavailable: on demand, by faults", func(s *stage) {
		s.injected(503, 107, 108, 109, 111, 430)
	}},
	{"7 205", "an invalid parameter; the message names it", func(s *stage) {
		s.refuse("", "GET /BTC-EUR/candles interval=2m", 400, 205).says(s.t, "interval parameter is invalid.")
	}},
	{"7 429", "too many decimals come with 400", func(s *stage) {
		s.refuse("alice", orderLine("buy limit amount=1.0000000001 price=100"), 400, 429)
	}},
	{"7 430", "503: no market data events; on demand, by faults", func(s *stage) { s.injected(503, 430) }},
	{"7 431", "a market that is not trading; its book answers 409, since 503 was replaced", func(s *stage) {
		s.become(market.Auction, 0)
		s.get("/BTC-EUR/book").refused(s.t, 409, 431)
	}},

	{"8 Open orders per market", "100, told as maxOpenOrders", func(s *stage) {
		s.has(s.one("", "GET /markets market=BTC-EUR"), "maxOpenOrders:=100")
	}},
	{"8 Weight points: create order", "1", costs(1, orderLine("buy limit amount=1 price=100"))},
	{"8 Weight points: get order", "1", costs(1, "GET /order market=BTC-EUR orderId="+named)},
	{"8 Weight points: update order", "1", costs(1, "PUT /order market=BTC-EUR operatorId=7 price=1 orderId="+named)},
	{"8 Weight points: list orders", "5", costs(5, "GET /orders market=BTC-EUR")},
	{"8 Access window", "10000 ms, at most 60000", func(s *stage) {
		request := s.request("alice", "GET", "/balance", "")
		s.pass(10_001 * time.Millisecond)
		s.do(request).refused(s.t, 403, 304)
		request.Header.Set("Service-Access-Window", "60000")
		s.do(request).ok(s.t)
		request.Header.Set("Service-Access-Window", "60001")
		s.do(request).refused(s.t, 403, 303)
	}},
	{"8 List orders, limit parameter", "1 to 1000",
		func(s *stage) { s.outOfBounds("GET /orders market=BTC-EUR limit=", "0", "1001") }},
	{"8 Order book depth per request", "at most 1000",
		func(s *stage) { s.outOfBounds("GET /BTC-EUR/book depth=", "0", "1001") }},
	{"8 codGroupId", "1 to 1000", func(s *stage) {
		s.refuse("alice", "POST /cancelOrdersAfter codGroupId=0 expiryAfterSeconds=30", 400, 205)
		s.refuse("alice", "POST /cancelOrdersAfter codGroupId=1001 expiryAfterSeconds=30", 400, 205)
	}},
	{"8 Start timestamp of list orders", "at least 0",
		func(s *stage) { s.outOfBounds("GET /orders market=BTC-EUR start=", "-1") }},
	{"8 End timestamp of list orders", "at most 8640000000000000",
		func(s *stage) { s.outOfBounds("GET /orders market=BTC-EUR end=", "8640000000000001") }},
	{"8 service-ratelimit-remaining", "points left, on every answer, also 400, 403, 404, 409 and 429", func(s *stage) {
		s.become(market.Halted, 0)
		for line, status := range map[string]int{"GET /time": 200, "GET /time x=1": 400, "GET /balance": 403,
			"GET /nothing": 404, "GET /BTC-EUR/book": 409} {
			a := s.ask("", line)
			require.Equal(s.t, status, a.status, line)
			s.rateHeaders(a)
		}
		require.Equal(s.t, 490, s.ask("", "GET /time").remaining(s.t))
		s.rateHeaders(s.exhausted("alice"))
	}},
	{"8 service-ratelimit-resetat", "when remaining is the limit again: integer of Unix milliseconds, in the future",
		func(s *stage) {
			require.Equal(s.t, "1767614460000", s.get("/time").header.Get("Service-Ratelimit-Resetat"))
		}},
	{"8 service-ratelimit-limit", "points of a minute", func(s *stage) {
		require.Equal(s.t, "500", s.get("/time").header.Get("Service-Ratelimit-Limit"), "fewer than a key has")
		require.Equal(s.t, "1000", s.ask("alice", "GET /time").header.Get("Service-Ratelimit-Limit"))
		s.pass(45 * time.Second)
		require.Equal(s.t, 499, s.get("/time").remaining(s.t))
	}},
	{"8 addresses", "requests without credentials are counted by IP address, apart from the keys, and may have a " +
		"budget of their own", func(s *stage) {
		less := newStage(s.t, func(c *Config) { c.Budget.PerIP = 100 })
		require.Equal(s.t, "100", less.get("/time").header.Get("Service-Ratelimit-Limit"))
		require.Equal(s.t, 999, less.send("alice", "GET", "/time", "").remaining(s.t))
		request := less.request("", "GET", "/time", "")
		request.RemoteAddr = "192.0.2.77:1"
		require.Equal(s.t, 99, less.do(request).remaining(s.t))
		require.Equal(s.t, 98, less.get("/time").remaining(s.t))
	}},
}

// costs requires the weight of a request, whatever it answers.
func costs(weight int, line string) func(*stage) {
	return func(s *stage) { require.Equal(s.t, 1000-weight, s.ask("alice", line).remaining(s.t), line) }
}

// exhausted asks as an account until it is banned, and returns that answer.
func (s *stage) exhausted(account string) answer {
	for range 10 {
		s.ask(account, "GET /ordersOpen").ok(s.t) // 100 points
	}
	return s.ask(account, "GET /account")
}

// injected requires that faults on demand are answered with their code, and that nothing was
// carried out.
func (s *stage) injected(status int, codes ...int) {
	for _, code := range codes {
		s.strike(fault.Fault{Kind: fault.Error, Code: code})
		s.rateHeaders(s.refuse("alice", orderLine("buy limit amount=1 price=100"), status, code))
		s.strike()
		require.Empty(s.t, s.rows("alice", "GET /ordersOpen market=BTC-EUR"))
	}
}
