package sandbox

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
)

// subscribe is the message for one element of channels.
func subscribe(element string) string {
	return `{"action":"subscribe","channels":[` + element + `]}`
}

const bookOfBTC = `{"name":"book","markets":["BTC-EUR"]}`

// channelRules are sections 4 to 6 of websocket-facts.
var channelRules = []rule{
	{"websocket-facts 4 names", "the channels are ticker, ticker24h, candles, trades, book and account",
		func(s *stage) {
			c := s.socket("alice")
			for _, name := range []string{"ticker", "ticker24h", "candles", "trades", "book", "account"} {
				c.follows(name)
			}
			c.tells(subscribe(`{"name":"tickers","markets":["BTC-EUR"]}`),
				`{"action":"subscribe","errorCode":205,"error":"channel.name parameter is invalid."}`)
		}},
	{"websocket-facts 4 markets", `a list of names; for account the text "*" is all markets`, func(s *stage) {
		c := s.socket("alice")
		c.tells(subscribe(`{"name":"account","markets":"*"}`),
			`{"event":"subscribed","subscriptions":{"account":["BTC-EUR","ETH-EUR","ADA-EUR"]}}`,
			`{"action":"unsubscribe","channels":[{"name":"account","markets":"*"}]}`,
			`{"event":"unsubscribed","subscriptions":{}}`,
			subscribe(`{"name":"account","markets":["*"]}`),
			`{"event":"subscribed","subscriptions":{"account":["BTC-EUR","ETH-EUR","ADA-EUR"]}}`)
	}},
	{"websocket-facts 4 subscriptions", "everything that the socket is subscribed to now, candles by interval",
		func(s *stage) {
			s.socket("").tells(subscribe(bookOfBTC), `{"event":"subscribed","subscriptions":{"book":["BTC-EUR"]}}`,
				subscribe(`{"name":"candles","interval":["1m","1h"],"markets":["BTC-EUR"]},{"name":"book","markets":["ETH-EUR"]}`),
				`{"event":"subscribed","subscriptions":{"candles":{"1m":["BTC-EUR"],"1h":["BTC-EUR"]},`+
					`"book":["BTC-EUR","ETH-EUR"]}}`,
				subscribe(`{"name":"trades","markets":["BTC-EUR"]},{"name":"book","markets":["ADA-EUR","BTC-EUR","BTC-EUR"]}`),
				`{"event":"subscribed","subscriptions":{"candles":{"1m":["BTC-EUR"],"1h":["BTC-EUR"]},`+
					`"trades":["BTC-EUR"],"book":["BTC-EUR","ETH-EUR","ADA-EUR"]}}`)
		}},
	{"websocket-facts 4 unsubscribed", "has what is left, {} where nothing is", func(s *stage) {
		s.socket("").tells(subscribe(`{"name":"book","markets":["BTC-EUR","ETH-EUR"]}`), `{"event":"subscribed"…`,
			`{"action":"unsubscribe","channels":[{"name":"book","markets":["ETH-EUR"]}]}`,
			`{"event":"unsubscribed","subscriptions":{"book":["BTC-EUR"]}}`,
			`{"action":"unsubscribe","channels":[`+bookOfBTC+`]}`, `{"event":"unsubscribed","subscriptions":{}}`)
	}},
	{"websocket-facts 4 twice the same", "is acknowledged again, and events are not doubled", func(s *stage) {
		c := s.socket("")
		c.follows("trades")
		c.follows("trades")
		s.trade("1", "100")
		s.has(c.event(), "event=trade")
		c.quiet()
	}},
	{"websocket-facts 4 acknowledgement first", "it leaves before the first event of the subscription", func(s *stage) {
		c := s.socket("")
		s.trade("1", "100") // a change that is not yet told
		c.follows("book")
		s.place("alice", "buy limit amount=1 price=90")
		s.pass(bookEvery)
		s.has(c.event(), "event=book")
	}},
	{"websocket-facts 4 all or nothing", "one wrong market refuses the message, and nothing of it is subscribed",
		func(s *stage) {
			s.socket("").tells(subscribe(
				`{"name":"trades","markets":["ETH-EUR"]},{"name":"book","markets":["BTC-EUR","NOPE-EUR"]}`),
				`{"action":"subscribe","errorCode":205,"error":"market parameter NOPE-EUR is invalid."}`,
				subscribe(bookOfBTC), `{"event":"subscribed","subscriptions":{"book":["BTC-EUR"]}}`)
		}},
	{"websocket-facts 4 a market that is not trading", "is accepted, listed and silent", func(s *stage) {
		s.trade("1", "100")
		s.place("alice", "buy limit amount=1 price=90")
		s.become(market.Halted, 0)
		c := s.socket("")
		for _, channel := range []string{"ticker", "ticker24h", "candles", "trades", "book"} {
			c.follows(channel)
		}
		s.pass(3 * time.Second)
		c.quiet()
	}},
	{"websocket-facts 4 cost", "a message is one point, however many markets", func(s *stage) {
		c := s.socket("alice")
		before := s.ask("alice", "GET /account").remaining(s.t)
		c.tells(subscribe(`{"name":"book","markets":["BTC-EUR","ETH-EUR","ADA-EUR"]}`), `{"event":"subscribed"…`,
			`{"action":"unsubscribe","channels":[`+bookOfBTC+`]}`, `{"event":"unsubscribed"…`)
		require.Equal(s.t, before-1-1-1, s.ask("alice", "GET /account").remaining(s.t))
	}},
	{"websocket-facts 4 unsubscribe of candles", "takes interval, and means all without it", func(s *stage) {
		s.socket("").tells(subscribe(`{"name":"candles","interval":["1m","5m","1h"],"markets":["BTC-EUR"]}`),
			`{"event":"subscribed"…`,
			`{"action":"unsubscribe","channels":[{"name":"candles","interval":["5m"],"markets":["BTC-EUR"]}]}`,
			`{"event":"unsubscribed","subscriptions":{"candles":{"1m":["BTC-EUR"],"1h":["BTC-EUR"]}}}`,
			`{"action":"unsubscribe","channels":[{"name":"candles","markets":["BTC-EUR"]}]}`,
			`{"event":"unsubscribed","subscriptions":{}}`)
	}},

	{"websocket-facts 5 ticker",
		"has only what changed: bid, ask or last price, without padding and without a first frame",
		func(s *stage) {
			s.place("alice", "buy limit amount=1 price=90")
			c := s.socket("")
			c.follows("ticker")
			c.quiet()
			s.place("alice", "buy limit amount=2.5 price=95.5")
			require.Equal(s.t, `{"event":"ticker","market":"BTC-EUR","bestBid":"95.5","bestBidSize":"2.5"}`, c.hear())
			s.place("bob", "sell limit amount=1 price=100")
			require.Equal(s.t, `{"event":"ticker","market":"BTC-EUR","bestAsk":"100","bestAskSize":"1"}`, c.hear())
			s.place("alice", "buy limit amount=1 price=80") // below the best
			s.place("bob", "sell limit amount=0.5 price=95.5")
			require.Equal(s.t, `{"event":"ticker","market":"BTC-EUR","bestBid":"95.5","bestBidSize":"2","lastPrice":"95.5"}`,
				c.hear())
			c.quiet()
		}},
	{"websocket-facts 5 ticker24h",
		"once a second, the records of GET /ticker/24h of all markets of the socket in one list",
		func(s *stage) {
			s.trade("1", "100")
			c := s.socket("")
			c.tells(subscribe(`{"name":"ticker24h","markets":["BTC-EUR","ADA-EUR"]}`), `{"event":"subscribed"…`)
			s.pass(time.Second)
			s.has(c.event(), "event=ticker24h") // without a request
			for range 2 {
				s.pass(time.Second)
				require.Equal(s.t, `{"event":"ticker24h","data":[`+s.get("/ticker/24h?market=BTC-EUR").body+`,`+
					s.get("/ticker/24h?market=ADA-EUR").body+`]}`, c.hear())
			}
		}},
	{"websocket-facts 5 candles", "at a trade the candle as it stands, as event candle with one row", func(s *stage) {
		c := s.socket("")
		c.follows("candles")
		s.trade("1", "100")
		s.trade("0.5", "101")
		const start = "1767614400000"
		require.Equal(s.t, `{"event":"candle","market":"BTC-EUR","interval":"1m","candle":[[`+start+
			`,"100","100","100","100","1"]]}`, c.hear())
		require.Equal(s.t, `{"event":"candle","market":"BTC-EUR","interval":"1m","candle":[[`+start+
			`,"100","101","100","101","1.5"]]}`, c.hear())
	}},
	{"websocket-facts 5 candles", "eleven intervals, 1m to 1d; 1W and 1M are of getCandles alone", func(s *stage) {
		c := s.socket("")
		for _, interval := range []string{"1m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d"} {
			c.tells(subscribe(`{"name":"candles","interval":["`+interval+`"],"markets":["BTC-EUR"]}`),
				`{"event":"subscribed"…`)
		}
		for _, interval := range []string{"1W", "1M", "3m", ""} {
			c.tells(subscribe(`{"name":"candles","interval":["`+interval+`"],"markets":["BTC-EUR"]}`),
				`{"action":"subscribe","errorCode":205,"error":"interval parameter is invalid."}`)
		}
		c.tells(`{"action":"getCandles","market":"BTC-EUR","interval":"1W"}`, `{"action":"getCandles","response":[…`)
	}},
	{"websocket-facts 5 trades", "event trade, one for each trade, with the taker's side", func(s *stage) {
		c := s.socket("")
		c.follows("trades")
		s.place("alice", "buy limit amount=0.5 price=101")
		s.place("alice", "buy limit amount=1 price=100")
		s.place("bob", "sell limit amount=1 price=100")
		public := s.rows("", "GET /BTC-EUR/trades")
		for i, want := range []string{"101", "100"} {
			event, listed := c.event(), public[1-i]
			s.has(event, "event=trade", "market=BTC-EUR", "price="+want, "amount=0.5", "side=sell",
				"id="+listed["id"].(string),
				fmt.Sprintf("timestamp:=%v", listed["timestamp"]), fmt.Sprintf("timestampNs:=%d", rigStart))
			require.Len(s.t, event, 8)
		}
	}},
	{"websocket-facts 5 book", "no snapshot comes first: a delta has the new total of each price, 0 removes it",
		func(s *stage) {
			s.place("alice", "buy limit amount=1 price=90")
			c := s.socket("")
			c.follows("book")
			c.quiet()
			o := s.place("alice", "buy limit amount=2 price=91")
			s.place("alice", "buy limit amount=3 price=90")
			s.pass(bookEvery)
			s.has(c.event(), `bids:=[["91.00","2.00000000"],["90.00","4.00000000"]]`, "asks:=[]")
			s.ask("alice", "DELETE /order market=BTC-EUR operatorId=7 orderId="+o.id()).ok(s.t)
			s.pass(bookEvery)
			s.has(c.event(), `bids:=[["91.00","0"]]`, "asks:=[]")
		}},
	{"websocket-facts 5 book",
		"one event a market for all changes of 100 ms; none where nothing is different in the end",
		func(s *stage) {
			c := s.socket("")
			c.follows("book")
			for range 5 {
				s.place("alice", "buy limit amount=1 price=90")
			}
			gone := s.place("bob", "sell limit amount=1 price=99")
			s.ask("bob", "DELETE /order market=BTC-EUR operatorId=7 orderId="+gone.id()).ok(s.t)
			c.quiet()
			s.pass(bookEvery)
			s.has(c.event(), `bids:=[["90.00","5.00000000"]]`, "asks:=[]")
			gone = s.place("bob", "sell limit amount=1 price=99")
			s.ask("bob", "DELETE /order market=BTC-EUR operatorId=7 orderId="+gone.id()).ok(s.t)
			s.pass(bookEvery)
			c.quiet()
		}},
	{"websocket-facts 5 book", "deltas pad prices and sizes to all decimals, snapshots do not", func(s *stage) {
		c := s.socket("")
		c.follows("book")
		s.place("alice", "buy limit amount=1.5 price=90")
		s.pass(bookEvery)
		require.Contains(s.t, c.hear(), `["90.00","1.50000000"]`)
		require.Contains(s.t, c.ask(`{"action":"getBook","market":"BTC-EUR"}`), `["90","1.5"]`)
	}},
	{"websocket-facts 5 book",
		"the nonce goes up by one with each event, and is that of getBook and GET /{market}/book",
		func(s *stage) {
			c := s.socket("")
			c.follows("book")
			nonce := wholeOf(s, s.one("", "GET /BTC-EUR/book")["nonce"])
			for n := range int64(3) {
				s.place("alice", fmt.Sprintf("buy limit amount=1 price=%d", 90+n))
				s.pass(bookEvery)
				require.Equal(s.t, nonce+n+1, wholeOf(s, c.event()["nonce"]))
				require.Equal(s.t, nonce+n+1, wholeOf(s, s.one("", "GET /BTC-EUR/book")["nonce"]))
				require.Contains(s.t, c.ask(`{"action":"getBook","market":"BTC-EUR"}`),
					fmt.Sprintf(`"nonce":%d,`, nonce+n+1))
			}
		}},
	{"websocket-facts 5 book", "the nonces begin anew with the matching engine", func(s *stage) {
		c := s.socket("")
		c.follows("book")
		s.place("alice", "buy limit amount=1 price=90")
		s.pass(bookEvery)
		c.event()
		s.strike(fault.Fault{Kind: fault.NewNonces, Market: "BTC-EUR"})
		s.place("alice", "buy limit amount=1 price=91")
		s.pass(bookEvery)
		require.Equal(s.t, int64(1), wholeOf(s, c.event()["nonce"]))
	}},
	{"websocket-facts 5 book", "timestamp is that of the latest change, in nanoseconds", func(s *stage) {
		c := s.socket("")
		c.follows("book")
		s.place("alice", "buy limit amount=1 price=90")
		s.pass(bookEvery)
		require.Equal(s.t, int64(rigStart), wholeOf(s, c.event()["timestamp"]))
	}},
	{"websocket-facts 5 book", "the whole depth is told", func(s *stage) {
		c := s.socket("")
		c.follows("book")
		for n := range 90 {
			s.place("alice", fmt.Sprintf("buy limit amount=1 price=%d", 10+n))
		}
		s.pass(bookEvery)
		require.Len(s.t, c.event()["bids"], 90)
	}},

	{"websocket-facts 6 order", "all members of a limit order; no fills, no disableMarketProtection", func(s *stage) {
		c := s.socket("alice")
		c.follows("account")
		o := s.place("alice", "buy limit amount=2 price=100 clientOrderId=11111111-2222-4333-8444-555555555555 "+
			"codGroupId=3")
		event := c.event()
		s.has(event, "event=order", "executionType=new", "orderId="+o.id(), "market=BTC-EUR",
			"clientOrderId=11111111-2222-4333-8444-555555555555", "operatorId:=7", "status=new", "side=buy",
			"orderType=limit",
			"created#", "updated#", "createdNs#", "updatedNs#", "amount=2", "amountRemaining=2", "price=100",
			"onHold="+o["onHold"].(string), "onHoldCurrency=EUR", "timeInForce=GTC", "postOnly:=false",
			"selfTradePrevention=decrementAndCancel", "visible:=true", "filledAmount=0", "filledAmountQuote=0",
			"codGroupId:=3",
			"-fills", "-disableMarketProtection", "-restatementReason", "-amountQuote", "-triggerPrice")
	}},
	{"websocket-facts 6 order", "by amountQuote: amountQuote and amountQuoteRemaining, no amount and no price",
		func(s *stage) {
			s.place("bob", "sell limit amount=1 price=100")
			c := s.socket("alice")
			c.follows("account")
			s.place("alice", "buy market amountQuote=50")
			s.has(c.event(), "executionType=new", "amountQuote=50", "amountQuoteRemaining=50", "-amount",
				"-amountRemaining",
				"-price", "-clientOrderId", "-codGroupId")
		}},
	{"websocket-facts 6 order", "trigger kinds have their four members: new while they wait, triggered when they fire",
		func(s *stage) {
			s.trade("1", "100")
			c := s.socket("alice")
			c.follows("account")
			s.place("alice", "sell stopLossLimit amount=1 price=80 triggerAmount=90 triggerType=price "+
				"triggerReference=lastTrade")
			s.has(c.event(), "executionType=new", "status=awaitingTrigger", "triggerPrice=90", "triggerAmount=90",
				"triggerType=price", "triggerReference=lastTrade")
			s.place("bob", "buy limit amount=1 price=90")
			s.place("alice", "sell limit amount=1 price=90")
			exec := ""
			for exec != "triggered" {
				exec, _ = c.event()["executionType"].(string) // of the order that trades, and its fill
			}
		}},
	{"websocket-facts 6 executionType", "triggered also where the order trades or ends at once", func(s *stage) {
		s.trade("1", "100")
		c := s.socket("alice")
		c.follows("account")
		hears := func(want ...string) {
			for _, one := range want {
				event := c.event()
				for event["event"] == "fill" {
					event = c.event()
				}
				require.Equal(s.t, one,
					fmt.Sprint(event["orderType"], " ", event["executionType"], " ", event["status"]))
			}
		}
		s.place("bob", "buy limit amount=2 price=80")
		o := s.place("alice", "sell stopLoss amount=1 triggerAmount=90 triggerType=price triggerReference=lastTrade")
		hears("stopLoss new awaitingTrigger")
		s.update("alice", o, "triggerAmount=101") // the last trade was at 100
		hears("stopLoss updated awaitingTrigger", "stopLoss triggered new", "stopLoss trade filled")
		s.place("alice", "sell stopLoss amount=1 triggerAmount=95 triggerType=price triggerReference=lastTrade")
		hears("stopLoss new new", "stopLoss triggered new", "stopLoss trade filled")
		s.place("alice", "sell stopLoss amount=1 triggerAmount=95 triggerType=price triggerReference=lastTrade")
		hears("stopLoss new new", "stopLoss triggered new", "stopLoss expired expired") // no bid is left
	}},
	{"websocket-facts 6 executionType", "trade at each trade, updated after PUT, canceled, expired, restated",
		func(s *stage) {
			c := s.socket("alice")
			c.follows("account")
			next := func(exec, status string) {
				event := c.event()
				for event["event"] == "fill" {
					event = c.event()
				}
				s.has(event, "executionType="+exec, "status="+status)
			}
			o := s.place("alice", "buy limit amount=2 price=100")
			next("new", "new")
			s.update("alice", o, "price=101")
			next("updated", "new")
			s.place("bob", "sell limit amount=1 price=101")
			next("trade", "partiallyFilled")
			s.place("bob", "sell limit amount=1 price=101")
			next("trade", "filled")
			o = s.place("alice", "buy limit amount=1 price=90")
			next("new", "new")
			s.ask("alice", "DELETE /order market=BTC-EUR operatorId=7 orderId="+o.id()).ok(s.t)
			next("canceled", "canceled")
			s.place("alice", "buy limit amount=1 price=90 timeInForce=IOC")
			next("new", "new")
			next("expired", "expired")
			s.place("alice", "buy limit amount=2 price=95")
			next("new", "new")
			s.place("alice", "sell limit amount=1 price=95") // meets its own order
			next("new", "new")
			next("restated", "new")
			next("canceled", "canceled")
			s.place("alice", "sell limit amount=3 price=95")
			next("new", "new")
			next("canceled", "canceled")
			next("restated", "new")
		}},
	{"websocket-facts 6 fill", "fillId is the trade's id, side the own one; fee and its currency once settled",
		func(s *stage) {
			c := s.socket("alice")
			c.follows("account")
			o := s.place("alice", "buy limit amount=2 price=100 clientOrderId=11111111-2222-4333-8444-555555555555")
			s.has(c.event(), "executionType=new")
			s.place("bob", "sell limit amount=1 price=100")
			fill, trade := c.event(), s.rows("alice", "GET /trades market=BTC-EUR")[0]
			s.has(fill, "event=fill", "market=BTC-EUR", "orderId="+o.id(), "operatorId:=7",
				"fillId="+trade["id"].(string),
				"clientOrderId=11111111-2222-4333-8444-555555555555", "side=buy", "amount=1", "price=100",
				"taker:=false",
				"fee="+trade["fee"].(string), "feeCurrency=EUR", fmt.Sprintf("timestamp:=%v", trade["timestamp"]),
				"timestampNs#", "-id")
			late := newStage(s.t)
			late.strike(fault.Fault{Kind: fault.LateSettlement, Delay: time.Hour})
			c = late.socket("alice")
			c.follows("account")
			late.trade("1", "100")
			c.event()
			late.has(c.event(), "event=fill", "-fee", "-feeCurrency")
		}},
	{"websocket-facts 6", "own orders in the subscribed markets alone, and no balance event", func(s *stage) {
		c := s.socket("alice")
		c.follows("account")
		s.place("bob", "sell limit amount=1 price=100")
		s.ask("alice", "POST /order market=ETH-EUR operatorId=7 side=buy orderType=limit amount=1 price=100").ok(s.t)
		c.quiet()
		s.place("alice", "buy limit amount=1 price=100")
		for _, kind := range []string{"order", "fill", "order"} {
			s.has(c.event(), "event="+kind)
		}
		c.quiet()
	}},
}

// wholeOf reads an integer of an event.
func wholeOf(s *stage, value any) int64 {
	s.t.Helper()
	n, err := value.(interface{ Int64() (int64, error) }).Int64()
	require.NoError(s.t, err)
	return n
}

// actionRules are sections 7 and 8 of websocket-facts.
var actionRules = []rule{
	{"websocket-facts 7", "an error has action, requestId and market where given, errorCode, error; the socket stays",
		func(s *stage) {
			c := s.socket("alice")
			c.tells(`{"action":"privateCreateOrder","requestId":19,"market":"BTC-EUR","side":"buy","orderType":"limit",`+
				`"amount":"999999","price":"1000","operatorId":7}`,
				`{"action":"privateCreateOrder","requestId":19,"market":"BTC-EUR","errorCode":216,`+
					`"error":"You do not have sufficient balance to complete this operation."}`)
			c.tells(`{"action":"privateGetOrder","market":"BTC\"-EUR","orderId":"\u0041\"\\","requestId":"\""}`,
				`{"action":"privateGetOrder","requestId":"\"","market":"BTC\"-EUR","orderId":"A\"\\","errorCode":205…`)
			c.quiet()
		}},
	{"websocket-facts 7", "text that is no JSON: 102 without an action", func(s *stage) {
		for _, text := range []string{`nonsense`, ``, `{"action":"getTime"`, `{"action":"getTime"}}`, `[]`,
			`{"action":"getTime","requestId":01}`, `{"action":"getTime","requestId":-}`} {
			s.socket("").tells(text, `{"errorCode":102,"error":"Invalid JSON."}`)
		}
	}},
	{"websocket-facts 7", "an unknown action: 415 under action unknown", func(s *stage) {
		s.socket("").tells(`{"action":"getEverything","requestId":1}`,
			`{"action":"unknown","requestId":1,"errorCode":415,"error":"Invalid action. Please check the request."}`)
	}},
	{"websocket-facts 7", "an unknown market, small letters, a bad depth: 205 in the recorded words", func(s *stage) {
		s.socket("").tells(`{"action":"getBook","market":"NOPE-EUR"}`,
			`{"action":"getBook","market":"NOPE-EUR","errorCode":205,"error":"market parameter NOPE-EUR is invalid."}`,
			`{"action":"getBook","market":"btc-eur"}`,
			`{"action":"getBook","market":"btc-eur","errorCode":205,"error":"market parameter is invalid."}`,
			`{"action":"getBook","market":"BTC-EUR","depth":5000}`,
			`{"action":"getBook","market":"BTC-EUR","errorCode":205,"error":"depth parameter 5000 is invalid."}`)
	}},
	{"websocket-facts 7", "the book of a market that is not trading: 431, with its state in capitals", func(s *stage) {
		s.become(market.Halted, 0)
		s.socket("").tells(`{"action":"getBook","market":"BTC-EUR"}`,
			`{"action":"getBook","market":"BTC-EUR","errorCode":431,`+
				`"error":"getBook is not available for BTC-EUR in state HALTED"}`)
	}},
	{"websocket-facts 7", "5,000 messages a second are taken, more are 112", func(s *stage) {
		c := s.socket("")
		for range 999 {
			c.say(`{}`)
		}
		for range 999 {
			require.NotContains(s.t, c.hear(), `"errorCode":112,`)
		}
	}},
	{"websocket-facts 7", "a spent budget: 105, whose text ends in the milliseconds of its end", func(s *stage) {
		poor := newStage(s.t, func(c *Config) { c.Budget = api.Budget{PerIP: 1} })
		c := poor.socket("")
		c.quiet()
		require.Regexp(s.t, `^\{"action":"getTime","errorCode":105,"error":".* at 17\d{11}\."\}$`,
			c.ask(`{"action":"getTime"}`))
	}},
	{"websocket-facts 7 subscribe errors", "have action subscribe and no market", func(s *stage) {
		s.socket("").tells(`{"action":"subscribe","requestId":2,"market":"BTC-EUR","channels":[{"name":"book","markets":[]}]}`,
			`{"action":"subscribe","requestId":2,"errorCode":205,"error":"…`,
			subscribe(``), `{"action":"subscribe","errorCode":205,…`,
			`{"action":"subscribe"}`, `{"action":"subscribe","errorCode":205,…`,
			subscribe(`{"name":"account","markets":["BTC-EUR"]}`), `{"action":"subscribe","errorCode":300,…`,
			subscribe(`{"name":"book","markets":["BTC-EUR","btc-eur"]}`),
			`{"action":"subscribe","errorCode":205,"error":"market parameter is invalid."}`)
	}},
	{"websocket-facts 7", "an error of an order action has the orderId that was sent", func(s *stage) {
		const id = "00000000-0000-0001-0100-0000000000ff"
		c := s.socket("alice")
		for _, action := range []string{"privateUpdateOrder", "privateCancelOrder", "privateGetOrder"} {
			operator := `,"operatorId":7`
			if action == "privateGetOrder" {
				operator = ""
			}
			for _, more := range []string{``, `,"side":"buy","orderType":"limit","amount":"1","price":"90"`, `,"clientRef":[1]`} {
				c.tells(`{"action":"`+action+`","market":"BTC-EUR","orderId":"`+id+`"`+operator+more+`}`,
					`{"action":"`+action+`","market":"BTC-EUR","orderId":"`+id+`","errorCode":240…`)
			}
		}
	}},

	{"websocket-facts 8", "each action costs the weight of its REST twin, from the same budget", func(s *stage) {
		for message, weight := range map[string]int{
			`"getTime"`: 1, `"getMarkets"`: 1, `"getAssets"`: 1, `"getBook","market":"BTC-EUR"`: 1,
			`"getTrades","market":"BTC-EUR"`: 5, `"getCandles","market":"BTC-EUR","interval":"1m"`: 1,
			`"getTickerPrice"`: 1,
			`"getTickerBook"`:  1, `"getTicker24h"`: 25, `"getTicker24h","market":"BTC-EUR"`: 1,
			`"privateCreateOrder"`: 1,
			`"privateUpdateOrder"`: 1, `"privateCancelOrder"`: 1, `"privateGetOrder"`: 1,
			`"privateGetOrders","market":"BTC-EUR"`: 5, `"privateGetOrdersOpen"`: 100,
			`"privateGetOrdersOpen","market":"BTC-EUR"`: 5, `"privateCancelOrders","operatorId":7`: 100,
			`"privateCancelOrders","market":"BTC-EUR","operatorId":7`:           25,
			`"privateCancelOrdersAfter","codGroupId":1,"expiryAfterSeconds":30`: 5,
			`"privateGetTrades","market":"BTC-EUR"`:                             5, `"privateGetAccount"`: 1,
			`"privateGetFees"`: 1, `"privateGetBalance"`: 5,
			`"privateGetTransactionHistory"`: 1, `"privateDepositAssets","symbol":"BTC"`: 1,
			`"privateGetDepositHistory"`: 5,
			`"privateWithdrawAssets"`:    1, `"privateGetWithdrawalHistory"`: 5,
		} {
			s.costsOnSocket(message, weight)
		}
	}},
	{"websocket-facts 8", "what REST alone has is no action", func(s *stage) {
		c := s.socket("alice")
		for _, action := range []string{"getBookReport", "getReportBook", "privateGetStakingBalance"} {
			c.tells(`{"action":"`+action+`"}`, `{"action":"unknown","errorCode":415…`)
		}
	}},
	{"websocket-facts 8 privateCreateOrder", "takes the body of POST /order, and answers its record", func(s *stage) {
		c := s.socket("alice")
		c.tells(`{"action":"privateCreateOrder","requestId":2,"market":"BTC-EUR","side":"buy","orderType":"limit",`+
			`"amount":"0.01","price":"1000","operatorId":7,"clientOrderId":"11111111-2222-4333-8444-555555555555"}`,
			`{"action":"privateCreateOrder","requestId":2,"response":{"orderId":"…`)
		o := s.rows("alice", "GET /ordersOpen market=BTC-EUR")[0]
		s.has(o, "amount=0.01", "price=1000", "clientOrderId=11111111-2222-4333-8444-555555555555")
		c.tells(`{"action":"privateUpdateOrder","market":"BTC-EUR","orderId":"`+o.id()+`","operatorId":8,"amount":"0.02"}`,
			`{"action":"privateUpdateOrder","response":{"orderId":"`+o.id()+`"…`,
			`{"action":"privateCancelOrder","requestId":3,"market":"BTC-EUR","orderId":"`+o.id()+`","operatorId":7}`,
			`{"action":"privateCancelOrder","requestId":3,"response":{"orderId":"`+o.id()+
				`","clientOrderId":"11111111-2222-4333-8444-555555555555","operatorId":7}}`)
	}},
	{"websocket-facts 8 privateGetOrder", "needs orderId or clientOrderId; the latter wins", func(s *stage) {
		c := s.socket("alice")
		first := s.place("alice", "buy limit amount=1 price=90")
		s.place("alice", "buy limit amount=1 price=91 clientOrderId=11111111-2222-4333-8444-555555555555")
		c.tells(`{"action":"privateGetOrder","market":"BTC-EUR"}`,
			`{"action":"privateGetOrder","market":"BTC-EUR","errorCode":203…`)
		require.Contains(s.t, c.ask(`{"action":"privateGetOrder","market":"BTC-EUR","orderId":"`+first.id()+
			`","clientOrderId":"11111111-2222-4333-8444-555555555555"}`), `"price":"91"`)
	}},
	{"websocket-facts 8 operatorId", "is required; the setting that makes it optional holds here too", func(s *stage) {
		message := `{"action":"privateCancelOrders","market":"BTC-EUR"}`
		s.socket("alice").tells(message, `{"action":"privateCancelOrders","market":"BTC-EUR","errorCode":203…`)
		free := newStage(s.t, func(c *Config) { c.Rules.OperatorOptional = true })
		free.socket("alice").tells(message, `{"action":"privateCancelOrders","response":[]}`)
	}},
	{"websocket-facts 8", "numbers may come as texts of digits; null and an empty text count as missing",
		func(s *stage) {
			s.trade("1", "100")
			s.socket("alice").tells(`{"action":"getBook","market":"BTC-EUR","depth":"1"}`,
				`{"action":"getBook","response"…`,
				`{"action":"getTrades","market":"BTC-EUR","limit":"1","start":"0"}`, `{"action":"getTrades","…`,
				`{"action":"privateGetFees","market":null}`, `{"action":"privateGetFees","response":{…`,
				`{"action":"privateGetFees","market":""}`, `{"action":"privateGetFees","response":{…`)
		}},
	{"websocket-facts 8 responseRequired", "false: an answer without an error", func(s *stage) {
		c := s.socket("alice")
		c.tells(`{"action":"privateCreateOrder","requestId":2,"market":"BTC-EUR","side":"buy","orderType":"limit",`+
			`"amount":"1","price":"90","operatorId":7,"responseRequired":false}`,
			`{"action":"privateCreateOrder","requestId":2,"response":{}}`)
		o := s.rows("alice", "GET /ordersOpen market=BTC-EUR")[0]
		c.tells(`{"action":"privateUpdateOrder","market":"BTC-EUR","orderId":"`+o.id()+`","operatorId":7,`+
			`"price":"91","responseRequired":false}`, `{"action":"privateUpdateOrder","response":{"orderId":"`+o.id()+`"…`)
	}},
	{"websocket-facts 8", "a member that the action does not have is ignored: clients send more than it needs",
		func(s *stage) {
			c := s.socket("alice")
			c.tells(`{"action":"getTime","market":"BTC-EUR"}`, `{"action":"getTime","response":{"time":…`,
				`{"action":"privateGetBalance","market":"NOPE","a":{"b":[1,null]},"a":0}`,
				`{"action":"privateGetBalance","response":[…`)
			o := s.place("alice", "buy limit amount=1 price=90")
			c.tells(`{"action":"privateUpdateOrder","market":"BTC-EUR","orderId":"`+o.id()+`","operatorId":7,"side":"buy",`+
				`"orderType":"limit","price":"91"}`, `{"action":"privateUpdateOrder","response":{"orderId":"`+o.id()+`"…`)
			s.has(s.again("alice", o), "price=91", "amount=1")
			s.place("alice", "buy limit amount=1 price=89")
			c.tells(`{"action":"privateGetOrders","market":"BTC-EUR","orderId":"`+o.id()+`"}`, // once its name
				`{"action":"privateGetOrders","response":[{"orderId":"`+o.id()+`"…`)
		}},
	{"websocket-facts 8 cancel on disconnect", "is the timer of REST: closing the socket cancels nothing",
		func(s *stage) {
			c := s.socket("alice")
			o := s.place("alice", "buy limit amount=1 price=90 codGroupId=1")
			c.tells(`{"action":"privateCancelOrdersAfter","requestId":4,"codGroupId":1,"expiryAfterSeconds":30}`,
				`{"action":"privateCancelOrdersAfter","requestId":4,"response":{"codGroupId":1,"timeOfExpirySeconds":1767614445}}`)
			c.on.CloseNow()
			s.pass(29 * time.Second)
			s.has(s.again("alice", o), "status=new")
			s.pass(time.Second)
			s.has(s.again("alice", o), "status=canceled")
		}},
}

// costsOnSocket requires the weight of an action.
func (s *stage) costsOnSocket(message string, weight int) {
	s.t.Helper()
	fresh := newStage(s.t)
	c := fresh.socket("alice")
	before := fresh.ask("alice", "GET /account").remaining(s.t)
	c.ask(`{"action":` + message + `}`)
	require.Equal(s.t, before-1-weight, fresh.ask("alice", "GET /account").remaining(s.t), message)
}
