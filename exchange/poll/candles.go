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

// row is the progress of a series: Last is the start of the last candle that was delivered or found
// to be without a trade.
type row struct {
	Series
	absent  market.Time   // start of the newest interval that the exchange did not have; 0: none
	again   market.Time   // earliest time of the second query for it
	newest  market.Candle // the newest one delivered in this run
	silence *silence
}

// candles sends closed candles: each once, in the order of their close, those of one instant as one
// group. A candle is closed when the exchange's time is past its end and Settle. A candle that the
// exchange does not have is queried once more; if it is still not there, it had no trade. After an
// outage all candles since are sent, the old ones marked late. A series without an answer within
// Grace does not hold up the others: its candles come late. Where all candles of an instant are
// final, they do not wait for Settle.
func (f *Feed) candles(ctx context.Context) {
	for i := range f.rows {
		if r := &f.rows[i]; r.Last == 0 {
			r.Last = r.Interval.StartOf(r.Interval.Index(f.Data.Now()) - 1) // the last closed candle
		}
	}
	for ctx.Err() == nil {
		next := f.nextClose()
		if wait := next.Add(f.Settle).Sub(f.Data.Now()); wait > 0 && !f.final(next) {
			select {
			case <-time.After(min(wait, maxSleep)):
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

// nextClose is the earliest end of a candle that has not been delivered.
func (f *Feed) nextClose() market.Time {
	next := market.Time(1<<63 - 1)
	for i := range f.rows {
		next = min(next, f.rows[i].due())
	}
	return next
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

// next is the start of the row's next candle.
func (r *row) next() market.Time { return r.Interval.StartOf(r.Interval.Index(r.Last) + 1) }

// due is the end of the row's next candle.
func (r *row) due() market.Time {
	return r.Interval.End(r.next())
}

// collect queries the closed candles of all series in turn, until each is complete or Grace is
// over. It waits Settle before the second query for an absent candle.
func (f *Feed) collect(ctx context.Context) (found []market.Candle) {
	began := f.Data.Now()
	for ctx.Err() == nil {
		again := false
		for i := range f.rows {
			r := &f.rows[i]
			for ctx.Err() == nil && f.closed(r) {
				if f.Data.Now() < r.again {
					again = true
					break
				}
				before := r.Last
				candles, err := f.query(ctx, r)
				r.silence.note(ctx, f.Data.Now(), err)
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

// query fetches a page of a row's candles after the last one, and moves the row on past the candles
// that it got and past those that had no trade.
func (f *Feed) query(ctx context.Context, r *row) ([]market.Candle, error) {
	first := r.next()
	// exclusive: the open candle does not count
	end := max(r.due(), r.Interval.Floor(f.Data.Now().Add(-f.Settle)))
	if limit := r.Interval.StartOf(r.Interval.Index(first) + page - 1); end > limit {
		end = limit
	}
	m := f.Catalog.Market(r.Market)
	got, err := f.Data.Candles(ctx, m, r.Interval, r.Last, end, page, nil) // one candle of overlap
	if err != nil {
		return nil, err
	}
	f.compare(r, got)
	got = slices.DeleteFunc(got, func(c market.Candle) bool {
		return c.Start < first || c.Start >= end || c.Check() != nil
	})
	last := r.Interval.StartOf(r.Interval.Index(end) - 1)
	if len(got) > 0 {
		r.newest = got[len(got)-1]
	}
	if complete := len(got) > 0 && r.newest.Start == last; !complete && r.absent != last {
		r.absent, r.again = last, f.Data.Now().Add(f.Settle) // query it once more: the exchange may be slow
		if len(got) > 0 {
			r.Last = r.newest.Start
		}
		return got, nil
	}
	r.absent, r.Last = 0, last
	return got, nil
}

// compare logs that the exchange has revised the last candle delivered. The candle is not sent
// again.
func (f *Feed) compare(r *row, got []market.Candle) {
	for i := range got {
		was, is := r.newest, got[i]
		if was.Late = is.Late; was.Start == is.Start && was != is {
			m := f.Catalog.Market(r.Market)
			f.Log.Warn().Str("market", m.Name).Stringer("interval", r.Interval).Stringer("start", is.Start).
				Str("close_was", m.FormatPrice(was.Close)).Str("close_is", m.FormatPrice(is.Close)).
				Msg("the exchange has revised a candle that the strategies have seen")
			r.newest = is
		}
	}
}

// deliver sends candles in the order in which they closed.
func (f *Feed) deliver(ctx context.Context, found []market.Candle) {
	slices.SortStableFunc(found, func(a, b market.Candle) int {
		return cmp.Or(cmp.Compare(a.End(), b.End()), cmp.Compare(a.Interval, b.Interval),
			cmp.Compare(a.Market, b.Market))
	})
	now := f.Data.Now()
	for from := 0; from < len(found); {
		to := from
		for to < len(found) && found[to].End() == found[from].End() {
			found[to].Late = f.late(&found[to], now)
			to++
		}
		f.send(ctx, market.Event{At: now, Kind: market.KindCandles, Candles: found[from:to:to]})
		from = to
	}
}

// late reports whether a candle is too old to open a position on.
func (f *Feed) late(c *market.Candle, now market.Time) bool {
	limit := f.MaxCandleAge
	if limit == 0 {
		limit = 2 * c.End().Sub(c.Start)
	}
	return now.Sub(c.End()) > limit
}

// History returns the closed candles of a series before a time, oldest first: the latest count of
// them, fewer where the exchange has no more. It pages back, the newest page first.
func (f *Feed) History(ctx context.Context, s Series, before market.Time, count int) ([]market.Candle, error) {
	var all []market.Candle
	end := s.Interval.Floor(before)
	for len(all) < count {
		ask := min(page, count-len(all))
		start := s.Interval.StartOf(s.Interval.Index(end) - int64(ask))
		got, err := f.Data.Candles(ctx, f.Catalog.Market(s.Market), s.Interval, start, end, ask, nil)
		if err != nil {
			return nil, err
		}
		if len(got) == 0 {
			break
		}
		all = append(got, all...)
		end = start
	}
	return all, nil
}
