package rest

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

const (
	budgetMinute = market.Duration(time.Minute)
	// linger is how long a request that nobody answered may still reach the exchange.
	linger = 30 * time.Second
	// maxLimit is what a budget without limit counts as.
	maxLimit = 10_000_000
	// cancelSlack are the points that cancels and what confirms them have beside two for each open
	// order.
	cancelSlack = 50
)

// allowance is what the key or the IP address may spend in a minute of the exchange's clock
// (specification 8), and what it has. A request counts from the moment it is let go until it is
// answered, in whatever minute the exchange reads it: therefore open and stray points count in the
// minute that runs and in the next.
type allowance struct {
	payer  Payer
	margin market.Duration

	limit  int         // points of a minute
	reset  market.Time // end of the minute; 0: none has begun
	used   int         // points that the exchange has counted in it, at least where an answer was lost
	before int         // used of the minute before
	open   int         // points of requests that wait for their answers
	stray  []strayPoints
	strays int         // sum of stray
	banned market.Time // nothing is sent before
	orders int         // open orders, each of which may have to be cancelled

	doubted   bool        // reset is not what the exchange says, which cannot be
	saidDoubt market.Time // when a warning last said so

	sent  uint64      // requests let go, ever
	told  market.Time // reset of the answer that used was last taken from; 0: it is not what an answer said
	slow  market.Time // reset of the minute in which a warning said that market data waits
	queue [MarketData + 1][]*waiter
}

// strayPoints belong to a request of which nobody knows whether the exchange has counted it.
type strayPoints struct {
	points int
	until  market.Time
}

// rate is what the three headers of an answer say.
type rate struct {
	limit, remaining int
	reset            market.Time
	doubted          string // what the header says of reset, where that is not believed
}

// roll begins a new minute when the clock has passed the end of the last by the margin: the clock
// may be ahead of the exchange's. Points that went astray are taken as counted when they no longer
// can arrive.
func (a *allowance) roll(now market.Time) {
	for len(a.stray) > 0 && a.stray[0].until <= now {
		a.used += a.dropStray()
		a.told = 0
	}
	next := minuteEnd(now)
	switch {
	case now >= a.reset.Add(a.margin):
		a.begin(next, 0)
	case a.reset.Sub(next) > budgetMinute: // the clock was set back
		a.reset = next
	}
}

func (a *allowance) begin(reset market.Time, used int) {
	if a.before = 0; reset.Sub(a.reset) == budgetMinute {
		a.before = a.used
	}
	a.reset, a.used, a.told, a.doubted = reset, used, 0, false
}

func minuteEnd(now market.Time) market.Time {
	return market.FloorTo(now, market.Time(budgetMinute)).Add(budgetMinute)
}

// observe takes what an answer says of the minute. Answers may come in any order: within a minute
// the exchange's count only grows, and one of the minute before says nothing.
func (a *allowance) observe(r rate, now market.Time) {
	a.limit = min(r.limit, maxLimit)
	switch {
	case r.reset > a.reset:
		a.begin(r.reset, 0)
	case r.reset < a.reset && now.Add(a.margin) < r.reset: // the minute was taken from a clock that was ahead
		a.reset = r.reset
	case r.reset < a.reset:
		return
	}
	if used := r.limit - r.remaining; used >= a.used {
		a.used, a.told = used, r.reset
	}
}

// spent is everything that may have to be paid from the minute that runs.
func (a *allowance) spent() int { return a.used + a.open + a.strays }

func (a *allowance) addStray(points int, now market.Time) {
	if points > 0 {
		a.stray = append(a.stray, strayPoints{points, now.Add(linger)})
		a.strays += points
	}
}

// dropStray forgets the points that went astray first.
func (a *allowance) dropStray() int {
	points := a.stray[0].points
	a.stray = a.stray[1:]
	a.strays -= points
	return points
}

// floor is how many points a lane must leave to those before it. The last ones, one for each open
// order, are for cancels alone; before them as many, and some, are for cancels and for asking
// whether they came through: each that has lets go one of the former. Without a key nothing can be
// lost but data, and a twentieth is left to whoever else has the address.
func (a *allowance) floor(lane Lane) int {
	if a.payer != PaidByKey {
		return a.limit / 20
	}
	cancels := min(2*a.orders+cancelSlack, a.limit/2)
	switch lane {
	case LastCancel, Cancel:
		return 0
	case Confirm:
		return min(a.orders, a.limit/4)
	case Protective:
		return cancels
	case Order:
		return cancels + a.limit/10
	case Reconcile:
		return cancels + a.limit*3/20
	}
	return cancels + a.limit/5
}

// ready reports whether a request may go now, and else when to look again.
func (a *allowance) ready(lane Lane, weight int, now market.Time) (ok bool, again market.Time) {
	switch room := a.limit - a.floor(lane); {
	case lane == LastCancel && (now < a.banned || a.doubted):
		return true, 0
	case now < a.banned:
		return false, a.banned
	case weight == 0:
		return true, 0
	case a.spent()+weight > room:
		return false, a.reset.Add(a.margin)
	case lane == MarketData && now < a.pace(room):
		return false, a.pace(room)
	}
	return true, 0
}

// pace is when market data may go on: half of its room is free at once, the other half is spread
// over the rest of the minute, so that it slows down rather than stops.
func (a *allowance) pace(room int) market.Time {
	spent := a.spent()
	if 2*spent <= room {
		return 0
	}
	return a.reset.Add(-budgetMinute).Add(budgetMinute * market.Duration(spent) / market.Duration(room))
}

// forecast is when the points of the minute end if they are spent as in the last sixty seconds;
// false where they last.
func (a *allowance) forecast(now market.Time) (end market.Time, ends bool) {
	passed := now.Sub(a.reset.Add(-budgetMinute))
	spent := int64(a.spent())
	if passed <= 0 || spent == 0 || now >= a.reset {
		return 0, false
	}
	perMinute := spent * int64(budgetMinute) / int64(passed)
	if a.before > 0 {
		perMinute = spent + int64(a.before)*int64(budgetMinute-passed)/int64(budgetMinute)
	}
	left := max(0, int64(a.limit)-spent)
	end = now.Add(market.Duration(left * int64(budgetMinute) / max(1, perMinute)))
	return end, end < a.reset
}
