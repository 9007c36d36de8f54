package dashboard

import (
	"html/template"
	"reflect"
	"strings"

	"github.com/tidemark-trading/tidemark/view"
)

// Parts are what a page shows, in their order: the types of this file, Table, results.Standing, and
// view.Part. The template of a type has its name.
type Parts []any

type (
	// Name is that of a result or a search.
	Name string
	// Cards are headline figures.
	Cards []Card
	// Warnings are a list in the colour of a warning; without any nothing is shown.
	Warnings []string
	// Verdict is a box of paragraphs; without any nothing is shown.
	Verdict []string
	// List is a list of sentences.
	List []string
	// Hashes are texts that need no reader.
	Hashes []string
	// Story is what became of an order, step by step.
	Story []StoryStep
	// Progress is a bar; without a total nothing is shown.
	Progress struct{ Done, Total int }
	// Choices are links behind a label; without any nothing is shown.
	Choices struct {
		Label string
		Of    []Choice
	}
	// Section is a title with parts.
	Section struct {
		Title string
		Parts Parts
	}
)

// partOf is the function of templates that shows a part.
func partOf(t *template.Template) func(any) (template.HTML, error) {
	return func(x any) (template.HTML, error) {
		if p, is := x.(view.Part); is {
			return view.HTML(p)
		}
		var out strings.Builder
		err := t.ExecuteTemplate(&out, reflect.TypeOf(x).Name(), x)
		return template.HTML(out.String()), err
	}
}

// Live are the texts that an event of this page carries.
func (p Parts) Live() map[string]string {
	var cells []Cell
	for _, one := range p {
		switch x := one.(type) {
		case Cards:
			for _, c := range x {
				cells = append(cells, c.Value, c.Note)
			}
		case Table:
			cells = append(cells, x.Cells()...)
		}
	}
	return Live(cells...)
}
