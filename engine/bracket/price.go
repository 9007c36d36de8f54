package bracket

import "github.com/tidemark-trading/tidemark/market"

// Price swaps the exits of brackets whose watched leg a price has reached, notes the partial
// targets that it has reached, and moves the stops that follow prices. 0 is no price.
func (s *Set) Price(m market.ID, price market.Price) {
	if len(s.all) == 0 || price == 0 {
		return
	}
	s.reach(m, price)
	if w := &s.watches[m]; w.Peak != 0 && price > w.Peak {
		s.peak(m, price)
	}
}

// reach swaps the exits of the brackets in a market whose watched level a price has reached.
func (s *Set) reach(m market.ID, price market.Price) {
	if w := &s.watches[m]; (w.Below == 0 || price > w.Below) && (w.Above == 0 || price < w.Above) {
		return // no leg that could rest is reached
	}
	swapped := false
	for i := range s.all {
		b := &s.all[i]
		switch {
		case b.market != m:
		case b.watching() && b.reached(price) && s.swappable(b):
			s.swap(b)
			swapped = true
		default:
			s.want(b, price)
		}
	}
	if swapped {
		s.watch(m)
	}
}

// Candles swaps as Price does, by the closes of a group of candles, and moves the stops that follow
// closes. A close is older than the prices that were seen since: it is no price for the others.
func (s *Set) Candles(group []market.Candle) {
	for i := range group {
		c := &group[i]
		s.reach(c.Market, c.Close)
		s.Count(group[i : i+1])
	}
}

// Calm reports whether a candle that reaches no watched price does no more to brackets than Count,
// and strategies are to be told of nothing.
func (s *Set) Calm() bool {
	changed := s.marking && len(s.undo) > 0
	return !changed && len(s.bare)+s.following+len(s.closes.all)+len(s.departs.all) == 0 && !s.HasReports()
}

// swappable reports whether the other leg could rest: otherwise the resting exit stays.
func (s *Set) swappable(b *bracket) bool {
	return s.canTry(b, other(b.leg))
}

// swap cancels the resting exit; the other is placed when the cancel is confirmed.
func (s *Set) swap(b *bracket) {
	s.touch(b)
	b.swapping, b.standIn, b.Wanted = true, false, 0
	b.leg = other(b.leg)
	s.orders.Cancel(b.exit, true)
}

func (s *brackets) watchAll() {
	for m := range s.watches {
		s.watch(market.ID(m))
	}
}

// watch computes the watched prices of a market's brackets, and the nearest of them.
func (s *brackets) watch(m market.ID) {
	for i := range s.all {
		if b := &s.all[i]; b.market == m {
			b.watched = s.watchOf(b)
		}
	}
	s.join(m)
}

// join finds the nearest of a market's watched prices.
func (s *brackets) join(m market.ID) {
	w := s.watches[m]
	w.Below, w.Above, w.Peak = 0, 0, 0 // the rest is not of brackets
	for i := range s.all {
		if b := &s.all[i]; b.market == m {
			w = nearest(w, b.watched)
		}
	}
	s.watches[m] = w
}

// watchOf is the prices that a bracket waits for.
func (s *brackets) watchOf(b *bracket) (w market.Watch) {
	switch {
	case !b.watching() || s.fault(b, other(b.leg)).Found():
	case b.leg == market.KeepStop:
		w.Above = b.levels.Target
	default:
		w.Below = b.levels.Stop
	}
	if level := b.nextPart(); level != 0 && (w.Above == 0 || level < w.Above) {
		w.Above = level
	}
	if b.Follow.ByPrices && b.follows() {
		w.Peak = max(1, b.High)
	}
	return w
}

// nearest joins two watches.
func nearest(w, v market.Watch) market.Watch {
	if w.Above == 0 || v.Above != 0 && v.Above < w.Above {
		w.Above = v.Above
	}
	if w.Peak == 0 || v.Peak != 0 && v.Peak < w.Peak {
		w.Peak = v.Peak
	}
	w.Below = max(w.Below, v.Below)
	return w
}

// rewatch is watch after a change of one bracket.
func (s *brackets) rewatch(b *bracket) {
	before := b.watched
	if b.watched = s.watchOf(b); b.watched == before {
		return
	}
	s.watches[b.market] = nearest(s.watches[b.market], b.watched)
	s.unwatch(b.market, before)
}

// unwatch takes a bracket's watch back. Only where it was the nearest, all others are looked at.
func (s *brackets) unwatch(m market.ID, before market.Watch) {
	is := func(was, nearest market.Price) bool { return was != 0 && was == nearest }
	if w := s.watches[m]; is(before.Above, w.Above) || is(before.Below, w.Below) || is(before.Peak, w.Peak) {
		s.join(m)
	}
}
