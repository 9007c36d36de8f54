package indicator

import "github.com/tidemark-trading/tidemark/market"

// Supertrend is a line k average true ranges from the middle of the candles, below them in a rise
// and above them in a fall. It follows a rise only upwards and a fall only downwards; a close
// beyond the line turns the trend. It starts as a fall.
type Supertrend struct {
	line
	reach        ATR
	k            float64
	lower, upper Level
	last         Level // the close before
	up           bool
}

// NewSupertrend returns a line with an ATR over n candles; 10 and 3 are usual. It panics where n is
// below 1.
func NewSupertrend(n int, k float64) Supertrend { return Supertrend{reach: NewATR(n), k: k} }

// Push takes the next candle.
func (s *Supertrend) Push(c market.Candle) {
	began := s.reach.Ready()
	s.reach.Push(c)
	if !s.reach.Ready() {
		return
	}
	middle, away := (Level(c.High)+Level(c.Low))/2, Level(s.k*s.reach.Value())
	lower, upper := middle-away, middle+away
	if began && lower < s.lower && s.last >= s.lower {
		lower = s.lower
	}
	if began && upper > s.upper && s.last <= s.upper {
		upper = s.upper
	}
	s.lower, s.upper, s.last = lower, upper, Level(c.Close)
	s.up = s.up && s.last >= lower || !s.up && s.last > upper
	if s.level = upper; s.up {
		s.level = lower
	}
}

// Ready reports whether n candles were pushed. The trend is a guess until it has turned once.
func (s *Supertrend) Ready() bool { return s.reach.Ready() }

// Up reports whether the trend rises.
func (s *Supertrend) Up() bool { return s.up }

// Warmup is that of the ATR. The line of an earlier start can differ until the trend has turned:
// ask for more candles where the first trend matters.
func (s *Supertrend) Warmup() int { return s.reach.Warmup() }
