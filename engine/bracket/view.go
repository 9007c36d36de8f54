package bracket

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// View is the part of a set that others than the engine may read. It is valid as long as the set.
type View struct{ set *Set }

// View is the set for reading.
func (s *Set) View() View { return View{s} }

// EntryOf is the entry of the bracket of an order, or the id that Protect returned, also of a sale
// for that bracket alone; 0: it has none.
func (v View) EntryOf(id market.OrderID) market.OrderID { return v.set.EntryOf(id) }

// IsExit reports whether an order is the exit of a bracket or the sale of a Close: a halt leaves it
// open.
func (v View) IsExit(id market.OrderID) bool { return v.set.IsExit(id) }

// Covered is the base of a strategy in a market that brackets protect, or are about to.
func (v View) Covered(id market.StrategyID, m market.ID) market.Qty { return v.set.Covered(id, m) }

// Unprotected is the total time, over all brackets and up to now, during which a position or a part
// of it lacked its exit at the venue.
func (v View) Unprotected() (total market.Duration) {
	for _, c := range v.UnprotectedBy() {
		total += c.Time
	}
	return total
}

// UnprotectedBy is Unprotected by cause, without causes that did not occur.
func (v View) UnprotectedBy() (list []strategy.CauseTime) {
	times := v.set.unprotected
	for i := range v.set.all {
		if b := &v.set.all[i]; b.UnprotectedSince != 0 {
			times[b.Cause] += max(0, v.set.now().Sub(b.Counted))
		}
	}
	for _, c := range strategy.Causes() {
		if times[c] > 0 {
			list = append(list, strategy.CauseTime{Cause: c, Time: times[c]})
		}
	}
	return list
}

// Bare lists the positions that have no exit now, or too small a one, with their causes.
func (v View) Bare() (list []strategy.Unprotected) {
	for i := range v.set.all {
		if b := &v.set.all[i]; b.UnprotectedSince != 0 {
			list = append(list, strategy.Unprotected{
				Bracket: b.entry, Strategy: b.strategy, Market: b.market, Amount: v.set.uncovered(b), Levels: b.levels,
				Cause: b.Cause, Since: b.UnprotectedSince,
			})
		}
	}
	return list
}

// Held reports whether Hold waits for Guard.
func (v View) Held() bool { return v.set.held }

// Guarding reports whether a guarding set may place an exit until a time, or waits for what an
// entry has bought, or for the end of orders that a Close has cancelled.
func (v View) Guarding(until market.Time) bool {
	for i := range v.set.closes.all {
		if v.set.closes.all[i].sale == 0 {
			return v.set.guards || v.set.finishes
		}
	}
	for i := range v.set.all {
		b := &v.set.all[i]
		if v.set.waits(b) && b.Next <= until || !b.withdrawn && v.set.missesPurchase(b) {
			return v.set.guards
		}
	}
	return false
}

// Withdrawn reports whether a strategy has withdrawn brackets.
func (v View) Withdrawn(id market.StrategyID) bool {
	return slices.ContainsFunc(v.set.all, func(b bracket) bool { return b.strategy == id && b.withdrawn })
}

// Watched is an exit that does not rest at the venue: the engine watches for its price.
type Watched struct {
	Bracket  market.OrderID // the entry's id, or the one that Protect returned
	Strategy market.StrategyID
	Market   market.ID
	Price    market.Price
	Amount   market.Qty // sold there at most; rounding and earlier parts can make it less
	Stop     bool       // at or below Price; else at or above
	Part     bool       // a partial target
}

// Watched lists the exits of a market whose prices are watched, by bracket. A position without an
// exit at the venue is in Bare: its exits wait to be placed, and none is watched.
func (v View) Watched(m market.ID) (list []Watched) {
	for i := range v.set.all {
		b := &v.set.all[i]
		if b.market != m {
			continue
		}
		one := Watched{Bracket: b.entry, Strategy: b.strategy, Market: m}
		if b.nextPart() != 0 {
			for _, part := range (*b.Follow.Parts)[b.Passed:] {
				one.Price, one.Amount, one.Part = part.Price, min(v.set.shareOf(b, part.Share), b.kept()), true
				list = append(list, one)
			}
		}
		if b.watching() {
			leg := other(b.leg)
			one.Price, one.Amount, one.Part = b.level(leg), b.kept(), false
			one.Stop = leg == market.KeepStop
			list = append(list, one)
		}
	}
	return list
}

// missesPurchase reports whether the exchange has filled more of a bracket's purchases than is
// booked.
func (s *brackets) missesPurchase(b *bracket) bool {
	for _, id := range append(s.buyers(b), b.entry) {
		if o := s.orders.Own(id); o != nil && o.BookedAmount() < o.FilledAmount {
			return true
		}
	}
	return false
}
