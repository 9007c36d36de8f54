package research

import (
	"cmp"
	"encoding/csv"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// SetRow is a set as a table has it.
type SetRow struct {
	*Try
	Settings []Setting
	// Excess is the annual Sharpe ratio in excess of a hold at the set's own mean exposure.
	Excess backtest.Figure
	SameAs uint64 // the first set with the same daily returns
}

// Figure is the figure of a name.
func (r *SetRow) Figure(name string) backtest.Figure { return backtest.Figure(r.Figures.Of(name)) }

// Rows are tries over the whole range as a table has them. Each row is read when it is asked for.
func (f *Found) Rows(tries []*Try) iter.Seq[SetRow] {
	first := map[uint64]uint64{}
	for _, t := range f.Tries {
		if set, is := first[t.series]; !is || t.Set < set {
			first[t.series] = t.Set
		}
	}
	return func(yield func(SetRow) bool) {
		for _, t := range tries {
			row := SetRow{Try: t, Settings: f.sweep.job.Space.Settings(t.Set), Excess: backtest.Figure(math.NaN()),
				SameAs: first[t.series]}
			if record, _, err := f.sweep.records(t); err == nil {
				row.Excess = backtest.Figure(stats.Annual(record.Sharpe))
			}
			if !yield(row) {
				return
			}
		}
	}
}

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
	for t := range f.Rows(f.byNumber()) {
		row := []string{strconv.FormatUint(t.Set, 10)}
		for _, one := range t.Settings {
			row = append(row, one.Value)
		}
		row = append(row, backtest.Figure(t.Value).Cell())
		for _, x := range t.Figures {
			row = append(row, backtest.Figure(x).Cell())
		}
		_ = out.Write(append(row, t.Excess.Cell(), strconv.FormatBool(t.fits), strconv.FormatBool(t.halted),
			strconv.FormatUint(t.SameAs, 10)))
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

// byNumber are the tries in the order of their numbers.
func (f *Found) byNumber() []*Try {
	return slices.SortedStableFunc(slices.Values(f.Tries), func(a, b *Try) int { return cmp.Compare(a.Set, b.Set) })
}
