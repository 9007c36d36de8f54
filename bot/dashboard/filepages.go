package dashboard

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strconv"

	"github.com/tidemark-trading/tidemark/bot/results"
	"github.com/tidemark-trading/tidemark/research/compare"
)

// filePages has the pages that are made of files: results, searches and gaps. They belong to the
// machine: with several bots they stand once.
type filePages struct {
	s     *Server
	files *results.Folder
}

// sheet is a page of files and a document of the API: a row of their table.
type sheet struct {
	path, title string // the path begins with a slash; the document's name follows it
	body        string // name of its template; empty: parts
	under       string // path of the page in the navigation that leads to it; empty: it has a link there
	summary     string // of the document
	parameters  []parameter
	answer      reflect.Type
	ask         func(f *results.Folder, q url.Values) (any, error)
	view        func(answer any, q url.Values, nowMS int64) any
}

// sheetOf adds to a sheet its document, of the type T, and what the page shows of it.
func sheetOf[T any](s sheet, ask func(*results.Folder, url.Values) (*T, error),
	view func(*T, url.Values, int64) any) sheet {
	s.answer = reflect.TypeFor[T]()
	s.ask = func(f *results.Folder, q url.Values) (any, error) { return ask(f, q) }
	s.view = func(answer any, q url.Values, nowMS int64) any { return view(answer.(*T), q, nowMS) }
	return s
}

// sheets are the pages of files, in the order of the navigation.
func sheets() []sheet {
	name := parameter{name: "name", doc: "as the list has it"}
	several := name
	several.many = true
	return []sheet{
		sheetOf(sheet{path: "/results", title: "Results", body: "results", summary: "results of backtests",
			parameters: []parameter{aName("strategy"), aName("market"), {name: "sort", doc: "a column"},
				yesOrNo("ascending", "the lowest first")}},
			func(f *results.Folder, q url.Values) (*results.Results, error) { return f.Results(resultQuery(q)) },
			func(list *results.Results, q url.Values, nowMS int64) any {
				page, _ := strconv.Atoi(q.Get("page"))
				return ResultsOf(list, resultQuery(q), page, nowMS)
			}),
		sheetOf(sheet{path: "/result", title: "Result", under: "/results", summary: "a result",
			parameters: []parameter{name}},
			func(f *results.Folder, q url.Values) (*results.Result, error) { return f.Result(q.Get("name")) },
			func(one *results.Result, _ url.Values, _ int64) any { return ResultOf(one) }),
		sheetOf(sheet{path: "/compare", title: "Compare", under: "/results", summary: "results side by side",
			parameters: []parameter{several}},
			func(f *results.Folder, q url.Values) (*compare.Comparison, error) { return f.Compare(q["name"]...) },
			func(o *compare.Comparison, _ url.Values, _ int64) any { return CompareOf(o) }),
		sheetOf(sheet{path: "/sweeps", title: "Sweeps", summary: "searches"},
			func(f *results.Folder, _ url.Values) (*results.Sweeps, error) { return f.Sweeps() },
			func(list *results.Sweeps, q url.Values, nowMS int64) any { return SweepsOf(list, q, nowMS) }),
		sheetOf(sheet{path: "/sweep", title: "Sweep", under: "/sweeps", summary: "a search",
			parameters: []parameter{name, {name: "objective", doc: "by which its sets are ranked"}}},
			func(f *results.Folder, q url.Values) (*results.Searched, error) {
				return f.Sweep(q.Get("name"), q.Get("objective"))
			},
			func(found *results.Searched, q url.Values, nowMS int64) any { return SweepOf(found, q, nowMS) }),
		sheetOf(sheet{path: "/gaps", title: "Gap", summary: "gaps between live and backtest"},
			func(f *results.Folder, _ url.Values) (*results.Gaps, error) { return f.Gaps() },
			func(list *results.Gaps, _ url.Values, nowMS int64) any { return GapsOf(list, nowMS) }),
	}
}

// sheetLinks are the links of the pages of files.
func sheetLinks() (links []Link) {
	for _, s := range sheets() {
		if s.under == "" {
			links = append(links, Link{s.title, s.path})
		}
	}
	return links
}

// resultQuery is the query for results in an address.
func resultQuery(q url.Values) results.Query {
	return results.Query{Strategy: q.Get("strategy"), Market: q.Get("market"), Sort: q.Get("sort"),
		Ascending: q.Get("ascending") == "true"}
}

// register lets a mux answer requests for these pages and files.
func (r *filePages) register(mux *http.ServeMux) {
	for _, one := range sheets() {
		mux.HandleFunc("GET "+one.path, r.page(one))
	}
	mux.HandleFunc("GET /file", r.file)
}

// page answers with a page of files.
func (r *filePages) page(one sheet) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		q := req.URL.Query()
		answer, err := one.ask(r.files, q)
		page := &Page{Title: one.title, Here: cmp.Or(one.under, one.path), Navigation: r.s.links(callerOf(req))}
		if err == nil {
			r.s.crown(req, page)
			page.View = one.view(answer, q, r.s.Now().UnixMilli())
			if q.Get(watchParameter) == "true" {
				w.Header().Set("Refresh", "5")
			}
		}
		r.s.write(w, cmp.Or(one.body, partsPage), page, http.StatusOK, err)
	}
}

// file answers with a file of a result, a search or a gap. A page is shown under its own policy and
// in a sandbox, so that nothing in it reaches the dashboard; any other file is saved, not shown.
func (r *filePages) file(w http.ResponseWriter, req *http.Request) {
	f, err := r.files.File(req.URL.Query().Get("name"))
	if err != nil {
		r.s.refuse(w, err)
		return
	}
	head := w.Header()
	head.Set("Content-Type", f.Kind)
	if f.Policy != "" {
		head.Set("Content-Security-Policy", f.Policy)
		head.Set("Cross-Origin-Opener-Policy", "unsafe-none") // a sandbox has no origin to be the same
	} else {
		head.Set("Content-Disposition", "attachment; filename="+strconv.Quote(f.Name))
	}
	http.ServeContent(w, req, "", f.Changed, bytes.NewReader(f.Text))
}

// fileStatus is the status of an answer about files that is an error; 0: it is of another kind.
func fileStatus(err error) int {
	switch {
	case errors.As(err, new(results.NotFoundError)):
		return http.StatusNotFound
	case errors.As(err, new(results.WrongError)):
		return http.StatusBadRequest
	}
	return 0
}
