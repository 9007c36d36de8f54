package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// DaysPerYear is the number of daily returns in a year: crypto markets never close.
const DaysPerYear = 365

// Annual is the annual Sharpe ratio of a daily one, without a correction for autocorrelation.
// Source: Lo 2002. Formula: SR·√365.
func Annual(daily float64) float64 { return daily * math.Sqrt(DaysPerYear) }

// Returns are the daily returns of all sets of one search. Every set has every day: a set without
// a return on some day would be compared with sets that have one. Equal series must be in it once.
// The zero value has no set.
type Returns struct {
	Sets, Days int
	// Row writes the returns of a set (0 to Sets−1) into a slice of Days numbers. Several
	// goroutines call it at a time, each with a slice of its own. It may be called more than once
	// for a set and must write the same numbers each time.
	Row func(set int, into []float64) error
}

// Rows are the returns of sets in memory; all rows must have one length. They are not copied.
func Rows(rows [][]float64) (Returns, error) {
	r := Returns{Sets: len(rows)}
	if len(rows) > 0 {
		r.Days = len(rows[0])
	}
	for set, row := range rows {
		if len(row) != r.Days {
			return Returns{}, fmt.Errorf("set %d has %d days, set 0 has %d", set, len(row), r.Days)
		}
	}
	r.Row = func(set int, into []float64) error {
		copy(into, rows[set])
		return nil
	}
	return r, nil
}

// Rows32 are the returns of sets in one slice, set by set: values[set*days+day]. They are not
// copied.
func Rows32(days int, values []float32) (Returns, error) {
	if days <= 0 || len(values)%days != 0 {
		return Returns{}, fmt.Errorf("%d returns are no whole number of sets of %d days", len(values), days)
	}
	return Returns{Sets: len(values) / days, Days: days, Row: func(set int, into []float64) error {
		for day, x := range values[set*days : (set+1)*days] {
			into[day] = float64(x)
		}
		return nil
	}}, nil
}

// read reads a row and refuses numbers that no return can be.
func (r *Returns) read(set int, into []float64) error {
	if err := r.Row(set, into); err != nil {
		return fmt.Errorf("read the returns of set %d: %w", set, err)
	}
	if day := slices.IndexFunc(into, notFinite); day >= 0 {
		return fmt.Errorf("the return of set %d on day %d is %v", set, day, into[day])
	}
	return nil
}

func notFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// check refuses a search that is too small for a figure.
func (r *Returns) check(sets, days int) error {
	if r.Sets < sets || r.Days < days {
		return fmt.Errorf("%d sets of %d days are too few: at least %d sets of %d days", r.Sets, r.Days, sets, days)
	}
	return nil
}

// Excess is the series of returns of a strategy above a hold at the strategy's own average
// exposure, with the same costs: returns[day] − hold[day]. In a rising market every long strategy
// earns something; the excess is what its timing earned. Both series must have the same days, and
// both must have begun after the warm-up.
// Source: the null hypothesis of PSR, DSR and SPA is a mean of 0, which raw returns of a rising
// market do not have.
func Excess(returns, hold []float64) ([]float64, error) {
	if len(returns) != len(hold) {
		return nil, fmt.Errorf("%d returns, but %d of the hold", len(returns), len(hold))
	}
	excess := make([]float64, len(returns))
	for day := range returns {
		excess[day] = returns[day] - hold[day]
	}
	return excess, nil
}

var errFlat = errors.New("the returns never change: a Sharpe ratio needs at least two different ones")
