package stats

import (
	"math"
	"slices"
)

// Day is a UTC day since a seal.
type Day struct {
	Missed   bool      // nothing was recorded: no bet is made, and the rest is ignored
	Return   float64   // since the day before that was not missed, with transfers taken out
	Exposure float64   // at the beginning of the day, as a part of the equity
	Trips    int       // round trips that ended; no bet is made on those behind a missed day
	Slippage []float64 // of each fill that took, in bps, in the order of the fills
}

// Evidence is the evidence against a Promise, day by day: an e-process. Its value may be looked at
// every day, for ever: a kept promise exceeds 1/Level at any time in a share Level of cases at
// most. Nothing is assumed of the law of the returns, nor of their variance. Autocorrelation above
// about 0.2 breaks the guarantee.
//
// An alarm stays: later days do not take it back.
//
// Source: Ville 1939; Waudby-Smith & Ramdas 2024, "Estimating means of bounded random variables by
// betting"; the mixture over starts as in Shin, Ramdas & Rinaldo 2023, "E-detectors".
type Evidence struct {
	promise Promise
	days    int
	missed  int
	gap     int // missed days just before
	returns returnBets
	few     mixture // against too few round trips
	many    mixture
	slipped mixture
	fall    fall
	deepest float64
	breach  bool
	broken  *Break
}

// Break is how a promise was broken. The day since when is an estimate without a guarantee: the
// first day behind the start whose bets weigh most at the alarm.
type Break struct {
	Day   int        // of the alarm, from 1
	Since int        // from 1
	By    []Quantity // those that are enough by themselves; empty: all promises together
}

// NewEvidence begins to hold days against a promise.
func NewEvidence(p *Promise) (*Evidence, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	return &Evidence{promise: *p}, nil
}

// Add holds a day against the promise. Days come in order, each once, the missed ones too.
func (e *Evidence) Add(d *Day) {
	e.days++
	if d.Missed {
		e.missed++
		e.gap++
		e.returns.add(&e.promise.Return, nil, 0)
	} else {
		e.returns.add(&e.promise.Return, d, e.gap)
		e.addRest(d)
		e.gap = 0
	}
	if e.broken == nil && e.Total()*e.promise.Level >= 1 {
		e.broken = &Break{Day: e.days, Since: e.returns.since(&e.promise.Return), By: e.alone()}
	}
}

func (e *Evidence) addRest(d *Day) {
	p := &e.promise
	trips := min(float64(d.Trips), p.Trips.Cap)
	if e.gap == 0 {
		e.few.add(gains(p.Trips.Low-trips, p.Trips.Cap-p.Trips.Low))
		e.many.add(gains(trips-p.Trips.High, p.Trips.High))
	}
	for _, bps := range d.Slippage {
		y := min(max(bps/p.Slippage.Unit, -p.Slippage.Clip), p.Slippage.Clip)
		e.slipped.add(gains(y-p.Slippage.Most, p.Slippage.Clip+p.Slippage.Most))
	}
	depth := e.fall.add(d.Return)
	e.deepest = max(e.deepest, depth)
	if e.days <= p.Drawdown.Horizon && depth > p.Drawdown.Depth {
		e.breach = true
	}
}

// Values are the e-values of the quantities, 1 for one of weight 0. The larger, the stronger the
// evidence that the promise is broken; 1 is none.
// Source: as of Evidence.
func (e *Evidence) Values() (values [Quantities]float64) {
	values = [Quantities]float64{e.returns.value(&e.promise.Return), (e.few.value() + e.many.value()) / 2,
		e.slipped.value(), 0}
	if e.breach {
		values[QuantityDrawdown] = 1 / e.promise.Drawdown.Chance
	}
	for q, weight := range e.promise.Weights {
		if weight == 0 {
			values[q] = 1
		}
	}
	return values
}

// Total is the e-value of all promises together: the weighted mean of Values.
// Source: Vovk & Wang 2021, "E-values: Calibration, combination and applications".
func (e *Evidence) Total() (total float64) {
	for q, value := range e.Values() {
		total += e.promise.Weights[q] * value
	}
	return total
}

// Broken is how the promise was broken; nil: it is not.
func (e *Evidence) Broken() *Break {
	if e.broken == nil {
		return nil
	}
	known := *e.broken
	known.By = slices.Clone(known.By)
	return &known
}

// Days are the days so far, and how many of them were missed.
func (e *Evidence) Days() (all, missed int) { return e.days, e.missed }

// Deepest is the deepest drawdown at the end of a day so far.
func (e *Evidence) Deepest() float64 { return e.deepest }

// alone lists the quantities whose evidence is enough by itself.
func (e *Evidence) alone() (list []Quantity) {
	for q, value := range e.Values() {
		if e.promise.Weights[q]*value*e.promise.Level >= 1 {
			list = append(list, Quantity(q))
		}
	}
	return list
}

// stakes are the shares of the wealth that a bet puts in: λ.
var stakes = [...]float64{0.025, 0.05, 0.1, 0.2}

// mostAtStake is the most that a bet may lose.
const mostAtStake = 0.95

// mixture is the mean of Π(1 + λ·x) over the stakes, as sums of logarithms. The zero value is 1.
type mixture [len(stakes)]float64

// gains are the logarithms by which a bet on x changes the wealth. The mean of x is at most 0 if
// the promise is kept, and x is never below −worst. All stakes are scaled down by one factor where
// they could lose too much.
func gains(x, worst float64) (logged mixture) {
	factor := min(1, mostAtStake/(stakes[len(stakes)-1]*worst))
	for i, stake := range stakes {
		logged[i] = math.Log1p(factor * stake * x)
	}
	return logged
}

func (m *mixture) add(gains mixture) {
	for i, gain := range gains {
		m[i] += gain
	}
}

func (m *mixture) value() (sum float64) {
	for _, logged := range m {
		sum += math.Exp(logged)
	}
	return sum / float64(len(stakes))
}

// returnBets are the bets against the returns, from several starts on.
type returnBets struct {
	starts []mixture
	bets   int // finished, with the missed ones
	days   int // of the bet that is not finished yet
	missed int // of them
	growth float64
	shares float64 // sum of the exposures at the beginning of the days, where the promise has one
}

// add adds a day, nil for a missed one, and makes the bet that the day ends, if any. gap is the
// number of missed days just before: the day's return contains theirs, so a promise of losses
// allows as many more.
func (b *returnBets) add(p *ReturnPromise, d *Day, gap int) {
	if b.days == 0 {
		b.growth, b.shares, b.missed = 1, 0, 0
	}
	b.days++
	if d == nil {
		b.missed++
	} else {
		share := 1.0
		if p.Exposure > 0 {
			share = d.Exposure / p.Exposure
		}
		if p.Mean < 0 {
			share *= float64(gap + 1)
		}
		b.growth *= 1 + d.Return
		b.shares += share
	}
	if b.days < p.Days {
		return
	}
	b.finish(p)
}

// finish makes the bet of the days that add has collected. It promises the mean, less the part of
// missed days and scaled by the exposure, and at most half the clip: a lower promise is always the
// safer bet.
func (b *returnBets) finish(p *ReturnPromise) {
	if len(b.starts) == 0 || p.Restart > 0 && b.bets%p.Restart == 0 {
		b.starts = append(b.starts, mixture{})
	}
	if b.missed < b.days {
		mean := min(p.Mean*b.shares/float64(p.Days), p.Clip/2)
		won := gains(mean-p.scaled(b.growth-1), p.Clip-mean)
		for i := range b.starts {
			b.starts[i].add(won)
		}
	}
	b.bets++
	b.days = 0
}

// value is Σ w·S over the starts plus the weight of those to come; w = 1/((j+1)(j+2)). A single
// start has all the weight.
func (b *returnBets) value(p *ReturnPromise) float64 {
	switch {
	case len(b.starts) == 0:
		return 1
	case p.Restart == 0:
		return b.starts[0].value()
	}
	sum := 1 / float64(len(b.starts)+1)
	for j := range b.starts {
		sum += b.starts[j].value() / float64((j+1)*(j+2))
	}
	return sum
}

// since is the first day behind the start that weighs most, from 1.
func (b *returnBets) since(p *ReturnPromise) int {
	most, at := 0.0, 0
	for j := range b.starts {
		if value := b.starts[j].value() / float64((j+1)*(j+2)); value > most {
			most, at = value, j
		}
	}
	return at*p.Restart*p.Days + 1
}
