package sandbox

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// factErrorRules are section 2 of venue-facts.
var factErrorRules = []rule{
	{"venue-facts 2", "messages are worded as recorded", func(s *stage) {
		s.refuse("alice", orderLine("buy limit amount=1000000 price=100"), 400, 216).says(s.t,
			"You do not have sufficient balance to complete this operation.")
		s.refuse("alice", orderLine("buy limit amount=0.01 price=100"), 400, 217).says(s.t,
			"Minimum order size in quote currency is 5 EUR or 0.0001 BTC.")
		s.refuse("alice", "GET /deposit", 400, 203).says(s.t, "symbol parameter is required.")
	}},
	{"venue-facts 2.1", "every code that an endpoint can give is given by it", func(s *stage) { reachCodes(s.t) }},
	{"venue-facts 2.1", "a body that is not JSON is 102", ruleOf("7 400")},
	{"venue-facts 2.1", "a price may have at most 15 decimals (215) and lies above 10⁻¹⁵ (213)", func(s *stage) {
		s.refuse("alice", orderLine("buy limit amount=1 price=1.0000000000000001"), 400, 215)
		s.refuse("alice", orderLine("buy limit amount=1 price=0.0000000000000009"), 400, 213)
		s.refuse("alice", orderLine("buy limit amount=1 price=0.000000000000001"), 400, 422)
	}},
	{"venue-facts 2.2", "failed credentials are 403, checked in their order: 300, 301, 302, 303, 304, 308, 305, 306, " +
		"307, 309, 310 to 312", func(s *stage) {
		s = newStage(s.t, func(c *Config) {
			c.Accounts[0].Keys[0] = api.Key{Key: rigKey("alice"), Secret: "secret of alice", Unconfirmed: true}
			c.Accounts[1].Keys[0] = api.Key{Key: rigKey("bob"), Secret: "secret of bob",
				Addresses: []string{"198.51.100.1"}}
		})
		request := s.request("", "POST", "/order", "{}")
		for _, step := range []struct {
			header, value string
			code          int
		}{
			{"Timestamp", "nonsense", 300}, {"Key", "short", 300}, {"Signature", "short", 301}, {"Key",
				strings.Repeat("x", 64), 302}, {"Timestamp", "1767614414000", 308}, {"Window", "7", 303},
			{"Window", "100", 304},
			{"Window", "60000", 308}, {"Signature", strings.Repeat("a", 64), 305}, {"Key", rigKey("alice"),
				306}, {"Key", rigKey("bob"), 307},
		} {
			request.Header.Set("Service-Access-"+step.header, step.value)
			s.do(request).refused(s.t, 403, step.code)
		}
		request.RemoteAddr = "198.51.100.1:4711"
		s.do(request).refused(s.t, 403, 309)
		signed := s.request("bob", "POST", "/order", "{}")
		signed.RemoteAddr = "198.51.100.1:4711"
		s.do(signed).refused(s.t, 403, 310)
	}},
	{"venue-facts 2.3", "compact JSON may be signed and sent with spaces, {} counts as empty on DELETE; strict turns " +
		"both off, and takes the body part of a GET as empty", func(s *stage) {
		strict := newStage(s.t, func(c *Config) { c.Rules.Strict = true })
		for _, c := range []struct {
			method, path, sent, signed string
			strict                     int
		}{
			{"POST", "/cancelOrdersAfter", `{"codGroupId": 1, "expiryAfterSeconds": 30}`,
				`{"codGroupId":1,"expiryAfterSeconds":30}`, 309},
			{"GET", "/balance", `{}`, ``, 0}, {"GET", "/balance", `{}`, `{}`, 309}, {"DELETE", "/orders?operatorId=7",
				`{}`, ``, 309},
		} {
			for on, code := range map[*stage]int{s: 0, strict: c.strict} {
				request := on.request("", c.method, c.path, c.sent)
				on.sign(request, "alice", c.signed)
				if a := on.do(request); code == 0 {
					a.ok(s.t)
				} else {
					a.refused(s.t, 403, code)
				}
			}
		}
		request := s.request("", "POST", "/order", `{"market":"BTC-EUR"}`)
		s.sign(request, "alice", "")
		s.do(request).refused(s.t, 403, 309)
	}},
	{"venue-facts 2.4", "a minute is one of the clock; over it 429 with 105, whose text has the end of the ban: the " +
		"rest of the minute, then one minute more", func(s *stage) {
		a := s.exhausted("alice").refused(s.t, 429, 105)
		end, err := a.banEnd()
		require.NoError(s.t, err)
		require.Equal(s.t, rigStart.Add(105*time.Second).Millis(), end)
		require.Empty(s.t, a.header.Get("Retry-After"))
		s.pass(105*time.Second - time.Millisecond)
		s.refuse("alice", "GET /account", 429, 105)
		s.pass(time.Millisecond)
		s.ask("alice", "GET /account").ok(s.t)
	}},
	{"venue-facts 2.4", "an IP address is banned for fifteen minutes, and its ban is not the keys'", func(s *stage) {
		for range 20 {
			s.get("/ticker/24h").ok(s.t) // 25 points
		}
		end, err := s.get("/time").refused(s.t, 429, 105).banEnd()
		require.NoError(s.t, err)
		require.Equal(s.t, rigStart.Add(15*time.Minute+45*time.Second).Millis(), end)
		s.ask("alice", "GET /time").ok(s.t)
		s.pass(15*time.Minute + 45*time.Second - time.Millisecond)
		s.get("/time").refused(s.t, 429, 105)
		s.pass(time.Millisecond)
		s.get("/time").ok(s.t)
	}},
	{"venue-facts 2.4", "a public request with credentials is counted against the key", func(s *stage) {
		require.Equal(s.t, 999, s.ask("alice", "GET /time").remaining(s.t))
		require.Equal(s.t, 998, s.ask("alice", "GET /time").remaining(s.t))
		require.Equal(s.t, 499, s.get("/time").remaining(s.t))
	}},
	{"venue-facts 2.4", "brands of the headers are settings, several are understood", func(s *stage) {
		branded := newStage(s.t, func(c *Config) { c.Prefixes = []string{"Service", "Acme"} })
		request := branded.request("alice", "GET", "/account", "")
		for _, last := range []string{"Key", "Signature", "Timestamp"} {
			request.Header.Set("Acme-Access-"+last, request.Header.Get("Service-Access-"+last))
			request.Header.Del("Service-Access-" + last)
		}
		branded.do(request).ok(s.t)
	}},
}

// factOrderRules are section 3 of venue-facts.
var factOrderRules = []rule{
	{"venue-facts 3.1", "triggerReference: lastTrade, bestBid, bestAsk, and midPrice, which is between the two",
		func(s *stage) {
			for reference, fires := range map[string]bool{"lastTrade": false, "bestBid": false, "midPrice": false,
				"bestAsk": true} {
				s := newStage(s.t)
				s.trade("1", "100")
				o := s.place("alice",
					"buy stopLossLimit amount=1 price=50 triggerAmount=105 triggerReference="+reference)
				s.place("bob", "buy limit amount=1 price=99")
				s.place("bob", "sell limit amount=1 price=110") // the middle is 104.5
				want := "status=awaitingTrigger"
				if fires {
					want = "status=new"
				}
				s.has(s.again("alice", o), want)
			}
		}},
	{"venue-facts 3.1", "after its trigger an order keeps its orderType and is a market or limit order",
		func(s *stage) {
			s.trade("1", "100")
			o := s.place("alice", "sell stopLoss amount=1 triggerAmount=90")
			s.place("bob", "buy limit amount=2 price=90")
			s.place("bob", "buy limit amount=1 price=89")
			s.place("alice", "sell limit amount=2 price=90")
			s.has(s.again("alice", o), "status=filled", "orderType=stopLoss", "filledAmountQuote=89")
		}},
	{"venue-facts 3.1", "limit kinds hold as limit orders do while they wait", func(s *stage) {
		s.has(s.place("alice", "buy stopLossLimit amount=0.0003 price=30000 triggerAmount=29000"), "onHold=9.03",
			"onHoldCurrency=EUR")
	}},
	{"venue-facts 3.1", "a buy that waits for its trigger, by amount and without a price, holds what it costs there, " +
		"or, where the setting says so, nothing until it fires", func(s *stage) {
		s.has(s.place("alice", "buy stopLoss amount=1 triggerAmount=100"), "onHold=100.25")
		s = newStage(s.t, func(c *Config) { c.Rules.HoldLater, c.Accounts[0].Balances["EUR"] = true, "150" })
		rich, poor := s.place("alice", "buy stopLoss amount=1 triggerAmount=100"), s.place("alice",
			"buy stopLoss amount=1 triggerAmount=100")
		s.has(rich, "status=awaitingTrigger", "onHold=0")
		s.has(s.update("alice", poor, "amount=1.1"), "onHold=0")
		s.place("bob", "sell limit amount=3 price=100")
		s.place("bob", "buy limit amount=0.5 price=100 selfTradePrevention=cancelNewest") // own: nobody has traded
		s.has(s.again("alice", rich), "status=awaitingTrigger")
		s.has(s.place("alice", "buy limit amount=0.1 price=100"), "status=filled")
		s.has(s.again("alice", rich), "status=filled", "filledAmount=1", "onHold=0")
		s.has(s.again("alice", poor), "status=expired", "filledAmount=0", "-restatementReason")
	}},
	{"venue-facts 3.2", "market orders never rest, are not accepted in auction, cannot be updated and have no " +
		"codGroupId", func(s *stage) {
		s.has(s.place("alice", "buy market amount=1"), "status=expired")
		s.refuse("alice", orderLine("buy market amount=1 codGroupId=1"), 400, 202)
		ruleOf("4.4 kinds")(s)
		s.become(market.Auction, 0)
		s.refuse("alice", orderLine("buy market amount=1"), 400, 425)
	}},
	{"venue-facts 3.2", "a buy for amountQuote has its fee inside", func(s *stage) {
		s.place("bob", "sell limit amount=10 price=57.75")
		o := s.place("alice", "buy market amountQuote=40")
		s.has(o, "status=filled", "filledAmount=0.6909134", "filledAmountQuote=39.90024885", "feePaid=0.09975115",
			"amountQuoteRemaining=0")
		s.has(s.rows("alice", "GET /balance symbol=EUR")[0], "available=9999960")
	}},
	{"venue-facts 3.3", "at least minOrderInBaseAsset (212) and minOrderInQuoteAsset (217)", func(s *stage) {
		s.refuse("alice", orderLine("buy limit amount=0.00009 price=90000"), 400, 212)
		s.refuse("alice", orderLine("buy limit amount=0.01 price=499"), 400, 217)
		s.place("alice", "buy limit amount=0.01 price=500")
		s.place("alice", "buy limit amount=0.0001 price=90000")
	}},
	{"venue-facts 3.4", "four price protections, off until they are set, cancel with their reasons", func(s *stage) {
		s.has(s.place("alice", "buy limit amount=1 price=90"), "-restatementReason")
		for reason, set := range map[string]func(*Rules){
			"cancelOnPlacementPriceProtection": func(r *Rules) { r.PlacementLimit = 10_000_000 },
			"cancelOnExecutionPriceProtection": func(r *Rules) { r.ExecutionLimit = 10_000_000 },
			"cancelOnSpreadProtection":         func(r *Rules) { r.SpreadLimit = 10_000_000 },
			"cancelOnReferencePriceProtection": func(r *Rules) { r.ReferenceLimit = 10_000_000 },
		} {
			s := newStage(s.t, func(c *Config) { set(&c.Rules) })
			s.trade("1", "100")
			s.place("bob", "buy limit amount=1 price=95")
			order := "buy market amount=2"
			switch reason {
			case "cancelOnPlacementPriceProtection":
				s.place("bob", "sell limit amount=1 price=101")
				order = "buy limit amount=1 price=150"
			case "cancelOnExecutionPriceProtection":
				s.place("bob", "sell limit amount=1 price=100")
				s.place("bob", "sell limit amount=1 price=115")
			default:
				s.place("bob", "sell limit amount=2 price=115")
			}
			s.has(s.place("alice", order), "status=canceled", "restatementReason="+reason)
		}
	}},
	{"venue-facts 3.5", "tiers by volume of 30 days, worked out in the night; rates by feeCategory", func(s *stage) {
		s = newStage(s.t, func(c *Config) { c.Tiers = standardTiers(); c.Accounts[0].Volume = "100000" })
		s.has(s.one("alice", "GET /account/fees"), "tier=1", "volume=100000.00", "taker=0.002", "maker=0.001")
		s.has(s.one("bob", "GET /account/fees"), "tier=0", "taker=0.0025", "maker=0.0015")
		for range 10 {
			s.trade("100", "100")
		}
		s.has(s.one("bob", "GET /account/fees"), "tier=0")
		s.pass(13 * time.Hour)
		s.has(s.one("bob", "GET /account/fees"), "tier=1", "volume=100000.00")
	}},
	{"venue-facts 3.6", "fees are in quote on both sides and rounded against the client; filledAmountQuote is exact",
		func(s *stage) {
			s.place("alice", "buy limit amount=0.00020002 price=34469")
			o := s.place("bob", "sell market amount=0.00020002")
			s.has(o, "filledAmountQuote=6.89448938", "feePaid=0.02448938", "feeCurrency=EUR")
			s.has(s.place("alice", "buy limit amount=0.0003 price=30000"), "onHold=9.03")
		}},
	{"venue-facts 3.7", "inOrder is the sum of all holds, which ends release", func(s *stage) {
		s.place("alice", "buy limit amount=1 price=100")
		s.place("alice", "buy limit amount=1 price=200")
		s.has(s.rows("alice", "GET /balance symbol=EUR")[0], "inOrder=300.75")
		s.ask("alice", "DELETE /orders market=BTC-EUR operatorId=7").ok(s.t)
		s.has(s.rows("alice", "GET /balance symbol=EUR")[0], "inOrder=0", "available=10000000")
	}},
	{"venue-facts 3.7", "a fill is settled after a delay: first settled false without a fee", ruleOf("2.2 settled")},
	{"venue-facts 3.7", "the self-trade prevention of the order that comes decides", func(s *stage) {
		resting := s.place("alice", "sell limit amount=1 price=100 selfTradePrevention=cancelNewest")
		s.has(s.place("alice", "buy limit amount=1 price=100 selfTradePrevention=cancelOldest"), "status=new")
		s.has(s.again("alice", resting), "status=canceled", "restatementReason=cancelOnSelfTradePrevention")
	}},
	{"venue-facts 3.7", "IOC that fills in part expires", func(s *stage) {
		s.place("bob", "sell limit amount=1 price=100")
		s.has(s.place("alice", "buy limit amount=2 price=100 timeInForce=IOC"), "status=expired", "filledAmount=1",
			"onHold=0")
	}},
	{"venue-facts 3.8", "a timer is no connection: repeating the call pushes it out, one group an account by default",
		func(s *stage) {
			o := s.place("alice", "buy limit amount=1 price=100 codGroupId=1")
			s.ask("alice", "POST /cancelOrdersAfter codGroupId=1 expiryAfterSeconds=10").ok(s.t)
			s.refuse("alice", "POST /cancelOrdersAfter codGroupId=2 expiryAfterSeconds=10", 400, 205)
			s.pass(9 * time.Second)
			s.ask("alice", "POST /cancelOrdersAfter codGroupId=1 expiryAfterSeconds=10").ok(s.t)
			s.pass(9 * time.Second)
			s.has(s.again("alice", o), "status=new")
			s.pass(time.Second)
			s.has(s.again("alice", o), "restatementReason=cancelOnDisconnect")
		}},
	{"venue-facts 3.8", "a timer that expires ends its orders in a halted market too", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100 codGroupId=1")
		s.ask("alice", "POST /cancelOrdersAfter codGroupId=1 expiryAfterSeconds=10").ok(s.t)
		s.become(market.Halted, 0)
		s.pass(10 * time.Second)
		s.has(s.again("alice", o), "status=canceled", "restatementReason=cancelOnDisconnect")
	}},
	{"venue-facts 3.9", "clientOrderId goes before orderId in GET, PUT and DELETE", func(s *stage) {
		ruleOf("4.2 ids")(s)
		ruleOf("4.4 clientOrderId")(newStage(s.t))
		a := s.place("bob", "buy limit amount=1 price=100 clientOrderId="+named)
		b := s.place("bob", "buy limit amount=1 price=100")
		s.has(s.one("bob", "DELETE /order market=BTC-EUR operatorId=7 clientOrderId="+named+" orderId="+b.id()),
			"orderId="+a.id())
	}},
}
