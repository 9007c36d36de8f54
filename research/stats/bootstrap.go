package stats

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Bootstrap draws the days of resampled series: blocks of days in turn, of random length, that
// begin on random days; after the last day comes the first. The same Days, Block, Seed and number
// give the same days on every machine.
// Source: Politis & Romano 1994, "The Stationary Bootstrap".
type Bootstrap struct {
	Days  int
	Block float64 // mean length of a block in days, at least 1; 1 draws each day by itself
	Seed  uint64
}

func (b Bootstrap) check() error {
	if b.Days < 1 || !(b.Block >= 1) || math.IsInf(b.Block, 0) {
		return fmt.Errorf("a bootstrap of %d days in blocks of %v: at least one day in blocks of at least 1", b.Days,
			b.Block)
	}
	return nil
}

// Draw writes the days (0 to Days−1) of resample `number` into a slice. Days must be at least 1; a
// Block below 1 counts as 1.
// Source: Politis & Romano 1994. The next day follows with probability 1 − 1/Block, else it is
// drawn from all days.
func (b Bootstrap) Draw(number int, into []int) {
	draws := newChance(b.Seed, uint64(number))
	leave := uint64(math.MaxUint64)
	if b.Block > 1 {
		leave = uint64(math.Ldexp(1/b.Block, 64))
	}
	day := b.Days
	for i := range into {
		if day++; i == 0 || draws.next() <= leave {
			day = draws.below(b.Days)
		} else if day == b.Days {
			day = 0
		}
		into[i] = day
	}
}

// chance is the generator SplitMix64 (Steele, Lea & Flood 2014): a counter that is hashed. Two
// streams of one seed begin at hashed places.
type chance struct{ counter uint64 }

func newChance(seed, stream uint64) *chance {
	start := chance{seed}
	start.counter = start.next() ^ stream*0xd1342543de82ef95
	return &chance{start.next()}
}

func (c *chance) next() uint64 {
	c.counter += 0x9e3779b97f4a7c15
	z := c.counter
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below draws a number from 0 to n−1.
func (c *chance) below(n int) int {
	high, _ := bits.Mul64(c.next(), uint64(n))
	return int(high)
}

// LongRunVariance is the variance of √n·mean over stationary bootstrap samples with a mean block of
// so many days (at least 1), in closed form; divide by n for the variance of the mean. 0 without
// values.
// Source: Politis & Romano 1994, Lemma 1. Formula: R(0) + 2Σ κ(i)·R(i), i = 1…n−1,
// κ(i) = (1−i/n)(1−p)^i + (i/n)(1−p)^(n−i), p = 1/block.
func LongRunVariance(values []float64, block float64) float64 {
	if len(values) == 0 {
		return 0
	}
	e, _ := centred(values)
	return longRunVariance(e, block)
}

// longRunVariance is that of centred values, in time proportional to n. With circular
// autocovariances C(i) = R(i) + R(n−i) the sum is Σ q^i·(1−i/n)·C(i), q = 1−p: each day times a
// sum over the days before it with falling weights, which two recursions carry from day to day.
func longRunVariance(e []float64, block float64) float64 {
	n, q := float64(len(e)), 1-1/block
	// plain = Σ q^i·e[t−i] and rising = Σ i·q^i·e[t−i], i = 1…n−1, days counted in a circle; here
	// at t = 0, where e[t−i] is e[n−i].
	var plain, rising float64
	for i, power := 1, q; i < len(e) && power != 0; i, power = i+1, power*q {
		plain += power * e[len(e)-i]
		rising += float64(i) * power * e[len(e)-i]
	}
	whole := math.Pow(q, n)
	var own, others float64
	for i, x := range e {
		own += x * x
		others += x * (plain - rising/n)
		rest := plain + x
		if i+1 < len(e) { // from day t to t+1: the day that leaves the circle is t+1 itself
			next := e[i+1]
			rising = q*(rising+rest) - n*whole*next
			plain = q*rest - whole*next
		}
	}
	return (own + 2*others) / n
}

// BlockLengths are the mean block lengths, in days, that suit a series.
type BlockLengths struct {
	Stationary, Circular float64 // for the stationary and the circular bootstrap; at least 1
}

// BlockLength estimates block lengths for a series from its autocorrelation. They are 1 if the
// values never change or are fewer than three.
// Source: Politis & White 2004, "Automatic Block-Length Selection for the Dependent Bootstrap",
// with the correction of Patton, Politis & White 2009.
// Formula: b = (G²·n/g²)^(1/3), circular (3G²·n/(2g²))^(1/3), at most ⌈min(3√n, n/3)⌉, where
// G = 2Σ h(k/M)·k·R(k), g = R(0) + 2Σ h(k/M)·R(k), k = 1…M, h(u) = min(1, 2(1−u)).
func BlockLength(values []float64) BlockLengths {
	if len(values) < 3 {
		return BlockLengths{1, 1}
	}
	e, square := centred(values)
	return blockLength(e, square)
}

func blockLength(e []float64, square float64) BlockLengths {
	n := float64(len(e))
	p := pace{e: e, known: make([]float64, 1, 32)}
	p.known[0] = autocovariance(e, 0)
	if p.known[0]*n <= flat*square {
		return BlockLengths{1, 1}
	}
	var moment, long float64
	m := p.bandwidth()
	for k := 1; k <= m; k++ {
		weight := min(1, 2*(1-float64(k)/float64(m)))
		moment += 2 * weight * float64(k) * p.covariance(k)
		long += 2 * weight * p.covariance(k)
	}
	long += p.known[0]
	if moment == 0 {
		return BlockLengths{1, 1}
	}
	most := math.Ceil(min(3*math.Sqrt(n), n/3))
	length := func(factor float64) float64 {
		return max(1, min(most, math.Cbrt(factor*moment*moment*n/(long*long))))
	}
	return BlockLengths{length(1), length(1.5)}
}

// pace computes autocovariances when they are asked for: most series need a dozen.
type pace struct {
	e, known []float64
}

func (p *pace) covariance(lag int) float64 {
	for len(p.known) <= lag {
		p.known = append(p.known, autocovariance(p.e, len(p.known)))
	}
	return p.known[lag]
}

// bandwidth is M: twice the lag before the first run of small correlations. Without such a run it
// is twice the last lag that is not small.
func (p *pace) bandwidth() int {
	n := float64(len(p.e))
	run := max(5, int(math.Ceil(math.Sqrt(math.Log10(n)))))
	longest := int(math.Ceil(math.Sqrt(n))) + run
	small := 2 * math.Sqrt(math.Log10(n)/n) * p.known[0]
	last := 0
	for lag := 1; lag <= longest; lag++ {
		if math.Abs(p.covariance(lag)) >= small {
			last = lag
		} else if lag-last == run {
			break
		}
	}
	return min(2*max(last, 1), longest)
}

// MedianBlock is the median of the stationary block lengths of all sets, in days: the mean block
// that SPA takes.
// Errors: those of Returns.Row, numbers that are not finite, no set.
// Source: as BlockLength.
func MedianBlock(r Returns, workers int) (float64, error) {
	if err := r.check(1, 3); err != nil {
		return 0, err
	}
	lengths := make([]float64, r.Sets)
	rows := newScratch(workers, r.Days)
	err := inParallel(workers, r.Sets, func(worker, set int) error {
		row := rows[worker]
		if err := r.read(set, row); err != nil {
			return err
		}
		_, square := centre(row, row)
		lengths[set] = blockLength(row, square).Stationary
		return nil
	})
	if err != nil {
		return 0, err
	}
	slices.Sort(lengths)
	return Quantile(0.5, lengths), nil
}

// newScratch is a slice of n numbers for each worker.
func newScratch(workers, n int) [][]float64 {
	all := make([][]float64, max(1, workers))
	for i := range all {
		all[i] = make([]float64, n)
	}
	return all
}

// Quantile is the quantile q of ascending values, one of them: the value at place ⌈qn⌉, counted
// from 1, as `stat.Empirical` of gonum. q lies between 0 and 1; without values it panics.
// Source: Hyndman & Fan 1996, definition 1.
func Quantile(q float64, ascending []float64) float64 {
	place := int(math.Ceil(q * float64(len(ascending))))
	return ascending[min(max(place, 1), len(ascending))-1]
}
