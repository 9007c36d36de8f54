package backtest

import "github.com/tidemark-trading/tidemark/market"

// monthEnd is the month that is being recorded.
type monthEnd struct {
	index int64        // market.Interval1M.Index
	end   market.Time  // closes up to and including end belong to it
	begun market.Money // equity before its first close
}

// rollMonth closes the months before that of at.
func (r *recorder) rollMonth(at market.Time) {
	for at > r.month.end {
		r.closeMonth()
		r.month = monthOf(r.month.end+1, r.last.equity)
	}
}

func (r *recorder) closeMonth() {
	start := market.Interval1M.StartOf(r.month.index).Std()
	r.months = append(r.months, Month{
		Year: start.Year(), Month: int(start.Month()), Equity: r.amount(r.last.equity),
		Return: Figure(float64(r.last.equity)/float64(r.month.begun) - 1),
	})
}

// monthOf returns the month that a close at the given time belongs to; one at midnight belongs to
// the day before.
func monthOf(at market.Time, begun market.Money) monthEnd {
	index := market.Interval1M.Index(at - 1)
	return monthEnd{index, market.Interval1M.StartOf(index + 1), begun}
}
