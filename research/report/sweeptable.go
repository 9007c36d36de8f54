package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/page"
)

// The most sets of the table of a page, those that it shows at once, and the most hills.
const (
	tableSets  = 200
	tableFirst = 20
	tableHills = 10
)

// setColumns are the titles of a set's row, without its order.
func (s *Sweep) setColumns() (head []string) {
	for i, d := range s.Space.Dimensions() {
		if len(d.Values) > 1 {
			head = append(head, s.Space.Names()[i])
		}
	}
	if s.ownObjective() {
		head = append(head, "objective")
	}
	head = append(head, "Sharpe", "in excess")
	for _, c := range topColumns {
		head = append(head, c.title)
	}
	return head
}

// ownObjective reports whether the objective is a figure that no other column has.
func (s *Sweep) ownObjective() bool {
	return s.Outcome.Objective != "sharpe" && s.Outcome.Objective != "return"
}

// setCells are the texts of setColumns.
func (s *Sweep) setCells(r *research.SetRow) (row []string) {
	for i, d := range s.Space.Dimensions() {
		if len(d.Values) > 1 {
			row = append(row, r.Settings[i].Value)
		}
	}
	if s.ownObjective() {
		row = append(row, figure(r.Value, 3))
	}
	row = append(row, r.Figure("sharpe").Text(2), r.Excess.Text(2))
	for _, c := range topColumns {
		row = append(row, research.FigureText(c.name, r.Figure(c.name)))
	}
	return row
}

// table are the best sets, one for each series of returns, sortable.
func (s *Sweep) table() []view.Part {
	var ranked []*research.Try
	for _, t := range s.Found.Tries {
		if t.Ranked() {
			ranked = append(ranked, t)
		}
	}
	grid, seen := page.Grid{Head: append([]string{"#"}, s.setColumns()...)}, map[uint64]bool{}
	for r := range s.Found.Rows(ranked) {
		if seen[r.SameAs] {
			continue
		}
		if seen[r.SameAs] = true; len(grid.Rows) == tableSets {
			break
		}
		grid.Rows = append(grid.Rows, append([]string{fmt.Sprint(len(grid.Rows) + 1)}, s.setCells(&r)...))
	}
	if len(grid.Rows) == 0 {
		return nil
	}
	return []view.Part{view.Sorted{Grid: grid, First: tableFirst}, view.Page{Part: view.Note(fmt.Sprintf(
		"The best %s of %s sets by %s; sets with equal returns stand once. The same command with --export FILE.csv "+
			"writes all sets with all figures.", number(len(grid.Rows)), number(s.Outcome.Tried), s.objective()))}}
}

// hills are the best sets that no better one has as a neighbour: one set a plateau.
func (s *Sweep) hills() []view.Part {
	hills, missing := s.Found.Hills()
	if missing != "" {
		return []view.Part{view.Page{Part: view.Note("There is no such table: " + missing + ".")}}
	}
	says := "A plateau is a set whose neighbours on the grid keep at least half of its lead over the middle set; of " +
		"two such sets the lower one is left out where a way over the grid leads to the better one without falling " +
		"below that half. " + stats.Explain(stats.FigurePlateau).SaysNot
	if len(hills) == 0 {
		return []view.Part{view.Page{Part: view.Note("No set is a plateau. " + says)}}
	}
	grid := page.Grid{Head: append(s.setColumns(), "neighbours", "of its lead", "sets")}
	grid.Drop("fees")
	var tops []*research.Try
	for _, h := range hills[:min(len(hills), tableHills)] {
		tops = append(tops, s.Found.Try(uint64(h.Top)))
	}
	for r := range s.Found.Rows(tops) {
		h := &hills[len(grid.Rows)]
		cells := s.setCells(&r)
		at := slices.Index(s.setColumns(), "fees")
		cells = slices.Delete(cells, at, at+1)
		grid.Rows = append(grid.Rows, append(cells, figure(h.Plateau.Median, 2), figure(100*h.Plateau.Score, 0)+" %",
			number(h.Sets)))
	}
	if best := s.Found.Winner; best != nil && uint64(hills[0].Top) != best.Set {
		says = "The best set is no plateau: its neighbours do not share its lead. " + says
	}
	if left := len(hills) - tableHills; left > 0 {
		says = fmt.Sprintf("%s lower ones are left out. ", number(left)) + says
	}
	return []view.Part{view.Page{Part: view.Table{Grid: grid}}, view.Page{Part: view.Note(strings.TrimSpace(
		"Neighbours: the median " + s.objective() + " of those one step away. " + says))}}
}
