package bot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// busy does everything that a person wants to hear of: it buys, asks for what is refused, and
// panics.
type busy struct {
	strategy.Base
	busyParams
	seen int
}

type busyParams struct {
	Panic   bool `toml:"panic" default:"true" doc:"panic at the fourth price"`
	Bracket bool `toml:"bracket" default:"false" doc:"buy with exits, and nothing else"`
	Sell    bool `toml:"sell" default:"false" doc:"sell a part at the third price"`
}

func (s *busy) OnTicker(d *strategy.Desk, t market.Ticker) {
	s.seen++
	unit := market.Qty(market.Pow10(d.In(t.Market).Market().AmountDigits))
	switch {
	case s.Bracket && s.seen == 1:
		_, _ = d.In(t.Market).Buy(strategy.Amount(unit/1000), strategy.Exits(t.Last/2, 2*t.Last))
	case s.Bracket:
	case s.seen == 1:
		_, _ = d.In(t.Market).Buy(strategy.Amount(unit / 1000))
	case s.seen == 2:
		for range 30 {
			_, _ = d.In(t.Market).Buy(strategy.Amount(1000*unit), strategy.At(t.Last))
		}
	case s.seen == 3 && s.Sell:
		_, _ = d.In(t.Market).Sell(strategy.Amount(unit / 2000))
	case s.seen == 4 && s.Panic:
		panic("enough")
	}
}

func busyKind() strategy.Definition {
	return strategy.Define("busy", "does what a person wants to hear of",
		func(busyParams) strategy.Needs { return strategy.Needs{Ticker: true} },
		func(p busyParams, _ strategy.Setup) (strategy.Strategy, error) {
			return &busy{busyParams: p}, nil
		})
}

// output collects what a running bot writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// watched is a bot at work in this process, with ears at all its mouths.
type watched struct {
	t      *testing.T
	out    output
	alerts output // a line for each
	beats  output // of the heartbeat, a line for each
	notes  output // what systemd would hear, a line for each
	stop   func() int
	base   string // of metrics and health
	env    map[string]string
}

const pathSecret = "hook-SECRET"

// watchBot runs a bot on an exchange until stop.
func watchBot(t *testing.T, p *practice, args ...string) *watched {
	w := &watched{t: t, env: map[string]string{}}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.HasPrefix(r.URL.Path, "/beat/") {
			fmt.Fprintf(&w.beats, "%s %s\n", strings.TrimPrefix(r.URL.Path, "/beat/"+pathSecret), body)
			return
		}
		fmt.Fprintf(&w.alerts, "%s\n", body)
	}))
	t.Cleanup(receiver.Close)
	socket := filepath.Join(t.TempDir(), "notify")
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	require.NoError(t, err)
	var ears sync.WaitGroup
	ears.Go(func() {
		buffer := make([]byte, 256)
		for {
			n, err := systemd.Read(buffer)
			if err != nil {
				return
			}
			fmt.Fprintf(&w.notes, "%s\n", buffer[:n])
		}
	})
	t.Cleanup(func() { systemd.Close(); ears.Wait() })
	for name, value := range p.env {
		w.env[name] = value
	}
	w.env["ALERT_URL"], w.env["NOTIFY_SOCKET"], w.env["WATCHDOG_USEC"] = receiver.URL+"/"+pathSecret, socket, "3000000"
	w.env["BEAT_URL"] = receiver.URL + "/beat/" + pathSecret
	ctx, cancel := context.WithCancel(t.Context())
	code := 0
	var running sync.WaitGroup
	running.Go(func() {
		code = bot.Run(ctx, bot.Process{Args: append([]string{"run", "-c", p.config, "--set",
			"metrics.listen=127.0.0.1:0", "--set", "alerts.to.me.url_env=ALERT_URL",
			"--set", "alerts.heartbeat_env=BEAT_URL",
			"--set", "strategies.trend.kind=busy", "--set", "poll.tickers=500ms", "--set", "exchange.window=60s",
			"--set", "bot.stop_within=5m"}, args...), Stdin: bytes.NewReader(nil), Stdout: &w.out, Stderr: &w.out,
			Getenv: func(name string) string { return w.env[name] }, Definitions: append(shipped.Definitions(),
				busyKind())})
	})
	w.stop = func() int { cancel(); running.Wait(); return code }
	t.Cleanup(func() { w.stop() })
	w.eventually(func() bool { return strings.Contains(w.out.String(), "metrics and health are served") })
	w.base = "http://" + regexp.MustCompile(`"address":"([0-9.:]+)"`).FindStringSubmatch(w.out.String())[1]
	return w
}

func (w *watched) eventually(what func() bool) {
	w.t.Helper()
	bottest.Await(w.t, what, "%s\nalerts: %s\nnotes: %s", &w.out, &w.alerts, &w.notes)
}

// get returns status and body of a page.
func (w *watched) get(path string) (int, string) {
	answer, err := http.Get(w.base + path)
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(w.t, err)
	return answer.StatusCode, string(body)
}

func TestWhatABotDoesCanBeWatchedFromStartToStop(t *testing.T) {
	t.Parallel()
	p := newPractice(t)
	w := watchBot(t, p, "--set", "alerts.refusals=25")
	w.eventually(func() bool { return strings.Contains(w.alerts.String(), `"kind":"halt"`) })
	w.eventually(func() bool { return strings.Contains(w.notes.String(), "WATCHDOG=1") })
	for _, kind := range []string{"start", "refusals", "halt"} {
		w.eventually(func() bool { return strings.Contains(w.alerts.String(), `"kind":"`+kind+`"`) })
	}
	require.Contains(t, w.alerts.String(), "30 refusals within a minute")
	require.Regexp(t, `trend is halted: .*enough`, w.alerts.String())
	require.Regexp(t, `"kind":"halt".*"money":\{"currency":"EUR","equity":"(49|50)\d\d\.\d+","day_result":"-?\d+\.\d+",`+
		`"open_orders":\d,"positions":\[\{"strategy":"trend","market":"BTC-EUR","amount":"0.001","value":"\d+\.`,
		w.alerts.String())
	w.eventually(func() bool { return strings.HasPrefix(w.beats.String(), "/start \n \n") })
	w.eventually(func() bool { status, _ := w.get("/readyz"); return status == http.StatusOK })
	w.eventually(func() bool { status, _ := w.get("/healthz"); return status == http.StatusOK })
	var page string
	for _, want := range []string{`tidemark_orders_total{command="place",outcome="accepted"} 1`,
		`tidemark_orders_ended_total{state="filled"} 1`,
		`tidemark_fills_total{market="BTC-EUR",side="buy",strategy="trend"} `,
		`tidemark_refusals_total{reason="`, `tidemark_poll_age_seconds{feed="ticker_price"} 0.`,
		`tidemark_weight_left{budget="key"} `, `tidemark_weight_left{budget="ip"} `,
		`tidemark_banned{budget="key"} 0`, "tidemark_journal_commit_seconds_count ",
		`tidemark_step_seconds_count{event="ticker"} `, "tidemark_queue_events ", "tidemark_open_orders 0",
		`tidemark_equity{currency="EUR"} `, `tidemark_exposure{currency="EUR"} `, "tidemark_drawdown_ratio ",
		"tidemark_build_info{", "go_goroutines ",
		`tidemark_strategy_halted{strategy="trend"} 1`} {
		w.eventually(func() bool { _, page = w.get("/metrics"); return strings.Contains(page, want) })
	}
	// 5000 less fee and spread, and the price of 0.001 BTC moves as long as the test takes.
	require.Regexp(t, `tidemark_equity\{currency="EUR"\} (49|50)\d\d`, page)
	require.Zero(t, w.stop(), w.out.String())
	require.Regexp(t, `"kind":"fill",.*trend: buy 0\.001`, w.alerts.String(),
		"fills are told once a minute, the last ones at the stop")
	require.Contains(t, w.alerts.String(), "trading has ended with 0 open orders: asked to stop")
	w.eventually(func() bool { return strings.Contains(w.notes.String(), "STOPPING=1") })
	require.True(t, strings.HasPrefix(w.notes.String(), "READY=1\n"))
	status, _ := w.get("/healthz")
	require.Zero(t, status, "nobody answers any more")
	for _, secret := range []string{w.env["BOT_KEY"], w.env["BOT_SECRET"], pathSecret} {
		require.NotContains(t, w.out.String()+w.alerts.String()+page, secret)
	}
}

// value is a figure of a page of metrics; NaN where it is not there.
func value(t *testing.T, page, name string) float64 {
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(page)
	if found == nil {
		return math.NaN()
	}
	figure, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	return figure
}

func TestMetricsMoveWithWhatTheBotDoes(t *testing.T) {
	t.Parallel()
	w := watchBot(t, newPractice(t), "--set", "strategies.trend.params.panic=false",
		"--set", "strategies.trend.params.sell=true")
	var page string
	is := func(name string, holds func(float64) bool) {
		t.Helper()
		w.eventually(func() bool { _, page = w.get("/metrics"); return holds(value(t, page, name)) })
	}
	w.eventually(func() bool { return strings.Contains(w.out.String(), `"side":"sell"`) })
	above := func(least float64) func(float64) bool { return func(v float64) bool { return v > least } }
	is(`tidemark_orders_total{command="place",outcome="accepted"}`, above(0))
	is(`tidemark_refusals_total{reason="exchange 216",strategy="trend"}`, above(29))
	is(`tidemark_exposure{currency="EUR"}`, above(10))
	is(`tidemark_drawdown_ratio`, above(0)) // its fee is gone
	is(`tidemark_equity{currency="EUR"}`, func(v float64) bool { return v > 4990 && v < 5010 && v != 5000 })
	is(`tidemark_weight_left{budget="key"}`, func(v float64) bool { return v > 0 && v < 1000 })
	is(`tidemark_weight_left{budget="ip"}`, func(v float64) bool { return v > 0 && v < 1000 })
	is(`tidemark_poll_age_seconds{feed="ticker_price"}`, func(v float64) bool { return v >= 0 && v < 10 })
	is(`tidemark_poll_age_seconds{feed="rules"}`, func(v float64) bool { return v >= 0 && v < 60 })
	require.NotContains(t, page, `tidemark_poll_age_seconds{feed="book"}`, "nobody asks for books")
	is("tidemark_journal_commit_seconds_count", above(1)) // a bot that only hears prices commits once in a while
	is("tidemark_journal_commit_seconds_sum", above(0))
	is("tidemark_state_bytes", above(10_000))
	is("tidemark_journal_begin_timestamp_seconds", above(1.6e9))
	steps := value(t, page, `tidemark_step_seconds_count{event="ticker"}`)
	is(`tidemark_step_seconds_count{event="ticker"}`, above(steps))
	is(`tidemark_step_seconds_sum{event="ticker"}`, above(0))
	problems, err := promlint.New(strings.NewReader(page)).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Zero(t, w.stop(), w.out.String())
	require.Regexp(t, `trend: sell 0.0005.*trend has earned [+-]\d+\.\d+ with its sales of BTC-EUR`, w.alerts.String())
}

func TestABotWithoutItsExchangeIsAliveAndNotReady(t *testing.T) {
	t.Parallel() // prices have to be missed for ten seconds
	p := newPractice(t)
	w := watchBot(t, p, "--set", "strategies.trend.params.panic=false", "--set", "metrics.stale_after=2s",
		"--set", "bot.stop_within=1s") // its order may be open when the exchange is gone
	w.eventually(func() bool { status, _ := w.get("/readyz"); return status == http.StatusOK })
	p.ex.stop()
	w.eventually(func() bool {
		status, why := w.get("/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(why, "nothing was heard from the exchange")
	})
	w.eventually(func() bool { status, _ := w.get("/healthz"); return status == http.StatusOK })
	w.eventually(func() bool { return strings.Contains(w.alerts.String(), `"kind":"stale"`) })
}

func TestTheDrawdownOfTheMetricsIsThatOfTheStatusAlsoWhenItBeginsAnew(t *testing.T) {
	p := newPractice(t)
	w := watchBot(t, p, "--set", "strategies.trend.params.panic=false", "--set", "risk.max_drawdown=0.0000001", "--set",
		"risk.max_daily_loss=0", "--set", "bot.need_limits=false")
	w.eventually(func() bool { return strings.Contains(w.alerts.String(), "the largest drawdown is reached") })
	state := filepath.Join(p.dir, "state")
	for _, command := range []string{"halt", "resume"} {
		code, _, failed := call(t.Context(), command, "--state", state)
		require.Zero(t, code, failed)
	}
	var s struct{ Drawdown string }
	var page string
	w.eventually(func() bool {
		code, out, failed := call(t.Context(), "status", "--state", state, "--json")
		require.Zero(t, code, failed)
		require.NoError(t, json.Unmarshal([]byte(out), &s))
		told, err := strconv.ParseFloat(s.Drawdown, 64)
		require.NoError(t, err)
		_, page = w.get("/metrics")
		return told == value(t, page, "tidemark_drawdown_ratio")
	})
}

func TestAHaltOfAnEarlierRunIsToldAgain(t *testing.T) {
	t.Parallel()
	p := newPractice(t)
	w := watchBot(t, p)
	w.eventually(func() bool { return strings.Contains(w.alerts.String(), `"kind":"halt"`) })
	w.stop()
	again := watchBot(t, p)
	again.eventually(func() bool { return strings.Contains(again.alerts.String(), `"kind":"halt"`) })
	code, all := p.examine("--set", "strategies.trend.kind=smacross")
	require.Zero(t, code)
	require.True(t, strings.Contains(fmt.Sprint(all), "held by a running bot"), "%v", all)
}

func TestNothingIsServedOrToldUnlessAskedFor(t *testing.T) {
	p := newPractice(t)
	for _, row := range []struct{ set, want string }{
		{"metrics.listen=0.0.0.0:9090", "metrics.public"},
		{"metrics.listen=:9090", "metrics.public"},
		{"metrics.listen=9090", "want host:port"},
		{"alerts.to.me.url_env=NOWHERE", "no variable of that name"},
	} {
		code, _, failed := p.call("--set", row.set)
		require.Equal(t, 64, code, row.set)
		require.Contains(t, failed, row.want)
	}
}

func TestMoneyThatLeavesIsTold(t *testing.T) {
	t.Parallel()
	p := newPractice(t)
	w := watchBot(t, p, "--set", "poll.balances=1s", "--set", "strategies.trend.params.panic=false")
	w.eventually(func() bool { return strings.Contains(w.out.String(), `"message":"fill"`) })
	k := p.ex.facts.Accounts[0].Keys[0]
	body := []byte(`{"symbol":"EUR","amount":"9000","address":"GB82WEST12345698765432"}`)
	now := time.Now().UnixMilli()
	signer := rest.NewSigner(rest.NewSecret(k.Secret))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.ex.facts.BaseURL+"/withdrawal",
		bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Service-Access-Key", k.Key)
	request.Header.Set("Service-Access-Timestamp", strconv.FormatInt(now, 10))
	request.Header.Set("Service-Access-Window", "60000")
	request.Header.Set("Service-Access-Signature",
		string(signer.AppendSignature(nil, now, http.MethodPost, "/v2/withdrawal", body)))
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Less(t, answer.StatusCode, 300)
	w.eventually(func() bool { return strings.Contains(w.alerts.String(), `"kind":"difference"`) })
	require.Regexp(t, `"kind":"difference",.*balance EUR: books [0-9.]+, exchange [0-9.]+; explained by withdrawal, -9000; taken out of the books`, w.alerts.String())
	require.NotContains(t, w.alerts.String(), `"kind":"halt"`)
	_, page := w.get("/metrics")
	require.Contains(t, page, `tidemark_differences_total{kind="balance"} 1`)
}
