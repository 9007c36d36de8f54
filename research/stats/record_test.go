package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// series are n values of a formula.
func series(n int, at func(t float64) float64) []float64 {
	values := make([]float64, n)
	for t := range values {
		values[t] = at(float64(t))
	}
	return values
}

func annual(sharpe, perYear float64) float64 { return sharpe / math.Sqrt(perYear) }

// Figures that were published with the methods, and figures recomputed from them.
func TestPSRAgreesWithPublishedFigures(t *testing.T) {
	monthly := 0.458
	skewed := TrackRecord{N: 24, Sharpe: monthly, Skew: -2.448, Kurtosis: 10.164}
	for _, c := range []struct {
		r         TrackRecord
		benchmark float64
		want      float64
		within    float64
	}{
		{TrackRecord{N: 250, Sharpe: 1.14, Kurtosis: 3}, 1, 0.957278, 1e-6},
		{TrackRecord{N: 24, Sharpe: monthly, Kurtosis: 3}, 0, 0.98167, 1e-5},
		{skewed, 0, 0.91336, 1e-5},
	} {
		require.InDelta(t, c.want, c.r.PSR2012(c.benchmark), c.within, "%+v", c)
	}
}

func TestPSROf2026TakesTheVarianceAtTheBenchmark(t *testing.T) {
	authors := TrackRecord{N: 24, Sharpe: 0.036 / 0.079, Skew: -2.448, Kurtosis: 10.164}
	require.InDelta(t, 0.987, authors.PSR(0), 5e-4)
	require.InDelta(t, 0.939, authors.PSR(0.1), 5e-4)
	length, err := authors.MinTRL(0, 0.05)
	require.NoError(t, err)
	require.InDelta(t, 13.029, length, 5e-4)

	authors.Rho = 0.2
	require.InDelta(t, 0.0625, authors.Variance(0), 1e-15)
	require.InDelta(t, 0.0767091319, authors.Variance(0.1), 5e-11)
	require.InDelta(t, 0.9658320054, authors.PSR(0), 5e-11)
	require.InDelta(t, 0.9004759174, authors.PSR(0.1), 5e-11)

	two := TrackRecord{N: 730, Sharpe: 0.1, Skew: -0.5, Kurtosis: 6, Rho: 0.1}
	require.InDelta(t, 0.0016742770, two.Variance(0), 5e-11)
	require.InDelta(t, 0.9927356032, two.PSR(0), 5e-11)
	require.InDelta(t, 0.0017170420, two.Variance(0.05), 5e-11)
	require.InDelta(t, 0.8862155707, two.PSR(0.05), 5e-11)
	require.InDelta(t, 1-0.8862155707, two.P(0.05), 5e-11)
	two.Rho = 0
	require.InDelta(t, 0.9086224345, two.PSR(0.05), 5e-11)
	two.Rho = -0.3
	require.InDelta(t, 0.9086224345, two.PSR(0.05), 5e-11, "a negative autocorrelation does not flatter")
	// The older form with the divisor T: the figure is said to be so.
	require.InDelta(t, 0.9050018990, normalBelow((two.Sharpe-0.05)/math.Sqrt(two.spread2012()/730)), 5e-11)
}

func TestARecordIsMeasuredFromItsReturns(t *testing.T) {
	x := series(24, func(t float64) float64 { return (math.Sin(1.3*t) + 0.8*math.Sin(0.4*t) + 0.3) / 100 })
	r, err := TrackRecordOf(x)
	require.NoError(t, err)
	require.Equal(t, 24, r.N)
	require.InDelta(t, 0.516858877915, r.Sharpe, 5e-13)
	require.InDelta(t, r.Sharpe, Sharpe(x), 1e-15)
	require.InDelta(t, -0.129578194985, r.Skew, 5e-13)
	require.InDelta(t, 2.127833445649, r.Kurtosis, 5e-13)
	require.InDelta(t, 0.486539219123, r.Rho, 5e-13)
	require.InDelta(t, r.Rho, Autocorrelation(x, 1), 1e-15)
	require.InDelta(t, 2.8951368332/24, r.Variance(0), 5e-12)
	require.InDelta(t, 0.931642679079, r.PSR(0), 5e-13)
	require.InDelta(t, 0.883617753932, r.PSR(0.1), 5e-13)
	require.InDelta(t, 0.989809089685, r.PSR2012(0), 5e-13)
	mean, sd := stat.MeanStdDev(x, nil)
	require.InDelta(t, mean, r.Mean, 1e-17)
	require.InDelta(t, sd, r.SD, 1e-17)
}

// The four windows of a walk-forward, stitched.
func TestTheRecordOfStitchedWindows(t *testing.T) {
	var all []float64
	for w, want := range []float64{0.33775648, 0.33747162, 0.16793896, -0.07571595} {
		window := series(5, func(j float64) float64 {
			return (math.Sin(1.1*(5*float64(w)+j)+0.4) + 0.2 - 0.1*float64(w)) / 100
		})
		require.InDelta(t, want, Sharpe(window), 5e-9)
		all = append(all, window...)
	}
	r, err := TrackRecordOf(all)
	require.NoError(t, err)
	require.InDelta(t, 0.198070923683, r.Sharpe, 5e-13)
	require.InDelta(t, -0.2427479832, r.Skew, 5e-11)
	require.InDelta(t, 1.6612089318, r.Kurtosis, 5e-11)
	require.InDelta(t, 0.7997525663, r.PSR2012(0), 5e-11)
}

func TestReturnsWithoutASharpeRatioAreNamed(t *testing.T) {
	for _, bad := range [][]float64{nil, {0.1, 0.2}, {0.1, 0.1, 0.1, 0.1}, {0, 0, 0}, {0, 1, math.NaN()},
		{0, 1, math.Inf(1)}} {
		_, err := TrackRecordOf(bad)
		require.Error(t, err, "%v", bad)
	}
	for _, idle := range [][]float64{nil, {0.1}, {0, 0, 0}, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}} {
		require.Zero(t, Sharpe(idle))
		require.Zero(t, Autocorrelation(append(idle, 0, 0)[:len(idle)], 1))
	}
	below := TrackRecord{N: 100, Sharpe: 0.05, Kurtosis: 3}
	_, err := below.MinTRL(0.05, 0.05)
	require.ErrorIs(t, err, errBelow)
	_, err = below.MinTRL2012(0.1, 0.05)
	require.ErrorIs(t, err, errBelow)
}

func TestMinTRLAgreesWithPublishedFigures(t *testing.T) {
	for _, c := range []struct {
		r               TrackRecord
		benchmark, want float64
		perYear, within float64
	}{
		{TrackRecord{Sharpe: 1.14, Kurtosis: 3}, 1, 228.734979, 1, 1e-6},
		{TrackRecord{Sharpe: annual(2, 252), Kurtosis: 3}, annual(1, 252), 2.731, 252, 5e-4},
		{TrackRecord{Sharpe: annual(2, 52), Kurtosis: 3}, annual(1, 52), 2.829, 52, 5e-4},
		{TrackRecord{Sharpe: annual(2, 12), Kurtosis: 3}, annual(1, 12), 3.240, 12, 5e-4},
		{TrackRecord{Sharpe: annual(2, 12), Skew: -0.72, Kurtosis: 5.78}, annual(1, 12), 4.991, 12, 5e-4},
	} {
		got, err := c.r.MinTRL2012(c.benchmark, 0.05)
		require.NoError(t, err)
		require.InDelta(t, c.want, got/c.perYear, c.within, "%+v", c)
	}
}

// A record of the length that MinTRL tells has a P of exactly the level.
func TestARecordOfTheMinimumLengthIsJustSignificant(t *testing.T) {
	r := TrackRecord{N: 1000, Sharpe: 0.07, Skew: -0.4, Kurtosis: 5, Rho: 0.1}
	length, err := r.MinTRL(0.01, 0.05)
	require.NoError(t, err)
	r.N = int(math.Ceil(length))
	require.Less(t, r.P(0.01), 0.05)
	r.N--
	require.Greater(t, r.P(0.01), 0.05)
}

func TestTheErrorOfASharpeRatioIsLos(t *testing.T) {
	for _, c := range []struct {
		sharpe float64
		n      int
		want   float64
	}{{0.5, 12, .3062}, {0.5, 60, .1369}, {1, 12, .3536}, {1, 60, .1581}} {
		require.InDelta(t, c.want, SharpeError(c.sharpe, c.n), 5e-5)
	}
	require.InDelta(t, 1.4, Annual(SharpeError(0, 180)), 0.05, "a window of 180 days says little")
}

func TestLoFactorAgreesWithPublishedFigures(t *testing.T) {
	for q, want := range map[int]float64{252: .905, 52: .906, 12: .912245, 4: .928, 1: 1} {
		require.InDelta(t, want, LoFactor(0.1, q), map[bool]float64{true: 5e-7, false: 5e-4}[q == 12])
		require.InDelta(t, 1, LoFactor(0, q), 1e-15)
	}
}

// A haircut by Bonferroni: the p-value of an adjusted t, times the number of tests.
func TestAHaircutByBonferroniAgreesWithPublishedFigures(t *testing.T) {
	score := LoFactor(0.1, 12) * 1 * math.Sqrt(120.0/12)
	require.InDelta(t, 2.884773, score, 5e-7)
	p := 2 * distuv.StudentsT{Sigma: 1, Nu: 119}.Survival(score)
	require.InDelta(t, 0.00465123, p, 5e-9)
	tests := make([]float64, 100)
	for i := range tests {
		tests[i] = p
	}
	require.InDelta(t, 0.465123, Bonferroni(tests)[0], 5e-7)
}

// Of Sharpe 0.75 over 240 months, 200 tries leave less than half.
func TestAWinnerOfTwoHundredTriesLosesMostOfItsSharpe(t *testing.T) {
	years := 240.0 / 12
	p := 2 * distuv.UnitNormal.Survival(0.75*math.Sqrt(years))
	adjusted := 1 - math.Pow(1-p, 200)
	left := distuv.UnitNormal.Quantile(1-adjusted/2) / math.Sqrt(years)
	require.InDelta(t, 0.1473, adjusted, 5e-5)
	require.InDelta(t, 0.3241, left, 5e-5)
}
