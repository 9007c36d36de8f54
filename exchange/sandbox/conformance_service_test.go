package sandbox

import (
	"net/http/httptest"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

// serviceRules are the sentences of section 1.
var serviceRules = []rule{
	{"1 base", "requests go to /v2; the prefix is part of the signed path", func(s *stage) {
		s.get("/time").ok(s.t)
		for _, path := range []string{"/time", "/v1/time", "/V2/time", "/v2", "/v2/", "/"} {
			s.do(httptest.NewRequest("GET", path, nil)).refused(s.t, 404, 110)
		}
		request := s.request("", "GET", "/balance", "")
		s.sign(request, "alice", "")
		stamp := request.Header.Get("Service-Access-Timestamp")
		request.Header.Set("Service-Access-Signature", signature("secret of alice", stamp, "GET", "/balance", ""))
		s.do(request).refused(s.t, 403, 309)
	}},
	{"1 methods", "GET, POST, PUT and DELETE; any other method of a path is unknown", func(s *stage) {
		for _, method := range []string{"HEAD", "PATCH", "OPTIONS", "POST", "DELETE", "get"} {
			a := s.do(s.request("", method, "/time", ""))
			require.Equal(s.t, 404, a.status, method)
			s.rateHeaders(a)
		}
		s.refuse("alice", "GET /cancelOrdersAfter", 404, 110)
		s.refuse("alice", "PUT /orders", 404, 110)
	}},
	{"1 path parameters", "are replaced by the value, in capitals, with its escapes undone, and nothing follows them",
		func(s *stage) {
			s.get("/BTC-EUR/book").ok(s.t)
			s.get("/%42TC%2DEUR/book").ok(s.t)
			s.get("/btc-eur/book").refused(s.t, 400, 205).says(s.t, "market parameter is invalid.")
			s.get("/BTC-USD/book").refused(s.t, 400, 205).says(s.t, "market parameter is invalid.")
			s.get("/B%C3%9CTC-EUR/book").refused(s.t, 400, 205)
			s.get("/BTC-EUR/book/").refused(s.t, 404, 110)
			s.get("/BTC-EUR//book").refused(s.t, 404, 110)
			s.get("//book").refused(s.t, 404, 110)
		}},
	{"1 query parameters", "follow a question mark, percent-encoded or not; one that is empty, unknown or there " +
		"twice is refused", func(s *stage) {
		require.Equal(s.t, byte('{'), s.get("/markets?market=BTC%2DEUR").ok(s.t).body[0])
		require.Equal(s.t, byte('{'), s.get("/markets?%6Darket=BTC-EUR").ok(s.t).body[0])
		require.Equal(s.t, byte('['), s.get("/markets?").ok(s.t).body[0])
		s.get("/markets?market=").refused(s.t, 400, 205).says(s.t, "market parameter is invalid.")
		s.get("/markets?market").refused(s.t, 400, 205)
		s.get("/markets?market=BTC-EUR&market=BTC-EUR").refused(s.t, 400, 205)
		s.get("/markets?Market=BTC-EUR").refused(s.t, 400, 204).says(s.t, "Market parameter is not supported.")
		s.get("/markets?market=%ZZ").refused(s.t, 400, 205)
		s.get("/markets?%C3%A9t%C3%A9=1").refused(s.t, 400, 204).says(s.t, "été parameter")
		s.get("/markets?market=%FF").refused(s.t, 400, 205)
		s.get("/BTC-EUR/book?depth=+5").refused(s.t, 400, 205)
		s.get("/BTC-EUR/book?depth=5.0").refused(s.t, 400, 205)
	}},
	{"1 body parameters", "are those of POST and PUT: a body elsewhere is refused, and so is a query there",
		func(s *stage) {
			s.send("alice", "GET", "/balance", `{"symbol":"EUR"}`).refused(s.t, 400, 201)
			s.send("alice", "DELETE", "/orders", `{"operatorId":7}`).refused(s.t, 400, 201)
			s.send("alice", "POST", "/order?market=BTC-EUR", `{}`).refused(s.t, 400, 200)
		}},
	{"1 body size", "at most 64 KiB: more is 102, and the connection goes on", func(s *stage) {
		most := `{"market":"BTC-EUR"}` + strings.Repeat(" ", api.MaxBody-len(`{"market":"BTC-EUR"}`))
		s.send("alice", "POST", "/order", most).refused(s.t, 400, 203)
		s.rateHeaders(s.send("alice", "POST", "/order", most+" ").refused(s.t, 400, 102).says(s.t, "65536 bytes"))
		s.get("/time").ok(s.t)
	}},
	{"1 Content-Type", "application/json on every request; what has a body is refused without it, the rest where the " +
		"setting is strict", func(s *stage) {
		request := s.request("alice", "POST", "/order", `{}`)
		request.Header.Del("Content-Type")
		s.do(request).refused(s.t, 400, 102)
		request = s.request("", "GET", "/time", "")
		request.Header.Del("Content-Type")
		s.do(request).ok(s.t)
		strict := newStage(s.t, func(c *Config) { c.Rules.Strict = true })
		request = strict.request("", "GET", "/time", "")
		request.Header.Del("Content-Type")
		strict.do(request).refused(s.t, 400, 102)
	}},
	{"1 credentials", "public endpoints need none, private ones do", func(s *stage) {
		for i := range listed {
			e := &listed[i]
			a := s.do(s.request("", e.Method, strings.ReplaceAll(e.Path, "{market}", "BTC-EUR"), ""))
			require.Equal(s.t, e.Needs != 0, a.status == 403, "%s %s: %s", e.Method, e.Path, a.body)
		}
	}},
	{"1 answers", "are JSON: a success its resource, a refusal an object of errorCode and error", func(s *stage) {
		a := s.get("/time").ok(s.t)
		require.Equal(s.t, "application/json", a.header.Get("Content-Type"))
		a = s.get("/nothing").refused(s.t, 404, 110)
		require.Equal(s.t, "application/json", a.header.Get("Content-Type"))
		require.Equal(s.t, `{"errorCode":110,"error":"Invalid endpoint. Please check url and HTTP method."}`, a.body)
	}},
	{"1 values", "amounts and prices are texts, times integers, in every answer", func(s *stage) {
		s.trade("1", "100")
		s.place("alice", "sell stopLossLimit amount=1 price=80 triggerAmount=90 codGroupId=1")
		s.ask("alice", "POST /withdrawal symbol=BTC amount=1 address=bc1q0000000000000000").ok(s.t)
		for i := range listed {
			e := &listed[i]
			if e.Method != "GET" || e.Path == "/order" {
				continue
			}
			path := strings.ReplaceAll(e.Path, "{market}", "BTC-EUR")
			for _, p := range e.Params {
				switch {
				case p.Required && p.Name == "interval":
					path += "?interval=1m"
				case p.Required && p.Name == "symbol":
					path += "?symbol=BTC"
				case p.Required && !p.InPath:
					path += "?market=BTC-EUR"
				}
			}
			s.valuesIn(e.Path, decoded[any](s, s.send("alice", "GET", path, "")))
		}
	}},
}

// valuesIn requires of every member of an answer that amounts, prices and fees are texts (or null)
// and times integers.
func (s *stage) valuesIn(path string, value any) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			s.valuesIn(path, one)
		}
	case map[string]any:
		for name, member := range v {
			switch name {
			case "amount", "amountRemaining", "price", "available", "inOrder", "onHold", "filledAmount", "feePaid",
				"fee", "volume", "volumeQuote", "bid", "ask", "bidSize", "askSize",
				"open", "high", "low", "last", "triggerPrice", "triggerAmount", "tickSize", "minOrderInBaseAsset",
				"taker", "maker", "withdrawalFee", "quantity":
				if _, flag := member.(bool); flag && name == "taker" {
					continue // of a fill: who took
				}
				require.True(s.t, member == nil || isText(member), "%s: %s is %T", path, name, member)
			case "time", "timestamp", "created", "updated", "createdNs", "updatedNs", "timeNs", "nonce",
				"openTimestamp", "closeTimestamp", "startTimestamp":
				if member != nil { // of a day without trades
					s.has(v, name+"#")
				}
			}
			s.valuesIn(path, member)
		}
	}
}

func isText(value any) bool {
	_, ok := value.(string)
	return ok
}

// endpointRules are the endpoints of section 1 and what each is for. Their fields are in
// venue-facts.
var endpointRules = []rule{
	{"1 GET /{market}/book", "the order book of a market, best levels first", func(s *stage) {
		s.place("alice", "buy limit amount=1 price=99")
		s.place("alice", "buy limit amount=2 price=100")
		s.place("bob", "sell limit amount=3 price=102")
		s.place("bob", "sell limit amount=4 price=101.5")
		s.get("/BTC-EUR/book").ok(s.t).says(s.t, `"bids":[["100","2"],["99","1"]],"asks":[["101.5","4"],["102","3"]]`)
	}},
	{"1 GET /{market}/trades", "recent public trades of a market, newest first, with the taker's side", func(s *stage) {
		s.trade("1", "100")
		s.trade("2", "101")
		list := s.rows("", "GET /BTC-EUR/trades")
		require.Len(s.t, list, 2)
		s.has(list[0], "amount=2", "price=101", "side=sell")
	}},
	{"1 GET /ticker/price", "the latest price, a list of all markets or one object", oneOrAll("/ticker/price")},
	{"1 GET /ticker/book", "best bid and ask, a list of all markets or one object", oneOrAll("/ticker/book")},
	{"1 GET /{market}/candles", "candles, newest first", func(s *stage) {
		s.trade("1", "100")
		s.pass(2 * time.Minute)
		s.trade("2", "101")
		require.Equal(s.t, `[[1767614520000,"101","101","101","101","2"],[1767614400000,"100","100","100","100","1"]]`,
			s.get("/BTC-EUR/candles?interval=1m").ok(s.t).body)
	}},
	{"1 GET /ticker/24h", "statistics of 24 hours, a list of all markets or one object", oneOrAll("/ticker/24h")},
	{"1 GET /time", "the exchange's time",
		func(s *stage) { s.has(s.one("", "GET /time"), "time:=1767614415000", "timeNs:=1767614415000000000") }},
	{"1 GET /markets", "a list of all markets or one object", oneOrAll("/markets")},
	{"1 GET /assets", "a list of all assets or one object", func(s *stage) {
		require.Len(s.t, s.rows("", "GET /assets"), 4)
		s.has(s.one("", "GET /assets symbol=BTC"), "symbol=BTC")
		s.refuse("", "GET /assets symbol=DOGE", 400, 205).says(s.t, "symbol parameter is invalid.")
	}},
	{"1 POST /order", "places an order",
		func(s *stage) { s.has(s.place("alice", "buy limit amount=1 price=100"), "status=new") }},
	{"1 PUT /order", "updates an order", func(s *stage) {
		s.has(s.update("alice", s.place("alice", "buy limit amount=1 price=100"), "price=99"), "price=99")
	}},
	{"1 GET /order", "is one order", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		require.Equal(s.t, o, s.again("alice", o))
	}},
	{"1 DELETE /order", "cancels an open order", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.ask("alice", "DELETE /order market=BTC-EUR operatorId=7 orderId="+o.id()).ok(s.t)
		s.has(s.again("alice", o), "status=canceled", "-restatementReason", "onHold=0")
	}},
	{"1 GET /ordersOpen", "the open orders, of a market or of all", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.place("alice", "buy limit amount=1 price=100 timeInForce=IOC")
		for _, query := range []string{"", " market=BTC-EUR", " base=BTC"} {
			require.Equal(s.t, []row{o}, s.rows("alice", "GET /ordersOpen"+query))
		}
		require.Empty(s.t, s.rows("alice", "GET /ordersOpen market=ETH-EUR"))
	}},
	{"1 GET /trades", "the account's trades of a market", func(s *stage) {
		bid, _ := s.trade("1", "100")
		list := s.rows("alice", "GET /trades market=BTC-EUR")
		require.Len(s.t, list, 1)
		s.has(list[0], "orderId="+bid.id(), "side=buy", "taker:=false")
	}},
	{"1 GET /orders", "the account's orders of a market", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.place("bob", "buy limit amount=1 price=100")
		require.Equal(s.t, []row{o}, s.rows("alice", "GET /orders market=BTC-EUR"))
	}},
	{"1 DELETE /orders", "cancels the open orders of a market or of the whole account", func(s *stage) {
		s.place("alice", "buy limit amount=1 price=100")
		s.one("alice", "POST /order market=ETH-EUR operatorId=7 side=buy orderType=limit amount=1 price=100")
		kept := s.place("bob", "buy limit amount=1 price=100")
		require.Len(s.t, s.rows("alice", "DELETE /orders market=BTC-EUR operatorId=7"), 1)
		require.Len(s.t, s.rows("alice", "DELETE /orders operatorId=7"), 1)
		require.Empty(s.t, s.rows("alice", "DELETE /orders operatorId=7"))
		require.Equal(s.t, []row{kept}, s.rows("bob", "GET /ordersOpen"))
	}},
	{"1 GET /deposit", "how to deposit an asset", func(s *stage) {
		s.has(s.one("alice", "GET /deposit symbol=BTC"), "address$")
		s.has(s.one("alice", "GET /deposit symbol=EUR"), "iban$", "bic$", "description$")
	}},
	{"1 GET /depositHistory", "the deposits", func(s *stage) {
		_, refusal := s.ex.bank.deposit("alice", "EUR", "100", s.ex.clock.Now())
		require.Nil(s.t, refusal)
		s.has(s.rows("alice", "GET /depositHistory")[0], "symbol=EUR", "amount=100", "status=completed")
	}},
	{"1 POST /withdrawal", "requests a withdrawal", func(s *stage) {
		s.has(s.one("alice", "POST /withdrawal symbol=BTC amount=1 address=bc1q0000000000000000"), "success:=true")
		s.has(s.rows("alice", "GET /balance symbol=BTC")[0], "available=999")
	}},
	{"1 GET /withdrawalHistory", "the withdrawals", func(s *stage) {
		s.ask("alice", "POST /withdrawal symbol=BTC amount=1 address=bc1q0000000000000000").ok(s.t)
		s.has(s.rows("alice", "GET /withdrawalHistory")[0], "symbol=BTC", "status=awaiting_processing")
	}},
	{"1 GET /account", "the account with its fee tier", func(s *stage) {
		s.has(s.one("alice", "GET /account")["fees"].(map[string]any), "taker=0.0025", "maker=0.0015", "volume=0.00")
	}},
	{"1 GET /balance", "balances above 0 only", func(s *stage) {
		poor := newStage(s.t, func(c *Config) { c.Accounts[0].Balances = map[string]string{"EUR": "100", "BTC": "0"} })
		require.Equal(s.t, `[{"symbol":"EUR","available":"100","inOrder":"0"}]`, poor.ask("alice", "GET /balance").
			ok(s.t).body)
		require.Equal(s.t, `[]`, poor.ask("alice", "GET /balance symbol=BTC").ok(s.t).body)
	}},
	{"1 GET /account/fees", "the trading fees",
		func(s *stage) { s.has(s.one("alice", "GET /account/fees"), "taker=0.0025", "maker=0.0015") }},
	{"1 GET /account/history", "transactions, by type and by date", func(s *stage) {
		s.trade("1", "100")
		s.pass(time.Second)
		s.ask("alice", "POST /withdrawal symbol=BTC amount=1 address=bc1q0000000000000000").ok(s.t)
		for query, count := range map[string]int{"": 2, " type=buy": 1, " type=sell": 0, " fromDate=1767614416000": 1,
			" toDate=1767614415000": 1, " fromDate=1767614415000 toDate=1767614416000": 2} {
			require.Len(s.t, s.one("alice", "GET /account/history"+query)["items"], count, query)
		}
	}},
	{"1 reports", "the order book and the trades of a market for the regulator", func(s *stage) {
		s.trade("1", "100")
		s.place("alice", "buy limit amount=1 price=100")
		s.get("/report/BTC-EUR/book").ok(s.t).says(s.t, `"side":"BUYI","price":"100","quantity":"1","numOrders":1`)
		s.get("/report/BTC-EUR/trades?start=0&end=86400000").ok(s.t)
		require.Len(s.t, s.rows("", "GET /report/BTC-EUR/trades"), 1)
	}},
}

// oneOrAll requires a list of the markets, and one object where one is named.
func oneOrAll(path string) func(*stage) {
	return func(s *stage) {
		require.Len(s.t, s.rows("", "GET "+path), 3)
		s.has(s.one("", "GET "+path+" market=ETH-EUR"), "market=ETH-EUR")
		s.refuse("", "GET "+path+" market=ETH-USD", 400, 205).says(s.t, "market parameter is invalid.")
	}
}

// rateHeaders requires the three headers of the budget.
func (s *stage) rateHeaders(a answer) {
	s.t.Helper()
	for _, last := range []string{"Remaining", "Resetat", "Limit"} {
		require.Regexp(s.t, `^[0-9]+$`, a.header.Get("Service-Ratelimit-"+last), "%s: %d %s", last, a.status, a.body)
	}
}
