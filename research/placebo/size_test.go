//go:build !raced

package placebo_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/placebo"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// sizes is the number of made-up markets of each kind. From 600 on the bounds are those that the
// test promises; with fewer they are wider.
var sizes = flag.Int("sizes", 20, "made-up markets of each kind that the tests of size and power judge")

// kind is a made-up market of daily candles.
type kind struct {
	days     int     // with a return of the sets; the warm-up comes before them
	drift    float64 // annual Sharpe ratio of the market
	law      string  // of a move: normal, t3 or skewed
	leverage bool    // falls raise the volatility
	edge     float64 // share of the variance that is a slow momentum
}

// The market: 3 % a day, in clusters; a momentum lasts 20 days by half.
const (
	daily    = 0.03
	halfLife = 20
	warm     = 100 // days before the first return of a set
)

// closes draws the closes of a market, the first before the warm-up.
func (k kind) closes(seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 77))
	gamma := distuv.Gamma{Alpha: 8, Beta: 1, Src: rand.NewPCG(seed, 78)}
	draw := func() float64 {
		switch k.law {
		case "t3":
			square := 0.0
			for range 3 {
				x := r.NormFloat64()
				square += x * x
			}
			return r.NormFloat64() / math.Sqrt(square) // t with 3 degrees of freedom ÷ its deviation √3
		case "skewed":
			return (8 - gamma.Rand()) / math.Sqrt(8) // skew −0.71
		}
		return r.NormFloat64()
	}
	alpha, asymmetry, beta := 0.08, 0.0, 0.90
	if k.leverage {
		alpha, asymmetry = 0.02, 0.13
	}
	decay := math.Pow(0.5, 1.0/halfLife)
	variance, momentum, price := 1.0, r.NormFloat64(), 0.0
	list := []float64{1}
	for range k.days + warm {
		e := math.Sqrt(variance) * draw()
		variance = 1 - alpha - asymmetry/2 - beta + beta*variance + alpha*e*e
		if e < 0 {
			variance += asymmetry * e * e
		}
		price += daily * (k.drift/math.Sqrt(stats.DaysPerYear) + math.Sqrt(k.edge)*momentum + math.Sqrt(1-k.edge)*e)
		momentum = decay*momentum + math.Sqrt(1-decay*decay)*r.NormFloat64()
		list = append(list, math.Exp(price))
	}
	return list
}

// plan is that of a market's candles.
func (k kind) plan(seed uint64) *backtest.Plan {
	var list []market.Candle
	before := market.Price(0)
	for i, x := range k.closes(seed) {
		price := max(market.Price(x*1e6+0.5), 1)
		if i == 0 {
			before = price
		}
		list = append(list, market.Candle{Open: before, Close: price, High: max(before, price), Low: min(before, price),
			Volume: 1, Start: market.Interval1d.StartOf(int64(i)), Interval: market.Interval1d})
		before = price
	}
	return &backtest.Plan{
		Feeds: []backtest.Feed{{Market: &market.Market{ID: 1, Name: "A-EUR"}, Interval: market.Interval1d,
			Drive: true}},
		Open: func(backtest.Feed, market.Time, market.Time) (backtest.Source, error) {
			return &batch{list}, nil
		}}
}

// pair is a set: long while the fast average is above the slow one, else flat; at closing prices,
// without costs.
type pair struct{ fast, slow int }

// pairs are the 50 sets of the search. fixed is the one that has most of the momentum.
func pairs() (list []pair) {
	for _, slow := range []int{10, 15, 20, 30, 50, 75, 100} {
		for _, fast := range []int{2, 3, 5, 8, 10, 15, 20, 25, 30} {
			if fast < slow {
				list = append(list, pair{fast, slow})
			}
		}
	}
	return list
}

var fixed = pair{5, 30}

// trader runs the sets over a plan's candles. It keeps its memory.
type trader struct {
	sums, returns []float64
	raw, excess   [][]float64 // by set
}

// trade fills in the returns of all sets, and finds the winner by the Sharpe ratio.
func (x *trader) trade(t *testing.T, p *backtest.Plan) (winner int) {
	source, err := p.Open(p.Feeds[0], 0, 0)
	require.NoError(t, err)
	x.sums, x.returns = append(x.sums[:0], 0), x.returns[:0]
	for {
		batch, err := source.Next()
		if err != nil {
			break
		}
		for i := range batch {
			price := float64(batch[i].Close)
			n := len(x.sums)
			x.sums = append(x.sums, x.sums[n-1]+price)
			if n >= 2 {
				x.returns = append(x.returns, price/(x.sums[n-1]-x.sums[n-2])-1)
			}
		}
	}
	if x.raw == nil {
		x.raw, x.excess = make([][]float64, len(pairs())), make([][]float64, len(pairs()))
	}
	best := math.Inf(-1)
	for i, set := range pairs() {
		x.set(i, set)
		if sharpe := stats.Sharpe(x.raw[i]); sharpe > best {
			winner, best = i, sharpe
		}
	}
	return winner
}

// set fills in the returns of one set.
func (x *trader) set(i int, set pair) {
	raw, held := x.raw[i][:0], 0.0
	fast, slow := 1/float64(set.fast), 1/float64(set.slow)
	for day := warm; day < len(x.returns); day++ { // decided on the closes up to number day, from 0
		end := x.sums[day+1]
		r := 0.0
		if (end-x.sums[day+1-set.fast])*fast > (end-x.sums[day+1-set.slow])*slow {
			r, held = x.returns[day], held+1
		}
		raw = append(raw, r)
	}
	excess, part := x.excess[i][:0], held/float64(len(raw))
	for day, r := range raw {
		excess = append(excess, r-part*x.returns[warm+day])
	}
	x.raw[i], x.excess[i] = raw, excess
}

// theta is the winner's annual Sharpe ratio in excess.
func (x *trader) theta(t *testing.T, p *backtest.Plan) float64 {
	return stats.Annual(stats.Sharpe(x.excess[x.trade(t, p)]))
}

// p is the p-value of a placebo with so many surrogates.
func (x *trader) p(t *testing.T, p *backtest.Plan, seed uint64, surrogates int) float64 {
	d, err := placebo.NewData(placebo.Rules{Seed: seed})
	require.NoError(t, err)
	require.NoError(t, d.Note(p))
	require.NoError(t, d.Read(0))
	real := x.theta(t, p)
	thetas := make([]float64, surrogates)
	var s *placebo.Surrogate
	for i := range thetas {
		s = d.Surrogate(i+1, s)
		altered := *p
		s.Alter(&altered)
		thetas[i] = x.theta(t, &altered)
	}
	return stats.PValue(real, thetas)
}

// each calls do for each number below n, on all cores.
func each(n int, do func(x *trader, i int)) {
	var running sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for first := range cores {
		running.Go(func() {
			var x trader
			for i := first; i < n; i += cores {
				do(&x, i)
			}
		})
	}
	running.Wait()
}

// share is how many of 100 values are at most a level.
func share(values []float64, level float64) float64 {
	count := 0
	for _, x := range values {
		if x <= level+1e-12 {
			count++
		}
	}
	return 100 * float64(count) / float64(len(values))
}

// distance is the greatest between the share of p-values up to k/n and k/n itself (Kolmogorov,
// Smirnov), where p is a multiple of 1/n.
func distance(values []float64, n int) (most float64) {
	for k := 1; k <= n; k++ {
		at := float64(k) / float64(n)
		most = max(most, math.Abs(share(values, at)/100-at))
	}
	return most
}

// limits are the least and the greatest rate in % that may be seen where 5 is the truth: 2.7 to 7.3
// in 600 markets, the same number of standard errors in others, and at least what a binomial law
// exceeds in one of 1,000.
func limits(number int) (low, high float64) {
	factor := math.Sqrt(600 / float64(number))
	law := distuv.Binomial{N: float64(number), P: 0.05}
	count := 0.0
	for law.Survival(count) > 0.001 {
		count++
	}
	return 5 - 2.3*factor, max(5+2.3*factor, 100*count/float64(number))
}

// Where there is nothing to find, p is uniform, whatever the volatility and the tails do; skew and
// leverage, which surrogates lose, do not raise more alarms.
func TestTheSizeOfThePlacebo(t *testing.T) {
	number, surrogates := min(*sizes, 600), 99
	if number < 100 {
		surrogates = 19
	}
	for i, k := range []kind{{law: "normal"}, {law: "t3"}, {law: "skewed", leverage: true}} {
		if testing.Short() && i > 0 {
			break
		}
		k.days, k.drift = 730, 1
		values := make([]float64, number)
		each(number, func(x *trader, n int) {
			seed := uint64(i)<<32 | uint64(n)
			values[n] = x.p(t, k.plan(seed), seed, surrogates)
		})
		apart := distance(values, surrogates+1)
		t.Logf("%s, leverage %v: p ≤ 0.05 in %.1f %%, ≤ 0.10 in %.1f %%, ≤ 0.50 in %.1f %%, KS %.3f; %d markets, %d "+
			"surrogates", k.law, k.leverage, share(values, 0.05), share(values, 0.1), share(values, 0.5), apart, number,
			surrogates)
		low, high := limits(number)
		if k.leverage {
			require.LessOrEqual(t, share(values, 0.05), high-0.4*math.Sqrt(600/float64(number)), "skewed")
			continue
		}
		require.GreaterOrEqual(t, share(values, 0.05), low, k.law)
		require.LessOrEqual(t, share(values, 0.05), high, k.law)
		require.LessOrEqual(t, apart, 1.63/math.Sqrt(float64(number)), "%s: KS at 1 %%", k.law)
	}
}

// judged is what each test says about one search.
type judged struct {
	real, fixed, dsr, spa, placebo, pbo float64 // real: the annual Sharpe of the fixed set in excess
	bar                                 float64 // 0: the winner is above the bar, else 1
	answer                              float64 // p of the winner among all sets: that of an answer
}

// judge runs all tests of a verdict on one market.
func (x *trader) judge(t *testing.T, k kind, seed uint64, surrogates int) (j judged) {
	p := k.plan(seed)
	if j.placebo = 1; surrogates > 0 {
		j.placebo = x.p(t, p, seed, surrogates)
	}
	winner := x.trade(t, p)
	sharpes := make([]float64, len(x.excess))
	for i, row := range x.excess {
		sharpes[i] = stats.Sharpe(row)
	}
	j.fixed, j.dsr, j.bar = 1, 1, 1
	tries, err := stats.TrialsOf(sharpes)
	require.NoError(t, err)
	if own, err := stats.TrackRecordOf(x.excess[slices.Index(pairs(), fixed)]); err == nil {
		j.real, j.fixed = stats.Annual(own.Sharpe), own.P(0)
	}
	if best, err := stats.TrackRecordOf(x.excess[winner]); err == nil { // a winner that never trades is judged by none
		j.dsr = best.P(tries.Benchmark())
		if stats.Annual(best.Sharpe) > stats.Bar(len(sharpes), 0.05, float64(k.days)/stats.DaysPerYear) {
			j.bar = 0
		}
	}
	excess, err := stats.Rows(x.excess)
	require.NoError(t, err)
	spa, err := stats.SPA(excess, stats.Resampling{Resamples: 299, Seed: seed}, 1)
	require.NoError(t, err)
	raw, err := stats.Rows(x.raw)
	require.NoError(t, err)
	pbo, err := stats.PBO(raw, 16, 1)
	require.NoError(t, err)
	j.spa, j.answer, j.pbo = spa.Consistent, spa.PValueOf(x.excess[winner]), pbo.PBO
	return j
}

// row is a line of the table.
func row(text *strings.Builder, name string, years int, all []judged) {
	column := func(of func(judged) float64) (values []float64) {
		for _, j := range all {
			values = append(values, of(j))
		}
		return values
	}
	mean := func(of func(judged) float64) (sum float64) {
		for _, j := range all {
			sum += of(j) / float64(len(all))
		}
		return sum
	}
	alarms := func(of func(judged) float64) float64 { return share(column(of), 0.05) }
	fmt.Fprintf(text, "| %d | %s | %.2f | %.1f | %.1f | %.1f | %.1f | %.1f | %.2f |\n", years, name,
		mean(func(j judged) float64 { return j.real }), alarms(func(j judged) float64 { return j.fixed }),
		alarms(func(j judged) float64 { return j.dsr }), alarms(func(j judged) float64 { return j.spa }),
		alarms(func(j judged) float64 { return j.placebo }), alarms(func(j judged) float64 { return j.bar }),
		mean(func(j judged) float64 { return j.pbo }))
}

// edges are the shares of momentum that give the fixed set an annual Sharpe ratio of 0.5, 1 and 2
// in excess.
var edges = []struct{ sharpe, share float64 }{{0, 0}, {0.5, 0.0137}, {1, 0.0271}, {2, 0.06}}

func TestTheSizeAndPowerOfEveryFigureOfAVerdict(t *testing.T) {
	if *sizes < 100 {
		t.Skip("a table for people: -sizes 1000")
	}
	var text strings.Builder
	for _, e := range edges {
		for _, years := range []int{1, 2, 4} {
			all := make([]judged, *sizes)
			each(*sizes, func(x *trader, n int) {
				k := kind{days: years * stats.DaysPerYear, drift: float64(n % 2), law: "normal", edge: e.share}
				all[n] = x.judge(t, k, uint64(years)<<40|uint64(n), 99)
			})
			row(&text, fmt.Sprint(e.sharpe), years, all)
		}
	}
	t.Logf("\n%d markets in each row; alarms at 5 %%\n| years | edge | measured | PSR fixed | DSR | SPA c | placebo | "+
		"bar | mean PBO |\n%s", *sizes, text.String())
}

// A verdict answers by SPA's p of the winner. Without an edge at most 5 in 100 answers say "hard to
// explain by luck", in five kinds of market; with one it finds about what SPA finds.
func TestTheAnswerOfASearchIsRightMostOften(t *testing.T) {
	number := min(*sizes, 20)
	if *sizes >= 100 {
		number = *sizes
	}
	var text strings.Builder
	said := func(name string, k kind, seed uint64) (all []judged, answers [4]float64) {
		all = make([]judged, number)
		each(number, func(x *trader, n int) { all[n] = x.judge(t, k, seed<<40|uint64(n), 0) })
		for i, p := range [...]func(judged) float64{
			func(j judged) float64 { return j.answer }, func(j judged) float64 { return j.spa },
			func(j judged) float64 { return j.bar }} {
			values := make([]float64, number)
			for n := range all {
				values[n] = p(all[n])
			}
			if answers[i] = share(values, 0.05); i == 0 {
				answers[3] = 100 - share(values, 0.25)
			}
		}
		fmt.Fprintf(&text, "| %s | %.1f | %.1f | %.1f | %.1f |\n", name, answers[0], answers[3], answers[1], answers[2])
		return all, answers
	}
	_, most := limits(number)
	for i, k := range []kind{{law: "normal"}, {law: "normal", drift: 1}, {law: "t3", drift: 1},
		{law: "skewed", drift: 1}, {law: "normal", leverage: true, drift: 1}} {
		k.days = 730
		_, answers := said(fmt.Sprintf("none; %s, drift %g, leverage %v", k.law, k.drift, k.leverage), k, uint64(i+1))
		require.LessOrEqual(t, answers[0], most, "%+v", k)
	}
	if *sizes >= 100 {
		for i, e := range edges[1:] {
			k := kind{law: "normal", days: 730, drift: 1, edge: e.share}
			_, answers := said(fmt.Sprintf("%g", e.sharpe), k, uint64(i+10))
			require.GreaterOrEqual(t, answers[0], answers[1]-3, "edge %g", e.sharpe)
		}
	}
	t.Logf("\n%d markets of two years in each row; in %%\n| edge | hard to explain by luck | probably luck | SPA | "+
		"bar |\n%s", number, text.String())
}
