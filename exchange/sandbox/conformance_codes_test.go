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

// given is one refusal that an endpoint can give for reasons of its own. before prepares the
// exchange.
type given struct {
	code   int
	line   string // ID is an open order of alice, a buy of 1 for 100; DONE a market order that has ended
	before func(*stage)
}

func become(status market.MarketStatus) func(*stage) {
	return func(s *stage) { s.become(status, 0) }
}

// closeAsset lets an asset be in maintenance.
func closeAsset(s *stage) { s.ex.bank.assetNamed("BTC").config.Status = "MAINTENANCE" }

// givens are the refusals of each endpoint beside those that all have: of routing, credentials,
// budget and parameters.
var givens = []given{
	{409 * 1000, "GET /BTC-EUR/book", become(market.Auction)}, {409 * 1000, "GET /report/BTC-EUR/book",
		become(market.CancelOnly)},
	{205, "GET /BTC-EUR/trades start=1 end=86400002", nil}, {205, "GET /BTC-EUR/trades tradeIdFrom=x", nil}, {205,
		"GET /BTC-EUR/trades tradeIdTo=" + named, nil},
	{205, "GET /report/BTC-EUR/trades start=2 end=1", nil},
	{102, "POST /order a:=", nil}, {102, "PUT /order a:=[", nil}, {102, "POST /cancelOrdersAfter a:=+1", nil}, {102,
		"POST /withdrawal a:=tru", nil},
	{202, orderLine("buy market amount=1 price=100"), nil}, {202,
		orderLine("buy limit amount=1 price=100 triggerAmount=90"), nil},
	{202, orderLine("buy limit amountQuote=50 price=100"), nil},
	{203, orderLine("buy limit price=100"), nil}, {206, orderLine("buy market amount=1 amountQuote=50"), nil}, {205,
		orderLine("buy limit amount=0 price=100"), nil},
	{210, orderLine("buy limit amount=1000000001 price=100"), nil}, {211,
		orderLine("buy limit amount=1 price=100000000001"), nil},
	{212, orderLine("buy limit amount=0.00009 price=90000"), nil},
	{213, orderLine("buy limit amount=1 price=0.0000000000000001"), nil}, {215,
		orderLine("buy limit amount=1 price=1.0000000000000001"), nil},
	{216, orderLine("buy limit amount=1 price=10000000"), nil},
	{217, orderLine("buy limit amount=0.01 price=100"), nil}, {220,
		orderLine("buy limit amount=1 price=100 clientOrderId=" + named), nil},
	{231, orderLine("buy limit amount=1 price=100 timeInForce=FOK"), become(market.Auction)},
	{235, orderLine("buy limit amount=1 price=100"), func(s *stage) {
		for range 99 {
			s.place("alice", "buy limit amount=1 price=100")
		}
	}},
	{237, orderLine("buy takeProfit amount=1"), nil}, {238, orderLine("buy takeProfitLimit amount=1 price=100"),
		nil}, {422, orderLine("buy limit amount=1 price=100.001"), nil},
	{429, orderLine("buy limit amount=1.000000001 price=100"), nil},
	{423, orderLine("buy limit amount=1 price=100"), become(market.Halted)}, {424,
		orderLine("buy limit amount=1 price=100"), become(market.CancelOnly)},
	{425, orderLine("buy market amount=1"), become(market.Auction)}, {426, orderLine("buy limit amount=1 price=100"),
		become(market.AuctionMatching)},
	{202, "PUT ID triggerAmount=90", nil}, {203, "PUT /order market=BTC-EUR operatorId=7 price=99", nil}, {205,
		"PUT ID amountRemaining=0", nil}, {210, "PUT ID amount=1000000001", nil},
	{211, "PUT ID price=100000000001", nil},
	{212, "PUT ID amount=0.00009", nil}, {213, "PUT ID price=0.0000000000000001", nil}, {215,
		"PUT ID price=1.0000000000000001", nil}, {216, "PUT ID price=10000000", nil}, {217, "PUT ID price=1", nil},
	{231, "PUT ID timeInForce=IOC", become(market.Auction)}, {232, "PUT ID", nil}, {234, "PUT DONE amount=2",
		nil}, {236, "PUT ID amount=1 amountRemaining=1", nil}, {239, "PUT ID amountQuote=50", nil},
	{240, "PUT /order market=BTC-EUR operatorId=7 price=1 orderId=" + named, nil},
	{422, "PUT ID price=99.999", nil}, {423, "PUT ID price=99", become(market.Halted)}, {424, "PUT ID price=99",
		become(market.CancelOnly)}, {426, "PUT ID price=99", become(market.AuctionMatching)},
	{429, "PUT ID amount=1.000000001", nil},
	{203, "GET /order market=BTC-EUR", nil}, {240, "GET /order market=BTC-EUR orderId=" + named, nil},
	{203, "DELETE /order market=BTC-EUR operatorId=7", nil}, {240, "DELETE DONE", nil}, {423, "DELETE ID",
		become(market.Halted)}, {423, "DELETE /orders market=BTC-EUR operatorId=7", become(market.Halted)},
	{205, "GET /orders market=BTC-EUR start=2 end=1", nil}, {205, "GET /orders market=BTC-EUR orderIdFrom=" + named,
		nil}, {205, "GET /trades market=BTC-EUR start=1 end=86400002", nil},
	{205, "GET /trades market=BTC-EUR tradeIdTo=x", nil},
	{205, "POST /cancelOrdersAfter codGroupId=1 expiryAfterSeconds=9", nil}, {205, "GET /account/fees quote=BTC", nil},
	{401, "GET /deposit symbol=BTC", closeAsset}, {205, "POST /withdrawal symbol=BTC amount=0 address=x", nil}, {210,
		"POST /withdrawal symbol=BTC amount=1000000001 address=x", nil},
	{406, "POST /withdrawal symbol=BTC amount=0.00001 address=x", nil},
	{408, "POST /withdrawal symbol=BTC amount=1000.5 address=x", nil}, {409,
		"POST /withdrawal symbol=EUR amount=10 address=NL00BANK0123456789", nil},
	{410, "POST /withdrawal symbol=BTC amount=1 address=x", closeAsset}, {412,
		"POST /withdrawal symbol=BTC amount=1 address=", nil},
	{429, "POST /withdrawal symbol=BTC amount=1.000000001 address=x", nil},
}

// reachCodes reaches every code of the exchange or knows why it cannot occur.
func reachCodes(t testing.TB) {
	reached := map[int]bool{}
	for _, g := range givens {
		s := newStage(t)
		open, done := s.place("alice", "buy limit amount=1 price=100 clientOrderId="+named), s.place("alice",
			"sell market amount=1 selfTradePrevention=cancelNewest")
		named := "/order market=BTC-EUR operatorId=7 orderId="
		if g.before != nil {
			g.before(s)
		}
		status, code := 400, g.code
		switch {
		case code == 409*1000:
			status, code = 409, 431
		case code == 240:
			status = 404
		}
		line := strings.NewReplacer(" ID", " "+named+open.id(), " DONE", " "+named+done.id()).Replace(g.line)
		a := s.ask("alice", line)
		require.Equal(t, status, a.status, "%s: %s", line, a.body)
		a.refused(t, status, code)
		s.rateHeaders(a)
		reached[code] = true
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
