package runner

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/door"
	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/signals"
	"github.com/tidemark-trading/tidemark/strategy"
)

// obeys buys a little with each signal.
type obeys struct{ strategy.Base }

// OnSignal is of strategy.SignalHandler.
func (obeys) OnSignal(d *strategy.Desk, s market.Signal) {
	_, _ = d.In(s.Market).Buy(strategy.Amount(100_000), strategy.At(20_000_00), strategy.InForce(market.IOC))
}

const obeysBot = `
[bot]
state = %q
record_mb = 0
[exchange]
base_url = %q
key_env = "KEY"
secret_env = "SECRET"
weight_per_key = 1000000
weight_per_ip = 1000000
[strategies.obeys]
kind = "obeys"
markets = ["BTC-EUR"]
interval = "1m"
operator_id = 7
[signals.model]
live = "stdin"
`

// From the first byte of a signal at the door to the signed order at the exchange, over HTTP on
// loopback, with the journal in memory and on the disk; and to the answer of the door. The floor is
// a sync of the disk, and an HTTP request that an empty handler answers. loop: how long the bot's
// loop lets an empty turn wait. flood: a thousand wrong requests a second beside it.
func BenchmarkSignalToOrder(b *testing.B) {
	for _, where := range []struct {
		name, folder string
		flood        bool
	}{{"memory", "/dev/shm", false}, {"disk", b.TempDir(), false}, {"disk flood", b.TempDir(), true}} {
		b.Run(where.name, func(b *testing.B) {
			folder, err := os.MkdirTemp(where.folder, "tidemark")
			if err != nil {
				b.Skip("no memory file system: ", err)
			}
			defer os.RemoveAll(folder)
			d := newDoorway(b, folder)
			if where.flood {
				d.flood()
			}
			var orders, answers, floors, syncs, loops []time.Duration
			for b.Loop() {
				order, answer := d.signal()
				orders, answers = append(orders, order), append(answers, answer)
				floors, syncs = append(floors, d.empty()), append(syncs, d.sync())
				loops = append(loops, d.loop())
			}
			d.close()
			for _, row := range []struct {
				name string
				took []time.Duration
			}{{"order", orders}, {"answer", answers}, {"http", floors}, {"sync", syncs}, {"loop", loops}} {
				slices.Sort(row.took)
				b.ReportMetric(float64(row.took[len(row.took)/2].Nanoseconds())/1e3, row.name+"-p50-µs")
				b.ReportMetric(float64(row.took[len(row.took)*99/100].Nanoseconds())/1e3, row.name+"-p99-µs")
			}
			if where.flood {
				b.ReportMetric(float64(d.wrong.Load())/b.Elapsed().Seconds(), "wrong/s")
			}
		})
	}
}

// doorway is a bot at an exchange on loopback, with a door.
type doorway struct {
	benchEnds
	ordered chan time.Time // when an order came to the exchange
	door    string
	nothing string // the address of an empty handler
	number  int
	now     atomic.Int64 // of the door, in ns: time that passes lets the source send
	client  *http.Client
	wrong   atomic.Int64
	runner  *runner
}

const benchPath = "b2f9c0d4e7a1835f6e0d9c8b7a6f5e4d"

func newDoorway(b *testing.B, folder string) *doorway {
	d := &doorway{benchEnds: benchEnds{b: b}, ordered: make(chan time.Time, 16),
		client: &http.Client{Transport: &http.Transport{}}}
	c := bottest.Exchange(1)
	c.Markets[0].Source, c.Markets[0].Liquidity = prices.Fixed("30000"), sandbox.Liquidity{}
	c.Accounts[0].Keys[0].Budget = 1_000_000
	c.Accounts[0].Balances = map[string]string{"EUR": "1000000000"}
	ex, err := sandbox.New(c)
	require.NoError(b, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/order") {
			d.ordered <- time.Now()
		}
		ex.ServeHTTP(w, r)
	}))
	empty := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	d.nothing = empty.URL
	d.closes = append(d.closes, empty.Close, server.Close, func() { require.NoError(b, ex.Close()) })
	run, err := config.LoadRun(&config.Source{File: "bench.toml",
		Text: fmt.Sprintf(obeysBot, filepath.Join(folder, "state"), server.URL+"/v2")})
	require.NoError(b, err)
	p, err := plan.NewLive(run, []strategy.Definition{strategy.Define("obeys", "buys with each signal",
		func(struct{}) strategy.Needs { return strategy.Needs{Ticker: true, Signals: []string{"model"}} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &obeys{}, nil })}, func(name string) string {
		return map[string]string{"KEY": bottest.BotKey, "SECRET": bottest.BotSecret}[name]
	})
	require.NoError(b, err)
	d.open(p)
	d.file, err = os.Create(filepath.Join(folder, "sync"))
	require.NoError(b, err)
	return d
}

// open starts the bot and its door, and waits until it hears.
func (d *doorway) open(p *plan.Live) {
	r, err := openRunner(d.b.Context(), p, zerolog.Nop(), Options{})
	require.NoError(d.b, err)
	d.runner = r
	ctx, stop := context.WithCancel(d.b.Context())
	done := make(chan error, 2)
	go func() { done <- r.trade(ctx) }()
	o, err := p.SignalOptions("model")
	require.NoError(d.b, err)
	on, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(d.b, err)
	d.door = "http://" + on.Addr().String() + "/signal/"
	d.now.Store(time.Now().UnixNano())
	at := door.New(door.Config{Ear: r.listening, Log: zerolog.Nop(),
		Now: func() time.Time { return time.Unix(0, d.now.Load()) },
		Sources: []door.Source{{Name: "model", Secret: host.Fixed(door.Secret{Path: benchPath}),
			Sender: signals.NewSender("model", o)}}})
	go func() { done <- at.Serve(ctx, on) }()
	d.closes = append(d.closes, func() {
		d.client.CloseIdleConnections()
		stop()
		require.NoError(d.b, <-done)
		require.NoError(d.b, <-done)
		require.NoError(d.b, r.close())
	})
	for { // until the market is warm
		d.number++
		d.now.Add(int64(time.Second))
		body := fmt.Sprintf(`{"id":"%d","market":"BTC-EUR","action":"buy"}`, d.number)
		if d.post(d.door+benchPath, body) == http.StatusOK {
			select {
			case <-d.ordered:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}

func (d *doorway) post(to, body string) int {
	r, err := d.client.Post(to, "", bytes.NewReader([]byte(body)))
	require.NoError(d.b, err)
	_, _ = io.Copy(io.Discard, r.Body)
	require.NoError(d.b, r.Body.Close())
	return r.StatusCode
}

// signal sends a signal, and returns how long it took to the order at the exchange, and to the
// answer.
func (d *doorway) signal() (order, answer time.Duration) {
	d.number++
	d.now.Add(int64(time.Second))
	body := fmt.Sprintf(`{"id":"%d","market":"BTC-EUR","action":"buy"}`, d.number)
	began := time.Now()
	require.Equal(d.b, http.StatusOK, d.post(d.door+benchPath, body))
	answer = time.Since(began)
	return (<-d.ordered).Sub(began), answer
}

// loop is how long a turn takes in which nothing happens, with the wait for it.
func (d *doorway) loop() time.Duration {
	began := time.Now()
	require.NoError(d.b, d.runner.loop.Inspect(d.b.Context(), func(market.Time) {}))
	return time.Since(began)
}

// empty is how long a request takes that an empty handler answers.
func (d *doorway) empty() time.Duration {
	began := time.Now()
	d.post(d.nothing, "{}")
	return time.Since(began)
}

// flood sends a thousand wrong requests a second until close.
func (d *doorway) flood() {
	var all sync.WaitGroup
	end := make(chan struct{})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 20}}
	for range 20 {
		all.Go(func() {
			every := time.NewTicker(20 * time.Millisecond)
			defer every.Stop()
			for {
				select {
				case <-end:
					return
				case <-every.C:
				}
				r, err := client.Post(d.door+"x", "", strings.NewReader(strings.Repeat("{", 3000)))
				if err == nil {
					_, _ = io.Copy(io.Discard, r.Body)
					_ = r.Body.Close()
					d.wrong.Add(1)
				}
			}
		})
	}
	d.closes = append(d.closes, func() { close(end); all.Wait(); client.CloseIdleConnections() })
}
