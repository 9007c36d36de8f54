package bracket

import "github.com/tidemark-trading/tidemark/market"

// Price swaps the exits of brackets whose watched leg a price has reached. 0 is no price.
func (s *Set) Price(m market.ID, price market.Price) {
	if len(s.all) == 0 || price == 0 {
		return
	}
	for i := range s.all {
		b := &s.all[i]
		if b.market == m && b.watching() && b.reached(price) {
			s.swap(b)
		}
	}
	s.watch(m)
}

// Candles is Price for the closes of a group of candles.
func (s *Set) Candles(group []market.Candle) {
	for i := range group {
		s.Price(group[i].Market, group[i].Close)
	}
}

// swap cancels the resting exit; the other is placed when the cancel is confirmed.
func (s *Set) swap(b *bracket) {
	b.swapping = true
	b.leg = market.KeepTarget - b.leg
	s.orders.Cancel(b.exit, true)
}
