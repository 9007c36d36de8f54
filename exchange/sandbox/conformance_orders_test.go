package sandbox

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
)

// createRules are section 4.1.
var createRules = []rule{
	{"4.1 weight", "1", func(s *stage) {
		require.Equal(s.t, 999, s.ask("alice", orderLine("buy limit amount=1 price=100")).ok(s.t).remaining(s.t))
	}},
	{"4.1 limit", "100 open orders of a market: 235", func(s *stage) {
		for range 100 {
			s.place("alice", "buy limit amount=1 price=100")
		}
		s.refuse("alice", orderLine("buy limit amount=1 price=100"), 400, 235)
		s.one("alice", "POST /order market=ETH-EUR operatorId=7 side=buy orderType=limit amount=1 price=100")
		s.place("bob", "buy limit amount=1 price=100")
	}},
	{"4.1 market", "required, and one that there is", wants("market", "ETH-EUR", `"XRP-EUR"`, `"btc-eur"`, `""`, `7`,
		`null`)},
	{"4.1 side", "required: buy or sell", wants("side", "sell", `"BUY"`, `"hold"`, `true`)},
	{"4.1 orderType", "required: one of six", func(s *stage) {
		wants("orderType", "limit", `"Limit"`, `"iceberg"`, `1`)(s)
		s.place("bob", "sell limit amount=1 price=100")
		for _, o := range []string{"market amount=0.1", "stopLoss amount=1 triggerAmount=110",
			"stopLossLimit amount=1 price=110 triggerAmount=110",
			"takeProfit amount=1 triggerAmount=90", "takeProfitLimit amount=1 price=90 triggerAmount=90"} {
			s.has(s.place("alice", "buy "+o), "orderType="+strings.Fields(o)[0])
		}
	}},
	{"4.1 operatorId", "required: an integer of 64 bits", func(s *stage) {
		s.refuse("alice", "POST /order market=BTC-EUR side=buy orderType=limit amount=1 price=100", 400, 203).says(s.t,
			"operatorId parameter is required.")
		for _, bad := range []string{`"7"`, `7.5`, `7e3`, `9223372036854775808`, `null`, `true`} {
			s.refuse("alice", strings.Replace(orderLine("buy limit amount=1 price=100"), "operatorId=7",
				"operatorId="+bad, 1), 400, 205).says(s.t, "operatorId parameter is invalid.")
		}
	}},
	{"4.1 clientOrderId", "a UUID that no open order of the client in the market has", func(s *stage) {
		for _, bad := range []string{`"x"`, `"11111111222243338444555555555555"`,
			`"{11111111-2222-4333-8444-555555555555}"`, `"11111111-2222-4333-8444-55555555555g"`, `""`, `5`, `null`} {
			s.refuse("alice", orderLine("buy limit amount=1 price=100 clientOrderId:="+bad), 400, 205).says(s.t,
				"clientOrderId parameter is invalid")
		}
		s.place("alice", "buy limit amount=1 price=100 clientOrderId="+named)
		s.refuse("alice", orderLine("buy limit amount=1 price=100 clientOrderId="+named), 400, 220)
		s.one("alice", "POST /order market=ETH-EUR operatorId=7 side=buy orderType=limit amount=1 price=100 "+
			"clientOrderId="+named)
	}},
	{"4.1 amount", "a text with at most quantityDecimals decimals; zeros at its end are none", func(s *stage) {
		for _, bad := range []string{`1`, `1.5`, `"-1"`, `"+1"`, `"1e2"`, `"0"`, `""`, `"1,5"`, `" 1"`, `".5"`, `"5."`,
			`"NaN"`, `"1_000"`, `"١"`, `null`} {
			s.refuse("alice", orderLine("buy limit price=100 amount:="+strings.ReplaceAll(bad, " ", `\u0020`)), 400,
				205).says(s.t, "amount parameter is invalid.")
		}
		s.refuse("alice", orderLine("buy limit price=100 amount=0.123456789"), 400, 429)
		s.has(s.place("alice", "buy limit price=100 amount=0.12345678000000"), "amount=0.12345678")
		s.has(s.place("alice", "buy limit price=100 amount=007.50"), "amount=7.5")
	}},
	{"4.1 amountQuote", "of market, stopLoss and takeProfit, with at most notionalDecimals decimals", func(s *stage) {
		s.refuse("alice", orderLine("buy market amountQuote=10.001"), 400, 429)
		for _, limit := range []string{"limit price=100", "stopLossLimit price=100 triggerAmount=110",
			"takeProfitLimit price=100 triggerAmount=90"} {
			s.refuse("alice", orderLine("buy "+limit+" amountQuote=50"), 400, 202)
		}
	}},
	{"4.1 price", "a text, a multiple of tickSize; not of market kinds", func(s *stage) {
		s.refuse("alice", orderLine("buy limit amount=1 price:=100"), 400, 205)
		s.refuse("alice", orderLine("buy market amount=1 price=100"), 400, 202)
		s.has(s.place("alice", "buy limit amount=1 price=100.010"), "price=100.01")
	}},
	{"4.1 triggerAmount", "of stop and take-profit types: missing 237 or 238; elsewhere 202", func(s *stage) {
		s.refuse("alice", orderLine("sell stopLoss amount=1"), 400, 237)
		s.refuse("alice", orderLine("sell takeProfitLimit amount=1 price=90"), 400, 238)
		s.refuse("alice", orderLine("sell limit amount=1 price=90 triggerAmount=80"), 400, 202)
	}},
	{"4.1 triggerType", "price", func(s *stage) {
		s.refuse("alice", orderLine("sell stopLoss amount=1 triggerAmount=90 triggerType=amount"), 400, 205)
		s.has(s.place("alice", "sell stopLoss amount=1 triggerAmount=90 triggerType=price"), "triggerType=price")
	}},
	{"4.1 triggerReference", "one of four", func(s *stage) {
		s.refuse("alice", orderLine("sell stopLoss amount=1 triggerAmount=90 triggerReference=lasttrade"), 400, 205)
	}},
	{"4.1 timeInForce", "GTC by default", func(s *stage) {
		s.has(s.place("alice", "buy limit amount=1 price=100"), "timeInForce=GTC")
		s.refuse("alice", orderLine("buy limit amount=1 price=100 timeInForce=GTD"), 400, 205)
	}},
	{"4.1 postOnly", "false by default; true cancels a limit order that would match", func(s *stage) {
		s.place("bob", "sell limit amount=1 price=100")
		s.has(s.place("alice", "buy limit amount=1 price=100 postOnly=true"), "status=canceled",
			"restatementReason=cancelPostOnly", "filledAmount=0")
		s.has(s.place("alice", "buy limit amount=1 price=99.99 postOnly=true"), "status=new")
		s.refuse("alice", orderLine(`buy limit amount=1 price=100 postOnly="true"`), 400, 205)
	}},
	{"4.1 selfTradePrevention", "decrementAndCancel by default: the larger order is reduced, the smaller cancelled",
		func(s *stage) {
			sell := s.place("alice", "sell limit amount=5 price=100")
			buy := s.place("alice", "buy limit amount=3 price=100")
			s.has(buy, "status=canceled", "restatementReason=cancelOnSelfTradePrevention")
			s.has(s.again("alice", sell), "status=new", "amountRemaining=2",
				"restatementReason=decrementOnSelfTradePrevention")
			for prevention, want := range map[string][2]string{"cancelOldest": {"canceled", "new"},
				"cancelNewest": {"new", "canceled"}, "cancelBoth": {"canceled", "canceled"}} {
				alone := newStage(s.t)
				sell = alone.place("alice", "sell limit amount=5 price=100")
				buy = alone.place("alice", "buy limit amount=3 price=100 selfTradePrevention="+prevention)
				alone.has(buy, "status="+want[1])
				alone.has(alone.again("alice", sell), "status="+want[0])
				require.Empty(s.t, alone.rows("", "GET /BTC-EUR/trades"))
			}
		}},
	{"4.1 disableMarketProtection", "does not fail and is ignored", func(s *stage) {
		s.has(s.place("alice", "buy limit amount=1 price=100 disableMarketProtection=true"),
			"disableMarketProtection:=false")
		s.refuse("alice", orderLine("buy limit amount=1 price=100 disableMarketProtection=1"), 400, 205)
	}},
	{"4.1 responseRequired", "true by default; false answers the status only", func(s *stage) {
		a := s.ask("alice", orderLine("buy limit amount=1 price=100 responseRequired=false")).ok(s.t)
		require.Empty(s.t, a.body)
		s.rateHeaders(a)
		require.Len(s.t, s.rows("alice", "GET /ordersOpen"), 1)
		short := newStage(s.t, func(c *Config) { c.Rules.ShortCreate = true })
		require.Len(s.t, short.place("alice", "buy limit amount=1 price=100 responseRequired=false"), 6)
	}},
	{"4.1 codGroupId", "an integer from 1 to 1000", func(s *stage) {
		for _, good := range []int{1, 1000} {
			s.has(s.place("alice", fmt.Sprint("buy limit amount=1 price=100 codGroupId=", good)),
				fmt.Sprint("codGroupId:=", good))
		}
		for _, bad := range []string{"0", "1001", "-1", `"1"`, "1.0"} {
			s.refuse("alice", orderLine("buy limit amount=1 price=100 codGroupId="+bad), 400, 205)
		}
	}},
	{"4.1 unknown", "a member that the endpoint does not have is 204; one that comes twice is 205", func(s *stage) {
		s.refuse("alice", orderLine("buy limit amount=1 price=100 Price=3"), 400, 204).says(s.t,
			"Price parameter is not supported.")
		s.refuse("alice", orderLine("buy limit amount=1 price=100 price=100"), 400, 205)
		s.refuse("alice", orderLine("buy limit amount=1 price=100 pri\\u0063e=100"), 400, 205)
		s.refuse("alice", orderLine("buy limit amount=1 price=100 ✓=1"), 400, 204).says(s.t, "✓")
	}},
	{"4.1 rule 1", "a limit order needs amount and price", func(s *stage) {
		s.refuse("alice", orderLine("buy limit price=100"), 400, 203).says(s.t, "amount parameter is required.")
		s.refuse("alice", orderLine("buy limit amount=1"), 400, 203).says(s.t, "price parameter is required.")
	}},
	{"4.1 rule 2", "a market order needs amount or amountQuote, one of them", func(s *stage) {
		s.refuse("alice", orderLine("buy market"), 400, 203)
		s.refuse("alice", orderLine("buy market amount=1 amountQuote=50"), 400, 206)
	}},
	{"4.1 rule 3", "stops fire at a price that is equal or worse, take-profits at one equal or better; then they are " +
		"market or limit orders", func(s *stage) {
		for _, c := range []struct{ order, not, fires string }{
			{"sell stopLoss amount=1 triggerAmount=90", "90.01", "90"}, {"buy stopLoss amount=1 triggerAmount=110",
				"109.99", "110"},
			{"sell takeProfit amount=1 triggerAmount=110", "109.99",
				"110"}, {"buy takeProfit amount=1 triggerAmount=90", "90.01", "90"},
			{"sell stopLossLimit amount=1 price=150 triggerAmount=90", "90.01",
				"90"}, {"buy takeProfitLimit amount=1 price=50 triggerAmount=90", "90.01", "90"},
		} {
			s := newStage(s.t)
			s.trade("1", "100")
			o := s.place("alice", c.order)
			s.has(o, "status=awaitingTrigger")
			s.trade("1", c.not)
			s.has(s.again("alice", o), "status=awaitingTrigger")
			s.trade("1", c.fires)
			want := "status=expired" // a market order that finds nothing
			if strings.Contains(c.order, "Limit") {
				want = "status=new"
			}
			s.has(s.again("alice", o), want)
		}
	}},
	{"4.1 rule 4", "a price off the tick is 422", func(s *stage) {
		tick := newStage(s.t, func(c *Config) { c.Markets[0].TickSize = "0.5" })
		tick.refuse("alice", orderLine("buy limit amount=1 price=100.25"), 400, 422).says(s.t,
			"price is not a multiple")
		tick.refuse("alice", orderLine("buy stopLoss amount=1 triggerAmount=100.25"), 400, 422).says(s.t,
			"triggerAmount is not a multiple")
		tick.has(tick.place("alice", "buy limit amount=1 price=100.50"), "price=100.5")
		s.refuse("alice", orderLine("buy limit amount=1 price=100.001"), 400, 422) // finer than the tick's own decimals
	}},
	{"4.1 rule 5", "too many decimals are 400 with 429", func(s *stage) {
		s.refuse("alice", orderLine("buy limit amount=1.000000001 price=100"), 400, 429).says(s.t,
			"amount parameter has too many decimals.")
		s.refuse("alice", orderLine("buy market amountQuote=10.005"), 400, 429).says(s.t,
			"amountQuote parameter has too many decimals.")
		short := newStage(s.t, func(c *Config) { c.Markets[0].QuantityDecimals = 4 })
		short.refuse("alice", orderLine("buy limit amount=1.00001 price=100"), 400, 429)
	}},
	{"4.1 rule 6", "triggerAmount must be there; triggerType is price and triggerReference lastTrade by default",
		func(s *stage) {
			s.refuse("alice", orderLine("sell stopLoss amount=1 triggerType=price triggerReference=bestBid"), 400, 237)
			s.has(s.place("alice", "sell stopLoss amount=1 triggerAmount=90"), "triggerType=price",
				"triggerReference=lastTrade")
		}},
	{"4.1 response", "an order record with the headers of the budget", func(s *stage) {
		s.rateHeaders(s.ask("alice", orderLine("buy limit amount=1 price=100")).ok(s.t))
	}},
}

// wants shows that POST /order refuses to go without a parameter (203) and refuses bad values of it
// as JSON (205), and takes a good one.
func wants(name, good string, bad ...string) func(*stage) {
	return func(s *stage) {
		line := "POST /order market=BTC-EUR operatorId=7 side=buy orderType=limit amount=1 price=100"
		without := strings.Join(strings.FieldsFunc(line, func(r rune) bool { return r == ' ' }), " ")
		fields := strings.Fields(without)
		for i, field := range fields {
			if strings.HasPrefix(field, name+"=") {
				fields = append(fields[:i], fields[i+1:]...)
				break
			}
		}
		rest := strings.Join(fields, " ")
		s.refuse("alice", rest, 400, 203).says(s.t, name+" parameter is required.")
		for _, value := range bad {
			s.refuse("alice", rest+" "+name+":="+value, 400, 205).says(s.t, name+" parameter is invalid.")
		}
		s.has(s.one("alice", rest+" "+name+"="+good), name+"="+good)
	}
}
