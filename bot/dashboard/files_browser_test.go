//go:build !raced

package dashboard

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// newFiles serves the pages of files, over results that the real backtester and sweep have made.
// Names of folders, titles and strategies would run a script if they were written as they are.
func newFiles(v *viewer) *httptest.Server {
	hours := 4000
	if *pictures != "" {
		hours = 26_000
	}
	made := &bottest.Results{TB: v, Folder: filepath.Join(v.TempDir(), "out"), Hours: hours}
	made.Backtest("slow", "smacross on BTC-EUR 1h", "trend", "40", "160")
	made.Backtest("fast", "smacross on BTC-EUR 1h "+hostile(), "trend", "10", "40")
	made.Backtest("walk/"+hostile(), hostile(), "trend", "20", "80")
	made.Write("walk/"+hostile()+"/walkforward.html", made.Read("slow/report.html"))
	made.Write("broken/result.json", `{"format": 1, "title": "`+hostile())
	made.Sweep("sweep-run.sweep", "fast=5:60:5", "slow=70:240:10")
	text := made.Read("sweep-run.sweep")
	made.Write("sweep-"+strings.ReplaceAll(hostile(), "/", "")+".sweep", text[:len(text)/2])
	made.Write("gap/gap.csv", "strategy,fact,profit,step,mean,least,most,range_only\n,backtest,50.00,,,,,\n"+
		",data,50.00,0.00,0.00,0.00,0.00,false\n,orders,45.00,-5.00,-5.00,-6.00,-4.00,false\n"+
		",\""+strings.ReplaceAll(hostile(), `"`, `""`)+"\",45.00,0.00,0.00,0.00,0.00,false\n,live,43.00,-7.00,,,,\n")
	made.Write("gap/gap.html", made.Read("sweep-run.html"))
	s, err := New(Config{Bot: Bot{Name: "demo"}, Out: made.Folder, Look: host.Fixed("x")})
	require.NoError(v, err)
	mux := http.NewServeMux()
	s.rack.register(mux)
	mux.HandleFunc("/dashboard.css", file("text/css", Style()))
	mux.HandleFunc("/dashboard.js", file("text/javascript", Script()))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		mux.ServeHTTP(w, r)
	}))
	v.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server
}

// The pages of files, found by following the links as a person does.
func filesInABrowser(v *viewer) {
	server := newFiles(v)
	pages := [][2]string{{"results", "/results"}, {"results", "/results?sort=sharpe&ascending=true&market=BTC-EUR"},
		{"result", "/result?name=slow"}, {"result", "/result?" + url.Values{"name": {"walk/" + hostile()}}.Encode()},
		{"compare", "/compare?name=slow&name=fast&name=" + url.QueryEscape("walk/"+hostile())},
		{"sweeps", "/sweeps"}, {"sweep", "/sweep?name=sweep-run.sweep"}, {"gaps", "/gaps"}}
	for _, one := range pages {
		for _, size := range [][2]int64{{1280, 900}, {390, 844}} {
			v.do(chromedp.EmulateViewport(size[0], size[1]))
			v.visit(server.URL + one[1])
			v.fits(one[1], size[0])
			if *pictures != "" {
				v.whole(one[0], size[0])
			}
		}
		v.contrasts(one[1])
	}
	v.do(chromedp.EmulateViewport(1280, 900))
	twoAreComparedByTheirBoxes(v, server.URL)
	aReportIsShownInASandbox(v, server.URL)
}

// whole writes a picture of the whole page.
func (v *viewer) whole(name string, width int64) {
	png, err := chromedp.Run(v.ctx, chromedp.FullScreenshot(100))
	require.NoError(v, err)
	if width < 1000 {
		name += "-phone"
	}
	path := filepath.Join(*pictures, "dashboard-"+name+".png")
	if _, err := os.Stat(path); err != nil {
		require.NoError(v, os.WriteFile(path, png, 0o644))
	}
}

func twoAreComparedByTheirBoxes(v *viewer, address string) {
	v.visit(address + "/results")
	v.becomes(`[...document.querySelectorAll("input[name=name]")].filter(e => ["slow", "fast"].includes(e.value)).` +
		`map(e => e.click()).length === 2`)
	of[bool](v, `(document.querySelector("form[action=compare] button").click(), true)`)
	bottest.Await(v, func() bool { // while the page changes there is nothing to evaluate in
		there, err := chromedp.Run(v.ctx, chromedp.Evaluate[bool](`location.pathname === "/compare" && `+
			`document.documentElement.dataset.ready === "yes"`))
		return err == nil && there
	}, "the page of the comparison did not come")
	require.Contains(v, of[string](v, `document.querySelector(".verdict").textContent`), "with a standard error of")
}

// The report runs its own script, and has no cookie and no address of the dashboard.
func aReportIsShownInASandbox(v *viewer, address string) {
	v.do(chromedp.Navigate(address + "/file?name=slow%2Freport.html"))
	v.becomes(`document.documentElement.dataset.ready === "yes"`)
	require.Equal(v, "null", of[string](v, `window.origin`))
	require.True(v, of[bool](v, `(() => { try { return document.cookie && false } catch { return true } })()`))
	v.mu.Lock()
	defer v.mu.Unlock()
	require.Empty(v, v.console)
}
