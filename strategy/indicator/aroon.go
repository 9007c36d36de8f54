package indicator

import "github.com/tidemark-trading/tidemark/market"

// Aroon says how fresh the extremes of the last n+1 candles are: Up is 100 where the last candle
// has the highest high, and 0 where that is n candles ago; Down is the same of the lowest low.
type Aroon struct{ channel channel[market.Price] }

// NewAroon returns an indicator over n candles and the one before them; 25 is usual. It panics
// where n is below 1.
func NewAroon(n int) Aroon { return Aroon{newChannel[market.Price](window(n) + 1)} }

// Push takes the next candle.
func (a *Aroon) Push(c market.Candle) { a.channel.push(c.High, c.Low) }

// Ready reports whether n+1 candles were pushed.
func (a *Aroon) Ready() bool { return a.channel.ready() }

// Up is 100·(n − candles since the highest high) ÷ n; of equal highs the last one counts.
func (a *Aroon) Up() float64 { return a.fresh(&a.channel.highs) }

// Down is 100·(n − candles since the lowest low) ÷ n; of equal lows the last one counts.
func (a *Aroon) Down() float64 { return a.fresh(&a.channel.lows) }

func (a *Aroon) fresh(extreme *ladder[market.Price]) float64 {
	n := a.channel.n - 1
	return 100 * (float64(n-extreme.ago()) / float64(n))
}

// Value is the oscillator: Up less Down, from −100 to 100.
func (a *Aroon) Value() float64 { return a.Up() - a.Down() }

// Warmup is n+1.
func (a *Aroon) Warmup() int { return a.channel.n }

// Swings are pivot highs and lows: a high that no candle near it exceeds. That is known only some
// candles later, and said then.
type Swings struct {
	channel channel[market.Price]
	after   int
}

// NewSwings returns the pivots of candles with so many before and after them; 5 and 5 are usual. It
// panics where one of them is below 1.
func NewSwings(before, after int) Swings {
	return Swings{newChannel[market.Price](window(before) + window(after) + 1), after}
}

// Push takes the next candle.
func (s *Swings) Push(c market.Candle) { s.channel.push(c.High, c.Low) }

// Ready reports whether before+after+1 candles were pushed.
func (s *Swings) Ready() bool { return s.channel.ready() }

// High is the high of `after` candles ago where that is a pivot, and 0 else: none of the candles
// before it in the window has a higher one, and those after it have lower ones.
func (s *Swings) High() market.Price { return s.pivot(&s.channel.highs) }

// Low is the low of `after` candles ago where that is a pivot, and 0 else.
func (s *Swings) Low() market.Price { return -s.pivot(&s.channel.lows) }

func (s *Swings) pivot(extreme *ladder[market.Price]) market.Price {
	if !s.Ready() || extreme.ago() != s.after {
		return 0
	}
	return extreme.top()
}

// Warmup is before+after+1.
func (s *Swings) Warmup() int { return s.channel.n }
