package runner

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/market"
)

// settle waits until the closed candles are settled, then sets began: however long the rest of the
// start takes, no candle is missing between history and feed, and none is in both.
func (r *runner) settle(ctx context.Context) error {
	settle := market.Duration(r.plan.Config.Poll.Settle)
	for r.began = r.client.Now(); ; r.began = r.client.Now() {
		wait := market.Duration(0)
		for _, s := range r.series() {
			wait = max(wait, s.Interval.Floor(r.began).Add(settle).Sub(r.began))
		}
		if wait == 0 {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// series lists the candle series of all strategies, without duplicates.
func (r *runner) series() (all []poll.Series) {
	for i := range r.plan.Strategies {
		s := &r.plan.Strategies[i]
		for _, m := range r.plan.Offered(s) {
			for _, c := range r.needs[i].Of(s.Interval) {
				all = addNew(all, poll.Series{Market: m.ID, Interval: c.Interval})
			}
		}
	}
	return all
}

// lastCandle is the start of the last candle of a series that an earlier run delivered; 0: there is
// none.
func (r *runner) lastCandle(s *poll.Series) (market.Time, error) {
	data, err := r.store.Cursor(cursorOf(r.plan.Catalog.Market(s.Market).Name, s.Interval))
	if err != nil || len(data) != 8 {
		return 0, err
	}
	return market.Time(binary.BigEndian.Uint64(data)), nil
}

// history fetches the candles of all warm-ups, in the order of their close: of each series as many
// as a backtest reads before its range. Candles that an earlier run has not delivered are left to
// the feed.
func (r *runner) history(ctx context.Context) (all []market.Candle, err error) {
	for _, s := range r.series() {
		count := backtest.Warmup(r.plan.Strategies, r.plan.Catalog.Market(s.Market), s.Interval)
		if count == 0 {
			continue
		}
		before, err := r.lastCandle(&s)
		if err != nil {
			return nil, err
		}
		end := r.began
		if before != 0 {
			end = s.Interval.End(before)
		}
		err = live.RetryUntilReached(ctx, r.log, func() error {
			got, err := r.feed.History(ctx, s, end, count)
			if err == nil {
				all = append(all, got...)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, inOrderOfClose)
	return all, nil
}

func inOrderOfClose(a, b market.Candle) int {
	return cmp.Or(cmp.Compare(a.End(), b.End()), cmp.Compare(a.Interval, b.Interval), cmp.Compare(a.Market, b.Market))
}
