package sandbox

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
)

func TestAdminIsForThisMachineAndItsToken(t *testing.T) {
	l := newLine(t)
	ask := func(peer, authorization string) answer {
		request := httptestGet("/admin/clock")
		request.RemoteAddr = peer
		if authorization != "" {
			request.Header.Set("Authorization", authorization)
		}
		return l.do(request)
	}
	for _, peer := range []string{"127.0.0.1:5000", "127.9.9.9:1", "[::1]:5000", "[::ffff:127.0.0.1]:1"} {
		ask(peer, "Bearer "+lineToken).ok(t)
		for _, wrong := range []string{"", "Bearer", "Bearer open sesam", "Bearer open sesame!", "bearer " + lineToken,
			lineToken, "Basic " + lineToken} {
			ask(peer, wrong).refused(t, 403, 320)
		}
	}
	for _, peer := range []string{"192.0.2.1:1234", "[2001:db8::1]:1", "[::ffff:10.0.0.1]:1", "", "@"} {
		ask(peer, "Bearer "+lineToken).refused(t, 404, 110) // as if it were not there
	}
}

func TestWithoutATokenThereIsNoAdmin(t *testing.T) {
	r := newRig(t)
	request := httptestGet("/admin/clock")
	request.RemoteAddr = "127.0.0.1:5000"
	request.Header.Set("Authorization", "Bearer ")
	r.do(request).refused(t, 404, 110)
}

func TestAdminTakesStrictJSON(t *testing.T) {
	l := newLine(t)
	for _, c := range []struct {
		method, path, body string
		status, code       int
		words              string
	}{
		{"GET", "/nowhere", "", 404, 110, ""},
		{"DELETE", "/clock", "", 404, 110, ""},
		{"POST", "/clock", `{"advence":"1s"}`, 400, 204, "advence"},
		{"POST", "/clock", `{"advance":"1s"`, 400, 102, ""},
		{"POST", "/clock", `{"advance":1}`, 400, 205, "advance"},
		{"POST", "/clock", `{"advance":"-1s"}`, 400, 205, "advance"},
		{"POST", "/clock", `{"advance":"745h"}`, 400, 205, "advance"},
		{"POST", "/clock", `{"advance":"1s","time":1767700000000}`, 400, 206, "advance"},
		{"POST", "/clock", `{"time":1}`, 400, 205, "time"},
		{"POST", "/clock", `{"time":8640000000000000}`, 400, 205, "time"},
		{"POST", "/clock", `{"speed":"1e9"}`, 400, 205, "speed"},
		{"POST", "/clock", `{"speed":"10001"}`, 400, 205, "speed"},
		{"GET", "/clock", `{"advance":"1s"}`, 400, 201, "advance"},
		{"POST", "/status", `{"market":"BTC-EUR"}`, 400, 203, "status"},
		{"POST", "/status", `{"market":"BTC-EUR","status":"closed"}`, 400, 205, "status"},
		{"POST", "/status", `{"market":"DOGE-EUR","status":"halted"}`, 400, 205, "market"},
		{"POST", "/status", `{"market":"BTC-EUR","status":"halted","price":"1"}`, 400, 205,
			"only status auctionMatching"},
		{"POST", "/status", `{"market":"BTC-EUR","status":"auctionMatching","price":"0.001"}`, 400, 205, "price"},
		{"POST", "/price", `{"market":"BTC-EUR","price":"0"}`, 400, 205, "not a positive multiple of the tick 0.01"},
		{"POST", "/price", `{"market":"BTC-EUR","price":"1","amount":"0.000000001"}`, 400, 205, "amount"},
		{"POST", "/rules", `{"market":"BTC-EUR","tickSize":"0"}`, 400, 205, "tickSize"},
		{"POST", "/rules", `{"market":"BTC-EUR","tickSize":"0.001"}`, 400, 205, "tickSize"},
		{"POST", "/rules", `{"market":"BTC-EUR","minOrderInQuoteAsset":"0.001"}`, 400, 205, "minOrderInQuoteAsset"},
		{"POST", "/rules", `{"market":"BTC-EUR","quantityDecimals":9}`, 400, 205, "quantityDecimals"},
		{"POST", "/rules", `{"market":"BTC-EUR","notionalDecimals":3}`, 400, 205, "notionalDecimals"},
		{"POST", "/rules", `{"market":"BTC-EUR","maxOpenOrders":-1}`, 400, 205, "maxOpenOrders"},
		{"POST", "/cancelOrders", `{"reason":"cancelPostOnly"}`, 400, 205, "reason"},
		{"POST", "/cancelOrders", `{"account":"carol"}`, 400, 205, "account"},
		{"POST", "/cancelOrders", `{"orderId":"00000000-0000-0001-0100-000000000001"}`, 400, 203, "market"},
		{"POST", "/cancelOrders", `{"market":"BTC-EUR","orderId":"00000000-0000-0001-0100-000000000001"}`, 404, 240,
			""},
		{"POST", "/cancelOrders", `{"market":"BTC-EUR","orderId":"00000000-0000-0001-0100-000000000000"}`, 404, 240,
			""},
		{"POST", "/deposit", `{"account":"carol","symbol":"EUR","amount":"1"}`, 400, 205, "account"},
		{"POST", "/deposit", `{"account":"alice","symbol":"EUR","amount":"0.001"}`, 400, 429, "amount"},
		{"POST", "/cancelTransfer", `{"transactionId":"00000000-0000-0001-0100-000000000001"}`, 400, 205,
			"transactionId"},
		{"PUT", "/faults", `{"faults":{}}`, 400, 205, "faults"},
		{"PUT", "/faults", `{"faults":"[]"}`, 400, 205, "faults"},
		{"PUT", "/faults", `{"faults":[{"kind":"truncate"},{"kind":"truncate","cuont":1}]}`, 400, 205,
			`fault 2: unknown key "cuont"`},
		{"PUT", "/faults", `{"faults":[{"kind":"truncate","account":"carol"}]}`, 400, 205,
			`fault 1: account: there is no "carol"`},
		{"PUT", "/faults", `{}`, 400, 203, "faults"},
		{"PUT", "/faults", `{"faults":[],"seed":-1}`, 400, 205, "seed"},
	} {
		a := l.admin(c.method, c.path, c.body)
		a.refused(t, c.status, c.code)
		require.Contains(t, strings.ReplaceAll(a.body, `\"`, `"`), c.words, c.body)
	}
	require.Equal(t, rigStart, l.ex.clock.Now())
}

func TestTheClockIsReadMovedAndSetOverAdmin(t *testing.T) {
	l := newLine(t)
	clock := func(body string) (c struct {
		Time, TimeNs int64
		Speed        string
	}) {
		if body == "" {
			l.admin("GET", "/clock", "").json(t, &c)
		} else {
			l.admin("POST", "/clock", body).json(t, &c)
		}
		return c
	}
	require.Equal(t, int64(rigStart), clock("").TimeNs)
	require.Equal(t, "0", clock("").Speed)
	require.Equal(t, int64(rigStart.Add(90*time.Second)), clock(`{"advance":"1m30s"}`).TimeNs)
	later := rigStart.Add(time.Hour).Millis()
	require.Equal(t, later, clock(fmt.Sprintf(`{"time":%d}`, later)).Time)
	require.Equal(t, later, clock(fmt.Sprintf(`{"time":%d}`, later)).Time, "the same time again is no way back")
	fast := clock(`{"speed":"1000"}`)
	require.Equal(t, "1000", fast.Speed)
	require.Eventually(t, func() bool { return clock("").Time >= later+1000 }, patience, time.Millisecond)
	stopped := clock(`{"speed":"0","advance":"1s"}`)
	require.Equal(t, stopped, clock(""))
}

func TestAdvancingTheClockLetsHappenWhatIsDue(t *testing.T) {
	l := newLine(t)
	l.hear("alice", "POST", "/order", strings.Replace(buy, "{", `{"codGroupId":7,`, 1)).ok(t)
	l.hear("alice", "POST", "/cancelOrdersAfter", `{"codGroupId":7,"expiryAfterSeconds":10}`).ok(t)
	l.admin("POST", "/clock", `{"advance":"10s"}`).ok(t)
	require.Equal(t, 0, l.orders("alice"))
}

func TestAMarketGoesThroughItsStatuses(t *testing.T) {
	l := newLine(t)
	status := func(body string) string {
		var m struct{ Market, Status string }
		l.admin("POST", "/status", `{"market":"BTC-EUR",`+body+`}`).json(t, &m)
		require.Equal(t, "BTC-EUR", m.Market)
		return m.Status
	}
	require.Equal(t, "halted", status(`"status":"halted"`))
	l.hear("alice", "POST", "/order", buy).refused(t, 400, 423)
	l.hear("", "GET", "/BTC-EUR/book", "").refused(t, 409, 431)
	require.Equal(t, "auction", status(`"status":"auction"`))
	l.hear("alice", "POST", "/order", marketSell).refused(t, 400, 425)
	var bid, ask, post told
	l.hear("alice", "POST", "/order", strings.Replace(buy, "50000", "50100", 1)).json(t, &bid)
	l.hear("alice", "POST", "/order", strings.Replace(buy, "{", `{"postOnly":true,`, 1)).json(t, &post)
	l.hear("bob", "POST", "/order", strings.Replace(bobSells, "50000", "49900", 1)).json(t, &ask)
	require.Equal(t, "new", ask.Status)
	require.Equal(t, "auctionMatching", status(`"status":"auctionMatching","price":"50050"`))
	l.hear("alice", "POST", "/order", buy).refused(t, 400, 426)
	require.Equal(t, "filled", l.order("alice", bid.OrderID).Status)
	require.Equal(t, "filled", l.order("bob", ask.OrderID).Status)
	require.Equal(t, "new", l.order("alice", post.OrderID).Status)
	var price struct{ Price string }
	l.hear("", "GET", "/ticker/price?market=BTC-EUR", "").json(t, &price)
	require.Equal(t, "50050", price.Price)
	require.Equal(t, "cancelOnly", status(`"status":"cancelOnly"`))
	l.hear("alice", "POST", "/order", buy).refused(t, 400, 424)
	l.hear("alice", "DELETE", "/order?market=BTC-EUR&operatorId=1&orderId="+post.OrderID, "").ok(t)
	require.Equal(t, "trading", status(`"status":"trading"`))
	l.hear("alice", "POST", "/order", buy).ok(t)
}

func TestATradingMarketTakesUpThePriceThatWasSetMeanwhile(t *testing.T) {
	l := newLine(t, func(c *Config) { c.Markets[0].Liquidity = Liquidity{Levels: 3, HalfSpread: 100_000, Size: "1"} })
	l.admin("POST", "/price", `{"market":"BTC-EUR","price":"50000","amount":"0.5"}`).ok(t)
	trades := l.hear("", "GET", "/BTC-EUR/trades", "").ok(t)
	trades.says(t, `"amount":"0.5"`)
	l.hear("", "GET", "/ticker/book?market=BTC-EUR", "").says(t, `"bid":"49950"`).says(t, `"ask":"50050"`)
	var o told
	l.hear("alice", "POST", "/order", strings.Replace(buy, `"50000"`, `"49000"`, 1)).json(t, &o)
	l.admin("POST", "/status", `{"market":"BTC-EUR","status":"halted"}`).ok(t)
	l.admin("POST", "/price", `{"market":"BTC-EUR","price":"48000"}`).ok(t).says(t, `"48000"`)
	require.Equal(t, "new", l.order("alice", o.OrderID).Status)
	l.admin("POST", "/status", `{"market":"BTC-EUR","status":"trading"}`).ok(t)
	require.Equal(t, "filled", l.order("alice", o.OrderID).Status, "the house sells what the price runs through")
	after := l.hear("", "GET", "/BTC-EUR/trades", "")
	require.Equal(t, strings.Count(trades.body, "timestamp")+1, strings.Count(after.body, "timestamp"),
		"alice's; a price without an amount prints none of others")
}

func TestRulesChangeWithoutTouchingWhatRests(t *testing.T) {
	l := newLine(t, func(c *Config) { c.Markets[0].Liquidity = Liquidity{Levels: 3, HalfSpread: 100_000, Size: "1"} })
	l.admin("POST", "/price", `{"market":"BTC-EUR","price":"60000"}`).ok(t)
	var o told
	l.hear("alice", "POST", "/order", strings.Replace(buy, `"50000"`, `"50000.01"`, 1)).json(t, &o)
	l.admin("POST", "/rules",
		`{"market":"BTC-EUR","tickSize":"50","minOrderInBaseAsset":"0.005","minOrderInQuoteAsset":"10","maxOrderInBaseAsset":"2","maxOrderInQuoteAsset":"90000","quantityDecimals":4,"notionalDecimals":1,"maxOpenOrders":2}`).ok(t).
		says(t, `"tickSize":"50.00"`).says(t, `"minOrderInBaseAsset":"0.00500000"`).
		says(t, `"minOrderInQuoteAsset":"10.00"`).says(t, `"maxOrderInBaseAsset":"2.00000000"`).
		says(t, `"maxOrderInQuoteAsset":"90000.00"`).says(t, `"quantityDecimals":4`).says(t, `"notionalDecimals":1`).
		says(t, `"maxOpenOrders":2`)
	l.hear("", "GET", "/BTC-EUR/book", "").says(t, `"bids":[["59900",`).says(t, `["59850",`).
		says(t, `["50000.01","0.01"]]`).says(t, `"asks":[["60100",`)
	l.hear("alice", "POST", "/order", strings.Replace(buy, `"50000"`, `"50000.01"`, 1)).refused(t, 400, 422)
	l.hear("alice", "POST", "/order", strings.Replace(buy, `"0.01"`, `"0.004"`, 1)).refused(t, 400, 212)
	l.hear("alice", "POST", "/order", strings.Replace(buy, `"0.01"`, `"0.01001"`, 1)).refused(t, 400, 429)
	l.hear("alice", "POST", "/order", buy).ok(t)
	l.hear("alice", "POST", "/order", buy).refused(t, 400, 235)
	require.Equal(t, "new", l.order("alice", o.OrderID).Status)
}

func TestTheOperatorEndsOrdersForAReason(t *testing.T) {
	for _, reason := range append(slices.Clone(fault.Reasons), "") {
		for _, c := range []struct{ body, ended string }{
			{``, "ABEFab"}, {`,"market":"BTC-EUR"`, "ABab"}, {`,"account":"bob"`,
				"ab"}, {`,"account":"alice","market":"ETH-EUR"`, "EF"}, {`,"market":"BTC-EUR","orderId":"$B"`, "B"},
		} {
			l := newLine(t)
			ids := map[byte]string{}
			for i := range 6 {
				name, body, of := "ABEFab"[i], buy, "alice"
				if name == 'E' || name == 'F' {
					body = strings.Replace(buy, "BTC-EUR", "ETH-EUR", 1)
				}
				if name == 'a' || name == 'b' {
					of = "bob"
				}
				var o told
				l.send(of, "POST", "/order", body).json(t, &o)
				ids[name] = o.OrderID
			}
			body := strings.Replace(c.body, "$B", ids['B'], 1)
			if reason != "" {
				body += `,"reason":"` + reason + `"`
			}
			var ended []canceledOrder
			l.ex.listings[1].Status = 2 // halted: that binds clients, not the operator
			l.admin("POST", "/cancelOrders", "{"+strings.TrimPrefix(body, ",")+"}").json(t, &ended)
			require.Len(t, ended, len(c.ended))
			require.Equal(t, 6-len(c.ended), l.orders("alice")+l.orders("bob"))
			for _, one := range ended {
				var o told
				l.send(one.Account, "GET", "/order?market="+one.Market+"&orderId="+one.OrderID, "").json(t, &o)
				require.Equal(t, "canceled", o.Status)
				want := reason
				if want == "" {
					want = "cancelOnAdminRequest"
				}
				require.Equal(t, want, o.RestatementReason)
			}
		}
	}
}

func TestOneOrderOfAnotherAccountIsNotFound(t *testing.T) {
	l := newLine(t)
	var o told
	l.send("alice", "POST", "/order", buy).json(t, &o)
	l.admin("POST", "/cancelOrders", `{"market":"BTC-EUR","account":"bob","orderId":"`+o.OrderID+`"}`).refused(t, 404,
		240)
	l.admin("POST", "/cancelOrders", `{"market":"BTC-EUR","account":"alice","orderId":"`+o.OrderID+`"}`).ok(t)
	l.admin("POST", "/cancelOrders", `{"market":"BTC-EUR","orderId":"`+o.OrderID+`"}`).refused(t, 404, 240)
}

func TestMoneyArrivesAndWithdrawalsAreCancelled(t *testing.T) {
	l := newLine(t)
	l.admin("POST", "/deposit", `{"account":"bob","symbol":"BTC","amount":"2"}`).ok(t).says(t, `"type":"deposit"`).
		says(t, `"status":"confirming"`)
	l.hear("bob", "GET", "/balance?symbol=BTC", "").says(t, `"available":"1000"`)
	l.admin("GET", "/transfers", "").ok(t).says(t, `"account":"bob"`)
	l.admin("POST", "/clock", `{"advance":"1h"}`).ok(t)
	l.hear("bob", "GET", "/balance?symbol=BTC", "").says(t, `"available":"1002"`)
	l.admin("POST", "/deposit", `{"account":"bob","symbol":"EUR","amount":"5"}`).ok(t).says(t, `"status":"completed"`).
		says(t, `"due":null`)

	l.hear("alice", "POST", "/withdrawal", `{"symbol":"BTC","amount":"1","address":"bc1"}`).ok(t)
	l.hear("alice", "GET", "/balance?symbol=BTC", "").says(t, `"available":"999"`)
	var under []struct{ TransactionID, Account, Type, Status string }
	l.admin("GET", "/transfers", "").json(t, &under)
	require.Len(t, under, 1)
	require.Equal(t, "withdrawal", under[0].Type)
	l.admin("POST", "/cancelTransfer", `{"transactionId":"`+under[0].TransactionID+`"}`).ok(t).
		says(t, `"status":"canceled"`).says(t, `"type":"withdrawal"`)
	l.hear("alice", "GET", "/balance?symbol=BTC", "").says(t, `"available":"1000"`)
	l.hear("alice", "GET", "/withdrawalHistory", "").says(t, `"status":"canceled"`)
	l.admin("POST", "/cancelTransfer", `{"transactionId":"`+under[0].TransactionID+`"}`).refused(t, 400, 205)
}

func TestTheLedgerShowsWhereEveryUnitIs(t *testing.T) {
	l := newLine(t, func(c *Config) { c.Markets[1].Liquidity = Liquidity{Levels: 3, HalfSpread: 100_000, Size: "5"} })
	l.admin("POST", "/price", `{"market":"ETH-EUR","price":"3000"}`).ok(t)
	l.hear("alice", "POST", "/order", buy).ok(t)
	// 500.00, between two accounts: the house has both fees
	l.hear("bob", "POST", "/order", bobSells).ok(t)
	// from the house
	l.hear("bob", "POST", "/order",
		`{"market":"ETH-EUR","side":"buy","orderType":"market","amount":"1","operatorId":1}`).ok(t)
	// Out
	l.hear("bob", "POST", "/withdrawal", `{"symbol":"EUR","amount":"100","address":"NL46TIDE0123456789"}`).ok(t)
	// held
	l.hear("alice", "POST", "/order",
		`{"market":"ETH-EUR","side":"buy","orderType":"limit","amount":"1","price":"2000","operatorId":1}`).ok(t)
	var ledger struct {
		Accounts []struct {
			Account  string
			Balances []struct{ Symbol, Available, InOrder string }
		}
		Assets []struct{ Symbol, Accounts, Liquidity, Transferred string }
	}
	l.admin("GET", "/ledger", "").json(t, &ledger)
	rows := map[string]string{}
	for _, row := range ledger.Assets {
		rows[row.Symbol] = row.Accounts + " + " + row.Liquidity + " = " + row.Transferred
	}
	require.Equal(t, map[string]string{
		"ADA": "20000000 + 0 = 20000000",
		"BTC": "2000 + 0 = 2000",
		"ETH": "20001 + -1 = 20000",
		"EUR": "19996887.49 + 3012.51 = 19999900", // 500.00 at 0.15 % and 0.25 %; 3003.00 at 0.25 %, rounded up
	}, rows)
	require.Equal(t, "alice", ledger.Accounts[0].Account)
	require.Equal(t, "2005", ledger.Accounts[0].Balances[3].InOrder)
	require.Equal(t, "EUR", ledger.Accounts[0].Balances[3].Symbol)
}

func TestAdminCostsNothingAndSurvivesAPanic(t *testing.T) {
	l := newLine(t, func(c *Config) { c.Budget = api.Budget{PerIP: 2} })
	for range 5 {
		a := l.admin("GET", "/clock", "").ok(t)
		require.Empty(t, a.header.Get("Service-Ratelimit-Remaining"))
	}
	require.Equal(t, 1, l.hear("", "GET", "/time", "").remaining(t))
	heard := any(nil)
	l.ex.onPanic = func(value any) { heard = value }
	require.Empty(t, l.ex.script.Report().Faults)
	script := l.ex.script
	l.ex.script = nil
	l.admin("GET", "/faults", "").refused(t, 500, 101)
	require.NotNil(t, heard)
	l.ex.script = script
	l.admin("GET", "/faults", "").ok(t)
}

func TestABodyThatIsTooLargeIsRefusedByAdminToo(t *testing.T) {
	l := newLine(t)
	request, err := http.NewRequest("PUT", l.server.URL+"/admin/faults",
		io.MultiReader(strings.NewReader(`{"faults":["`), io.LimitReader(zeros{}, api.MaxBody)))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+lineToken)
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	request.RemoteAddr = "127.0.0.1:1"
	l.ex.ServeHTTP(recorder, request)
	require.Equal(t, 400, recorder.Code, recorder.Body)
}
