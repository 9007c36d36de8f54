package ws

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
)

// still is an exchange where nothing happens.
func still() Host {
	none := func() *fault.Script { return nil }
	return Host{Now: func() market.Time { return 1_790_000_000e9 }, Exclusive: func(act func()) { act() },
		CarryOut: func(*api.Call) *exchange.Error { return nil }, Requests: none, Sockets: none,
		Wait: func(market.Time, <-chan struct{}) {}}
}

// newTestHub has one market, BTC-EUR.
func newTestHub(t *testing.T) *Hub {
	catalog := &market.Catalog{}
	for _, symbol := range []string{"BTC", "EUR"} {
		_, err := catalog.AddAsset(symbol, 2)
		require.NoError(t, err)
	}
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "BTC-EUR"}))
	d, err := api.New(&api.Config{Catalog: catalog})
	require.NoError(t, err)
	return NewHub(d, catalog, still())
}

// dialHub opens a socket and subscribes it to the book and the ticker.
func dialHub(t *testing.T, url string, options *websocket.DialOptions) *websocket.Conn {
	on, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(url, "http"), options)
	require.NoError(t, err)
	t.Cleanup(func() { on.CloseNow() })
	on.SetReadLimit(1 << 24)
	require.NoError(t, on.Write(t.Context(), websocket.MessageText,
		[]byte(`{"action":"subscribe","channels":[{"name":"book","markets":["BTC-EUR"]},`+
			`{"name":"ticker","markets":["BTC-EUR"]}]}`)))
	require.Equal(t, `{"event":"subscribed","subscriptions":{"ticker":["BTC-EUR"],"book":["BTC-EUR"]}}`, next(t, on))
	return on
}

func next(t *testing.T, on *websocket.Conn) string {
	_, text, err := on.Read(t.Context())
	require.NoError(t, err)
	return string(text)
}

// settled waits until no backlog is being conflated.
func (h *Hub) settled() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.connections {
		for busy := true; busy; runtime.Gosched() {
			c.backlog.mu.Lock()
			busy = c.backlog.conflating
			c.backlog.mu.Unlock()
		}
	}
}

// only is the one connection of a hub.
func (h *Hub) only() *connection {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.connections {
		return c
	}
	return nil
}

func bookEvent(random *rand.Rand, nonce int) []byte {
	text := fmt.Appendf(nil, `{"event":"book","market":"BTC-EUR","nonce":%d,"bids":[`, nonce)
	for price := range 40 {
		text = fmt.Appendf(text, `["%d.0000000000","%d.%015d"],`, price, random.IntN(9), random.Int64N(1e15))
	}
	return append(text[:len(text)-1], `],"asks":[],"timestamp":1790000000123456789}`...)
}

// A client that does not read for a while finds all nonces of the book, and the latest ticker. Its
// account events are not dropped: when too many wait, its connection ends, and no other waits.
func TestASlowReadersBookHasNoGapAndItsAccountEventsEndIt(t *testing.T) {
	hub := newTestHub(t)
	server := httptest.NewServer(hub)
	defer server.Close()
	defer hub.Close()
	slow := dialHub(t, server.URL, nil)
	random, account := rand.New(rand.NewPCG(1, 1)), Topic{Channel: Account, Market: 1, Account: 1}
	slowOne := hub.only()
	hub.mu.Lock()
	hub.add(slowOne, account)
	hub.mu.Unlock()
	const events = 12_000 // 20 MB: more than may wait
	last := ""
	for n := range events {
		last = string(bookEvent(random, n))
		hub.Publish([]Event{{Topic{Channel: Book, Market: 1}, []byte(last)},
			{Topic{Channel: Ticker, Market: 1}, fmt.Appendf(nil, `{"event":"ticker","lastPrice":"%d"}`, n)}})
		if n%100 == 0 {
			hub.Publish([]Event{{account, fmt.Appendf(nil, `{"event":"fill","n":%d}`, n)}})
		}
		hub.settled()
	}
	books, tickers, fills, size := 0, 0, 0, 0
	for books < events {
		text := next(t, slow)
		var event struct {
			Event, LastPrice string
			Nonce, N         int
		}
		require.NoError(t, json.Unmarshal([]byte(text), &event))
		switch event.Event {
		case "book":
			require.Equal(t, books, event.Nonce)
			books++
			size += len(text)
			if books == events {
				require.Equal(t, last, text, "the last event is whole")
			}
		case "ticker":
			tickers++
		case "fill":
			require.Equal(t, 100*fills, event.N)
			fills++
		}
	}
	require.Equal(t, events/100, fills)
	require.Less(t, tickers, events)
	require.Less(t, size, events*len(last)*9/10)
	require.Contains(t, next(t, slow), fmt.Sprintf(`"lastPrice":"%d"`, events-1))

	quick := dialHub(t, server.URL, nil)
	large := Event{account, append(append([]byte(`{"event":"`), strings.Repeat("x", 1<<20)...), '"', '}')}
	for n := range 40 { // MiB: more than the backlog and the system's buffers
		hub.Publish([]Event{large, {Topic{Channel: Book, Market: 1}, bookEvent(random, n)}})
		require.Contains(t, next(t, quick), fmt.Sprintf(`"nonce":%d,`, n))
		hub.settled()
	}
	var err error
	for err == nil {
		_, _, err = slow.Read(t.Context())
	}
}

// Compressed frames are made once for all sockets that take them.
func TestCompressedAndPlainSocketsHearTheSame(t *testing.T) {
	hub := newTestHub(t)
	server := httptest.NewServer(hub)
	defer server.Close()
	defer hub.Close()
	var all []*websocket.Conn
	for _, mode := range []websocket.CompressionMode{websocket.CompressionDisabled,
		websocket.CompressionContextTakeover,
		websocket.CompressionNoContextTakeover, websocket.CompressionContextTakeover} {
		all = append(all, dialHub(t, server.URL,
			&websocket.DialOptions{CompressionMode: mode, CompressionThreshold: 1}))
	}
	random := rand.New(rand.NewPCG(1, 1))
	for n := range 20 {
		text := bookEvent(random, n)
		hub.Publish([]Event{{Topic{Channel: Book, Market: 1}, text}})
		for _, on := range all {
			require.Equal(t, string(text), next(t, on))
		}
	}
	for _, on := range all { // and they are understood
		require.NoError(t, on.Write(t.Context(), websocket.MessageText,
			[]byte(`{"action":"unsubscribe","channels":[{"name":"book","markets":["BTC-EUR"]}]}`)))
		require.Equal(t, `{"event":"unsubscribed","subscriptions":{"ticker":["BTC-EUR"]}}`, next(t, on))
	}
}

// piped is a listener whose connections are pipes.
type piped chan net.Conn

func (p piped) Accept() (net.Conn, error) {
	on, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return on, nil
}
func (p piped) Close() error   { return nil }
func (p piped) Addr() net.Addr { return &net.TCPAddr{} }

// The exchange pings each 50 s with the word ping, and answers pings.
func TestTheExchangePingsEachFiftySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, listens := newTestHub(t), make(piped)
		server := &http.Server{Handler: hub}
		go server.Serve(listens)
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			listens <- theirs
			return ours, nil
		}}
		var pings atomic.Int64
		on, _, err := websocket.Dial(t.Context(), "ws://exchange/v2/", &websocket.DialOptions{
			HTTPClient: &http.Client{Transport: transport},
			OnPingReceived: func(_ context.Context, payload []byte) bool {
				require.Equal(t, "ping", string(payload))
				pings.Add(1)
				return true
			}})
		require.NoError(t, err)
		go on.Read(context.Background())
		for n := range int64(3) {
			time.Sleep(pingEvery - 1)
			synctest.Wait()
			require.Equal(t, n, pings.Load())
			time.Sleep(1)
			synctest.Wait()
			require.Equal(t, n+1, pings.Load())
			require.NoError(t, on.Ping(t.Context()))
		}
		on.CloseNow()
		hub.Close()
		close(listens)
		server.Close()
	})
}
