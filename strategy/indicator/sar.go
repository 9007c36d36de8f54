package indicator

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
)

// SAR is Wilder's parabolic stop and reverse: a line below a rise and above a fall, which follows
// the extreme of the trend ever faster. A candle that reaches it turns the trend. It starts as a
// fall where the second candle falls further than it rises.
type SAR struct {
	line
	start, step, most float64
	pace              float64 // the part of the way to the extreme by which the line moves
	extreme, next     float64 // of this trend; the line at the next candle. In a fall: their negatives
	last              market.Candle
	up, ready         bool
}

// NewSAR returns a line whose pace begins at start, gains step with each new extreme, and ends at
// most; 0.02, 0.02 and 0.2 are usual. It panics unless 0 < start ≤ most and 0 < step.
func NewSAR(start, step, most float64) SAR {
	if !(start > 0 && step > 0 && start <= most && most <= 1) {
		panic(fmt.Sprintf("indicator: a parabolic line from %v by %v to %v", start, step, most))
	}
	return SAR{start: start, step: step, most: most}
}

// Push takes the next candle.
func (s *SAR) Push(c market.Candle) {
	last := s.last
	if s.last = c; last.Close == 0 {
		return
	}
	if !s.ready {
		_, fall := directional(c, last)
		s.up, s.ready, s.pace = fall == 0, true, s.start
		s.extreme, _ = s.along(c)
		_, s.next = s.along(last)
		last = c
	}
	before, behind := s.along(last)
	ahead, now := s.along(c)
	if now <= s.next { // the trend turns: its extreme is the new line
		line := max(s.extreme, before, ahead)
		s.level = s.price(line)
		s.up, s.pace, s.extreme, s.next = !s.up, s.start, -now, -line
		behind, now = -before, -ahead
	} else if s.level = s.price(s.next); ahead > s.extreme {
		s.extreme, s.pace = ahead, min(s.pace+s.step, s.most)
	}
	s.next = min(s.next+float64(s.pace*(s.extreme-s.next)), behind, now)
}

// along is how far a candle reaches ahead in the direction of the trend, and where it ends behind.
func (s *SAR) along(c market.Candle) (ahead, behind float64) {
	if s.up {
		return float64(c.High), float64(c.Low)
	}
	return -float64(c.Low), -float64(c.High)
}

// price is a place along the trend as a price.
func (s *SAR) price(along float64) Level {
	if s.up {
		return Level(along)
	}
	return Level(-along)
}

// Ready reports whether two candles were pushed. The trend is a guess until it has turned a few
// times.
func (s *SAR) Ready() bool { return s.ready }

// Up reports whether the trend rises.
func (s *SAR) Up() bool { return s.up }

// Next is the line at the next candle: a stop for it.
func (s *SAR) Next() Level { return s.price(s.next) }

// Warmup is 2 and 2 ÷ step: 102 for 0.02. In a random walk the lines of 999 in 1,000 starts have
// met by then.
func (s *SAR) Warmup() int { return 2 + int(2/s.step) }
