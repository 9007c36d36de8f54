package bracket

// A stopped set begins nothing: no Close, no swap, no move of a stop. Where a stop keeps exits, it
// goes on to place those that positions lack. Where it keeps none, and where it does, it goes on to
// sell what has lost its exit for its sale.

// Guard makes the attempts of a stopped set that are due. The first call makes them all. A set that
// is held, and not stopped, goes on. Without exits, only Closes go on.
func (s *Set) Guard(exits bool) {
	switch {
	case !exits:
		s.finishes = s.stopped && !s.held
		s.advanceAll()
		return
	case s.held && !s.stopped:
		s.held = false
		s.Resume()
		for i := len(s.all) - 1; i >= 0; i-- {
			s.settle(&s.all[i])
		}
	case s.stopped && !s.guards:
		s.guards = true
		s.Resume()
	}
	s.Retry()
}

// missesPurchase reports whether the exchange has filled more of a bracket's purchases than is
// booked.
func (s *brackets) missesPurchase(b *bracket) bool {
	for _, id := range append(s.buyers(b), b.entry) {
		if o := s.orders.Own(id); o != nil && o.Booked() < o.FilledAmount {
			return true
		}
	}
	return false
}
