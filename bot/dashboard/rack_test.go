package dashboard

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/research/machines"
)

// files is the server of a dashboard over made results.
type files struct {
	testing.TB
	made    *bottest.Results
	handler http.Handler
}

func newRack(t testing.TB) *files {
	f := &files{TB: t, made: &bottest.Results{TB: t, Folder: filepath.Join(t.TempDir(), "out"), Hours: 2400}}
	now := time.Now()
	var looks atomic.Int64
	s, err := New(Config{Bot: Bot{Of: operator.Target{Folder: t.TempDir()}, Name: "demo"}, Out: f.made.Folder,
		Look: host.Fixed("t"), Now: func() time.Time { // each look is a new one
			return now.Add(2 * time.Second * time.Duration(looks.Add(1)))
		}})
	require.NoError(t, err)
	f.handler = s.Handler("127.0.0.1:8787")
	return f
}

// get asks for a path with the token.
func (f *files) get(path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8787"+path, nil)
	r.Header.Set("Authorization", "Bearer t")
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w
}

// shows asks for a page that there is.
func (f *files) shows(path string) string {
	f.Helper()
	w := f.get(path)
	require.Equal(f, http.StatusOK, w.Code, "%s: %s", path, w.Body)
	require.Contains(f, w.Header().Get("Content-Security-Policy"), "default-src 'self'")
	require.Less(f, w.Body.Len(), 150_000, path)
	return w.Body.String()
}

func TestPagesOfFilesNeedNoBot(t *testing.T) {
	f := newRack(t)
	require.Contains(t, f.shows("/results"), "There is no folder")
	for _, path := range []string{"/sweeps", "/gaps"} {
		require.Contains(t, f.shows(path), "There is no folder")
	}
	f.made.Backtest("a", "first", "trend", "5", "20")
	require.Equal(t, http.StatusServiceUnavailable, f.get("/").Code, "there is no bot")
	require.Contains(t, f.shows("/result?name=a"), "first")
}

// Viewers at the same time get the same answers, while results come.
func TestManyViewersShareALook(t *testing.T) {
	f := newRack(t)
	f.made.Backtest("a", "first", "trend", "5", "20")
	f.made.Backtest("b", "second", "trend", "10", "40")
	f.made.Sweep("x.sweep", "fast=2:20:6", "slow=25:100:25")
	text := f.made.Read("a/result.json")
	var viewers sync.WaitGroup
	for _, path := range []string{"/results", "/result?name=a", "/compare?name=a&name=b", "/sweeps",
		"/sweep?name=x.sweep", "/sweep?name=x.sweep&objective=return", "/api/v1/results", "/file?name=a/report.html"} {
		viewers.Go(func() {
			for range 5 {
				assert.Equal(t, http.StatusOK, f.get(path).Code, path)
			}
		})
	}
	for i := range 10 {
		f.made.Write(fmt.Sprintf("new%d/result.json", i), text)
	}
	viewers.Wait()
	require.Contains(t, f.shows("/results"), "1 to 12 of 12 results")
}

// The first page of 1,000 results is as small as that of 50, and leads to all others.
func TestAllResultsAreReachedByLinks(t *testing.T) {
	f := newRack(t)
	f.made.Backtest("r000", "one", "trend", "5", "20")
	text := f.made.Read("r000/result.json")
	for i := range 119 {
		f.made.Write(fmt.Sprintf("r%03d/result.json", i+1), text)
	}
	link := regexp.MustCompile(`<a href="(result\?[^"]+)">`)
	next := regexp.MustCompile(`<a href="([^"]+)">further</a>`)
	seen := map[string]bool{}
	for path := "/results?sort=name&ascending=true"; path != ""; {
		body := f.shows(path)
		for _, one := range link.FindAllStringSubmatch(body, -1) {
			seen[one[1]] = true
		}
		path = ""
		if further := next.FindStringSubmatch(body); further != nil {
			path = "/" + strings.ReplaceAll(further[1], "&amp;", "&")
		}
	}
	require.Len(t, seen, 120)
	for one := range seen {
		require.Contains(t, f.shows("/"+one), "Round trips")
		break
	}
}

func TestQuestionsAboutFilesAreAnsweredOrRefused(t *testing.T) {
	f := newRack(t)
	f.made.Backtest("a", "first", "trend", "5", "20")
	f.made.Backtest("b", "second", "trend", "10", "40")
	f.made.Sweep("x.sweep", "fast=2:20:6", "slow=25:100:25")
	for path, want := range map[string]int{"/results?sort=sharpe": 200, "/results?sort=colour": 400,
		"/results?page=99": 200,
		"/results?page=-1": 200, "/result?name=a": 200, "/result?name=../a": 404, "/result": 404,
		"/compare?name=a&name=b": 200, "/compare?name=a": 400, "/compare?name=a&name=a": 400,
		"/compare?name=a&name=c": 404,
		"/sweeps":                200, "/sweeps?watch=true": 200, "/sweep?name=x.sweep": 200,
		"/sweep?name=x.sweep&objective=return": 200,
		"/sweep?name=x.sweep&objective=1":      400, "/sweep?name=a": 404, "/gaps": 200,
		"/file?name=a/report.html": 200,
		"/file?name=a/config.json": 404, "/file?name=../../etc/passwd": 404, "/file": 404,
		"/file?name=x.sweep": 404, "/file/a/report.html": 404} {
		require.Equal(t, want, f.get(path).Code, path)
		if document, is := strings.CutPrefix(path, "/file"); !is {
			if strings.Contains(path, "page=") || strings.Contains(path, "watch=") {
				want = http.StatusBadRequest // of pages alone
			}
			answer := f.get("/api/v1/" + strings.TrimPrefix(document, "/"))
			require.Equal(t, want, answer.Code, path)
			require.True(t, json.Valid(answer.Body.Bytes()), path)
		}
	}
	for _, path := range []string{"/results", "/file?name=a/report.html", "/api/v1/results"} {
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8787"+path, nil))
		require.Equal(t, http.StatusUnauthorized, w.Code, path)
	}
	require.Equal(t, "5", f.get("/sweeps?watch=true").Header().Get("Refresh"))
	require.Empty(t, f.get("/sweeps").Header().Get("Refresh"))
	page, table := f.get("/file?name=a/report.html"), f.get("/file?name=a/trades.csv")
	require.Contains(t, page.Header().Get("Content-Security-Policy"), "sandbox allow-scripts")
	require.Equal(t, "DENY", page.Header().Get("X-Frame-Options"))
	require.Equal(t, `attachment; filename="trades.csv"`, table.Header().Get("Content-Disposition"))
	require.Equal(t, "text/csv; charset=utf-8", table.Header().Get("Content-Type"))
	require.Equal(t, f.made.Read("a/trades.csv"), table.Body.String())
}

// No name of a file, a title or a strategy is HTML on a page.
func TestNamesInFilesAreTexts(t *testing.T) {
	f := newRack(t)
	const bad = `"><img src=x onerror=alert(1)><script>alert(1)</script>`
	f.made.Backtest("a", bad, "trend", "5", "20")
	f.made.Backtest("dir"+bad, "b", "trend", "5", "20")
	f.made.Write("c/result.json", strings.NewReplacer(`"trend"`, fmt.Sprintf("%q", bad),
		`"BTC-EUR"`, fmt.Sprintf("%q", bad), `"smacross"`, fmt.Sprintf("%q", bad),
		`"warnings": []`, fmt.Sprintf(`"warnings": [%q]`, bad),
		"0123456789abcdef", "<b>").Replace(f.made.Read("a/result.json")))
	for _, name := range []string{"equity.csv", "days.csv"} {
		f.made.Write("c/"+name, f.made.Read("a/"+name))
	}
	f.made.Write("c/trades.csv", strings.ReplaceAll(f.made.Read("a/trades.csv"), "BTC-EUR", "<script>"))
	f.made.Write(bad+".sweep", bad)
	f.made.Sweep("x.sweep", "fast=2:20:6", "slow=25:100:25")
	text := f.made.Read("x.sweep")
	f.made.Write("cut.sweep", text[:len(text)/2])
	crewed := machines.Roster{Sweep: "cut.sweep", Workers: []machines.Worker{{Name: bad, Cores: 4, Groups: 17},
		{Name: "box", Cores: 2, Left: "is not heard of any more"}}}
	require.NoError(t, crewed.Write(filepath.Join(f.made.Folder, ".farm-1")))
	f.made.Write("gap/gap.csv", "strategy,fact,profit,step\n,<script>,<script>,<script>\n,live,<script>,<script>\n")
	for _, path := range []string{"/results", "/results?strategy=" + url.QueryEscape(bad), "/sweeps", "/gaps",
		"/result?name=a", "/result?name=c", "/result?name=" + url.QueryEscape("dir"+bad),
		"/compare?name=a&name=c&name=" + url.QueryEscape("dir"+bad), "/sweep?name=" + url.QueryEscape(bad+".sweep"),
		"/sweep?name=cut.sweep", "/result?name=" + url.QueryEscape(bad), "/results?sort=" + url.QueryEscape(bad)} {
		body := f.get(path).Body.String()
		require.NotContains(t, body, "<script>", path)
		require.NotContains(t, body, "<img", path)
	}
	require.Contains(t, f.shows("/result?name=c"), "&lt;img")
	workers := f.shows("/sweep?name=cut.sweep")
	for _, text := range []string{"Groups finished", "&lt;img", ">17<", "is not heard of any more"} {
		require.Contains(t, workers, text)
	}
}

func TestTheSealIsSaidInWords(t *testing.T) {
	none := SealOf(&seal.SealStatus{}, time.UTC)
	require.Contains(t, none[0].(Verdict)[0], "Nothing is sealed")
	kept := SealOf(madeUpSeal(), time.UTC)
	require.Contains(t, kept[0].(Verdict)[0], "Within its promise after 18 days")
	require.Equal(t, "at least 0.05 % a day, Sharpe 0.96", kept[3].(Table).Rows[0].Cells[1].Text)
	broken := madeUpSeal()
	broken.Broken, broken.BrokenOn, broken.Since, broken.Alone = true, "2026-11-10", "2026-10-01", []string{"return"}
	require.Contains(t, SealOf(broken, time.UTC)[0].(Warnings)[0],
		"The promise is broken: return. Probably since 2026-10-01")
}

// pageResults is the number of results of BenchmarkPageOfResults.
var pageResults = flag.Int("page-results", 100, "list so many results")

// BenchmarkPageOfResults is the first page of results, when a look is no longer fresh.
func BenchmarkPageOfResults(b *testing.B) {
	f := newRack(b)
	f.made.Backtest("r0", "one of many", "trend", "120", "480")
	for i := range *pageResults - 1 {
		for _, name := range []string{"result.json", "days.csv"} {
			f.made.Write(fmt.Sprintf("r%d/%s", i+1, name), f.made.Read("r0/"+name))
		}
	}
	f.shows("/results")
	for b.Loop() {
		f.shows("/results?sort=sharpe")
	}
}
