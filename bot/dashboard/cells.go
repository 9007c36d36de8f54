package dashboard

import (
	"fmt"
	"html/template"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/page"
)

// Cell is a text of a table or a card. The script changes the text of cells with an ID.
type Cell struct {
	ID     string
	Text   string
	Path   string // of a link; empty: none
	Signed bool   // red if it begins with a minus, green if with a plus
	Class  string // left, bad, wait; empty: none
	Bar    bool   // a bar of Part stands below the text
	Part   int    // 0 to 100
	Links  []Link // of the actions in the cell, after its text
}

// Classes are the CSS classes of the cell.
func (c Cell) Classes() string {
	classes := c.Class
	if c.Signed {
		classes += " signed"
		switch {
		case strings.HasPrefix(c.Text, "-"):
			classes += " down"
		case strings.HasPrefix(c.Text, "+"):
			classes += " up"
		}
	}
	return strings.TrimSpace(classes)
}

// Place is the CSS class of the cell's place in a table: long texts take a whole line of a phone.
func (c Cell) Place() string {
	if utf8.RuneCountInString(c.Text) > longText {
		return strings.TrimSpace(c.Class + " long")
	}
	return c.Class
}

// longText is the number of letters that fit half a line of a phone, about twice.
const longText = 40

// Table is a table. On a phone each row is a card, with the titles of Head beside its cells.
type Table struct {
	Title string
	Head  []string
	Rows  []Row
	Empty string // said where there are no rows
}

// HeadClass is the class of the title of a column: titles of texts stand left, as the texts do.
func (t Table) HeadClass(column int) string {
	for _, row := range t.Rows {
		if strings.HasPrefix(row.Cells[column].Class, "left") {
			return "left"
		}
	}
	return ""
}

// Row is a row of a table.
type Row struct{ Cells []Cell }

// Card is a headline figure.
type Card struct {
	Title string
	Value Cell
	Note  Cell
}

// row makes a row of texts.
func row(cells ...Cell) Row { return Row{cells} }

// text is for texts and numbers; as in live and signed, a number is grouped. left is for names.
func text(t string) Cell { return Cell{Text: page.Number(t)} }

func left(t string) Cell { return Cell{Text: t, Class: "left"} }

func live(id, t string) Cell { return Cell{ID: id, Text: page.Number(t)} }

// signed adds the plus that tells a gain from a plain number.
func signed(id, amount string) Cell {
	if amount != "" && amount != "–" && !strings.HasPrefix(amount, "-") && strings.Trim(amount, "0.") != "" {
		amount = "+" + amount
	}
	return Cell{ID: id, Text: page.Number(amount), Signed: true}
}

// moment is a time as a person reads it; 0: unknown.
func moment(ms int64, zone *time.Location) string {
	if ms == 0 {
		return "–"
	}
	return time.UnixMilli(ms).In(zone).Format("2006-01-02 15:04:05")
}

// age is how long ago a time was.
func age(ms, nowMS int64) string {
	if ms == 0 {
		return "never"
	}
	d := time.Duration(max(0, nowMS-ms)) * time.Millisecond
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// percent is a part as a percentage with two decimals; nil: unknown.
func percent(part *float64) string {
	if part == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f %%", *part*100)
}

// Live collects the texts of the cells that the script can change, by their IDs: the data of an
// event.
func Live(cells ...Cell) map[string]string {
	texts := map[string]string{}
	for _, c := range cells {
		if c.ID != "" {
			texts[c.ID] = c.Text
		}
	}
	return texts
}

// Cells are all cells of the table.
func (t Table) Cells() (cells []Cell) {
	for i := range t.Rows {
		cells = append(cells, t.Rows[i].Cells...)
	}
	return cells
}

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
	// Story is the life of an order, step by step.
	Story []StoryStep
	// Progress is a bar; without a total nothing is shown.
	Progress struct{ Done, Total int }
	// Choices are links behind a label; without any nothing is shown.
	Choices struct {
		Label string
		Of    []Choice
	}
	// Buttons are links to actions, in the colour of an alarm.
	Buttons []Link
	// Fold is a title that opens parts.
	Fold struct {
		Title string
		Parts Parts
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
