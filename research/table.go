package research

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// WriteSets writes a CSV with a row for each set that ran over the whole range, by number: its
// settings by their keys, the objective, all figures, and whether it meets the requirements. A
// figure without a value is empty. same_as is the first set with the same daily returns.
func (f *Found) WriteSets(w io.Writer) error {
	s := f.sweep
	head := []string{"set"}
	for _, d := range s.job.Space.dims {
		head = append(head, d.Key)
	}
	head = append(append(head, "objective"), FigureNames()...)
	head = append(head, "excess_sharpe", "meets_requirements", "halted", "same_as")
	out := csv.NewWriter(w)
	_ = out.Write(head) // Error has it, as of all rows
	first := map[uint64]uint64{}
	for _, t := range f.byNumber() {
		row := []string{strconv.FormatUint(t.Set, 10)}
		for _, one := range s.job.Space.Settings(t.Set) {
			row = append(row, one.Value)
		}
		row = append(row, backtest.Figure(t.Value).Cell())
		for _, x := range t.Figures {
			row = append(row, backtest.Figure(x).Cell())
		}
		excess := ""
		if record, _, err := s.records(t); err == nil {
			excess = backtest.Figure(stats.Annual(record.Sharpe)).Cell()
		}
		if _, is := first[t.series]; !is {
			first[t.series] = t.Set
		}
		_ = out.Write(append(row, excess, strconv.FormatBool(t.fits), strconv.FormatBool(t.halted),
			strconv.FormatUint(first[t.series], 10)))
	}
	out.Flush()
	return out.Error()
}

// WriteDays writes a CSV with a row for each day of each set of WriteSets: the return of the equity
// on that UTC day, and the return in excess of a hold at the set's own mean exposure.
func (f *Found) WriteDays(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"set", "date", "return", "excess"})
	var own, excess []float64
	for _, t := range f.byNumber() {
		own, excess = slices.Grow(own[:0], t.days)[:t.days], slices.Grow(excess[:0], t.days)[:t.days]
		if err := cmp.Or(f.Returns(t, own), f.Excess(t, excess)); err != nil {
			return err
		}
		for i := range own {
			date := time.Unix((int64(t.first)-1+int64(i))*86400, 0).UTC().Format(time.DateOnly)
			_ = out.Write([]string{strconv.FormatUint(t.Set, 10), date, backtest.Figure(own[i]).Cell(),
				backtest.Figure(excess[i]).Cell()})
		}
	}
	out.Flush()
	return out.Error()
}

// byNumber are the tries over the whole range.
func (f *Found) byNumber() (list []*Try) {
	for _, t := range f.Tries {
		if t.rung == 0 {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b *Try) int { return cmp.Compare(a.Set, b.Set) })
	return list
}
