//go:build !raced

package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// site serves the pages of a made-up bot, with the headers that the dashboard sets.
type site struct {
	*httptest.Server
	pages *Pages
	docs  *Documents
	mu    sync.Mutex
	dead  bool // events answer 503, as while the bot is gone
	cells map[string]string
	now   chan struct{} // closed when cells or dead change
	last  atomic.Value  // latest price of the market; nil: as it was made up
}

func newSite(t *testing.T) *site {
	pages, err := NewPages()
	require.NoError(t, err)
	s := &site{pages: pages, docs: madeUp(), now: make(chan struct{}),
		cells: map[string]string{}}
	s.docs.Risk = madeUpRisk()
	mux := http.NewServeMux()
	mux.HandleFunc("/dashboard.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		_, _ = w.Write([]byte(Style()))
	})
	mux.HandleFunc("/dashboard.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write([]byte(Script()))
	})
	mux.HandleFunc("/public", s.public)
	mux.HandleFunc("/events", s.events)
	mux.HandleFunc("/", s.page)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { s.change(true, nil); s.CloseClientConnections(); s.Close() })
	return s
}

// change sets what the next event says, or lets the events end.
func (s *site) change(dead bool, cells map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead, s.cells = dead, cells
	close(s.now)
	s.now = make(chan struct{})
}

func (s *site) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for begun := false; ; begun = true {
		s.mu.Lock()
		dead, cells, now := s.dead, s.cells, s.now
		s.mu.Unlock()
		if dead && !begun {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		if dead {
			return
		}
		text, _ := json.Marshal(cells)
		_, _ = fmt.Fprintf(w, "retry: 100\nevent: cells\ndata: %s\n\n", text)
		w.(http.Flusher).Flush()
		select {
		case <-now:
		case <-r.Context().Done():
			return
		}
	}
}

// page answers with a page. Its view is made anew of the documents.
func (s *site) page(w http.ResponseWriter, r *http.Request) {
	here := r.URL.Path
	name, title, view, err := s.view(here, r)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	var out bytes.Buffer
	err = s.pages.Write(&out, name, &Page{Title: title, Bot: "demo", Here: "." + here,
		Navigation: append(botLinks(), sheetLinks()...),
		Top:        TopOf(s.docs.Status, s.docs.NowMS), Stop: "./confirm?do=halt", View: view})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes())
}

func (s *site) view(here string, r *http.Request) (name, title string, view any, err error) {
	switch here {
	case "/market", "/risk", "/journal", "/system":
		return s.stateView(here, r)
	case "/":
		view, err = OverviewOf(s.docs, "week")
		return partsPage, "Overview", view, err
	case "/orders":
		return partsPage, "Orders", OrdersOf(madeUpOrders(), s.docs.Zone), nil
	case "/order":
		return partsPage, "Order", StoryPage(madeUpStory(), time.UTC), nil
	case "/profit":
		report, trades := madeUpProfit()
		view, err = ProfitOf(report, trades, s.docs.Curve, report)
		return partsPage, "Profit", view, err
	case "/seal":
		return partsPage, "Seal", SealOf(madeUpSeal(), time.UTC), nil
	case "/fleet":
		return "fleet", "Bots", FleetOf([]Glance{{Name: hostile(), Status: s.docs.Status},
			{Name: "two", Error: hostile()}}, s.docs.NowMS), nil
	case "/act", "/confirm", "/acted":
		return s.actView(here)
	}
	return "", "", nil, errors.New("no such page")
}

// public is the page for strangers, of a bot with a hostile name.
func (s *site) public(w http.ResponseWriter, _ *http.Request) {
	view, err := publicView([]publicDay{{"2026-10-31", 100}, {"2026-11-01", -200}, {"2026-11-02", 312}})
	if err == nil {
		view.Bot = hostile()
		err = s.pages.WritePublic(w, &PublicPage{[]*PublicView{view}})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// actView are the pages of acting, on a strategy with a hostile name.
func (s *site) actView(here string) (name, title string, view any, err error) {
	d := &botPages{Bot: Bot{Name: hostile()}, group: "../../"}
	one := &confirmation{do: actionOf("flatten"), on: &subject{strategy: "trend", name: "The strategy " + hostile(),
		noun: "the name of the strategy", word: hostile()}}
	switch here {
	case "/act":
		return partsPage, "Act", Parts{actTable(s.docs.Status, d.Name),
			cancelTable(s.docs, madeUpOrders().Orders)}, nil
	case "/confirm":
		view := d.confirmOf(one, s.docs, madeUpOrders().Orders)
		view.Wrong = "Nothing was done: " + hostile()
		return "bot_confirm", "Confirm", view, nil
	}
	return "bot_acted", "Result", actedOf(one, true, nil, errors.New(hostile())), nil
}

// viewer is a tab of Chromium.
type viewer struct {
	*testing.T
	ctx     context.Context
	mu      sync.Mutex
	console []string
}

// newViewer opens a tab of Chromium.
func newViewer(t *testing.T) *viewer {
	v := &viewer{T: t, ctx: bottest.Chromium(t, "the dashboard")}
	go v.listen()
	return v
}

func (v *viewer) listen() {
	for message, err := range chromedp.Console(v.ctx) {
		v.mu.Lock()
		if err == nil {
			v.console = append(v.console, string(message.Type)+": "+message.Text)
		}
		v.mu.Unlock()
	}
}

func (v *viewer) do(action chromedp.Action[chromedp.Void]) {
	v.Helper()
	require.NoError(v, chromedp.Do(v.ctx, action))
}

func of[T any](v *viewer, expression string) T {
	v.Helper()
	have, err := chromedp.Run(v.ctx, chromedp.Evaluate[T](expression))
	require.NoError(v, err, expression)
	return have
}

// becomes waits until an expression is true.
func (v *viewer) becomes(expression string) {
	v.Helper()
	_, err := chromedp.Run(v.ctx, chromedp.Poll[bool](expression))
	require.NoError(v, err, expression)
}

func (v *viewer) visit(address string) {
	v.Helper()
	v.do(chromedp.Navigate(address))
	v.becomes(`document.documentElement.dataset.ready === "yes"`)
}

var paths = []string{"/", "/market", "/orders", "/order", "/profit", "/risk", "/journal", "/system", "/seal",
	"/fleet", "/act", "/confirm", "/acted"}

// One browser serves all parts: its start takes seconds.
func TestTheDashboardInABrowser(t *testing.T) {
	v, s := newViewer(t), newSite(t)
	for _, path := range paths {
		for _, size := range [][2]int64{{1280, 900}, {390, 844}} {
			v.do(chromedp.EmulateViewport(size[0], size[1]))
			v.visit(s.URL + "" + path)
			v.fits(path, size[0])
			v.picture(path, size[0])
		}
		v.contrasts(path)
	}
	for _, width := range []int64{390, 1280} {
		v.do(chromedp.EmulateViewport(width, 900))
		v.do(chromedp.Navigate(s.URL + "/public"))
		v.becomes(`document.readyState === "complete"`)
		v.fits("/public", width)
	}
	filesInABrowser(v)
	v.do(chromedp.EmulateViewport(1280, 900))
	suitsAPhone(v, s)
	switchesItsTheme(v, s)
	readsTheMarket(v, s)
	zoomsByLinkAndDrag(v, s)
	followsTheMarket(v, s)
	zoomsWithoutScript(v, s)
	keysReachEverything(v, s)
	valuesMoveAndSurviveTheBot(v, s)
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, line := range v.console {
		require.Contains(t, line, "503") // of the events while the bot was gone
	}
}

// suitsAPhone checks that long pages take three screens of a phone at most until more is asked for,
// that what is to be touched is large enough, and that a field does not zoom the page.
func suitsAPhone(v *viewer, s *site) {
	v.do(chromedp.EmulateViewport(390, 844))
	for _, path := range paths {
		v.visit(s.URL + path)
		if slices.Contains([]string{"/risk", "/journal", "/orders"}, path) {
			require.LessOrEqual(v, of[int](v, `document.documentElement.scrollHeight`), 3*844, path)
		}
		require.Empty(v, of[string](v, `[...document.querySelectorAll("a, button, input, select, summary")].filter(e => `+
			`e.checkVisibility() && e.type !== "hidden" && !e.closest(".skip") && `+
			`e.getBoundingClientRect().height < 43.5).map(e => e.outerHTML.slice(0, 80)).join()`), path)
		require.Empty(v, of[string](v, `[...document.querySelectorAll("input, select")].filter(e => `+
			`e.checkVisibility() && e.type !== "checkbox" && parseFloat(getComputedStyle(e).fontSize) < 16).`+
			`map(e => e.outerHTML).join()`), path)
	}
	v.visit(s.URL + "/journal")
	all := of[int](v, `document.querySelector("table.stack").tBodies[0].rows.length`)
	shown := `[...document.querySelectorAll("table.stack tbody tr")].filter(r => r.checkVisibility()).length`
	require.Equal(v, 6, of[int](v, shown))
	of[bool](v, `(document.querySelector(".more").click(), true)`)
	require.Equal(v, all, of[int](v, shown))
	v.do(chromedp.EmulateViewport(1280, 900))
}

// switchesItsTheme checks that a choice of light or dark holds on the next page.
func switchesItsTheme(v *viewer, s *site) {
	v.visit(s.URL + "/")
	paper := `getComputedStyle(document.body).backgroundColor`
	of[bool](v, `(document.querySelector(".theme").click(), document.querySelector(".theme").click(), true)`)
	require.Equal(v, "rgb(20, 24, 29)", of[string](v, paper))
	v.visit(s.URL + "/orders")
	require.Equal(v, "rgb(20, 24, 29)", of[string](v, paper))
	of[bool](v, `(document.querySelector(".theme").click(), true)`)
	require.Equal(v, "rgb(251, 250, 247)", of[string](v, paper))
}

// readsTheMarket checks that the picture of a market tells candle, volume and fill under the
// pointer.
func readsTheMarket(v *viewer, s *site) {
	v.visit(s.URL + "/market")
	at := of[[]float64](v, `(r => [r.left + r.width / 2, r.top + r.height / 3])(`+
		`document.querySelector("figure.market .wide svg").getBoundingClientRect())`)
	v.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
	require.Regexp(v, `UTCopen9\d.\d{3}\.\d\dhigh9.*low9.*close9.*last price 92.*volume\d`,
		of[string](v, `document.querySelector(".readout").textContent`))
	v.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 2, 2))
}

// fits checks that a page is no wider than its window with all folds open, that a name is no HTML,
// and that the console is empty.
func (v *viewer) fits(path string, width int64) {
	v.Helper()
	require.Equal(v, width, of[int64](v, `(document.querySelectorAll("details").forEach(d => d.open = true), `+
		`document.documentElement.scrollWidth)`), path)
	require.Zero(v, of[int](v, `document.querySelectorAll("main img, main script, main b b").length`), path)
	require.True(v, of[bool](v, `typeof hacked === "undefined"`), path)
	require.Empty(v, of[string](v, `[...document.querySelectorAll("body *")].filter(e => `+
		`!e.closest("svg, thead, .hidden") && e.scrollWidth > e.clientWidth + 1 && `+
		`!["visible", "auto"].includes(getComputedStyle(e).overflowX)).`+
		`map(e => e.outerHTML.slice(0, 80)).join()`), path)
	v.mu.Lock()
	defer v.mu.Unlock()
	require.Empty(v, v.console, path)
}

// picture writes a picture of the page, where the flag asks for it.
func (v *viewer) picture(path string, width int64) {
	if *pictures == "" {
		return
	}
	dark := path == "/profit" && width == 1280
	v.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		scheme := "light"
		if dark {
			scheme = "dark"
		}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	}))
	v.visit(of[string](v, "location.href"))
	png, err := chromedp.Run(v.ctx, chromedp.CaptureScreenshot())
	require.NoError(v, err)
	name := strings.Trim(path, "/")
	if name == "" {
		name = "overview"
	}
	if width < 1000 {
		name += "-phone"
	}
	require.NoError(v, os.WriteFile(filepath.Join(*pictures, "dashboard-"+name+".png"), png, 0o644))
}

func valuesMoveAndSurviveTheBot(v *viewer, s *site) {
	v.visit(s.URL + "/")
	of[bool](v, `(window.kept = document.getElementById("equity"), true)`)
	s.change(false, map[string]string{"equity": "10 123.45", "day": "-7.10", "top-alarm": "HALT"})
	v.becomes(`kept.textContent === "10 123.45"`)
	require.True(v, of[bool](v, `kept === document.getElementById("equity")`)) // no node is replaced
	require.True(v, of[bool](v, `document.getElementById("day").classList.contains("down")`))
	require.True(v, of[bool](v, `!document.getElementById("top-alarm").hidden`))
	s.change(true, nil)
	v.becomes(`!document.getElementById("lost").hidden`)
	s.change(false, map[string]string{"equity": "10 200.00", "top-alarm": ""})
	v.becomes(`kept.textContent === "10 200.00" && document.getElementById("lost").hidden`)
	require.True(v, of[bool](v, `document.getElementById("top-alarm").hidden`))
}
