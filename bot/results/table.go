package results

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// maxRows is the number of rows of a Table.
const maxRows = 200

// Table is the end of a CSV file.
type Table struct {
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`            // the last ones, at most 200
	Total int        `json:"total"`           // rows of the file
	Error string     `json:"error,omitempty"` // why it ends early
}

// Column is the place of a column; -1: the table does not have it.
func (t *Table) Column(name string) int { return slices.Index(t.Head, name) }

// readTable reads the last rows of a CSV file; a file that is not there is an empty table.
func readTable(root *os.Root, name string) Table {
	t := Table{Head: []string{}, Rows: [][]string{}}
	on, info, err := openFile(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return t
	}
	if err == nil && info.Size() > maxTable {
		err = errors.Join(fmt.Errorf("%s has %d MB, and a page reads at most %d", name, info.Size()>>20, maxTable>>20),
			on.Close())
		on = nil
	}
	if err != nil {
		t.Error = plain(err)
		return t
	}
	defer on.Close()
	rows := csv.NewReader(io.LimitReader(on, maxTable))
	if t.Head, err = rows.Read(); err != nil {
		return Table{Head: []string{}, Rows: t.Rows, Error: fmt.Sprintf("%s has no first line", name)}
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Error = fmt.Sprintf("%s: %v", name, err)
			break
		}
		t.Total++
		if t.Rows = append(t.Rows, row); len(t.Rows) == 2*maxRows {
			t.Rows = slices.Clone(t.Rows[maxRows:])
		}
	}
	t.Rows = t.Rows[max(len(t.Rows)-maxRows, 0):]
	return t
}
