package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// live measures what a bot does between the bytes of a ticker and a signed order in the hands of
// the transport, beside a round trip of net/http over loopback.
func (t *table) live() {
	const rounds = 2000
	p := newPipe(t.b)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(p.tickers)
	}))
	defer server.Close()
	trip := time.Hour
	took := t.least(func() {
		began := time.Now()
		for range rounds {
			answer, err := http.Post(server.URL, "application/json", bytes.NewReader(p.body))
			require.NoError(t.b, err)
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
		trip = min(trip, time.Since(began))
	}, func() {
		for range rounds {
			p.tick()
		}
	})
	require.Equal(t.b, p.ticks, p.sent, "every ticker leads to an order")
	t.compare("ticker's bytes → gate → signed order, own CPU", "round trip", float64(trip.Nanoseconds())/rounds,
		took[1]/rounds, "ns", 0.25)
}

// pipe is client, engine and gate of a bot without disk and network: it is the transport of its own
// client.
type pipe struct {
	b             *testing.B
	client        *rest.Client
	trading       exchange.Trading  // that orders leave by
	over          http.RoundTripper // that orders go over; nil: nowhere
	engine        *engine.Engine
	prices        []market.Ticker
	tickers, body []byte // of an answer, and of the last order
	ticks, sent   int
}

func newPipe(b *testing.B) *pipe {
	p := &pipe{b: b, tickers: []byte(`[{"market":"BTC-EUR","price":"30000.00"},{"market":"ADA-EUR","price":"0.5"}]`)}
	var catalog market.Catalog
	_, err := catalog.AddAsset("BTC", 8)
	require.NoError(b, err)
	eur, err := catalog.AddAsset("EUR", 2)
	require.NoError(b, err)
	m := bitcoin()
	require.NoError(b, catalog.AddMarket(m))
	p.client, err = rest.New(rest.Config{BaseURL: "https://exchange.test/v2",
		Key: rest.NewSecret(strings.Repeat("k", 64)), Secret: rest.NewSecret(strings.Repeat("s", 128)), Transport: p})
	require.NoError(b, err)
	require.NoError(b, p.client.Sync(context.Background()))
	p.client.Use(&catalog)
	p.trading = p.client
	fees := func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} }
	limits := risk.Limits{OperatorID: 1, MaxOpenOrders: 10, MaxOrderValue: 1_000_00, MaxPosition: 2_000_00,
		PriceCollar: 5_000_000}
	p.engine = engine.New(engine.Config{
		Catalog: &catalog, Account: state.NewAccount(&catalog, 1, nil), Gate: risk.New(&catalog,
			risk.Config{Account: risk.AccountLimits{Currency: eur.ID}, Strategies: []risk.Limits{limits}, Fees: fees}),
		Slots: []engine.StrategyConfig{{Strategy: bidder{}, Markets: []market.ID{m.ID}, Ticker: true}},
		Run:   uuid.UUID{1},
	})
	p.engine.Step(&market.Event{At: p.client.Now(), Kind: market.KindTransfer, Asset: eur.ID, Money: million})
	p.tick() // makes an order's body for the floor
	return p
}

// bidder answers every ticker with a bid.
type bidder struct{ strategy.Base }

func (bidder) OnTicker(d *strategy.Desk, t market.Ticker) {
	_, _ = d.In(t.Market).Buy(strategy.Amount(1_000_000), strategy.At(t.Last*9/10), strategy.PostOnly())
}

// fate is the error of every order.
func (p *pipe) fate() error {
	if p.over == nil && p.trading == exchange.Trading(p.client) {
		return errPipe
	}
	return exchange.ErrCode(exchange.CodeInsufficientBalance)
}

// tick takes a ticker in and sends the order that follows. That the order is lost and refused is
// folded, too: the next tick finds the account as it was.
func (p *pipe) tick() {
	p.ticks++
	prices, err := p.client.TickerPrices(context.Background(), p.prices[:0])
	if err != nil || len(prices) != 1 {
		p.b.Fatal(prices, err) // require would cost as much as the order
	}
	p.prices = prices
	now := p.client.Now()
	commands := p.engine.Step(&market.Event{At: now, Kind: market.KindTicker, Market: prices[0].Market,
		Ticker: &prices[0]})
	for i := range commands {
		intent, err := p.trading.Prepare(&commands[i])
		if err != nil {
			p.b.Fatal(err)
		}
		if _, err := p.trading.Send(context.Background(), &intent); !errors.Is(err, p.fate()) {
			p.b.Fatal(err)
		}
		p.engine.Step(&market.Event{At: now, Kind: market.KindReport, Market: intent.Market,
			Report: &market.Report{Exec: market.ExecRejected, Command: market.CommandPlace, Order: intent.Order,
				Market: intent.Market, Code: exchange.CodeInsufficientBalance,
				OrderState: market.OrderState{Updated: now}}})
	}
}

var errPipe = errors.New("nobody is there")

// RoundTrip answers what is asked for and takes orders without an answer.
func (p *pipe) RoundTrip(r *http.Request) (*http.Response, error) {
	body := p.tickers
	switch {
	case r.Method == http.MethodPost:
		p.sent++
		if len(p.body) == 0 {
			p.body, _ = io.ReadAll(r.Body)
		}
		if p.over != nil {
			return p.over.RoundTrip(r)
		}
		return nil, errPipe
	case strings.HasSuffix(r.URL.Path, "/time"):
		body = fmt.Appendf(nil, `{"time":%d,"timeNs":%d}`, time.Now().UnixMilli(), time.Now().UnixNano())
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
}

// packageRow is a row that a package measures itself: a benchmark, and which two of its figures are
// compared. unit is that of the figures divided by scale; a rate becomes the time that it stands
// for.
type packageRow struct {
	what, folder, benchmark string
	floorName, floor, ours  string
	unit                    string
	scale                   float64 // below 0: 1e6 divided by the figure, a rate in µs
	goal                    float64
}

var packageRows = []packageRow{
	{"signature", "exchange/rest", "Signing", "SHA-256", "ns/floor", "ns/what", "ns", 1, 2.2},
	{"book of 1000 × 1000 decoded", "exchange/rest", "BookAgainst", "byte loop", "ns/floor", "ns/what", "µs", 1e3,
		-0.7},
	{"page of 1440 candles decoded", "exchange/rest", "CandlesAgainst", "encoding/json", "ns/floor", "ns/what", "µs",
		1e3, -10},
	{"intent made durable", "state/journal", "IntentDurable", "bbolt Update", "floor-µs", "µs/intent", "µs", 1, -0.9},
	{"64 events in one commit, each", "state/journal", "IntentsDrained", "alone", "single-µs", "µs/intent", "µs",
		1, -20},
	{"signed POST /order over loopback, exchange", "exchange/sandbox", "SignedOrder", "bare handler", "bare-req/s",
		"signed-req/s", "µs", -1, 1.33},
	{"its p99", "exchange/sandbox", "SignedOrder", "bare handler", "bare-p99-µs", "signed-p99-µs", "µs", 1, 3},
	{"signed POST /order from another process, exchange", "bot", "OrderFromAnotherProcess/clients=1$", "bare handler",
		"bare-req/s", "signed-req/s", "µs", -1, 1.33},
	{"its p99", "bot", "OrderFromAnotherProcess/clients=1$", "bare handler", "bare-p99-µs", "signed-p99-µs", "µs", 1,
		2},
	{"events to 100 sockets, CPU of a frame", "exchange/sandbox", "SocketBroadcast/each$", "bare broadcast",
		"bare-frames/s", "socket-frames/s", "µs", -1, 1.43},
	{"matched trade to its frame at a client, p50", "exchange/sandbox", "SocketLatency/memory$", "echo", "echo-p50-µs",
		"frame-p50-µs", "µs", 1, 3},
	{"its p99", "exchange/sandbox", "SocketLatency/memory$", "echo", "echo-p99-µs", "frame-p99-µs", "µs", 1, 10},
	{"matched trade to its frame, state file on tmpfs, p50", "exchange/sandbox", "SocketLatency/tmpfs$", "echo",
		"echo-p50-µs", "frame-p50-µs", "µs", 1, 3},
	{"its p99", "exchange/sandbox", "SocketLatency/tmpfs$", "echo", "echo-p99-µs", "frame-p99-µs", "µs", 1, 10},
	{"trade to frames at 10 sockets beside a stuck one, p99", "exchange/sandbox", "SocketBesideAStuckOne",
		"without it", "alone-p99-µs", "beside-p99-µs", "µs", 1, 1.1},
	{"matching core, 10 k resting, an operation", "exchange/sim", "Book/10000$", "integer ladder", "ladder-ns",
		"core-ns", "ns", 1, 4},
	{"whole life of an order at the venue, 10 k", "exchange/sim", "Book/10000$", "integer ladder", "ladder-ns",
		"venue-ns", "ns", 1, 4},
	{"matching core, 1 M resting, an operation", "exchange/sim", "Book/1000000", "integer ladder", "ladder-ns",
		"core-ns", "ns", 1, 8},
	{"whole life of an order at the venue, 1 M", "exchange/sim", "Book/1000000", "integer ladder", "ladder-ns",
		"venue-ns", "ns", 1, 8},
	{"replay of a recording, six strategies, an event", "bot/rerun/replay", "ReplayedEvents", "decoding", "decode-ns",
		"ns/event",
		"ns",
		1, -0.3},
	{"trade in the exchange → strategy's callback, journal in memory", "bot/runner", "FillHeard/memory", "echo",
		"echo-p50-µs", "heard-p50-µs", "µs", 1, 3},
	{"its p99", "bot/runner", "FillHeard/memory", "echo", "echo-p99-µs", "heard-p99-µs", "µs", 1, 10},
	{"2,000 candles drawn as SVG", "view/chart", "CandlesAgainst", "their numbers by strconv", "ns/floor", "ns/what",
		"ms",
		1e6, 3},
}

// packages runs the benchmarks of the packages, each once, and prints their rows. One test program
// serves all benchmarks of a package. With -short it looks whether they exist: .ci/run runs a round
// of each in its package.
func (t *table) packages() {
	if testing.Short() {
		for i := range packageRows {
			packageRows[i].exists(t.b)
		}
		return
	}
	dir, texts := t.b.TempDir(), map[string]string{}
	for i := range packageRows {
		row := &packageRows[i]
		run := row.folder + " " + row.benchmark
		if texts[run] == "" {
			// ".test", because a program with the name bot runs as the command
			program := filepath.Join(dir, strings.ReplaceAll(row.folder, "/", "-")+".test")
			if _, err := os.Stat(program); err != nil {
				t.must(command("go", "test", "-c", "-ldflags=-s -w", "-o", program, "./"+row.folder))
			}
			benchmark := command(program, "-test.run", "^$", "-test.bench", row.benchmark, "-test.benchtime", "2s")
			benchmark.Dir = row.folder
			text, err := benchmark.CombinedOutput()
			require.NoError(t.b, err, "%s", text)
			texts[run] = string(text)
		}
		t.compare(row.what, row.floorName, row.figure(t.b, texts[run], row.floor),
			row.figure(t.b, texts[run], row.ours), row.unit, row.goal)
	}
}

// exists requires that the package has the benchmark.
func (r *packageRow) exists(b *testing.B) {
	name, _, _ := strings.Cut(r.benchmark, "/")
	files, err := filepath.Glob(filepath.Join(r.folder, "*_test.go"))
	require.NoError(b, err)
	found := slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		require.NoError(b, err)
		return bytes.Contains(text, []byte("\nfunc Benchmark"+name))
	})
	require.True(b, found, "%s has no Benchmark%s", r.folder, name)
}

// figure finds a figure in what a benchmark printed.
func (r *packageRow) figure(b *testing.B, text, unit string) float64 {
	fields := strings.Fields(text)
	for i := 1; i < len(fields); i++ {
		if fields[i] != unit {
			continue
		}
		value, err := strconv.ParseFloat(fields[i-1], 64)
		require.NoError(b, err)
		if r.scale < 0 {
			return 1e6 / value
		}
		return value / r.scale
	}
	require.Fail(b, "no such figure", "%s %s: %s in\n%s", r.folder, r.benchmark, unit, text)
	return 0
}
