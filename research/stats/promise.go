package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Quantity is a quantity that a seal promises.
type Quantity int

// The quantities, in the order of Promise.Weights.
const (
	QuantityReturn Quantity = iota
	QuantityTrips
	QuantitySlippage
	QuantityDrawdown
	Quantities
)

// String is the quantity's name.
func (q Quantity) String() string {
	return [...]string{"return", "trips", "slippage", "drawdown"}[q]
}

// Promise is what a strategy is expected to do from the day of its seal on: the null hypothesis of
// Evidence. Nothing in it is estimated anew later. The zero value is no promise.
type Promise struct {
	// the share of kept promises that are ever called broken, such as 0.05
	Level    float64             `json:"level"`
	Weights  [Quantities]float64 `json:"weights"` // of return, trips, slippage and drawdown; the sum is 1
	Return   ReturnPromise       `json:"return"`
	Trips    TripPromise         `json:"trips"`
	Slippage SlippagePromise     `json:"slippage"`
	Drawdown DrawdownPromise     `json:"drawdown"`
}

// ReturnPromise says that y, a return divided by Deviation and cut to ±Clip, has at least the mean
// Mean, whatever happened before.
type ReturnPromise struct {
	Deviation float64 `json:"deviation"` // standard deviation of a daily return in the backtest
	Mean      float64 `json:"mean"`      // of y, above −1; of a week's y where Days is 7
	Clip      float64 `json:"clip"`      // 4
	// Exposure is the mean exposure at the beginning of a day, 0 to 1. With it the promise of a day
	// is Mean·(exposure at its beginning)/Exposure: nothing is promised of days without a position.
	// 0: each day promises the same.
	Exposure float64 `json:"exposure"`
	Days     int     `json:"days"`    // of a bet: 1, or 7 where returns hang together
	Restart  int     `json:"restart"` // bets between two starts, such as 30; 0: there is one start
}

// TripPromise says that the number of round trips of a day, cut to Cap, has a mean from Low to
// High.
type TripPromise struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Cap  float64 `json:"cap"` // at least 2·High
}

// SlippagePromise says that the slippage of a fill, in Unit and cut to ±Clip units, has at most the
// mean Most.
type SlippagePromise struct {
	Unit float64 `json:"unit_bps"` // 10
	Most float64 `json:"most"`     // in units
	Clip float64 `json:"clip"`     // 4
}

// DrawdownPromise says that the drawdown exceeds Depth within Horizon days in a share Chance of
// cases at most. It says nothing of later days.
type DrawdownPromise struct {
	Depth   float64 `json:"depth"` // a part of the highest equity since the seal
	Horizon int     `json:"horizon_days"`
	Chance  float64 `json:"chance"`
}

// Check refuses a promise that cannot be bet against. A quantity of weight 0 is not looked at.
func (p *Promise) Check() error {
	sum := 0.0
	for q, weight := range p.Weights {
		if !(weight >= 0) {
			return fmt.Errorf("the weight of %s is %v", Quantity(q), weight)
		}
		sum += weight
	}
	if math.Abs(sum-1) > 1e-9 {
		return fmt.Errorf("the weights add up to %v, not to 1", sum)
	}
	if !(p.Level > 0 && p.Level < 1) {
		return fmt.Errorf("a level of %v is not between 0 and 1", p.Level)
	}
	for q, check := range [Quantities]func() error{p.Return.check, p.Trips.check, p.Slippage.check, p.Drawdown.check} {
		if err := check(); p.Weights[q] > 0 && err != nil {
			return fmt.Errorf("promise of the %s: %w", Quantity(q), err)
		}
	}
	return nil
}

func (p *ReturnPromise) check() error {
	switch {
	case !positive(p.Deviation):
		return fmt.Errorf("a standard deviation of %v; it has to be above 0", p.Deviation)
	case !positive(p.Clip):
		return fmt.Errorf("a clip of %v; it has to be above 0", p.Clip)
	case !(p.Mean > -1 && p.Mean < p.Clip):
		return fmt.Errorf("a mean of %v standard deviations; it has to be between −1 and %v", p.Mean, p.Clip)
	case !(p.Exposure >= 0 && p.Exposure <= 1):
		return fmt.Errorf("a mean exposure of %v; it has to be from 0 to 1", p.Exposure)
	case p.Days != 1 && p.Days != DaysPerWeek:
		return fmt.Errorf("bets of %d days; there are bets of 1 and of %d", p.Days, DaysPerWeek)
	case p.Restart < 0:
		return fmt.Errorf("%d bets between two starts", p.Restart)
	}
	return nil
}

func (p *TripPromise) check() error {
	if !(p.Low >= 0 && p.High >= p.Low && positive(p.High) && p.Cap >= 2*p.High) || math.IsInf(p.Cap, 0) {
		return fmt.Errorf("%v to %v a day, cut to %v: the first must not exceed the second, and the cut has to be at "+
			"least twice that", p.Low, p.High, p.Cap)
	}
	return nil
}

func (p *SlippagePromise) check() error {
	if !positive(p.Unit) || !positive(p.Clip) || !(p.Most > -p.Clip && p.Most < p.Clip) {
		return fmt.Errorf("a mean of %v in units of %v bps, cut to ±%v", p.Most, p.Unit, p.Clip)
	}
	return nil
}

func (p *DrawdownPromise) check() error {
	if !positive(p.Depth) || p.Horizon < 1 || !(p.Chance > 0 && p.Chance < 1) {
		return fmt.Errorf("a depth of %v within %d days in a share %v of cases", p.Depth, p.Horizon, p.Chance)
	}
	return nil
}

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 0) }

// DaysPerWeek is the number of days of a bet on weeks.
const DaysPerWeek = 7

// weekAbove is the autocorrelation of daily returns above which a promise is bet on by weeks.
const weekAbove = 0.15

// PromiseOfReturns makes the promise of daily returns from a backtest: s is the standard deviation
// of all days, and the mean is that of y over the days out of sample less one standard error. So
// the cut needs no symmetry, and s needs not be right. Autocorrelation above 0.15 in all
// days makes it a promise of weeks. exposure is 0 or the mean exposure at the beginning of a day.
// Errors: returns that never change, fewer than 30 bets out of sample, a mean of −1 or less.
// Source: Waudby-Smith & Ramdas 2024, "Estimating means of bounded random variables by betting".
func PromiseOfReturns(all, outOfSample []float64, exposure float64) (ReturnPromise, error) {
	whole, err := TrackRecordOf(all)
	if err != nil {
		return ReturnPromise{}, err
	}
	p := ReturnPromise{Deviation: whole.SD, Clip: 4, Exposure: exposure, Days: 1, Restart: 30}
	if whole.Rho > weekAbove {
		p.Days, p.Restart = DaysPerWeek, 4
	}
	bets := len(outOfSample) / p.Days
	if bets < fewestBets {
		return p, fmt.Errorf("%d days out of sample are too few: at least %d", len(outOfSample), fewestBets*p.Days)
	}
	first := len(outOfSample) - bets*p.Days // the oldest days that fill no week
	y := make([]float64, 0, bets)
	for at := first; at < len(outOfSample); at += p.Days {
		y = append(y, p.scaled(compound(outOfSample[at:at+p.Days])))
	}
	record, err := TrackRecordOf(y)
	if err != nil {
		return p, err
	}
	p.Mean = record.Mean - record.SD/math.Sqrt(float64(bets))
	return p, p.check()
}

const fewestBets = 30

// compound is the return over several days.
func compound(returns []float64) float64 {
	growth := 1.0
	for _, r := range returns {
		growth *= 1 + r
	}
	return growth - 1
}

// scaled is y of the return of a bet.
func (p *ReturnPromise) scaled(r float64) float64 {
	y := r / (p.Deviation * math.Sqrt(float64(p.Days)))
	return min(max(y, -p.Clip), p.Clip)
}

// PromiseOfDrawdown is the depth that the drawdown of so many days exceeds in at most a share
// `chance` of resamples of daily returns. Blocks have the Politis–White length.
// Errors: fewer than 3 returns, numbers that are not finite, no resample.
// Source: Politis & Romano 1994; the drawdown is that of the days' ends.
func PromiseOfDrawdown(returns []float64, horizon int, chance float64, resamples int, seed uint64) (DrawdownPromise,
	error) {
	if _, err := TrackRecordOf(returns); err != nil {
		return DrawdownPromise{}, err
	}
	if horizon < 1 || resamples < 1 || !(chance > 0 && chance < 1) {
		return DrawdownPromise{}, fmt.Errorf("%d days, %d resamples, a chance of %v", horizon, resamples, chance)
	}
	b := Bootstrap{Days: len(returns), Block: BlockLength(returns).Stationary, Seed: seed}
	depths, days := make([]float64, resamples), make([]int, horizon)
	for i := range depths {
		b.Draw(i, days)
		var fall fall
		for _, day := range days {
			depths[i] = max(depths[i], fall.add(returns[day]))
		}
	}
	slices.Sort(depths)
	p := DrawdownPromise{Depth: Quantile(1-chance, depths), Horizon: horizon, Chance: chance}
	if p.Depth == 0 {
		return p, errors.New("the returns never fall")
	}
	return p, nil
}

// fall follows an equity of 1 by its daily returns. The zero value is the beginning.
type fall struct{ logged, peak float64 }

// add adds a day and returns the drawdown at its end.
func (f *fall) add(r float64) float64 {
	f.logged += math.Log1p(max(r, -1))
	f.peak = max(f.peak, f.logged)
	return -math.Expm1(f.logged - f.peak)
}

// PromiseOfTrips makes the promise of round trips from their number on each day of a backtest: the
// mean, widened by two standard errors on both sides, and by a quarter at least.
// Errors: no day, no trip.
// Source: our own choice; the standard error is that of the stationary bootstrap.
func PromiseOfTrips(trips []float64) (TripPromise, error) {
	mean, _ := centre(trips, make([]float64, len(trips)))
	if !positive(mean) {
		return TripPromise{}, errors.New("the backtest has no round trip")
	}
	spread := math.Sqrt(LongRunVariance(trips, BlockLength(trips).Stationary) / float64(len(trips)))
	width := max(2*spread, mean/4)
	high := mean + width
	return TripPromise{Low: max(0, mean-width), High: high, Cap: math.Ceil(2 * high)}, nil
}

// NoticeDays is about how many days of looks pass until a gap between the promised and the true
// mean of y is noticed at a level, if the bet has a weight in a mean whose other parts stay at
// `others`. It is the information in the returns: no method notices sooner on average.
// Source: Shannon's growth rate of a bet on a normal mean. Formula: ln((1/level − others)/weight) ÷
// (½·gap²), in bets.
func NoticeDays(gap, level, weight, others float64) float64 {
	return math.Log((1/level-others)/weight) / (gap * gap / 2)
}
