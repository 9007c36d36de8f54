package stats

import (
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// matrix32 are seeded normal returns of sets that share half of their variance.
func matrix32(tb testing.TB, sets, days int) Returns {
	draws := newChance(1, 0)
	common := series(days, func(float64) float64 { return draws.normal() })
	values := make([]float32, 0, sets*days)
	for range sets {
		for day := range days {
			values = append(values, float32(0.02*(common[day]+draws.normal())))
		}
	}
	r, err := Rows32(days, values)
	require.NoError(tb, err)
	return r
}

// amounts are the sets, days and resamples of the goals; with -short a few, to see that it works.
func amounts() (sets, days, resamples int) {
	if testing.Short() {
		return 200, 200, 100
	}
	return 10_000, 1_000, 1_000
}

// measure reports the CPU time of ours on one core beside that of a floor.
func measure(b *testing.B, ours, floor func()) {
	cpu := func(work func()) float64 {
		began := spent()
		work()
		return 1e3 * (spent() - began)
	}
	for b.Loop() {
		took, least := cpu(ours), cpu(floor)
		b.ReportMetric(took, "cpu-ms")
		b.ReportMetric(least, "floor-ms")
		b.ReportMetric(took/least, "x-floor")
	}
}

// spent is the processor time of the process so far, in seconds.
func spent() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

// The floor is one comparison of Sharpe ratios for each set and split, of sums that are there.
func BenchmarkPBO(b *testing.B) {
	sets, days, _ := amounts()
	r, splits := matrix32(b, sets, days), 0
	sums, squares := make([]float64, sets), make([]float64, sets)
	for set := range sums {
		sums[set], squares[set] = float64(set%97), float64(1000+set)
	}
	measure(b, func() {
		o, err := PBO(r, 16, 1)
		require.NoError(b, err)
		splits = o.Splits
	}, func() {
		for range splits {
			best := math.Inf(-1)
			for set, sum := range sums {
				best = max(best, sum*math.Abs(sum)/(squares[set]*500-sum*sum))
			}
			kept += best
		}
	})
}

// The floor is that of the plain way: one addition for each day of each resample of each set, in
// the order of days. Tables of three days need a third as many.
func BenchmarkSPA(b *testing.B) {
	sets, days, resamples := amounts()
	r, row := matrix32(b, sets, days), make([]float64, days)
	measure(b, func() {
		_, err := SPA(r, Resampling{Resamples: resamples, Seed: 1}, 1)
		require.NoError(b, err)
	}, func() {
		for range sets * resamples {
			var even, odd float64
			for day := 0; day+1 < len(row); day += 2 {
				even, odd = even+row[day], odd+row[day+1]
			}
			kept += even + odd
		}
	})
}

var kept float64
