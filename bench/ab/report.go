package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// The verdicts on a row.
const (
	slower  = "slower"
	faster  = "faster"
	same    = "ok"
	onlyOld = "only in old"
	onlyNew = "only in new"
)

// verdict judges a row by its whole interval: slower above the bound, faster below its inverse,
// else ok.
func (c *comparison) verdict(r *result) string {
	switch {
	case len(r.new) == 0:
		return onlyOld
	case len(r.old) == 0:
		return onlyNew
	}
	low, high := c.interval.of(r.ratios)
	switch {
	case low > c.bound:
		return slower
	case high < 1/c.bound:
		return faster
	}
	return same
}

// report prints all rows, as a table or as JSON.
func (c *comparison) report() error {
	if c.json {
		return c.writeJSON()
	}
	where := "on no particular core"
	if c.core >= 0 {
		where = fmt.Sprintf("on core %d", c.core)
	}
	_, err := fmt.Fprintf(c.stdout, `old: %s
new: %s
%d pairs %s; ratio: cost of new divided by cost of old, the median of the pairs
interval: contains the true median in %.1f %% of comparisons; slower: the whole interval is above %g
`, c.old.revision, c.new.revision, c.pairs, where, 100*c.interval.covered, c.bound)
	if err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	if c.load[0] != "" {
		fmt.Fprintf(c.stdout, "load of the machine: %s before the pairs, %s after\n", c.load[0], c.load[1])
	}
	fmt.Fprintln(c.stdout)
	lines := [][]string{{"row", "unit", "old", "new", "ratio", "90 % interval", "verdict"}}
	for _, r := range c.results {
		lines = append(lines, c.line(r))
	}
	return writeTable(c.stdout, lines)
}

// line returns the cells of a row.
func (c *comparison) line(r *result) []string {
	cells := []string{r.row, r.unit, "", "", "", "", c.verdict(r)}
	if len(r.old) > 0 {
		cells[2] = fmt.Sprintf("%.4g", median(r.old))
	}
	if len(r.new) > 0 {
		cells[3] = fmt.Sprintf("%.4g", median(r.new))
	}
	if len(r.ratios) > 0 {
		low, high := c.interval.of(r.ratios)
		cells[4], cells[5] = fmt.Sprintf("%.3f", median(r.ratios)), fmt.Sprintf("%.3f to %.3f", low, high)
	}
	return cells
}

// writeTable writes lines as a Markdown table whose columns are aligned; the first line is the
// heading.
func writeTable(w io.Writer, lines [][]string) error {
	widths := make([]int, len(lines[0]))
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for number, cells := range lines {
		for i, cell := range cells {
			fmt.Fprintf(&text, "| %-*s ", widths[i], cell)
		}
		text.WriteString("|\n")
		if number == 0 {
			for _, width := range widths {
				text.WriteString("|" + strings.Repeat("-", width+2))
			}
			text.WriteString("|\n")
		}
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// comparisonJSON is the output of --json.
type comparisonJSON struct {
	Old     string    `json:"old"`
	New     string    `json:"new"`
	Pairs   int       `json:"pairs"`
	Core    *int      `json:"core"` // null where the system cannot bind a process to a core
	Covered float64   `json:"covered"`
	Bound   float64   `json:"bound"`
	Rows    []rowJSON `json:"rows"`
}

// rowJSON is a row of it; a row that one side lacks has null for the figures of both.
type rowJSON struct {
	Row     string    `json:"row"`
	Unit    string    `json:"unit"`
	Old     *float64  `json:"old"`
	New     *float64  `json:"new"`
	Ratio   *float64  `json:"ratio"`
	Low     *float64  `json:"low"`
	High    *float64  `json:"high"`
	Verdict string    `json:"verdict"`
	Ratios  []float64 `json:"ratios"` // of each pair, in order
}

func (c *comparison) writeJSON() error {
	all := comparisonJSON{Old: c.old.revision, New: c.new.revision, Pairs: c.pairs,
		Covered: c.interval.covered, Bound: c.bound}
	if c.core >= 0 {
		all.Core = &c.core
	}
	for _, r := range c.results {
		row := rowJSON{Row: r.row, Unit: r.unit, Verdict: c.verdict(r), Ratios: r.ratios}
		row.Old, row.New, row.Ratio = middle(r.old), middle(r.new), middle(r.ratios)
		if len(r.ratios) > 0 {
			low, high := c.interval.of(r.ratios)
			row.Low, row.High = &low, &high
		}
		all.Rows = append(all.Rows, row)
	}
	encoder := json.NewEncoder(c.stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}

// middle is the median of values, nil where there are none.
func middle(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	m := median(values)
	return &m
}
