package backtest

import (
	"cmp"
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// maxPoints is the largest number of rows in equity.csv; a few are left for the points of the
// drawdown.
const (
	maxPoints  = 5000
	maxSingles = maxPoints - 8
	maxBuckets = maxSingles / 3 // a bucket gives at most three points
)

// sample is the account at one close.
type sample struct {
	at           market.Time
	equity, cash market.Money
}

// bucket is a stretch of the curve: its lowest, highest and last close, of equal ones the first.
type bucket struct{ low, high, last sample }

// curve keeps a curve of any length in bounded memory. A short curve keeps every close; a longer
// one keeps buckets of equal time, whose length doubles whenever there are too many. The extremes
// of every bucket survive.
type curve struct {
	buckets []bucket
	open    bucket
	has     bool
	first   market.Time
	width   market.Time // 0: one close a bucket
	end     market.Time // the open bucket takes closes up to and including end
}

// add adds a close to the open bucket; at must not be after c.end.
func (c *curve) add(s sample) {
	if s.equity < c.open.low.equity {
		c.open.low = s
	}
	if s.equity > c.open.high.equity {
		c.open.high = s
	}
}

// begin opens the bucket that contains s. last is the close before it, which ends the open bucket.
func (c *curve) begin(s, last sample) {
	if c.has {
		c.closeBucket(last)
	} else {
		c.first, c.has = s.at, true
	}
	c.open = bucket{s, s, s}
	c.end = s.at
	if c.width > 0 {
		c.end = c.first + (c.index(s.at)+1)*c.width - 1
	}
}

func (c *curve) index(at market.Time) market.Time { return (at - c.first) / c.width }

func (c *curve) closeBucket(last sample) {
	c.open.last = last
	c.buckets = append(c.buckets, c.open)
	switch {
	case c.width == 0 && len(c.buckets) == maxSingles:
		c.merge((last.at-c.first)/(maxBuckets/2) + 1)
	case c.width > 0 && len(c.buckets) >= maxBuckets:
		c.merge(2 * c.width)
	}
}

// merge joins the buckets that fall into the same stretch of the new width.
func (c *curve) merge(width market.Time) {
	c.width = width
	kept := c.buckets[:1]
	for _, b := range c.buckets[1:] {
		into := &kept[len(kept)-1]
		if c.index(into.last.at) != c.index(b.last.at) {
			kept = append(kept, b)
			continue
		}
		into.join(b)
	}
	c.buckets = kept
}

func (b *bucket) join(next bucket) {
	if next.low.equity < b.low.equity {
		b.low = next.low
	}
	if next.high.equity > b.high.equity {
		b.high = next.high
	}
	b.last = next.last
}

// points returns the curve in order of time, with last as its final point and the extra points
// inserted.
func (c *curve) points(last sample, extra ...sample) []sample {
	if !c.has {
		return nil
	}
	c.open.last = last
	all := make([]sample, 0, 3*len(c.buckets)+3+len(extra))
	for _, b := range append(c.buckets, c.open) {
		all = append(all, b.low, b.high, b.last)
	}
	all = append(all, extra...)
	slices.SortStableFunc(all, func(a, b sample) int { return cmp.Compare(a.at, b.at) })
	return slices.CompactFunc(all, func(a, b sample) bool { return a.at == b.at })
}

// noCurve is a curve that keeps nothing.
func noCurve() curve { return curve{end: math.MaxInt64} }

// kept reports whether the curve keeps closes.
func (c *curve) kept() bool { return c.end != math.MaxInt64 }
