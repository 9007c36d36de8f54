package stats

import (
	"flag"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// sizes is the number of made-up searches of each kind. With 500 and more the bounds are those that
// the statistics promise; with fewer they are wider.
var sizes = flag.Int("sizes", 25, "made-up searches of each kind that the tests of size and power judge")

// world is a market with sets that are long or flat by turns without any skill, but for a planted
// edge.
type world struct {
	days, sets int
	correlated bool    // returns in excess correlate with 0.5, else not
	drift      float64 // annual Sharpe ratio of the market
	edge       float64 // annual Sharpe ratio of set 0 in excess
}

// noise is the standard deviation of the market's daily return.
const noise = 0.03

// search draws the sets' returns in excess of a hold at their own mean exposure.
func (w world) search(seed uint64) Returns {
	draws := newChance(seed, 0)
	market := series(w.days, func(float64) float64 { return noise * (draws.normal() + w.drift/math.Sqrt(DaysPerYear)) })
	// A position is the sign of a slow random walk; walks that share a half of their variance by
	// amplitude √½ have signs that correlate with (2/π)·asin(√½) = 0.5.
	decay := math.Exp(-1.0 / 5)
	walk := func() []float64 {
		at := draws.normal()
		return series(w.days, func(float64) float64 {
			now := at
			at = decay*at + math.Sqrt(1-decay*decay)*draws.normal()
			return now
		})
	}
	common, share := walk(), 0.0
	if w.correlated {
		share = math.Sqrt(math.Sqrt(0.5))
	}
	rows := make([][]float64, w.sets)
	for set := range rows {
		own, held := walk(), 0.0
		row := make([]float64, w.days)
		for day := range row {
			if share*common[day]+math.Sqrt(1-share*share)*own[day] > 0 {
				row[day], held = market[day], held+1
			}
		}
		hold := series(w.days, func(t float64) float64 { return held / float64(w.days) * market[int(t)] })
		rows[set], _ = Excess(row, hold)
		if set == 0 && w.edge != 0 {
			r, _ := TrackRecordOf(rows[set])
			for day := range row {
				rows[set][day] += w.edge / math.Sqrt(DaysPerYear) * r.SD
			}
		}
	}
	r, _ := Rows(rows)
	return r
}

// judged is what the tests say about one search.
type judged struct {
	fixed, best, dsr float64 // p of set 0; of the best set; of the best set, deflated
	spa              Superior
	pbo              float64
}

func judge(t *testing.T, r Returns, seed uint64) (j judged) {
	records, sharpes := make([]TrackRecord, r.Sets), make([]float64, r.Sets)
	best, row := 0, make([]float64, r.Days)
	for set := range records {
		require.NoError(t, r.Row(set, row))
		var err error
		records[set], err = TrackRecordOf(row)
		require.NoError(t, err)
		sharpes[set] = records[set].Sharpe
		if sharpes[set] > sharpes[best] {
			best = set
		}
	}
	tries, err := TrialsOf(sharpes)
	require.NoError(t, err)
	j.fixed, j.best, j.dsr = records[0].P(0), records[best].P(0), 1-DSR(&records[best], tries)
	j.spa, err = SPA(r, Resampling{Resamples: 299, Seed: seed}, 1)
	require.NoError(t, err)
	o, err := PBO(r, 16, 1)
	require.NoError(t, err)
	j.pbo = o.PBO
	return j
}

// judgeAll judges so many searches of a world, on all cores.
func judgeAll(t *testing.T, w world, number int, seed uint64) []judged {
	all := make([]judged, number)
	err := inParallel(runtime.GOMAXPROCS(0), number, func(_, i int) error {
		all[i] = judge(t, w.search(seed+uint64(i)), uint64(i))
		return nil
	})
	require.NoError(t, err)
	return all
}

// alarms is how many of 100 searches a test finds something in, at 5 %.
func alarms(all []judged, p func(judged) float64) float64 {
	count := 0
	for _, j := range all {
		if p(j) <= 0.05 {
			count++
		}
	}
	return 100 * float64(count) / float64(len(all))
}

func fixed(j judged) float64      { return j.fixed }
func best(j judged) float64       { return j.best }
func dsr(j judged) float64        { return j.dsr }
func consistent(j judged) float64 { return j.spa.Consistent }
func lower(j judged) float64      { return j.spa.Lower }
func upperP(j judged) float64     { return j.spa.Upper }
func white(j judged) float64      { return j.spa.RealityCheck }

// meanPBO is the mean of PBO over searches, and its spread.
func meanPBO(all []judged) (mean, spread float64) {
	var square float64
	for _, j := range all {
		mean += j.pbo / float64(len(all))
	}
	for _, j := range all {
		square += (j.pbo - mean) * (j.pbo - mean)
	}
	return mean, math.Sqrt(square / float64(len(all)-1))
}

// allowed are the rates in % that may be seen in so many searches: from low to high in 1,000 (2.6
// standard errors at 5 %) and in more, the same number of standard errors in fewer.
func allowed(low, high float64, number int) (from, to float64) {
	factor := max(1, math.Sqrt(1000/float64(number)))
	from, to = 5-(5-low)*factor, 5+(high-5)*factor
	// Few alarms are no normal number: at least the count of a binomial law that one in 1,000
	// exceeds.
	law := distuv.Binomial{N: float64(number), P: 0.05}
	count := 0.0
	for law.Survival(count) > 0.001 {
		count++
	}
	return from, max(to, 100*count/float64(number))
}

// Without any edge, a test at 5 % may raise an alarm in about 5 of 100 searches, with drift or
// without: 730 days, 50 sets.
func TestTheSizeOfEachTestOfASearch(t *testing.T) {
	if testing.Short() {
		*sizes = min(*sizes, 3)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\n%d searches each; alarms in %%\n| ρ | drift | PSR fixed | PSR best | DSR | SPA l | SPA c | "+
		"SPA u | RC | PBO | block | KS of PSR |\n", *sizes)
	var all []judged
	for i, w := range []world{{correlated: false}, {correlated: true}} {
		var both []judged
		for _, w.drift = range []float64{0, 1} {
			w.days, w.sets = 730, 50
			kind := judgeAll(t, w, *sizes, uint64(i)<<32|uint64(w.drift)<<31)
			text.WriteString(w.row(kind))
			both = append(both, kind...)
		}
		low, high := allowed(3.2, 6.9, len(both))
		require.GreaterOrEqual(t, alarms(both, fixed), low, "PSR, %+v", w)
		require.LessOrEqual(t, alarms(both, fixed), high, "PSR, %+v", w)
		require.LessOrEqual(t, alarms(both, dsr), high, "DSR, %+v", w)
		require.LessOrEqual(t, alarms(both, consistent), high, "SPA, %+v", w)
		require.LessOrEqual(t, distance(both), 1.63/math.Sqrt(float64(len(both))), "p of a fixed set is uniform (1 %%)")
		all = append(all, both...)
	}
	mean, _ := meanPBO(all)
	require.InDelta(t, 0.5, mean, 0.03*math.Max(1, math.Sqrt(1000/float64(len(all)))), "mean PBO of %d", len(all))
	t.Log(text.String())
}

// row is a line of the table.
func (w world) row(all []judged) string {
	mean, spread := meanPBO(all)
	var blocks []float64
	for _, j := range all {
		blocks = append(blocks, j.spa.Block)
	}
	slices.Sort(blocks)
	return fmt.Sprintf("| %v | %g | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.3f ± %.3f | %.1f | %.3f |\n",
		map[bool]float64{false: 0, true: 0.5}[w.correlated], w.drift, alarms(all, fixed), alarms(all, best),
		alarms(all, dsr), alarms(all, lower), alarms(all, consistent), alarms(all, upperP), alarms(all, white), mean,
		spread, Quantile(0.5, blocks), distance(all))
}

// distance is the greatest between the share of p-values of a fixed set below x and x itself
// (Kolmogorov, Smirnov).
func distance(all []judged) (most float64) {
	var values []float64
	for _, j := range all {
		values = append(values, j.fixed)
	}
	slices.Sort(values)
	n := float64(len(values))
	for i, x := range values {
		most = max(most, x-float64(i)/n, float64(i+1)/n-x)
	}
	return most
}

// One of 50 correlated sets has an edge.
func TestThePowerOfEachTestOfASearch(t *testing.T) {
	if *sizes < 100 {
		t.Skip("a table for people: -sizes 1000")
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\n%d searches each; found in %%\n| years | edge | PSR fixed | DSR | SPA c | mean PBO |\n",
		*sizes)
	for _, years := range []int{1, 2, 4} {
		for _, edge := range []float64{0.5, 1, 2} {
			w := world{days: years * DaysPerYear, sets: 50, correlated: true, drift: 1, edge: edge}
			all := judgeAll(t, w, *sizes, 99<<32)
			mean, _ := meanPBO(all)
			fmt.Fprintf(&text, "| %d | %g | %.1f | %.1f | %.1f | %.2f |\n", years, edge, alarms(all, fixed),
				alarms(all, dsr), alarms(all, consistent), mean)
		}
	}
	t.Log(text.String())
}
