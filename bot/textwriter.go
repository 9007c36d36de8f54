package bot

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidemark-trading/tidemark/backtest"
)

// textWriter builds the end of a command for a terminal: lines, paragraphs and tables.
type textWriter struct {
	strings.Builder
	width int // in characters, from 60 to 100
}

// newTextWriter is a textWriter as wide as a terminal.
func newTextWriter(terminal backtest.SummaryOptions) textWriter {
	if terminal.Width == 0 {
		return textWriter{width: 100}
	}
	return textWriter{width: min(max(terminal.Width, 60), 100)}
}

// line writes a line.
func (w *textWriter) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// text writes a paragraph over as many lines as it needs.
func (w *textWriter) text(first, format string, args ...any) {
	indent := strings.Repeat(" ", len(first))
	line := first
	for _, word := range strings.Fields(fmt.Sprintf(format, args...)) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > w.width && strings.TrimSpace(line) != "" {
			w.line("%s", line)
			line = indent
		}
		if strings.TrimSpace(line) != "" && line != first {
			line += " "
		}
		line += word
	}
	w.line("%s", line)
}

// table writes rows in columns, the ones up to left to the left.
func (w *textWriter) table(rows [][]string, left int) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i <= left {
				line.WriteString(cell + space + "  ")
			} else {
				line.WriteString(space + cell + "  ")
			}
		}
		w.line("%s", strings.TrimRight(line.String(), " "))
	}
}
