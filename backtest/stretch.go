package backtest

import (
	"context"

	"github.com/tidemark-trading/tidemark/market"
)

// stretch is the groups of candles of the next closes. Feeds of one interval are merged many closes
// at a time: the candles of a feed are read in a row, because the processor fetches memory ahead
// only for few rows at once.
type stretch struct {
	candles []market.Candle // room for a candle of each feed, close by close
	counts  []int           // by close: its candles
	before  []int           // by feed: its place before the stretch
}

// stretchSize is about how many candles a stretch has: they fit the processor's nearer caches.
const stretchSize = 2048

func newStretch(feeds int) *stretch {
	closes := min(max(stretchSize/feeds, 2), 64)
	return &stretch{candles: make([]market.Candle, feeds*closes), counts: make([]int, closes),
		before: make([]int, feeds)}
}

// fill takes the candles that close from first to last out of the feeds, which have one interval of
// that length. It returns false, and takes none, where a candle closes between two closes.
func (s *stretch) fill(feeds []feed, first, last, length market.Time) bool {
	clear(s.counts)
	for i := range feeds {
		f := &feeds[i]
		s.before[i] = f.at
		at, row, end := f.at, 0, first
		for ; at < len(f.batch); at++ {
			c := &f.batch[at]
			if c.Start+length > last {
				break
			}
			for end < c.Start+length {
				end += length
				row++
			}
			if end != c.Start+length {
				s.undo(feeds[:i])
				return false
			}
			s.candles[row*len(feeds)+s.counts[row]] = *c
			s.counts[row]++
		}
		f.at = at
	}
	return true
}

// undo puts the candles back.
func (s *stretch) undo(feeds []feed) {
	for i := range feeds {
		feeds[i].at = s.before[i]
	}
}

// group returns the candles of a close.
func (s *stretch) group(row int) []market.Candle {
	from := row * len(s.before)
	return s.candles[from : from+s.counts[row]]
}

// bounds returns the first close of all feeds, and the last for which no feed needs a new batch.
func (d *driver) bounds() (first, last market.Time) {
	first, last = never, never
	for i := range d.feeds {
		if f := &d.feeds[i]; f.end != never {
			first, last = min(first, f.end), min(last, f.last)
		}
	}
	return first, last
}

// moveOn moves the feeds to their next candles after a stretch.
func (d *driver) moveOn(ctx context.Context, s *stretch) error {
	for i := range d.feeds {
		f := &d.feeds[i]
		f.count += int64(f.at - s.before[i])
		switch {
		case f.at < len(f.batch):
			f.end = f.endOf(f.batch[f.at].Start)
		case len(f.batch) > 0:
			if err := d.refill(ctx, f); err != nil {
				return err
			}
		}
	}
	return nil
}
