package sandbox

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

const oneID = "1be6d0df-d5dc-4b53-a250-3376f3b393e6"

// read decodes a request of the table and returns its call.
func (r *rig) read(method, path, query, body string) (*api.Call, *exchange.Error) {
	e, name := route(method, path)
	c := &api.Call{Endpoint: e}
	return c, r.ex.door.Decode(c, name, query, []byte(body))
}

func TestParametersOfABodyReachTheCall(t *testing.T) {
	c, refusal := newRig(t).read("POST", "/order", "", `{"market":"BTC-EUR","side":"buy","orderType":"limit","operatorId":-9223372036854775808,"amount":"0.5","price":"30000",
		"clientOrderId":"`+oneID+`","postOnly":false,"codGroupId":1000}`)
	require.Nil(t, refusal)
	require.Equal(t, "BTC-EUR", c.Text("market"))
	require.EqualValues(t, -1<<63, c.Integer("operatorId", 0))
	require.Equal(t, "0.5", c.Text("amount"))
	require.Equal(t, uuid.MustParse(oneID), c.UUID("clientOrderId"))
	require.False(t, c.Flag("postOnly", true))
	require.EqualValues(t, 1000, c.Integer("codGroupId", 0))
	require.False(t, c.Has("triggerAmount"))
	require.True(t, c.Flag("responseRequired", true))
}

func TestParametersOfAQueryReachTheCall(t *testing.T) {
	c, refusal := newRig(t).read("GET", "/BTC-EUR/candles", "interval=1W&limit=1440&start=0&&end=8640000000000000", "")
	require.Nil(t, refusal)
	require.Equal(t, "BTC-EUR", c.Text("market"))
	require.Equal(t, "1W", c.Text("interval"))
	require.EqualValues(t, 8640000000000000, c.Integer("end", 0))

	c, refusal = newRig(t).read("GET", "/trades", "m%61rket=BTC%2DEUR&tradeIdFrom=a+b", "")
	require.Nil(t, refusal)
	require.Equal(t, "BTC-EUR", c.Text("market"))
	require.Equal(t, "a b", c.Text("tradeIdFrom"))
}

func TestAnArgumentIsForgottenWithItsRequest(t *testing.T) {
	r := newRig(t)
	c, refusal := r.read("GET", "/orders", "market=BTC-EUR&limit=7", "")
	require.Nil(t, refusal)
	c.Endpoint, _ = route("GET", "/trades")
	require.Nil(t, r.ex.door.Decode(c, "", "market=ETH-EUR", nil))
	require.EqualValues(t, 500, c.Integer("limit", 500))
}

func TestWrongParametersAreRefusedByNameAndKind(t *testing.T) {
	const order = `"market":"BTC-EUR","side":"buy","orderType":"limit","operatorId":1`
	cases := []struct {
		method, path, query, body string
		code                      int
		words                     string
	}{
		// what the endpoint does not take
		{"GET", "/time", "x=1", "", 200, "x url parameter"},
		{"GET", "/BTC-EUR/book", "Depth=1", "", 204, "Depth parameter is not supported."},
		{"GET", "/BTC-EUR/book", "market=BTC-EUR", "", 204, "market parameter"}, // it stands in the path
		{"POST", "/order", "market=BTC-EUR", "{" + order + "}", 200, "market url parameter"},
		{"POST", "/order", "", "{" + order + `,"leverage":{"x":1}}`, 204, "leverage parameter"},
		{"GET", "/balance", "", `{"symbol":"EUR"}`, 201, "symbol body parameter"},
		{"DELETE", "/orders", "operatorId=1", `{"market":"BTC-EUR"}`, 201, "market body parameter"},
		{"POST", "/order", "", "{" + order + `,"` + strings.Repeat("n", 5000) + `":1}`, 204,
			strings.Repeat("n", 64) + "… parameter"},
		// what is missing
		{"POST", "/order", "", "", 203, "market parameter is required."},
		{"POST", "/order", "", "{}", 203, "market parameter is required."},
		{"POST", "/order", "", `{"market":"BTC-EUR","side":"buy","orderType":"limit"}`, 203,
			"operatorId parameter is required."},
		{"PUT", "/order", "", `{"market":"BTC-EUR"}`, 203, "operatorId parameter is required."},
		{"DELETE", "/order", "market=BTC-EUR", "", 203, "operatorId parameter is required."},
		{"DELETE", "/orders", "", "", 203, "operatorId parameter is required."},
		{"GET", "/BTC-EUR/candles", "", "", 203, "interval parameter is required."},
		// what is not of its kind, beside what the rules show
		{"GET", "/BTC-EUR/book", "depth", "", 205, "depth"},
		{"GET", "/BTC-EUR/book", "depth=%2B5", "", 205, "depth"}, // a plus sign
		{"GET", "/BTC-EUR/trades", "end=99999999999999999999", "", 205, "end"},
		{"GET", "/order", "market=BTC-EUR&orderId=" + strings.ReplaceAll(oneID, "-", ""), "", 205, "orderId"},
		{"GET", "/order", "market=BTC-EUR&clientOrderId=00000000-0000-0000-0000-000000000000", "", 205,
			"clientOrderId"},
		{"POST", "/order", "", "{" + order + `,"amount":"1.2.3"}`, 205, "amount"},
		{"POST", "/order", "", "{" + order + `,"amount":"` + strings.Repeat("1", 41) + `"}`, 205, "amount"},
		{"POST", "/order", "", "{" + order + `,"amount":["1"]}`, 205, "amount"},
		{"POST", "/order", "", "{" + order + `,"amount":"1","amount":"1"}`, 205, "amount"},
		{"POST", "/order", "", "{" + order + `,"codGroupId":1e2}`, 205, "codGroupId"},
		{"POST", "/order", "", `{"side":"hold","leverage":1}`, 205, "side"}, // the first complaint counts
		// what is no JSON comes before anything else
		{"POST", "/order", "", `{"side":"hold"`, 102, "not valid JSON"},
		{"POST", "/order", "", `[]`, 102, "no JSON object"},
		{"POST", "/order", "", "{\"side\":\"\xff\"}", 102, "not valid UTF-8"},
		{"GET", "/balance", "", `x`, 102, "no JSON object"},
	}
	r := newRig(t)
	for _, c := range cases {
		_, refusal := r.read(c.method, c.path, c.query, c.body)
		require.NotNil(t, refusal, "%+v", c)
		require.Equal(t, c.code, refusal.Code, "%+v", c)
		require.Equal(t, 400, refusal.Status, "%+v", c)
		require.Contains(t, refusal.Message, c.words, "%+v", c)
	}
}

func TestOperatorIDIsOptionalOnlyWhereTheRuleSaysSo(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Rules.OperatorOptional = true })
	_, refusal := r.read("DELETE", "/order", "market=BTC-EUR", "")
	require.Nil(t, refusal)
	_, refusal = r.read("DELETE", "/orders", "", "")
	require.Nil(t, refusal)
	_, refusal = r.read("PUT", "/order", "", `{"market":"BTC-EUR"}`)
	require.Equal(t, exchange.Required("operatorId"), refusal)
}

func TestDisableMarketProtectionIsTaken(t *testing.T) {
	_, refusal := newRig(t).read("POST", "/order", "",
		`{"market":"BTC-EUR","side":"buy","orderType":"market","operatorId":1,"amount":"1","disableMarketProtection":true}`)
	require.Nil(t, refusal)
}

func TestAnEmptyObjectIsNoParameterAnywhere(t *testing.T) {
	_, refusal := newRig(t).read("GET", "/balance", "", " { } ")
	require.Nil(t, refusal)
}

// FuzzQuery holds the decoder against net/url: what it takes, it understands in the same way.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"", "market=BTC-EUR&limit=5", "market=BTC%2dEUR&start=0", "m+rket=1", "limit=%zz",
		"&&=&", "tradeIdFrom=a%20b+c&market=BTC-EUR", "market=BTC-EUR;limit=5"} {
		f.Add(seed)
	}
	r := newRig(f)
	f.Fuzz(func(t *testing.T, query string) {
		c, refusal := r.read("GET", "/trades", query, "")
		if refusal != nil {
			require.Equal(t, 400, refusal.Status)
			return
		}
		want, err := url.ParseQuery(query)
		if strings.Contains(query, ";") {
			return // net/url refuses what was once a separator
		}
		require.NoError(t, err)
		for i, p := range c.Endpoint.Params {
			require.Equal(t, want.Has(p.Name), c.Args[i].Set)
			require.Equal(t, want.Get(p.Name), c.Args[i].Text)
			want.Del(p.Name)
		}
		want.Del("")
		require.Empty(t, want)
	})
}

// FuzzBody lets no body make the decoder panic, or be refused in a way that a client would not
// know.
func FuzzBody(f *testing.F) {
	f.Add(`{"market":"BTC-EUR","side":"buy","orderType":"limit","operatorId":1,"amount":"1.5","price":"30000"}`)
	f.Add(`{"amount":1e400,"postOnly":"x","clientOrderId":"` + oneID + `"}`)
	r, decimal := newRig(f), regexp.MustCompile(`^[0-9]+([.][0-9]+)?$`)
	f.Fuzz(func(t *testing.T, body string) {
		c, refusal := r.read("POST", "/order", "", body)
		if refusal != nil {
			require.Contains(t, []int{102, 203, 204, 205}, refusal.Code)
			return
		}
		require.NotNil(t, r.ex.catalog.MarketNamed(c.Text("market")))
		require.True(t, !c.Has("amount") || decimal.MatchString(c.Text("amount")))
	})
}
