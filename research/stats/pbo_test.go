package stats

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

// grid32x5 is the matrix of the vectors: 5 sets of 32 days.
func grid32x5() [][]float64 {
	rows := make([][]float64, 5)
	for i := range rows {
		n := float64(i + 1)
		rows[i] = series(32, func(t float64) float64 {
			return (math.Sin(1.3*t+n)*math.Cos(0.37*t*n) + 0.05*n) / 100
		})
	}
	return rows
}

func rowsOf(t require.TestingT, rows [][]float64) Returns {
	r, err := Rows(rows)
	require.NoError(t, err)
	return r
}

func TestPBOOfAFixedMatrix(t *testing.T) {
	rows := grid32x5()
	for i, want := range []float64{.1550794727, .1740358025, .2941023994, .4981592707, .4379496993} {
		require.InDelta(t, want, Sharpe(rows[i]), 5e-11)
	}
	o, err := PBO(rowsOf(t, rows), 8, 1)
	require.NoError(t, err)
	require.Equal(t, []int{5, 32, 0, 8, 70}, []int{o.Sets, o.Days, o.Unused, o.Blocks, o.Splits})
	require.InDelta(t, 55.0/70, o.PBO, 1e-15)
	require.InDelta(t, 15.0/70, o.Loss, 1e-15)
	require.InDelta(t, -0.5942646520765, o.MeanLogit, 5e-14)
	require.InDelta(t, -0.6931471806, o.MedianLogit, 5e-11)
	require.InDelta(t, -0.6670055466364, o.Slope, 5e-14)
	require.InDelta(t, 0.6317899981099, o.Intercept, 5e-14)
	require.InDelta(t, 0.3345983534, o.RSquared, 5e-11)
	require.InDelta(t, 0.6875555658, stat.Mean(o.InSample, nil), 5e-11)
	require.InDelta(t, 0.1731866221, stat.Mean(o.OutOfSample, nil), 5e-11)
	counts := map[float64]int{}
	for _, logit := range o.Logits {
		counts[math.Round(logit*1e6)/1e6]++
	}
	require.Equal(t, map[float64]int{-1.609438: 28, -0.693147: 10, 0: 17, 0.693147: 15}, counts)
}

// naivePBO takes each half of the blocks by itself and measures every set on its days.
func naivePBO(rows [][]float64, blocks int) (o Overfitting) {
	length := len(rows[0]) / blocks
	unused := len(rows[0]) - blocks*length
	half := func(row []float64, mask uint32) (days []float64) {
		for block := range blocks {
			if mask>>block&1 != 0 {
				days = append(days, row[unused+block*length:][:length]...)
			}
		}
		return days
	}
	for mask := range uint32(1) << blocks {
		if bits.OnesCount32(mask) != blocks/2 {
			continue
		}
		winner, best := 0, math.Inf(-1)
		for set, row := range rows {
			if sharpe := Sharpe(half(row, mask)); sharpe > best {
				winner, best = set, sharpe
			}
		}
		out, rank := Sharpe(half(rows[winner], ^mask)), 0
		for _, row := range rows {
			if Sharpe(half(row, ^mask)) <= out {
				rank++
			}
		}
		share := float64(rank) / float64(len(rows)+1)
		o.Winners = append(o.Winners, winner)
		o.Logits = append(o.Logits, math.Log(share/(1-share)))
		o.InSample, o.OutOfSample = append(o.InSample, best), append(o.OutOfSample, out)
	}
	return o
}

// drawRows draws returns of sets: some trade in the last days alone, some are copies of others,
// some never trade. A single day would have the same Sharpe ratio in every set, and rounding would
// choose the winner.
func drawRows(t *rapid.T, most, days, last int) [][]float64 {
	draws := newChance(rapid.Uint64().Draw(t, "seed"), 0)
	rows := make([][]float64, rapid.IntRange(2, most).Draw(t, "sets"))
	for i := range rows {
		kind := draws.below(8)
		if kind == 0 && i > 0 {
			rows[i] = slices.Clone(rows[draws.below(i)])
			continue
		}
		rows[i] = series(days, func(day float64) float64 {
			if kind == 1 || kind == 2 && int(day) < days-last {
				return 0
			}
			return 0.02*draws.normal() + 0.001
		})
	}
	return rows
}

func TestPBOAgreesWithANaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks := 2 * rapid.IntRange(1, 4).Draw(t, "half of the blocks")
		days := rapid.IntRange(2*blocks, 5*blocks).Draw(t, "days")
		rows := drawRows(t, 6, days, days/blocks)
		got, err := PBO(rowsOf(t, rows), blocks, 2)
		require.NoError(t, err)
		want := naivePBO(rows, blocks)
		require.Equal(t, len(want.Logits), got.Splits)
		// The splits come in another order: each is found by its mask.
		c := newCSCV(rowsOf(t, rows), blocks)
		place := map[uint32]int{}
		for i, mask := range c.masks {
			place[mask], place[^mask&(1<<blocks-1)] = 2*i, 2*i+1
		}
		next := 0
		for mask := range uint32(1) << blocks {
			if bits.OnesCount32(mask) != blocks/2 {
				continue
			}
			i := place[mask]
			require.Equal(t, want.Winners[next], got.Winners[i], "split %b", mask)
			require.InDelta(t, want.Logits[next], got.Logits[i], 1e-12)
			near(t, want.InSample[next], got.InSample[i])
			near(t, want.OutOfSample[next], got.OutOfSample[i])
			next++
		}
		intercept, slope := stat.LinearRegression(got.InSample, got.OutOfSample, nil, false)
		if got.RSquared > 0 {
			require.InDelta(t, slope, got.Slope, 1e-6*(1+math.Abs(slope)))
			require.InDelta(t, intercept, got.Intercept, 1e-6*(1+math.Abs(intercept)))
			require.InDelta(t, stat.RSquared(got.InSample, got.OutOfSample, nil, got.Intercept, got.Slope),
				got.RSquared, 1e-6)
		}
	})
}

// near allows for the digits that sums of squares lose where a few days are nearly equal.
func near(t require.TestingT, want, got float64) {
	require.InDelta(t, want, got, 1e-12*(1+math.Pow(math.Abs(want), 3)))
}

// Without equal sets, of which the lowest wins, the order of sets plays no part.
func TestPBODoesNotDependOnTheOrderOfSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := denseRows(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(2, 20).Draw(t, "sets"), 40)
		want, err := PBO(rowsOf(t, rows), 8, 1)
		require.NoError(t, err)
		for i, set := range want.Winners {
			want.Winners[i] = len(rows) - 1 - set
		}
		slices.Reverse(rows)
		got, err := PBO(rowsOf(t, rows), 8, 2)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// denseRows are sets of independent normal returns of 2 % a day.
func denseRows(seed uint64, sets, days int) [][]float64 {
	draws, rows := newChance(seed, 1), make([][]float64, sets)
	for i := range rows {
		rows[i] = series(days, func(float64) float64 { return 0.02 * draws.normal() })
	}
	return rows
}

// A multiple of each set's returns or other goroutines change nothing.
func TestPBODependsOnSharpeRatiosAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 20, 40, 5)
		want, err := PBO(rowsOf(t, rows), 8, 1)
		require.NoError(t, err)
		for _, workers := range []int{2, 7} {
			got, err := PBO(rowsOf(t, rows), 8, workers)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		// Powers of two do not round.
		scaled := make([][]float64, len(rows))
		for i, row := range rows {
			scaled[i] = series(len(row), func(t float64) float64 { return math.Ldexp(row[int(t)], i%9-4) })
		}
		got, err := PBO(rowsOf(t, scaled), 8, 3)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestPBOOfAPlantedEdgeIsSmall(t *testing.T) {
	rows := denseRows(5, 50, 800)
	null, err := PBO(rowsOf(t, rows), 16, 1)
	require.NoError(t, err)
	require.Equal(t, 12870, null.Splits)
	for day := range rows[7] {
		rows[7][day] += 0.008
	}
	edge, err := PBO(rowsOf(t, rows), 16, 1)
	require.NoError(t, err)
	require.Greater(t, null.PBO, 0.1)
	require.Less(t, edge.PBO, 0.01)
	require.Less(t, edge.Loss, 0.01)
}

func TestNeighbouringSplitsDifferByOneBlock(t *testing.T) {
	for n := range 12 {
		for k := range n + 1 {
			choices := revolvingDoor(n, k, nil)
			seen := map[uint32]bool{}
			for i, mask := range choices {
				require.Equal(t, k, bits.OnesCount32(mask))
				require.Less(t, mask, uint32(1)<<n)
				require.False(t, seen[mask])
				seen[mask] = true
				if i > 0 {
					require.Equal(t, 2, bits.OnesCount32(mask^choices[i-1]))
				}
			}
			require.Len(t, choices, int(math.Round(math.Exp(lchoose(n, k)))))
		}
	}
}

func lchoose(n, k int) float64 {
	gamma := func(n int) float64 { g, _ := math.Lgamma(float64(n + 1)); return g }
	return gamma(n) - gamma(k) - gamma(n-k)
}

func TestSumsOfBlocksAreExactInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 16).Draw(t, "values")
		rounded := slices.Clone(values)
		exact(rounded)
		var magnitude, forth, back float64
		for i := range values {
			magnitude += math.Abs(values[i])
		}
		for i := range values {
			require.InDelta(t, values[i], rounded[i], math.Ldexp(magnitude, -50))
			forth += rounded[i]
			back += rounded[len(values)-1-i]
		}
		require.Equal(t, forth, back)
		for i := range values {
			forth -= rounded[i]
		}
		require.Zero(t, forth)
	})
}

func TestASearchThatIsTooSmallIsRefused(t *testing.T) {
	rows := grid32x5()
	for _, blocks := range []int{-2, 0, 3, 22, 18} {
		_, err := PBO(rowsOf(t, rows), blocks, 1)
		require.Error(t, err, "%d blocks", blocks)
	}
	_, err := PBO(rowsOf(t, rows[:1]), 8, 1)
	require.ErrorContains(t, err, "at least 2 sets")
	_, err = Rows([][]float64{{1, 2}, {1}})
	require.ErrorContains(t, err, "set 1 has 1 days")
	_, err = Rows32(3, make([]float32, 7))
	require.ErrorContains(t, err, "no whole number of sets")
	_, err = Excess([]float64{1}, nil)
	require.Error(t, err)
}

// The error of the lowest set that has one comes out, whatever the goroutines do.
func TestASetThatCannotBeReadIsNamed(t *testing.T) {
	rows := grid32x5()
	rows[3][4] = math.NaN()
	unread := errors.New("the disk is gone")
	r := rowsOf(t, rows)
	row := r.Row
	for _, workers := range []int{1, 4} {
		_, err := PBO(r, 8, workers)
		require.ErrorContains(t, err, "the return of set 3 on day 4 is NaN")
		_, err = SPA(r, Resampling{Resamples: 3}, workers)
		require.ErrorContains(t, err, "set 3 on day 4")
		_, err = SPA(r, Resampling{Resamples: 3, Block: 2}, workers)
		require.ErrorContains(t, err, "set 3 on day 4")
		r.Row = func(set int, into []float64) error {
			if set == 2 {
				return unread
			}
			return row(set, into)
		}
		_, err = PBO(r, 8, workers)
		require.ErrorIs(t, err, unread)
		require.ErrorContains(t, err, "set 2")
		r.Row = row
	}
}
