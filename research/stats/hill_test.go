package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The valley between two hills falls below half of the lower one's lead over the median, here 0.
func TestTwoTopsAreTwoHillsIfTheValleyIsDeep(t *testing.T) {
	none := math.NaN()
	tops := func(values []float64, steps ...int) (list [][2]int) {
		for _, h := range Hills(values, steps) {
			list = append(list, [2]int{h.Top, h.Sets})
		}
		return list
	}
	for _, c := range []struct {
		name   string
		values []float64
		want   [][2]int
	}{
		{"a deep valley", []float64{0, 0, 0, 0, 8, 9, 3, 8, 0, 0, 0}, [][2]int{{5, 2}, {7, 1}}},
		{"a flat one", []float64{0, 0, 0, 0, 8, 9, 4, 8, 0, 0, 0}, [][2]int{{5, 2}}},
		{"a hole", []float64{0, 0, 0, 0, 8, 9, none, 8, 0, 0, 0}, [][2]int{{5, 2}, {7, 1}}},
		{"equal tops", []float64{0, 0, 0, 0, 9, 0, 9, 0, 0, 0, 0}, [][2]int{{4, 1}, {6, 1}}},
		{"a terrace", []float64{0, 0, 0, 0, 9, 9, 9, 0, 0, 0, 0}, [][2]int{{4, 3}}},
		{"nothing above the median", []float64{1, 1, 1, 1}, nil},
		{"no value", []float64{none, none}, nil},
	} {
		require.Equal(t, c.want, tops(c.values, len(c.values)), c.name)
	}
	// neighbours meet at corners
	require.Equal(t, [][2]int{{0, 2}}, tops([]float64{9, 0, 0, 0, 8, 0, 0, 0, 0}, 3, 3))
	require.Equal(t, [][2]int{{0, 1}, {8, 1}}, tops([]float64{9, 0, 0, 0, 0, 0, 0, 0, 8}, 3, 3))
}

// The part of chance is taken off: what does not matter explains nothing on average, and the parts
// are those of the sums that made the values.
func TestExplainedIsThePartOfAParameter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	mean := [3]float64{}
	const rounds, sets = 200, 400
	for range rounds {
		values, a, b, idle := make([]float64, sets), make([]int, sets), make([]int, sets), make([]int, sets)
		for i := range values {
			a[i], b[i], idle[i] = random.IntN(10), random.IntN(10), random.IntN(10)
			values[i] = 3*float64(a[i]) + float64(b[i])
		}
		for i, group := range [][]int{a, b, idle} {
			mean[i] += Explained(values, group) / rounds
		}
	}
	require.InDelta(t, 0.9, mean[0], 0.01)
	require.InDelta(t, 0.1, mean[1], 0.03)
	require.InDelta(t, 0, mean[2], 0.015)
	require.True(t, math.IsNaN(Explained([]float64{1, 2}, []int{0, 1})), "each value is a group")
	require.True(t, math.IsNaN(Explained([]float64{1, 1, 1}, []int{0, 0, 1})), "nothing varies")
}
