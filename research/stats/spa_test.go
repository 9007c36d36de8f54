package stats

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

// three are the returns of the vectors: three sets, twelve days, in excess of a benchmark.
func three() [][]float64 {
	rows := make([][]float64, 3)
	for i, a := range []float64{0.15, -0.15, -0.60} {
		k := float64(i)
		rows[i] = series(12, func(t float64) float64 {
			return (math.Sin((0.9+0.4*k)*t+1.7*k)*(1+0.5*k) + a) / 100
		})
	}
	return rows
}

// congruent is the generator of the vectors.
type congruent uint32

func (c *congruent) next() float64 {
	*c = (1103515245**c + 12345) & (1<<31 - 1)
	return float64(*c) / (1 << 31)
}

// nineteen are the resamples of the vectors: stationary, mean block 4, one generator through all.
func nineteen() [][]int {
	draws, rows := congruent(6), make([][]int, 19)
	for i := range rows {
		day := int(12 * draws.next())
		rows[i] = []int{day}
		for len(rows[i]) < 12 {
			if draws.next() < 0.25 {
				day = int(12 * draws.next())
			} else {
				day = (day + 1) % 12
			}
			rows[i] = append(rows[i], day)
		}
	}
	return rows
}

func TestSPAOfFixedResamples(t *testing.T) {
	require.Equal(t, []int{0, 1, 2, 3, 5, 6, 7, 5, 6, 9, 10, 11}, nineteen()[0])
	require.Equal(t, []int{5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4}, nineteen()[18])
	rows := three()
	require.InDelta(t, 0.013374972157, rows[1][0], 5e-13)
	require.InDelta(t, -0.008172731908, rows[2][11], 5e-13)
	for i, want := range []struct{ mean, deviation, t float64 }{
		{0.002938911282, 0.006349833944, 1.603299772777},
		{-0.000378741057, 0.007655270953, -0.171384855702},
		{-0.006283508242, 0.007903131266, -2.754188222205},
	} {
		require.InDelta(t, want.mean, stat.Mean(rows[i], nil), 5e-13)
		deviation := math.Sqrt(LongRunVariance(rows[i], 4))
		require.InDelta(t, want.deviation, deviation, 5e-13)
		require.InDelta(t, want.t, math.Sqrt(12)*stat.Mean(rows[i], nil)/deviation, 5e-12)
	}
	d := newDraws(12, 19, func(i int) []int { return nineteen()[i] })
	for _, c := range []struct {
		studentise                         bool
		v, lower, consistent, upper, white float64
	}{
		{true, 1.603299772777, 0.10, 0.15, 0.20, 0.35},
		{false, 0.010180687320, 0.15, 0.20, 0.35, 0.35},
	} {
		s, err := spa(rowsOf(t, rows), d, 4, 2, c.studentise)
		require.NoError(t, err)
		require.InDelta(t, c.v, s.Statistic, 5e-12)
		require.InDelta(t, 0.010180687320, s.RealityStatistic, 5e-13)
		require.Equal(t, []float64{c.lower, c.consistent, c.upper, c.white},
			[]float64{s.Lower, s.Consistent, s.Upper, s.RealityCheck})
		require.Equal(t, []int{3, 12, 0, 19, 0, 0}, []int{s.Sets, s.Days, s.Flat, s.Resamples, s.Best, s.RealityBest})
	}
	c := newContest(d, 4, true)
	for i, row := range rows {
		c.add(i, row)
	}
	for want, got := range map[string][]float64{
		`1.389691731 0.222355250 0.856006226 1.940675654 0 1.655581385 1.542490652 0 0.799085839 0.545137898 1.253032124
		1.364895974 1.442684672 1.201519003 1.183522887 1.880091353 1.266693179 1.417176232 0`: c.upper,
		`0.416756233 0.161150423 0.856006226 1.499089270 0 1.655581385 1.542490652 0 0 0.233628001 1.253032124
		1.364895974 0 0 0 1.880091353 0 1.417176232 0`: c.middle,
		`0.245371377 0 0.684621370 1.499089270 0 1.484196529 1.542490652 0 0 0.062243145 1.253032124 1.193511119 0 0 0
		1.880091353 0 1.417176232 0`: c.lower,
	} {
		for i, text := range strings.Fields(want) {
			x, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err)
			require.InDelta(t, x, got[i], 5e-10, "resample %d", i+1)
		}
	}
}

// naiveSPA follows the definition: every day of every resample, every lag of the kernel.
func naiveSPA(rows [][]float64, how Resampling) (lower, consistent, upper, white float64) {
	n := float64(len(rows[0]))
	b := Bootstrap{Days: len(rows[0]), Block: how.Block, Seed: how.Seed}
	v, w := 0.0, math.Inf(-1)
	means, deviations := make([]float64, len(rows)), make([]float64, len(rows))
	for k, row := range rows {
		means[k], deviations[k] = stat.Mean(row, nil), math.Sqrt(naiveKernel(row, how.Block))
		if deviations[k] < 1e-9 {
			means[k], deviations[k] = 0, 1
		}
		v, w = max(v, math.Sqrt(n)*means[k]/deviations[k]), max(w, math.Sqrt(n)*means[k])
	}
	counts := [4]int{1, 1, 1, 1}
	days := make([]int, len(rows[0]))
	for i := range how.Resamples {
		b.Draw(i, days)
		most := [4]float64{0, 0, 0, math.Inf(-1)}
		for k, row := range rows {
			mean := 0.0
			for _, day := range days {
				mean += row[day] / n
			}
			if deviations[k] == 1 {
				mean = 0
			}
			bounds := [4]float64{max(means[k], 0), 0, means[k], means[k]}
			if math.Sqrt(n)*means[k]/deviations[k] >= -math.Sqrt(2*math.Log(math.Log(n))) {
				bounds[1] = means[k]
			}
			for j, bound := range bounds {
				by := deviations[k]
				if j == 3 {
					by = 1
				}
				most[j] = max(most[j], math.Sqrt(n)*(mean-bound)/by)
			}
		}
		for j, real := range []float64{v, v, v, w} {
			if most[j] >= real-1e-10*math.Abs(real) { // a sparse set ties where its days come twice
				counts[j]++
			}
		}
	}
	p := func(i int) float64 { return float64(counts[i]) / float64(1+how.Resamples) }
	return p(0), p(1), p(2), p(3)
}

func naiveKernel(values []float64, block float64) float64 {
	n, q := float64(len(values)), 1-1/block
	e, _ := centred(values)
	sum := autocovariance(e, 0)
	for i := 1; i < len(e); i++ {
		x := float64(i)
		sum += 2 * ((1-x/n)*math.Pow(q, x) + x/n*math.Pow(q, n-x)) * autocovariance(e, i)
	}
	return sum
}

func drawResampling(t *rapid.T) Resampling {
	return Resampling{Resamples: rapid.IntRange(1, 60).Draw(t, "resamples"),
		Block: rapid.Float64Range(1, 12).Draw(t, "block"), Seed: rapid.Uint64().Draw(t, "seed of the resamples")}
}

func TestSPAAgreesWithANaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 6, rapid.IntRange(4, 50).Draw(t, "days"), 4)
		how := drawResampling(t)
		s, err := SPA(rowsOf(t, rows), how, 3)
		require.NoError(t, err)
		lower, consistent, upper, white := naiveSPA(rows, how)
		require.Equal(t, []float64{lower, consistent, upper, white},
			[]float64{s.Lower, s.Consistent, s.Upper, s.RealityCheck})
		require.LessOrEqual(t, s.Lower, s.Consistent)
		require.LessOrEqual(t, s.Consistent, s.Upper)
	})
}

// A multiple of a set, a copy of it, another order or other goroutines change no p-value of SPA.
func TestSPADependsOnDistinctSetsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 12, 40, 5)
		how := drawResampling(t)
		want, err := SPA(rowsOf(t, rows), how, 1)
		require.NoError(t, err)
		for _, workers := range []int{2, 5, 50} {
			got, err := SPA(rowsOf(t, rows), how, workers)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		changed := [][]float64{}
		for i, row := range rows {
			scaled := series(len(row), func(t float64) float64 { return math.Ldexp(row[int(t)], i%9-4) })
			changed = append(changed, scaled, scaled)
		}
		slices.Reverse(changed)
		got, err := SPA(rowsOf(t, changed), how, 2)
		require.NoError(t, err)
		require.Equal(t, []float64{want.Statistic, want.Lower, want.Consistent, want.Upper},
			[]float64{got.Statistic, got.Lower, got.Consistent, got.Upper})
	})
}

// Without a set above the benchmark every resample ties with it.
func TestTiesCountAgainstTheStrategy(t *testing.T) {
	rows := grid32x5()
	for _, row := range rows {
		for day := range row {
			row[day] -= 0.01
		}
	}
	s, err := SPA(rowsOf(t, rows), Resampling{Resamples: 99, Block: 2}, 1)
	require.NoError(t, err)
	require.Zero(t, s.Statistic)
	require.Equal(t, []float64{1, 1, 1}, []float64{s.Lower, s.Consistent, s.Upper})
	s, err = SPA(rowsOf(t, [][]float64{make([]float64, 30), make([]float64, 30)}), Resampling{Resamples: 99}, 1)
	require.NoError(t, err)
	require.Equal(t, 2, s.Flat)
	require.Equal(t, []float64{1, 1, 1, 1}, []float64{s.Lower, s.Consistent, s.Upper, s.RealityCheck})

	require.Equal(t, 4.0/6, PValue(2, []float64{1, 2, 3, math.NaN(), 1.5}))
	require.Equal(t, 0.005, PValue(1, make([]float64, 199)))
	require.Equal(t, 0.75, PValue(0.3, []float64{0.1 + 0.2, 0.3 * (1 - 1e-12), 0.1}), "rounding hides no tie")
	require.Equal(t, 0.5, PValue(math.Inf(1), []float64{9}))
	require.Equal(t, 1.0, PValue(math.Inf(-1), []float64{9, math.Inf(-1)}), "a search that finds nothing")
	require.Equal(t, 1.0, PValue(math.NaN(), make([]float64, 9)), "no statistic is no evidence")
}

func TestAPlantedEdgeIsFound(t *testing.T) {
	rows := denseRows(1, 50, 730)
	s, err := SPA(rowsOf(t, rows), Resampling{Resamples: 199}, 2)
	require.NoError(t, err)
	require.Greater(t, s.Consistent, 0.05)
	for day := range rows[31] {
		rows[31][day] += 0.006
	}
	s, err = SPA(rowsOf(t, rows), Resampling{Resamples: 199}, 2)
	require.NoError(t, err)
	require.Equal(t, 31, s.Best)
	require.Equal(t, 0.005, s.Consistent)
}

func TestAResampleIsASumOfItsDays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length, number := rapid.IntRange(1, 80).Draw(t, "days"), rapid.IntRange(1, 20).Draw(t, "resamples")
		all := make([][]int, number)
		for i := range all { // a few days many times: counts far above three
			span := rapid.IntRange(1, length).Draw(t, "span")
			for range length {
				all[i] = append(all[i], rapid.IntRange(0, span-1).Draw(t, "day"))
			}
		}
		row := rapid.SliceOfN(rapid.Float64Range(-1, 1), length, length).Draw(t, "row")
		sums := make([]float64, number)
		newDraws(length, number, func(i int) []int { return all[i] }).resample(row, sums)
		for i, days := range all {
			var want float64
			for _, day := range days {
				want += row[day]
			}
			require.InDelta(t, want, sums[i], 1e-12)
		}
	})
}

func TestAResamplingThatMakesNoSenseIsRefused(t *testing.T) {
	r := rowsOf(t, three())
	for _, how := range []Resampling{{}, {Resamples: -1}, {Resamples: 9, Block: 0.5}, {Resamples: 9, Block: -1},
		{Resamples: 9, Block: math.NaN()}, {Resamples: 9, Block: math.Inf(1)}} {
		_, err := SPA(r, how, 1)
		require.Error(t, err, "%+v", how)
	}
	_, err := SPA(Returns{Days: r.Days, Row: r.Row}, Resampling{Resamples: 9}, 1)
	require.ErrorContains(t, err, "at least 1 sets")
}
