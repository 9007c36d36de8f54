package indicator

// LineCross says when one line crosses another, such as a close an EMA, or a MACD its signal. The
// zero LineCross is ready for use. For two simple averages of the same closes there is Cross, which
// is exact.
type LineCross struct {
	was float64
	has bool
}

// Push takes the next value of both lines and says which way the first crossed the second: Up where
// it was not above and is above, Down where it was not below and is below, 0 at the first push and
// else.
func (x *LineCross) Push(first, second float64) Direction {
	was, had := x.was, x.has
	x.was, x.has = first-second, true
	switch {
	case had && was <= 0 && x.was > 0:
		return Up
	case had && was >= 0 && x.was < 0:
		return Down
	}
	return 0
}

// Ready reports whether the next Push can report a cross.
func (x *LineCross) Ready() bool { return x.has }

// Warmup is 2: the push at which the first cross can be reported.
func (x *LineCross) Warmup() int { return 2 }

// Since counts the pushes since something was true. The zero Since is ready for use.
type Since struct {
	count int
	ever  bool
}

// Push takes whether it is true now.
func (s *Since) Push(now bool) {
	s.count++
	if now {
		s.count, s.ever = 0, true
	}
}

// Ready reports whether it was true once.
func (s *Since) Ready() bool { return s.ever }

// Count is the number of pushes since the last true one, 0 if the latest push was true. Before the
// first true push it means nothing.
func (s *Since) Count() int { return s.count }

// Value is Count as a number.
func (s *Since) Value() float64 { return float64(s.count) }

// Warmup is 1: how long ago something was true depends on the market alone.
func (s *Since) Warmup() int { return 1 }
