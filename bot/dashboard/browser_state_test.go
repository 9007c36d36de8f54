//go:build !raced

package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// stateView is the view of a page that shows how a made-up bot stands.
func (s *site) stateView(here string, r *http.Request) (name, title string, view any, err error) {
	switch here {
	case "/market":
		q, err := marketQueryOf(r.URL.Query())
		if err != nil {
			return "", "", nil, err
		}
		width, _ := strconv.Atoi(r.FormValue("width"))
		m := madeUpMarket(q)
		if last, is := s.last.Load().(string); is {
			m.Last = last
		}
		view, err = MarketOf(m, q, width, time.UTC)
		return "bot_market", "Market", view, err
	case "/risk":
		return partsPage, "Risk", RiskOf(madeUpRisk(), time.UTC), nil
	case "/journal":
		q, err := journalQueryOf(r.URL.Query())
		return "bot_journal", "Journal", JournalOf(madeUpJournal(), q, operator.JournalKinds(), time.UTC), err
	}
	return partsPage, "System", SystemPage(s.docs, madeUpSystem()), nil
}

// scheme lets the browser ask for a colour scheme, and for still pages or not.
func (v *viewer) scheme(name string, still bool) {
	motion := "no-preference"
	if still {
		motion = "reduce"
	}
	v.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name},
				{Name: "prefers-reduced-motion", Value: motion}}})
		return err
	}))
}

// contrasts checks the contrast of all texts of the page, in both schemes, and that nothing of it
// moves for those who want it still.
func (v *viewer) contrasts(path string) {
	v.Helper()
	of[int](v, `[...document.querySelectorAll("[hidden]")].map(e => { e.hidden = false; }).length`)
	for _, name := range []string{"dark", "light"} {
		v.scheme(name, true)
		require.Empty(v, of[string](v, bottest.FaintTexts), "%s, %s", path, name)
	}
	require.Equal(v, "none", of[string](v, `(e => (e.classList.add("moved"), getComputedStyle(e).animationName))`+
		`(document.querySelector("main h1"))`))
	v.scheme("light", false)
}

const spanOfFigure = `(f => f.dataset.to - f.dataset.from)(document.querySelector("figure.market"))`

func zoomsByLinkAndDrag(v *viewer, s *site) {
	v.visit(s.URL + "/market")
	idle := `!document.querySelector("figure.market").hasAttribute("aria-busy")`
	all := of[float64](v, spanOfFigure)
	v.press(`[...document.querySelectorAll("a[data-chart]")].find(a => a.textContent === "Zoom in")`, kb.Enter)
	v.becomes(fmt.Sprintf("%s && %s < %f", idle, spanOfFigure, all*0.6))
	require.NotZero(v, of[int](v, `document.querySelectorAll("figure.market .wide svg path").length`))
	// a drag over the second quarter of the candles, beside which the picture has a margin
	of[bool](v, `(f => { const shown = f.querySelector(".wide"), b = shown.getBoundingClientRect();`+
		`window.was = [+f.dataset.from, +f.dataset.to];`+
		`const at = (type, part) => f.dispatchEvent(new PointerEvent(type, {button: 0, clientX: b.left + b.width * `+
		`(+shown.dataset.left + part * (shown.dataset.right - shown.dataset.left))}));`+
		`at("pointerdown", 0.25); at("pointermove", 0.4); at("pointerup", 0.5); return true })`+
		`(document.querySelector("figure.market"))`)
	v.becomes(fmt.Sprintf("%s && %s < %f", idle, spanOfFigure, all*0.2))
	require.InDelta(v, 0.25, of[float64](v, `(document.querySelector("figure.market").dataset.from - was[0]) / `+
		`(was[1] - was[0])`), 0.01)
	require.Greater(v, of[float64](v, `+document.querySelector("figure.market .wide").dataset.left`), 0.02)
	require.Contains(v, of[string](v, "location.search"), "from=")
	require.Zero(v, of[int](v, `document.querySelectorAll(".market .part").length`))
	v.fits("/market, zoomed", 1280)
}

// A picture that ends now has a button: it stands still for those who want less motion, until they
// press it. A picture of another time has none. A window of another width gets its own picture.
func followsTheMarket(v *viewer, s *site) {
	v.scheme("light", true)
	v.visit(s.URL + "/market?long=7200000")
	s.last.Store("92345.25")
	button := `document.querySelector(".zooms button")`
	require.Equal(v, "Move", of[string](v, button+".textContent"))
	require.NotContains(v, of[string](v, `document.getElementById("legend").textContent`), "92345.25")
	v.press(button, kb.Enter)
	v.becomes(`document.getElementById("legend").textContent.includes("92345.25")`)
	require.Equal(v, "Hold still", of[string](v, button+".textContent"))
	require.Contains(v, of[string](v, "location.search"), "long=7200000")
	require.Contains(v, of[string](v, `document.querySelector("#tables").textContent`), "partial target")
	v.do(chromedp.EmulateViewport(390, 844))
	v.becomes(`document.querySelector("figure.market .narrow svg") && !document.querySelector("figure.market .wide svg")`)
	v.do(chromedp.EmulateViewport(1280, 900))
	v.becomes(`document.querySelector("figure.market .wide svg") !== null`)
	v.press(`[...document.querySelectorAll("a[data-chart]")].find(a => a.textContent === "Earlier")`, kb.Enter)
	v.becomes(button + ".hidden")
	v.scheme("light", false)
}

// The same links lead to whole pages where no script runs.
func zoomsWithoutScript(v *viewer, s *site) {
	script := func(off bool) {
		v.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled,
				emulation.SetScriptExecutionDisabledParams{Value: off})
			return err
		}))
	}
	script(true)
	v.do(chromedp.Navigate(s.URL + "/market"))
	require.Empty(v, of[string](v, `document.documentElement.dataset.ready || ""`), "a script ran")
	all := of[float64](v, spanOfFigure)
	v.do(chromedp.Navigate(of[string](v, `document.querySelector("a[data-chart]").href`)))
	require.InDelta(v, all/2, of[float64](v, spanOfFigure), 2)
	require.NotZero(v, of[int](v, `document.querySelectorAll("figure.market .wide svg path").length`))
	script(false)
}

// press puts the focus on an element and presses a key.
func (v *viewer) press(element, key string) {
	v.Helper()
	of[bool](v, `(`+element+`.focus(), true)`)
	v.do(chromedp.KeyEvent(key))
}

// keysReachEverything walks over a page with the Tab key: the first stop leads to the content, each
// thing to be used has one stop, in the order of the page, and the focus is seen.
func keysReachEverything(v *viewer, s *site) {
	v.visit(s.URL + "/journal")
	all := `[...document.querySelectorAll("a, input, select, button, [tabindex='0']")].filter(e => e.checkVisibility())`
	count := of[int](v, all+".length")
	for i := range count {
		v.do(chromedp.KeyEvent(kb.Tab))
		require.Equal(v, i, of[int](v, all+".indexOf(document.activeElement)"), "stop %d", i)
		if i == 0 {
			require.Equal(v, "#main", of[string](v, `document.activeElement.getAttribute("href")`))
		}
		if i < 12 {
			require.NotEqual(v, "none", of[string](v, "getComputedStyle(document.activeElement).outlineStyle"))
		}
	}
	of[bool](v, `(document.addEventListener("click", e => (e.preventDefault(), window.pressed = e.target.href)), true)`)
	v.press(`[...document.querySelectorAll("nav a")].find(a => a.textContent === "Risk")`, kb.Enter)
	require.Equal(v, s.URL+"/risk", of[string](v, "window.pressed"))
}
