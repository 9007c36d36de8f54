package trials

import (
	"cmp"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// Family is all tries over candles that overlap: two tries belong to one family if they share a
// market and a part of their ranges, or if other tries join them.
type Family struct {
	Strategies []string // sorted
	Markets    []string // sorted
	From, To   int64    // of all ranges, Unix milliseconds
	Tries      int64    // different ones
	Series     int64    // different series of returns among them
	First      int64    // when the first try was made, Unix milliseconds
	Last       int64
	Best       Best
}

// Best is the try of a family whose Sharpe ratio is the furthest from luck: the greatest ratio
// times the root of its days, because ratios of ranges of different length do not compare.
type Best struct {
	Strategy string
	Sharpe   float64 // annual, in excess of a hold at the try's own exposure
	Days     int
	Trips    int // round trips
	// Bar is the annual Sharpe ratio that the best of as many worthless, independent series exceeds
	// in 5 of 100 cases, on as many days.
	Bar float64
}

// level is the share of families without an edge whose best exceeds the bar.
const level = 0.05

// Families are all families, the latest first.
func (v *View) Families() ([]Family, error) {
	all := make([]Family, v.families)
	for i := range v.origins {
		all[v.family[i]].join(&v.origins[i], &v.sums[i])
	}
	family := func(f *frame) (uint64, bool) { return uint64(v.family[f.origin]), true }
	err := v.count(family, func(family uint64) { all[family].Tries++ }, func(family uint64) { all[family].Series++ })
	if err != nil {
		return nil, err
	}
	for i := range all {
		f := &all[i]
		if years := float64(f.Best.Days) / stats.DaysPerYear; years > 0 {
			f.Best.Bar = stats.Bar(int(f.Series), level, years)
		}
	}
	slices.SortStableFunc(all, func(a, b Family) int { return cmp.Compare(b.Last, a.Last) })
	return all, nil
}

// join adds an origin to the family.
func (f *Family) join(o *Origin, sum *sum) {
	if f.First == 0 {
		f.From, f.To, f.First = o.From, o.To, sum.first
	}
	f.Strategies, f.Markets = union(f.Strategies, []string{o.Strategy}), union(f.Markets, o.Markets)
	f.From, f.To, f.First, f.Last = min(f.From, o.From), max(f.To, o.To), min(f.First, sum.first), max(f.Last, sum.last)
	b, best := sum.best, stats.Annual(sum.best.Sharpe)
	if b.Days > 0 && (f.Best.Days == 0 || far(best, b.Days) > far(f.Best.Sharpe, uint32(f.Best.Days))) {
		f.Best = Best{Strategy: o.Strategy, Sharpe: best, Days: int(b.Days), Trips: int(b.Trips)}
	}
}

// far orders Sharpe ratios by their distance from 0 in standard errors, about: it is the square of
// that, with its sign. A ratio without a value is the least.
func far(sharpe float64, days uint32) float64 {
	if !backtest.Figure(sharpe).Defined() {
		return math.Inf(-1)
	}
	return sharpe * math.Abs(sharpe) * float64(days)
}

func union(a, b []string) []string {
	a = append(a, b...)
	slices.Sort(a)
	return slices.Compact(a)
}

// View is a ledger as one pass over its file shows it. Its methods pass over the file again; they
// leave out origins that came meanwhile.
type View struct {
	Seals  []Seal // in their order, opened ones too
	Damage Damage // what could not be read

	reader
	ledger   *Ledger
	sums     []sum // by origin
	rows     int64
	family   []int // by origin
	families int
}

// sum is the summary of an origin.
type sum struct {
	first, last int64
	best        Try // of those over the most days: not of a rung of halving; without Days: none
}

// View reads the file once. A file that is not there has no tries. The memory grows with the
// number of different origins, not with that of tries. The error wraps ErrNewer where a newer
// program has written the file.
func (l *Ledger) View() (v *View, err error) {
	v = &View{ledger: l}
	v.Damage, err = l.visit(&v.reader, func(f *frame) error {
		if f.kind == kindTries {
			v.add(f)
		} else {
			v.seal(f)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	v.relate()
	return v, nil
}

// add adds a group.
func (v *View) add(f *frame) {
	if f.origin == len(v.sums) {
		v.sums = append(v.sums, sum{first: f.at, last: f.at})
	}
	one := &v.sums[f.origin]
	one.first, one.last = min(one.first, f.at), max(one.last, f.at)
	v.rows += int64(f.tries())
	for i := range f.tries() {
		t := f.try(i)
		if t.Days > one.best.Days || t.Days > 0 && t.Days == one.best.Days &&
			far(t.Sharpe, t.Days) > far(one.best.Sharpe, t.Days) {
			one.best = t
		}
	}
	v.look(f)
}

// relate finds the families: for each market, ranges in the order of their beginnings that overlap
// the ones before.
func (v *View) relate() {
	parent := make([]int, len(v.origins))
	byMarket := map[string][]int{}
	for i := range v.origins {
		parent[i] = i
		for _, m := range v.origins[i].Markets {
			byMarket[m] = append(byMarket[m], i)
		}
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, list := range byMarket {
		slices.SortFunc(list, func(a, b int) int { return cmp.Compare(v.origins[a].From, v.origins[b].From) })
		last := list[0] // of those so far, the one that ends last
		for _, i := range list[1:] {
			if v.origins[i].From < v.origins[last].To {
				a, b := root(i), root(last)
				parent[max(a, b)] = min(a, b)
			}
			if v.origins[i].To > v.origins[last].To {
				last = i
			}
		}
	}
	v.family = make([]int, len(v.origins))
	for i := range v.origins {
		if r := root(i); r == i {
			v.family[i] = v.families
			v.families++
		} else {
			v.family[i] = v.family[r]
		}
	}
}

// count calls try for each different key, and series for each different series of returns, among
// the tries of one salt. salt leaves frames out. The calls get the salt.
func (v *View) count(salt func(*frame) (uint64, bool), try, series func(salt uint64)) error {
	keys, returns := newCounter(v.rows), newCounter(v.rows)
	return v.passes(salt, func(of uint64, t Try) {
		keys.add(t.Key, of, of)
		returns.add(t.Series, of, of)
	}, func(pass, passes int) {
		keys.begin(pass, passes)
		returns.begin(pass, passes)
	}, func() {
		keys.end(try)
		returns.end(series)
	})
}

// passes passes over the file as often as so many tries need, and calls each for those of the
// frames that salt does not leave out.
func (v *View) passes(salt func(*frame) (uint64, bool), each func(salt uint64, t Try), begin func(pass, passes int),
	end func()) error {
	passes := passesOf(v.rows)
	for pass := range passes {
		begin(pass, passes)
		_, err := v.ledger.visit(&v.reader, func(f *frame) error {
			if f.kind != kindTries || f.origin >= len(v.family) {
				return nil // an origin that came after the view has no family
			}
			if of, wanted := salt(f); wanted {
				for i := range f.tries() {
					each(of, f.try(i))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		end()
	}
	return nil
}

// Span is markets over a range of time: the candles of a run.
type Span struct {
	Markets  []string
	From, To int64 // Unix milliseconds; To is exclusive
}

// overlaps reports whether two spans share a market and a part of their ranges.
func (s *Span) overlaps(markets []string, from, to int64) bool {
	return s.From < to && from < s.To &&
		slices.ContainsFunc(s.Markets, func(m string) bool { return slices.Contains(markets, m) })
}

// near are the families that a span overlaps.
func (v *View) near(span *Span) []bool {
	near := make([]bool, v.families)
	for i := range v.origins {
		o := &v.origins[i]
		near[v.family[i]] = near[v.family[i]] || span.overlaps(o.Markets, o.From, o.To)
	}
	return near
}

// Standing is how many tries the families have that a span overlaps.
type Standing struct {
	Tries  int64 // different ones
	Series int64 // different series of returns among them
	New    bool  // the own try is not in the ledger
}

// Standing counts the tries of the families that a span overlaps, with an own one, which may be
// nil.
func (v *View) Standing(span Span, own *Try) (st Standing, err error) {
	near := v.near(&span)
	salt := func(f *frame) (uint64, bool) { return 0, near[v.family[f.origin]] }
	keys, series := newCounter(v.rows+1), newCounter(v.rows+1)
	st.New = own != nil
	err = v.passes(salt, func(_ uint64, t Try) {
		keys.add(t.Key, 0, 0)
		series.add(t.Series, 0, 0)
		st.New = st.New && t.Key != own.Key
	}, func(pass, passes int) {
		keys.begin(pass, passes)
		series.begin(pass, passes)
	}, func() {
		if own != nil {
			keys.add(own.Key, 0, 0)
			series.add(own.Series, 0, 0)
		}
		keys.end(func(uint64) { st.Tries++ })
		series.end(func(uint64) { st.Series++ })
	})
	return st, err
}

// Spread is that of the different series of the span's own range, without those that were chosen
// near good ones. Sharpe ratios of other ranges do not compare.
func (v *View) Spread(span Span) (spread stats.Spread, err error) {
	near := v.near(&span)
	salt := func(f *frame) (uint64, bool) {
		o := &v.origins[f.origin]
		return 0, near[v.family[f.origin]] && !f.crowded && o.From == span.From && o.To == span.To
	}
	series := newCounter(v.rows)
	err = v.passes(salt, func(_ uint64, t Try) { series.add(t.Series, 0, math.Float64bits(t.Sharpe)) }, series.begin,
		func() {
			series.sort() // so that the sums have one order
			series.end(func(sharpe uint64) { spread.Add(math.Float64frombits(sharpe)) })
		})
	return spread, err
}

// Missing are the tries of groups that the ledger does not have.
func (l *Ledger) Missing(groups []Group) (missing []Group, err error) {
	want := map[uint64]bool{}
	for i := range groups {
		for _, t := range groups[i].Tries {
			want[t.Key] = true
		}
	}
	if len(want) == 0 {
		return nil, nil
	}
	_, err = l.visit(&reader{}, func(f *frame) error {
		for i := range f.tries() {
			delete(want, f.try(i).Key)
		}
		return nil
	})
	for _, g := range groups {
		g.Tries = slices.DeleteFunc(slices.Clone(g.Tries), func(t Try) bool { return !want[t.Key] })
		if len(g.Tries) > 0 {
			missing = append(missing, g)
		}
	}
	return missing, err
}
