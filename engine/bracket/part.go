package bracket

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// parting is what a bracket keeps of its partial targets. A part is sold by a Close of its own,
// whose commands act inside the path. What it is to sell follows from the shares of all parts that
// the price has reached, less what they have sold: so an amount that was too small by itself, or
// not wholly sold, comes with the next part.
type parting struct {
	passed int         // parts that are done
	parted market.Qty  // sold by them
	partAt market.Time // the earliest next attempt
}

// nextPart is the level of the next partial target, 0 for none now.
func (b *bracket) nextPart() market.Price {
	if p := b.terms.Parts; p != nil && b.passed < len(*p) && b.exit != 0 && !b.swapping && b.follows() {
		return (*p)[b.passed].Price
	}
	return 0
}

// partTime is when a bracket is to sell a partial target; never: the price has reached none. A
// price that has reached the target as well sells all by it.
func (s *Set) partTime(b *bracket) market.Time {
	level, last := b.nextPart(), s.orders.Last(b.market)
	if level == 0 || last < level || s.Closing(b.strategy, b.market) ||
		b.leg == market.KeepTarget && last >= b.levels.Target {
		return never
	}
	return b.partAt
}

// part begins to sell the partial targets that the price has reached. Where the gate refuses it
// now, or it fails, it is tried again after leavePause at a price that has reached them.
func (s *Set) part(b *bracket) {
	s.touch()
	last := s.orders.Last(b.market)
	count, share := b.terms.Parts.Reached(last)
	amount := min(s.shareOf(b, share)-b.parted, b.amount)
	reached := strategy.PartReached{Bracket: b.entry, Strategy: b.strategy, Market: b.market, Amount: amount,
		Price: (*b.terms.Parts)[b.passed].Price, Stop: b.levels.Stop}
	b.partAt = s.now().Add(leavePause)
	if reached.Why = s.inseparable(b, amount); reached.Why != "" {
		if b.closed { // otherwise the entry may buy more
			s.pass(b, count)
			s.orders.PartReached(&reached)
		}
		return
	}
	if !s.sellable(b) {
		return
	}
	newest, err := s.orders.MayClose(b.strategy, b.market, amount)
	if err != nil {
		return
	}
	s.closes.all = append(s.closes.all, closing{strategy: b.strategy, market: b.market, last: newest, only: b.entry,
		parts: count, tag: strategy.TagPart, since: never, inPath: true})
	c := &s.closes.all[len(s.closes.all)-1]
	b.leaving = amount
	s.orders.PartReached(&reached)
	s.cancelRest(b, true)
	s.releaseExit(c, b)
	c.since = s.now()
	s.rewatch(b)
	s.advance(b.strategy, b.market)
}

// pass notes that the first parts are done.
func (s *Set) pass(b *bracket, count int) {
	b.passed, b.partAt = count, 0
	s.rewatch(b)
}

// shareOf is a share of what the entry bought, rounded down to the market's decimals.
func (s *Set) shareOf(b *bracket, share market.Rate) market.Qty {
	part, err := market.ValueOf(int64(b.bought)).Part(int64(share), int64(market.Whole)).FloorMoney(0)
	if err != nil {
		return 0
	}
	return s.catalog.Market(b.market).RoundAmount(market.Qty(part))
}

// inseparable is why an amount cannot be sold apart from the rest, or empty: it or the rest would
// be too small.
func (s *Set) inseparable(b *bracket, amount market.Qty) string {
	m := s.catalog.Market(b.market)
	price := market.FloorTo(s.orders.Last(b.market), m.TickSize)
	if f := risk.LevelFault(m, market.KeepTarget, price, max(1, amount)); f.TooSmall() {
		return "the part is too small: " + f.Words(m)
	}
	for _, leg := range [...]market.Leg{market.KeepStop, market.KeepTarget} {
		if level := b.level(leg); level != 0 {
			if f := risk.LevelFault(m, leg, level, max(1, b.amount-amount)); f.TooSmall() {
				return "the rest would be too small: " + f.Words(m)
			}
		}
	}
	return ""
}
