// Package view is what a command answers a person: one document, as an HTML page and as text for a
// terminal. It knows nothing of trading: builders beside the facts fill a Doc with parts.
//
// The same Doc gives the same bytes. A page is one file that loads nothing: the verdict first,
// cards of figures, then sections. A terminal shows the sections first and the verdict last, above
// the prompt; cards, pictures and hashes are on the page alone.
//
// Start at Doc; package page writes the frame of a page, package chart its pictures.
//
// # Decisions
//
//   - A document is a list of parts, and a part knows both of its forms. So a command has no text
//     of its own beside its page. Price: a terminal says what the page says, in its order.
//   - Maps, lines and dots are bounded, and each says what it leaves out. Price: two pictures of
//     each, wide and narrow.
package view

import (
	_ "embed" // the template
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/tidemark-trading/tidemark/view/page"
)

//go:embed doc.html
var body string

// Doc is the answer of a command. Texts are written as they are; nothing in them is HTML.
type Doc struct {
	Kind      string // the command that made it, as in "sweep": it stands above the title
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
	Answer   string   // one sentence, in the colour of Tone; empty: there is none
	Tone     Tone     // of the answer
	Next     []string // commands: what to do next
	Warnings []string // before all else, in the colour of a warning; the gravest first
	Texts    []string // a paragraph each
}

// Tone is the colour of an answer.
type Tone string

// The tones.
const (
	Bad  Tone = "bad"
	Open Tone = "open"
	Good Tone = "good"
)

// Section is a heading with its parts.
type Section struct {
	Title string
	Parts []Part
}

// Write writes the document as a page. An error of a picture names its section.
func (d *Doc) Write(w io.Writer) error {
	t, err := page.Template(body, nil)
	if err != nil {
		return err
	}
	html, err := d.fill(t, "page")
	if err != nil {
		return err
	}
	whole := page.Document{Title: d.Title + " – " + d.Kind, Body: html}
	return whole.Write(w)
}

// html is the document as a part of another page: verdict, cards and sections.
func (d *Doc) html(t *template.Template) (template.HTML, error) { return d.fill(t, "main") }

// fill runs a template.
func (d *Doc) fill(t *template.Template, name string) (template.HTML, error) {
	v := bodies{Doc: d}
	for i := range d.Sections {
		one, err := join(t, d.Sections[i].Parts)
		if err != nil {
			return "", fmt.Errorf("section %q: %w", d.Sections[i].Title, err)
		}
		v.Bodies = append(v.Bodies, titled{d.Sections[i].Title, one})
	}
	return execute(t, name, &v)
}

// HTML is a part inside of a page of another kind.
func HTML(p Part) (template.HTML, error) {
	t, err := page.Template(body, nil)
	if err != nil {
		return "", err
	}
	return p.html(t)
}

// bodies is the data of the template.
type bodies struct {
	*Doc
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
