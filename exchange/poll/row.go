package poll

import (
	"context"
	"slices"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// row is the progress of a series. Last is the start of the newest interval that the feed has gone
// past: its candle was delivered, or two queries did not show it.
//
// Intervals after the newest candle delivered and up to Last are absent. They are asked for again
// while they are younger than MaxCandleAge, each time after four times their age; and with each
// later query. A candle that comes so is late. It is delivered if it has volume: one without says
// that nothing was traded. Behind a newer candle it is not delivered any more: the order stays.
type row struct {
	Series
	seen    market.Time   // start of the newest candle delivered, or of the last one before the feed
	newest  market.Candle // the newest one delivered in this run; none: zero
	absent  market.Time   // start of the newest interval of the query that is to be repeated; 0: none
	again   market.Time   // earliest time of the next query for what is absent
	passed  []market.Time // absent intervals behind a newer candle, not yet too old to be asked for
	holes   holes
	silence *silence
	remarks remarks
}

// next is the start of the row's next candle.
func (r *row) next() market.Time { return r.Interval.StartOf(r.Interval.Index(r.Last) + 1) }

// due is the end of the row's next candle.
func (r *row) due() market.Time { return r.Interval.End(r.next()) }

// lacks reports whether absent intervals are to be asked for again at a time of their own.
func (r *row) lacks() bool { return r.again != 0 && r.absent == 0 && r.seen < r.Last }

// overdue reports whether that time has come.
func (r *row) overdue(now market.Time) bool { return r.lacks() && r.again <= now }

// ask queries a row and notes whether there was an answer.
func (f *Feed) ask(ctx context.Context, r *row) ([]market.Candle, error) {
	candles, err := f.query(ctx, r)
	now := f.Data.Now()
	r.silence.note(ctx, now, err)
	if err != nil && r.overdue(now) {
		r.again = now.Add(f.Settle)
	}
	return candles, err
}

// query fetches a page of a row's candles after the newest one delivered, and moves the row on past
// those that it got and past those that are absent.
func (f *Feed) query(ctx context.Context, r *row) ([]market.Candle, error) {
	start, end := f.span(r)
	got, err := f.Data.Candles(ctx, f.Catalog.Market(r.Market), r.Interval, start, end, page, nil)
	left, err := exchange.CheckLeftOut(err)
	if err != nil {
		return nil, err
	}
	f.remark(&r.remarks, left)
	f.compare(r, got)
	got = slices.DeleteFunc(got, func(c market.Candle) bool {
		return c.Start <= r.seen || c.Start <= r.Last && c.Volume == 0
	})
	now := f.Data.Now()
	for i := range got {
		c := &got[i]
		c.Late = c.Start <= r.Last // it was absent
		f.pass(r, c, now)
	}
	f.move(r, end, now)
	f.tellHoles(r, now)
	return got, nil
}

// span is the range of a row's next query: from the newest candle delivered on, or from older ones
// that may still come, to the newest one that has closed, at most a page.
func (f *Feed) span(r *row) (start, end market.Time) {
	start, end = r.seen, r.next() // exclusive: the open candle does not count
	if f.closed(r) {
		end = max(r.due(), r.Interval.Floor(f.Data.Now().Add(-f.Settle)))
	}
	if len(r.passed) > 0 {
		start = min(start, r.passed[0])
	}
	index := r.Interval.Index(r.next())
	overlap := 1 + int64(f.oldest(r.Interval, r.Last)/r.Interval.End(r.Last).Sub(r.Last))
	start = max(start, r.Interval.StartOf(index-min(overlap, page/2)))
	return start, min(end, r.Interval.StartOf(r.Interval.Index(start)+page))
}

// pass moves a row to a candle that is delivered, over absent ones before it.
func (f *Feed) pass(r *row, c *market.Candle, now market.Time) {
	at := r.Interval.Index(c.Start)
	for i := max(at-page, r.Interval.Index(r.seen)+1); i < at; i++ {
		start := r.Interval.StartOf(i)
		r.holes.add(start)
		if !f.tooOld(r, start, now) {
			r.passed = append(r.passed, start)
		}
	}
	r.seen, r.newest = c.Start, *c
	if c.Late {
		f.Log.Warn().Str("market", f.Catalog.Market(r.Market).Name).Stringer("interval", r.Interval).
			Stringer("start", c.Start).Stringer("after", now.Sub(c.End())).
			Msg("the exchange has listed a candle late: it is delivered now, and nothing is opened on it")
	}
}

// move moves a row on after a query of the intervals before end. The newest of them, if it is
// absent, is queried once more, unless it is old.
func (f *Feed) move(r *row, end, now market.Time) {
	last := r.Interval.StartOf(r.Interval.Index(end) - 1)
	switch {
	case r.seen >= last:
		r.absent, r.again = 0, 0
	case r.Last < last && r.absent != last && !f.tooOld(r, last, now):
		r.absent, r.again = last, now.Add(f.Settle) // the exchange may be slow
		last = max(r.seen, r.Last)
	default:
		closed := r.Interval.End(last)
		// the last query is that at the greatest age
		r.absent, r.again = 0, min(now.Add(3*now.Sub(closed)), closed.Add(f.oldest(r.Interval, last)))
		if r.again <= now {
			r.again = 0
		}
	}
	r.Last = max(r.Last, last)
	newest := r.Interval.Index(r.Last)
	for i := max(newest-page, r.Interval.Index(max(r.seen, r.holes.last))+1); i <= newest; i++ {
		if start := r.Interval.StartOf(i); f.tooOld(r, start, now) {
			r.holes.add(start)
		}
	}
	r.passed = slices.DeleteFunc(r.passed, func(start market.Time) bool { return f.tooOld(r, start, now) })
}

// tooOld reports whether an absent interval is asked for no more.
func (f *Feed) tooOld(r *row, start, now market.Time) bool {
	return now.Sub(r.Interval.End(start)) >= f.oldest(r.Interval, start)
}

// compare logs that the exchange has revised the last candle delivered, or lists one behind it that
// it did not list before. Neither is sent.
func (f *Feed) compare(r *row, got []market.Candle) {
	for i := range got {
		was, is := r.newest, got[i]
		m := f.Catalog.Market(r.Market)
		if was.Late = is.Late; was.Start == is.Start && was != is {
			f.Log.Warn().Str("market", m.Name).Stringer("interval", r.Interval).Stringer("start", is.Start).
				Str("close_was", m.FormatPrice(was.Close)).Str("close_is", m.FormatPrice(is.Close)).
				Msg("the exchange has revised a candle that the strategies have seen")
			r.newest = is
		}
		if at := slices.Index(r.passed, is.Start); at >= 0 && is.Volume > 0 {
			r.passed = slices.Delete(r.passed, at, at+1)
			f.Log.Warn().Str("market", m.Name).Stringer("interval", r.Interval).Stringer("start", is.Start).
				Msg("the exchange has listed a candle behind a newer one: the strategies do not get it")
		}
	}
}
