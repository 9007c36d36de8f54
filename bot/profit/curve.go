package profit

import (
	"math"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// point is the equity at a time, before and after what came or left then.
type point struct {
	at            market.Time
	before, after market.Money
	low, high     market.Money // since the point before; both as before where a flow is between them
	exposure      market.Money
}

// curve is the equity of the account, or of a strategy with money of its own: a strategy's samples
// are what it has earned, and its equity is that with the flows so far.
type curve struct {
	points []point
	earned bool // the points are what a strategy has earned: it shares money, so it has no equity
}

// headStart is how long before the asked time samples are read. A sample of a UTC day that is over
// is in it, if the bot ran.
const headStart = 25 * time.Hour

// samplesOf reads the samples of a curve up to a time, and at least the last one before since.
func samplesOf(from Source, strategy string, since, until market.Time) ([]journal.EquitySample, error) {
	if until == math.MaxInt64 {
		until = 0
	}
	if early := since.Add(-headStart); since > 0 && early > 0 {
		samples, err := from.Equity(strategy, early, until)
		if err != nil || len(samples) > 0 && samples[0].At < since {
			return samples, err
		}
	}
	return from.Equity(strategy, 0, until)
}

// curveOf reads the curve of the account (empty name) or of a strategy up to a time. Before since
// it may lack all points but the last one. Flows of base need a fold of the strategy's events
// before.
func (l *timeline) curveOf(from Source, strategy string, since, until market.Time) (curve, error) {
	samples, err := samplesOf(from, strategy, since, until)
	if until == math.MaxInt64 {
		until = 0
	}
	if err != nil {
		return curve{}, err
	}
	var flows []flow
	for _, f := range l.flows {
		if (until == 0 || f.at < until) && (strategy == "" || l.names[f.strategy] == strategy) {
			flows = append(flows, f)
		}
	}
	own := false
	if strategy != "" {
		flows, own = l.adoptions(flows, strategy, until)
	}
	slices.SortStableFunc(flows, func(a, b flow) int { return int(min(max(a.at-b.at, -1), 1)) })
	if strategy == "" {
		return curve{points: joined(samples, flows)}, nil
	}
	for i := range flows {
		flows[i].known = false
	}
	c := curve{earned: !own}
	given := market.Money(0)
	for i, at := 0, 0; i < len(samples); i++ {
		for ; at < len(flows) && flows[at].at <= samples[i].At; at++ {
			given += flows[at].given
		}
		s := &samples[i]
		s.Equity, s.Low, s.High = s.Equity+given, s.Low+given, s.High+given
	}
	c.points = joined(samples, flows)
	return c, nil
}

// joined merges samples and flows by time. A flow of which the equity is not known moves the equity
// of the point before it.
func joined(samples []journal.EquitySample, flows []flow) []point {
	points := make([]point, 0, len(samples)+len(flows))
	last := market.Money(0)
	for i, at := 0, 0; i < len(samples) || at < len(flows); {
		if i == len(samples) || at < len(flows) && flows[at].at <= samples[i].At {
			f := &flows[at]
			p := point{at: f.at, before: last, after: last + f.value}
			if f.known {
				p.before, p.after = f.equity-f.value, f.equity
			}
			p.low, p.high = p.before, p.before
			points, last, at = append(points, p), p.after, at+1
			continue
		}
		s := &samples[i]
		p := point{at: s.At, before: s.Equity, after: s.Equity, low: s.Low, high: s.High, exposure: s.Exposure}
		if n := len(points); n > 0 && points[n-1].before != points[n-1].after {
			p.low, p.high = p.before, p.before // the extremes may be of the time before the flow
		}
		points, last, i = append(points, p), s.Equity, i+1
	}
	return points
}

// within returns the points in [since, until), and the last one before them, nil for none.
func (c *curve) within(since, until market.Time) (before *point, points []point) {
	from, _ := slices.BinarySearchFunc(c.points, since, comparePoint)
	to, _ := slices.BinarySearchFunc(c.points, until, comparePoint)
	if from > 0 {
		before = &c.points[from-1]
	}
	return before, c.points[from:max(from, to)]
}

func comparePoint(p point, at market.Time) int {
	switch {
	case p.at < at:
		return -1
	case p.at > at:
		return 1
	}
	return 0
}

// returns are the figures of a part of a curve.
type returns struct {
	known    bool // there is equity at both ends
	start    market.Money
	end      market.Money
	flows    market.Money
	weighted float64 // time-weighted return
	drawdown float64 // largest fall of the time-weighted index from its peak, as a part of the peak
	fall     market.Money
}

// measure computes the returns of the points, from the one before them on. The index grows with the
// equity between flows, and stands still at a flow: a withdrawal is no loss and no drawdown. Where
// nothing was invested, the index stands still too.
func measure(before *point, points []point) (r returns) {
	index, peak, has := 1.0, 1.0, market.Money(0)
	if before != nil {
		r.known, r.start, has = true, before.after, before.after
	}
	r.end = has
	earned, top := market.Money(0), market.Money(0) // since the start, and its peak
	for i := range points {
		p := &points[i]
		if has > 0 {
			base := index / float64(has)
			low, high := base*float64(p.low), base*float64(p.high)
			index = base * float64(p.before)
			r.drawdown = max(r.drawdown, (peak-min(low, index))/peak)
			peak = max(peak, high, index)
			r.drawdown = max(r.drawdown, (peak-index)/peak)
		}
		if r.known || i > 0 {
			earned += p.before - has
			r.fall = max(r.fall, top-earned, top-(earned+p.low-p.before))
			top = max(top, earned)
		} else {
			r.start = p.before
		}
		r.known = true
		r.flows += p.after - p.before
		has = p.after
	}
	r.end, r.weighted = has, index-1
	return r
}

// moneyWeighted returns the money-weighted return over the points: the rate at which the equity at
// the start and each flow, for the time that it was there, grow to the equity at the end. It is NaN
// where no rate does that.
func moneyWeighted(before *point, points []point, since, until market.Time) float64 {
	if len(points) == 0 || until <= since {
		return math.NaN()
	}
	var amounts, parts []float64 // invested, and the part of the time that it was there
	if before != nil && before.after != 0 {
		amounts, parts = append(amounts, float64(before.after)), append(parts, 1)
	}
	long := float64(until - since)
	for i := range points {
		p := &points[i]
		if p.after != p.before {
			amounts = append(amounts, float64(p.after-p.before))
			parts = append(parts, float64(until-p.at)/long)
		} else if i == 0 && before == nil {
			amounts, parts = append(amounts, float64(p.before)), append(parts, float64(until-p.at)/long)
		}
	}
	end := float64(points[len(points)-1].after)
	excess := func(rate float64) float64 {
		sum := -end
		for i, amount := range amounts {
			sum += amount * math.Pow(1+rate, parts[i])
		}
		return sum
	}
	return root(excess)
}

// root finds the rate above -1 at which a function changes its sign, by halving.
func root(f func(float64) float64) float64 {
	low, high := -1+1e-9, 1.0
	for f(low) > 0 == (f(high) > 0) && high < 1e9 {
		high *= 2
	}
	if f(low) > 0 == (f(high) > 0) {
		return math.NaN()
	}
	rising := f(high) > 0
	for range 200 {
		middle := (low + high) / 2
		if f(middle) > 0 == rising {
			high = middle
		} else {
			low = middle
		}
	}
	return (low + high) / 2
}
