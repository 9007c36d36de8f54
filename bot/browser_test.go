package bot_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

var pictureFile = flag.String("report-picture", "", "write a picture of the report to this file, as docs/report.png is")

var pagePictures = flag.String("page-pictures", "", "write pictures of the pages of searches to this folder")

// viewer is a page in Chromium.
type viewer struct {
	*testing.T
	ctx     context.Context
	address string
	mu      sync.Mutex
	console []string
}

// open shows a page in a tab of its own. The server answers for nothing but the page: any other
// address would keep a request open until the test ends.
func open(t *testing.T, browser context.Context, path string, scripts bool) *viewer {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/report.html" {
			<-stop
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(text)
	}))
	ctx, cancel := chromedp.NewContext(browser)
	v := &viewer{T: t, ctx: ctx, address: server.URL + "/report.html"}
	t.Cleanup(func() { cancel(); close(stop); server.Close() })
	go v.listen()
	v.do(chromedp.EmulateViewport(1280, 900))
	v.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: !scripts})
		return err
	}))
	v.do(chromedp.Navigate(v.address))
	if scripts {
		_, err = chromedp.Run(ctx, chromedp.Poll[bool](`document.documentElement.dataset.ready === "yes"`))
		require.NoError(t, err)
	}
	return v
}

// listen collects what the console says.
func (v *viewer) listen() {
	for message, err := range chromedp.Console(v.ctx) {
		v.mu.Lock()
		if err == nil {
			v.console = append(v.console, string(message.Type)+": "+message.Text)
		} else if !errors.Is(err, context.Canceled) {
			v.console = append(v.console, err.Error())
		}
		v.mu.Unlock()
	}
}

func (v *viewer) do(action chromedp.Action[chromedp.Void]) {
	v.Helper()
	require.NoError(v, chromedp.Do(v.ctx, action))
}

// is compares the value of an expression of JavaScript.
func is[T any](v *viewer, want T, expression string) {
	v.Helper()
	require.Equal(v, want, of[T](v, expression), expression)
}

func of[T any](v *viewer, expression string) T {
	v.Helper()
	have, err := chromedp.Run(v.ctx, chromedp.Evaluate[T](expression))
	require.NoError(v, err, expression)
	return have
}

// holds checks what every page must keep to: it loads nothing, says nothing on the console, and is
// no wider than its window, with all folds open.
func (v *viewer) holds(width int) {
	v.Helper()
	is(v, 0, `performance.getEntriesByType("resource").length`)
	is(v, width, `(document.querySelectorAll("details").forEach(d => d.open = true), `+
		`document.documentElement.scrollWidth)`)
	is(v, "", `[...document.querySelectorAll("body *")].`+
		`filter(e => !e.closest("svg, .hidden, thead, .contents") && e.scrollWidth > `+
		`e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible").map(e => e.outerHTML.slice(0, 80)).join()`)
	v.mu.Lock()
	defer v.mu.Unlock()
	require.Empty(v, v.console)
}

// style sets whether the page is shown light or dark.
func (v *viewer) style(name string) {
	v.Helper()
	v.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
		return err
	}))
}

// sizes are a screen of a desk, and those of a phone and of a small one.
var sizes = [][2]int64{{1280, 900}, {390, 844}, {360, 640}}

// fits checks what holds for every page: at all sizes its width, and light and dark that its texts
// can be read.
func (v *viewer) fits() {
	v.Helper()
	for _, size := range sizes {
		v.do(chromedp.EmulateViewport(size[0], size[1]))
		v.holds(int(size[0]))
		for _, style := range []string{"dark", "light"} {
			v.style(style)
			require.Empty(v, of[string](v, bottest.FaintTexts), "%s, %d wide", style, size[0])
		}
	}
}

// The parts share a browser and its tabs: a start takes seconds.
func TestTheReportInABrowser(t *testing.T) {
	t.Parallel()
	browser, few, full := bottest.Chromium(t, "the report"), t.TempDir(), t.TempDir()
	for folder, params := range map[string]map[string]any{
		few: {"fast": 120, "slow": 480}, full: {"fast": 2, "slow": 5, "share": "1%"}} { // some thousand round trips
		_, err := bot.Backtest(t.Context(), shipped.SMACross, params, bot.Out(folder))
		require.NoError(t, err)
	}
	short := open(t, browser, filepath.Join(few, "report.html"), true)
	figuresAndEquityAreOnTheFirstScreen(short)
	valuesAreRead(short)
	figuresComeFirst(short)
	v := open(t, browser, filepath.Join(full, "report.html"), true)
	is(v, true, `[...document.querySelectorAll("div.unscripted")].every(e => e.hidden)`) // the chart shows the same
	v.fits()
	v.do(chromedp.EmulateViewport(1280, 900))
	sortsAndFilters(v)
	zooms(v)
	isCompleteWithoutItsScript(open(t, browser, filepath.Join(full, "report.html"), false))
	pagesOfSearches(t, browser)
}

func figuresAndEquityAreOnTheFirstScreen(v *viewer) {
	for _, size := range sizes[:2] {
		v.do(chromedp.EmulateViewport(size[0], size[1]))
		is(v, true, `[...document.querySelectorAll(".cards, .first figure")].`+
			`every(e => e.getBoundingClientRect().bottom <= innerHeight)`)
		is(v, true, `[...document.querySelectorAll(".first figure div")].find(e => e.offsetHeight > 0).textContent.`+
			`includes("% below the peak")`)
		if *pictureFile != "" && size[0] == 1280 {
			picture, err := chromedp.Run(v.ctx, chromedp.CaptureScreenshot())
			require.NoError(v, err)
			require.NoError(v, os.WriteFile(*pictureFile, picture, 0o644))
		}
	}
	v.fits()
}

// counted is what the table says about its rows.
const counted = `document.querySelector(".packed [role=status]").textContent`

// cells are the texts of a column of the table of trips, by its title.
const cells = `[...document.querySelectorAll(".trips tbody td")].filter(c => c.dataset.l === `

func sortsAndFilters(v *viewer) {
	is(v, 200, `document.querySelectorAll(".trips tbody tr").length`)
	v.do(chromedp.Click(`//p[span[@role="status"]]/button`))
	is(v, 400, `document.querySelectorAll(".trips tbody tr").length`)

	profits := cells + `"profit").map(c => +c.textContent.replaceAll("\u202f", ""))`
	v.do(chromedp.Click(`//table[contains(@class, "trips")]//th[.="profit"]/button`))
	is(v, true, `(l => l.every((p, i) => i === 0 || p <= l[i - 1]))(`+profits+`)`)
	v.do(chromedp.Click(`//table[contains(@class, "trips")]//th[.="profit"]/button`))
	is(v, true, `(l => l[0] < 0 && l.every((p, i) => i === 0 || p >= l[i - 1]))(`+profits+`)`)

	is(v, "", `(s => { s.value = 1; s.onchange(); return ""; })([...document.querySelectorAll(".packed label")]`+
		`.find(l => l.textContent.startsWith("profit")).querySelector("select"))`)
	is(v, true, profits+`.every(p => p > 0)`)
	require.Regexp(v, `^200 of \d+ chosen, of \d{4,}\. $`,
		of[string](v, `document.querySelector(".packed [role=status]").textContent`))
	v.holds(1280)
}

func zooms(v *viewer) {
	width := `(c => c.dataset.to - c.dataset.from)(document.querySelector(".zoom canvas"))`
	all := of[float64](v, width)
	require.InDelta(v, 3*365*86400, all, 86400)
	require.Greater(v, of[int](v, `+document.querySelector(".zoom canvas").dataset.each`), 1)
	v.do(chromedp.Click(`button[title="closer"]`))
	require.InDelta(v, all/2, of[float64](v, width), 1)
	is(v, true, `(c => { c.dispatchEvent(new WheelEvent("wheel", {deltaY: -1, cancelable: true, clientX: 300})); `+
		`return true; })`+
		`(document.querySelector(".zoom canvas"))`)
	require.InDelta(v, 0.8*all/2, of[float64](v, width), 1)

	v.do(chromedp.Click(`.trips tbody tr:nth-child(3) td:nth-child(2)`))
	is(v, "1", `document.querySelector(".zoom canvas").dataset.each`) // single candles
	is(v, true, `(c => { const at = Date.parse(document.querySelector(".trips tbody tr:nth-child(3) td:nth-child(2)")`+
		`.textContent.replace(" ", "T") + "Z") / 1000; return c.dataset.from < at && at < c.dataset.to; })`+
		`(document.querySelector(".zoom canvas"))`)
	// something is drawn in the colours of rising and falling candles
	is(v, true, `(c => new Set(c.getContext("2d").getImageData(0, 0, c.width, 300).data).size > 8)`+
		`(document.querySelector(".zoom canvas"))`)
	is(v, "", `(i => { i.click(); return ""; })(document.querySelector(".packed input"))`)
	require.Regexp(v, `^\d+ of \d+ chosen, of \d{4,}\. $`,
		of[string](v, `document.querySelector(".packed [role=status]").textContent`))
	require.Less(v, of[int](v, `document.querySelectorAll(".trips tbody tr").length`), 20)
	v.do(chromedp.Click(`button[title="the whole run"]`))
	require.InDelta(v, all, of[float64](v, width), 1)
	v.holds(1280)
}

// figuresComeFirst checks that a phone shows the figures within two screens, months and drawdowns
// before round trips, and a contents line that stays and leads to its sections.
func figuresComeFirst(v *viewer) {
	v.do(chromedp.EmulateViewport(390, 844))
	require.Less(v, of[float64](v, `document.querySelector(".figures").getBoundingClientRect().bottom + scrollY`),
		2*844.0)
	is(v, "figures months drawdowns rolling days exposure assumptions price round-trips data",
		`[...document.querySelectorAll("main section[id]")].map(s => s.id).slice(1).join(" ")`)
	is(v, "", `[...document.querySelectorAll(".contents a")].map(a => a.hash).filter(h => !document.querySelector(h)).join()`)
	is(v, 0.0, `(document.getElementById("round-trips").scrollIntoView(), `+
		`document.querySelector(".contents").getBoundingClientRect().top)`)
	is(v, true, `document.getElementById("round-trips").getBoundingClientRect().top >= 44`)
	is(v, "logarithmic", `(c => (c.querySelector("select").value = 1, c.querySelector("select").onchange(), `+
		`[...c.children].find(e => e.dataset.name && !e.hidden).dataset.name))(document.querySelector(".choice"))`)
}

// valuesAreRead checks that a pointer over a picture and over the chart finds the values there, and
// that the arrow keys do, too.
func valuesAreRead(v *viewer) {
	const box, moved = `document.querySelector(".readout")`, input.DispatchMouseEventTypeMouseMoved
	v.do(chromedp.EmulateViewport(1280, 900))
	of[bool](v, `(scrollTo(0, 0), true)`)
	at := of[[]float64](v, `(r => [r.left + r.width / 2, r.top + r.height / 3])(`+
		`[...document.querySelectorAll("#equity svg")].find(s => s.checkVisibility()).getBoundingClientRect())`)
	v.do(chromedp.MouseEvent(moved, at[0], at[1]))
	require.Regexp(v, `^\d{4}-\d\d-\d\d \d\d:\d\d UTCbuy and hold\d\d.\d{3}\.\d\dequity\d\d.\d{3}\.\d\d`,
		of[string](v, box+".textContent"))
	v.do(chromedp.MouseEvent(moved, 2, 2))
	is(v, true, box+".hidden")
	of[bool](v, `(document.querySelector("#months svg").focus(), true)`)
	for range 2 {
		v.do(chromedp.KeyEvent(kb.ArrowRight))
	}
	require.Regexp(v, `^2021-02-01 00:00 UTC% of the month-2\.\d\d$`, of[string](v, box+".textContent"))
	v.do(chromedp.KeyEvent(kb.Escape))
	is(v, true, box+".hidden")
	at = of[[]float64](v, `(c => (c.scrollIntoView({block: "center"}), (r => [r.left + r.width / 2, r.top + 40])(`+
		`c.getBoundingClientRect())))(document.querySelector("canvas"))`)
	v.do(chromedp.MouseEvent(moved, at[0], at[1]))
	require.Regexp(v, `^\d{4}-\d\d-\d\d \d\d:\d\d UTCopen.*high.*low.*close.*equity, EUR`,
		of[string](v, box+".textContent"))
}

func isCompleteWithoutItsScript(v *viewer) {
	is(v, 500, `document.querySelectorAll(".trips tbody tr").length`)
	is(v, true, `document.querySelector(".scripted").hidden && !document.querySelector(".unscripted").hidden`)
	is(v, true, `document.querySelector("p.unscripted").textContent.includes("500 largest")`)
	is(v, true, `[...document.querySelectorAll("div.unscripted")].every(e => e.offsetHeight > 250)`)
	require.GreaterOrEqual(v, of[int](v, `document.querySelectorAll("figure .wide svg").length`), 5)
	v.fits()
}

// pagesOfSearches makes a page of each command that searches, and looks at it.
func pagesOfSearches(t *testing.T, browser context.Context) {
	dir := t.TempDir()
	text, err := command(t, dir, "sweep", "--vary", "strategies.trend.params.fast=20:100:20",
		"--vary", "strategies.trend.params.slow=120:480:40", "--vary", "backtest.path=adaptive,ohlc", "--out",
		"a.sweep")
	require.NoError(t, err, text)
	require.Contains(t, text, "open a.html")
	page := filepath.Join(dir, "a.html")
	v := open(t, browser, page, true)
	v.answersFirst()
	is(v, 1, `[...document.querySelectorAll(".choice > [data-name]")].filter(e => !e.hidden).length`)
	is(v, "slow × path", `(s => { s.value = 2; s.onchange(); return document.querySelector(`+
		`".choice > [data-name]:not([hidden])").dataset.name; })(document.querySelector(".choice select"))`)
	v.fits()
	sortsTheBestSets(v)
	v.pictures("sweep")
	for _, c := range []struct {
		name, page string
		args       []string
	}{
		{"walkforward", "walk/walkforward.html", []string{"walkforward", "--train", "360d", "--test", "180d", "--vary",
			"strategies.trend.params.fast=60:140:40", "--out", "walk"}},
		{"placebo", "b.html", []string{"placebo", "--surrogates", "19", "--from", "2023", "--vary",
			"strategies.trend.params.fast=60,100", "--out", "b.placebo"}},
		{"stress", "stress.html", []string{"stress", "--resamples", "50", "--from", "2023", "--out", "stress.html"}},
	} {
		text, err := command(t, dir, c.args...)
		require.NoError(t, err, text)
		v := open(t, browser, filepath.Join(dir, c.page), true)
		v.fits()
		v.pictures(c.name)
	}
	for _, run := range []string{"slow", "fast"} {
		text, err := command(t, dir, "backtest", "--set",
			"strategies.trend.params.fast="+map[string]string{"slow": "100",
				"fast": "20"}[run], "--out", run)
		require.NoError(t, err, text)
	}
	text, err = command(t, dir, "compare", "slow", "fast", "--out", "compare.html")
	require.NoError(t, err, text)
	both := open(t, browser, filepath.Join(dir, "compare.html"), true)
	both.fits()
	both.pictures("compare")
	plain := open(t, browser, page, false)
	is(plain, 3, `[...document.querySelectorAll(".choice > [data-name]")].filter(e => e.offsetHeight > 100).length`)
	is(plain, true, `document.querySelectorAll(".sorted tbody tr").length > 20`)
	plain.fits()
}

// sortsTheBestSets sorts the table of a sweep by its script, over all rows.
func sortsTheBestSets(v *viewer) {
	v.do(chromedp.EmulateViewport(1280, 900))
	is(v, 20, `document.querySelectorAll(".sorted tbody tr").length`)
	falls := `[...document.querySelectorAll(".sorted tbody td")].filter(c => c.dataset.l === "drawdown")` +
		`.map(c => parseFloat(c.textContent))`
	v.do(chromedp.Click(`//div[@class="sorted"]//th[.="drawdown"]/button`))
	is(v, true, `(l => l.every((x, i) => i === 0 || x <= l[i - 1]))(`+falls+`)`)
	deepest := of[float64](v, falls+`[0]`)
	v.do(chromedp.Click(`//div[@class="sorted"]//button[.="show all"]`))
	all := of[int](v, `document.querySelectorAll(".sorted tbody tr").length`)
	require.Greater(v, all, 20)
	is(v, deepest, `Math.max(...`+falls+`)`)
	v.do(chromedp.Click(`//div[@class="sorted"]//th[.="drawdown"]/button`))
	is(v, true, `(l => l.every((x, i) => i === 0 || x >= l[i - 1]))(`+falls+`)`)
	is(v, "", `(s => { s.value = 1; s.onchange(); return ""; })([...document.querySelectorAll(".sorted label")]`+
		`.find(l => l.textContent.startsWith("path")).querySelector("select"))`)
	is(v, "adaptive", `[...new Set([...document.querySelectorAll(".sorted tbody td")]`+
		`.filter(c => c.dataset.l === "path").map(c => c.textContent))].join()`)
}

// answersFirst checks that the answer, in its colour, is on the first screen.
func (v *viewer) answersFirst() {
	v.Helper()
	for _, size := range sizes {
		v.do(chromedp.EmulateViewport(size[0], size[1]))
		is(v, true, `(e => e.getBoundingClientRect().bottom <= innerHeight)`+
			`(document.querySelector(".verdict:is(.bad, .open, .good) > .answer"))`)
	}
}

// pictures writes pictures of a page, where the flag asks for them: of both styles, wide and
// narrow.
func (v *viewer) pictures(name string) {
	if *pagePictures == "" {
		return
	}
	for _, style := range []string{"light", "dark"} {
		v.style(style)
		for _, width := range []int64{1280, 360} {
			v.do(chromedp.EmulateViewport(width, 900))
			picture, err := chromedp.Run(v.ctx, chromedp.FullScreenshot(100))
			require.NoError(v, err)
			require.NoError(v, os.WriteFile(filepath.Join(*pagePictures,
				fmt.Sprintf("%s-%s-%d.png", name, style, width)),
				picture, 0o644))
		}
	}
}
