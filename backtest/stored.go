package backtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// feed is a Feed while it is being read. The fields of the loop come first.
type feed struct {
	batch  []market.Candle
	at     int
	length market.Time // of a candle; 0: it varies
	end    market.Time // close of the candle at hand; never: there is none
	last   market.Time // close of the batch's last candle
	first  market.Time // start of the first candle that was read; never: there is none
	count  int64       // candles inside the range
	Feed
	source Source
}

// run drives the plan to its end.
func (d *driver) run(ctx context.Context) error {
	defer d.close()
	if err := d.begin(); err != nil {
		return err
	}
	if err := d.runOn(ctx); err != nil {
		return err
	}
	return d.end()
}

// markQuiet records the account at the closes of quiet candles, from a place in the batch on: only
// the price changes, the balances do not.
func (d *driver) markQuiet(f *feed, from int, series []market.Candle) error {
	cash, equity, err := d.account.CashAndEquity(d.plan.Currency.ID)
	if err != nil {
		return err
	}
	m, length := f.Market, f.length
	a := frozenAccount{m, d.balances(m, cash, equity), equity}
	return d.recorder.MarkQuiet(&a, series, length, d.outline.after(from))
}

// balances is the account by the base that it holds in a market.
func (d *driver) balances(m *market.Market, cash, equity market.Money) balances {
	b := balances{rest: equity, cash: cash}
	if held := d.account.Total(m.Base).Total; held != 0 {
		b.base, b.rest = market.Qty(held), equity-d.account.Worth(m.ID)
	}
	return b
}

// advance moves the first due feeds past the candles that were copied from them. As a loop of its
// own it lets the processor fetch the next candles of many feeds at once.
func (d *driver) advance(ctx context.Context, turns merger, due int) error {
	for i := range turns[:due] {
		f := &d.feeds[turns[i].feed]
		f.count++
		if !f.step() {
			if err := d.refill(ctx, f); err != nil {
				return err
			}
		}
		turns[i].close = f.end
	}
	turns.settle(due)
	return nil
}

// refill moves a feed on to its next batch.
func (d *driver) refill(ctx context.Context, f *feed) error {
	if err := f.fill(); err != nil || len(f.batch) == 0 {
		return err
	}
	return d.report(ctx, f)
}

// report reports, once a batch, the progress, and returns an error where the run is to end.
func (d *driver) report(ctx context.Context, f *feed) error {
	if d.progress != nil && len(f.batch) > 0 {
		d.progress(f.batch[0].Start)
	}
	return ctx.Err()
}

// open opens the feeds, early enough for the warm-up.
func (d *driver) open(o runOptions) error {
	p := d.plan
	d.alike = true
	for _, f := range p.Feeds {
		d.alike = d.alike && f.Drive && f.Deliver
		source, err := p.Open(f, p.History(f, 1+o.more), p.To)
		if err != nil {
			d.close()
			return err
		}
		d.feeds = append(d.feeds, feed{Feed: f, source: source, length: market.Time(f.Interval.Fixed())})
		last := &d.feeds[len(d.feeds)-1]
		if err := last.fill(); err != nil {
			d.close()
			return err
		}
		if last.first = never; len(last.batch) > 0 {
			last.first = last.batch[0].Start
		}
	}
	d.even = d.alike && d.feeds[0].length != 0 && !slices.ContainsFunc(d.feeds,
		func(f feed) bool { return f.length != d.feeds[0].length })
	return nil
}

func (d *driver) close() {
	for i := range d.feeds {
		d.feeds[i].source.Close()
	}
}

// step moves on to the next candle of the batch. It reports whether there is one.
func (f *feed) step() bool {
	f.moveTo(f.at + 1)
	return f.at < len(f.batch)
}

// moveTo moves to a place of the batch.
func (f *feed) moveTo(at int) {
	if f.at = at; at < len(f.batch) {
		f.end = f.endOf(f.batch[at].Start)
	}
}

// endOf is the close of a candle.
func (f *feed) endOf(start market.Time) market.Time {
	if f.length != 0 {
		return start + f.length
	}
	return f.Interval.End(start)
}

// fill moves on to the next batch; at the end of the source the feed is empty.
func (f *feed) fill() error {
	f.at, f.end = 0, never
	for {
		batch, err := f.source.Next()
		if errors.Is(err, io.EOF) {
			f.batch = nil
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", f.Market.Name, f.Interval, err)
		}
		if len(batch) > 0 {
			f.give(batch)
			return nil
		}
	}
}

// give moves on to a batch.
func (f *feed) give(batch []market.Candle) {
	f.batch, f.at, f.end = batch, 0, never
	if len(batch) > 0 {
		f.end, f.last = f.endOf(batch[0].Start), f.endOf(batch[len(batch)-1].Start)
	}
}
