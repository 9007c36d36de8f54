package report

import (
	_ "embed" // the template
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/tidemark-trading/tidemark/view/page"
)

//go:embed report.html
var body string

// Page is a page. Texts are written as they are; nothing in them is HTML.
type Page struct {
	Kind      string // what made it, as in "sweep": it stands above the title
	Title     string
	Lead      string // a quiet line below the title: range, method
	Synthetic bool   // the candles are made up; the page says so before all else
	Verdict   Verdict
	Cards     []page.Card
	Sections  []Section
	Identity  []page.Pair // at the end: versions and hashes
}

// Verdict is the box that a reader sees first.
type Verdict struct {
	Warnings []string // before all else, in the colour of a warning; the gravest first
	Texts    []string // a paragraph each
}

// Section is a heading with its parts.
type Section struct {
	Title string
	Parts []Part
}

// Write writes the page. An error of a picture names its section.
func (p *Page) Write(w io.Writer) error {
	t, err := page.Template(body, nil)
	if err != nil {
		return err
	}
	v := view{Page: p}
	for i := range p.Sections {
		one, err := join(t, p.Sections[i].Parts)
		if err != nil {
			return fmt.Errorf("section %q: %w", p.Sections[i].Title, err)
		}
		v.Bodies = append(v.Bodies, titled{p.Sections[i].Title, one})
	}
	html, err := execute(t, "page", &v)
	if err != nil {
		return err
	}
	d := page.Document{Title: p.Title + " – " + p.Kind, Body: html}
	return d.Write(w)
}

// view is the data of the template.
type view struct {
	*Page
	Bodies []titled
}

// titled is HTML with its title.
type titled struct {
	Title string
	Body  template.HTML
}

// execute runs a template by its name.
func execute(t *template.Template, name string, data any) (template.HTML, error) {
	var out strings.Builder
	err := t.ExecuteTemplate(&out, name, data)
	return template.HTML(out.String()), err
}

// join is the HTML of parts in their order.
func join(t *template.Template, parts []Part) (template.HTML, error) {
	var all strings.Builder
	for i, p := range parts {
		one, err := p.html(t)
		if err != nil {
			return "", fmt.Errorf("part %d: %w", i+1, err)
		}
		all.WriteString(string(one))
	}
	return template.HTML(all.String()), nil
}
