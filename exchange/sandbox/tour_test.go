package sandbox

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

// TestEveryEndpointAnswersAsDescribed walks the whole table over HTTP: two accounts trade, so that
// no list is empty. The rig holds each answer against the description of the API; here it only has
// to be a success.
func TestEveryEndpointAnswersAsDescribed(t *testing.T) {
	r := newRig(t)
	reached := map[*api.Endpoint]bool{}
	send := func(account, line string) answer {
		t.Helper()
		method, rest, _ := strings.Cut(line, " ")
		path, body, _ := strings.Cut(rest, " ")
		e, _ := route(method, strings.SplitN(path, "?", 2)[0])
		require.NotNil(t, e, line)
		reached[e] = true
		return r.send(account, method, path, body)
	}
	const named = "11111111-2222-4333-8444-555555555555"
	terms := `"market":"BTC-EUR","operatorId":1,`
	send("bob", `POST /order {`+terms+`"side":"sell","orderType":"limit","amount":"0.02","price":"30000","clientOrderId":"`+named+`"}`).ok(t)
	send("alice", `POST /order {`+terms+`"side":"buy","orderType":"limit","amount":"0.01","price":"30000"}`).ok(t)
	send("bob", `PUT /order {`+terms+`"clientOrderId":"`+named+`","price":"31000"}`).ok(t)
	send("bob", `PUT /order {`+terms+`"clientOrderId":"`+named+`","price":"32000","responseRequired":false}`).ok(t)
	send("bob", `POST /order {`+terms+`"side":"buy","orderType":"stopLoss","amountQuote":"50","triggerAmount":"31000","codGroupId":3}`).ok(t)
	require.Empty(t, send("bob",
		`POST /order {`+terms+`"side":"buy","orderType":"limit","amount":"0.02","price":"20000","responseRequired":false}`).ok(t).body)
	send("bob", `POST /cancelOrdersAfter {"codGroupId":3,"expiryAfterSeconds":30}`).ok(t)
	send("bob", `POST /withdrawal {"symbol":"BTC","amount":"0.5","address":"bc1q0000000000000000"}`).ok(t)
	r.pass(time.Minute)
	_, refusal := r.ex.bank.deposit("bob", "EUR", "100", r.ex.clock.Now())
	require.Nil(t, refusal)
	for _, line := range []string{
		"GET /order?market=BTC-EUR&clientOrderId=" +
			named, "GET /orders?market=BTC-EUR", "GET /ordersOpen", "GET /ordersOpen?market=BTC-EUR&base=BTC",
		"GET /trades?market=BTC-EUR",
		"GET /account", "GET /account/fees", "GET /account/fees?market=BTC-EUR", "GET /account/history",
		"GET /account/history?page=1&maxItems=1&type=withdrawal", "GET /balance", "GET /balance?symbol=EUR",
		"GET /deposit?symbol=BTC", "GET /deposit?symbol=EUR", "GET /depositHistory",
		"GET /withdrawalHistory?symbol=BTC&limit=1",
	} {
		body := send("bob", line).ok(t).body
		require.NotEqual(t, "[]", body, line)
	}
	for _, line := range []string{
		"GET /time", "GET /markets", "GET /markets?market=BTC-EUR", "GET /assets", "GET /assets?symbol=EUR",
		"GET /BTC-EUR/book", "GET /BTC-EUR/book?depth=1", "GET /BTC-EUR/trades", "GET /BTC-EUR/candles?interval=1m",
		"GET /ticker/price", "GET /ticker/price?market=BTC-EUR", "GET /ticker/book", "GET /ticker/book?market=ADA-EUR",
		"GET /ticker/24h", "GET /ticker/24h?market=BTC-EUR",
		"GET /report/BTC-EUR/book", "GET /report/BTC-EUR/trades",
	} {
		body := send("", line).ok(t).body
		require.NotEqual(t, "[]", body, line)
		one := strings.Contains(line, "?market=") || strings.Contains(line, "?symbol=") ||
			strings.Contains(line, "-EUR/book") || line == "GET /time"
		require.Equal(t, one, body[0] == '{', "a bare object where a filter names one: %s", line)
	}
	send("bob", "DELETE /order?market=BTC-EUR&operatorId=1&clientOrderId="+named).ok(t)
	send("bob", "DELETE /orders?operatorId=1").ok(t)
	send("bob", "DELETE /atomic/orders?market=BTC-EUR&side=buy&operatorId=1").ok(t)
	require.Equal(t, "[]", send("bob", "GET /stakingBalance").ok(t).body)
	withdrawn := send("bob",
		`POST /crypto/withdrawal {"asset":"BTC","network":"BTC","address":"bc1q","amount":"0.5"}`)
	require.Equal(t, 201, withdrawn.status, withdrawn.body)
	for i := range listed {
		require.True(t, reached[&listed[i]], "%s %s was not walked", listed[i].Method, listed[i].Path)
	}
}
