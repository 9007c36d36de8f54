package research

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// play lets a sampler search a function of the places, and returns all that it tried.
func play(t *testing.T, m Method, sets int, seed uint64, f func(at []int) float64, dims ...Dimension) (tried []uint64,
	c *chooser) {
	space, err := NewSpace(dims...)
	require.NoError(t, err)
	c = &chooser{space: space, number: map[string]uint32{}, dataset: map[uint64]uint32{},
		look: func([]Setting) (string, error) { return "", nil }}
	s, err := newSampler(m, c, sets, seed)
	require.NoError(t, err)
	var values []float64
	for {
		batch, err := s.next(values)
		require.NoError(t, err)
		if len(batch) == 0 {
			return tried, c
		}
		values = values[:0]
		for _, b := range batch {
			tried, values = append(tried, b.set), append(values, f(space.Places(b.set)))
		}
	}
}

func axis(key string, n int) Dimension {
	d := Dimension{Key: key}
	for i := range n {
		d.Values = append(d.Values, string(rune('0'+i)))
	}
	return d
}

func TestCMAESFindsTheTopOfAHill(t *testing.T) {
	for seed := range uint64(10) {
		best := math.Inf(-1)
		tried, _ := play(t, CMAES, 600, seed, func(at []int) float64 {
			x, y, z := float64(at[0]-71), float64(at[1]-13), float64(at[2]-40)
			value := -(x*x + y*y + (z-x/2)*(z-x/2))
			best = max(best, value)
			return value
		}, axis("a", 100), axis("b", 100), axis("c", 100))
		require.LessOrEqual(t, len(tried), 600)
		require.Equal(t, 0.0, best, "seed %d: the best of 600 random points is at about -50", seed)
	}
}

func TestNoSetIsTriedTwice(t *testing.T) {
	for _, m := range []Method{Grid, Random, Sobol, CMAES} {
		sets := 90
		if m == Grid {
			sets = 0
		}
		tried, _ := play(t, m, sets, 3, func(at []int) float64 { return float64(at[0]) }, axis("a", 12), axis("b", 12))
		seen := map[uint64]bool{}
		for _, set := range tried {
			require.False(t, seen[set], "%s", m)
			seen[set] = true
		}
		if m != CMAES {
			require.Len(t, tried, map[Method]int{Grid: 144, Random: 90, Sobol: 90}[m])
		}
	}
}

func TestASpaceNoLargerThanTheSetsIsTriedWhole(t *testing.T) {
	for _, m := range []Method{Random, Sobol} {
		tried, _ := play(t, m, 500, 3, func([]int) float64 { return 0 }, axis("a", 12), axis("b", 12))
		require.Len(t, tried, 144)
	}
}

func TestSobolFillsEachQuarterAlike(t *testing.T) {
	tried, c := play(t, Sobol, 256, 5, func([]int) float64 { return 0 }, axis("a", 64), axis("b", 64))
	var quarters [4]int
	for _, set := range tried {
		at := c.space.Places(set)
		quarters[at[0]/32*2+at[1]/32]++
	}
	for _, n := range quarters {
		require.InDelta(t, 64, n, 4, "%v", quarters)
	}
}

func TestHalvingKeepsTheBestThird(t *testing.T) {
	rungSets := map[int]int{}
	tried, _ := play(t, Halving, 270, 5, func(at []int) float64 { return float64(at[0]) }, axis("a", 64), axis("b", 64))
	for i := range tried {
		rungSets[i]++
	}
	require.Len(t, tried, 270+90+30+10)
	require.Equal(t, uint8(4), rungs(270))
	require.Equal(t, uint8(1), rungs(20))
}

func TestUndefinedRanksLast(t *testing.T) {
	nan := math.NaN()
	require.Equal(t, []int{3, 1, 4, 0, 2}, ranked([]float64{nan, 2, nan, 3, 2}))
}
