package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
)

// cannotOccur are the codes of the exchange that no endpoint here gives, because…
var cannotOccur = map[int]string{
	103: "legacy: 105 took its place", 104: "legacy: orders are counted as points, like all requests",
	112: "of the socket alone", 214: "legacy: prices have a tickSize, 422", 218: "legacy, as 214",
	219: "there is no delisting: a market is what the config names", 230: "legacy: the codes around it say why",
	233: "legacy: 240",
	313: "sockets have no sessions", 314: "legacy", 315: "legacy", 316: "of another WebSocket",
	317: "no account is ever locked", 318: "no account is verified", 319: "there are no regions",
	320: "the permissions are 310 to 312", 322: "meaning unknown",
	400: "101 is what a mistake of ours answers", 402: "no account is verified", 403: "no account is verified",
	404: "there is no node that could be down; MAINTENANCE is 401 and 410", 405: "there is no cool-down",
	407: "internal transfers are refused as a parameter, 205", 411: "as 407", 413: "there are no lists of addresses",
	414: "there is no login", 415: "of the socket alone",
	419: "a fault may say so; the exchange itself is there or is not",
	434: "there are no risk limits", 435: "as 434", 436: "as 434", 437: "as 434", 438: "as 434", 439: "meaning unknown",
	510: "meaning unknown", 511: "meaning unknown", 512: "meaning unknown", 513: "meaning unknown",
	514: "meaning unknown",
}

// given is one refusal that an endpoint can give for reasons of its own.
type given struct {
	code   int
	line   string       // "buy …" and "sell …" are of POST /order
	says   string       // in its message
	before func(*stage) // prepares the exchange
}

// The orders that a line of givens may name: OPEN is a buy of 1 for 100 that rests, STOP a sale
// that waits at 90, QUOTE one by amountQuote, PART a buy of 2 of which 1 is filled, DONE a market
// order that has ended. With PUT and DELETE they stand for the whole line but what is changed.
const (
	opened   = "buy limit amount=1 price=100 clientOrderId=" + named
	stopped  = "sell stopLoss amount=1 triggerAmount=90"
	quoted   = "sell stopLoss amountQuote=100 triggerAmount=90"
	finished = "sell market amount=1 selfTradePrevention=cancelNewest"
)

const notFound, noBalance = "No order found", "You do not have sufficient balance"

func become(status market.MarketStatus) func(*stage) {
	return func(s *stage) { s.become(status, 0) }
}

// closeAsset lets an asset be in maintenance.
func closeAsset(s *stage) { s.ex.bank.assetNamed("BTC").config.Status = "MAINTENANCE" }

// givens are the refusals of each endpoint beside those that all have: of routing, credentials,
// budget and parameters.
var givens = []given{
	{431, "GET /BTC-EUR/book", "getBook is not available for BTC-EUR in state AUCTION", become(market.Auction)},
	{431, "GET /report/BTC-EUR/book", "in state CANCELONLY", become(market.CancelOnly)},
	{205, "GET /BTC-EUR/trades start=1 end=86400002", "end", nil},
	{205, "GET /BTC-EUR/trades tradeIdFrom=x start=2000 end=999", "end", nil},
	{205, "GET /BTC-EUR/trades tradeIdFrom=x", "tradeIdFrom", nil},
	{205, "GET /BTC-EUR/trades tradeIdTo=" + named, "tradeIdTo", nil},
	{205, "GET /BTC-EUR/trades tradeIdTo=00000000-0000-0002-0000-000000000001", "tradeIdTo", nil}, // of ETH-EUR
	{205, "GET /report/BTC-EUR/trades start=2 end=1", "end", nil},
	{205, "GET /report/BTC-EUR/trades tradeIdFrom=x", "tradeIdFrom", nil},
	{102, "POST /order a:=", "", nil},
	{102, "PUT /order a:=[", "", nil},
	{102, "POST /cancelOrdersAfter a:=+1", "", nil},
	{102, "POST /withdrawal a:=tru", "", nil},

	{202, "buy market amount=1 price=100", "price", nil},
	{202, "buy market amount=1 postOnly=true", "postOnly", nil},
	{202, "buy market amount=1 codGroupId=3", "codGroupId", nil},
	{202, "buy market amount=1 triggerReference=bestBid", "triggerReference", nil},
	{202, "buy limit amount=1 price=100 triggerAmount=90", "triggerAmount", nil},
	{202, "buy limit amount=1 price=100 triggerType=price", "triggerType", nil},
	{202, "buy limit amountQuote=50 price=100", "amountQuote parameter is not supported for this orderType.", nil},
	{203, "buy limit price=100", "amount parameter is required.", nil},
	{203, "buy limit amount=1", "price parameter is required.", nil},
	{203, "buy market", "amount parameter is required.", nil},
	{205, "buy limit amount=0 price=100", "amount", nil},
	{205, "buy limit amount=1 price=0", "price", nil},
	{205, "buy market amountQuote=0.00", "amountQuote", nil},
	{205, "buy stopLoss amount=1 triggerAmount=0", "triggerAmount", nil},
	{205, "buy limit amount=1 price=100 clientOrderId=00000000-0000-0000-0000-000000000000", "clientOrderId", nil},
	{206, "buy market amount=1 amountQuote=50", "Use either amount or amountQuote.", nil},
	{206, "buy stopLoss amount=1 amountQuote=10 triggerAmount=100", "", nil},
	{210, "buy limit amount=1000000001 price=100", "", nil},
	{210, "buy limit amount=99999999999999999999 price=100", "", nil},
	{210, "buy market amountQuote=99999999999999999999", "", nil},
	{211, "buy limit amount=1 price=100000000001", "", nil},
	{211, "buy limit amount=1 price=99999999999999999999", "", nil},
	{211, "buy stopLoss amount=1 triggerAmount=99999999999999999999", "", nil},
	{212, "buy limit amount=0.00009 price=90000", "Minimum order size in base currency is 0.0001 BTC.", nil},
	{213, "buy limit amount=1 price=0.0000000000000001", "", nil},
	{215, "buy limit amount=1 price=1.0000000000000001", "", nil},
	{216, "buy limit amount=1 price=10000000", noBalance, nil},
	{217, "buy limit amount=0.01 price=499", "Minimum order size in quote currency is 5 EUR or 0.0001 BTC.", nil},
	{217, "buy market amountQuote=4.99", "", nil},
	{220, opened, "", nil},
	{231, "buy limit amount=1 price=100 timeInForce=FOK", "", become(market.Auction)},
	{235, "buy limit amount=1 price=100", "The limit of 100 open orders in this market is reached.",
		func(s *stage) {
			for range 96 {
				s.place("alice", "buy limit amount=1 price=100")
			}
		}},
	{237, "buy stopLoss amount=1", "triggerAmount parameter is required for orderType stopLoss.", nil},
	{237, "buy takeProfit amount=1 triggerType=price", "orderType takeProfit.", nil},
	{238, "buy stopLossLimit amount=1 price=100", "orderType stopLossLimit.", nil},
	{238, "buy takeProfitLimit amount=1 price=100", "orderType takeProfitLimit.", nil},
	{422, "buy limit amount=1 price=100.001", "price is not a multiple", nil},
	{422, "sell stopLoss amount=1 triggerAmount=100.001", "triggerAmount is not a multiple", nil},
	{429, "buy limit amount=1.000000001 price=100", "amount parameter has too many decimals.", nil},
	{429, "buy limit amount=0.12345678901234567890123 price=100", "amount", nil}, // and no overflow
	{429, "buy market amountQuote=10.001", "amountQuote parameter has too many decimals.", nil},
	{423, "buy limit amount=1 price=100", "", become(market.Halted)},
	{424, "buy limit amount=1 price=100", "", become(market.CancelOnly)},
	{425, "buy market amount=1", "", become(market.Auction)},
	{426, "buy limit amount=1 price=100", "", become(market.AuctionMatching)},

	{202, "PUT OPEN triggerAmount=90", "triggerAmount", nil},
	{202, "PUT STOP price=80", "price", nil},
	{202, "PUT STOP postOnly=true", "postOnly", nil},
	{203, "PUT /order market=BTC-EUR operatorId=7 price=99", "orderId parameter is required.", nil},
	{205, "PUT OPEN price=0", "price", nil},
	{205, "PUT OPEN amountRemaining=0", "amountRemaining", nil},
	{205, "PUT PART amount=1", "amount", nil}, // all of it is filled
	{210, "PUT OPEN amount=1000000001", "", nil},
	{210, "PUT OPEN amount=99999999999999999999", "", nil},
	{211, "PUT OPEN price=99999999999999999999", "", nil},
	{212, "PUT OPEN amount=0.00009", "0.0001 BTC", nil},
	{213, "PUT OPEN price=0.0000000000000001", "", nil},
	{215, "PUT OPEN price=1.0000000000000001", "", nil},
	{216, "PUT OPEN price=10000000", noBalance, nil},
	{217, "PUT OPEN price=1", "5 EUR or 0.0001 BTC", nil},
	{231, "PUT OPEN timeInForce=FOK", "", become(market.Auction)},
	{232, "PUT OPEN", "You must change at least one of", nil},
	{232, "PUT OPEN responseRequired=false", "", nil}, // changes nothing
	{234, "PUT DONE amount=2", "A market order cannot be updated.", nil},
	{236, "PUT OPEN amount=1 amountRemaining=1", "", nil},
	{236, "PUT OPEN amount=2 amountQuote=20", "", nil},
	{239, "PUT OPEN amountQuote=50", "", nil},
	{239, "PUT QUOTE amount=1", "", nil},
	{240, "PUT /order market=BTC-EUR operatorId=7 price=1 orderId=" + named, notFound, nil},
	{422, "PUT OPEN price=99.999", "price is not", nil},
	{422, "PUT STOP triggerAmount=90.001", "triggerAmount is not", nil},
	{423, "PUT OPEN price=99", "", become(market.Halted)},
	{424, "PUT OPEN price=99", "", become(market.CancelOnly)},
	{426, "PUT OPEN price=99", "", become(market.AuctionMatching)},
	{429, "PUT OPEN amountRemaining=1.000000001", "amountRemaining", nil},

	{203, "GET /order market=BTC-EUR", "orderId parameter is required.", nil},
	{240, "GET /order market=BTC-EUR orderId=" + named, notFound, nil},
	{203, "DELETE /order market=BTC-EUR operatorId=7", "orderId parameter is required.", nil},
	{240, "DELETE DONE", notFound, nil},
	{240, "DELETE OPEN clientOrderId=22222222-2222-4333-8444-555555555555", notFound, nil}, // the latter counts
	{423, "DELETE OPEN", "", become(market.Halted)},
	{423, "DELETE /orders market=BTC-EUR operatorId=7", "", become(market.Halted)},
	{205, "GET /orders market=BTC-EUR start=2 end=1", "end", nil},
	{205, "GET /orders market=BTC-EUR orderIdFrom=" + named, "orderIdFrom", nil},
	{205, "GET /orders market=BTC-EUR orderIdTo=00000000-0000-0002-0100-000000000001", "orderIdTo", nil},
	{205, "GET /trades market=BTC-EUR start=1 end=86400002", "end", nil},
	{205, "GET /trades market=BTC-EUR tradeIdFrom=7", "tradeIdFrom", nil},
	{205, "GET /trades market=BTC-EUR tradeIdTo=00000000-0000-0001-0100-000000000001", "tradeIdTo", nil}, // an order's
	{205, "POST /cancelOrdersAfter codGroupId=1 expiryAfterSeconds=1", "expiryAfterSeconds", nil},
	{205, "POST /cancelOrdersAfter codGroupId=1 expiryAfterSeconds=9", "expiryAfterSeconds", nil},
	{205, "GET /account/fees quote=BTC", "quote", nil},

	{401, "GET /deposit symbol=BTC", "Deposits of this asset are not available.", closeAsset},
	{205, "POST /withdrawal symbol=BTC amount=0 address=x", "amount", nil},
	{210, "POST /withdrawal symbol=BTC amount=1000000001 address=x", "1000000000.", nil},
	{406, "POST /withdrawal symbol=BTC amount=0.00001 address=x", "Your withdrawal is too small.", nil},
	{408, "POST /withdrawal symbol=BTC amount=1000.5 address=x", "The balance is too low for this withdrawal.", nil},
	{409, "POST /withdrawal symbol=EUR amount=10 address=NL00BANK0123456789", "not a verified bank account.", nil},
	{410, "POST /withdrawal symbol=BTC amount=1 address=x", "Withdrawals of this asset are not", closeAsset},
	{412, "POST /withdrawal symbol=BTC amount=1 address=", "btc_address_invalid.", nil},
	{429, "POST /withdrawal symbol=BTC amount=1.000000001 address=x", "amount", nil},
}

// reachCodes reaches every code of the exchange or knows why it cannot occur. What is refused
// changes neither orders nor balances, and leaves no gap in the ids.
func reachCodes(t testing.TB) {
	reached := map[int]bool{}
	for _, g := range givens {
		s := newStage(t)
		s.place("bob", "buy limit amount=1 price=100")
		done := s.place("alice", finished)
		part := s.place("alice", "buy limit amount=2 price=101")
		s.place("bob", "sell limit amount=1 price=101")
		line, of := g.line, map[string]row{"DONE": done, "PART": part}
		for name, order := range map[string]string{"OPEN": opened, "STOP": stopped, "QUOTE": quoted} {
			of[name] = s.place("alice", order)
		}
		for name, o := range of {
			line = strings.Replace(line, " "+name, " /order market=BTC-EUR operatorId=7 orderId="+o.id(), 1)
		}
		if side, _, _ := strings.Cut(line, " "); side == "buy" || side == "sell" {
			line = orderLine(line)
		}
		if g.before != nil {
			g.before(s)
		}
		seen := func() string {
			return s.ask("alice", "GET /orders market=BTC-EUR").ok(t).body + s.ask("alice", "GET /balance").ok(t).body
		}
		before := seen()
		a := s.ask("alice", line)
		status := map[int]int{431: 409, 240: 404}[g.code]
		if status == 0 {
			status = 400
		}
		require.Equal(t, status, a.status, "%s: %s", line, a.body)
		a.refused(t, status, g.code)
		require.Contains(t, exchange.ParseError(a.status, []byte(a.body)).Message, g.says, line)
		s.rateHeaders(a)
		require.Equal(t, before, seen(), line)
		if g.before == nil {
			next := s.place("bob", "buy limit amount=1 price=50").id()
			require.Equal(t, "00000000-0000-0001-0100-000000000008", next, line)
		}
		reached[g.code] = true
	}
	for i := range listed {
		for _, code := range reachOfAll(t, &listed[i]) {
			reached[code] = true
		}
	}
	for code := range 600 {
		if !known(code) {
			continue
		}
		because := cannotOccur[code]
		require.True(t, reached[code] != (because != ""), "code %d: reached %t, cannot occur because %q", code,
			reached[code], because)
	}
}

// reachOfAll reaches the codes that an endpoint shares with others, and returns them.
func reachOfAll(t testing.TB, e *api.Endpoint) (reached []int) {
	path := strings.ReplaceAll(e.Path, "{market}", "BTC-EUR")
	ask := func(s *stage, alter func(*http.Request), status, code int) {
		t.Helper()
		request := s.request("alice", e.Method, path, "")
		alter(request)
		a := s.do(request)
		require.Equal(t, status, a.status, "%s %s: %s", e.Method, path, a.body)
		a.refused(t, status, code)
		s.rateHeaders(a)
		reached = append(reached, code)
	}
	s := newStage(t, func(c *Config) {
		c.Budget = api.Budget{PerKey: -1, PerIP: -1}
		c.Accounts[1].Keys[0].Unconfirmed = true
		c.Accounts[0].Keys = append(c.Accounts[0].Keys, api.Key{Key: rigKey("nothing"), Secret: "secret of nothing"},
			api.Key{Key: rigKey("elsewhere"), Secret: "s", Addresses: []string{"198.51.100.1"}})
	})
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Service-Access-"+name, value) }
	}
	ask(s, func(r *http.Request) { r.Method = "PATCH" }, 404, 110)
	for _, c := range []struct {
		name, value string
		code        int
	}{
		{"Key", "", 300}, {"Key", "k", 301}, {"Timestamp", "0", 302}, {"Window", "0", 303}, {"Timestamp",
			fmt.Sprint(rigStart.Add(-time.Hour).Millis()), 304}, {"Key", rigKey("x"), 305}, {"Key", rigKey("bob"), 306},
		{"Key", rigKey("elsewhere"), 307}, {"Signature", "s", 308}, {"Signature", strings.Repeat("0", 64), 309},
	} {
		ask(s, header(c.name, c.value), 403, c.code)
	}
	if e.Needs != 0 {
		lacks := map[api.Right]int{api.Read: 311, api.Trade: 310, api.Trade | api.Read: 310,
			api.Withdraw: 312}[e.Needs]
		ask(s, func(r *http.Request) { s.sign(r, "nothing", "") }, 403, lacks)
	}
	query := func(r *http.Request, query string) {
		r.URL.RawQuery, r.RequestURI = query, r.RequestURI+"?"+query
		s.sign(r, "alice", "")
	}
	code := 204
	if !e.Takes(false) {
		code = 200
	}
	ask(s, func(r *http.Request) { query(r, "x=1") }, 400, code)
	if e.Takes(false) {
		for _, p := range e.Params {
			if !p.InPath && p.Kind != api.Text {
				ask(s, func(r *http.Request) { query(r, p.Name+"=*") }, 400, 205)
			}
		}
		if slices.ContainsFunc(e.Params, func(p api.Parameter) bool { return p.Required && !p.InPath }) {
			ask(s, func(*http.Request) {}, 400, 203)
		}
	}
	if !e.Takes(true) {
		s.send("alice", e.Method, path, `{"x":1}`).refused(t, 400, 201)
		reached = append(reached, 201)
	}
	for _, code := range []int{101, 107, 108, 109, 111, 430} { // on demand
		s.strike(fault.Fault{Kind: fault.Error, Code: code})
		if a := s.do(s.request("alice", e.Method, path, "")); a.status >= 500 {
			a.refused(t, a.status, code)
			reached = append(reached, code)
		}
	}
	spent := newStage(t, func(c *Config) { c.Budget.PerKey = 1 })
	spent.ask("alice", "GET /time").ok(t)
	ask(spent, func(*http.Request) {}, 429, 105)
	return reached
}

// known reports whether the exchange has a code.
func known(code int) (yes bool) {
	defer func() { yes = recover() == nil }()
	exchange.ErrCode(code)
	return true
}
