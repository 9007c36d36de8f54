package sandbox

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// socket opens a socket, authenticated as an account unless that is "".
func (s *stage) socket(account string) *listener {
	s.t.Helper()
	c := dial(s.t, s.rig)
	if account != "" {
		c.authenticate(s.rig, account)
	}
	return c
}

// tells sends messages and requires their answers: pairs of both. An answer that ends with … is
// the beginning of one.
func (c *listener) tells(pairs ...string) {
	c.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		got := c.ask(pairs[i])
		if begins, cut := strings.CutSuffix(pairs[i+1], "…"); cut {
			require.True(c.t, strings.HasPrefix(got, begins), "%s\n answers %s\n want %s", pairs[i], got, pairs[i+1])
			continue
		}
		require.Equal(c.t, pairs[i+1], got, pairs[i])
	}
}

// event reads the next message.
func (c *listener) event() row {
	c.t.Helper()
	decoder := json.NewDecoder(strings.NewReader(c.hear()))
	decoder.UseNumber()
	var r row
	require.NoError(c.t, decoder.Decode(&r))
	return r
}

// quiet requires that nothing is on its way to the client.
func (c *listener) quiet() {
	c.t.Helper()
	require.Contains(c.t, c.ask(`{"action":"getTime"}`), `{"action":"getTime","response"`)
}

// follows subscribes to a channel of BTC-EUR.
func (c *listener) follows(channel string) {
	c.t.Helper()
	interval := ""
	if channel == "candles" {
		interval = `,"interval":["1m"]`
	}
	require.Contains(c.t, c.ask(`{"action":"subscribe","channels":[{"name":"`+channel+`"`+interval+
		`,"markets":["BTC-EUR"]}]}`), `{"event":"subscribed"`)
}

// login makes the message authenticate of a key, dated as the exchange's time.
func (s *stage) login(key, secret, more string) string {
	stamp := fmt.Sprint(s.ex.clock.Now().Millis())
	return `{"action":"authenticate","key":"` + key + `","signature":"` + socketSignature(secret, stamp) +
		`","timestamp":` + stamp + more + `}`
}

func socketSignature(secret, stamp string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "GET/v2/websocket"))
	return hex.EncodeToString(mac.Sum(nil))
}

const loggedIn = `{"event":"authenticate","authenticated":true}`

// socketRules are sections 1 to 3 of websocket-facts.
var socketRules = []rule{
	{"websocket-facts 1 address", "the socket is at /v2/, with and without the slash at its end", func(s *stage) {
		server := httptest.NewServer(s.ex)
		defer server.Close()
		defer s.ex.streams.hub.Close()
		for _, path := range []string{"/v2", "/v2/"} {
			on, answer, err := websocket.Dial(s.t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+path, nil)
			require.NoError(s.t, err)
			require.Equal(s.t, http.StatusSwitchingProtocols, answer.StatusCode)
			on.CloseNow()
		}
	}},
	{"websocket-facts 1 frames", "one JSON object in a text frame is a message", func(s *stage) {
		c := s.socket("")
		c.say(`{"action":"getTime"}`)
		c.say(`{"action":"getAssets"}`)
		for _, action := range []string{"getTime", "getAssets"} {
			kind, text, err := c.on.Read(s.t.Context())
			require.NoError(s.t, err)
			require.Equal(s.t, websocket.MessageText, kind)
			require.True(s.t, json.Valid(text))
			require.Contains(s.t, string(text), `{"action":"`+action+`"`)
		}
	}},
	{"websocket-facts 1 compression", "permessage-deflate where the client offers it, and only there", func(s *stage) {
		server := httptest.NewServer(s.ex)
		defer server.Close()
		defer s.ex.streams.hub.Close()
		for mode, agreed := range map[websocket.CompressionMode]string{websocket.CompressionDisabled: "",
			websocket.CompressionContextTakeover: "permessage-deflate"} {
			on, answer, err := websocket.Dial(s.t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+"/v2/",
				&websocket.DialOptions{CompressionMode: mode})
			require.NoError(s.t, err)
			name, _, _ := strings.Cut(answer.Header.Get("Sec-WebSocket-Extensions"), ";")
			require.Equal(s.t, agreed, name)
			c := &listener{s.t, on}
			// long enough to be compressed
			require.Contains(s.t, c.ask(`{"action":"getMarkets"}`), `"market":"ADA-EUR"`)
			on.CloseNow()
		}
	}},
	{"websocket-facts 1 before subscribing", "the exchange says nothing by itself", func(s *stage) {
		c := s.socket("")
		s.trade("1", "100")
		s.pass(time.Minute)
		c.quiet()
	}},
	{"websocket-facts 1 heartbeat", "a client's ping is answered; the exchange pings each 50 s with the payload ping",
		func(s *stage) {
			c := s.socket("")
			ctx, cancel := context.WithCancel(s.t.Context())
			defer cancel()
			go c.on.Read(ctx)
			require.NoError(s.t, c.on.Ping(s.t.Context()))
		}},
	{"websocket-facts 1 silence", "a socket without messages and subscriptions stays open", func(s *stage) {
		c := s.socket("")
		s.pass(24 * time.Hour)
		c.quiet()
	}},
	{"websocket-facts 1 closing", "a client that reads too slowly is conflated, and disconnected as a last resort",
		func(s *stage) {
			c, slow := s.socket(""), s.socket("")
			c.follows("trades")
			slow.follows("trades")
			for range 3 { // the slow one reads nothing meanwhile
				s.trade("1", "100")
				s.has(c.event(), "event=trade")
			}
			for range 3 {
				s.has(slow.event(), "event=trade")
			}
		}},
	{"websocket-facts 1 several connections", "share the budget of the key, or of the address without one",
		func(s *stage) {
			alone := newStage(s.t, func(c *Config) { c.Budget = api.Budget{PerKey: 8, PerIP: 6} })
			a, b := alone.socket("alice"), alone.socket("alice") // of the address: one point each
			for _, c := range []*listener{a, b, a, b, a, b, a, b} {
				c.tells(`{"action":"getTime"}`, `{"action":"getTime","response"…`)
			}
			a.tells(`{"action":"getTime"}`, `{"action":"getTime","errorCode":105…`)
			b.tells(`{"action":"getTime"}`, `{"action":"getTime","errorCode":105…`)
			a, b = alone.socket(""), alone.socket("")
			for _, c := range []*listener{a, b, a, b} {
				c.tells(`{"action":"getTime"}`, `{"action":"getTime","response"…`)
			}
			b.tells(`{"action":"getTime"}`, `{"action":"getTime","errorCode":105…`)
		}},
	{"websocket-facts 1 at a reconnect", "a new socket has no credentials, no subscriptions, and nothing is told again",
		func(s *stage) {
			c := s.socket("alice")
			c.follows("account")
			s.trade("1", "100")
			c.on.CloseNow()
			c = s.socket("")
			c.quiet()
			c.tells(`{"action":"privateGetAccount"}`, `{"action":"privateGetAccount","errorCode":300…`,
				`{"action":"unsubscribe","channels":[{"name":"book","markets":["BTC-EUR"]}]}`,
				`{"event":"unsubscribed","subscriptions":{}}`)
		}},

	{"websocket-facts 2", "a reply has action, requestId where one was given, and REST's answer as response",
		func(s *stage) {
			c := s.socket("alice")
			for action, line := range map[string]string{"getTime": "GET /time", "getAssets": "GET /assets",
				"privateGetBalance": "GET /balance"} {
				c.tells(`{"action":"`+action+`","requestId":17}`,
					`{"action":"`+action+`","requestId":17,"response":`+s.ask("alice", line).body+`}`)
			}
		}},
	{"websocket-facts 2", "a requestId comes back digit by digit, one in flight twice is answered twice",
		func(s *stage) {
			c := s.socket("")
			c.say(`{"action":"getTime","requestId":17900000001231234}`)
			c.say(`{"action":"getTime","requestId":17900000001231234}`)
			for range 2 {
				require.Contains(s.t, c.hear(), `{"action":"getTime","requestId":17900000001231234,"response":`)
			}
			c.tells(`{"action":"getTime","requestId":"7-a"}`, `{"action":"getTime","requestId":"7-a","response"…`,
				`{"action":"getBook","requestId":12345678901234567890}`,
				`{"action":"getBook","requestId":12345678901234567890,"errorCode":203…`,
				`{"action":"subscribe","requestId":90071992547409931,"channels":[{"name":"book","markets":["BTC-EUR"]}]}`,
				`{"event":"subscribed","requestId":90071992547409931,"subscriptions":{"book":["BTC-EUR"]}}`,
				`{"action":"unsubscribe","requestId":4,"channels":[{"name":"book","markets":["BTC-EUR"]}]}`,
				`{"event":"unsubscribed","requestId":4,"subscriptions":{}}`)
		}},
	{"websocket-facts 2", "without a requestId the member is missing", func(s *stage) {
		s.socket("").tells(`{"action":"getTime"}`, `{"action":"getTime","response"…`,
			`{"action":"getBook"}`, `{"action":"getBook","errorCode"…`)
	}},
	{"websocket-facts 2", "events have no error, action or authenticated, replies no event", func(s *stage) {
		c := s.socket("alice")
		for _, channel := range []string{"ticker", "ticker24h", "candles", "trades", "book", "account"} {
			c.follows(channel)
		}
		s.trade("1", "100")
		s.place("alice", "buy limit amount=1 price=90")
		s.pass(time.Second)
		seen := map[any]bool{}
		for len(seen) < 7 {
			event := c.event()
			s.has(event, "event", "-error", "-action", "-authenticated", "-response")
			seen[event["event"]] = true
		}
		answer := c.ask(`{"action":"getTime"}`)
		for strings.HasPrefix(answer, `{"event"`) {
			answer = c.hear()
		}
		require.NotContains(s.t, answer, `"event"`)
	}},
	{"websocket-facts 2", "lists are lists, and one market or symbol is an object, as over HTTP", func(s *stage) {
		c := s.socket("alice")
		for _, action := range []string{"getMarkets", "getAssets", "getTickerPrice", "getTickerBook", "getTicker24h",
			"privateGetBalance", "privateGetDepositHistory"} {
			c.tells(`{"action":"`+action+`"}`, `{"action":"`+action+`","response":[…`)
		}
		for _, action := range []string{"getMarkets", "getTickerPrice", "getTickerBook", "getTicker24h"} {
			c.tells(`{"action":"`+action+`","market":"BTC-EUR"}`,
				`{"action":"`+action+`","response":{"market":"BTC-EUR"…`)
		}
		c.tells(`{"action":"getAssets","symbol":"BTC"}`, `{"action":"getAssets","response":{"symbol":"BTC"…`,
			`{"action":"privateCancelOrders","market":"BTC-EUR","operatorId":7}`,
			`{"action":"privateCancelOrders","response":[]}`)
	}},

	{"websocket-facts 3 signature", "of the timestamp and GET/v2/websocket, in hex", func(s *stage) {
		const secret, signed = "bitvavo", "653fc0505431c63a043273da4bd2f0927eae83948d796084f313e5d1131b0d6f"
		require.Equal(s.t, signed, socketSignature(secret, "1548175200641"))
		old := newStage(s.t, func(c *Config) {
			c.Clock = ManualClock(market.Time(1548175200641 * time.Millisecond))
			c.Accounts[0].Keys[0].Secret = secret
		})
		old.socket("").tells(`{"action":"authenticate","key":"`+rigKey("alice")+`","signature":"`+signed+
			`","timestamp":1548175200641}`, loggedIn)
	}},
	{"websocket-facts 3 timestamp", "an integer, or a text of digits", func(s *stage) {
		stamp := fmt.Sprint(s.ex.clock.Now().Millis())
		s.socket("").tells(strings.Replace(s.login(rigKey("alice"), "secret of alice", ""), stamp+"}", `"`+stamp+`"}`,
			1),
			loggedIn, `{"action":"privateGetAccount"}`, `{"action":"privateGetAccount","response"…`)
	}},
	{"websocket-facts 3 window", "10000 where it is left out, at most 60000, an integer or a text of digits",
		func(s *stage) {
			c := s.socket("")
			early := s.login(rigKey("alice"), "secret of alice", "")
			wide := s.login(rigKey("alice"), "secret of alice", `,"window":60000`)
			wideText := s.login(rigKey("alice"), "secret of alice", `,"window":"60000"`)
			s.pass(10 * time.Second)
			c.tells(early, loggedIn)
			s.pass(time.Second)
			c.tells(early, `{"action":"authenticate","errorCode":304…`, wide, loggedIn, wideText, loggedIn,
				s.login(rigKey("alice"), "secret of alice", `,"window":60001`),
				`{"action":"authenticate","errorCode":303…`)
		}},
	{"websocket-facts 3 order of arrival", "messages are answered in their order, public ones before authenticate too",
		func(s *stage) {
			c := s.socket("")
			c.say(`{"action":"getTime"}`)
			c.say(s.login(rigKey("alice"), "secret of alice", ""))
			c.say(`{"action":"getTime"}`)
			c.say(`{"action":"privateGetAccount"}`)
			for _, want := range []string{`"action":"getTime"`, loggedIn, `"action":"getTime"`, `"capabilities"`} {
				require.Contains(s.t, c.hear(), want)
			}
		}},
	{"websocket-facts 3 success", "event authenticate, authenticated true, the requestId where given", func(s *stage) {
		s.socket("").tells(s.login(rigKey("alice"), "secret of alice", ""), loggedIn,
			s.login(rigKey("alice"), "secret of alice", `,"requestId":5`),
			`{"event":"authenticate","requestId":5,"authenticated":true}`)
	}},
	{"websocket-facts 3 failure", "the codes of REST under action authenticate; the socket stays and may try again",
		func(s *stage) {
			key, good := rigKey("alice"), s.login(rigKey("alice"), "secret of alice", "")
			stamp := fmt.Sprint(s.ex.clock.Now().Millis())
			signature := socketSignature("secret of alice", stamp)
			c := s.socket("")
			for _, one := range []struct {
				message string
				code    int
			}{
				{`{"action":"authenticate"}`, 300}, {strings.Replace(good, key, "short", 1), 301},
				{strings.Replace(good, stamp+"}", `"x"}`, 1), 302}, {good[:len(good)-1] + `,"window":0}`, 303},
				{strings.Replace(good, stamp+"}", "1790000000000}", 1), 304},
				{strings.Replace(good, key, strings.Repeat("f", len(key)), 1), 305},
				{strings.Replace(good, signature, "00", 1), 308},
				{s.login(key, "another secret", ""), 309},
			} {
				c.tells(one.message, fmt.Sprintf(`{"action":"authenticate","errorCode":%d,"error":"…`, one.code))
			}
			c.tells(good, loggedIn)
		}},
	{"websocket-facts 3 what it is good for", "private actions and account; all actions then count against the key",
		func(s *stage) {
			c := s.socket("alice")
			before := s.ask("alice", "GET /account").remaining(s.t)
			c.tells(`{"action":"getTime"}`, `{"action":"getTime","response"…`,
				`{"action":"privateGetBalance"}`, `{"action":"privateGetBalance","response"…`)
			c.follows("account")
			c.quiet()
			require.Equal(s.t, before-1-5-1-1-1, s.ask("alice", "GET /account").remaining(s.t))
		}},
	{"websocket-facts 3", "a private message without credentials is 300", func(s *stage) {
		const words = `"errorCode":300,"error":"Authentication is required for this endpoint."}`
		s.socket("").tells(`{"action":"privateGetOrdersOpen","requestId":1}`,
			`{"action":"privateGetOrdersOpen","requestId":1,`+words,
			`{"action":"subscribe","channels":[{"name":"account","markets":["BTC-EUR"]}]}`,
			`{"action":"subscribe",`+words)
	}},
	{"websocket-facts 3 permissions", "are those of the REST twin: 310, 311, 312; account needs read and trade",
		func(s *stage) {
			for _, one := range []struct {
				lose    func(*api.Key)
				code    int
				message string
			}{
				{func(k *api.Key) { k.Trade = false }, 310, `{"action":"privateCreateOrder","market":"BTC-EUR"}`},
				{func(k *api.Key) { k.Read = false }, 311, `{"action":"privateGetBalance"}`},
				{func(k *api.Key) { k.Withdraw = false }, 312, `{"action":"privateWithdrawAssets"}`},
				{func(k *api.Key) { k.Trade = false }, 310,
					`{"action":"subscribe","channels":[{"name":"account","markets":"*"}]}`},
				{func(k *api.Key) { k.Read = false }, 311,
					`{"action":"subscribe","channels":[{"name":"account","markets":"*"}]}`},
			} {
				poor := newStage(s.t, func(c *Config) { one.lose(&c.Accounts[0].Keys[0]) })
				require.Contains(s.t, poor.socket("alice").ask(one.message), fmt.Sprintf(`"errorCode":%d,`, one.code))
			}
		}},
	{"websocket-facts 3 a second authenticate", "is a fresh one: the account of the first is no longer heard",
		func(s *stage) {
			c := s.socket("alice")
			c.follows("account")
			c.authenticate(s.rig, "bob")
			s.place("alice", "buy limit amount=1 price=100")
			c.quiet()
			c.tells(`{"action":"privateGetOrdersOpen"}`, `{"action":"privateGetOrdersOpen","response":[]}`)
		}},
}
