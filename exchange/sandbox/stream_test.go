package sandbox

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// listener is a socket to an exchange behind a listener on the loopback.
type listener struct {
	t  testing.TB
	on *websocket.Conn
}

// dial serves the rig's exchange, and opens a socket.
func dial(t testing.TB, r *rig) *listener {
	t.Helper()
	server := httptest.NewServer(r.ex)
	on, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+"/v2/", nil)
	require.NoError(t, err)
	on.SetReadLimit(1 << 24)
	t.Cleanup(func() {
		on.CloseNow()
		r.ex.streams.hub.Close()
		server.Close()
	})
	return &listener{t, on}
}

// say sends a message.
func (c *listener) say(text string) {
	c.t.Helper()
	require.NoError(c.t, c.on.Write(c.t.Context(), websocket.MessageText, []byte(text)))
}

// hear reads the next message.
func (c *listener) hear() string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	_, text, err := c.on.Read(ctx)
	require.NoError(c.t, err)
	require.True(c.t, json.Valid(text), "no JSON: %s", text)
	if testing.Verbose() {
		c.t.Log(string(text))
	}
	return string(text)
}

// ask sends a message and returns the next one.
func (c *listener) ask(text string) string {
	c.t.Helper()
	c.say(text)
	return c.hear()
}

// authenticate gives the socket the rights of an account's key.
func (c *listener) authenticate(r *rig, account string) {
	c.t.Helper()
	for _, a := range r.ex.config.Accounts {
		if a.Name != account {
			continue
		}
		stamp := fmt.Sprint(r.ex.clock.Now().Millis())
		mac := hmac.New(sha256.New, []byte(a.Keys[0].Secret))
		mac.Write([]byte(stamp + "GET/v2/websocket"))
		require.Equal(c.t, `{"event":"authenticate","authenticated":true}`,
			c.ask(fmt.Sprintf(`{"action":"authenticate","key":%q,"signature":%q,"timestamp":%s,"window":"10000"}`,
				a.Keys[0].Key, hex.EncodeToString(mac.Sum(nil)), stamp)))
	}
}

func TestMessagesAreAnsweredAsOnTheRealSocket(t *testing.T) {
	r := newRig(t)
	c := dial(t, r)
	for _, one := range [...][2]string{
		{`no JSON`, `{"errorCode":102,"error":"`},
		{`[1]`, `{"errorCode":102,`},
		{`{"action":"nothing","requestId":12345678901234567}`,
			`{"action":"unknown","requestId":12345678901234567,"errorCode":415,`},
		{`{"action":"getTime","requestId":"a\"b"}`, `{"action":"getTime","requestId":"a\"b","response":{"time":`},
		{`{"action":"getTime"}`, `{"action":"getTime","response":{"time":`},
		{`{"action":"getBook","market":"BTC-EUR","depth":"5000"}`,
			`{"action":"getBook","market":"BTC-EUR","errorCode":205,"error":"depth parameter 5000 is invalid."}`},
		{`{"action":"getBook","market":"NOPE-EUR"}`,
			`{"action":"getBook","market":"NOPE-EUR","errorCode":205,"error":"market parameter NOPE-EUR is invalid."}`},
		{`{"action":"getBook"}`, `{"action":"getBook","errorCode":203,`},
		{`{"action":"getBook","market":"BTC-EUR","depth":2,"speed":1}`,
			`{"action":"getBook","response":{"market":"BTC-EUR","nonce":`},
		{`{"action":"getTickerPrice","market":null}`, `{"action":"getTickerPrice","response":[{"market":"`},
		{`{"action":"privateGetBalance","requestId":3}`,
			`{"action":"privateGetBalance","requestId":3,"errorCode":300,`},
		{`{"action":"subscribe","channels":[{"name":"account","markets":["BTC-EUR"]}]}`,
			`{"action":"subscribe","errorCode":300,`},
		{`{"action":"subscribe","channels":[{"name":"news","markets":["BTC-EUR"]}]}`,
			`{"action":"subscribe","errorCode":205,"error":"channel.name parameter is invalid."}`},
		{`{"action":"subscribe","channels":[{"name":"book","markets":["BTC-EUR","btc-eur"]}]}`,
			`{"action":"subscribe","errorCode":205,"error":"market parameter is invalid."}`},
		{`{"action":"subscribe","channels":[{"name":"candles","interval":["1W"],"markets":["BTC-EUR"]}]}`,
			`{"action":"subscribe","errorCode":205,"error":"interval parameter is invalid."}`},
		{`{"action":"subscribe","channels":[]}`, `{"action":"subscribe","errorCode":205,`},
		{`{"action":"subscribe"}`, `{"action":"subscribe","errorCode":205,`},
		{`{"action":"authenticate","key":"short","signature":"x","timestamp":1}`,
			`{"action":"authenticate","errorCode":301,`},
		{`{"action":"unsubscribe","channels":[{"name":"book","markets":["BTC-EUR"]}]}`,
			`{"event":"unsubscribed","subscriptions":{}}`},
	} {
		got := c.ask(one[0])
		require.True(t, strings.HasPrefix(got, one[1]), "%s\n is answered with %s\n want %s", one[0], got, one[1])
	}
}

func TestSubscriptionsListAllOfASocket(t *testing.T) {
	r := newRig(t)
	c := dial(t, r)
	require.Equal(t, `{"event":"subscribed","requestId":3,"subscriptions":{"candles":{"1m":["BTC-EUR"],"1h":["BTC-EUR"]},`+
		`"book":["BTC-EUR","ADA-EUR"]}}`,
		c.ask(`{"action":"subscribe","requestId":3,"channels":[{"name":"book","markets":["ADA-EUR","BTC-EUR","BTC-EUR"]},`+
			`{"name":"candles","interval":["1h","1m"],"markets":["BTC-EUR"]}]}`))
	require.Equal(t, `{"event":"subscribed","subscriptions":{"candles":{"1m":["BTC-EUR"],"1h":["BTC-EUR"]},`+
		`"trades":["BTC-EUR"],"book":["BTC-EUR","ADA-EUR"]}}`,
		c.ask(`{"action":"subscribe","channels":[{"name":"trades","markets":["BTC-EUR"]},`+
			`{"name":"book","markets":["BTC-EUR"]}]}`))
	require.Equal(t, `{"event":"unsubscribed","subscriptions":{"trades":["BTC-EUR"],"book":["ADA-EUR"]}}`,
		c.ask(`{"action":"unsubscribe","channels":[{"name":"book","markets":["BTC-EUR"]},`+
			`{"name":"candles","markets":["BTC-EUR"]}]}`))
}

// The answer to an action is that of the same request over HTTP.
func TestActionsAnswerAsHTTPDoes(t *testing.T) {
	r := newRig(t)
	r.send("alice", http.MethodPost, "/order",
		`{"market":"ADA-EUR","operatorId":5,"side":"buy","orderType":"limit","amount":"100","price":"0.4"}`).ok(t)
	c := dial(t, r)
	c.authenticate(r, "alice")
	for _, e := range r.ex.door.Table {
		if e.Method != http.MethodGet || e.Action == "" {
			continue
		}
		parameters, path, query := map[string]any{"action": e.Action}, e.Path, []string{}
		for _, p := range e.Params {
			value := map[string]string{"market": "ADA-EUR", "interval": "1m", "symbol": "ADA"}[p.Name]
			if !p.Required {
				continue
			}
			parameters[p.Name] = value
			if p.InPath {
				path = strings.Replace(path, "{market}", value, 1)
			} else {
				query = append(query, p.Name+"="+value)
			}
		}
		if e.Action == "privateGetOrder" {
			continue // it needs one of two
		}
		message, err := json.Marshal(parameters)
		require.NoError(t, err)
		if len(query) > 0 {
			path += "?" + strings.Join(query, "&")
		}
		over := r.send("alice", http.MethodGet, path, "").body
		require.Equal(t, fmt.Sprintf(`{"action":%q,"response":%s}`, e.Action, over), c.ask(string(message)), e.Action)
	}
}

// A copy that is kept from the events of a book is the exchange's book at every nonce.
func TestABookKeptFromEventsIsTheExchangesAtEveryNonce(t *testing.T) {
	r := newRig(t)
	random := rand.New(rand.NewPCG(1, 1))
	c := dial(t, r)
	copied := map[string]map[string]string{}
	type levels [][2]string
	var snapshot struct {
		Response struct {
			Nonce      int64
			Bids, Asks levels
		}
	}
	require.Contains(t, c.ask(`{"action":"subscribe","channels":[{"name":"book","markets":["ADA-EUR"]}]}`),
		"subscribed")
	require.NoError(t, json.Unmarshal([]byte(c.ask(`{"action":"getBook","market":"ADA-EUR"}`)), &snapshot))
	apply := func(side string, changes levels) {
		for _, one := range changes {
			at, err := r.ex.catalog.MarketNamed("ADA-EUR").ParsePrice(one[0])
			require.NoError(t, err)
			key := r.ex.catalog.MarketNamed("ADA-EUR").FormatPrice(at)
			if delete(copied[side], key); one[1] != "0" {
				copied[side][key] = strings.TrimRight(strings.TrimRight(one[1], "0"), ".")
				if !strings.Contains(one[1], ".") {
					copied[side][key] = one[1]
				}
			}
		}
	}
	copied["bids"], copied["asks"] = map[string]string{}, map[string]string{}
	apply("bids", snapshot.Response.Bids)
	apply("asks", snapshot.Response.Asks)
	nonce := snapshot.Response.Nonce
	for range 300 {
		side, base := "buy", 4000
		if random.IntN(2) == 0 {
			side, base = "sell", 4002
		}
		r.send([]string{"alice", "bob"}[random.IntN(2)], http.MethodPost, "/order",
			fmt.Sprintf(`{"market":"ADA-EUR","operatorId":5,"side":%q,"orderType":"limit","amount":"%d","price":"0.%d"}`,
				side, 20+random.IntN(50), base+random.IntN(20)-10))
		if random.IntN(3) == 0 {
			r.send("alice", http.MethodDelete, "/orders?market=ADA-EUR&operatorId=5", "")
		}
		if random.IntN(2) == 0 {
			continue
		}
		// getBook tells what is pending first: the answer and the event before it have one nonce
		answer := c.ask(`{"action":"getBook","market":"ADA-EUR"}`)
		for strings.HasPrefix(answer, `{"event":"book"`) {
			var event struct {
				Nonce      int64
				Bids, Asks levels
			}
			require.NoError(t, json.Unmarshal([]byte(answer), &event))
			require.Equal(t, nonce+1, event.Nonce)
			require.NotZero(t, len(event.Bids)+len(event.Asks))
			nonce = event.Nonce
			apply("bids", event.Bids)
			apply("asks", event.Asks)
			answer = c.hear()
		}
		snapshot.Response.Bids, snapshot.Response.Asks = nil, nil
		require.NoError(t, json.Unmarshal([]byte(answer), &snapshot))
		require.Equal(t, nonce, snapshot.Response.Nonce)
		for side, list := range map[string]levels{"bids": snapshot.Response.Bids, "asks": snapshot.Response.Asks} {
			want := map[string]string{}
			for _, level := range list {
				want[level[0]] = level[1]
			}
			require.Equal(t, want, copied[side])
		}
	}
	require.Greater(t, nonce, int64(50))
}

// An account hears of its own orders and fills, in their order, and another account does not.
func TestAnAccountHearsOfItsOrders(t *testing.T) {
	r := newRig(t)
	c := dial(t, r)
	c.authenticate(r, "alice")
	require.Equal(t, `{"event":"subscribed","subscriptions":{"account":["BTC-EUR","ETH-EUR","ADA-EUR"]}}`,
		strings.ReplaceAll(c.ask(`{"action":"subscribe","channels":[{"name":"account","markets":"*"}]}`), " ", ""))
	r.send("bob", http.MethodPost, "/order",
		`{"market":"ADA-EUR","operatorId":6,"side":"sell","orderType":"limit","amount":"50","price":"0.5"}`).ok(t)
	r.send("alice", http.MethodPost, "/order",
		`{"market":"ADA-EUR","operatorId":5,"side":"buy","orderType":"limit","amount":"80","price":"0.5"}`).ok(t)
	var kinds []string
	for range 3 {
		var event struct{ Event, ExecutionType, Status, Amount string }
		text := c.hear()
		require.NoError(t, json.Unmarshal([]byte(text), &event))
		require.NotContains(t, text, `"operatorId":6`)
		kinds = append(kinds, strings.TrimSpace(event.Event+" "+event.ExecutionType+" "+event.Status+" "+event.Amount))
	}
	require.Equal(t, []string{"order new new 80", "fill   50", "order trade partiallyFilled 80"}, kinds)
}

// Prices, trades and candles are told as they happen; ticker has only what has changed.
func TestPublicChannelsTellWhatChanges(t *testing.T) {
	r := newRig(t)
	c := dial(t, r)
	require.Contains(t, c.ask(`{"action":"subscribe","channels":[{"name":"ticker","markets":["BTC-EUR"]},`+
		`{"name":"trades","markets":["BTC-EUR"]},{"name":"ticker24h","markets":["BTC-EUR","ADA-EUR"]},`+
		`{"name":"candles","interval":["1m","1d"],"markets":["BTC-EUR"]}]}`), "subscribed")
	r.send("bob", http.MethodPost, "/order",
		`{"market":"BTC-EUR","operatorId":6,"side":"sell","orderType":"limit","amount":"1","price":"31000"}`).ok(t)
	require.Equal(t, `{"event":"ticker","market":"BTC-EUR","bestAsk":"31000","bestAskSize":"1"}`, c.hear())
	r.send("alice", http.MethodPost, "/order",
		`{"market":"BTC-EUR","operatorId":5,"side":"buy","orderType":"market","amount":"0.1"}`).ok(t)
	events := ""
	for range 4 {
		events += c.hear() + "\n"
	}
	require.Contains(t, events, `{"event":"trade","timestamp":`)
	require.Contains(t, events, `{"event":"candle","market":"BTC-EUR","interval":"1m","candle":[[`)
	require.Contains(t, events, `{"event":"candle","market":"BTC-EUR","interval":"1d","candle":[[`)
	require.Contains(t, events,
		`{"event":"ticker","market":"BTC-EUR","bestAsk":"31000","bestAskSize":"0.9","lastPrice":"31000"}`)
	r.pass(2 * time.Second)
	require.Contains(t, c.hear(), `{"event":"ticker24h","data":[{"market":"BTC-EUR",`)
}
