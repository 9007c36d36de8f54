package poll

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// page is the largest number of candles of one query.
const page = 1440

// maxSleep is the longest wait at a time. After it the feed reads the exchange's time again: the
// machine may have slept, or its clock may have been set.
const maxSleep = 5 * time.Second

// candles sends closed candles: each once, in the order of their close, those of one instant as one
// group. A candle is closed when the exchange's time is past its end and Settle. A candle that the
// exchange does not have is queried once more; then the others go on without it, and row says how
// it may still come. After an outage all candles since are sent, the old ones marked late. A series
// without an answer within Grace does not hold up the others: its candles come late. Where all
// candles of an instant are final, they do not wait for Settle.
func (f *Feed) candles(ctx context.Context) {
	for i := range f.rows {
		if r := &f.rows[i]; r.Last == 0 {
			r.Last = r.Interval.StartOf(r.Interval.Index(f.Data.Now()) - 1) // the last closed candle
			r.seen = r.Last
		}
	}
	for ctx.Err() == nil {
		if wait := f.wait(); wait > 0 {
			select {
			case <-time.After(wait):
			case <-f.News:
			case <-ctx.Done():
			}
			continue
		}
		f.deliver(ctx, f.collect(ctx))
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// wait is the time until a series is to be asked for, maxSleep at most.
func (f *Feed) wait() market.Duration {
	least, now := market.Duration(maxSleep), f.Data.Now()
	for i := range f.rows {
		r := &f.rows[i]
		if f.closed(r) || r.overdue(now) {
			return 0
		}
		if least = min(least, r.due().Add(f.Settle).Sub(now)); r.lacks() {
			least = min(least, r.again.Sub(now))
		}
	}
	return max(least, time.Millisecond)
}

// final reports whether all candles that end at a time, which is past, change no more.
func (f *Feed) final(end market.Time) bool {
	if f.Final == nil || f.Data.Now() < end {
		return false
	}
	for i := range f.rows {
		if r := &f.rows[i]; r.due() == end && !f.Final(r.Market, r.Interval, r.next()) {
			return false
		}
	}
	return true
}

// closed reports whether the row's next candle can be asked for.
func (f *Feed) closed(r *row) bool {
	return r.due().Add(f.Settle) <= f.Data.Now() || f.final(r.due())
}

// collect queries the closed candles of all series in turn, until each is complete or Grace is
// over. It waits Settle before the second query for an absent candle. Absent candles whose time has
// come are queried once.
func (f *Feed) collect(ctx context.Context) (found []market.Candle) {
	began := f.Data.Now()
	for ctx.Err() == nil {
		again := false
		for i := range f.rows {
			r := &f.rows[i]
			if r.overdue(f.Data.Now()) && !f.closed(r) {
				candles, _ := f.ask(ctx, r)
				found = append(found, candles...)
			}
			for ctx.Err() == nil && f.closed(r) {
				if r.absent != 0 && f.Data.Now() < r.again {
					again = true
					break
				}
				before := r.Last
				candles, err := f.ask(ctx, r)
				found = append(found, candles...)
				if err != nil || r.Last == before || r.absent != 0 {
					again = true
					break
				}
			}
		}
		if !again || f.Data.Now().Sub(began) >= f.Grace {
			return found
		}
		sleep(ctx, f.Settle)
	}
	return found
}

// deliver sends candles in the order in which they closed.
func (f *Feed) deliver(ctx context.Context, found []market.Candle) {
	slices.SortStableFunc(found, func(a, b market.Candle) int {
		return cmp.Or(cmp.Compare(a.End(), b.End()), cmp.Compare(a.Interval, b.Interval),
			cmp.Compare(a.Market, b.Market))
	})
	now := f.Data.Now()
	for group := range market.ByClose(found) {
		for i := range group {
			group[i].Late = group[i].Late || f.late(&group[i], now)
		}
		f.send(ctx, market.Event{At: now, Kind: market.KindCandles, Candles: group})
	}
}

// late reports whether a candle is too old to open a position on.
func (f *Feed) late(c *market.Candle, now market.Time) bool {
	return now.Sub(c.End()) > f.oldest(c.Interval, c.Start)
}

// oldest is MaxCandleAge, or what stands for it, of the candle that begins at a time.
func (f *Feed) oldest(interval market.Interval, start market.Time) market.Duration {
	return cmp.Or(f.MaxCandleAge, 2*interval.End(start).Sub(start))
}
