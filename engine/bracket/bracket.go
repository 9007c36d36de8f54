package bracket

import (
	"cmp"
	"math"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// bracket is an entry with two exits. One exit rests at the venue and the other is watched. The
// life of a bracket: the entry fills → the exit to keep is placed over the filled amount → the
// price reaches the other exit → the resting one is cancelled → once that is confirmed, the other
// is placed. Two exits never rest at once, and no exit is placed before the base that it sells is
// free. A bracket lasts until its base is sold: where no exit can rest it is bare, reports so, and
// tries again.
type bracket struct {
	entry    market.OrderID
	strategy market.StrategyID
	market   market.ID
	levels   market.Bracket
	amount   market.Qty     // bought by the entry and not yet sold by an exit
	exit     market.OrderID // the exit at the venue or in flight; 0: none
	leg      market.Leg     // the leg of the exit, present or next
	swapping bool           // the exit's cancel is in flight, leg is the next one
	closed   bool           // the entry can fill no more
	buyer    market.OrderID // the newest order that a tactic has sent after the entry; 0: none
	more     bool           // a tactic is under way
	leaving  market.Qty     // the part of amount that a Close sells
	ending   bool           // a Close has cancelled the exit
	reducing bool           // a Close has reduced the exit to what is kept
	sold     bool           // an exit has sold some: a rest too small to sell is dust
	least                   // what was too small to sell then is dust
	// withdrawn: a person has cancelled all orders, and the bracket places no exit
	withdrawn bool
	standIn   bool // the resting exit stands in for the other leg, which could not rest

	watched market.Watch // its part of brackets.watches

	exposure
	met bool // self-trade prevention has cancelled the last exit, for the first time
	trail
	parting
}

// exposure is the time in which the amount of a bracket, or a part of it, has no exit at the venue,
// and the attempts to end it: to place an exit, or to change one. It is saved.
type exposure struct {
	UnprotectedSince market.Time    `json:"unprotectedSince,omitzero"` // 0: all of the amount has an exit
	Failures         int            `json:"failures,omitzero"`         // failed attempts in a row
	NoBuyers         bool           `json:"noBuyers,omitzero"`         // the last exit expired without a fill
	Counted          market.Time    `json:"counted,omitzero"`          // end of the counted part of that time
	Cause            strategy.Cause `json:"cause,omitzero"`            // of the uncounted part
	Reported         strategy.Cause `json:"reported,omitzero"`         // last reported to the strategy; 0: none since an exit
	RefusedLegs      legs           `json:"refusedLegs,omitzero"`      // failed again: they wait, the other leg is tried
	Next             market.Time    `json:"next,omitzero"`             // of the next attempt
}

// least are the lowest minimums of a market in the life of a bracket. What is above them is no
// dust: minimums that have risen may fall again.
type least struct {
	LeastBase  market.Qty   `json:"leastBase,omitzero"`
	LeastQuote market.Money `json:"leastQuote,omitzero"`
}

func leastOf(m *market.Market) least { return least{m.MinOrderInBase, m.MinOrderInQuote} }

// with are the lower ones of two.
func (l least) with(other least) least {
	return least{min(l.LeastBase, other.LeastBase), min(l.LeastQuote, other.LeastQuote)}
}

// legs is a set of market.Leg.
type legs uint8

func other(leg market.Leg) market.Leg { return market.KeepTarget - leg }

func (l legs) has(leg market.Leg) bool { return l&(1<<leg) != 0 }

// The waits between attempts to place, enlarge or swap an exit. The second attempt is made at once,
// the others after a second, two, four, and so on.
const (
	maxWait         = market.Duration(time.Minute)
	maxNoBuyersWait = market.Duration(30 * time.Second) // after an expired exit: buyers may be back with every candle
	lastingExit     = market.Duration(10 * time.Minute) // such an exit begins a new count of failures
)

const never = market.Time(math.MaxInt64)

// wait is the time between the latest failed attempt and the next.
func (b *bracket) wait() market.Duration {
	if b.Failures < 2 {
		return 0
	}
	longest := maxWait
	if b.NoBuyers {
		longest = maxNoBuyersWait
	}
	return min(market.Duration(time.Second)<<min(b.Failures-2, 10), longest)
}

// fail counts a failed attempt.
func (b *bracket) fail(now market.Time, lasted market.Duration) {
	if lasted >= lastingExit {
		b.Failures, b.RefusedLegs = 0, 0
	}
	b.Failures++
	b.Next = now.Add(b.wait())
}

func (b *bracket) resetFailures() {
	b.Failures, b.RefusedLegs, b.Next, b.NoBuyers = 0, 0, 0, false
}

// firstLeg is the exit that rests first: the one to keep, or the only one.
func firstLeg(levels market.Bracket) market.Leg {
	switch {
	case levels.Stop == 0:
		return market.KeepTarget
	case levels.Target == 0 || levels.Keep != market.KeepTarget:
		return market.KeepStop
	}
	return market.KeepTarget
}

// level is the price of a leg, 0 where the bracket has none.
func (b *bracket) level(leg market.Leg) market.Price {
	if leg == market.KeepTarget {
		return b.levels.Target
	}
	return b.levels.Stop
}

// kept is the amount that the exits cover: all but what is leaving.
func (b *bracket) kept() market.Qty { return b.amount - b.leaving }

// watching reports whether the bracket waits for a second leg.
func (b *bracket) watching() bool {
	return b.exit != 0 && !b.swapping && !b.ending && !b.withdrawn &&
		b.kept() > 0 && b.levels.Stop != 0 && b.levels.Target != 0
}

// reached reports whether a price has reached the leg that does not rest.
func (b *bracket) reached(price market.Price) bool {
	if b.leg == market.KeepStop {
		return price >= b.levels.Target
	}
	return price <= b.levels.Stop
}

// buying is the order that buys for the bracket now.
func (b *bracket) buying() market.OrderID { return cmp.Or(b.buyer, b.entry) }

// buys reports whether an order of the bracket buys for it: it is no exit.
func (b *bracket) buys(order market.OrderID) bool { return order != b.exit }

// untouched reports whether the entry waits and has bought nothing: a cancel is then for the entry
// alone, and what the entry buys before the cancel arrives is protected.
func (b *bracket) untouched() bool { return !b.closed && b.amount == 0 && b.exit == 0 }

// done reports whether nothing is left to sell or to buy.
func (b *bracket) done() bool { return b.amount <= 0 && b.closed && b.exit == 0 }

// undoChange handles a change of the resting exit that the exchange refused: exit and bracket are
// as before.
func (b *bracket) undoChange(resting *market.Order, command market.CommandKind) {
	switch {
	case command == market.CommandCancel && b.swapping:
		b.swapping, b.leg = false, other(b.leg)
	case command == market.CommandUpdate && b.leg == market.KeepStop:
		b.levels.Stop = resting.TriggerAmount
	case command == market.CommandUpdate:
		b.levels.Target = resting.Price
	}
}
