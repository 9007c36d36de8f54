package stats

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAdjustedPValuesOfTenTests(t *testing.T) {
	p := []float64{0.0004, 0.0100, 0.0031, 0.0400, 0.2000, 0.0100, 0.0012, 0.7500, 0.0290, 0.0600}
	require.InDeltaSlice(t, []float64{0.004, 0.1, 0.031, 0.4, 1, 0.1, 0.012, 1, 0.29, 0.6}, Bonferroni(p), 1e-15)
	require.InDeltaSlice(t, []float64{0.004, 0.07, 0.0248, 0.16, 0.4, 0.07, 0.0108, 0.75, 0.145, 0.18}, Holm(p), 1e-15)
	require.InDeltaSlice(t, []float64{0.011715873016, 0.058579365079, 0.030266005291, 0.167369614512, 0.650881834215,
		0.058579365079, 0.017573809524, 1, 0.141566798942, 0.219672619048}, BHY(p), 5e-13)
	for _, adjust := range []func([]float64) []float64{Bonferroni, Holm, BHY} {
		require.Empty(t, adjust(nil))
		require.Equal(t, []float64{0.03}, adjust([]float64{0.03}))
	}
}

func TestAdjustedPValuesKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 20), func(i int) float64 { return float64(i) / 20 }), 1, 15).
			Draw(t, "p")
		bonferroni, holm, bhy := Bonferroni(p), Holm(p), BHY(p)
		for i := range p {
			if !(p[i] <= holm[i] && holm[i] <= bonferroni[i] && bonferroni[i] <= 1 && p[i] <= bhy[i] && bhy[i] <= 1) {
				t.Fatalf("%v: Bonferroni %v, Holm %v, BHY %v", p[i], bonferroni[i], holm[i], bhy[i])
			}
			for j := range p {
				if p[i] <= p[j] && (holm[i] > holm[j] || bhy[i] > bhy[j]) {
					t.Fatalf("%v and %v change their order", p[i], p[j])
				}
			}
		}
		slices.Reverse(p)
		slices.Reverse(holm)
		slices.Reverse(bhy)
		require.Equal(t, holm, Holm(p))
		require.Equal(t, bhy, BHY(p))
	})
}

func TestAWinnerAloneIsNoPlateau(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		name  string
		want  Plateau
		steps []int
		at    int
		grid  []float64
	}{
		{"a spike", Plateau{0, 8, 0, 0, 0}, []int{3, 3}, 4, []float64{0, 0, 0, 0, 3, 0, 0, 0, 0}},
		{"a hill", Plateau{2.0 / 3, 3, 1, 2, 0}, []int{3, 4}, 0, []float64{3, 2, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0}},
		{"one dimension", Plateau{0.5, 2, 1, 1, -1}, []int{7}, 2, []float64{-1, 1, 3, 1, -1, -5, -1}},
		{"a neighbour left out", Plateau{1, 1, 3, 3, 0}, []int{6}, 2, []float64{0, none, 3, 3, 0, 0}},
		{"worse than any", Plateau{-1, 2, -3, -3, 0}, []int{7}, 3, []float64{0, 0, -3, 3, -3, 0, 0}},
	} {
		got, ok := PlateauOf(c.grid, c.steps, c.at)
		require.True(t, ok, c.name)
		require.InDelta(t, c.want.Score, got.Score, 1e-15, c.name)
		got.Score = c.want.Score
		require.Equal(t, c.want, got, c.name)
	}
	for _, c := range []struct {
		grid []float64
		at   int
	}{{[]float64{1}, 0}, {[]float64{none, 3, none, 1}, 1}, {[]float64{1, 1, 1}, 1}, {[]float64{1, none, 2}, 1},
		{[]float64{3, 2, 1}, 2}} {
		_, ok := PlateauOf(c.grid, []int{len(c.grid)}, c.at)
		require.False(t, ok, "%v", c)
	}
}

func TestNeighboursAreOneStepAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(1, 5), 1, 4).Draw(t, "steps")
		total := 1
		for _, n := range steps {
			total *= n
		}
		at := rapid.IntRange(0, total-1).Draw(t, "at")
		place := func(i int) (coordinates []int) {
			for _, n := range slices.Backward(steps) {
				coordinates = append(coordinates, i%n)
				i /= n
			}
			return coordinates
		}
		var want []int
		for i := range total {
			near := i != at
			for d, x := range place(i) {
				near = near && x-place(at)[d] <= 1 && place(at)[d]-x <= 1
			}
			if near {
				want = append(want, i)
			}
		}
		require.Equal(t, append([]int{}, want...), append([]int{}, neighbours(steps, at)...))
	})
}
