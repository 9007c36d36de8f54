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
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// liar is a server before an exchange. While it lies it tells of every order that it is on the
// other side.
type liar struct {
	*httptest.Server
	lies atomic.Bool
}

func newLiar(t *testing.T, before string) *liar {
	to, err := url.Parse(before)
	require.NoError(t, err)
	l, sides := &liar{}, strings.NewReplacer(`"side":"buy"`, `"side":"sell"`, `"side":"sell"`, `"side":"buy"`)
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: to.Scheme, Host: to.Host})
	proxy.ModifyResponse = func(r *http.Response) error {
		if !l.lies.Load() || r.Request.URL.Path != "/v2/order" {
			return nil
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		body = []byte(sides.Replace(string(body)))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return nil
	}
	proxy.Director = func(r *http.Request) { r.URL.Scheme, r.URL.Host, r.Host = to.Scheme, to.Host, to.Host }
	l.Server = httptest.NewServer(proxy)
	t.Cleanup(l.Close)
	return l
}

// resolve calls bot resolve with what a person types.
func (b *trader) resolve(order int64, as, typed string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = bot.Run(b.t.Context(),
		bot.Process{Args: []string{"resolve", fmt.Sprint(order), as, "--state", b.folder, "--wait", "5m"},
			Stdin: strings.NewReader(typed), Stdout: &o, Stderr: &e, Getenv: func(string) string { return "" }})
	return code, o.String(), e.String()
}

func TestAPersonResolvesAnOrderOverTheSocket(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two processes")
	}
	t.Parallel()
	b := &trader{t: t, exchange: serve(t, nil), folder: t.TempDir() + "/state"}
	l := newLiar(t, b.exchange.facts.BaseURL)
	b.start("--set", "exchange.base_url="+l.URL+"/v2")
	l.lies.Store(true)
	var order int64
	bottest.Await(t, func() bool { // an order about which lies are told, and that is still expected to be told of
		var list struct {
			Orders []struct{ Number int64 }
		}
		if b.try("orders", &list) != 0 {
			return false
		}
		for _, o := range list.Orders {
			if order = o.Number; strings.Contains(b.story(order), `answer: side: here`) {
				return true
			}
		}
		return false
	}, "a breach")

	code, _, errs := b.resolve(order, "--as-absent", "yes\n")
	require.Equal(t, 64, code)
	require.Contains(t, errs, `nothing is done: the word is "resolve"`)
	require.NotContains(t, b.story(order), "resolved by the operator")

	code, out, errs := b.resolve(order, "--as-absent", "resolve\n")
	require.Zero(t, code, errs)
	require.Equal(t, fmt.Sprintf("order %d is resolved as absent\n", order), out)
	bottest.Await(t, func() bool { return strings.Contains(b.story(order), "resolved by the operator") },
		"the entry of the journal")

	code, _, errs = b.resolve(4711, "--as-exchange", "resolve\n")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "4711")
	l.lies.Store(false)
	_ = b.cmd.Process.Signal(os.Interrupt)
	_ = bottest.Ended(b.cmd)
}

// story is what bot explain tells of an order.
func (b *trader) story(order int64) string {
	_, out, _ := call(b.t.Context(), "explain", fmt.Sprint(order), "--state", b.folder)
	return out
}

// The market of a bot goes: its position is written off by a command that is a process of its own.
func TestAMarketThatHasGoneIsWrittenOffByAProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts several processes")
	}
	t.Parallel()
	b := &trader{t: t, exchange: serve(t, nil), folder: t.TempDir() + "/state"}
	to, err := url.Parse(b.exchange.facts.BaseURL)
	require.NoError(t, err)
	var gone atomic.Bool
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: to.Scheme, Host: to.Host}) },
		Transport: bottest.Delisted{Next: http.DefaultTransport, Market: "BTC-EUR", Gone: &gone}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	b.start("--set", "exchange.base_url="+server.URL+"/v2", "--set", "poll.rules=500ms")
	b.waitToHold()
	writeOff := func(typed string) (code int, out, errs string) {
		cmd := bottest.Child(bottest.Program(t), "resolve", "--gone", "BTC-EUR", "--state", b.folder, "--wait", "5m")
		var o, e bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(typed), &o, &e
		require.NoError(t, cmd.Start())
		_ = bottest.Ended(cmd)
		return cmd.ProcessState.ExitCode(), o.String(), e.String()
	}
	code, _, errs := writeOff("resolve\n")
	require.NotZero(t, code)
	require.Contains(t, errs, "the exchange lists BTC-EUR (trading): bot flatten sells what is held there")
	gone.Store(true)
	bottest.Await(t, func() bool {
		_, _, errs = writeOff("no\n")
		require.Contains(t, errs, `nothing is done: the word is "resolve"`)
		var out string
		code, out, errs = writeOff("resolve\n")
		return code == 0 && strings.Contains(out, "BTC-EUR")
	}, "%s", errs)
	var p positions
	b.ask("positions", &p)
	for _, row := range p.Positions {
		require.Equal(t, "0", row.Amount)
	}
	b.stop()
	code, out, _ := call(t.Context(), "state", "check", "--state", b.folder)
	require.Zero(t, code, out)
}
