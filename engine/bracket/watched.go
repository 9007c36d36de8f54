package bracket

import "github.com/tidemark-trading/tidemark/market"

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
func (s *Set) Watched(m market.ID) (list []Watched) {
	for i := range s.all {
		b := &s.all[i]
		if b.market != m {
			continue
		}
		one := Watched{Bracket: b.entry, Strategy: b.strategy, Market: m}
		if b.nextPart() != 0 {
			for _, part := range (*b.terms.Parts)[b.passed:] {
				one.Price, one.Amount, one.Part = part.Price, min(s.shareOf(b, part.Share), b.kept()), true
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
