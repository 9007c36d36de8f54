package bracket

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// expose notes that a bracket has no exit, or too small a one, and why. The time until now counts
// for the earlier cause.
func (s *brackets) expose(b *bracket, cause strategy.Cause) {
	s.touch(b)
	now := s.now()
	if b.UnprotectedSince == 0 && now != 0 {
		b.UnprotectedSince, b.Counted = now, now
		s.bare = append(s.bare, b.entry)
	}
	s.count(b, now)
	b.Cause = cause
}

// protect ends the time without an exit.
func (s *brackets) protect(b *bracket) {
	if b.UnprotectedSince != 0 {
		s.touch(b)
		s.count(b, s.now())
		b.UnprotectedSince, b.Counted, b.Cause, b.Reported = 0, 0, 0, 0
		at, last := len(s.bare)-1, len(s.bare)-1
		for s.bare[at] != b.entry { // mostly it is a late one
			at--
		}
		s.bare[at], s.bare = s.bare[last], s.bare[:last]
	}
}

func (s *brackets) count(b *bracket, now market.Time) {
	if b.UnprotectedSince != 0 && now > b.Counted {
		s.unprotected[b.Cause] += now.Sub(b.Counted)
		b.Counted = now
	}
}

// report is expose with a report to the strategy, once for each cause until there is an exit again.
func (s *brackets) report(b *bracket, cause strategy.Cause, code int, why string) {
	s.expose(b, cause)
	if b.Reported == cause {
		return
	}
	b.Reported = cause
	s.reports = append(s.reports, strategy.Unprotected{
		Bracket: b.entry, Strategy: b.strategy, Market: b.market, Amount: s.uncovered(b), Levels: b.levels,
		Cause: cause, Code: code, Why: why,
	})
}

// uncovered is the part of a bracket's amount that no exit sells. An exit that the exchange may
// never have got sells nothing, nor does one on its way there: after a kill that may last.
func (s *brackets) uncovered(b *bracket) market.Qty {
	if o := s.orders.Own(b.exit); o != nil && o.State != state.Unknown && o.State != state.Sent {
		return max(0, b.amount-o.AmountRemaining)
	}
	return b.amount
}

// unheld is the part of a bracket's amount that its exit does not hold. An exit that is being
// enlarged holds all of its new amount already.
func (s *brackets) unheld(b *bracket) market.Qty {
	if o := s.orders.Own(b.exit); o != nil {
		return max(0, b.amount-market.Qty(o.OnHold))
	}
	return b.amount
}

// loose is unheld without what the exit has sold by fills that are not known yet.
func (s *brackets) loose(b *bracket) market.Qty {
	missing := market.Qty(0)
	if o := s.orders.Own(b.exit); o != nil {
		missing = max(0, o.FilledAmount-o.BookedAmount())
	}
	return max(0, s.unheld(b)-missing)
}

// TakeReports returns the reports for strategies since the last call. They are valid until the next
// event.
func (s *Set) TakeReports() []strategy.Unprotected {
	news := s.reports
	s.reports = s.spare[:0]
	s.spare = news
	return news
}

// HasReports reports whether TakeReports or TakeFailures would return any.
func (s *Set) HasReports() bool { return len(s.reports)+len(s.closes.failures) > 0 }
