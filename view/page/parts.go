package page

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/tidemark-trading/tidemark/view/chart"
)

// A Picture is drawn twice, for a wide and for a narrow screen: the letters of a picture that is
// made smaller cannot be read.
type Picture struct{ Wide, Narrow template.HTML }

const (
	wideWidth   = 1120
	narrowWidth = 400
	lower       = 0.85 // the height of a panel of the narrow picture
)

// Draw draws a chart for both screens. The chart's Width counts for nothing.
func Draw(c chart.Chart) (p Picture, err error) {
	c.Width = wideWidth
	wide, err := c.Element()
	if err != nil {
		return p, err
	}
	c.Width, c.Panels = narrowWidth, slices.Clone(c.Panels)
	for i := range c.Panels {
		c.Panels[i].Height *= lower
	}
	narrow, err := c.Element()
	return Picture{template.HTML(wide), template.HTML(narrow)}, err
}

// Small draws a chart for a narrow screen alone.
func Small(c chart.Chart) (template.HTML, error) {
	c.Width = narrowWidth
	svg, err := c.Element()
	return template.HTML(svg), err
}

// A Card is a headline figure. Class is "up", "down" or empty.
type Card struct{ Title, Value, Note, Class string }

// A Pair is a term with its text.
type Pair struct{ Name, Text string }

// A Cell has the title of its column, which a narrow screen shows beside it.
type Cell struct{ Title, Text, Class string }

// A Grid is a table of texts. Each row has a text for each title.
type Grid struct {
	Head []string
	Rows [][]string
}

// Cells are the rows with the title of each column.
func (g Grid) Cells() (rows [][]Cell) {
	for _, texts := range g.Rows {
		one := make([]Cell, len(texts))
		for i, text := range texts {
			one[i] = Cell{Title: g.Head[i], Text: text}
		}
		rows = append(rows, one)
	}
	return rows
}

// Drop takes a column out of the table, and reports whether there was one.
func (g *Grid) Drop(head string) bool {
	at := slices.Index(g.Head, head)
	if at < 0 {
		return false
	}
	g.Head = slices.Delete(g.Head, at, at+1)
	for i := range g.Rows {
		g.Rows[i] = slices.Delete(g.Rows[i], at, at+1)
	}
	return true
}

// parts are the templates that bodies of pages share: "picture" of a Picture, "cards" of a list of
// Card, "cells" of a list of Cell, "grid" of a Grid, "contents" of a list of Pair: the line of
// links that stays above the sections, each with the id and the title of one. thin is Thin.
const parts = `{{- define "picture"}}<figure><div class="wide">{{.Wide}}</div><div class="narrow">{{.Narrow}}</div>` +
	`</figure>{{end -}}
{{- define "cells"}}{{range .}}<td{{with .Title}} data-l="{{.}}"{{end}}{{with .Class}} class="{{.}}"{{end}}>` +
	`{{thin .Text}}</td>{{end}}{{end -}}
{{- define "grid"}}<table class="stack"><thead><tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr></thead>
<tbody>{{range .Cells}}<tr>{{template "cells" .}}</tr>
{{end}}</tbody></table>{{end -}}
{{- define "cards"}}<div class="cards">{{range .}}<div><span>{{.Title}}</span>` +
	`<b{{with .Class}} class="{{.}}"{{end}}>{{thin .Value}}</b><small>{{thin .Note}}</small></div>
{{end}}</div>{{end -}}
{{- define "contents"}}<nav class="contents" aria-label="Contents"><p>{{range .}}<a href="#{{.Name}}">{{.Text}}</a>
{{end}}</p></nav>{{end -}}
`

// Template reads the template of a body, which may use the shared parts.
func Template(body string, functions template.FuncMap) (*template.Template, error) {
	t, err := template.New("parts").Funcs(template.FuncMap{"thin": Thin}).Parse(parts)
	if err == nil {
		t, err = t.New("body").Funcs(functions).Parse(body)
	}
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return t, nil
}
