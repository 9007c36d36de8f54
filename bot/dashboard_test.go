package bot_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// looker is a viewer of `bot dashboard`, which is a process of its own.
type looker struct {
	*testing.T
	cmd     *exec.Cmd
	said    *output
	address string // http://127.0.0.1:PORT/
	client  *http.Client
}

// look starts `bot dashboard` for a state folder.
func look(t *testing.T, folder string) *looker { return lookWith(t, "--state", folder) }

// lookWith starts `bot dashboard` with flags.
func lookWith(t *testing.T, flags ...string) *looker {
	l := &looker{T: t, said: &output{}, cmd: bottest.Child(bottest.Program(t),
		append([]string{"dashboard", "--listen", "127.0.0.1:0"}, flags...)...)}
	l.cmd.Stdout, l.cmd.Stderr = l.said, l.said
	require.NoError(t, l.cmd.Start())
	t.Cleanup(func() { _ = l.cmd.Process.Kill() })
	first := regexp.MustCompile(`open (http://127\.0\.0\.1:\d+/)`)
	bottest.Await(t, func() bool { return first.MatchString(l.said.String()) }, "%s", l.said)
	l.address = first.FindStringSubmatch(l.said.String())[1]
	l.forget()
	return l
}

// forget lets the viewer lose its cookie.
func (l *looker) forget() {
	jar, err := cookiejar.New(nil)
	require.NoError(l, err)
	l.client = &http.Client{Jar: jar}
}

// end ends the dashboard in good order.
func (l *looker) end() {
	require.NoError(l, l.cmd.Process.Signal(os.Interrupt))
	require.NoError(l, bottest.Ended(l.cmd), l.said.String())
}

// get asks for a path, with changes to the request.
func (l *looker) get(path string, change func(*http.Request)) (status int, body string, head http.Header) {
	l.Helper()
	r, err := http.NewRequestWithContext(l.Context(), http.MethodGet, l.address+strings.TrimPrefix(path, "/"), nil)
	require.NoError(l, err)
	if change != nil {
		change(r)
	}
	answer, err := l.client.Do(r)
	require.NoError(l, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(l, err)
	return answer.StatusCode, string(text), answer.Header
}

// hears reads events until one has a text.
func (l *looker) hears(events *bufio.Scanner, id, text string) {
	l.Helper()
	for events.Scan() {
		var cells map[string]string
		if data, is := strings.CutPrefix(events.Text(), "data: "); is && json.Unmarshal([]byte(data), &cells) == nil &&
			strings.Contains(cells[id], text) && cells[id] != "" {
			return
		}
	}
	l.Fatalf("the events ended without %s = %s: %v", id, text, events.Err())
}

func TestTheDashboardShowsABotToThoseWithItsToken(t *testing.T) {
	t.Parallel()
	b := trade(t)
	l := look(t, b.folder)
	file := filepath.Join(b.folder, "dashboard.token")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	token := strings.TrimSpace(string(text))
	require.Contains(t, l.said.String(), "enter?token="+token)

	pages := []string{"/", "/orders", "/order?order=1", "/profit", "/profit?by=strategy", "/market",
		"/market?long=3600000&width=400", "/market?market=BTC-EUR&from=1000&to=90000", "/risk",
		"/journal", "/journal?kind=refusal&since=2h", "/system", "/seal", "/results", "/sweeps", "/gaps"}
	for _, path := range append(pages, "/dashboard.js", "/events", "/api/v1/status", "/nothing") {
		status, body, head := l.get(path, nil)
		require.Equal(t, http.StatusUnauthorized, status, path)
		require.NotContains(t, body, "maker", path)
		require.Contains(t, head.Get("Content-Security-Policy"), "default-src 'self'")
	}
	status, _, _ := l.get("/enter?token="+token, nil)
	require.Equal(t, http.StatusOK, status)
	address, err := url.Parse(l.address)
	require.NoError(t, err)
	require.Len(t, l.client.Jar.Cookies(address), 1, "no cookie of acting")
	require.NotContains(t, l.client.Jar.Cookies(address)[0].Value, token)
	for _, path := range pages {
		status, body, _ := l.get(path, nil)
		require.Equal(t, http.StatusOK, status, "%s: %s", path, body)
		require.Less(t, len(body), 150_000)
		require.NotContains(t, body, `method="post"`, "those with this token only look")
	}
	_, body, _ := l.get("/", nil)
	require.Contains(t, body, "maker")
	status, _, _ = l.get("/", func(r *http.Request) { r.Host = "evil.example" })
	require.Equal(t, http.StatusMisdirectedRequest, status)
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		status, _, _ = l.get("/orders", func(r *http.Request) {
			r.Method = method
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		})
		require.Equal(t, http.StatusForbidden, status)
		status, _, _ = l.get("/orders", func(r *http.Request) { r.Method = method })
		require.Equal(t, http.StatusForbidden, status)
	}

	var shown, asked struct {
		Run        string
		Strategies []struct{ Name string }
	}
	l.forget()
	status, body, _ = l.get("/api/v1/status", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) })
	require.Equal(t, http.StatusOK, status)
	require.NoError(t, json.Unmarshal([]byte(body), &shown))
	b.ask("status", &asked)
	require.Equal(t, asked, shown)
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	for path, want := range map[string]int{"orders?all=true": 200, "positions": 200, "explain?order=1": 200,
		"refused": 200, "verify": 200, "results": 200, "result?name=x": 404,
		"trades": 200, "profit?by=week": 200, "equity?every=1h": 200, "profit?by=colour": 400,
		"trades?since=x": 400, "explain?order=12345": 400, "explain?order=zz": 400,
		"profit?strategy=nosuch": 400, "trades?market=NO-EUR": 400, "refused?strategy=nosuch": 400,
		"settings": 404, "risk": 200, "system": 200,
		"journal?kind=intent,sent&latest=2": 200, "journal?kind=thought": 400, "journal?before=x": 400,
		"journal?order=1": 200, "market": 200, "market?columns=5": 200, "market?from=9&to=8": 400,
		"market?market=DOGE-EUR": 400} {
		status, body, _ = l.get("/api/v1/"+path, bearer)
		require.Equal(t, want, status, "%s: %s", path, body)
		require.True(t, want == 404 || json.Valid([]byte(body)), path)
	}
	answersAsDescribed(l, bearer)
	for range 10 {
		status, _, _ = l.get("/enter?token=x", nil)
		require.Equal(t, http.StatusUnauthorized, status)
	}
	status, _, _ = l.get("/enter?token="+token, nil)
	require.Equal(t, http.StatusTooManyRequests, status)
	l.end()
	require.NotContains(t, look(t, b.folder).said.String(), token, "a later start does not print it")
	b.stop()
}

// answersAsDescribed asks for every document of the description of the API, and holds the answers
// against it.
func answersAsDescribed(l *looker, bearer func(*http.Request)) {
	_, text, _ := l.get("/api/v1/openapi.json", bearer)
	document, err := openapi3.NewLoader().LoadFromData([]byte(text))
	require.NoError(l, err)
	require.NoError(l, document.Validate(l.Context()))
	queries := map[string]string{"/explain": "order=1", "/market": "market=BTC-EUR&interval=1m", "/orders": "all=true",
		"/result": "name=none", "/compare": "name=none&name=other", "/sweep": "name=none", "/profit": "by=month"}
	asked := 0
	for path, item := range document.Paths.Map() {
		if item.Get == nil {
			require.NotNil(l, item.Post, path)
			continue
		}
		asked++
		status, body, _ := l.get("/api/v1"+path+"?"+queries[path], bearer)
		answer := item.Get.Responses.Value(strconv.Itoa(status))
		require.NotNil(l, answer, "%s may not answer %d: %s", path, status, body)
		require.True(l, status == http.StatusOK || path == "/verify" || strings.Contains(queries[path], "none"),
			"%s: %d %s", path, status, body)
		var value any
		require.NoError(l, json.Unmarshal([]byte(body), &value), path)
		schema := answer.Value.Content["application/json"].Schema.Value
		require.NoError(l, document.ValidateSchemaJSON(schema, value), path)
		if status == http.StatusOK { // the schema is one that a wrong answer does not fit
			value.(map[string]any)["unknown"] = 1
			require.Error(l, document.ValidateSchemaJSON(schema, value), path)
		}
		status, _, _ = l.get("/api/v1"+path+"?"+queries[path]+"&unknown=1", bearer)
		require.Equal(l, http.StatusBadRequest, status, path)
	}
	require.Greater(l, asked, 15)
	require.Equal(l, asked+5, document.Paths.Len(), "and five actions")
}

func TestADashboardSeesABotDieAndComeBack(t *testing.T) {
	t.Parallel()
	b := trade(t)
	l := look(t, b.folder)
	text, err := os.ReadFile(filepath.Join(b.folder, "dashboard.token"))
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.address+"events", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(text)))
	answer, err := l.client.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	events := bufio.NewScanner(answer.Body)
	l.hears(events, "top-state", "trading")
	l.hears(events, "feed/candles BTC-EUR 1m", " s") // an age, which moves
	require.NoError(t, b.cmd.Process.Kill())
	_ = b.cmd.Wait()
	l.hears(events, "top-state", "stopped")
	for _, path := range []string{"/", "/market", "/risk", "/journal", "/system"} {
		status, body, _ := l.get(path, func(r *http.Request) { r.Header = answer.Request.Header.Clone() })
		require.Equal(t, http.StatusOK, status, "%s: %s", path, body)
	}
	b.start()
	l.hears(events, "top-state", "trading")
	l.end()
	seesAllBots(t, b)
}

// seesAllBots opens a dashboard of all bots beside a bot, and stops the bot under it.
func seesAllBots(t *testing.T, b *trader) {
	above := filepath.Dir(b.folder)
	l := lookWith(t, "--bots", filepath.Join(above, "*"))
	require.FileExists(t, filepath.Join(above, "dashboard.act.token"))
	_, body, _ := l.get(regexp.MustCompile(`/enter\?token=\w+`).FindString(l.said.String()), nil)
	require.Contains(t, body, `href="/bots/state/"`)
	require.Contains(t, body, ">trading<")
	_, body, _ = l.get("/bots/state/orders", nil)
	require.Contains(t, body, "maker")
	b.stop()
	bottest.Await(t, func() bool {
		_, body, _ := l.get("/", nil)
		return strings.Contains(body, ">stopped<")
	})
	l.end()
}

func TestTheBotsOfADashboardHaveNamesOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	for _, one := range []string{"a/bot", "b/bot", "b/no bot"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, one), 0o700))
		if !strings.HasSuffix(one, "no bot") {
			require.NoError(t, os.WriteFile(filepath.Join(dir, one, "bot.db"), nil, 0o600))
		}
	}
	for want, args := range map[string][]string{
		"have one name":            {"--bots", dir + "/*/*"},
		"give one of them":         {"--bots", dir + "/a/*", "--state", dir},
		"syntax error in pattern":  {"--bots", dir + "/["},
		"no such file or director": {"--bots", dir + "/none/*"},
	} {
		code, _, said := call(t.Context(), append([]string{"dashboard", "--listen", "127.0.0.1:0"}, args...)...)
		require.NotZero(t, code)
		require.Contains(t, said, want)
	}
}

// The address that the first start prints opens the page in a browser. The policy stops nothing of
// it, and values move.
func TestTheDashboardOfABotInABrowser(t *testing.T) {
	t.Parallel()
	v := &viewer{T: t, ctx: bottest.Chromium(t, "the dashboard of a bot")}
	go v.listen()
	// quotes far from the price, which stay where they are
	b := trade(t, "--set", "strategies.maker.params.half_spread_bps=100",
		"--set", "strategies.maker.params.move_bps=90")
	l := look(t, b.folder)
	v.do(chromedp.Navigate(regexp.MustCompile(`(http://\S+token=\S+) to look and act`).
		FindStringSubmatch(l.said.String())[1]))
	becomes := func(expression string) {
		bottest.Await(t, func() bool { // an error: the page is being replaced by the next one
			is, err := chromedp.Run(v.ctx, chromedp.Evaluate[bool](expression))
			return err == nil && is
		}, expression)
	}
	becomes(`document.documentElement.dataset.ready === "yes" && location.pathname === "/"`)
	becomes(`document.body.textContent.includes("maker")`)
	becomes(`getComputedStyle(document.querySelector("nav")).display === "flex"`) // the style is there
	becomes(`(e => e && (window.was ??= e.textContent) !== e.textContent)(document.getElementById("weight/ip"))`)
	for _, path := range []string{"orders", "order?order=1", "profit"} {
		v.do(chromedp.Navigate(l.address + path))
		becomes(`document.documentElement.dataset.ready === "yes" && document.querySelector("main h1") !== null`)
	}
	v.do(chromedp.Navigate(l.address + "market?long=3600000"))
	becomes(`document.getElementById("legend").textContent.includes("Last price")`)
	becomes(`(e => (window.first ??= e.dataset.to) < e.dataset.to)(document.querySelector("figure.market"))`)
	sealsUnderThePage(v, b, l, becomes)
	cancelled := actsInABrowser(v, l, becomes)
	v.mu.Lock()
	require.Empty(t, v.console)
	v.mu.Unlock()
	l.end()
	b.stop()
	wasActedFromThePage(b, cancelled)
}

// sealsUnderThePage seals a running bot: its page says that nothing is sealed, then the promise.
func sealsUnderThePage(v *viewer, b *trader, l *looker, becomes func(string)) {
	v.do(chromedp.Navigate(l.address + "seal"))
	says := func(text string) { becomes(`document.querySelector("main").textContent.includes("` + text + `")`) }
	says("Nothing is sealed")
	d := seal.Document{Currency: "EUR", Strategies: []seal.Strategy{{Name: "maker", Kind: "maker",
		Markets: []string{"BTC-EUR"}, Interval: "1m"}},
		Promise: stats.Promise{Level: 0.05, Weights: [stats.Quantities]float64{0.25, 0.25, 0.25, 0.25},
			Return:   stats.ReturnPromise{Deviation: 0.02, Mean: 0.05, Clip: 4, Days: 1, Restart: 30},
			Trips:    stats.TripPromise{Low: 0, High: 100, Cap: 1000},
			Slippage: stats.SlippagePromise{Unit: 10, Most: 3, Clip: 4},
			Drawdown: stats.DrawdownPromise{Depth: 0.31, Horizon: 365, Chance: 0.01}}}
	text, err := d.Encode()
	require.NoError(v, err)
	_, err = operator.Seal(v.Context(), b.folder, text, "ann")
	require.NoError(v, err)
	v.do(chromedp.Reload())
	for _, text := range []string{"no whole UTC day has been judged yet", "by ann", "31.00 %"} {
		says(text)
	}
	v.do(chromedp.Navigate(l.address + "system"))
	says("no whole UTC day has been judged yet")
}

// confirmed are the actions that actsInABrowser confirms, as the journal has them.
var confirmed = []string{"cancel", "halt", "resume", "cancel-all", "flatten"}

// actsInABrowser confirms each action on the page. It returns the number of the cancelled order.
func actsInABrowser(v *viewer, l *looker, becomes func(string)) (cancelled string) {
	for _, verb := range confirmed {
		query, word := "do="+verb+"&strategy=maker", "maker"
		v.do(chromedp.Navigate(l.address + "act"))
		becomes(`document.querySelector("main a.do") !== null`)
		switch verb {
		case "cancel":
			cancelled = of[string](v, `document.querySelector('main a.do[href*="do=cancel&order="]').search.split("order=")[1]`)
			query, word = "do=cancel&order="+cancelled, cancelled
		case "cancel-all":
			query, word = "do="+verb, "state"
		}
		v.do(chromedp.Click(`main a.do[href$="` + query + `"]`))
		becomes(`document.querySelector("form.confirm") !== null`)
		v.do(chromedp.SendKeys(`form.confirm input[name="word"]`, word))
		v.do(chromedp.Click(`form.confirm button`))
		// on a machine that stands still, the exchange may confirm too late for the page
		said := `/Done\.|confirmed in time/.test(document.querySelector("main").textContent)`
		becomes(`location.pathname === "/acted" && ` + said)
		v.do(chromedp.Reload())
		becomes(said)
	}
	return cancelled
}

// wasActedFromThePage checks the journal of a bot: each action once, by the token and from this
// machine, and the exchange's word that the order was cancelled.
func wasActedFromThePage(b *trader, cancelled string) {
	store, err := journal.Read(filepath.Join(b.folder, "bot.db"))
	require.NoError(b.t, err)
	defer store.Close()
	var have []string
	require.NoError(b.t, store.Entries(1, func(e *journal.Entry) error {
		if r, is := e.Record.(*journal.Act); is {
			have = append(have, r.Verb)
			require.Equal(b.t, "dashboard act token", r.By)
			require.Regexp(b.t, `^dashboard 127\.0\.0\.1:\d+$`, r.From)
		}
		return nil
	}))
	require.Equal(b.t, confirmed, have)
	orders, err := operator.OrdersOf(store, true)
	require.NoError(b.t, err)
	at := slices.IndexFunc(orders.Orders, func(o operator.OrderRow) bool { return fmt.Sprint(o.Number) == cancelled })
	require.GreaterOrEqual(b.t, at, 0)
	require.Equal(b.t, "canceled", orders.Orders[at].State)
}

// The dashboard in the process of a bot: a port that is taken costs the bot nothing, and is tried
// again. The log names no token.
func TestABotServesItsDashboard(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := taken.Addr().String()
	b := trade(t, "--set", "dashboard.listen="+address)
	require.Contains(t, b.stderr.String(), address+" is in use by another program")
	require.NoError(t, taken.Close())
	bottest.Await(t, func() bool { return strings.Contains(b.stderr.String(), "the dashboard listens") }, b.stderr)
	l := &looker{T: t, address: "http://" + address + "/"}
	l.forget()
	for _, name := range []string{"dashboard.token", "dashboard.act.token"} {
		token, err := os.ReadFile(filepath.Join(b.folder, name))
		require.NoError(t, err)
		require.NotContains(t, b.stderr.String(), strings.TrimSpace(string(token)))
		status, body, _ := l.get("/enter?token="+strings.TrimSpace(string(token)), nil)
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, body, "maker")
	}
	status, _, _ := l.get("/results", nil)
	require.Equal(t, http.StatusNotFound, status, "files are read by a process of their own")
	b.stop()
}

func TestADashboardIsForThisMachineAndItsOwner(t *testing.T) {
	folder := t.TempDir()
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "8787"} {
		code, _, said := call(t.Context(), "dashboard", "--state", folder, "--listen", address)
		require.Equal(t, 64, code, address)
		require.Regexp(t, "secrets would go there in clear|is no address", said, address)
	}
	file := filepath.Join(folder, "dashboard.token")
	require.NoError(t, os.WriteFile(file, []byte("short\n"), 0o600))
	code, _, said := call(t.Context(), "dashboard", "--state", folder, "--listen", "127.0.0.1:0")
	require.Equal(t, 1, code)
	require.Contains(t, said, "has none; remove it")
	require.NoError(t, os.Chmod(file, 0o644))
	_, _, said = call(t.Context(), "dashboard", "--state", folder, "--listen", "127.0.0.1:0")
	require.Contains(t, said, "others may read")
}

// The section of -c holds where no flag is given.
func TestADashboardTakesTheSectionOfItsConfig(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "bot.toml")
	write := func(section string) {
		require.NoError(t, os.WriteFile(file, []byte("[bot]\nstate = \""+dir+"\"\n[dashboard]\n"+section), 0o600))
	}
	says := func(code int, want string, flags ...string) {
		t.Helper()
		have, _, said := call(t.Context(), append([]string{"dashboard", "-c", file}, flags...)...)
		require.Equal(t, code, have, said)
		require.Contains(t, said, want)
	}
	write(`listen = "0.0.0.0:0"`)
	says(78, "bot.toml:4: dashboard.listen")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	address := taken.Addr().String()
	write(`listen = "` + address + `"`)
	says(1, address+" is in use")
	write("listen = \"127.0.0.1:0\"\ntls_cert = \"" + dir + "/one.pem\"\ntls_key = \"" + dir + "/one.key\"")
	says(1, address+" is in use", "--listen", address, "--tls-cert", "", "--tls-key", "")
	says(1, "one.pem: no such file")
	says(1, "other.pem: no such file", "--tls-cert", dir+"/other.pem")
	says(64, "--listen", "--listen", "0.0.0.0:1", "--tls-cert", "", "--tls-key", "")
}
