package rest

import (
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

const (
	budgetMinute = market.Duration(time.Minute)
	// strayTTL is how long a request without an answer may still reach the exchange.
	strayTTL = 30 * time.Second
	// maxLimit is the limit of an unlimited budget.
	maxLimit = 10_000_000
	// cancelSlack are the points for cancels and their confirmation beyond two for each open order.
	cancelSlack = 50
)

// allowance is the budget of the key or the IP address in a minute of the exchange's clock
// (specification 8). A request counts from the moment it may go until it is answered. The exchange
// may count it in the running minute or in the next, so open and stray points count in both.
type allowance struct {
	payer  Payer
	margin market.Duration

	limit       int         // points of a minute
	reset       market.Time // end of the minute; 0: none has begun
	used        int         // points that the exchange has counted in it; a lower bound after a lost answer
	lastUsed    int         // used of the minute before
	open        int         // points of requests that wait for their answers
	strays      []strayPoints
	strayTotal  int            // sum of stray
	unseen      []unseenPoints // answered without counts, oldest first
	unseenTotal int            // sum of unseen
	banned      market.Time    // nothing is sent until then
	held        market.Time    // likewise, because of a page that is no answer of the exchange
	holds       int            // such pages in a row
	orders      int            // open orders, each of which may have to be cancelled

	resetCapped bool        // the exchange's reset was too late to be true, and was capped
	resetWarned market.Time // time of the last warning about it

	sent         uint64      // number of requests ever granted
	countedReset market.Time // reset of the answer that used is from; 0: used is computed
	slowWarned   market.Time // reset of the minute with the last warning about waiting
	queue        [MarketData + 1][]*waiter
}

// strayPoints are the points of a request without an answer: the exchange may have counted it or
// not.
type strayPoints struct {
	points int
	until  market.Time
}

// unseenPoints are the points of an answer without counts, as a socket sends it. The exchange has
// counted them in this minute. The counts in the answer to a request that was granted later have
// them.
type unseenPoints struct {
	points int
	sent   uint64 // number of requests granted before the answer
}

// rate is the content of the three rate headers.
type rate struct {
	limit, remaining int
	reset            market.Time
	claimed          string // the reset in the header where that cannot be true; otherwise empty
}

// roll begins a new minute once the clock has passed the end of the last by the margin: the clock
// may be ahead of the exchange's. Stray points count as used once their requests can no longer
// arrive.
func (a *allowance) roll(now market.Time) {
	for len(a.strays) > 0 && a.strays[0].until <= now {
		a.used += a.dropStray()
		a.countedReset = 0
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
	if a.lastUsed = 0; reset.Sub(a.reset) == budgetMinute {
		a.lastUsed = a.used + a.unseenTotal
	}
	a.reset, a.used, a.countedReset, a.resetCapped = reset, used, 0, false
	a.unseen, a.unseenTotal = a.unseen[:0], 0
}

func minuteEnd(now market.Time) market.Time {
	return market.FloorTo(now, market.Time(budgetMinute)).Add(budgetMinute)
}

// observe takes the counts of the answer to a request, the one granted as number sent. Answers may
// come in any order: within a minute the exchange's count only grows, and an answer of an earlier
// minute is ignored.
func (a *allowance) observe(r rate, sent uint64, now market.Time) {
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
		a.used, a.countedReset = used, r.reset
	}
	shown := 0
	for ; shown < len(a.unseen) && a.unseen[shown].sent < sent; shown++ {
		a.unseenTotal -= a.unseen[shown].points
	}
	a.unseen = slices.Delete(a.unseen, 0, shown)
}

// count books the points of an answer without counts. The exchange has counted them by now: in this
// minute or, near its end, perhaps in the next.
func (a *allowance) count(points int, now market.Time) {
	if now.Add(a.margin) >= a.reset {
		a.addStray(points, now)
		return
	}
	a.unseen = append(a.unseen, unseenPoints{points, a.sent})
	a.unseenTotal += points
}

// spent is the largest number of points that the running minute may be charged with.
func (a *allowance) spent() int { return a.used + a.unseenTotal + a.open + a.strayTotal }

func (a *allowance) addStray(points int, now market.Time) {
	if points > 0 {
		a.strays = append(a.strays, strayPoints{points, now.Add(strayTTL)})
		a.strayTotal += points
	}
}

// dropStray removes the oldest stray points.
func (a *allowance) dropStray() int {
	points := a.strays[0].points
	a.strays = a.strays[1:]
	a.strayTotal -= points
	return points
}

// floor is the number of points that a lane must leave to more urgent lanes. The last points, one
// for each open order, are for cancels alone; as many again and cancelSlack are for cancels and
// their confirmation. A request without a key loses only data: it leaves a twentieth to other users
// of the address.
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

// ready reports whether a request may go now, and otherwise when to try again.
func (a *allowance) ready(lane Lane, weight int, now market.Time) (ok bool, again market.Time) {
	switch room := a.limit - a.floor(lane); {
	case lane == LastCancel && (now < a.shut() || a.resetCapped):
		return true, 0
	case now < a.shut():
		return false, a.shut()
	case weight == 0:
		return true, 0
	case a.spent()+weight > room:
		return false, a.reset.Add(a.margin)
	case lane == MarketData && now < a.pace(room):
		return false, a.pace(room)
	}
	return true, 0
}

// shut is the time until which nothing is sent.
func (a *allowance) shut() market.Time { return max(a.banned, a.held) }

// pace is when market data may continue: half of its room is free at once, the other half is spread
// over the rest of the minute. So it slows down instead of stopping.
func (a *allowance) pace(room int) market.Time {
	spent := a.spent()
	if 2*spent <= room {
		return 0
	}
	return a.reset.Add(-budgetMinute).Add(budgetMinute * market.Duration(spent) / market.Duration(room))
}

// forecast is when the minute's points run out at the rate of the last sixty seconds; false where
// they last.
func (a *allowance) forecast(now market.Time) (end market.Time, ends bool) {
	passed := now.Sub(a.reset.Add(-budgetMinute))
	spent := int64(a.spent())
	if passed <= 0 || spent == 0 || now >= a.reset {
		return 0, false
	}
	perMinute := spent * int64(budgetMinute) / int64(passed)
	if a.lastUsed > 0 {
		perMinute = spent + int64(a.lastUsed)*int64(budgetMinute-passed)/int64(budgetMinute)
	}
	left := max(0, int64(a.limit)-spent)
	end = now.Add(market.Duration(left * int64(budgetMinute) / max(1, perMinute)))
	return end, end < a.reset
}
