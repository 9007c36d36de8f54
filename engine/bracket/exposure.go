package bracket

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// expose notes that a bracket has no exit, or too small a one, and why. The time until now counts
// for the cause before.
func (s *Set) expose(b *bracket, cause strategy.Cause) {
	now := s.now()
	if b.bare == 0 {
		b.bare, b.counted = now, now
	}
	s.count(b, now)
	b.cause = cause
}

// protect ends the time without an exit.
func (s *Set) protect(b *bracket) {
	if b.bare != 0 {
		s.count(b, s.now())
		b.bare, b.counted, b.cause, b.said = 0, 0, 0, 0
	}
}

func (s *Set) count(b *bracket, now market.Time) {
	if b.bare != 0 && now > b.counted {
		s.unprotected[b.cause] += now.Sub(b.counted)
		b.counted = now
	}
}

// tell is expose for a cause that the strategy is to hear of, once until there is an exit again.
func (s *Set) tell(b *bracket, cause strategy.Cause, code int, why string) {
	s.expose(b, cause)
	if b.said == cause {
		return
	}
	b.said = cause
	s.news = append(s.news, strategy.Unprotected{
		Bracket: b.entry, Strategy: b.strategy, Market: b.market, Amount: s.uncovered(b), Levels: b.levels,
		Cause: cause, Code: code, Why: why,
	})
}

// uncovered is the part of a bracket's amount that no exit sells.
func (s *Set) uncovered(b *bracket) market.Qty {
	if o := s.orders.Own(b.exit); o != nil {
		return max(0, b.amount-o.AmountRemaining)
	}
	return b.amount
}

// News takes what strategies are to be told since the last call. It is valid until the next event.
func (s *Set) News() []strategy.Unprotected {
	news := s.news
	s.news = s.spare[:0]
	s.spare = news
	return news
}

// Fresh reports whether there is something to be told.
func (s *Set) Fresh() bool { return len(s.news) > 0 }

// Unprotected is the time, over all brackets and up to now, during which a position or a part of it
// that should have had an exit at the venue had none.
func (s *Set) Unprotected() (total market.Duration) {
	for _, c := range s.ByCause() {
		total += c.Time
	}
	return total
}

// ByCause is Unprotected by cause, without causes that did not occur.
func (s *Set) ByCause() (list []strategy.CauseTime) {
	times := s.unprotected
	for i := range s.all {
		if b := &s.all[i]; b.bare != 0 {
			times[b.cause] += max(0, s.now().Sub(b.counted))
		}
	}
	for _, c := range strategy.Causes() {
		if times[c] > 0 {
			list = append(list, strategy.CauseTime{Cause: c, Time: times[c]})
		}
	}
	return list
}

// Bare lists the positions that have no exit now, or one that is too small, with their causes.
func (s *Set) Bare() (list []strategy.Unprotected) {
	for i := range s.all {
		if b := &s.all[i]; b.bare != 0 {
			list = append(list, strategy.Unprotected{
				Bracket: b.entry, Strategy: b.strategy, Market: b.market, Amount: s.uncovered(b), Levels: b.levels,
				Cause: b.cause, Since: b.bare,
			})
		}
	}
	return list
}
