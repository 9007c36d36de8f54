package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Superior is the result of SPA for the best of all sets of a search against a benchmark: the
// benchmark is in the returns, which are in excess of it.
type Superior struct {
	Sets, Days int
	Flat       int     // sets whose returns never change; they count as sets with a mean of 0
	Block      float64 // mean block of the bootstrap, in days
	Resamples  int

	Best      int     // the set with the greatest studentised mean; of equal ones the first
	Statistic float64 // V: √T·mean ÷ long-run standard deviation of the best, at least 0
	// Consistent is the p-value: the share of searches like this on worthless data whose best set
	// looks at least as good. Lower and Upper bound it. Lower is liberal: no verdict may rest on
	// it.
	Lower, Consistent, Upper float64

	// White's reality check: the same without studentising, and with all sets recentred at their
	// own means, so that bad sets raise it.
	RealityBest      int
	RealityStatistic float64 // √T·mean, in returns
	RealityCheck     float64 // p-value

	worthless []float64 // the greatest V* of each resample, ascending
}

// PValueOf is the p-value of one set of the search, by the daily returns in excess that SPA read:
// the share of searches like this on worthless data whose best set looks at least as good as this
// one. That of the best set is Consistent; no other set has a lower one. The row is changed.
// Source: Westfall & Young 1993, the step of the maximum; White 2000.
func (s *Superior) PValueOf(row []float64) float64 {
	mean, deviation, _ := studentised(row, s.Block)
	return PValue(max(0, math.Sqrt(float64(len(row)))*mean/deviation), s.worthless)
}

// Detectable is the true Sharpe ratio per observation that one set needs, so that a share `power`
// of searches like this find it at a level.
// Source: Hansen 2005, the distribution of V*. Formula: (the level's quantile of V* + z_power)/√T.
func (s *Superior) Detectable(level, power float64) float64 {
	return (Quantile(1-level, s.worthless) + upper(1-power)) / math.Sqrt(float64(s.Days))
}

// Resampling says how SPA resamples. The zero value is no resampling: Resamples must be at least 1;
// 999 or more give a p-value of three digits.
type Resampling struct {
	Resamples int
	Block     float64 // mean block in days; 0 means MedianBlock
	Seed      uint64
}

// SPA is Hansen's test for superior predictive ability, studentised, with White's reality check:
// is the best of all sets of a search better than the best of as many worthless ones that are
// correlated like these? The returns must be all sets of the search, in excess of the benchmark.
// The result does not depend on workers, the number of goroutines.
//
// Errors: those of Returns.Row, returns that are not finite, fewer than three days, no set, no
// resample, a block below 1.
//
// Source: Hansen 2005, "A Test for Superior Predictive Ability"; White 2000, "A Reality Check for
// Data Snooping". Formulas: ω² = LongRunVariance; V = max(0, max_k √T·d_k/ω_k);
// V* = max(0, max_k √T·(d*_k − g_k)/ω_k); p = (1 + #{V* ≥ V})/(1 + Resamples).
// Lower: g = max(d, 0); Upper: g = d; Consistent: g = d if √T·d/ω ≥ −√(2 ln ln T), else 0.
func SPA(r Returns, how Resampling, workers int) (Superior, error) {
	if err := r.check(1, 3); err != nil {
		return Superior{}, err
	}
	if how.Resamples < 1 {
		return Superior{}, errors.New("a test by resampling needs at least one resample")
	}
	if how.Block == 0 {
		var err error
		if how.Block, err = MedianBlock(r, workers); err != nil {
			return Superior{}, fmt.Errorf("find the block length: %w", err)
		}
	}
	b := Bootstrap{Days: r.Days, Block: how.Block, Seed: how.Seed}
	if err := b.check(); err != nil {
		return Superior{}, err
	}
	days := make([]int, r.Days)
	draws := newDraws(r.Days, how.Resamples, func(number int) []int {
		b.Draw(number, days)
		return days
	})
	return spa(r, draws, how.Block, workers, true)
}

// spa is SPA over given draws; without studentise the statistic of SPA is that of the reality
// check, at least 0.
func spa(r Returns, d *draws, block float64, workers int, studentise bool) (Superior, error) {
	workers = max(1, min(workers, r.Sets))
	rows := newScratch(workers, r.Days)
	all := make([]*contest, workers)
	for i := range all {
		all[i] = newContest(d, block, studentise)
	}
	err := inParallel(workers, r.Sets, func(worker, set int) error {
		if err := r.read(set, rows[worker]); err != nil {
			return err
		}
		all[worker].add(set, rows[worker])
		return nil
	})
	if err != nil {
		return Superior{}, err
	}
	for _, other := range all[1:] {
		all[0].join(other)
	}
	result := all[0].result()
	result.Sets, result.Days, result.Block = r.Sets, r.Days, block
	return result, nil
}

// contest is the best of the sets so far, on the real days and in each resample.
type contest struct {
	*draws
	block      float64
	studentise bool
	sums       []float64 // of the resampled, centred returns of the set that is added

	flat          int
	spa, reality  leader
	lower, middle []float64 // the greatest V* of each resample
	upper, white  []float64
}

// leader is the set with the greatest statistic; of equal ones the lowest.
type leader struct {
	set       int
	statistic float64
}

func (l *leader) take(other leader) {
	if other.statistic > l.statistic || other.statistic == l.statistic && other.set < l.set {
		*l = other
	}
}

func newContest(d *draws, block float64, studentise bool) *contest {
	c := &contest{draws: d, block: block, studentise: studentise, sums: make([]float64, d.number),
		lower: make([]float64, d.number), middle: make([]float64, d.number), upper: make([]float64, d.number),
		white: make([]float64, d.number)}
	c.spa.statistic, c.reality.statistic = math.Inf(-1), math.Inf(-1)
	for i := range c.white {
		c.white[i] = math.Inf(-1)
	}
	return c
}

// add compares one set more. The row is changed.
func (c *contest) add(set int, row []float64) {
	n := float64(len(row))
	root, scale := math.Sqrt(n), 1.0
	mean, deviation, still := studentised(row, c.block)
	if still {
		c.flat++
	}
	t := root * mean / deviation
	c.reality.take(leader{set, root * mean})
	if c.studentise {
		scale = deviation
		c.spa.take(leader{set, t})
	} else {
		c.spa.take(leader{set, root * mean})
	}
	c.resample(row, c.sums)
	// A sum is n·(resampled mean − mean): what is added turns the recentring at the mean into that
	// of each bound.
	raise(c.upper, c.sums, 1/(root*scale), 0)
	raise(c.white, c.sums, 1/root, 0)
	raise(c.lower, c.sums, 1/(root*scale), root*min(mean, 0)/scale)
	if t >= -math.Sqrt(2*math.Log(math.Log(n))) {
		raise(c.middle, c.sums, 1/(root*scale), 0)
	} else {
		raise(c.middle, c.sums, 1/(root*scale), root*mean/scale)
	}
}

// studentised is the mean of returns and their long-run standard deviation; of returns that never
// change 0 and 1. It takes the mean from the row.
func studentised(row []float64, block float64) (mean, deviation float64, still bool) {
	mean, square := centre(row, row)
	long := longRunVariance(row, block)
	if long <= flat*square/float64(len(row)) {
		clear(row)
		return 0, 1, true
	}
	return mean, math.Sqrt(long), false
}

// raise keeps the greater of each maximum and of scale·sum + shift.
func raise(most, sums []float64, scale, shift float64) {
	most = most[:len(sums)]
	for i, sum := range sums {
		if x := scale*sum + shift; x > most[i] {
			most[i] = x
		}
	}
}

// join adds what another contest over the same draws has seen.
func (c *contest) join(other *contest) {
	c.flat += other.flat
	c.spa.take(other.spa)
	c.reality.take(other.reality)
	raise(c.lower, other.lower, 1, 0)
	raise(c.middle, other.middle, 1, 0)
	raise(c.upper, other.upper, 1, 0)
	raise(c.white, other.white, 1, 0)
}

func (c *contest) result() Superior {
	v, w := max(0, c.spa.statistic), c.reality.statistic
	return Superior{Flat: c.flat, Resamples: c.number, Best: c.spa.set, Statistic: v,
		Lower: PValue(v, c.lower), Consistent: PValue(v, c.middle), Upper: PValue(v, c.upper),
		RealityBest: c.reality.set, RealityStatistic: w, RealityCheck: PValue(w, c.white),
		worthless: slices.Sorted(slices.Values(c.middle))}
}

// tie is the part of a statistic by which another may fall short and still be equal: rounding. A
// set that trades seldom ties in earnest, where a resample has its days exactly twice.
const tie = 1e-10

// PValue is the p-value of a statistic by resampling: large statistics are evidence, and a tie
// counts as if the resample were better. A resampled NaN counts as better, too.
// Source: Davison & Hinkley 1997, "Bootstrap Methods and their Application".
// Formula: (1 + #{resampled ≥ real})/(1 + N).
func PValue(real float64, resampled []float64) float64 {
	if !math.IsInf(real, 0) {
		real -= tie * math.Abs(real)
	}
	count := 1
	for _, x := range resampled {
		if !(x < real) {
			count++
		}
	}
	return float64(count) / float64(1+len(resampled))
}
