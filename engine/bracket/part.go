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
	Passed int         `json:"passed,omitzero"` // parts that are done
	Wanted int         `json:"wanted,omitzero"` // parts that the price has reached
	Parted market.Qty  `json:"parted,omitzero"` // sold by them
	PartAt market.Time `json:"partAt,omitzero"` // the earliest next attempt
}

// nextPart is the level of the next partial target, 0 for none now.
func (b *bracket) nextPart() market.Price {
	p := b.Follow.Parts
	if !b.withdrawn && p != nil && b.Passed < len(*p) && b.exit != 0 && !b.swapping && b.follows() {
		return (*p)[b.Passed].Price
	}
	return 0
}

// want notes the parts that a price has reached. A price that has reached the target as well sells
// all by it.
func (s *follower) want(b *bracket, price market.Price) {
	level := b.nextPart()
	if level == 0 || price < level || s.now() < b.PartAt || b.leg == market.KeepTarget && price >= b.levels.Target {
		return
	}
	s.touch(b)
	b.Wanted, _ = b.Follow.Parts.Reached(price)
}

// part begins to sell the partial targets that the price has reached. Where the gate refuses it
// now, or it fails, it is tried again after leavePause, when a price has reached them again.
func (s *follower) part(b *bracket) {
	s.touch(b)
	count := b.Wanted
	level := (*b.Follow.Parts)[count-1].Price
	_, share := b.Follow.Parts.Reached(level)
	amount := min(s.shareOf(b, share)-b.Parted, b.amount)
	reached := strategy.PartReached{Bracket: b.entry, Strategy: b.strategy, Market: b.market, Amount: amount,
		Price: (*b.Follow.Parts)[b.Passed].Price, Stop: b.levels.Stop}
	b.Wanted, b.PartAt = 0, s.now().Add(leavePause)
	if reached.Why = s.inseparable(b, amount, level); reached.Why != "" {
		if b.closed { // otherwise the entry may buy more
			s.pass(b, count)
			s.orders.PartReached(&reached)
		}
		return
	}
	if last, may := s.mayClose(b, amount); may {
		s.orders.PartReached(&reached)
		s.begin(b, amount, &closing{last: last, parts: count, tag: strategy.TagPart, inPath: true})
	}
}

// pass notes that the first parts are done.
func (s *brackets) pass(b *bracket, count int) {
	s.touch(b)
	b.Passed, b.Wanted, b.PartAt = count, 0, 0
	s.rewatch(b)
}

// shareOf is a share of what the entry bought, rounded down to the market's decimals.
func (s *brackets) shareOf(b *bracket, share market.Rate) market.Qty {
	part, err := market.ValueOf(int64(b.Bought)).Part(int64(share), int64(market.Whole)).FloorMoney(0)
	if err != nil {
		return 0
	}
	return s.catalog.Market(b.market).RoundAmount(market.Qty(part))
}

// inseparable is why an amount cannot be sold apart from the rest at a level, or empty: it or the
// rest would be too small.
func (s *brackets) inseparable(b *bracket, amount market.Qty, level market.Price) string {
	m := s.catalog.Market(b.market)
	if f := risk.LevelFault(m, market.KeepTarget, level, max(1, amount)); f.TooSmall() {
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
