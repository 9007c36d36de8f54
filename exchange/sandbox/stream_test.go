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
