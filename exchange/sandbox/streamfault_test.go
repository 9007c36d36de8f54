package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
)

// struck is a socket to an exchange with faults.
func struck(t *testing.T, faults ...fault.Fault) (*rig, *listener) {
	r := newRig(t, func(config *Config) { config.Faults = faults })
	return r, dial(t, r)
}

// breaks requires that the connection ends.
func (c *listener) breaks() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	_, _, err := c.on.Read(ctx)
	require.Error(c.t, err)
	require.NoError(c.t, ctx.Err(), "the connection is still open")
}

const tradesOfADA = `{"action":"subscribe","channels":[{"name":"trades","markets":["ADA-EUR"]}]}`

// trade lets two accounts trade an amount of ADA.
func (r *rig) trade(amount string) {
	for account, side := range map[string]string{"alice": "sell", "bob": "buy"} {
		r.send(account, http.MethodPost, "/order", `{"market":"ADA-EUR","operatorId":5,"side":"`+side+
			`","orderType":"limit","amount":"`+amount+`","price":"0.5"}`)
	}
}

// amountOf reads the amount of an event.
func (c *listener) amount() string {
	c.t.Helper()
	var event struct{ Amount string }
	require.NoError(c.t, json.Unmarshal([]byte(c.hear()), &event))
	return event.Amount
}

func TestFaultsStrikeTheFramesOfASocket(t *testing.T) {
	trade := fault.Fault{Channel: "trades", Nth: 2}
	with := func(kind fault.Kind) fault.Fault {
		f := trade
		f.Kind = kind
		return f
	}
	for kind, want := range map[fault.Kind][]string{
		fault.DuplicateFrame: {"10", "20", "20", "30"}, fault.SkipFrame: {"10", "30"},
		fault.SwapFrames: {"10", "30", "20"},
	} {
		r, c := struck(t, with(kind))
		require.Contains(t, c.ask(tradesOfADA), "subscribed")
		for _, amount := range []string{"10", "20", "30"} {
			r.trade(amount)
		}
		for _, amount := range want {
			require.Equal(t, amount, c.amount(), kind)
		}
	}
	for _, kind := range []fault.Kind{fault.DropSocket, fault.CutFrame} {
		r, c := struck(t, with(kind))
		require.Contains(t, c.ask(tradesOfADA), "subscribed")
		r.trade("10")
		require.Equal(t, "10", c.amount())
		r.trade("20")
		c.breaks()
	}
}

func TestAFrameComesLateByTheExchangesClock(t *testing.T) {
	r, c := struck(t, fault.Fault{Kind: fault.DelayFrame, Channel: "trades", Delay: time.Hour})
	require.Contains(t, c.ask(tradesOfADA), "subscribed")
	r.trade("10")
	r.pass(time.Hour)
	require.Equal(t, "10", c.amount())
	r.trade("20") // the connection ends while it waits
}

func TestASilentSocketStaysOpenAndAMutedOneAnswers(t *testing.T) {
	r, c := struck(t, fault.Fault{Kind: fault.Silence, Channel: "trades"})
	require.Contains(t, c.ask(tradesOfADA), "subscribed")
	r.trade("10")
	c.say(`{"action":"getTime"}`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := c.on.Read(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	r, c = struck(t, fault.Fault{Kind: fault.Mute, Channel: "trades"})
	require.Equal(t, `{"event":"subscribed","subscriptions":{"trades":["ADA-EUR"]}}`, c.ask(tradesOfADA))
	r.trade("10")
	require.Contains(t, c.ask(`{"action":"getTime"}`), `"action":"getTime"`)
}

func TestAHandshakeIsRefused(t *testing.T) {
	r := newRig(t, func(config *Config) { config.Faults = []fault.Fault{{Kind: fault.RefuseSocket, Count: 1}} })
	server := httptest.NewServer(r.ex)
	defer server.Close()
	address := "ws" + strings.TrimPrefix(server.URL, "http") + "/v2/"
	_, answer, err := websocket.Dial(t.Context(), address, nil)
	require.Error(t, err)
	require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode)
	on, _, err := websocket.Dial(t.Context(), address, nil)
	require.NoError(t, err)
	on.CloseNow()
	r.ex.streams.hub.Close()
}

func TestFaultsOfRequestsMeetActions(t *testing.T) {
	order := `{"action":"privateCreateOrder","market":"ADA-EUR","operatorId":5,"side":"buy","orderType":"limit",` +
		`"amount":"100","price":"0.4"}`
	for _, f := range []fault.Fault{{Kind: fault.DropRequest}, {Kind: fault.DropAnswer}, {Kind: fault.Error, Code: 107},
		{Kind: fault.Error, Code: 101, Work: true}} {
		f.Endpoints = []string{"POST /order"}
		r, c := struck(t, f)
		c.authenticate(r, "alice")
		c.say(order)
		if f.Kind == fault.Error {
			require.Contains(t, c.hear(), `"errorCode":10`)
		} else {
			c.breaks()
		}
		done := f.Kind == fault.DropAnswer || f.Work
		require.Equal(t, done, r.send("alice", http.MethodGet, "/ordersOpen?market=ADA-EUR", "").body != "[]", f.Kind)
	}
}

// The nonces begin anew, as after a restart of the matching engine.
func TestNoncesBeginAnew(t *testing.T) {
	r, c := struck(t, fault.Fault{Kind: fault.NewNonces, Market: "ADA-EUR", After: time.Minute})
	require.Contains(t, c.ask(`{"action":"subscribe","channels":[{"name":"book","markets":["ADA-EUR"]}]}`),
		"subscribed")
	bid := func(amount string) (nonce int64) {
		r.send("alice", http.MethodPost, "/order", `{"market":"ADA-EUR","operatorId":5,"side":"buy",`+
			`"orderType":"limit","amount":"`+amount+`","price":"0.4"}`).ok(t)
		r.pass(time.Second)
		var event struct{ Nonce int64 }
		require.NoError(t, json.Unmarshal([]byte(c.hear()), &event))
		return event.Nonce
	}
	before := bid("100")
	require.Equal(t, before+1, bid("200"))
	r.pass(time.Minute)
	require.Equal(t, int64(1), bid("300"))
}
