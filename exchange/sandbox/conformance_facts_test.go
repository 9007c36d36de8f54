package sandbox

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

// pricesOf is a source that trades at some prices, one a minute from the start of the exchange on.
func pricesOf(texts ...string) prices.Source { return minutes(texts) }

type minutes []string

// Movements trades one unit a minute.
func (p minutes) Movements(start prices.Start) (prices.Movements, error) {
	place := 0
	return func(m *prices.Movement) (bool, error) {
		if place == len(p) {
			return false, nil
		}
		at, err := start.Market.ParsePrice(p[place])
		*m = prices.Movement{At: start.From.Add(time.Duration(place) * time.Minute), Price: at,
			Amount: market.Qty(market.Pow10(start.Market.AmountDigits)), Side: market.Buy}
		place++
		return true, err
	}, nil
}

// factPublicRules are sections 1.1 and 1.2 of venue-facts.
var factPublicRules = []rule{
	{"venue-facts 1", "parameters of GET and DELETE stand in the query, of POST and PUT in the body",
		ruleOf("1 body parameters")},
	{"venue-facts 1", "a time beyond 8640000000000000 is refused", func(s *stage) {
		for _, line := range []string{"GET /trades market=BTC-EUR end=", "GET /BTC-EUR/trades end=",
			"GET /BTC-EUR/candles interval=1m end=", "GET /depositHistory end=", "GET /withdrawalHistory end=",
			"GET /account/history toDate="} {
			s.outOfBounds(line, "8640000000000001")
		}
	}},
	{"venue-facts 1", "markets, assets and tickers answer one object for a filter, balance stays a list",
		func(s *stage) {
			for _, line := range []string{"GET /markets market=BTC-EUR", "GET /ticker/price market=BTC-EUR",
				"GET /ticker/book market=BTC-EUR", "GET /ticker/24h market=BTC-EUR", "GET /assets symbol=BTC"} {
				require.Equal(s.t, byte('{'), s.ask("", line).ok(s.t).body[0], line)
			}
			require.Equal(s.t, byte('['), s.ask("alice", "GET /balance symbol=BTC").ok(s.t).body[0])
		}},
	{"venue-facts 1.1", "each endpoint costs its weight", func(s *stage) {
		for line, weight := range map[string]int{
			"GET /time": 1, "GET /markets": 1, "GET /assets": 1, "GET /BTC-EUR/book": 1, "GET /BTC-EUR/trades": 5,
			"GET /BTC-EUR/candles interval=1m": 1, "GET /ticker/price": 1, "GET /ticker/book": 1,
			"GET /ticker/24h": 25, "GET /ticker/24h market=BTC-EUR": 1, "GET /report/BTC-EUR/book": 1,
			"GET /report/BTC-EUR/trades": 5, "POST /order": 1, "PUT /order": 1, "GET /order": 1, "DELETE /order": 1,
			"GET /orders market=BTC-EUR": 5, "GET /ordersOpen": 100, "GET /ordersOpen market=BTC-EUR": 5,
			"GET /ordersOpen base=BTC": 100, "DELETE /orders operatorId=7": 100,
			"DELETE /orders market=BTC-EUR operatorId=7":                 25,
			"POST /cancelOrdersAfter codGroupId=1 expiryAfterSeconds=30": 5, "GET /trades market=BTC-EUR": 5,
			"GET /account": 1, "GET /balance": 5, "GET /account/fees": 1, "GET /account/history": 1,
			"GET /deposit symbol=BTC": 1, "GET /depositHistory": 5, "POST /withdrawal": 1, "GET /withdrawalHistory": 5,
			"DELETE /atomic/orders market=BTC-EUR side=buy operatorId=7": 100, "GET /stakingBalance": 5,
			"POST /crypto/withdrawal": 25,
		} {
			costs(weight, line)(newStage(s.t))
		}
	}},
	{"venue-facts 1.1", "each endpoint needs its permissions", func(s *stage) {
		ruleOf("5 Read-only")(s)
		ruleOf("5 Trade digital assets")(newStage(s.t))
		ruleOf("5 Withdraw digital assets")(newStage(s.t))
	}},
	{"venue-facts 1.2 time", "time in milliseconds, timeNs in true nanoseconds", func(s *stage) {
		s.pass(123_456_789)
		require.Equal(s.t, `{"time":1767614415123,"timeNs":1767614415123456789}`, s.get("/time").body)
		s.refuse("", "GET /time market=BTC-EUR", 400, 200)
	}},
	{"venue-facts 1.2 markets", "all fields of a market", func(s *stage) {
		require.Equal(s.t, `{"market":"BTC-EUR","status":"trading","base":"BTC","quote":"EUR","pricePrecision":null,"minOrderInBaseAsset":"0.00010000","minOrderInQuoteAsset":"5.00",`+
			`"maxOrderInBaseAsset":"1000000000.00000000","maxOrderInQuoteAsset":"1000000000.00","quantityDecimals":8,"notionalDecimals":2,"tickSize":"0.01","maxOpenOrders":100,"feeCategory":"A",`+
			`"orderTypes":["market","limit","stopLoss","stopLossLimit","takeProfit","takeProfitLimit"]}`,
			s.get("/markets?market=BTC-EUR").ok(s.t).body)
	}},
	{"venue-facts 1.2 assets", "all fields of an asset; EUR is one and moves by SEPA", func(s *stage) {
		require.Equal(s.t, `{"symbol":"BTC","name":"Bitcoin","decimals":8,"depositFee":"0","depositConfirmations":2,"depositStatus":"OK","withdrawalFee":"0.00001","withdrawalMinAmount":"0.0001",`+
			`"withdrawalStatus":"OK","networks":["BTC"],"message":""}`, s.get("/assets?symbol=BTC").ok(s.t).body)
		require.Equal(s.t, []any{"SEPA"}, s.one("", "GET /assets symbol=EUR")["networks"])
	}},
	{"venue-facts 1.2 book",
		"market, nonce, bids falling, asks rising, timestamp in nanoseconds; the nonce grows by one with each " +
			"change, a trade being one", func(s *stage) {
			nonce := func() int64 {
				n, err := s.one("", "GET /BTC-EUR/book")["nonce"].(interface{ Int64() (int64, error) }).Int64()
				require.NoError(s.t, err)
				return n
			}
			before := nonce()
			s.place("alice", "buy limit amount=1 price=100")
			require.Equal(s.t, before+1, nonce())
			s.place("alice", "sell stopLoss amount=1 triggerAmount=90") // is not in the book
			require.Equal(s.t, before+1, nonce())
			require.Equal(s.t, fmt.Sprintf(
				`{"market":"BTC-EUR","nonce":%d,"bids":[["100","1"]],"asks":[],"timestamp":1767614415000000000}`,
				before+1), s.get("/BTC-EUR/book").body)
			s.place("bob", "sell limit amount=0.4 price=100")
			require.Equal(s.t, before+2, nonce(), "one trade of two orders")
			s.place("bob", "sell limit amount=1 price=100")
			require.Equal(s.t, before+4, nonce(), "a trade, and the rest in the book")
			s.place("bob", "sell limit amount=1 price=101")
			s.place("alice", "buy limit amount=1.4 price=101")
			require.Equal(s.t, before+7, nonce(), "two trades, and no rest")
		}},
	{"venue-facts 1.2 trades",
		"id, timestamp, amount, price and the taker's side; limit 1 to 1000, a range of at most 24 hours",
		func(s *stage) {
			for range 3 {
				s.trade("1", "100")
				s.pass(time.Second)
			}
			list := s.rows("", "GET /BTC-EUR/trades limit=2")
			require.Len(s.t, list, 2)
			require.Len(s.t, list[0], 5)
			s.has(list[0], "id$", "timestamp:=1767614417000", "amount=1", "price=100", "side=sell")
			s.outOfBounds("GET /BTC-EUR/trades limit=", "0", "1001")
			s.ask("", "GET /BTC-EUR/trades start=1767614415000 end=1767700815000").ok(s.t)
			s.refuse("", "GET /BTC-EUR/trades start=1767614415000 end=1767700815001", 400, 205).says(s.t,
				"end parameter is invalid.")
			ids := []string{list[1]["id"].(string), list[0]["id"].(string)}
			require.Len(s.t, s.rows("", "GET /BTC-EUR/trades tradeIdFrom="+ids[0]), 2)
			require.Len(s.t, s.rows("", "GET /BTC-EUR/trades tradeIdTo="+ids[0]), 2)
			require.Len(s.t, s.rows("", "GET /BTC-EUR/trades tradeIdFrom="+ids[0]+" tradeIdTo="+ids[0]), 1)
		}},
	{"venue-facts 1.2 candles",
		"thirteen intervals, newest first, none without trades, start inclusive and end exclusive, the newest limit " +
			"of the range win", func(s *stage) {
			s = newStage(s.t, func(c *Config) { c.Markets[0].Source = pricesOf("100", "101", "99", "102") })
			s.pass(3*time.Minute + time.Second)
			require.Equal(s.t, `[[1767614580000,"102","102","102","102","1"],[1767614520000,"99","99","99","99","1"],[1767614460000,"101","101","101","101","1"],[1767614400000,"100","100","100","100","1"]]`,
				s.get("/BTC-EUR/candles?interval=1m").ok(s.t).body)
			require.Equal(s.t, `[[1767614520000,"99","99","99","99","1"]]`,
				s.get("/BTC-EUR/candles?interval=1m&start=1767614520000&end=1767614580000").ok(s.t).body)
			require.Equal(s.t, `[[1767614580000,"102","102","102","102","1"]]`,
				s.get("/BTC-EUR/candles?interval=1m&start=0&limit=1").ok(s.t).body)
			for _, interval := range market.Words[market.Interval]()[1:] {
				s.get("/BTC-EUR/candles?interval="+interval).ok(s.t).says(s.t, `,"100","102","99","102","4"]]`)
			}
			s.refuse("", "GET /BTC-EUR/candles", 400, 203).says(s.t, "interval parameter is required.")
			s.outOfBounds("GET /BTC-EUR/candles interval=", "1w", "3m", "1D")
			s.outOfBounds("GET /BTC-EUR/candles interval=1m limit=", "0", "1441")
			require.Equal(s.t, `[]`, s.get("/ETH-EUR/candles?interval=1m").ok(s.t).body)
		}},
	{"venue-facts 1.2 ticker/price", "market and price, without zeros at its end", func(s *stage) {
		s.trade("1", "100.50")
		require.Equal(s.t, `{"market":"BTC-EUR","price":"100.5"}`, s.get("/ticker/price?market=BTC-EUR").body)
	}},
	{"venue-facts 1.2 ticker/book", "market, bid, bidSize, ask, askSize; null where a side is empty", func(s *stage) {
		s.place("alice", "buy limit amount=2 price=100")
		require.Equal(s.t, `{"market":"BTC-EUR","bid":"100","bidSize":"2","ask":null,"askSize":null}`,
			s.get("/ticker/book?market=BTC-EUR").body)
	}},
	{"venue-facts 1.2 ticker/24h", "fifteen fields, prices null without a trade in 24 hours", func(s *stage) {
		s.trade("1", "100")
		s.pass(time.Minute)
		s.trade("2", "110")
		day := s.one("", "GET /ticker/24h market=BTC-EUR")
		require.Len(s.t, day, 15)
		s.has(day, "market=BTC-EUR", "open=100", "high=110", "low=100", "last=110", "volume=3", "volumeQuote=320",
			"openTimestamp:=1767614415000", "closeTimestamp:=1767614475000", "timestamp:=1767614475000",
			"startTimestamp:=1767528075000", "bid:=null", "bidSize:=null", "ask:=null", "askSize:=null")
		s.pass(25 * time.Hour)
		s.has(s.one("", "GET /ticker/24h market=BTC-EUR"), "open:=null", "high:=null", "low:=null", "last:=null",
			"volume:=null", "volumeQuote:=null", "openTimestamp:=null")
	}},
	{"venue-facts 1.2 reports",
		"fields of both reports; depth and limit are bounded, the range of the trades is 24 hours", func(s *stage) {
			s.trade("1", "100")
			require.Len(s.t, s.rows("", "GET /report/BTC-EUR/trades")[0], 14)
			require.Len(s.t, s.one("", "GET /report/BTC-EUR/book"), 12)
			s.outOfBounds("GET /report/BTC-EUR/book depth=", "0", "1001")
			s.outOfBounds("GET /report/BTC-EUR/trades limit=", "0", "1001")
			s.refuse("", "GET /report/BTC-EUR/trades start=1767614415000 end=1767700815001", 400, 205)
		}},
}

// factTradingRules are section 1.3 of venue-facts.
var factTradingRules = []rule{
	{"venue-facts 1.3 POST /order", "operatorId missing is 203, a clientOrderId that is no UUID 205, one in use 220",
		func(s *stage) {
			ruleOf("4.1 operatorId")(s)
			ruleOf("4.1 clientOrderId")(newStage(s.t))
		}},
	{"venue-facts 1.3 POST /order", "a market order takes one of amount and amountQuote: both are 206",
		ruleOf("4.1 rule 2")},
	{"venue-facts 1.3 POST /order", "postOnly is of limit kinds only: 202", func(s *stage) {
		s.refuse("alice", orderLine("buy market amount=1 postOnly=true"), 400, 202)
		s.refuse("alice", orderLine("sell stopLoss amount=1 triggerAmount=90 postOnly=true"), 400, 202)
		s.ask("alice", orderLine("sell stopLossLimit amount=1 price=90 triggerAmount=90 postOnly=true")).ok(s.t)
		s.ask("alice", orderLine("buy stopLoss amount=1 triggerAmount=110 postOnly=false")).ok(s.t)
	}},
	{"venue-facts 1.3 POST /order", "orderIds are sequential UUIDs that name market and kind", func(s *stage) {
		require.Equal(s.t, "00000000-0000-0001-0100-000000000001",
			s.place("alice", "buy limit amount=1 price=100").id())
		require.Equal(s.t, "00000000-0000-0001-0100-000000000002", s.place("bob", "buy limit amount=1 price=100").id())
	}},
	{"venue-facts 1.3 PUT /order",
		"more than one of amount, amountRemaining, amountQuote is 236; from one kind to the other 239", func(s *stage) {
			o := s.place("alice", "buy limit amount=1 price=100")
			for change, code := range map[string]int{"amount=2 amountRemaining=2": 236, "amount=2 amountQuote=20": 236,
				"amountQuote=20": 239} {
				s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 orderId="+o.id()+" "+change, 400, code)
			}
		}},
	{"venue-facts 1.3 PUT /order", "an order that has ended is 404 with 240", ruleOf("3.1 completed")},
	{"venue-facts 1.3 PUT /order", "created stays, updated moves, the id stays, the hold is made anew", func(s *stage) {
		o := s.place("alice", "buy limit amount=0.0003 price=30000")
		s.pass(time.Minute)
		s.has(s.update("alice", o, "price=31000"), "orderId="+o.id(), "created:=1767614415000",
			"updated:=1767614475000", "onHold=9.33")
	}},
	{"venue-facts 1.3 PUT /order", "what is left must still be worth the minimum: 212, 217", func(s *stage) {
		o := s.partly()
		s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 amount=1.00005 orderId="+o.id(), 400, 212)
		s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 amountRemaining=0.04 orderId="+o.id(), 400, 217)
	}},
	{"venue-facts 1.3 GET /order", "an order that is not there is 404 with 240 in the recorded words", func(s *stage) {
		s.refuse("alice", "GET /order market=BTC-EUR orderId="+named, 404, 240).says(s.t,
			"No order found. Please be aware that simultaneously updating the same order may return this error.")
	}},
	{"venue-facts 1.3 DELETE /order",
		"answers orderId, clientOrderId where set, operatorId; an order that has ended is 240", func(s *stage) {
			o := s.place("alice", "buy limit amount=1 price=100 clientOrderId="+named)
			line := "DELETE /order market=BTC-EUR operatorId=5 clientOrderId=" + named + " orderId=" + named
			require.Equal(s.t, `{"orderId":"`+o.id()+`","clientOrderId":"`+named+`","operatorId":5}`,
				s.ask("alice", line).
					ok(s.t).body)
			s.refuse("alice", line, 404, 240)
			s.refuse("alice", "DELETE /order market=BTC-EUR operatorId=5", 400, 203)
			s.refuse("alice", "DELETE /order operatorId=5 orderId="+o.id(), 400, 203)
		}},
	{"venue-facts 1.3 DELETE /orders", "answers a list of orderId and operatorId, empty where nothing was open",
		func(s *stage) {
			o := s.place("alice", "buy limit amount=1 price=100 clientOrderId="+named)
			require.Equal(s.t, `[{"orderId":"`+o.id()+`","operatorId":7}]`,
				s.ask("alice", "DELETE /orders market=BTC-EUR operatorId=7").ok(s.t).body)
			require.Equal(s.t, `[]`, s.ask("alice", "DELETE /orders market=BTC-EUR operatorId=7").ok(s.t).body)
		}},
	{"venue-facts 1.3 DELETE /atomic/orders",
		"ends all open orders of one side of a market, or none; answers as DELETE /orders", func(s *stage) {
			o := s.place("alice", "buy limit amount=1 price=100")
			waits := s.place("alice", "buy stopLossLimit amount=1 price=200 triggerAmount=200")
			worse := s.place("alice", "buy limit amount=1 price=90")
			other := s.place("alice", "sell limit amount=1 price=300")
			dearer := s.place("alice", "sell limit amount=1 price=310")
			ended := func(side string, orders ...string) {
				s.t.Helper()
				want := []string{}
				for _, id := range orders {
					want = append(want, `{"orderId":"`+id+`","operatorId":7}`)
				}
				require.Equal(s.t, "["+strings.Join(want, ",")+"]",
					s.ask("alice", "DELETE /atomic/orders market=BTC-EUR side="+side+" operatorId=7").ok(s.t).body)
			}
			theirs := s.place("bob", "buy limit amount=1 price=100")
			s.refuse("alice", "DELETE /atomic/orders market=BTC-EUR operatorId=7", 400, 203)
			s.refuse("alice", "DELETE /atomic/orders side=buy operatorId=7", 400, 203)
			s.refuse("alice", "DELETE /atomic/orders market=BTC-EUR side=buy", 400, 203)
			s.refuse("alice", "DELETE /atomic/orders market=BTC-EUR side=both operatorId=7", 400, 205)
			ended("buy", waits.id(), worse.id(), o.id())
			ended("buy")
			s.has(s.again("alice", o), "status=canceled")
			s.has(s.again("alice", other), "status=new")
			ended("sell", dearer.id(), other.id())
			s.has(s.again("bob", theirs), "status=new")
		}},
	{"venue-facts 1.3 GET /orders", "limit is 500 by default", func(s *stage) {
		for range 501 {
			s.ex.clock.Advance(time.Minute / 500)
			s.place("bob", "buy limit amount=1 price=100 timeInForce=IOC")
		}
		s.pass(time.Minute)
		require.Len(s.t, s.rows("bob", "GET /orders market=BTC-EUR"), 500)
		require.Len(s.t, s.rows("bob", "GET /orders market=BTC-EUR limit=1000"), 501)
	}},
	{"venue-facts 1.3 POST /cancelOrdersAfter", "10 to 300 seconds, 0 stops; answers the group and Unix seconds",
		func(s *stage) {
			require.Equal(s.t, `{"codGroupId":1,"timeOfExpirySeconds":1767614715}`,
				s.ask("alice", "POST /cancelOrdersAfter codGroupId=1 expiryAfterSeconds=300").ok(s.t).body)
			require.Equal(s.t, `{"codGroupId":1,"timeOfExpirySeconds":0}`,
				s.ask("alice", "POST /cancelOrdersAfter codGroupId=1 expiryAfterSeconds=0").ok(s.t).body)
			for _, bad := range []string{"9", "301", "-1", `"30"`} {
				s.refuse("alice", "POST /cancelOrdersAfter codGroupId=1 expiryAfterSeconds="+bad, 400, 205).says(s.t,
					"expiryAfterSeconds parameter is invalid.")
			}
			s.refuse("alice", "POST /cancelOrdersAfter codGroupId=1", 400, 203)
		}},
	{"venue-facts 1.3 GET /trades",
		"newest first with the fields of a fill, its order, operator and market; range and limit are bounded",
		func(s *stage) {
			bid := s.place("alice", "buy limit amount=1 price=100 clientOrderId="+named)
			s.place("bob", "sell limit amount=0.4 price=100")
			s.place("bob", "sell limit amount=0.6 price=100")
			list := s.rows("alice", "GET /trades market=BTC-EUR")
			require.Len(s.t, list, 2)
			require.Len(s.t, list[0], 13)
			s.has(list[0], "id$", "orderId="+bid.id(), "clientOrderId="+named, "timestamp#", "market=BTC-EUR",
				"side=buy",
				"amount=0.6", "price=100", "taker:=false", "fee=0.09", "feeCurrency=EUR", "settled:=true",
				"operatorId:=7")
			s.has(s.rows("bob", "GET /trades market=BTC-EUR")[0], "-clientOrderId", "side=sell", "taker:=true")
			require.Len(s.t, s.rows("alice", "GET /trades market=BTC-EUR limit=1"), 1)
			require.Len(s.t, s.rows("alice", "GET /trades market=BTC-EUR tradeIdTo="+list[1]["id"].(string)), 1)
			s.refuse("alice", "GET /trades", 400, 203)
			s.outOfBounds("GET /trades market=BTC-EUR limit=", "0", "1001")
			s.refuse("alice", "GET /trades market=BTC-EUR start=1 end=86400002", 400, 205)
		}},
}

// factAccountRules are section 1.4 of venue-facts.
var factAccountRules = []rule{
	{"venue-facts 1.4 account", "fees with a tier that is a number, and the capabilities", func(s *stage) {
		require.Equal(s.t, `{"fees":{"tier":0,"volume":"0.00","taker":"0.0025","maker":"0.0015"},"capabilities":["buy","sell","depositCrypto","depositFiat","withdrawCrypto","withdrawFiat"]}`,
			s.ask("alice", "GET /account").ok(s.t).body)
		s.refuse("alice", "GET /account market=BTC-EUR", 400, 200)
	}},
	{"venue-facts 1.4 account/fees", "a tier that is a text; of a market, of a quote or of category B", func(s *stage) {
		for _, query := range []string{"", " market=BTC-EUR", " quote=EUR"} {
			require.Equal(s.t, `{"tier":"0","volume":"0.00","taker":"0.0025","maker":"0.0015"}`,
				s.ask("alice", "GET /account/fees"+query).ok(s.t).body)
		}
	}},
	{"venue-facts 1.4 balance", "symbol, available, inOrder: what orders hold is in order", func(s *stage) {
		s.place("alice", "buy limit amount=1 price=100")
		require.Equal(s.t, `[{"symbol":"EUR","available":"9999899.75","inOrder":"100.25"}]`,
			s.ask("alice", "GET /balance symbol=EUR").ok(s.t).body)
	}},
	{"venue-facts 1.4 account/history", "items in pages of 1 to 100, newest first, with ISO times, an address or null",
		func(s *stage) {
			s.trade("1", "100")
			s.pass(time.Second)
			s.ask("alice", "POST /withdrawal symbol=BTC amount=1 address=bc1q0000000000000000").ok(s.t)
			page := s.one("alice", "GET /account/history maxItems=1")
			require.Len(s.t, page, 4)
			s.has(page, "currentPage:=1", "totalPages:=2", "maxItems:=1")
			s.has(page["items"].([]any)[0].(map[string]any), "type=withdrawal", "executedAt=2026-01-05T12:00:16.000Z",
				"address=bc1q0000000000000000", "transactionId$")
			page = s.one("alice", "GET /account/history maxItems=1 page=2")
			s.has(page["items"].([]any)[0].(map[string]any), "type=buy", "address:=null", "sentCurrency=EUR",
				"receivedCurrency=BTC", "receivedAmount=1", "feesCurrency=EUR", "feesAmount=0.15", "priceAmount=100")
			s.outOfBounds("GET /account/history maxItems=", "0", "101")
			s.outOfBounds("GET /account/history page=", "0", "-1")
			s.outOfBounds("GET /account/history type=", "gift")
		}},
	{"venue-facts 1.4 deposit",
		"symbol is required; a coin has address and paymentId or none, a currency iban, bic and description",
		func(s *stage) {
			s.refuse("alice", "GET /deposit", 400, 203).says(s.t, "symbol parameter is required.")
			s.refuse("alice", "GET /deposit symbol=XYZ", 400, 205).says(s.t, "symbol parameter is invalid.")
			ruleOf("1 GET /deposit")(s)
		}},
	{"venue-facts 1.4 depositHistory",
		"timestamp, symbol, amount, fee, status, address, txId of coins; by symbol, limit and time", func(s *stage) {
			for _, symbol := range []string{"BTC", "EUR"} {
				_, refusal := s.ex.bank.deposit("alice", symbol, "100", s.ex.clock.Now())
				require.Nil(s.t, refusal)
			}
			s.pass(10 * time.Minute)
			list := s.rows("alice", "GET /depositHistory")
			require.Len(s.t, list, 2)
			s.has(list[0], "timestamp#", "symbol=BTC", "amount=100", "fee=0", "status=completed", "txId$", "address$")
			s.has(list[1], "symbol=EUR", "-txId")
			require.Len(s.t, s.rows("alice", "GET /depositHistory symbol=EUR"), 1)
			require.Len(s.t, s.rows("alice", "GET /depositHistory limit=1"), 1)
			s.outOfBounds("GET /depositHistory limit=", "0", "1001")
		}},
	{"venue-facts 1.4 withdrawal",
		"symbol, amount and address are required; internal must be false; the amount is what leaves the balance",
		func(s *stage) {
			for _, without := range []string{"amount=1 address=x", "symbol=BTC address=x", "symbol=BTC amount=1"} {
				s.refuse("alice", "POST /withdrawal "+without, 400, 203)
			}
			s.refuse("alice", "POST /withdrawal symbol=BTC amount=1 address=bc1q internal=true", 400, 205)
			require.Equal(s.t, `{"success":true,"symbol":"BTC","amount":"1"}`,
				s.ask("alice", "POST /withdrawal symbol=BTC amount=1 address=bc1q internal=false").ok(s.t).body)
			require.Equal(s.t, `{"success":true,"symbol":"BTC","amount":"1.00001"}`,
				s.ask("alice", "POST /withdrawal symbol=BTC amount=1 address=bc1q addWithdrawalFee=true paymentId=5").
					ok(s.t).body)
			s.has(s.rows("alice", "GET /balance symbol=BTC")[0], "available=997.99999")
		}},
	{"venue-facts 1.4 withdrawalHistory", "goes from awaiting_processing to completed on the exchange's clock",
		func(s *stage) {
			s.ask("alice", "POST /withdrawal symbol=BTC amount=1 address=bc1q paymentId=77").ok(s.t)
			var seen []string
			for range 60 {
				is := s.rows("alice", "GET /withdrawalHistory symbol=BTC")[0]
				if status := is["status"].(string); len(seen) == 0 || seen[len(seen)-1] != status {
					seen = append(seen, status)
				}
				s.pass(10 * time.Second)
			}
			require.Equal(s.t, "awaiting_processing approved sending in_mempool processed completed",
				strings.Join(seen, " "))
			s.has(s.rows("alice", "GET /withdrawalHistory")[0], "timestamp:=1767614415000", "amount=0.99999",
				"fee=0.00001",
				"address=bc1q", "paymentId=77", "txId$")
		}},
	{"venue-facts 1.4 crypto/withdrawal",
		"answers 201; the fee comes on top or inside; an idempotencyKey that comes again withdraws nothing more",
		func(s *stage) {
			line := "POST /crypto/withdrawal asset=BTC network=BTC amount=1 address=bc1q memo=5"
			once := s.ask("alice", line+" idempotencyKey=once-more")
			require.Equal(s.t, http.StatusCreated, once.status)
			s.has(decodedText[row](s, once.body), "asset=BTC", "network=BTC", "address=bc1q", "amount=1", "fee=0.00001",
				"createdAt=2026-01-05T12:00:15.000Z")
			s.pass(time.Second)
			require.Equal(s.t, once.body, s.ask("alice", line+" idempotencyKey=once-more").body)
			require.NotEqual(s.t, once.body, s.ask("bob", line+" idempotencyKey=once-more").body)
			s.has(s.rows("alice", "GET /balance symbol=BTC")[0], "available=998.99999")
			inside := s.ask("alice", line+" deductFeeFromAmount=true")
			s.has(decodedText[row](s, inside.body), "amount=0.99999", "fee=0.00001")
			s.has(s.rows("alice", "GET /balance symbol=BTC")[0], "available=997.99999")
			s.has(s.rows("alice", "GET /withdrawalHistory")[0], "amount=0.99999", "paymentId=5")
			s.refuse("alice", line+" idempotencyKey=once", 400, 205)
			s.refuse("alice", "POST /crypto/withdrawal asset=BTC network=ETH amount=1 address=bc1q", 400, 205)
			s.refuse("alice", "POST /crypto/withdrawal asset=EUR network=SEPA amount=1 address=bc1q", 400, 205)
			s.refuse("alice", "POST /crypto/withdrawal asset=BTC network=BTC amount=1", 400, 203)
		}},
	{"venue-facts 1.4 stakingBalance", "is an empty list: nothing can be staked", func(s *stage) {
		require.Equal(s.t, `[]`, s.ask("alice", "GET /stakingBalance").ok(s.t).body)
	}},
	{"venue-facts 1.4 subaccounts",
		"are not part of this exchange: paths are known, methods, parameters and answers are not",
		func(s *stage) { s.refuse("alice", "GET /institutional/subaccounts/balance", 404, 110) }},
}
