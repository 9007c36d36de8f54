package bracket

import "github.com/tidemark-trading/tidemark/market"

// bracket is an entry with two exits. One exit rests at the venue and the other is watched. The life of a bracket: the entry
// fills → the exit to keep is placed over what was filled → the price reaches the other exit → the resting one is cancelled →
// once that is confirmed the other is placed. At no time do two exits rest, and no exit is placed before the base it sells is
// free.
type bracket struct {
	entry    market.OrderID
	strategy market.StrategyID
	market   market.ID
	levels   market.Bracket
	amount   market.Qty     // bought by the entry and not yet sold by an exit
	exit     market.OrderID // the exit at the venue or on its way; 0: none
	leg      market.Leg     // the leg that the exit is, or is to be next
	swapping bool           // the exit's cancel is on its way, leg says what comes next
	closed   bool           // the entry can fill no more
	bare     market.Time    // since when amount has no exit at the venue; 0: it has one
	failures int            // exits in a row that were refused or cancelled without a fill
	thin     bool           // the last exit expired without a fill, for want of buyers
}

// maxFailures is how often a bracket's exit may be refused or cancelled unfilled before the bracket gives up and leaves the
// position to the strategy. An exit that expires for want of liquidity is tried again with every open.
const maxFailures = 3

// firstLeg is the exit that rests first: the one to keep, or the only one there is.
func firstLeg(levels market.Bracket) market.Leg {
	switch {
	case levels.Stop == 0:
		return market.KeepTarget
	case levels.Target == 0:
		return market.KeepStop
	}
	return levels.Keep
}

// watching reports whether the bracket has a second leg to wait for.
func (b *bracket) watching() bool {
	return b.exit != 0 && !b.swapping && b.levels.Stop != 0 && b.levels.Target != 0
}

// reached reports whether a price has reached the leg that does not rest.
func (b *bracket) reached(price market.Price) bool {
	if b.leg == market.KeepStop {
		return price >= b.levels.Target
	}
	return price <= b.levels.Stop
}

// untouched reports whether the entry still waits and has bought nothing: a cancel is then for the entry alone, and what the
// entry buys before the cancel arrives is protected.
func (b *bracket) untouched() bool { return !b.closed && b.amount == 0 && b.exit == 0 }

// takeBack deals with a change of the resting exit that the exchange refused: the exit is as it was, and so is the bracket.
func (b *bracket) takeBack(resting *market.Order, command market.CommandKind) {
	switch {
	case command == market.CommandCancel && b.swapping:
		b.swapping, b.leg = false, market.KeepTarget-b.leg
	case command == market.CommandUpdate && b.leg == market.KeepStop:
		b.levels.Stop = resting.TriggerAmount
	case command == market.CommandUpdate:
		b.levels.Target = resting.Price
	}
}
