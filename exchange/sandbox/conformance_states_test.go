package sandbox

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// stateRules are sections 3.1 and 3.2.
var stateRules = []rule{
	{"3.1 new", "in the book, not filled", func(s *stage) {
		s.has(s.place("alice", "buy limit amount=1 price=100"), "status=new", "filledAmount=0")
		s.get("/BTC-EUR/book").ok(s.t).says(s.t, `["100","1"]`)
	}},
	{"3.1 awaitingTrigger", "its trigger is not met; it is not in the book", func(s *stage) {
		s.trade("1", "100")
		o := s.place("alice", "sell stopLossLimit amount=1 price=80 triggerAmount=90")
		s.has(o, "status=awaitingTrigger")
		s.get("/BTC-EUR/book").ok(s.t).says(s.t, `"asks":[]`)
		s.trade("1", "90")
		s.has(s.again("alice", o), "status=new")
	}},
	{"3.1 partiallyFilled", "active, more is needed", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.place("bob", "sell limit amount=0.25 price=100")
		s.has(s.again("alice", o), "status=partiallyFilled")
	}},
	{"3.1 filled", "all is traded", func(s *stage) {
		bid, ask := s.trade("1", "100")
		s.has(bid, "status=filled", "amountRemaining=0")
		s.has(ask, "status=filled")
	}},
	{"3.1 canceled", "taken out by the client or the service, which gives its reason", func(s *stage) {
		o := s.place("alice", "buy limit amount=1 price=100")
		s.ask("alice", "DELETE /order market=BTC-EUR operatorId=7 orderId="+o.id()).ok(s.t)
		s.has(s.again("alice", o), "status=canceled", "-restatementReason")
		s.place("bob", "sell limit amount=1 price=100")
		s.has(s.place("alice", "buy limit amount=1 price=100 postOnly=true"), "status=canceled",
			"restatementReason=cancelPostOnly")
	}},
	{"3.1 expired", "never rests: no match, not enough liquidity, IOC and FOK whose condition is not met",
		func(s *stage) {
			for _, o := range []string{"buy market amount=1", "buy limit amount=1 price=100 timeInForce=IOC",
				"buy limit amount=1 price=100 timeInForce=FOK"} {
				s.has(s.place("alice", o), "status=expired", "filledAmount=0")
			}
			s.place("bob", "sell limit amount=1 price=100")
			s.has(s.place("alice", "buy market amount=2"), "status=expired", "filledAmount=1")
		}},
	{"3.1 completed", "orders are filled, expired or canceled and never change again", func(s *stage) {
		_, filled := s.trade("1", "100")
		expired := s.place("bob", "buy limit amount=1 price=100 timeInForce=IOC")
		for _, o := range []row{filled, expired} {
			s.refuse("bob", "DELETE /order market=BTC-EUR operatorId=7 orderId="+o.id(), 404, 240)
			s.refuse("bob", "PUT /order market=BTC-EUR operatorId=7 price=99 orderId="+o.id(), 404, 240)
		}
	}},

	{"3.2 trading", "open for everything", func(s *stage) {
		s.has(s.one("", "GET /markets market=BTC-EUR"), "status=trading")
		s.trade("1", "100")
	}},
	{"3.2 halted", "nothing is created, updated or cancelled: 423",
		func(s *stage) { s.closedMarket(market.Halted, 423, 423, 423) }},
	{"3.2 auction", "no market orders (425); others rest without a match", func(s *stage) {
		s.become(market.Auction, 0)
		s.has(s.one("", "GET /markets market=BTC-EUR"), "status=auction")
		s.refuse("alice", orderLine("buy market amount=1"), 400, 425)
		s.refuse("alice", orderLine("buy limit amount=1 price=100 timeInForce=IOC"), 400, 231)
		s.has(s.place("alice", "buy limit amount=1 price=100"), "status=new")
		s.has(s.place("bob", "sell limit amount=1 price=90"), "status=new")
		require.Empty(s.t, s.rows("", "GET /BTC-EUR/trades"))
	}},
	{"3.2 auctionMatching", "matches at the opening price what meets it; nothing is created or updated: 426",
		func(s *stage) {
			s.become(market.Auction, 0)
			bid, ask := s.place("alice", "buy limit amount=1 price=105"), s.place("bob", "sell limit amount=1 price=95")
			below := s.place("alice", "buy limit amount=1 price=90")
			s.become(market.AuctionMatching, 10_000)
			s.has(s.again("alice", bid), "status=filled")
			s.has(s.again("bob", ask).fills()[0], "price=100")
			s.has(s.again("alice", below), "status=new")
			s.refuse("alice", orderLine("buy limit amount=1 price=100"), 400, 426)
			s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 price=91 orderId="+below.id(), 400, 426)
			s.become(market.Trading, 0)
			s.has(s.place("bob", "sell limit amount=1 price=90"), "status=filled")
		}},
	{"3.2 auctionMatching", "a post-only order that would match is cancelled with cancelPostOnlyOnAuctionMatching",
		func(s *stage) {
			s.become(market.Auction, 0)
			bid := s.place("alice", "buy limit amount=1 price=105 postOnly=true")
			s.place("bob", "sell limit amount=1 price=95")
			s.become(market.AuctionMatching, 10_000)
			s.has(s.again("alice", bid), "status=canceled", "restatementReason=cancelPostOnlyOnAuctionMatching")
		}},
	{"3.2 cancelOnly", "orders are only cancelled: 424",
		func(s *stage) { s.closedMarket(market.CancelOnly, 424, 424, 0) }},
	{"3.2 data", "only a trading market has a book: otherwise 409, and the ticker has nulls", func(s *stage) {
		s.place("alice", "buy limit amount=1 price=100")
		for _, status := range []market.MarketStatus{market.Halted, market.Auction, market.AuctionMatching,
			market.CancelOnly} {
			s.become(status, 10_000)
			s.get("/BTC-EUR/book").refused(s.t, 409, 431)
			s.get("/report/BTC-EUR/book").refused(s.t, 409, 431)
			s.has(s.one("", "GET /ticker/book market=BTC-EUR"), "bid:=null", "ask:=null")
			s.get("/ETH-EUR/book").ok(s.t)
			s.get("/BTC-EUR/trades").ok(s.t)
		}
		s.become(market.Trading, 0)
		s.get("/BTC-EUR/book").ok(s.t)
	}},
}

// closedMarket requires what placing, updating and cancelling answer in a status; 0 for a success.
func (s *stage) closedMarket(status market.MarketStatus, place, update, cancel int) {
	o := s.place("alice", "buy limit amount=1 price=100")
	s.become(status, 0)
	s.has(s.one("", "GET /markets market=BTC-EUR"), "status="+status.String())
	s.refuse("alice", orderLine("buy limit amount=1 price=100"), 400, place)
	s.refuse("alice", "PUT /order market=BTC-EUR operatorId=7 price=99 orderId="+o.id(), 400, update)
	for _, line := range []string{"DELETE /order market=BTC-EUR operatorId=7 orderId=" + o.id(),
		"DELETE /orders market=BTC-EUR operatorId=7"} {
		if a := s.ask("alice", line); cancel != 0 {
			a.refused(s.t, 400, cancel)
		} else {
			a.ok(s.t)
		}
	}
	require.Equal(s.t, cancel != 0, strings.Contains(s.ask("alice", "GET /ordersOpen").ok(s.t).body, o.id()))
}
