package sandbox

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// settleLater lets fees be told a second after their fills.
func settleLater(c *Config) { c.Rules.SettleAfter = time.Second }

// recordRules are sections 2.2 to 2.5.
var recordRules = []rule{
	{"2.2 id", "a text, the same as that of the trade", func(s *stage) {
		bid, ask := s.trade("1", "100")
		s.has(bid.fills()[0], "id$")
		require.Equal(s.t, bid.fills()[0]["id"], ask.fills()[0]["id"])
		s.has(s.rows("", "GET /BTC-EUR/trades")[0], "id="+bid.fills()[0]["id"].(string))
	}},
	{"2.2 timestamp", "integer of Unix milliseconds", func(s *stage) {
		_, ask := s.trade("1", "100")
		s.has(ask.fills()[0], "timestamp:=1767614415000")
	}},
	{"2.2 amount", "what was exchanged, in base", func(s *stage) {
		_, ask := s.trade("0.25", "100")
		s.has(ask.fills()[0], "amount=0.25")
	}},
	{"2.2 price", "that of the resting order", func(s *stage) {
		s.place("bob", "sell limit amount=1 price=100")
		s.has(s.place("alice", "buy limit amount=1 price=105").fills()[0], "price=100")
	}},
	{"2.2 taker", "true of the one that came later; in an auction of neither", func(s *stage) {
		bid, ask := s.trade("1", "100")
		s.has(bid.fills()[0], "taker:=false")
		s.has(ask.fills()[0], "taker:=true")
		s.become(market.Auction, 0)
		bid, ask = s.trade("1", "100")
		s.become(market.AuctionMatching, 10_000)
		s.has(s.again("alice", bid).fills()[0], "taker:=false")
		s.has(s.again("bob", ask).fills()[0], "taker:=false")
	}},
	{"2.2 fee", "in feeCurrency; not there before the fill is settled", func(s *stage) {
		_, ask := s.trade("1", "100")
		s.has(ask.fills()[0], "fee=0.25")
		later := newStage(s.t, settleLater)
		_, ask = later.trade("1", "100")
		later.has(ask.fills()[0], "-fee")
	}},
	{"2.2 feeCurrency", "the quote currency; not there before the fill is settled", func(s *stage) {
		_, ask := s.trade("1", "100")
		s.has(ask.fills()[0], "feeCurrency=EUR")
		later := newStage(s.t, settleLater)
		_, ask = later.trade("1", "100")
		later.has(ask.fills()[0], "-feeCurrency")
	}},
	{"2.2 settled", "false until the fee is paid, then true", func(s *stage) {
		later := newStage(s.t, settleLater)
		_, ask := later.trade("1", "100")
		later.has(ask.fills()[0], "settled:=false")
		later.pass(time.Second)
		later.has(later.again("bob", ask).fills()[0], "settled:=true", "fee=0.25", "feeCurrency=EUR")
	}},

	{"2.3 quantityDecimals", "an integer", marketHas("quantityDecimals:=8")},
	{"2.3 notionalDecimals", "an integer", marketHas("notionalDecimals:=2")},
	{"2.3 tickSize", "a text", marketHas("tickSize=0.01")},
	{"2.3 maxOpenOrders", "an integer", marketHas("maxOpenOrders:=100")},
	{"2.3 feeCategory", "a text", marketHas("feeCategory=A")},
	{"2.3 pricePrecision", "always null", marketHas("pricePrecision:=null")},

	{"2.4 book", "carries a timestamp", func(s *stage) { s.has(s.one("", "GET /BTC-EUR/book"), "timestamp#") }},
	{"2.4 time", "carries timeNs", func(s *stage) { s.has(s.one("", "GET /time"), "timeNs#") }},
	{"2.4 ticker price", "is null with 200 where there is no price", func(s *stage) {
		s.has(s.one("", "GET /ticker/price market=BTC-EUR"), "price:=null")
		s.trade("1", "100")
		s.has(s.one("", "GET /ticker/price market=BTC-EUR"), "price=100")
	}},

	{"2.5 rule 1", "clientOrderId is unique among open orders only, for create, update and cancel", func(s *stage) {
		first := s.place("alice", "buy limit amount=1 price=100 clientOrderId="+named)
		s.refuse("alice", orderLine("buy limit amount=1 price=100 clientOrderId="+named), 400, 220)
		s.place("bob", "buy limit amount=1 price=100 clientOrderId="+named) // another client's
		s.ask("alice", "DELETE /order market=BTC-EUR operatorId=7 clientOrderId="+named).ok(s.t)
		second := s.place("alice", "buy limit amount=1 price=100 clientOrderId="+named)
		require.NotEqual(s.t, first.id(), second.id())
		s.has(s.one("alice", "PUT /order market=BTC-EUR operatorId=7 price=99 clientOrderId="+named),
			"orderId="+second.id())
		s.has(s.one("alice", "DELETE /order market=BTC-EUR operatorId=7 clientOrderId="+named), "orderId="+second.id())
		s.refuse("alice", "DELETE /order market=BTC-EUR operatorId=7 clientOrderId="+named, 404, 240)
	}},
	{"2.5 rule 2", "get order with a clientOrderId is the latest order with it", func(s *stage) {
		s.place("alice", "buy limit amount=1 price=100 timeInForce=IOC clientOrderId="+named)
		latest := s.place("alice", "buy limit amount=1 price=100 clientOrderId="+strings.ToUpper(named))
		s.has(s.one("alice", "GET /order market=BTC-EUR clientOrderId="+named), "orderId="+latest.id())
	}},
}

func marketHas(want string) func(*stage) {
	return func(s *stage) {
		s.has(s.one("", "GET /markets market=BTC-EUR"), want)
		require.Len(s.t, s.rows("", "GET /markets"), 3)
	}
}

// become lets a market take a status.
func (s *stage) become(status market.MarketStatus, opening market.Price) {
	s.ex.mu.Lock()
	defer s.ex.mu.Unlock()
	require.NoError(s.t, s.ex.venue.Advance(&market.Event{Kind: market.KindMarketStatus, Market: 1,
		At: s.ex.clock.Now(), Status: status, Price: opening}))
}
