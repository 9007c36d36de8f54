package stats

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// law draws noise of mean 0 and variance 1, day after day.
type law func(c *chance) func() float64

func normalLaw(c *chance) func() float64 { return c.normal }

// student is Student's t of an odd or even number of degrees of freedom, of variance 1.
func student(degrees int) law {
	return func(c *chance) func() float64 {
		return func() float64 {
			square := 0.0
			for range degrees {
				z := c.normal()
				square += z * z
			}
			return c.normal() / math.Sqrt(square/float64(degrees)) * math.Sqrt(float64(degrees-2)/float64(degrees))
		}
	}
}

// crashes has a skew of −2.83.
func crashes(c *chance) func() float64 {
	return func() float64 {
		z := c.normal()
		return (1 - z*z) / math.Sqrt2
	}
}

func garch(c *chance) func() float64 {
	variance := 1.0
	return func() float64 {
		x := math.Sqrt(variance) * c.normal()
		variance = 0.05 + 0.1*x*x + 0.85*variance
		return x
	}
}

func doubled(c *chance) func() float64 { return func() float64 { return 2 * c.normal() } }

// clinging is an AR(1).
func clinging(rho float64) law {
	return func(c *chance) func() float64 {
		x := c.normal()
		return func() float64 {
			now := x
			x = rho*x + math.Sqrt(1-rho*rho)*c.normal()
			return now
		}
	}
}

const dayNoise = 0.02 // standard deviation of a daily return of the made-up strategies

func dailySharpe(annual float64) float64 { return annual / math.Sqrt(DaysPerYear) }

// life is what happens behind a seal.
type life struct {
	law     law
	promise Promise
	annual  func(day int) float64 // the true Sharpe ratio
	spells  bool                  // 10 days in the market, 10 days without a position
	days    int                   // that are watched
	from    int                   // the day of the change: delays count from it
}

// ofReturns promises a mean of the daily returns alone.
func ofReturns(mean float64, restart int) Promise {
	return Promise{Level: 0.05, Weights: [Quantities]float64{1},
		Return: ReturnPromise{Deviation: dayNoise, Mean: mean, Clip: 4, Days: 1, Restart: restart}}
}

func always(annual float64) func(int) float64 { return func(int) float64 { return annual } }

func changing(before, after float64, from int) func(int) float64 {
	return func(day int) float64 {
		if day < from {
			return before
		}
		return after
	}
}

// watch is the number of days from the change to the alarm, watched daily: days+1 for none, 0 for
// an alarm before the change.
func (l *life) watch(seed uint64) int {
	c := newChance(seed, 7)
	noise := l.law(c)
	e, _ := NewEvidence(&l.promise)
	p := &l.promise
	for day := range l.days {
		d := Day{Return: dayNoise * (noise() + dailySharpe(l.annual(day))), Exposure: 1}
		if l.spells {
			d.Exposure = float64(1 - day/10%2)
			d.Return = d.Exposure * dayNoise * (math.Sqrt2*noise() + 2*dailySharpe(l.annual(day)))
		}
		if p.Weights[QuantityTrips] > 0 {
			d.Trips = c.poisson((p.Trips.Low + p.Trips.High) / 2)
			for range 2 * d.Trips {
				d.Slippage = append(d.Slippage, p.Slippage.Unit*(p.Slippage.Most+c.normal()))
			}
		}
		if e.Add(&d); e.Broken() != nil {
			return max(0, day+1-l.from)
		}
	}
	return l.days + 1
}

// poisson draws a count of a mean.
func (c *chance) poisson(mean float64) (n int) {
	for product := math.Exp(mean) * c.uniform(); product > 1; product *= c.uniform() {
		n++
	}
	return n
}

func (c *chance) uniform() float64 { return (float64(c.next()>>11) + 0.5) / (1 << 53) }

// watchAll watches so many lives on all cores. The delays are sorted, without those of lives that
// were called broken before the change.
func watchAll(t *testing.T, number int, one func(seed uint64) int) []int {
	delays := make([]int, number)
	require.NoError(t, inParallel(runtime.GOMAXPROCS(0), number, func(_, i int) error {
		delays[i] = one(uint64(i))
		return nil
	}))
	slices.Sort(delays)
	early, _ := slices.BinarySearch(delays, 1)
	return delays[early:]
}

// within is how many of 100 delays are at most so many days.
func within(delays []int, days int) float64 {
	n, _ := slices.BinarySearch(delays, days+1)
	return 100 * float64(n) / float64(len(delays))
}

// tolerance is three standard errors of a share in %, of so many runs.
func tolerance(share float64, runs int) float64 {
	return 300 * math.Sqrt(share/100*(1-share/100)/float64(runs))
}

// A kept promise is called broken within a year of daily looks in at most 5 of 100 cases, and in
// fewer where the law of the returns is another than that of the backtest.
func TestTheSealRaisesFewFalseAlarms(t *testing.T) {
	runs := *sizes
	kept := func(name string, promised float64, law law, change func(*life)) (row string) {
		row = "| " + name + " |"
		for _, restart := range []int{0, 30} {
			l := life{law: law, promise: ofReturns(dailySharpe(2), restart), annual: always(2), days: 365}
			if change != nil {
				change(&l)
			}
			share := within(watchAll(t, runs, l.watch), l.days)
			require.LessOrEqual(t, share, promised+tolerance(promised, runs), "%s, restart %d", name, restart)
			row += fmt.Sprintf(" %.2f |", share)
		}
		return row + "\n"
	}
	spells := func(exposure float64) func(*life) {
		return func(l *life) { l.spells, l.promise.Return.Exposure = true, exposure }
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\n%d years each; called broken in %%\n| returns | single start | restarts |\n", runs)
	text.WriteString(kept("normal", 5, normalLaw, nil) + kept("t(4)", 5, student(4), nil) +
		kept("t(3)", 5, student(3), nil) + kept("skew −2.83", 5, crashes, nil) + kept("GARCH", 5, garch, nil) +
		kept("volatility doubled", 5, doubled, nil) + kept("autocorrelation 0.1", 5, clinging(0.1), nil) +
		kept("autocorrelation 0.2", 10, clinging(0.2), nil) + kept("autocorrelation 0.3", 15, clinging(0.3),
		nil) + kept("spells of 10 days, exposure not sealed", 5, normalLaw, spells(0)) +
		kept("spells of 10 days, exposure sealed", 5, normalLaw, spells(0.5)))
	t.Log(text.String())
}

// The delays of methods: how long a broken promise goes unnoticed.
func TestHowSoonTheSealNotices(t *testing.T) {
	runs, horizon := *sizes, 3000
	if runs < 100 {
		horizon = 1000
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\n%d lives each; days to the alarm: 10 %% / median / 90 %%; within a year\n"+
		"| truth | single start | restarts |\n", runs)
	measured := map[string][]int{}
	row := func(name string, promised float64, from int, after float64) {
		fmt.Fprintf(&text, "| %s |", name)
		for _, restart := range []int{0, 30} {
			l := life{law: normalLaw, promise: ofReturns(dailySharpe(promised), restart),
				annual: changing(2, after, from), days: horizon, from: from}
			delays := watchAll(t, runs, l.watch)
			measured[fmt.Sprint(name, restart)] = delays
			fmt.Fprintf(&text, " %s |", delaysText(delays, horizon))
		}
		text.WriteString("\n")
	}
	for _, after := range []float64{0, -1, -2, -4} {
		row(fmt.Sprintf("2 → %g at the seal", after), 2, 0, after)
	}
	row("2 → 0 after a good year", 2, 365, 0)
	row("2 → −1 after a good year", 2, 365, -1)
	row("promise 1, truth 0 from the seal", 1, 0, 0)
	row("promise 1, 2 → 0 after a good year", 1, 365, 0)
	for _, truth := range []float64{1.5, 1, 0, -1} {
		l := life{law: normalLaw, promise: ofReturns(dailySharpe(2), 30), annual: always(truth), days: 730}
		delays := watchAll(t, runs, l.watch)
		fmt.Fprintf(&text, "truth %g under a promise of 2: within one year %.1f %%, within two %.1f %%\n", truth,
			within(delays, 365), within(delays, 730))
	}
	t.Log(text.String())
	crash := within(measured["2 → -2 at the seal30"], 365)
	require.GreaterOrEqual(t, crash+tolerance(85, runs), 85.0)
	if runs >= 500 {
		require.GreaterOrEqual(t, crash, 85.0)
		median := measured["2 → 0 at the seal30"][runs/2]
		require.True(t, median >= 450 && median <= 680, "a median of %d days", median)
	}
}

func delaysText(delays []int, horizon int) string {
	quantile := func(q float64) string {
		at := delays[min(len(delays)-1, int(math.Ceil(q*float64(len(delays))))-1)]
		if at > horizon {
			return fmt.Sprintf("> %d", horizon)
		}
		return fmt.Sprint(at)
	}
	return fmt.Sprintf("%s / %s / %s; %.0f %%", quantile(0.1), quantile(0.5), quantile(0.9), within(delays, 365))
}

// sealed is a promise of all quantities as `bot seal` makes it, from a made-up backtest of two
// years.
func sealed(t *testing.T, law law, annual float64, seed uint64, errors float64) Promise {
	c := newChance(seed, 3)
	noise := law(c)
	returns := series(730, func(float64) float64 { return dayNoise * (noise() + dailySharpe(annual)) })
	return promiseOf(t, c, returns, errors)
}

// promiseOf promises a mean of returns less so many standard errors.
func promiseOf(t *testing.T, c *chance, returns []float64, errors float64) Promise {
	p := Promise{Level: 0.05, Weights: [Quantities]float64{0.25, 0.25, 0.25, 0.25},
		Slippage: SlippagePromise{Unit: 10, Most: 0.5, Clip: 4}}
	trips := series(len(returns), func(float64) float64 { return float64(c.poisson(1)) })
	var failed [3]error
	p.Return, failed[0] = PromiseOfReturns(returns, returns, 0)
	p.Trips, failed[1] = PromiseOfTrips(trips)
	p.Drawdown, failed[2] = PromiseOfDrawdown(returns, 365, 0.01, min(999, 4**sizes), 1)
	for _, err := range failed {
		require.NoError(t, err)
	}
	p.Return.Mean += (1 - errors) / math.Sqrt(float64(len(returns)/p.Return.Days))
	return p
}

// The whole way: a backtest of two years, its seal with all four promises, and a year behind it.
func TestTheSealOfABacktest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	runs := *sizes
	for _, row := range []struct {
		name          string
		before, after law
		sharpe, truth float64
		errors        float64 // that the promise is less
		most          float64 // called broken, in %; 100: no bound
	}{
		{"normal: 2 stays 2", normalLaw, normalLaw, 2, 2, 1, 5},
		{"t(3): 2 stays 2", student(3), student(3), 2, 2, 1, 5},
		{"GARCH: 2 stays 2", garch, garch, 2, 2, 1, 5},
		{"autocorrelation 0.1: 2 stays 2", clinging(0.1), clinging(0.1), 2, 2, 1, 5},
		{"autocorrelation 0.3: 2 stays 2", clinging(0.3), clinging(0.3), 2, 2, 1, 5},
		{"normal: 2 stays 2, promised less 0 standard errors", normalLaw, normalLaw, 2, 2, 0, 100},
		{"normal: 2 stays 2, promised less 0.5 standard errors", normalLaw, normalLaw, 2, 2, 0.5, 100},
		{"normal: 2 stays 2, promised less 1.645 standard errors", normalLaw, normalLaw, 2, 2, 1.645, 5},
		{"normal: 2 stays 2, volatility doubles, drawdowns with it", normalLaw, doubled, 2, 2, 1, 100},
		{"normal: 2 → 1", normalLaw, normalLaw, 2, 1, 1, 100},
		{"normal: 2 → 0", normalLaw, normalLaw, 2, 0, 1, 100},
		{"normal: 2 → -1", normalLaw, normalLaw, 2, -1, 1, 100},
		{"normal: 2 → -2", normalLaw, normalLaw, 2, -2, 1, 100},
	} {
		t.Run(row.name, func(t *testing.T) {
			share := within(watchAll(t, runs, func(seed uint64) int {
				l := life{law: row.after, promise: sealed(t, row.before, row.sharpe, seed, row.errors),
					annual: always(row.truth), days: 365}
				return l.watch(seed)
			}), 365)
			require.LessOrEqual(t, share, row.most+tolerance(min(row.most, 99), runs))
			t.Logf("\n| %s | %.2f |", row.name, share)
		})
	}
}

// The winner of a search over worthless sets promises what it never had.
func TestTheSealOfTheWinnerOfASearch(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	runs := *sizes
	var text strings.Builder
	fmt.Fprintf(&text, "\nthe best of 50 worthless sets of two years, %d times; called broken within a year in %%\n",
		runs)
	for _, errors := range []float64{0, 1} {
		for _, all := range []bool{false, true} {
			share := within(watchAll(t, runs, func(seed uint64) int {
				c := newChance(seed, 5)
				var best []float64
				for range 50 {
					row := series(730, func(float64) float64 { return dayNoise * c.normal() })
					if best == nil || cmp.Less(Sharpe(best), Sharpe(row)) {
						best = row
					}
				}
				l := life{law: normalLaw, promise: promiseOf(t, c, best, errors), annual: always(0), days: 365}
				if !all {
					l.promise.Weights = [Quantities]float64{1}
				}
				return l.watch(seed)
			}), 365)
			fmt.Fprintf(&text, "| promised less %g standard errors; all promises: %v | %.1f |\n", errors, all, share)
		}
	}
	t.Log(text.String())
}
