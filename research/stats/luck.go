package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// normalBelow is the share of a standard normal distribution below z, exact in the lower tail.
func normalBelow(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// upper is the number above which a share of a standard normal distribution lies, exact for small
// shares: Φ⁻¹(1 − share).
func upper(share float64) float64 { return -mathext.NormalQuantile(share) }

// euler is the Euler–Mascheroni constant.
const euler = 0.57721566490153286060651209008240243

// ExpectedMax is the mean of the greatest of n independent standard normal numbers, about: 0 for
// n ≤ 1. It is no bar: 43 of 100 searches on worthless data exceed it (ShareAbove). Bar is one.
// Source: Bailey & López de Prado 2014. Formula: (1−γ)·Φ⁻¹(1−1/N) + γ·Φ⁻¹(1−1/(N·e)).
func ExpectedMax(n int) float64 {
	if n <= 1 {
		return 0
	}
	share := 1 / float64(n)
	return (1-euler)*upper(share) + euler*upper(share/math.E)
}

// ExpectedBest is the annual Sharpe ratio that the best of n worthless, independent sets shows on
// so many years of data, on average. It is no bar.
// Source: Bailey, Borwein, López de Prado & Zhu 2014. Formula: E[max_N]/√years.
func ExpectedBest(n int, years float64) float64 { return ExpectedMax(n) / math.Sqrt(years) }

// Bar is the annual Sharpe ratio that the best of n worthless, independent sets exceeds in a share
// `level` (0.05: 5 of 100) of such searches. Correlated sets exceed it more seldom.
// Source: the distribution of a maximum. Formula: Φ⁻¹((1−level)^(1/N))/√years.
func Bar(n int, level, years float64) float64 { return bar(n, level) / math.Sqrt(years) }

// bar is Bar of one year. The share above it is 1 − (1−level)^(1/N), computed without a loss of
// digits for large N.
func bar(n int, level float64) float64 {
	return upper(-math.Expm1(math.Log1p(-level) / float64(max(n, 1))))
}

// ShareAbove is the share of searches of n worthless, independent sets on so many years of data
// whose best shows more than an annual Sharpe ratio.
// Source: the distribution of a maximum. Formula: 1 − Φ(SR·√years)^N.
func ShareAbove(annual float64, n int, years float64) float64 {
	tail := normalBelow(-annual * math.Sqrt(years))
	return -math.Expm1(float64(max(n, 1)) * math.Log1p(-tail))
}

// Detectable is the true Sharpe ratio, per observation, that a set fixed in advance needs so that a
// share `power` of records of n normal, independent returns shows a P of at most level. It is an
// error if n is too small for any.
// Source: the variance of Lo 2002 at the true Sharpe ratio.
// Formula: the solution of SR = (z_level + z_power·√(1 + SR²/2))/√(T−1).
func Detectable(n int, level, power float64) (float64, error) {
	alpha, beta, k := upper(level), upper(1-power), float64(n-1)
	square := k - beta*beta/2
	if !(square > 0) {
		return 0, fmt.Errorf("%d observations are too few to find any Sharpe ratio", n)
	}
	return (math.Sqrt(k)*alpha + beta*math.Sqrt(k+(alpha*alpha-beta*beta)/2)) / square, nil
}

// DetectableBest is the true annual Sharpe ratio that one of n independent sets needs so that it
// exceeds Bar in a share `power` of searches. Correlated sets need less.
// Source: the distribution of a maximum. Formula: (Φ⁻¹((1−level)^(1/N)) + z_power)/√years.
func DetectableBest(n int, level, power, years float64) float64 {
	return (bar(n, level) + upper(1-power)) / math.Sqrt(years)
}

// Trials are the tries of a search as DSR needs them: how many distinct series of returns there
// were, and how much their Sharpe ratios vary. Both come from the same series, so there is no way
// to set one alone: a reduced number with the variance of all corrects twice. The zero value is no
// try.
type Trials struct {
	count    int
	variance float64
}

// TrialsOf are the tries with these Sharpe ratios per observation, one for each distinct series of
// one range. To count clusters of similar sets instead, give the Sharpe ratios of one
// representative of each cluster.
// Source: Bailey & López de Prado 2014; the variance has the divisor n−1.
func TrialsOf(sharpes []float64) (Trials, error) { return AdaptiveTrials(len(sharpes), sharpes) }

// AdaptiveTrials are the tries of a search that goes where earlier tries were good: count is the
// number of all distinct series. Its later tries crowd round the winner and vary too little, so the
// variance comes from the first generation, which filled the space evenly.
// Source and errors as TrialsOf.
func AdaptiveTrials(count int, first []float64) (Trials, error) {
	if len(first) == 0 || count < len(first) {
		return Trials{}, fmt.Errorf("%d tries with %d Sharpe ratios: at least one ratio, and no more than tries",
			count, len(first))
	}
	var mean, square float64
	for _, sharpe := range first {
		if notFinite(sharpe) {
			return Trials{}, fmt.Errorf("the Sharpe ratio of a try is %v", sharpe)
		}
		mean += sharpe / float64(len(first))
	}
	for _, sharpe := range first {
		square += (sharpe - mean) * (sharpe - mean)
	}
	return Trials{count: count, variance: square / float64(max(len(first)-1, 1))}, nil
}

// Count is the number of tries.
func (t Trials) Count() int { return t.count }

// Variance is that of the tries' Sharpe ratios per observation.
func (t Trials) Variance() float64 { return t.variance }

// Benchmark is the Sharpe ratio, per observation, that DSR asks the winner to exceed: what the best
// of so many worthless tries shows on average; 0 for a single one.
// Source: Bailey & López de Prado 2014. Formula: SR0 = √V·E[max_N].
func (t Trials) Benchmark() float64 { return math.Sqrt(t.variance) * ExpectedMax(t.count) }

// DSR is the deflated Sharpe ratio of the chosen one of some tries: its PSR against
// Trials.Benchmark. 1 − DSR is a conservative p-value: under the null it is hardly ever small.
// TrackRecord.P of that benchmark has its digits where it is small.
// Source: Bailey & López de Prado 2014, "The Deflated Sharpe Ratio", with the variance of PSR.
func DSR(chosen *TrackRecord, tries Trials) float64 { return chosen.PSR(tries.Benchmark()) }

// Spread is the number of some Sharpe ratios and how much they vary, without the ratios. The zero
// value has none.
type Spread struct {
	count    int
	mean, m2 float64
}

// Add adds a Sharpe ratio per observation. A ratio that is not finite is left out.
// Source: Welford 1962.
func (s *Spread) Add(sharpe float64) {
	if notFinite(sharpe) {
		return
	}
	s.count++
	delta := sharpe - s.mean
	s.mean += delta / float64(s.count)
	s.m2 += float64(delta * (sharpe - s.mean))
}

// Trials are count tries, of which these are the Sharpe ratios that may be compared: those of one
// range, and of no adaptive search.
// Source and errors as TrialsOf.
func (s *Spread) Trials(count int) (Trials, error) {
	if s.count == 0 || count < s.count {
		return Trials{}, fmt.Errorf("%d tries with %d Sharpe ratios: at least one ratio, and no more than tries",
			count, s.count)
	}
	return Trials{count: count, variance: s.m2 / float64(max(s.count-1, 1))}, nil
}
