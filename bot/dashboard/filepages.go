package dashboard

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tidemark-trading/tidemark/bot/results"
)

// filePages has the pages that are made of files: results, searches and gaps. They belong to the
// machine: with several bots they stand once.
type filePages struct {
	s     *Server
	files *results.Folder
}

// sheet is a page of files: a row of the table of these pages. Its path begins with a slash.
type sheet struct {
	path, title string
	body        string // name of its template; empty: parts
	under       string // path of the page in the navigation that leads to it; empty: it has a link there
	view        func(r *filePages, q url.Values) (any, error)
}

// sheets are the pages of files, in the order of the navigation.
var sheets = []sheet{
	{path: "/results", title: "Results", body: "results", view: (*filePages).results},
	{path: "/result", title: "Result", under: "/results", view: (*filePages).result},
	{path: "/compare", title: "Compare", under: "/results", view: (*filePages).compare},
	{path: "/sweeps", title: "Sweeps", view: (*filePages).sweeps},
	{path: "/sweep", title: "Sweep", under: "/sweeps", view: (*filePages).sweep},
	{path: "/gaps", title: "Gap", view: (*filePages).gaps},
}

// sheetLinks are the links of the pages of files.
func sheetLinks() (links []Link) {
	for _, s := range sheets {
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
	for _, one := range sheets {
		mux.HandleFunc("GET "+one.path, r.page(one))
	}
	mux.HandleFunc("GET /file", r.file)
}

// page answers with a page of files.
func (r *filePages) page(one sheet) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		made, err := one.view(r, req.URL.Query())
		here := one.path
		if one.under != "" {
			here = one.under
		}
		var text bytes.Buffer
		if err == nil {
			err = r.s.pages.Write(&text, cmp.Or(one.body, partsPage), &Page{Title: one.title, Here: here, View: made,
				Navigation: r.s.links(callerOf(req))})
		}
		if err != nil {
			r.s.refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if req.URL.Query().Get(watchParameter) == "true" {
			w.Header().Set("Refresh", "5")
		}
		_, _ = w.Write(text.Bytes())
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

func (r *filePages) results(q url.Values) (any, error) {
	query := resultQuery(q)
	list, err := r.files.Results(query)
	if err != nil {
		return nil, err
	}
	page, _ := strconv.Atoi(q.Get("page"))
	return ResultsOf(list, query, page, r.s.Now().UnixMilli()), nil
}

func (r *filePages) result(q url.Values) (any, error) {
	one, err := r.files.Result(q.Get("name"))
	if err != nil {
		return nil, err
	}
	return ResultOf(one), nil
}

func (r *filePages) compare(q url.Values) (any, error) {
	o, err := r.files.Compare(q["name"]...)
	if err != nil {
		return nil, err
	}
	return CompareOf(o), nil
}

func (r *filePages) sweeps(q url.Values) (any, error) {
	list, err := r.files.Sweeps()
	if err != nil {
		return nil, err
	}
	return SweepsOf(list, q, r.s.Now().UnixMilli()), nil
}

func (r *filePages) sweep(q url.Values) (any, error) {
	found, err := r.files.Sweep(q.Get("name"), q.Get("objective"))
	if err != nil {
		return nil, err
	}
	return SweepOf(found, q, r.s.Now().UnixMilli()), nil
}

func (r *filePages) gaps(url.Values) (any, error) {
	list, err := r.files.Gaps()
	if err != nil {
		return nil, err
	}
	return GapsOf(list, r.s.Now().UnixMilli()), nil
}
