package bot_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// traded is what `bot run` wrote into its log.
type traded struct {
	text  string
	lines []map[string]any
}

// said returns the lines with a message.
func (r *traded) said(message string) (lines []map[string]any) {
	for _, line := range r.lines {
		if line["message"] == message {
			lines = append(lines, line)
		}
	}
	return lines
}

// lively is an exchange whose prices move fast enough for a fill within seconds, whatever else the
// machine does.
func lively(t *testing.T, args ...string) *served {
	return serve(t, nil, append([]string{"-c", filepath.Join("..", "configs", "exchange.toml"), "--set",
		"markets.BTC-EUR.source.volatility=0.2"}, args...)...)
}

// after is how long a run goes on when it has said what was waited for.
const after = 500 * time.Millisecond

// tradeUntil runs one of configs/ in a process of its own against an exchange until a while after
// it has said something, then interrupts it and wants exit code 0.
func tradeUntil(t *testing.T, s *served, config, state, message string, sets ...string) *traded {
	args := []string{"run", "-c", filepath.Join("..", "configs", config), "--set",
		"exchange.base_url=" + s.facts.BaseURL, "--set", "bot.state=" +
			state, "--set", "bot.stop_within=5m", "--set", "exchange.window=60s"}
	for _, set := range sets {
		args = append(args, "--set", set)
	}
	cmd := bottest.Short(t, bottest.Program(t), args...)
	out, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r, interrupted := &traded{}, false
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		r.text += scanner.Text() + "\n"
		line := map[string]any{}
		if json.Unmarshal(scanner.Bytes(), &line) == nil {
			r.lines = append(r.lines, line)
		}
		if !interrupted && line["message"] == message {
			interrupted = true
			time.AfterFunc(after, func() { _ = cmd.Process.Signal(os.Interrupt) })
		}
	}
	require.NoError(t, cmd.Wait(), r.text)
	require.True(t, interrupted, r.text)
	return r
}

func TestTheSandboxConfigTradesAndLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	s := lively(t)
	key := s.facts.Accounts[0].Keys[0]
	logFile := filepath.Join(t.TempDir(), "logs", "bot.log")
	r := tradeUntil(t, s, "sandbox.toml", t.TempDir(), "fill", "exchange.key="+key.Key, "exchange.secret="+key.Secret,
		"bot.log_file="+logFile)
	logged, err := os.ReadFile(logFile)
	require.NoError(t, err)
	require.Equal(t, r.text, string(logged), "standard error is no terminal: both have the same lines")
	ended := r.said("trading has ended")
	require.Len(t, ended, 1, r.text)
	require.Zero(t, ended[0]["open_orders"], r.text)
	stopping := r.said("stopping: the exchange's answers are awaited")
	require.Len(t, stopping, 1, r.text)
	require.Equal(t, "are cancelled", stopping[0]["orders"])
	c, err := rest.New(rest.Config{BaseURL: s.facts.BaseURL, Key: rest.NewSecret(key.Key),
		Secret: rest.NewSecret(key.Secret)})
	require.NoError(t, err)
	require.NoError(t, c.Sync(t.Context()))
	catalog, _, err := c.Catalog(t.Context())
	require.NoError(t, err)
	c.Use(catalog)
	open, err := c.OpenOrders(t.Context())
	require.NoError(t, err)
	require.Empty(t, open)
	trades, _, err := c.Trades(t.Context(), catalog.MarketNamed("BTC-EUR").ID, c.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.NotEmpty(t, trades)
	s.stop()
}

func TestThePaperConfigFillsAtRealPricesAndSendsNoOrder(t *testing.T) {
	t.Parallel()
	s, state := lively(t, "--log", "info"), filepath.Join(t.TempDir(), "paper")
	r := tradeUntil(t, s, "paper.toml", state, "fill")
	require.Zero(t, r.said("trading has ended")[0]["open_orders"], r.text)
	require.Equal(t, "paper", r.said("trading has ended")[0]["mode"])
	require.Contains(t, r.text, "it was paper: no order has left this process")
	held := r.said("position held")
	require.Len(t, held, 1, r.text)

	again := tradeUntil(t, s, "paper.toml", state, "trading begins; Ctrl-C stops")
	require.Equal(t, true, again.said("trading begins; Ctrl-C stops")[0]["resumed"])
	require.NotEmpty(t, append(again.said("position held"), again.said("fill")...),
		"it still has what it held, or has sold it since")
	require.Empty(t, again.said("order left open"))
	s.stop()
	require.NotContains(t, s.stderr.String(), `"method":"POST"`)
	require.NotContains(t, s.stderr.String(), `"path":"/v2/balance"`)
}

func TestAnExchangeThatIsDownAtTheStartIsWaitedFor(t *testing.T) {
	t.Parallel() // a client gives up a question after four tries and three and a half seconds
	s := serve(t, nil)
	at, err := url.Parse(s.facts.BaseURL)
	require.NoError(t, err)
	at.Path = ""
	var asked atomic.Int64
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) <= 5 {
			panic(http.ErrAbortHandler)
		}
		httputil.NewSingleHostReverseProxy(at).ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	behind := &served{facts: s.facts}
	behind.facts.BaseURL = door.URL + "/v2"
	r := tradeUntil(t, behind, "paper.toml", filepath.Join(t.TempDir(), "state"), "trading begins; Ctrl-C stops")
	require.NotEmpty(t, r.said("the exchange cannot be reached"), r.text)
	require.LessOrEqual(t, len(r.said("the exchange cannot be reached")), 5, "once for a question, not for a try: %s",
		r.text)
	require.Equal(t, "the bot starts", r.lines[0]["message"])
	s.stop()
}

func TestAStateFolderBelongsToOneMode(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	s, state := serve(t, nil), filepath.Join(t.TempDir(), "state")
	start := "trading begins; Ctrl-C stops"
	tradeUntil(t, s, "paper.toml", state, start)
	set := []string{"--set", "exchange.base_url=" + s.facts.BaseURL, "--set", "bot.state=" + state, "--set",
		"bot.stop_within=5m", "--set", "exchange.window=60s"}
	code, _, failed := call(t.Context(), append([]string{"run", "-c", "../configs/sandbox.toml"}, set...)...)
	require.Equal(t, 78, code)
	require.Contains(t, failed, "was traded with in mode paper")
	for _, lose := range []func(string) error{os.Remove,
		func(path string) error { return os.WriteFile(path, nil, 0o600) }} {
		require.NoError(t, lose(filepath.Join(state, "paper.db")))
		code, _, failed = call(t.Context(), append([]string{"run", "-c", "../configs/paper.toml"}, set...)...)
		require.Equal(t, 1, code)
		require.Contains(t, failed, "paper.db is gone, or empty")
	}
	code, _, failed = call(t.Context(),
		append([]string{"run", "-c", "../configs/paper.toml", "--set", "paper.start.DOGE=5"},
			append(set, "--set", "bot.state="+state+"2")...)...)
	require.Equal(t, 64, code)
	require.Contains(t, failed, "paper.start.DOGE: no market of the strategies has this asset")
	s.stop()
}

func TestTheDoctorFindsPaperReadyWithoutAKey(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	s := serve(t, nil)
	code, out, failed := call(t.Context(), "doctor", "-c", "../configs/paper.toml", "--set",
		"exchange.base_url="+s.facts.BaseURL, "--set", "bot.state="+filepath.Join(t.TempDir(), "state"))
	require.Zero(t, code, out+failed)
	require.Contains(t, out, "paper: simulated, with 0 BTC, 10000 EUR at the first start")
	s.stop()
}

func TestPaperThatIsKilledGoesOnWithItsOrdersAndMoney(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	s, state := lively(t), filepath.Join(t.TempDir(), "paper")
	config, err := filepath.Abs(filepath.Join("..", "configs", "paper.toml"))
	require.NoError(t, err)
	for n := range 5 {
		killed(t, t.TempDir(), time.Duration(n+1)*600*time.Millisecond, "run", "-c", config, "--set",
			"exchange.base_url="+s.facts.BaseURL, "--set", "bot.state="+state)
	}
	r := tradeUntil(t, s, "paper.toml", state, "trading begins; Ctrl-C stops", "poll.balances=100ms",
		"poll.orders=100ms")
	require.Equal(t, true, r.said("trading begins; Ctrl-C stops")[0]["resumed"])
	require.NotContains(t, r.text, `"level":"error"`, "neither an order nor money is missing")
	require.NotContains(t, r.text, "not ours")
	require.Zero(t, r.said("trading has ended")[0]["open_orders"])
	s.stop()
}
