package backtest

import (
	"context"
	"sort"

	"github.com/tidemark-trading/tidemark/market"
)

// block is the candles that close next, group by group: a part of the batch of the only feed, where
// nothing is copied; a stretch of feeds of one interval; or one group of merged feeds, in drive and
// deliver of the driver. It ends before the next pause and the next border.
type block struct {
	candles []market.Candle // of the only feed
	at      int             // of the first of them in the batch
	groups  int             // of several feeds: closes from first on, one length apart
	first   market.Time
	stretch *stretch // nil: one interval is not enough, or the run has not begun
	turns   merger   // nil: not merged
}

// runOn drives the feeds to their end, block after block.
func (d *driver) runOn(ctx context.Context) error {
	var b block
	for {
		more, err := d.nextBlock(ctx, &b)
		if err == nil && more {
			err = d.stepBlock(&b)
		}
		if err != nil || !more {
			return err
		}
	}
}

// stepBlock steps all candles of a block.
func (d *driver) stepBlock(b *block) error {
	for row := b.candles; len(row) > 0; {
		d.drive, d.deliver = row[:1], row[:1]
		f := &d.feeds[0]
		f.count++ // before the step: the first of the range begins the count anew
		n, err := d.step(f.endOf(row[0].Start), row, b.at)
		if err != nil {
			return err
		}
		f.count += int64(n - 1)
		row, b.at = row[n:], b.at+n
	}
	for row := range b.groups {
		end := b.first
		if b.stretch != nil {
			group := b.stretch.group(row)
			if len(group) == 0 {
				continue
			}
			d.drive, d.deliver = group, group
			end += d.feeds[0].length * market.Time(row)
		}
		if err := d.group(end); err != nil {
			return err
		}
	}
	return nil
}

// nextBlock takes the next block from the feeds. false: they have ended.
func (d *driver) nextBlock(ctx context.Context, b *block) (more bool, err error) {
	b.candles, b.groups = nil, 0
	switch {
	case len(d.feeds) == 1:
		return d.nextPart(ctx, b)
	case d.started && d.even:
		if more, err := d.nextStretch(ctx, b); d.even {
			return more, err
		}
		fallthrough
	default:
		return d.nextGroup(ctx, b)
	}
}

// nextPart takes the next part of the only feed's batch.
func (d *driver) nextPart(ctx context.Context, b *block) (more bool, err error) {
	f := &d.feeds[0]
	if f.at == len(f.batch) && f.at > 0 {
		if err := d.refill(ctx, f); err != nil {
			return false, err
		}
	}
	if len(f.batch) == 0 {
		return false, nil
	}
	limit, err := d.passTo(f.end)
	if err != nil {
		return false, err
	}
	to := len(f.batch)
	if f.last > limit {
		to = f.at + sort.Search(to-f.at, func(i int) bool { return f.endOf(f.batch[f.at+i].Start) > limit })
	}
	b.candles, b.at = f.batch[f.at:to], f.at
	f.moveTo(to)
	return true, nil
}

// nextStretch takes the next closes of feeds of one interval. Where a candle does not fit between
// the closes of the others, the feeds are no longer even, and none is taken.
func (d *driver) nextStretch(ctx context.Context, b *block) (more bool, err error) {
	if b.turns = nil; b.stretch == nil {
		b.stretch = newStretch(len(d.feeds))
	}
	first, last := d.bounds()
	if first == never {
		return false, nil
	}
	limit, err := d.passTo(first)
	if err != nil {
		return false, err
	}
	s, length := b.stretch, d.feeds[0].length
	last = min(last, limit, first+length*market.Time(len(s.counts)-1))
	if d.even = s.fill(d.feeds, first, last, length); !d.even {
		b.stretch = nil
		return false, nil
	}
	b.first, b.groups = first, int((last-first)/length)+1
	return true, d.moveOn(ctx, s)
}

// nextGroup takes the candles of all feeds that close next, at one time, as a block of one group.
func (d *driver) nextGroup(ctx context.Context, b *block) (more bool, err error) {
	if b.turns == nil {
		b.turns = newMerger(d.feeds)
	}
	b.first, b.groups = b.turns[0].close, 1
	if b.first == never { // every feed has ended
		return false, nil
	}
	if _, err := d.passTo(b.first); err != nil {
		return false, err
	}
	return true, d.take(ctx, b.turns)
}

// passTo lets the pauses and borders before a close happen. last is the last close that may stand
// in one block with it: the block ends before the next pause, the next border and the next signal.
// A signal that is due lets the block have one group.
func (d *driver) passTo(first market.Time) (last market.Time, err error) {
	if first > d.pauseAt {
		if err := d.pause(first); err != nil {
			return 0, err
		}
	}
	for first > d.borderAt {
		if err := d.cross(); err != nil {
			return 0, err
		}
	}
	if d.signalDue = d.signalAt <= first+d.latency; d.signalDue {
		return first, nil
	}
	return max(first, min(d.pauseAt, d.borderAt, d.signalAt-1-d.latency)), nil
}

// take moves the candles that close next from the feeds into drive, which the venue walks, and
// deliver, which strategies see.
func (d *driver) take(ctx context.Context, turns merger) error {
	end, due := turns[0].close, turns.due()
	d.drive, d.deliver = d.drive[:0], d.deliver[:0]
	for i := range turns[:due] { // feeds stand in the order of delivery: shorter interval first, then market
		f := &d.feeds[turns[i].feed]
		c := &f.batch[f.at]
		if d.walks(c, f.Drive) {
			d.drive = append(d.drive, *c)
			d.drivenTo[c.Market] = end
		}
		if f.Deliver && !d.alike {
			d.deliver = append(d.deliver, *c)
		}
	}
	if d.alike {
		d.deliver = d.drive
	}
	return d.advance(ctx, turns, due)
}
