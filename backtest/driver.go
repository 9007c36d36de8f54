// Package backtest replays stored candles through the engine against the simulated venue, and
// reports the result. It never decides an order and never fills one: engine and venue are those of
// live and paper trading. Start at Run; driver.go is the loop, recorder.go records the results.
//
// Ordering invariant: of a group of candles that close at the same instant, first the venue walks
// all their paths, then the strategies receive them. An order decided on a candle reaches the venue
// at the next candle's open or later.
//
// Known limitation: markets whose driving candles have different intervals move at the closes of
// their own candles, so a strategy learns of a fill in the coarser one only at its close.
package backtest

import (
	"context"
	"math"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

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

// end stops the strategies after the last candle.
func (d *driver) end() error {
	if !d.started {
		return ErrNoCandles
	}
	d.ownRules()
	d.knows = math.MaxInt64 // from here on the end of the data is known
	d.send(d.engine.Stop(d.engine.Now()))
	d.recordOpen()
	return nil
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

// runBatch drives a batch: quiet candles in one go, the others one by one.
func (d *driver) runBatch(f *feed) error {
	coasts := d.plain && f.Interval.Fixed() > 0
	for rest := f.batch; len(rest) > 0; {
		if coasts && d.started && (d.recorder == nil || d.recorder.hold.trading) {
			n, err := d.stepQuiet(f, rest)
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
			f.at, f.end = len(f.batch)-len(rest), end
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

// stepQuiet steps calm candles and returns how many.
func (d *driver) stepQuiet(f *feed, series []market.Candle) (int, error) {
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
	if d.recorder != nil {
		if err := d.markQuiet(f, len(f.batch)-len(series), series[:n]); err != nil {
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
	d.drive, d.deliver = d.drive[:0], d.deliver[:0]
	for i := range turns[:due] { // feeds stand in the order of delivery: shorter interval first, then market
		f := &d.feeds[turns[i].feed]
		c := &f.batch[f.at]
		if f.Drive || c.Start >= d.drivenTo[c.Market] { // a coarse candle drives where the finer series has a hole
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

// group processes the candles that close at end.
func (d *driver) group(end market.Time) error {
	if !d.started {
		if err := d.start(); err != nil {
			return err
		}
	}
	inPath := d.engine.Watches()[0].Tactic // the venue says when
	if at, waiting := d.engine.NextTimer(); waiting && at < end && !inPath {
		d.fireTimers(end - 1)
	}
	d.knows = end
	if len(d.plan.Changes) > 0 {
		if err := d.change(end); err != nil {
			return err
		}
	}
	d.movement.At, d.movement.Candles = end, d.drive
	if err := d.venue.Advance(&d.movement); err != nil {
		return err
	}
	if inPath {
		d.fireTimers(end - 1)
	}
	return d.deliverGroup(end, d.deliver)
}

// deliverGroup delivers the candles that closed at end to the strategies, and records the account.
func (d *driver) deliverGroup(end market.Time, group []market.Candle) error {
	at := max(end+d.latency, d.engine.Now())
	d.arrival.At, d.arrival.Candles = at, group
	if commands := d.engine.Step(&d.arrival); len(commands) > 0 {
		d.send(commands)
	}
	if d.engine.TimerDue() {
		d.fireTimers(at)
	}
	if d.recorder != nil {
		d.mark(end)
	}
	d.last = end
	if d.overwrites {
		overwrite(d.drive)
		overwrite(group)
	}
	return d.engine.Err()
}

// mark records the account at a close.
func (d *driver) mark(end market.Time) {
	cash, equity, err := d.account.CashAndEquity(d.plan.Currency.ID)
	if err != nil {
		d.recorder.fail(err)
		return
	}
	r := d.recorder
	if r.marks == 0 {
		r.hold.trading = d.tradable()
	}
	r.Mark(end, equity, cash, equity != cash)
	if r.days != nil {
		d.markDay(end, cash, equity)
	}
	if r.followed != nil {
		r.followed.group(d.drive)
	}
	switch {
	case !r.hold.trading:
		r.hold.trading = d.tradable() // from the next open on
	case r.hold.joint != nil:
	case !r.hold.several():
		d.markHold()
	case end >= r.hold.due:
		r.hold.look(end, &r.cfg, d.account.Last)
	}
}

// markDay is markQuiet for the days alone, for a close that is not quiet.
func (d *driver) markDay(end market.Time, cash, equity market.Money) {
	if !d.plain {
		d.recorder.days.stay(end, balances{rest: equity, cash: cash}, 0, 1)
		return
	}
	c := &d.deliver[0]
	d.recorder.days.stay(end, d.balances(d.feeds[0].Market, cash, equity), int64(c.Close), 1)
}

// markHold records the candle of the market of buy and hold.
func (d *driver) markHold() {
	for _, group := range [...][]market.Candle{d.deliver, d.drive} {
		for i := range group {
			if d.recorder.holds(&group[i]) {
				d.recorder.Bar(&group[i]) // once, though it may stand in both
				return
			}
		}
	}
}

// endHold marks buy and hold of several markets at the end.
func (d *driver) endHold() {
	if h := &d.recorder.hold; h.several() && h.trading {
		h.look(d.last, &d.recorder.cfg, d.account.Last)
	}
}

// tradable reports whether a strategy has ended its warm-up.
func (d *driver) tradable() bool {
	for i := range d.plan.Strategies {
		if !d.engine.Warming(market.StrategyID(i + 1)) {
			return true
		}
	}
	return false
}

// onEvent passes an event of the venue to the engine. Arrival times never go back: an event within
// a path that happened before the arrival of a later one arrives now.
func (d *driver) onEvent(ev *market.Event) {
	if ev.Kind == market.KindTimer {
		d.fireTimers(ev.At)
		return
	}
	ev.At = max(ev.At, d.engine.Now())
	if commands := d.engine.Step(ev); len(commands) > 0 {
		d.send(commands)
	}
}

// send passes commands to the venue.
func (d *driver) send(commands []market.Command) {
	for i := range commands {
		if d.tracer != nil {
			d.tracer(&commands[i], d.knows)
		}
		if d.recorder != nil {
			d.recorder.command(&commands[i])
		}
		d.venue.Do(&commands[i])
	}
}

// fireTimers steps the timers that are due until a time, each at its own. While a path is walked, a
// command that does not act where the path stands arrives at a later point of it.
func (d *driver) fireTimers(until market.Time) {
	walks := d.venue.Walks()
	for rounds := 0; rounds < maxTimers; rounds++ {
		at, waiting := d.engine.NextTimer()
		if !waiting || at > until {
			return
		}
		ev := market.Event{Kind: market.KindTimer, At: max(at, d.engine.Now())}
		commands := d.engine.Step(&ev)
		for i := range commands {
			commands[i].Earlier = walks && !commands[i].Attached
		}
		d.send(commands)
	}
}

// maxTimers bounds the timers of one candle: a strategy that sets its next timer in the past would
// fire for ever.
const maxTimers = 100_000

// Filled records a fill: an engine.Observer.
func (d *driver) Filled(o *state.Order, f *market.Fill) {
	if len(d.oneCandle.moves) > 0 {
		d.soldWithin(o, f)
	}
	if d.recorder != nil {
		d.recorder.Fill(f, &o.Order)
	}
}

// Closed records an order that has ended: an engine.Observer.
func (d *driver) Closed(o *state.Order) {
	if o.State == state.Rejected {
		d.rejected[o.Code]++
	}
	switch {
	case d.recorder == nil:
	case o.State == state.Rejected:
		d.recorder.Rejected(&o.Order)
	default:
		d.recorder.Order(&o.Order)
	}
}

// recordOpen records the orders that are open at the end.
func (d *driver) recordOpen() {
	if d.recorder == nil {
		return
	}
	for _, o := range d.account.Open(nil, 0, 0) {
		d.recorder.Order(o)
	}
}
