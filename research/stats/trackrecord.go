package stats

import (
	"errors"
	"fmt"
	"math"
)

// TrackRecord has the figures of one series of returns that Sharpe statistics need. Make it by
// RecordOf, or fill in published figures. The zero value has no observation.
type TrackRecord struct {
	N              int     // observations
	Mean, SD       float64 // of a return; SD has the divisor n−1
	Sharpe         float64 // per observation: Mean ÷ SD
	Skew, Kurtosis float64 // divisor n; 0 and 3 for a normal distribution
	Rho            float64 // autocorrelation at lag one, as measured: it may be negative
}

// flat is the smallest variance, as a part of the mean square, that counts as one: less is
// rounding, and would be a Sharpe ratio of a million per observation.
const flat = 1e-12

// TrackRecordOf measures returns. It is an error if there are fewer than three, if one is no finite
// number, or if all are equal.
// Source: moments as in Bailey & López de Prado 2012; see the package comment for divisors.
func TrackRecordOf(returns []float64) (TrackRecord, error) {
	if len(returns) < 3 {
		return TrackRecord{}, fmt.Errorf("%d returns are too few: at least 3", len(returns))
	}
	n := float64(len(returns))
	var mean, square, second, third, fourth, lagged, last float64
	for _, x := range returns {
		if notFinite(x) {
			return TrackRecord{}, fmt.Errorf("a return is %v", x)
		}
		mean, square = mean+x/n, square+x*x
	}
	for i, x := range returns {
		e := x - mean
		if i > 0 {
			lagged += e * last
		}
		second, third, fourth, last = second+e*e, third+e*e*e, fourth+e*e*e*e, e
	}
	if second <= flat*square {
		return TrackRecord{}, errFlat
	}
	variance := second / n
	r := TrackRecord{N: len(returns), Mean: mean, SD: math.Sqrt(second / (n - 1)), Rho: lagged / second,
		Skew: third / n / (variance * math.Sqrt(variance)), Kurtosis: fourth / n / (variance * variance)}
	r.Sharpe = r.Mean / r.SD
	return r, nil
}

// Sharpe is the Sharpe ratio of returns per observation: mean ÷ standard deviation (divisor n−1),
// without a risk-free rate. It is 0 if there are fewer than two returns or if they never change: a
// set that does nothing is no better than cash.
// Source: Sharpe 1994, "The Sharpe Ratio".
func Sharpe(returns []float64) float64 {
	n := float64(len(returns))
	if n < 2 {
		return 0
	}
	var mean, square, second float64
	for _, x := range returns {
		mean, square = mean+x, square+x*x
	}
	mean /= n
	for _, x := range returns {
		second += (x - mean) * (x - mean)
	}
	if second <= flat*square {
		return 0
	}
	return mean / math.Sqrt(second/(n-1))
}

// SharpeError is the standard error of a Sharpe ratio of n independent normal returns, per
// observation. It is infinite if n is 0.
// Source: Lo 2002, "The Statistics of Sharpe Ratios". Formula: √((1 + SR²/2)/T).
func SharpeError(sharpe float64, n int) float64 {
	return math.Sqrt((1 + sharpe*sharpe/2) / float64(n))
}

// LoFactor is the factor by which a Sharpe ratio of q observations, scaled by √q, is corrected if
// the returns have the autocorrelation rho at lag one, as in an AR(1): below 1 for rho > 0. rho
// lies between −1 and 1, q is at least 1. Source: Lo 2002. Formula: (1 + 2ρ/(1−ρ)·(1 −
// (1−ρ^q)/(q(1−ρ))))^(−1/2).
func LoFactor(rho float64, q int) float64 {
	n := float64(q)
	return 1 / math.Sqrt(1+2*rho/(1-rho)*(1-(1-math.Pow(rho, n))/(n*(1-rho))))
}

// Autocorrelation is that of returns at a lag of at least 0, with the divisor n and the mean of
// the whole series; 0 if the returns never change.
// Source: as in Politis & White 2004. Formula: ρ(k) = Σ e_t·e_{t−k} / Σ e_t².
func Autocorrelation(returns []float64, lag int) float64 {
	e, square := centred(returns)
	all := autocovariance(e, 0)
	if all*float64(len(e)) <= flat*square {
		return 0
	}
	return autocovariance(e, lag) / all
}

// centred are values without their mean, and the sum of the squares of the values.
func centred(values []float64) (e []float64, square float64) {
	e = make([]float64, len(values))
	_, square = centre(values, e)
	return e, square
}

// centre writes the values without their mean into e. It returns the mean and the sum of the
// squares of the values.
func centre(values, e []float64) (mean, square float64) {
	for _, x := range values {
		mean, square = mean+x, square+x*x
	}
	mean /= float64(len(values))
	for i, x := range values {
		e[i] = x - mean
	}
	return mean, square
}

// autocovariance is R(k) of centred values.
func autocovariance(e []float64, lag int) float64 {
	if lag >= len(e) {
		return 0
	}
	var sum float64
	early := e[:len(e)-lag]
	for i, x := range e[lag:] {
		sum += x * early[i]
	}
	return sum / float64(len(e))
}

// Variance is the variance of an estimated Sharpe ratio if the true one is `at`, per observation.
// Skew and kurtosis are the record's. Positive autocorrelation widens it; a negative one counts as
// 0, so that it never flatters.
// Source: López de Prado, Lipton & Zoonekynd 2026, "How to Use the Sharpe Ratio" (SSRN 5520741).
// Formula: (a − b·γ3·S + c·(γ4−1)/4·S²)/T, a = (1+ρ)/(1−ρ), b = 1 + ρ/(1−ρ) + ρ²/(1−ρ²),
// c = 1 + 2ρ²/(1−ρ²), ρ = max(0, ρ̂).
func (r *TrackRecord) Variance(at float64) float64 { return r.spread(at) / float64(r.N) }

// spread is Variance of a single observation.
func (r *TrackRecord) spread(at float64) float64 {
	rho := max(0, r.Rho)
	square := rho * rho / (1 - rho*rho)
	a, b, c := (1+rho)/(1-rho), 1+rho/(1-rho)+square, 1+2*square
	return a - b*r.Skew*at + c*(r.Kurtosis-1)/4*at*at
}

// PSR is the probabilistic Sharpe ratio against a benchmark Sharpe, per observation: 1 − PSR is the
// p-value of the record, the share of such records of strategies with that true Sharpe that look at
// least as good. It is no statement about this strategy's true Sharpe. NaN if the record's figures
// contradict each other, so that the variance is negative.
// Source: López de Prado, Lipton & Zoonekynd 2026: Φ((SR − SR*)/√V(SR*)), the variance at the
// benchmark. PSR2012 is the older form.
func (r *TrackRecord) PSR(benchmark float64) float64 { return normalBelow(r.score(benchmark)) }

// P is 1 − PSR, exact where it is small.
// Source and units as PSR.
func (r *TrackRecord) P(benchmark float64) float64 { return normalBelow(-r.score(benchmark)) }

func (r *TrackRecord) score(benchmark float64) float64 {
	return (r.Sharpe - benchmark) / math.Sqrt(r.Variance(benchmark))
}

// PSR2012 is the first form of PSR: the variance stands at the estimate, the divisor is T−1, and
// autocorrelation is ignored. It is here to compare with other programs.
// Source: Bailey & López de Prado 2012, "The Sharpe Ratio Efficient Frontier".
// Formula: Φ((SR − SR*)·√(T−1) / √(1 − γ3·SR + (γ4−1)/4·SR²)).
func (r *TrackRecord) PSR2012(benchmark float64) float64 {
	return normalBelow((r.Sharpe - benchmark) * math.Sqrt(float64(r.N-1)) / math.Sqrt(r.spread2012()))
}

func (r *TrackRecord) spread2012() float64 {
	independent := *r
	independent.Rho = 0
	return independent.spread(r.Sharpe)
}

var errBelow = errors.New("the Sharpe ratio is not above the benchmark: no record is long enough")

// MinTRL is the minimum track record length: how many observations like these the record needs
// until its P falls to level. It is an error if the Sharpe ratio is not above the benchmark.
// Source: López de Prado, Lipton & Zoonekynd 2026. Formula: T·V(SR*)·(z/(SR − SR*))².
func (r *TrackRecord) MinTRL(benchmark, level float64) (float64, error) {
	return r.length(benchmark, level, r.spread(benchmark))
}

// MinTRL2012 is MinTRL in the form that belongs to PSR2012.
// Source: Bailey & López de Prado 2012.
// Formula: 1 + (1 − γ3·SR + (γ4−1)/4·SR²)·(z/(SR − SR*))².
func (r *TrackRecord) MinTRL2012(benchmark, level float64) (float64, error) {
	n, err := r.length(benchmark, level, r.spread2012())
	return 1 + n, err
}

func (r *TrackRecord) length(benchmark, level, spread float64) (float64, error) {
	if !(r.Sharpe > benchmark) {
		return 0, errBelow
	}
	z := upper(level) / (r.Sharpe - benchmark)
	return spread * z * z, nil
}
