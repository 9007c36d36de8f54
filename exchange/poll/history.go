package poll

import (
	"context"
	"sync"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// longAgo is before the first candle of any exchange.
const longAgo = market.Time(631_152_000_000_000_000) // 1990-01-01

// History returns the closed candles of a series before a time, oldest first: the latest count of
// them, fewer where the exchange has no more. It pages back, the newest page first; a page without
// a candle is passed over.
func (f *Feed) History(ctx context.Context, s Series, before market.Time, count int) ([]market.Candle, error) {
	var all []market.Candle
	end := s.Interval.Floor(before)
	for len(all) < count {
		ask := min(page, count-len(all))
		got, err := f.older(ctx, s, s.Interval.StartOf(s.Interval.Index(end)-int64(ask)), end, ask)
		if err == nil && len(got) == 0 {
			got, err = f.older(ctx, s, s.Interval.Floor(longAgo), end, 1)
		}
		if err != nil {
			return nil, err
		}
		if len(got) == 0 {
			break
		}
		all = append(got, all...)
		end = got[0].Start
	}
	return all, nil
}

func (f *Feed) older(ctx context.Context, s Series, start, end market.Time, count int) ([]market.Candle, error) {
	got, err := f.Data.Candles(ctx, f.Catalog.Market(s.Market), s.Interval, start, end, count, nil)
	left, err := exchange.CheckLeftOut(err)
	f.remark(&f.remarks, left)
	return got, err
}

// Follows tells the feed, before Run, of the candles that the receiver has already: what is absent
// after the newest of a series is asked for again.
func (f *Feed) Follows(history []market.Candle) {
	for i := range history {
		c := &history[i]
		for j := range f.rows {
			r := &f.rows[j]
			if r.Market == c.Market && r.Interval == c.Interval && c.Start <= r.Last && c.Start >= r.newest.Start {
				r.seen, r.newest, r.again = c.Start, *c, f.Data.Now().Add(f.Settle)
			}
		}
	}
}

// remarks logs rows that were left out of answers: a row that cannot be once, early candles and
// rows that come twice once.
type remarks struct {
	mu    sync.Mutex
	early bool
	twice bool
	first market.Candle // the row of the latest line
}

func (f *Feed) remark(r *remarks, left *exchange.LeftOut) {
	if left == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	early, twice := left.Early > 0, left.Twice > 0
	if left.False == 0 && (r.early || !early) && (r.twice || !twice) || left.First == r.first {
		return
	}
	r.first, r.early, r.twice = left.First, r.early || early, r.twice || twice
	f.Log.Warn().Str("row", left.Error()).Msg("rows of the exchange's candles are left out")
}
