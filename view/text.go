package view

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tidemark-trading/tidemark/view/page"
)

// Text is the document for a terminal of a width in characters; 0: unknown.
func (d *Doc) Text(width int) string {
	w := NewWriter(width)
	d.text(w)
	return w.String()
}

func (d *Doc) text(w *Writer) {
	w.Text("", d.Title)
	w.Text("", d.Lead)
	for i := range d.Sections {
		w.section(d.Sections[i].Title, func(w *Writer) { w.parts(d.Sections[i].Parts) })
	}
	w.section("Verdict", func(w *Writer) {
		w.Text("", d.Verdict.Answer)
		for _, warning := range d.Verdict.Warnings {
			w.Text("", "warning: "+warning)
		}
		for _, text := range d.Verdict.Texts {
			w.Text("", text)
		}
		if len(d.Verdict.Next) > 0 {
			w.Text("", "What to do next:")
		}
		for _, command := range d.Verdict.Next {
			w.Line("  %s", command)
		}
	})
}

// A Writer writes paragraphs and tables for a terminal.
type Writer struct {
	strings.Builder
	width int // in characters, from 60 to 100
}

// NewWriter is a Writer for a terminal of a width; 0: unknown.
func NewWriter(width int) *Writer {
	if width == 0 {
		width = 100
	}
	return &Writer{width: min(max(width, 60), 100)}
}

// section writes a title and its text; nothing where there is no text.
func (w *Writer) section(title string, write func(*Writer)) {
	inside := Writer{width: w.width}
	if write(&inside); inside.Len() == 0 {
		return
	}
	if w.Len() > 0 {
		w.WriteByte('\n')
	}
	w.Line("%s", title)
	w.WriteString(inside.String())
}

// parts writes parts with an empty line between them.
func (w *Writer) parts(list []Part) {
	for _, p := range list {
		inside := Writer{width: w.width}
		if p.text(&inside); inside.Len() > 0 && w.Len() > 0 {
			w.WriteByte('\n')
		}
		w.WriteString(inside.String())
	}
}

// Line writes a line.
func (w *Writer) Line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// Text writes a paragraph over as many lines as it needs; the first one begins with first, the
// others with as much space. An empty paragraph has no line.
func (w *Writer) Text(first, text string) {
	line, indent := first, strings.Repeat(" ", len(first))
	for _, word := range strings.Fields(text) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > w.width && strings.TrimSpace(line) != "" {
			w.Line("%s", line)
			line = indent
		}
		if strings.TrimSpace(line) != "" && line != first {
			line += " "
		}
		line += word
	}
	if text != "" {
		w.Line("%s", line)
	}
}

// WriteTable writes a table of texts, all columns to the left. Where a terminal is too narrow, it
// gives up columns of spare, the first one first, and names them; width 0 fits everything.
func WriteTable(out io.Writer, g page.Grid, width int, spare ...string) error {
	w := NewWriter(0)
	var gone []string
	for _, head := range spare {
		if _, all := widthsOf(g); width > 0 && all > width && g.Drop(head) {
			gone = append(gone, head)
		}
	}
	widths, _ := widthsOf(g)
	w.table(g, widths, len(g.Head))
	if len(gone) > 0 {
		w.Line("no room for %s; --csv has all", strings.Join(gone, ", "))
	}
	_, err := io.WriteString(out, w.String())
	return err
}

// widthsOf are the widths of the columns, and of the table.
func widthsOf(g page.Grid) (widths []int, all int) {
	widths, all = make([]int, len(g.Head)), -2
	for _, row := range append([][]string{g.Head}, g.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, one := range widths {
		all += one + 2
	}
	return widths, all
}

// table writes rows in columns, so many of them to the left.
func (w *Writer) table(g page.Grid, widths []int, left int) {
	for _, row := range append([][]string{g.Head}, g.Rows...) {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < left {
				line.WriteString(cell + space + "  ")
			} else {
				line.WriteString(space + cell + "  ")
			}
		}
		w.Line("%s", strings.TrimRight(line.String(), " "))
	}
}
