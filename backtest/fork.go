package backtest

import (
	"context"
	"io"
	"log"
	"log/slog"
	"math"
	"reflect"
	"slices"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/backtest/replica"
	"github.com/tidemark-trading/tidemark/market"
)

// The most of a run's memory that is worth copying: a strategy that keeps every candle is run from
// the start instead.
const (
	forkBytes   = 16 << 20
	forkObjects = 100_000
)

// forker copies a run between two groups of candles. Each copy continues by itself: the run and its
// copies share the plan and nothing else, apart from what package replica does not see.
type forker struct {
	run    *driver
	copier *replica.Copier
}

// newForker returns a forker of a run.
func newForker(d *driver) *forker {
	rules := replica.Rules{Shared: []any{d.plan, d.plan.Catalog}, Bytes: forkBytes, Objects: forkObjects,
		Opaque: []reflect.Type{reflect.TypeFor[Source](), reflect.TypeFor[zerolog.Logger](),
			reflect.TypeFor[*log.Logger](), reflect.TypeFor[*slog.Logger]()},
		Functions: []any{d.fees, d.sink, d.point, d.record, d.tracer, d.progress, d.pause}}
	return &forker{run: d, copier: replica.New(rules)}
}

// fork returns a copy of the run that continues with the candles and the signals that alter and
// hear (nil: none) make of the run's. It has no recorder and no tracer. The error is a
// *replica.Refusal where the run cannot be copied.
func (k *forker) fork(until market.Time, alter func(Source, Feed) Source,
	hear func([]market.Signal) []market.Signal) (*driver, error) {
	d := k.run
	feeds := slices.Clone(d.feeds)
	defer copy(d.feeds, feeds)
	signals := d.signals
	d.signals = nil
	defer func(all []market.Signal) { d.setSignals(all) }(signals)
	d.drive, d.deliver, d.movement.Candles, d.arrival.Candles = nil, nil, nil, nil
	d.account.Trim()
	d.venue.Trim()
	for i := range d.feeds {
		d.feeds[i].batch, d.feeds[i].at = nil, 0
	}
	copied, err := replica.Of(k.copier, d)
	if err != nil {
		return nil, err
	}
	copied.record, copied.tracer, copied.progress, copied.pause = nil, nil, nil, nil
	copied.recorder, copied.pauseAt = nil, math.MaxInt64
	copied.sink, copied.point = copied.onEvent, copied.onPath
	if hear != nil {
		signals = hear(signals)
	}
	copied.setSignals(signals)
	copied.venue.Redirect(copied.sink, copied.point)
	for i := range copied.feeds {
		f := &copied.feeds[i]
		f.source = alter(&rest{plan: d.plan, feed: f.Feed, batch: feeds[i].ahead(until)}, f.Feed)
		if err := f.fill(); err != nil {
			copied.close()
			return nil, err
		}
	}
	return copied, nil
}

// ahead copies the part of a feed's batch that a fork reads first: the candles that close up to a
// time, and the one after them.
func (f *feed) ahead(until market.Time) []market.Candle {
	if len(f.batch) == 0 {
		return nil
	}
	to, _ := slices.BinarySearchFunc(f.batch, until, func(c market.Candle, until market.Time) int {
		if f.Interval.End(c.Start) <= until {
			return -1
		}
		return 1
	})
	to = min(max(to, f.at)+1, len(f.batch))
	return slices.Clone(f.batch[f.at:to])
}

// runPast continues a fork up to the first group that closes after a time.
func (d *driver) runPast(ctx context.Context, at market.Time) error {
	defer d.close()
	past := false
	d.pauseAt, d.pause = at, func(end market.Time) error {
		if past {
			return errPause
		}
		past, d.pauseAt = true, end
		return nil
	}
	if err := d.runOn(ctx); err != errPause {
		return err
	}
	return nil
}

// rest is the source of a fork: the candles that the run had read already, then those after them,
// in memory of its own.
type rest struct {
	plan  *Plan
	feed  Feed
	batch []market.Candle // nil: the feed has ended
	from  market.Time     // of the next candle
	later Source          // opened when it is needed
	own   []market.Candle
}

// Next returns the next candles.
func (r *rest) Next() ([]market.Candle, error) {
	if len(r.batch) > 0 {
		batch := r.batch
		r.batch = nil
		r.from = batch[len(batch)-1].Start + 1
		return batch, nil
	}
	if r.from == 0 {
		return nil, io.EOF
	}
	if r.later == nil {
		source, err := r.plan.Open(r.feed, r.from, r.plan.To)
		if err != nil {
			return nil, err
		}
		r.later = source
	}
	for {
		batch, err := r.later.Next()
		n, _ := slices.BinarySearchFunc(batch, r.from, func(c market.Candle, from market.Time) int {
			return int(min(1, max(-1, c.Start-from)))
		})
		if err != nil || n < len(batch) {
			r.own = append(r.own[:0], batch[n:]...)
			return r.own, err
		}
	}
}

// Close closes what was opened.
func (r *rest) Close() error {
	if r.later == nil {
		return nil
	}
	return r.later.Close()
}
