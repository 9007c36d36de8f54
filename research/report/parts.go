package report

import (
	"html/template"

	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/view/chart"
	"github.com/tidemark-trading/tidemark/view/page"
)

// A Part is a piece of a section: Text, Note, Warning, Figure, Table, Findings, Commands, Choice or
// Fold.
type Part interface {
	html(t *template.Template) (template.HTML, error)
}

// Text is a paragraph.
type Text string

func (x Text) html(t *template.Template) (template.HTML, error) { return execute(t, "text", x) }

// Note is a quiet paragraph, such as the explanation below a table.
type Note string

func (x Note) html(t *template.Template) (template.HTML, error) { return execute(t, "note", x) }

// Warning is a paragraph in the colour of a warning.
type Warning string

func (x Warning) html(t *template.Template) (template.HTML, error) { return execute(t, "warning", x) }

// Figure is a picture with its explanation below: what it shows, and what it does not say. It is
// drawn for wide and for narrow screens, so the chart's Width counts for nothing.
type Figure struct {
	Chart   chart.Chart
	Caption string
}

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

// Table is a table of texts: the first column to the left, the others to the right. A narrow screen
// shows each row as a block with the titles.
type Table struct {
	page.Grid
	Class string // "texts": all columns to the left; "slim": no wider than it must be; or both
}

func (x Table) html(t *template.Template) (template.HTML, error) { return execute(t, "table", x) }

// Finding is a figure with the sentences that belong to it.
type Finding struct {
	Name, Value   string
	Says, SaysNot string // complete sentences
}

// FindingOf is a figure of the statistics with its explanation. The value is a text, such as
// "0.043", or why there is none.
func FindingOf(f stats.Figure, value string) Finding {
	e := stats.Explain(f)
	return Finding{e.Name, value, e.Says, e.SaysNot}
}

// Findings is a list of figures with what each says and does not say.
type Findings []Finding

func (x Findings) html(t *template.Template) (template.HTML, error) { return execute(t, "findings", x) }

// Commands are lines to copy into a shell.
type Commands []string

func (x Commands) html(t *template.Template) (template.HTML, error) { return execute(t, "commands", x) }

// Choice shows one of its options; the reader chooses which. Without the page's script all of them
// stand below each other.
type Choice struct {
	Label   string // before the list of names
	Options []Option
}

// Option is one of a Choice. Names differ.
type Option struct {
	Name  string
	Parts []Part
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

// Fold is what a reader opens by a click.
type Fold struct {
	Title string
	Parts []Part
}

func (x Fold) html(t *template.Template) (template.HTML, error) {
	inside, err := join(t, x.Parts)
	if err != nil {
		return "", err
	}
	return execute(t, "fold", titled{x.Title, inside})
}

// Upright is a vertical line at x, from zero up to a height: a bar that a distribution is held
// against.
func Upright(name string, role chart.Role, x, height float64) chart.Line {
	return chart.Line{Name: name, Role: role, Width: 2, Points: []chart.Point{{X: x}, {X: x, Y: height}}}
}
