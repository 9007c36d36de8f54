package bracket

import "github.com/tidemark-trading/tidemark/market"

// Price swaps the exits of brackets whose watched leg a price has reached. 0 is no price.
func (s *Set) Price(m market.ID, price market.Price) {
	if len(s.all) == 0 || price == 0 {
		return
	}
	if w := &s.watches[m]; (w.Below == 0 || price > w.Below) && (w.Above == 0 || price < w.Above) {
		return // no leg that could rest is reached
	}
	swapped := false
	for i := range s.all {
		b := &s.all[i]
		if b.market == m && b.watching() && b.reached(price) && s.swappable(b) {
			s.swap(b)
			swapped = true
		}
	}
	if swapped {
		s.watch(m)
	}
}

// Candles is Price for the closes of a group of candles.
func (s *Set) Candles(group []market.Candle) {
	for i := range group {
		s.Price(group[i].Market, group[i].Close)
	}
}

// swappable reports whether the other leg could rest: otherwise the resting exit stays.
func (s *Set) swappable(b *bracket) bool {
	return s.canTry(b, other(b.leg))
}

// swap cancels the resting exit; the other is placed when the cancel is confirmed.
func (s *Set) swap(b *bracket) {
	s.touched = true
	b.swapping, b.standIn = true, false
	b.leg = other(b.leg)
	s.orders.Cancel(b.exit, true)
}

func (s *Set) watchAll() {
	for m := range s.watches {
		s.watch(market.ID(m))
	}
}

// watch computes the nearest watched prices of a market.
func (s *Set) watch(m market.ID) {
	w := market.Watch{}
	for i := range s.all {
		b := &s.all[i]
		if b.market != m || !b.watching() || s.fault(b, other(b.leg)).Found() {
			continue
		}
		if b.leg == market.KeepStop {
			if w.Above == 0 || b.levels.Target < w.Above {
				w.Above = b.levels.Target
			}
			continue
		}
		w.Below = max(w.Below, b.levels.Stop)
	}
	s.watches[m] = w
}
