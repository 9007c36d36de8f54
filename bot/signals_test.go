package bot_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// The secrets of the tests' sources.
const (
	pathOfTV   = "b2f9c0d4e7a1835f6e0d9c8b7a6f5e4d"
	keyOfModel = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="
)

// advised is a bot with a strategy beside the maker that follows a source of signals.
type advised struct {
	*trader
	dir, door string
	args      []string
}

// advise starts a bot that follows a source. The door has two: tv has a path, model signs.
func advise(t *testing.T, source string, stdin *os.File, args ...string) *advised {
	dir := t.TempDir()
	for name, text := range map[string]string{"path": pathOfTV, "key": keyOfModel} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600))
	}
	a := &advised{trader: newTrader(t), dir: dir}
	for _, set := range []string{"strategies.advised.kind=follow", "strategies.advised.markets=BTC-EUR",
		"strategies.advised.interval=1m", "strategies.advised.operator_id=9",
		"strategies.advised.params.source=" + source, "strategies.advised.params.size=50 quote",
		"signals.door.listen=127.0.0.1:0", "signals.tv.live=door", "signals.tv.path_file=" + filepath.Join(dir, "path"),
		"signals.model.live=door", "signals.model.secret_file=" + filepath.Join(dir, "key")} {
		a.args = append(a.args, "--set", set)
	}
	a.args = append(a.args, args...)
	a.stdin = stdin
	a.start(a.args...)
	a.find()
	t.Cleanup(func() {
		for _, secret := range []string{pathOfTV, keyOfModel, keyOfModel[6:]} {
			require.NotContains(t, a.stderr.String(), secret)
		}
	})
	return a
}

// find finds the address of the door in the log.
func (a *advised) find() {
	at := regexp.MustCompile(`"address":"(\S+?)",.*the door of signals listens`)
	bottest.Await(a.t, func() bool { return at.MatchString(a.stderr.String()) }, a.stderr)
	a.door = at.FindStringSubmatch(a.stderr.String())[1]
}

// orders are those of the strategy, ended ones too.
func (a *advised) orders() (list []operator.OrderRow) {
	var all operator.Orders
	a.ask("orders --all", &all)
	for _, o := range all.Orders {
		if o.Strategy == "advised" {
			list = append(list, o)
		}
	}
	return list
}

// follows waits until the strategy has so many orders.
func (a *advised) follows(orders int) {
	a.t.Helper()
	bottest.Await(a.t, func() bool { return len(a.orders()) >= orders }, a.stderr)
	require.Len(a.t, a.orders(), orders)
}

// post sends a signal with the secret path.
func (a *advised) post(to, body string) (status int, answer string) {
	r, err := http.Post(to+"/"+pathOfTV, "application/json", strings.NewReader(body))
	require.NoError(a.t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(a.t, err)
	return r.StatusCode, strings.TrimSpace(string(text))
}

func TestTheSignalsOfTheDocumentsBecomeOrders(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("there is no " + tool + " on this machine")
		}
	}
	page := read(t, "..", "docs", "signals.md")
	block := func(kind string) string {
		return regexp.MustCompile("(?s)```" + kind + "\n(.*?)```").FindStringSubmatch(page[strings.Index(page,
			"## Live: the door"):])[1]
	}
	a := advise(t, "tv", nil, "--set", "signals.tv.markets.BTCEUR=BTC-EUR")
	line := strings.ReplaceAll(block("sh"), "http://127.0.0.1:8790/signal", a.door)
	c := bottest.Short(t, "sh", "-c", strings.ReplaceAll(line, "tv-path", filepath.Join(a.dir, "path")))
	out, err := c.Output()
	require.NoError(t, err)
	require.Regexp(t, `^{"signal":\d+}\n$`, string(out))
	a.follows(1)

	// what TradingView writes in the place of its words
	now := time.Now().UTC().Format(time.RFC3339)
	said := strings.NewReplacer("{{ticker}}", "BTCEUR", "{{exchange}}", "BITVAVO", "{{timenow}}", now,
		"{{strategy.order.id}}", "Long", "{{strategy.market_position}}", "flat",
		"{{strategy.prev_market_position}}", "long", "{{close}}", "PRICE").Replace(block("json"))
	require.NotContains(t, said, "{{")
	status, answer := a.post(a.door, strings.ReplaceAll(said, "PRICE", "1.5"))
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, answer, "off the last one")
	bottest.Await(t, func() bool { return a.orders()[0].State == "filled" }, a.stderr)
	status, answer = a.post(a.door, strings.ReplaceAll(said, `, "price":"PRICE"`, ""))
	require.Equal(t, http.StatusOK, status, answer)
	a.follows(2)
	a.stop()
}

// TradingView sends again after a 5xx, up to four times in all: a signal whose answers are lost is
// heard once.
func TestASignalThatIsSentFourTimesIsHeardOnce(t *testing.T) {
	t.Parallel()
	a := advise(t, "tv", nil)
	target, err := url.Parse(a.door)
	require.NoError(t, err)
	var passed atomic.Int64
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host },
		ModifyResponse: func(r *http.Response) error {
			if passed.Add(1) < 4 {
				return fmt.Errorf("the answer is lost")
			}
			return nil
		}})
	defer proxy.Close()
	for _, body := range []string{`{"id":"1","market":"BTC-EUR","action":"buy"}`,
		`{"market":"BTC-EUR","position":"long"}`} {
		passed.Store(0)
		var status int
		var answer string
		for status = 500; status >= 500; {
			status, answer = a.post(proxy.URL+"/signal", body)
		}
		require.Equal(t, http.StatusOK, status, answer)
		require.EqualValues(t, 4, passed.Load())
	}
	a.follows(1)
	a.stop()
}

// A bot that starts says so, and counts what is sent again afterwards.
func TestADoorAnswersWhileTheBotStarts(t *testing.T) {
	t.Parallel()
	a := advise(t, "tv", nil)
	a.stop()
	bottest.Freeze(t, a.exchange.cmd.Process)
	a.launch(a.args...)
	a.find()
	status, answer := a.post(a.door, `{"id":"7","market":"BTC-EUR","position":"long"}`)
	require.Equal(t, http.StatusServiceUnavailable, status, answer)
	require.NoError(t, a.exchange.cmd.Process.Signal(syscall.SIGCONT))
	bottest.Await(t, func() bool {
		status, answer = a.post(a.door, `{"id":"7","market":"BTC-EUR","position":"long"}`)
		return status == http.StatusOK
	}, a.stderr)
	a.follows(1)
	a.stop()
}

// A thousand wrong requests a second for three seconds: those with the secret pass, the bot trades,
// and nothing of it stays.
func TestTheDoorBearsAFloodOfWrongRequests(t *testing.T) {
	t.Parallel()
	a := advise(t, "tv", nil)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 200}}
	defer client.CloseIdleConnections()
	var flood sync.WaitGroup
	var refused, other atomic.Int64
	for i := range 100 {
		flood.Go(func() {
			every := time.NewTicker(100 * time.Millisecond)
			defer every.Stop()
			for range 30 {
				<-every.C
				path := []string{"/x", "", "/" + pathOfTV[1:], "?" + strings.Repeat("x", 2000)}[i%4]
				r, err := client.Post(a.door+path, "", strings.NewReader(strings.Repeat("{", 3000)))
				if err != nil {
					other.Add(1) // a connection beyond the 64
					continue
				}
				_, _ = io.Copy(io.Discard, r.Body)
				_ = r.Body.Close()
				if r.StatusCode == http.StatusTooManyRequests {
					refused.Add(1)
				}
			}
		})
	}
	bottest.Await(t, func() bool { return refused.Load() > 100 }, "the door says that these are too many")
	heard := 0
	for i := range 10 {
		body := fmt.Sprintf(`{"id":"%d","market":"BTC-EUR","position":"long"}`, i)
		r, err := http.Post(a.door+"/"+pathOfTV, "", strings.NewReader(body))
		if err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				heard++
			}
		}
	}
	require.Positive(t, heard)
	a.follows(1)
	flood.Wait()
	require.LessOrEqual(t, strings.Count(a.stderr.String(), "a request at the door of signals"), 10)
	t.Logf("refused with 429: %d, connections closed: %d, right ones heard: %d of 10", refused.Load(), other.Load(),
		heard)
	a.stop()
}

func TestRowsOfAFileAndLinesOfTheStandardInputBecomeOrders(t *testing.T) {
	t.Parallel()
	for _, live := range []string{"file", "stdin"} {
		t.Run(live, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "model.csv")
			header := "time,market,position\n"
			row := func() string { return time.Now().UTC().Format(time.RFC3339Nano) + ",BTC-EUR,long\n" }
			require.NoError(t, os.WriteFile(file, []byte(header), 0o600))
			from, to, err := os.Pipe()
			require.NoError(t, err)
			defer to.Close()
			a := advise(t, "own", from, "--set", "signals.own.live="+live, "--set", "signals.own.file="+file)
			require.NoError(t, from.Close())
			into := to
			if live == "file" {
				into, err = os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
				require.NoError(t, err)
				defer into.Close()
			} else {
				_, err = into.WriteString(header)
				require.NoError(t, err)
			}
			_, err = into.WriteString(row())
			require.NoError(t, err)
			a.follows(1)
			a.stop()
		})
	}
}

// modelConfig is a backtest that follows a file.
const modelConfig = `
[data]
source = "synthetic"
[signals.model]
file = %q
[strategies.model]
kind = "follow"
markets = ["BTC-EUR"]
interval = "1h"
params.source = "model"
`

// The model of the documents: its file is read by a backtest, and its signature opens the door.
func TestTheModelOfTheDocuments(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 on this machine")
	}
	dir := t.TempDir()
	candles, model := filepath.Join(dir, "candles.csv"), filepath.Join(dir, "model.csv")
	code, _, failed := call(t.Context(), "candles", "export", "--synthetic", "--market", "BTC-EUR", "--interval", "1h",
		"--out", candles)
	require.Zero(t, code, failed)
	c := bottest.Short(t, python, "../docs/model.py", candles)
	rows, err := c.Output()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(model, rows, 0o600))
	config := filepath.Join(dir, "model.toml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, modelConfig, model), 0o600))
	r := result(t, "-c", config)
	require.Greater(t, r.Trips.Count, int64(100))

	a := advise(t, "model", nil)
	c = bottest.Short(t, python, "../docs/model.py", candles, "--to", a.door, "--secret", filepath.Join(a.dir, "key"))
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Regexp(t, `^{"signal":\d+}\n$`, string(out))
	status, answer := a.post(a.door, string(bytes.TrimSpace(out)))
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, answer, `\"signal\"`)
	a.stop()
}
