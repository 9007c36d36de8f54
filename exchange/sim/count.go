package sim

import "github.com/tidemark-trading/tidemark/market"

// AppendCounts appends the number of resting orders at each of the levels that AppendDepth gave of
// a side: those of the accounts, and one for the house where it has the level. The venue must be
// unchanged since AppendDepth.
func (v *Venue) AppendCounts(id market.ID, side market.Side, levels []market.Level, counts []int) []int {
	b := &v.books[id]
	taker := side.Opposite()
	orders := b.opposite(taker)
	l, place := orders.first, 0
	for i := range levels {
		count := 0
		if l != nil && l.price == levels[i].Price {
			for o := l.first; o != nil; o = o.next {
				count++
			}
			l = orders.next(l)
		}
		if house := b.house.from(taker, place); house.price == levels[i].Price {
			count++
			place = house.place + 1
		}
		counts = append(counts, count)
	}
	return counts
}
