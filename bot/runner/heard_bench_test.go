package runner

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// fillsOfAnOrder is how many fills end an order of the catcher.
const fillsOfAnOrder = 4

// catcher keeps one bid at the best price and tells when it hears of a fill.
type catcher struct {
	strategy.Base
	heard chan time.Time
}

// OnTicker is of strategy.Strategy.
func (c *catcher) OnTicker(d *strategy.Desk, t market.Ticker) { c.bid(d.In(t.Market)) }

// OnOrder is of strategy.OrderHandler.
func (c *catcher) OnOrder(d *strategy.Desk, o market.Order, _ market.Report) { c.bid(d.In(o.Market)) }

func (c *catcher) bid(m strategy.MarketDesk) {
	if len(m.OpenOrders()) == 0 {
		_, _ = m.Buy(strategy.Amount(fillsOfAnOrder*100_000), strategy.At(29_000_00))
	}
}

// OnFill is of strategy.Strategy.
func (c *catcher) OnFill(*strategy.Desk, market.Fill) { c.heard <- time.Now() }

const catcherBot = `
[bot]
state = %q
[exchange]
base_url = %q
key_env = "KEY"
secret_env = "SECRET"
weight_per_key = 1000000
weight_per_ip = 1000000
[strategies.catcher]
kind = "catcher"
markets = ["BTC-EUR"]
interval = "1m"
operator_id = 7
`

// A trade in the exchange until the strategy hears of it, over a socket on loopback, with the
// journal in memory and on the disk. The floor is an echo of a message of the same size over the
// same library; the disk's is a sync. The time of a trade is when the answer to the order that made
// it is written: the event has just been published.
func BenchmarkFillHeard(b *testing.B) {
	for _, where := range []struct{ name, folder string }{{"memory", "/dev/shm"}, {"disk", b.TempDir()}} {
		b.Run(where.name, func(b *testing.B) {
			folder, err := os.MkdirTemp(where.folder, "tidemark")
			if err != nil {
				b.Skip("no memory file system: ", err)
			}
			defer os.RemoveAll(folder)
			h := newHearing(b, folder)
			var ours, echoes, syncs []time.Duration
			for b.Loop() {
				ours = append(ours, h.fill())
				echoes = append(echoes, h.echo())
				syncs = append(syncs, h.sync())
			}
			h.close()
			for _, row := range []struct {
				name string
				took []time.Duration
			}{{"heard", ours}, {"echo", echoes}, {"sync", syncs}} {
				slices.Sort(row.took)
				b.ReportMetric(float64(row.took[len(row.took)/2].Nanoseconds())/1e3, row.name+"-p50-µs")
				b.ReportMetric(float64(row.took[len(row.took)*99/100].Nanoseconds())/1e3, row.name+"-p99-µs")
			}
		})
	}
}

// hearing is a bot at an exchange on loopback, another client of the exchange, and an echo.
type hearing struct {
	benchEnds
	ex     *sandbox.Exchange
	other  *rest.Client
	said   time.Time // when the exchange answered the other's last order
	heard  chan time.Time
	left   int // fills of the catcher's order
	socket *websocket.Conn
	sent   market.OrderID
	bot    *runner
	state  string // folder of the bot
	url    string // of the exchange
	idle   string // sections of the config with more strategies
}

func newHearing(b *testing.B, folder string) *hearing {
	h := &hearing{benchEnds: benchEnds{b: b}, heard: make(chan time.Time, 1)}
	h.open(folder)
	return h
}

// open opens the exchange and starts the bot.
func (h *hearing) open(folder string) {
	b := h.b
	c := bottest.Exchange(1)
	c.Markets[0].Source, c.Markets[0].Liquidity = prices.Fixed("30000"), sandbox.Liquidity{}
	c.Accounts[0].Keys[0].Budget = 1_000_000
	c.Accounts[0].Balances = map[string]string{"EUR": "1000000000"}
	c.Accounts[1].Balances = map[string]string{"BTC": "1000000"}
	var err error
	h.ex, err = sandbox.New(c)
	require.NoError(b, err)
	server := httptest.NewServer(h.ex)
	h.closes = append(h.closes, server.Close, func() { require.NoError(b, h.ex.Close()) })
	h.other, err = rest.New(rest.Config{BaseURL: server.URL + "/v2", Key: rest.NewSecret(bottest.OtherKey),
		Secret: rest.NewSecret("secret of the other"), Transport: stamping{h}})
	require.NoError(b, err)
	require.NoError(b, h.other.Sync(b.Context()))
	catalog, _, err := h.other.Catalog(b.Context())
	require.NoError(b, err)
	h.other.Use(catalog)
	h.state, h.url = filepath.Join(folder, "state"), server.URL+"/v2"
	h.run()
	h.file, err = os.Create(filepath.Join(folder, "sync"))
	require.NoError(b, err)
	h.openEcho()
}

// plan makes the plan of the bot, for its start or a reload.
func (h *hearing) plan() *plan.Live {
	c, err := config.LoadRun(&config.Source{File: "bench.toml", Text: fmt.Sprintf(catcherBot, h.state, h.url) + h.idle,
		Overrides: (&stage{hears: overStream}).ways()})
	require.NoError(h.b, err)
	kind := onTickers("catcher", func() strategy.Strategy { return &catcher{heard: h.heard} })
	idle := scripted("idle", always(func(*strategy.Desk, market.Ticker) {}))
	p, err := plan.NewLive(c, []strategy.Definition{kind, idle, shipped.SMACross}, func(name string) string {
		return map[string]string{"KEY": bottest.BotKey, "SECRET": bottest.BotSecret}[name]
	})
	require.NoError(h.b, err)
	return p
}

// run starts the bot.
func (h *hearing) run() {
	r, err := openRunner(h.b.Context(), h.plan(), zerolog.Nop(), Options{})
	require.NoError(h.b, err)
	h.bot = r
	ctx, stop := context.WithCancel(h.b.Context())
	done := make(chan error, 1)
	go func() { done <- r.trade(ctx) }()
	h.closes = append(h.closes, func() {
		stop()
		require.NoError(h.b, <-done)
		require.NoError(h.b, r.close())
	})
}

// stamping is the transport of the other client: a call of the exchange, and a look at the clock.
type stamping struct{ *hearing }

// RoundTrip is of http.RoundTripper.
func (s stamping) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := inProcess{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ex.ServeHTTP(w, r)
		s.said = time.Now()
	})}.RoundTrip(r)
	return answer, err
}

// fill sells to the bot, and returns how much later its strategy heard of that.
func (h *hearing) fill() time.Duration {
	for h.left == 0 { // the catcher bids again with the next ticker
		if bid, _ := h.best(); bid > 0 {
			h.left = fillsOfAnOrder
		} else {
			time.Sleep(time.Millisecond)
		}
	}
	h.left--
	h.sent++
	name := market.ClientOrderID(uuid.UUID{9}, h.sent)
	intent, err := h.other.Prepare(&market.Command{Kind: market.CommandPlace,
		Order: market.Order{ID: h.sent, ClientOrderID: name, OperatorID: 1, Market: 1, Side: market.Sell,
			Type: market.TypeLimit, OrderState: market.OrderState{Amount: 100_000, Price: 29_000_00,
				TimeInForce: market.GTC, SelfTradePrevention: market.DecrementAndCancel}}})
	require.NoError(h.b, err)
	_, err = h.other.Send(context.Background(), &intent)
	require.NoError(h.b, err)
	said := h.said
	return (<-h.heard).Sub(said)
}

// best is the best bid at the exchange.
func (h *hearing) best() (market.Price, error) {
	var book market.OrderBook
	err := h.other.Book(context.Background(), &market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, AmountDigits: 8},
		1,
		&book)
	if err != nil || len(book.Bids) == 0 {
		return 0, err
	}
	return book.Bids[0].Price, nil
}

// openEcho opens a socket to a server that says each message again.
func (h *hearing) openEcho() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		on, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer on.CloseNow()
		for {
			kind, text, err := on.Read(context.Background())
			if err != nil || on.Write(context.Background(), kind, text) != nil {
				return
			}
		}
	}))
	var err error
	h.socket, _, err = websocket.Dial(h.b.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), nil)
	require.NoError(h.b, err)
	h.closes = append(h.closes, server.Close, func() { h.socket.CloseNow() })
}

// echo is how long a message as long as the event of an order takes there and back.
func (h *hearing) echo() time.Duration {
	message := make([]byte, 640)
	began := time.Now()
	require.NoError(h.b, h.socket.Write(context.Background(), websocket.MessageText, message))
	_, _, err := h.socket.Read(context.Background())
	require.NoError(h.b, err)
	return time.Since(began)
}

// benchEnds is the end of a benchmark's bot and servers, and a file whose sync is the floor.
type benchEnds struct {
	b      *testing.B
	file   *os.File
	closes []func()
}

// sync is how long a page takes to the disk.
func (e *benchEnds) sync() time.Duration {
	_, err := e.file.WriteAt(make([]byte, 4096), 0)
	require.NoError(e.b, err)
	began := time.Now()
	require.NoError(e.b, e.file.Sync())
	return time.Since(began)
}

// close ends everything, the last first.
func (e *benchEnds) close() {
	slices.Reverse(e.closes)
	for _, end := range e.closes {
		end()
	}
	require.NoError(e.b, e.file.Close())
}
