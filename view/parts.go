package view

import (
	"html/template"
	"strings"

	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

// A Part is a piece of a section: Text, Note, Warning, Figure, Small, Table, Sorted, Findings,
// Commands, Choice, Fold, Terminal, Page or a whole Doc.
type Part interface {
	html(t *template.Template) (template.HTML, error)
	text(w *Writer) // nothing: a terminal does not show it
}

// Text is a paragraph.
type Text string

func (x Text) text(w *Writer) { w.Text("", string(x)) }

func (x Text) html(t *template.Template) (template.HTML, error) { return execute(t, "text", x) }

// Note is a quiet paragraph, such as the explanation below a table.
type Note string

func (x Note) text(w *Writer) { w.Text("", string(x)) }

func (x Note) html(t *template.Template) (template.HTML, error) { return execute(t, "note", x) }

// Warning is a paragraph in the colour of a warning.
type Warning string

func (x Warning) text(w *Writer) { w.Text("", "warning: "+string(x)) }

func (x Warning) html(t *template.Template) (template.HTML, error) { return execute(t, "warning", x) }

// Figure is a picture with its explanation below: what it shows, and what it does not say. It is
// drawn for wide and for narrow screens, so the chart's Width counts for nothing.
type Figure struct {
	Chart   chart.Chart
	Caption string
}

func (Figure) text(*Writer) {}

func (f Figure) html(t *template.Template) (template.HTML, error) {
	picture, err := page.Draw(f.Chart)
	if err != nil {
		return "", err
	}
	return execute(t, "drawn", struct {
		Picture page.Picture
		Caption string
	}{picture, f.Caption})
}

// Small are pictures side by side, each drawn once for a narrow screen, such as one for each
// parameter. A terminal does not show them.
type Small []Figure

func (Small) text(*Writer) {}

func (x Small) html(t *template.Template) (template.HTML, error) {
	type small struct {
		Picture template.HTML
		Caption string
	}
	var all []small
	for _, f := range x {
		picture, err := page.Small(f.Chart)
		if err != nil {
			return "", err
		}
		all = append(all, small{picture, f.Caption})
	}
	return execute(t, "small", all)
}

// Table is a table of texts: the first column to the left, the others to the right. A narrow screen
// shows each row as a block with the titles. A terminal shows a table of one
// column, and one of texts that is too wide, as a list.
type Table struct {
	page.Grid
	Class string // "texts": all columns to the left; "slim": no wider than it must be; or both
}

func (x Table) text(w *Writer) {
	left := 1
	if strings.Contains(x.Class, "texts") {
		left = len(x.Head)
	}
	if widths, all := widthsOf(x.Grid); len(x.Head) > left || left > 1 && all <= w.width {
		w.table(x.Grid, widths, left)
		return
	}
	for _, row := range x.Rows {
		rest := ""
		for i, cell := range row[1:] {
			if cell != "" {
				rest += [...]string{": ", "; "}[min(i, 1)] + x.Head[i+1] + " " + cell
			}
		}
		w.Text("  ", row[0]+rest)
	}
}

func (x Table) html(t *template.Template) (template.HTML, error) { return execute(t, "table", x) }

// Sorted is a Table that a reader sorts by any column, over all rows; the first column has their
// order, from 1. The page's script shows the first rows until the reader asks for all; without the
// script all stand there. A terminal does not show it.
type Sorted struct {
	page.Grid
	First int // rows that are shown at once
}

func (Sorted) text(*Writer) {}

func (x Sorted) html(t *template.Template) (template.HTML, error) { return execute(t, "sorted", x) }

// Finding is a figure with the sentences that belong to it.
type Finding struct {
	Asks          string // the question that the figure answers, which a page shows in its place
	Name, Value   string
	Says, SaysNot string // complete sentences
}

// Findings is a list of figures with what each says and does not say. A page shows each question,
// or each figure without one; a click opens the sentences.
type Findings []Finding

func (x Findings) text(w *Writer) {
	for _, f := range x {
		w.Text("  ", f.Name+": "+f.Value+". "+f.Says+" "+f.SaysNot)
	}
}

func (x Findings) html(t *template.Template) (template.HTML, error) { return execute(t, "findings", x) }

// Commands are lines to copy into a shell.
type Commands []string

func (x Commands) text(w *Writer) { w.Line("  %s", strings.Join(x, "\n  ")) }

func (x Commands) html(t *template.Template) (template.HTML, error) { return execute(t, "commands", x) }

// Choice shows one of its options; the reader chooses which. Without the page's script all of them
// stand below each other. A terminal shows those that have text.
type Choice struct {
	Label   string // before the list of names
	Options []Option
}

// Option is one of a Choice. Names differ.
type Option struct {
	Name  string
	Parts []Part
}

func (x Choice) text(w *Writer) {
	if len(x.Options) == 1 {
		w.parts(x.Options[0].Parts)
		return
	}
	for _, o := range x.Options {
		w.section(o.Name, func(w *Writer) { w.parts(o.Parts) })
	}
}

func (x Choice) html(t *template.Template) (template.HTML, error) {
	options := make([]titled, len(x.Options))
	for i, o := range x.Options {
		one, err := join(t, o.Parts)
		if err != nil {
			return "", err
		}
		options[i] = titled{o.Name, one}
	}
	if len(options) == 1 {
		return options[0].Body, nil
	}
	return execute(t, "choice", struct {
		Label   string
		Options []titled
	}{x.Label, options})
}

// Fold is what a reader opens by a click. A terminal does not show it.
type Fold struct {
	Title string
	Parts []Part
}

func (Fold) text(*Writer) {}

func (x Fold) html(t *template.Template) (template.HTML, error) {
	inside, err := join(t, x.Parts)
	if err != nil {
		return "", err
	}
	return execute(t, "fold", titled{x.Title, inside})
}

// Terminal is a part that only a terminal shows, such as a table in the place of a picture; Page is
// one that only a page shows.
type (
	Terminal struct{ Part }
	Page     struct{ Part }
)

func (Terminal) html(*template.Template) (template.HTML, error) { return "", nil }

func (Page) text(*Writer) {}

// Upright is a vertical line at x, from zero up to a height: a bar that a distribution is held
// against.
func Upright(name string, role chart.Role, x, height float64) chart.Line {
	return chart.Line{Name: name, Role: role, Width: 2, Points: []chart.Point{{X: x}, {X: x, Y: height}}}
}
