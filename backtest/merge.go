package backtest

import (
	"math"
	"slices"
	"sort"

	"github.com/tidemark-trading/tidemark/market"
)

// merger orders feeds by the close of the candle that each has at hand, and those of one close by
// their place in the plan. A step costs one comparison where the feed stays before the next one: so
// it is while all feeds have the same closes, and while one feed alone has a run of candles.
type merger []turn

// turn is a feed and the close of its candle at hand.
type turn struct {
	close market.Time
	feed  int
}

// never is the close of a feed that has ended.
const never = market.Time(math.MaxInt64)

func (t turn) before(u turn) bool { return t.close < u.close || t.close == u.close && t.feed < u.feed }

// newMerger orders the feeds as they stand.
func newMerger(feeds []feed) merger {
	m := make(merger, len(feeds))
	for i := range feeds {
		m[i] = turn{feeds[i].end, i}
	}
	slices.SortFunc(m, func(a, b turn) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return m
}

// due is the number of feeds whose candles close first. They are the first ones of m.
func (m merger) due() int {
	n := 1
	for n < len(m) && m[n].close == m[0].close {
		n++
	}
	return n
}

// settle restores the order after the first due feeds have moved on.
func (m merger) settle(due int) {
	for i := due - 1; i >= 0; i-- {
		if i+1 == len(m) || m[i].before(m[i+1]) {
			continue
		}
		t, rest := m[i], m[i+1:]
		n := sort.Search(len(rest), func(k int) bool { return t.before(rest[k]) })
		copy(m[i:], rest[:n])
		m[i+n] = t
	}
}
