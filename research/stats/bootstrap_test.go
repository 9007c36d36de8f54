package stats

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func TestTheKernelOfTheStationaryBootstrap(t *testing.T) {
	third := grid32x5()[2]
	for p, want := range map[float64]float64{0.1: 6.53715844515e-05, 0.25: 6.24193844700e-05, 1: 2.53281474269e-05} {
		require.InEpsilon(t, want, LongRunVariance(third, 1/p), 1e-11)
	}
	for p, want := range map[float64]float64{0.1: 1.41736351306e-06, 0.25: 3.40712382946e-06, 1: 1.09027962543e-05} {
		require.InEpsilon(t, want, LongRunVariance(third[:3], 1/p), 1e-11)
	}
	require.InEpsilon(t, stat.PopVariance(third, nil), LongRunVariance(third, 1), 1e-12)
	require.Zero(t, LongRunVariance(nil, 3))
}

func TestTheKernelAgreesWithANaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 300).Draw(t, "values")
		block := rapid.Float64Range(1, 100).Draw(t, "block")
		require.InDelta(t, naiveKernel(values, block), LongRunVariance(values, block), 1e-9)
	})
}

// The closed form is what very many resamples show.
func TestResampledMeansHaveTheVarianceOfTheKernel(t *testing.T) {
	third := grid32x5()[2]
	b, days := Bootstrap{Days: len(third), Block: 4, Seed: 3}, make([]int, len(third))
	means := make([]float64, 20_000)
	for i := range means {
		b.Draw(i, days)
		for _, day := range days {
			means[i] += third[day] / float64(len(third))
		}
	}
	require.InEpsilon(t, LongRunVariance(third, 4), 32*stat.Variance(means, nil), 0.04)
}

func TestBlocksHaveTheirMeanLengthAndStartAnywhere(t *testing.T) {
	const days = 40
	for _, block := range []float64{1, 2.5, 10} {
		b, row := Bootstrap{Days: days, Block: block, Seed: 9}, make([]int, days)
		starts, steps, counts := 0.0, 0.0, make([]float64, days)
		for i := range 5000 {
			b.Draw(i, row)
			for at, day := range row {
				counts[day]++
				if at > 0 {
					steps++
					if day != (row[at-1]+1)%days {
						starts++
					}
				}
			}
		}
		// A new block begins on the following day by chance once in 40.
		require.InEpsilon(t, (1-1.0/days)/block, starts/steps, 0.03, "block %v", block)
		even := make([]float64, days)
		for i := range even {
			even[i] = 5000
		}
		// Days of one block come together: that widens the spread of counts by at most twice the
		// block.
		spread := stat.ChiSquare(counts, even) / (2 * block)
		require.Less(t, spread, distuv.ChiSquared{K: days - 1}.Quantile(0.999), "block %v", block)
	}
}

func TestDrawsDependOnSeedAndNumberAlone(t *testing.T) {
	draw := func(days int, seed uint64, number int) []int {
		row := make([]int, days)
		Bootstrap{Days: days, Block: 4, Seed: seed}.Draw(number, row)
		return row
	}
	require.Equal(t, []int{8, 9, 10, 11, 0, 1, 2, 3, 0, 1, 2, 3}, draw(12, 1, 0), "the same on every machine")
	seen := map[string]bool{}
	for seed := range uint64(30) {
		for number := range 30 {
			text := string(bytesOf(draw(200, seed, number)))
			require.Equal(t, text, string(bytesOf(draw(200, seed, number))))
			seen[text] = true
		}
	}
	require.Len(t, seen, 900)
}

func bytesOf(days []int) (text []byte) {
	for _, day := range days {
		text = append(text, byte(day))
	}
	return text
}

// autoregressive is the series of the vectors: n values of y = phi·y + uniform noise.
func autoregressive(phi float64) []float64 {
	draws, last := congruent(1), 0.0
	return series(500, func(float64) float64 {
		last = phi*last + draws.next() - 0.5
		return last
	})
}

func TestBlockLengthsAreThoseOfPolitisAndWhite(t *testing.T) {
	require.InDelta(t, 0.013870078139, autoregressive(0.3)[0], 5e-13)
	require.InDelta(t, -0.320097673312, autoregressive(0.3)[1], 5e-13)
	week := series(70, func(t float64) float64 { return math.Sin(2 * math.Pi * t / 7) })
	waves := make([]float64, 200)
	for i := range waves {
		t := float64(i + 1)
		waves[i] = math.Sin(0.05*t*t) + 0.6*math.Sin(0.05*(t-1)*(t-1))
	}
	for _, c := range []struct {
		name                 string
		values               []float64
		bandwidth            int
		stationary, circular float64
	}{
		{"noise", autoregressive(0), 2, 1.9373394205, 2.2177000273},
		{"0.3", autoregressive(0.3), 4, 6.4498652388, 7.3832526014},
		{"0.7", autoregressive(0.7), 8, 11.8858292617, 13.6058780404},
		{"waves", waves, 2, 3.6096870522, 4.1320601798},
		{"a week that never ends", week, 14, 24, 24},
	} {
		got := BlockLength(c.values)
		require.InDelta(t, c.stationary, got.Stationary, 5e-10, c.name)
		require.InDelta(t, c.circular, got.Circular, 5e-10, c.name)
		e, _ := centred(c.values)
		p := pace{e: e, known: []float64{autocovariance(e, 0)}}
		require.Equal(t, c.bandwidth, p.bandwidth(), c.name)
	}
	for _, still := range [][]float64{nil, {1, 2}, {0.1, 0.1, 0.1, 0.1, 0.1}} {
		require.Equal(t, BlockLengths{1, 1}, BlockLength(still))
	}
}

// naiveBandwidth follows the text of the paper.
func naiveBandwidth(e []float64) int {
	n := float64(len(e))
	run := max(5, int(math.Ceil(math.Sqrt(math.Log10(n)))))
	longest := int(math.Ceil(math.Sqrt(n))) + run
	small := func(lag int) bool {
		return math.Abs(autocovariance(e, lag)/autocovariance(e, 0)) < 2*math.Sqrt(math.Log10(n)/n)
	}
	for m := 0; m <= longest-run; m++ {
		quiet := true
		for j := 1; j <= run; j++ {
			quiet = quiet && small(m+j)
		}
		if quiet {
			return min(2*max(m, 1), longest)
		}
	}
	last := longest
	for small(last) {
		last--
	}
	return min(2*max(last, 1), longest)
}

func TestTheBandwidthAgreesWithANaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draws := newChance(rapid.Uint64().Draw(t, "seed"), 2)
		phi, season := rapid.Float64Range(-0.95, 0.95).Draw(t, "phi"), rapid.Float64Range(0, 3).Draw(t, "season")
		last := 0.0
		e, _ := centred(series(rapid.IntRange(10, 400).Draw(t, "days"), func(t float64) float64 {
			last = phi*last + draws.normal()
			return last + season*math.Sin(t)
		}))
		p := pace{e: e, known: []float64{autocovariance(e, 0)}}
		require.Equal(t, naiveBandwidth(e), p.bandwidth())
	})
}

func TestTheMedianBlockIsThatOfTheSets(t *testing.T) {
	rows := [][]float64{autoregressive(0.7), autoregressive(0), autoregressive(0.3), make([]float64, 500)}
	for _, workers := range []int{1, 3} {
		block, err := MedianBlock(rowsOf(t, rows), workers)
		require.NoError(t, err)
		require.InDelta(t, 1.9373394205, block, 5e-10, "of four the second")
		block, err = MedianBlock(rowsOf(t, rows[:3]), workers)
		require.NoError(t, err)
		require.InDelta(t, 6.4498652388, block, 5e-10)
	}
}

func TestQuantilesAreValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64(), 1, 30).Draw(t, "values")
		slices.Sort(values)
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		require.Equal(t, stat.Quantile(q, stat.Empirical, values, nil), Quantile(q, values))
	})
}

// The first numbers of the published generator with the seed 1234567.
func TestTheGeneratorIsSplitMix(t *testing.T) {
	draws := chance{1234567}
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431} {
		require.Equal(t, want, draws.next())
	}
}
