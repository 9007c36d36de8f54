package backtest

import (
	"math"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/market"
)

const (
	dayLength   = market.Time(24 * time.Hour)
	daysPerYear = 365
)

// track follows a series of values at candle closes: drawdowns and daily returns. A close at
// midnight belongs to the day that it ends.
type track struct {
	last   int64
	dayEnd market.Time // the current day takes closes up to and including dayEnd
	close  int64       // the last value of the day before; of the first day, the value that it began with
	bought bool        // what the first day is held against is not close, but the price of the purchase
	first  int64       // the last value of the first day, where bought; 0: it has not ended
	days   spread
	broken bool // a day ended at or below zero: returns have no meaning

	peak, low  int64
	peakAt     market.Time
	worst      fall
	depth      float64
	underWorst bool // the current fall is the worst one

	lowAt market.Time
	falls []fall        // that have ended, the deepest first
	daily *[]report.Day // gets every day; nil: not kept
}

// fall is one drawdown; until is zero while it lasts.
type fall struct {
	peak, bottom       int64
	from, bottomed, to market.Time
}

// start sets the value before the first close.
func (t *track) start(at market.Time, value int64) {
	t.last, t.close, t.peak, t.low, t.peakAt = value, value, value, value, at
	t.dayEnd = endOfDay(at)
}

// endOfDay returns the last instant of the day that at, a close, belongs to.
func endOfDay(at market.Time) market.Time { return market.CeilTo(at, dayLength) }

// add adds the value of a close at or before t.dayEnd.
func (t *track) add(at market.Time, value int64) {
	t.last = value
	if value < t.low || value >= t.peak {
		t.turn(at, value)
	}
}

// turn adds a value at or beyond the peak, or the low since it.
func (t *track) turn(at market.Time, value int64) {
	if value >= t.peak {
		t.rise(at)
		return
	}
	t.low, t.lowAt = value, at
	t.deepen(at)
}

// deepen checks whether a new low since the peak is the worst fall so far.
func (t *track) deepen(at market.Time) {
	depth := float64(t.peak-t.low) / float64(t.peak)
	if depth <= t.depth {
		return
	}
	t.depth, t.underWorst = depth, true
	t.worst = fall{peak: t.peak, bottom: t.low, from: t.peakAt, bottomed: at}
}

// rise ends a fall, if there was one, and moves the peak.
func (t *track) rise(at market.Time) {
	if t.underWorst {
		t.worst.to, t.underWorst = at, false
	}
	if t.low < t.peak {
		t.fell(at)
	}
	if t.last > t.peak {
		t.peak, t.peakAt = t.last, at
	}
	t.low = t.peak
}

// worstFalls is the number of drawdowns that a result lists.
const worstFalls = 5

// fell keeps a fall that has ended where it is one of the deepest.
func (t *track) fell(at market.Time) {
	f := fall{peak: t.peak, bottom: t.low, from: t.peakAt, bottomed: t.lowAt, to: at}
	place := len(t.falls)
	for place > 0 && t.falls[place-1].depth() < f.depth() {
		place--
	}
	if place < worstFalls {
		t.falls = slices.Insert(t.falls, place, f)
		t.falls = t.falls[:min(len(t.falls), worstFalls)]
	}
}

func (f *fall) depth() float64 { return float64(f.peak-f.bottom) / float64(f.peak) }

// drawdowns are the deepest falls. It ends the last one, so it is called once.
func (t *track) drawdowns(end market.Time) []Drawdown {
	if t.low < t.peak {
		t.fell(0)
	}
	list := make([]Drawdown, 0, len(t.falls))
	for i := range t.falls {
		list = append(list, t.falls[i].drawdown(end))
	}
	return list
}

// roll closes the days before the one of at. Days without a close carry the last value forward.
func (t *track) roll(at market.Time) {
	for at > t.dayEnd {
		t.closeDay()
		t.dayEnd += dayLength
	}
}

// startBought is start for a market that is held since the open of a candle. What it was bought at
// is told to ratios: tracks of holds with different costs are shared.
func (t *track) startBought(at market.Time, open, value int64) {
	t.start(at, value)
	t.close, t.bought = open, true
}

// closeDay adds the return of the day to the statistics. The first day's is that since the start.
func (t *track) closeDay() {
	if t.close > 0 {
		change := float64(t.last)/float64(t.close) - 1
		if t.bought && t.first == 0 {
			t.first = t.last
		} else {
			t.days.add(change)
		}
		if t.daily != nil {
			*t.daily = append(*t.daily, report.Day{End: t.dayEnd, Return: change})
		}
	}
	t.broken = t.broken || t.last <= 0
	t.close = t.last
}

// ratios computes the figures of a curve that went from first to t.last in the given span. It
// closes the last day, so it is the last call. cost is the price of the purchase with all its
// costs, after startBought.
func (t *track) ratios(growth, cost float64, span time.Duration, end market.Time) Ratios {
	t.closeDay()
	if t.bought && t.first > 0 {
		t.days.add(float64(t.first)/cost - 1)
	}
	r := Ratios{Return: Figure(growth - 1), CAGR: annual(growth, span), Days: t.days.n, Drawdown: t.drawdown(end)}
	r.Volatility, r.Sharpe, r.Sortino = t.days.figures(t.broken)
	r.Calmar = Figure(float64(r.CAGR) / t.depth)
	return r
}

func (t *track) drawdown(end market.Time) Drawdown {
	if t.depth == 0 {
		return Drawdown{}
	}
	return t.worst.drawdown(end)
}

// drawdown is the fall as the result has it.
func (f *fall) drawdown(end market.Time) Drawdown {
	until := f.to
	if until == 0 {
		until = end
	}
	return Drawdown{Depth: Figure(f.depth()), Start: Moment(f.from), Bottom: Moment(f.bottomed),
		Recovered: Moment(f.to),
		Length:    Seconds(until.Sub(f.from))}
}

// annual is the yearly growth of a curve; undefined for less than a day, where it means nothing.
func annual(growth float64, span time.Duration) Figure {
	if span < 24*time.Hour || growth < 0 {
		return undefined()
	}
	years := span.Hours() / (24 * 365.25)
	return Figure(math.Pow(growth, 1/years) - 1)
}

// spread is the running mean and deviation of daily returns (Welford's recurrence). Products are
// converted before they are added: a processor that fuses both would give another last digit.
type spread struct {
	n        int64
	mean, m2 float64
	downside float64 // sum of the squares of the negative returns
}

func (s *spread) add(x float64) {
	s.n++
	delta := x - s.mean
	s.mean += delta / float64(s.n)
	s.m2 += float64(delta * (x - s.mean))
	if x < 0 {
		s.downside += float64(x * x)
	}
}

// figures returns volatility, Sharpe and Sortino, each undefined where its divisor is zero or there
// are fewer than two days.
func (s *spread) figures(broken bool) (volatility, sharpe, sortino Figure) {
	if s.n < 2 || broken {
		return undefined(), undefined(), undefined()
	}
	deviation := math.Sqrt(s.m2 / float64(s.n-1))
	down := math.Sqrt(s.downside / float64(s.n))
	year := math.Sqrt(daysPerYear)
	return Figure(deviation * year), Figure(s.mean / deviation * year), Figure(s.mean / down * year)
}

// extremes are the closes at both ends of the deepest fall, which equity.csv must contain.
type extremes struct{ top, peak, bottom, recovered sample }

// add keeps the close s where the track made it an extreme.
func (e *extremes) add(t *track, s sample) {
	if t.peakAt == s.at {
		e.top = s
	}
	if t.worst.bottomed == s.at {
		e.peak, e.bottom = e.top, s
	}
	if t.worst.to == s.at {
		e.recovered = s
	}
}

// known returns the closes that exist. A peak at the start of the run is no close.
func (e *extremes) known() (list []sample) {
	for _, s := range []sample{e.peak, e.bottom, e.recovered} {
		if s.at != 0 {
			list = append(list, s)
		}
	}
	return list
}
