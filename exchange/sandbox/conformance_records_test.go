package sandbox

import (
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
)

// Named is a clientOrderId.
const named = "11111111-2222-4333-8444-555555555555"

// orderRecordRules are section 2.1: the fields of an order and when they are there.
var orderRecordRules = []rule{
	{"2.1 orderId", "a UUID, unique in its market", func(s *stage) {
		a, b := s.place("alice", "buy limit amount=1 price=100"), s.place("bob", "buy limit amount=1 price=100")
		require.NoError(s.t, uuid.Validate(a.id()))
		require.NotEqual(s.t, a.id(), b.id())
	}},
	{"2.1 clientOrderId", "there only where it was set; null in a list on earlier orders with the same value",
		func(s *stage) {
			s.has(s.place("alice", "buy limit amount=1 price=100"), "-clientOrderId")
			first := s.place("alice", "buy limit amount=1 price=100 clientOrderId="+named)
			s.has(first, "clientOrderId="+named)
			s.ask("alice", "DELETE /order market=BTC-EUR operatorId=7 clientOrderId="+named).ok(s.t)
			s.pass(time.Second)
			s.place("alice", "buy limit amount=1 price=101 clientOrderId="+named)
			list := s.rows("alice", "GET /orders market=BTC-EUR")
			s.has(list[0], "clientOrderId="+named)
			s.has(list[1], "clientOrderId:=null", "orderId="+first.id())
			s.has(list[2], "-clientOrderId")
			s.has(s.again("alice", first), "clientOrderId="+named) // not in a list
		}},
	{"2.1 market", "BASE-QUOTE", func(s *stage) {
		s.has(s.place("alice", "buy limit amount=1 price=100"), "market=BTC-EUR")
	}},
	{"2.1 created", "integer of Unix milliseconds; an update keeps it", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.has(o, "created:=1767614415000")
		s.pass(time.Second)
		s.has(s.update("alice", o, "price=101"), "created:=1767614415000")
	}},
	{"2.1 updated", "integer of Unix milliseconds; fills and updates move it", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.has(o, "updated:=1767614415000")
		s.pass(time.Second)
		s.has(s.update("alice", o, "price=101"), "updated:=1767614416000")
		s.pass(time.Second)
		s.place("bob", "sell limit amount=0.5 price=101")
		s.has(s.again("alice", o), "updated:=1767614417000")
	}},
	{"2.1 createdNs", "integer of nanoseconds with microsecond precision, the last three digits are zeros",
		func(s *stage) {
			s.pass(123_456_789)
			s.has(s.place("alice", "buy limit amount=1 price=100"), "created:=1767614415123",
				"createdNs:=1767614415123456000")
		}},
	{"2.1 updatedNs", "integer of nanoseconds with microsecond precision, the last three digits are zeros",
		func(s *stage) {
			o := s.place("alice", "buy limit amount=1 price=100")
			s.pass(987_654_321)
			s.has(s.update("alice", o, "price=101"), "updated:=1767614415987", "updatedNs:=1767614415987654000")
		}},
	{"2.1 status", "a text, one of section 3.1", func(s *stage) {
		s.has(s.place("alice", "buy limit amount=1 price=100"), "status=new")
	}},
	{"2.1 side", "buy or sell", func(s *stage) {
		s.has(s.place("alice", "buy limit amount=1 price=100"), "side=buy")
		s.has(s.place("alice", "sell limit amount=1 price=200"), "side=sell")
	}},
	{"2.1 orderType", "as it was placed, also after its trigger", func(s *stage) {
		stop := s.place("alice", "sell stopLoss amount=1 triggerAmount=90")
		s.place("alice", "buy limit amount=1 price=80 selfTradePrevention=cancelNewest")
		s.place("bob", "buy limit amount=3 price=90")
		s.place("bob", "sell limit amount=0.5 price=90 selfTradePrevention=cancelOldest")
		s.trade("1", "90")
		s.has(s.again("alice", stop), "orderType=stopLoss")
	}},
	{"2.1 amount", "a text; not there where the order was set by amountQuote", func(s *stage) {
		s.place("bob", "sell limit amount=1 price=100")
		s.has(s.place("alice", "buy limit amount=1.50000000 price=90"), "amount=1.5")
		s.has(s.place("alice", "buy market amountQuote=50"), "-amount")
	}},
	{"2.1 amountRemaining", "what fills have left; not there where the order was set by amountQuote", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.has(o, "amountRemaining=1")
		s.place("bob", "sell limit amount=0.25 price=100")
		s.has(s.again("alice", o), "amountRemaining=0.75", "amount=1")
		s.has(s.place("bob", "sell market amountQuote=10"), "-amountRemaining")
	}},
	{"2.1 price", "of limit, stopLossLimit and takeProfitLimit orders; a takeProfit, which is a market order at its " +
		"trigger, has none and takes none: 202", func(s *stage) {
		s.place("bob", "buy limit amount=1 price=100")
		for _, with := range []string{"sell limit amount=1 price=200",
			"sell stopLossLimit amount=1 price=90 triggerAmount=95",
			"sell takeProfitLimit amount=1 price=200 triggerAmount=195"} {
			s.has(s.place("alice", with), "price$")
		}
		for _, without := range []string{"sell market amount=0.1", "sell stopLoss amount=1 triggerAmount=95",
			"sell takeProfit amount=1 triggerAmount=195"} {
			s.has(s.place("alice", without), "-price")
		}
		s.refuse("alice", orderLine("sell takeProfit amount=1 price=195 triggerAmount=195"), 400, 202)
	}},
	{"2.1 amountQuote", "of market, stopLoss and takeProfit orders set by it; not there where amount was set",
		func(s *stage) {
			s.place("bob", "sell limit amount=1 price=100")
			s.has(s.place("alice", "buy market amountQuote=50"), "amountQuote=50")
			s.has(s.place("alice", "buy stopLoss amountQuote=50 triggerAmount=120"), "amountQuote=50")
			s.has(s.place("alice", "buy takeProfit amountQuote=50 triggerAmount=80"), "amountQuote=50")
			s.has(s.place("alice", "buy market amount=0.1"), "-amountQuote")
		}},
	{"2.1 amountQuoteRemaining", "what fills have left of it; not there where amount was set", func(s *stage) {
		s.has(s.place("alice", "buy stopLoss amountQuote=50 triggerAmount=120"), "amountQuoteRemaining=50")
		s.has(s.place("alice", "buy limit amount=1 price=100"), "-amountQuoteRemaining")
	}},
	{"2.1 onHold", "what is locked until the order is settled; an end releases it", func(s *stage) {
		o := s.place("alice", "buy limit amount=0.0003 price=30000")
		s.has(o, "onHold=9.03")
		s.has(s.update("alice", o, "price=31000"), "onHold=9.33")
		s.place("bob", "sell limit amount=0.0003 price=31000")
		s.has(s.again("alice", o), "onHold=0")
	}},
	{"2.1 onHoldCurrency", "quote of a buy, base of a sell", func(s *stage) {
		s.has(s.place("alice", "buy limit amount=1 price=100"), "onHoldCurrency=EUR")
		s.has(s.place("alice", "sell limit amount=1 price=200"), "onHoldCurrency=BTC", "onHold=1")
	}},
	{"2.1 triggerPrice", "of stop and take-profit types; triggerAmount where triggerType is price", func(s *stage) {
		s.has(s.place("alice", "sell stopLoss amount=1 triggerAmount=90.5"), "triggerPrice=90.5")
		s.has(s.place("alice", "buy limit amount=1 price=100"), "-triggerPrice")
	}},
	{"2.1 triggerAmount", "of stop and take-profit types", func(s *stage) {
		s.has(s.place("alice", "sell takeProfit amount=1 triggerAmount=190"), "triggerAmount=190")
		s.has(s.place("alice", "buy limit amount=1 price=100"), "-triggerAmount")
	}},
	{"2.1 triggerType", "price, of stop and take-profit types", func(s *stage) {
		s.has(s.place("alice", "sell stopLoss amount=1 triggerAmount=90"), "triggerType=price")
		s.has(s.place("alice", "buy limit amount=1 price=100"), "-triggerType")
		s.refuse("alice", orderLine("sell stopLoss amount=1 triggerAmount=90 triggerType=percentage"), 400, 205)
	}},
	{"2.1 triggerReference", "lastTrade, bestBid, bestAsk or midPrice", func(s *stage) {
		for _, reference := range market.Words[market.TriggerReference]() {
			s.has(s.place("alice", "sell stopLoss amount=1 triggerAmount=90 triggerReference="+reference),
				"triggerReference="+reference)
		}
		s.has(s.place("alice", "buy limit amount=1 price=100"), "-triggerReference")
	}},
	{"2.1 filledAmount", "all that is filled, in base", func(s *stage) {
		bid, ask := s.trade("0.5", "100.5")
		s.has(bid, "filledAmount=0.5")
		s.has(ask, "filledAmount=0.5")
		s.has(s.place("alice", "buy limit amount=1 price=100"), "filledAmount=0")
	}},
	{"2.1 filledAmountQuote", "all that is filled, in quote, not rounded", func(s *stage) {
		bid, _ := s.trade("0.12345678", "34469.01")
		s.has(bid, "filledAmountQuote=4255.4329843878")
	}},
	{"2.1 feePaid", "the fees of all fills; negative for rebates", func(s *stage) {
		bid, ask := s.trade("1", "100")
		s.has(bid, "feePaid=0.15")
		s.has(ask, "feePaid=0.25")
		s.has(s.place("alice", "buy limit amount=1 price=100"), "feePaid=0")
		rebate := newStage(s.t, func(c *Config) {
			c.Tiers = []Tier{{Volume: "0", Fees: map[string]exchange.Fees{"": {Maker: -100_000, Taker: 250_000}}}}
		})
		maker, _ := rebate.trade("1", "100")
		rebate.has(maker, "feePaid=-0.1")
		rebate.has(maker.fills()[0], "fee=-0.1")
	}},
	{"2.1 feeCurrency", "the quote currency on both sides", func(s *stage) {
		bid, ask := s.trade("1", "100")
		s.has(bid, "feeCurrency=EUR")
		s.has(ask, "feeCurrency=EUR")
	}},
	{"2.1 fills", "a list, empty before the first; of an update only those of that request", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		require.Equal(s.t, []any{}, o["fills"])
		s.place("bob", "sell limit amount=0.25 price=100")
		s.place("bob", "sell limit amount=0.25 price=102")
		require.Len(s.t, s.update("alice", o, "price=102").fills(), 1)
		require.Len(s.t, s.again("alice", o).fills(), 2)
	}},
	{"2.1 selfTradePrevention", "one of four, decrementAndCancel by default", func(s *stage) {
		for _, prevention := range market.Words[market.SelfTradePrevention]() {
			s.has(s.place("alice", "buy limit amount=1 price=100 selfTradePrevention="+prevention),
				"selfTradePrevention="+prevention)
		}
		s.has(s.place("alice", "buy limit amount=1 price=100"), "selfTradePrevention=decrementAndCancel")
	}},
	{"2.1 visible", "true while the order is in the book", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.has(o, "visible:=true")
		s.has(s.place("alice", "sell stopLoss amount=1 triggerAmount=90"), "visible:=false")
		s.ask("alice", "DELETE /order market=BTC-EUR operatorId=7 orderId="+o.id()).ok(s.t)
		s.has(s.again("alice", o), "visible:=false")
	}},
	{"2.1 timeInForce", "GTC, IOC or FOK", func(s *stage) {
		for _, inForce := range market.Words[market.TimeInForce]() {
			s.has(s.place("alice", "buy limit amount=1 price=100 timeInForce="+inForce), "timeInForce="+inForce)
		}
	}},
	{"2.1 postOnly", "a boolean", func(s *stage) {
		s.has(s.place("alice", "buy limit amount=1 price=100 postOnly=true"), "postOnly:=true")
		s.has(s.place("alice", "buy limit amount=1 price=100"), "postOnly:=false")
	}},
	{"2.1 disableMarketProtection", "always false, whatever was sent", func(s *stage) {
		s.has(s.place("alice", "buy limit amount=1 price=100"), "disableMarketProtection:=false")
		s.has(s.place("alice", "buy limit amount=1 price=100 disableMarketProtection=true"),
			"disableMarketProtection:=false")
	}},
	{"2.1 operatorId", "an integer of 64 bits in every record, also 0", func(s *stage) {
		o := s.one("alice", "POST /order market=BTC-EUR operatorId=9223372036854775807 side=buy orderType=limit "+
			"amount=1 price=100")
		s.has(o, "operatorId:=9223372036854775807")
		s.has(s.one("alice", "PUT /order market=BTC-EUR operatorId=-5 price=101 orderId="+o.id()), "operatorId:=-5")
		zero := s.one("alice", "POST /order market=BTC-EUR operatorId=0 side=buy orderType=limit amount=1 price=100")
		s.has(zero, "operatorId:=0")
		s.has(s.rows("alice", "GET /ordersOpen market=BTC-EUR")[0], "orderId="+zero.id(), "operatorId:=0")
	}},
	{"2.1 restatementReason", "why the service changed the status; not there where it did not", func(s *stage) {
		s.place("bob", "sell limit amount=1 price=100")
		s.has(s.place("alice", "buy limit amount=1 price=100 postOnly=true"), "restatementReason=cancelPostOnly")
		s.has(s.place("alice", "buy limit amount=1 price=99"), "-restatementReason")
	}},
	{"2.1 restatementReason", "maintenance, delisting, a lock and the operator's request are reasons on demand",
		func(s *stage) {
			for _, reason := range []string{"cancelOnMaintenance", "cancelOnDelisting", "cancelOnLockPlaced",
				"cancelOnAdminRequest"} {
				parsed, err := market.ParseRestatementReason(reason)
				require.NoError(s.t, err)
				s.strike()
				o := s.place("alice", "buy limit amount=1 price=100")
				s.strike(fault.Fault{Kind: fault.CancelOrders, Reason: parsed, Account: "alice"})
				s.has(s.again("alice", o), "status=canceled", "restatementReason="+reason, "onHold=0", "visible:=false")
			}
		}},
	{"2.1 codGroupId", "an integer where it was set", func(s *stage) {
		s.has(s.place("alice", "buy limit amount=1 price=100 codGroupId=1000"), "codGroupId:=1000")
		s.has(s.place("alice", "buy limit amount=1 price=100"), "-codGroupId")
	}},
}
