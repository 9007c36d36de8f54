package bot

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// table is a table of texts for a terminal. Where the terminal is too narrow, it gives up columns.
type table struct {
	heads []string
	rows  [][]string
}

// width is the number of terminal columns that the table takes.
func (t *table) width() int {
	all := 2 * (len(t.heads) - 1)
	for i, head := range t.heads {
		most := utf8.RuneCountInString(head)
		for _, row := range t.rows {
			most = max(most, utf8.RuneCountInString(row[i]))
		}
		all += most
	}
	return all
}

// drop removes a column, and reports whether there was one.
func (t *table) drop(head string) bool {
	at := slices.Index(t.heads, head)
	if at < 0 {
		return false
	}
	t.heads = slices.Delete(t.heads, at, at+1)
	for i := range t.rows {
		t.rows[i] = slices.Delete(t.rows[i], at, at+1)
	}
	return true
}

// narrow gives up columns in the order of spare until the table fits, and returns their heads.
// Width 0 fits everything.
func (t *table) narrow(width int, spare []string) (gone []string) {
	for _, head := range spare {
		if width > 0 && t.width() > width && t.drop(head) {
			gone = append(gone, head)
		}
	}
	return gone
}

// write prints the table within a width, and says which columns are not shown.
func (t *table) write(w io.Writer, width int, spare []string) error {
	gone := t.narrow(width, spare)
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.heads}, t.rows...) {
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
	if err := out.Flush(); err != nil || len(gone) == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "no room for %s; --csv has all\n", strings.Join(gone, ", "))
	return err
}
