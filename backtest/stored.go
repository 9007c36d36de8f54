package backtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"

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
	drive := d.runMany
	if len(d.feeds) == 1 {
		drive = d.runOne
	}
	if err := drive(ctx); err != nil {
		return err
	}
	return d.end()
}

// runOne drives a single feed: every group is one candle of its batch, and most candles are quiet.
func (d *driver) runOne(ctx context.Context) error {
	f := &d.feeds[0]
	for len(f.batch) > 0 {
		if err := d.runBatch(f); err != nil {
			return err
		}
		f.at = len(f.batch)
		if err := f.fill(); err != nil {
			return err
		}
		if err := d.report(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// runBatch drives a batch, in parts between borders.
func (d *driver) runBatch(f *feed) error {
	for from := 0; from < len(f.batch); {
		for f.endOf(f.batch[from].Start) > d.borderAt {
			if err := d.cross(); err != nil {
				return err
			}
		}
		to := len(f.batch)
		if f.last > d.borderAt {
			to = from + sort.Search(to-from, func(i int) bool { return f.endOf(f.batch[from+i].Start) > d.borderAt })
		}
		if err := d.runPart(f, from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// runPart drives a part of a batch: quiet candles in one go, the others one by one.
func (d *driver) runPart(f *feed, from, to int) error {
	coasts := d.plain && f.Interval.Fixed() > 0
	for rest := f.batch[from:to]; len(rest) > 0; {
		if coasts && d.started && (d.recorder == nil || d.recorder.hold.trading) {
			n, err := d.stepQuiet(f, to-len(rest), rest)
			if err != nil {
				return err
			}
			f.count += int64(n)
			if rest = rest[n:]; len(rest) == 0 {
				return nil
			}
		}
		end := f.Interval.End(rest[0].Start)
		if end > d.pauseAt {
			f.at, f.end = to-len(rest), end
			if err := d.pause(end); err != nil {
				return err
			}
		}
		f.count++
		d.drive, d.deliver = rest[:1], rest[:1]
		if err := d.group(end); err != nil {
			return err
		}
		rest = rest[1:]
	}
	return nil
}

// stepQuiet steps calm candles from a place in the batch on, and returns how many.
func (d *driver) stepQuiet(f *feed, at int, series []market.Candle) (int, error) {
	low, high := d.venue.QuietRange(f.Market.ID)
	if low == math.MaxInt64 { // a command is on its way
		return 0, nil
	}
	length := market.Time(f.Interval.Fixed())
	n, commands := d.engine.StepQuiet(series, length, d.latency, low, high)
	if n == 0 {
		return 0, nil
	}
	last := &series[n-1]
	d.venue.SkipTo(last)
	d.last = last.Start + length
	d.knows = d.last
	if len(commands) > 0 {
		d.send(commands)
	}
	if d.engine.TimerDue() {
		d.fireTimers(d.engine.Now())
	}
	if d.recorder != nil {
		if err := d.markQuiet(f, at, series[:n]); err != nil {
			return n, err
		}
	}
	return n, d.engine.Err()
}

// markQuiet records the account at the closes of quiet candles, from a place in the batch on: only
// the price changes, the balances do not.
func (d *driver) markQuiet(f *feed, from int, series []market.Candle) error {
	cash, equity, err := d.account.CashAndEquity(d.plan.Currency.ID)
	if err != nil {
		return err
	}
	m, length := f.Market, f.length
	a := stand{m, d.balances(m, cash, equity), equity}
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

// runMany drives several feeds, merged by the closes of their candles.
func (d *driver) runMany(ctx context.Context) error {
	turns := newMerger(d.feeds)
	for turns[0].close != never {
		if d.started && d.even {
			if err := d.runStretches(ctx); err != nil {
				return err
			}
			turns = newMerger(d.feeds)
			continue
		}
		end := turns[0].close
		if err := d.take(ctx, turns); err != nil {
			return err
		}
		if err := d.group(end); err != nil {
			return err
		}
	}
	return nil
}

// take takes the group of candles that close next from the feeds, into drive and deliver.
func (d *driver) take(ctx context.Context, turns merger) error {
	end, due := turns[0].close, turns.due()
	if end > d.pauseAt {
		if err := d.pause(end); err != nil {
			return err
		}
	}
	for end > d.borderAt {
		if err := d.cross(); err != nil {
			return err
		}
	}
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
	if f.at++; f.at == len(f.batch) {
		return false
	}
	f.end = f.endOf(f.batch[f.at].Start)
	return true
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
