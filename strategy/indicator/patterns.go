package indicator

import "github.com/tidemark-trading/tidemark/market"

// Patterns are the usual patterns of one to three candles. A body is long where it is above the
// mean body of the ten candles before it, and short where it is not. A shadow is tiny below a tenth
// of their mean range. Bodies that touch count as apart: a market that never closes has no gaps.
type Patterns struct {
	shapes         [3]shape // the last three candles, the newest last
	bodies, ranges total    // of the last ten
	seen           int      // up to patternsKnow
	limit          limit
}

const patternsKnow = 13 // three candles, and ten before the first of them

// shape is a candle beside the means of the ten before it.
type shape struct {
	open, high, low, close market.Price
	body, reach            float64 // mean body and mean range
}

// NewPatterns returns the patterns.
func NewPatterns() Patterns {
	return Patterns{bodies: newTotal(10), ranges: newTotal(10), limit: room(10)}
}

// Push takes the next candle. It panics where ten such prices leave an int64.
func (x *Patterns) Push(c market.Candle) {
	x.limit.hold(c.High)
	now := shape{c.Open, c.High, c.Low, c.Close, x.bodies.mean(), x.ranges.mean()}
	x.shapes = [3]shape{x.shapes[1], x.shapes[2], now}
	x.bodies.push(distance(c.Open, c.Close))
	x.ranges.push(c.High - c.Low)
	x.seen = min(x.seen+1, patternsKnow)
}

// Ready reports whether 13 candles were pushed.
func (x *Patterns) Ready() bool { return x.seen == patternsKnow }

// Warmup is 13: three candles, and the ten before them.
func (x *Patterns) Warmup() int { return patternsKnow }

// Doji reports a body of at most a tenth of the mean range.
func (x *Patterns) Doji() bool {
	_, _, now := x.last()
	return now.size() <= now.tenth()
}

// Hammer reports a short body with a longer shadow below and a tiny one above, near the low of the
// candle before (within a fifth of the mean range).
func (x *Patterns) Hammer() bool {
	_, before, now := x.last()
	return now.hangs() && float64(now.bottom()) <= float64(before.low)+2*before.tenth()
}

// HangingMan reports the shape of a hammer near the high of the candle before.
func (x *Patterns) HangingMan() bool {
	_, before, now := x.last()
	return now.hangs() && float64(now.bottom()) >= float64(before.high)-2*before.tenth()
}

// InvertedHammer reports a short body with a longer shadow above and a tiny one below, under the
// body of the candle before.
func (x *Patterns) InvertedHammer() bool {
	_, before, now := x.last()
	return now.mirrored().hangs() && now.top() <= before.bottom()
}

// ShootingStar reports the shape of an inverted hammer above the body of the candle before.
func (x *Patterns) ShootingStar() bool {
	_, before, now := x.last()
	return now.mirrored().hangs() && now.bottom() >= before.top()
}

// Engulfing is Up where a candle rises over the whole body of one that fell, Down where it falls
// over that of one that rose, and else 0.
func (x *Patterns) Engulfing() Direction {
	return x.either(func(_, before, now shape) bool {
		return before.falls() && now.rises() && now.size() > before.size() &&
			now.open <= before.close && now.close >= before.open
	})
}

// Harami is Up where a short body lies within a long one that fell, Down where it lies within a
// long one that rose, and else 0.
func (x *Patterns) Harami() Direction {
	return x.either(func(_, before, now shape) bool {
		return before.falls() && before.long() && !now.long() &&
			now.top() <= before.top() && now.bottom() >= before.bottom()
	})
}

// Star is Up for a morning star: a long fall, a short body under it, and a long rise that takes
// back more than 30 % of the fall. It is Down for an evening star, the mirror of it, and else 0.
func (x *Patterns) Star() Direction {
	return x.either(func(first, before, now shape) bool {
		return first.falls() && first.long() && !before.long() && before.top() <= first.bottom() &&
			now.rises() && now.long() && float64(now.close-first.close) > 0.3*first.size()
	})
}

// Three is Up for three white soldiers: three rises with tiny shadows above, each of which opens
// above the open and at most a fifth of the mean range above the close before it, and whose body is
// not shorter by 60 % of that range; the last is long. It is Down for three black crows, the mirror
// of them, and else 0.
func (x *Patterns) Three() Direction {
	return x.either(func(first, before, now shape) bool {
		return first.marches() && before.marches() && now.marches() && now.long() &&
			before.follows(first) && now.follows(before)
	})
}

func (x *Patterns) last() (first, before, now shape) { return x.shapes[0], x.shapes[1], x.shapes[2] }

// either looks for a pattern, and for its mirror.
func (x *Patterns) either(rise func(first, before, now shape) bool) Direction {
	first, before, now := x.last()
	switch {
	case rise(first, before, now):
		return Up
	case rise(first.mirrored(), before.mirrored(), now.mirrored()):
		return Down
	}
	return 0
}

func (s shape) top() market.Price    { return max(s.open, s.close) }
func (s shape) bottom() market.Price { return min(s.open, s.close) }
func (s shape) size() float64        { return float64(s.top() - s.bottom()) }
func (s shape) tenth() float64       { return s.reach / 10 }
func (s shape) long() bool           { return s.size() > s.body }
func (s shape) rises() bool          { return s.close > s.open }
func (s shape) falls() bool          { return s.close < s.open }

// mirrored is the shape upside down.
func (s shape) mirrored() shape {
	s.open, s.high, s.low, s.close = -s.open, -s.low, -s.high, -s.close
	return s
}

// hangs reports the shape of a hammer.
func (s shape) hangs() bool {
	return s.size() < s.body && float64(s.bottom()-s.low) > s.size() && float64(s.high-s.top()) < s.tenth()
}

// marches reports the shape of a white soldier.
func (s shape) marches() bool { return s.rises() && float64(s.high-s.close) < s.tenth() }

// follows reports whether a soldier follows another one.
func (s shape) follows(before shape) bool {
	return s.close > before.close && s.open > before.open &&
		float64(s.open-before.close) <= 2*before.tenth() && s.size() > before.size()-6*before.tenth()
}
