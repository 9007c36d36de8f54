package results

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
)

// Query chooses results and their order. The zero value is all of them, the newest first.
type Query struct {
	Strategy  string // kind; empty: all
	Market    string // empty: all
	Sort      string // a name of Orders; empty: changed
	Ascending bool   // the least first
}

// Results is the list of results: the answer of /api/v1/results.
type Results struct {
	Standing
	Strategies []string `json:"strategies"` // kinds in all results, sorted
	Markets    []string `json:"markets"`    // in all results, sorted
	Total      int      `json:"total"`      // results, those that the query leaves out included
	Results    []Entry  `json:"results"`
}

// orders are the figures by which a list can be sorted. What has no value comes last.
var orders = [...]struct {
	name string
	of   func(e *Entry) float64
}{
	{"changed", func(e *Entry) float64 { return float64(e.ChangedMS) }},
	{"from", func(e *Entry) float64 { return float64(e.From) }},
	{"to", func(e *Entry) float64 { return float64(e.To) }},
	{"return", func(e *Entry) float64 { return float64(e.Return) }},
	{"cagr", func(e *Entry) float64 { return float64(e.CAGR) }},
	{"sharpe", func(e *Entry) float64 { return float64(e.Sharpe) }},
	{"max_drawdown", func(e *Entry) float64 { return float64(e.Drawdown) }},
	{"round_trips", func(e *Entry) float64 { return float64(e.Trips) }},
	{"psr_p", func(e *Entry) float64 { return float64(e.P) }},
	{"tries", func(e *Entry) float64 {
		if e.Tries == nil {
			return math.NaN()
		}
		return float64(e.Tries.Series)
	}},
	{"fees", func(e *Entry) float64 { return e.Fees.Float() }},
	{"daily_returns", func(e *Entry) float64 { return float64(e.Days) }},
}

// Orders are the names by which results can be sorted, beside "name".
func Orders() (names []string) {
	for _, o := range orders {
		names = append(names, o.name)
	}
	return names
}

// Results lists results.
func (s *Folder) Results(q Query) (*Results, error) {
	less, err := q.order()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, err := s.look()
	if err != nil {
		return nil, err
	}
	r := &Results{Standing: seen.Standing, Strategies: []string{}, Markets: []string{}, Results: []Entry{}}
	for _, p := range seen.results {
		e := s.entries[p.path].value
		r.Total++
		r.Strategies, r.Markets = append(r.Strategies, e.Strategies...), append(r.Markets, e.Markets...)
		if q.wants(&e) {
			e.Tries = s.tries.of(&e)
			r.Results = append(r.Results, e)
		}
	}
	slices.Sort(r.Strategies)
	slices.Sort(r.Markets)
	r.Strategies, r.Markets = slices.Compact(r.Strategies), slices.Compact(r.Markets)
	slices.SortStableFunc(r.Results, less)
	return r, nil
}

// wants reports whether the query lets a result through.
func (q *Query) wants(e *Entry) bool {
	return (q.Strategy == "" || slices.Contains(e.Strategies, q.Strategy)) &&
		(q.Market == "" || slices.Contains(e.Markets, q.Market))
}

// order compares two results. Results that are equal in it stand by their names.
func (q *Query) order() (func(a, b Entry) int, error) {
	sort := cmp.Or(q.Sort, "changed")
	if sort == "name" {
		return func(a, b Entry) int {
			if q.Ascending {
				return strings.Compare(a.Name, b.Name)
			}
			return strings.Compare(b.Name, a.Name)
		}, nil
	}
	for _, o := range orders {
		if o.name != sort {
			continue
		}
		return func(a, b Entry) int {
			x, y := o.of(&a), o.of(&b)
			missing := func(e *Entry, v float64) bool {
				return !backtest.Figure(v).Defined() || e.Error != "" && sort != "changed"
			}
			switch p, q2 := missing(&a, x), missing(&b, y); {
			case p && q2:
				return strings.Compare(a.Name, b.Name)
			case p:
				return 1
			case q2:
				return -1
			}
			if !q.Ascending {
				x, y = y, x
			}
			return cmp.Or(cmp.Compare(x, y), strings.Compare(a.Name, b.Name))
		}, nil
	}
	return nil, WrongError{"sort: want name, " + strings.Join(Orders(), ", ")}
}
