// Package dashboard shows a bot on web pages, and lets those with a second token halt it and sell.
// It never reads settings, code or keys, and holds no state of a bot: each page is made of the
// documents of bot/operator and bot/profit, and each action is a request of bot/operator.
//
// Start at Server, then at the table of pages in botpages.go and that of actions in action.go.
// Pages has the templates. The files views_*.go make documents into Parts, which are what a page
// shows.
package dashboard

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed dashboard.css
var ownStyle string

//go:embed dashboard.js
var ownScript string

// Style is the CSS of all pages: that of the reports, then the dashboard's own.
func Style() string { return page.Style() + ownStyle }

// Script is the script of all pages. Pages work without it, but their values stand still.
func Script() string { return chart.Script() + ownScript }

// Page is one page: a frame around the view of a template.
type Page struct {
	Title string // of the page, as in the navigation
	Bot   string // name of the bot
	Here  string // its link in Navigation
	Zone  string // of its times; empty: it has none
	Top   Top
	Stop  string // the link that stops everything; empty: this viewer may not, or nothing runs
	View  any    // for the template

	Navigation []Link
}

// Top is the line that stands above all pages of a bot.
type Top struct {
	Mode, Exchange, State, Feed Cell
	Alarm                       string // text of the red HALT; empty: nothing is halted
}

// Link is an entry of the navigation. Path is relative, or begins with a slash.
type Link struct{ Title, Path string }

// frameFile is the frame of all pages and the parts that they share. Every other file of templates
// defines "body": that of the page of its name, or parts for those that are a list of parts.
const frameFile = "templates/frame.html"

// partsPage is the template of a page whose view is Parts.
const partsPage = "parts"

// Pages are the parsed templates.
type Pages struct{ byName map[string]*template.Template }

// NewPages parses the templates. An error is a fault of the program.
func NewPages() (*Pages, error) {
	p := &Pages{byName: map[string]*template.Template{}}
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	for _, file := range files {
		t := template.New(path.Base(file))
		t, err := t.Funcs(template.FuncMap{"part": partOf(t)}).ParseFS(templateFiles, frameFile, file)
		if err != nil {
			return nil, fmt.Errorf("dashboard: %w", err)
		}
		p.byName[strings.TrimSuffix(path.Base(file), ".html")] = t
	}
	return p, nil
}

// WritePublic writes the page for strangers, which has a frame of its own.
func (p *Pages) WritePublic(w io.Writer, one *PublicPage) error {
	if err := p.byName["public"].ExecuteTemplate(w, "public", one); err != nil {
		return fmt.Errorf("dashboard: %w", err)
	}
	return nil
}

// Write writes a page. name is the name of its template, as bot_orders.
func (p *Pages) Write(w io.Writer, name string, one *Page) error {
	t := p.byName[name]
	if t == nil {
		return fmt.Errorf("dashboard: there is no template %q", name)
	}
	if err := t.ExecuteTemplate(w, "frame", one); err != nil {
		return fmt.Errorf("dashboard: %w", err)
	}
	return nil
}
