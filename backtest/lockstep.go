package backtest

import (
	"context"
	"errors"
	"slices"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// blockSize is how many candles of the finest series a run steps before the next run does: they
// stay in the processor's second cache meanwhile. In a smaller block a run has too few orders: each
// misses the caches.
const blockSize = 1024

// lockstep drives runs over the same candles: all of them step a block of candles before the first
// one steps the next.
type lockstep struct {
	series  []series // by feed
	runs    []*lockstepRun
	block   int
	turn    int          // place of the next run to step the present block
	active  *lockstepRun // the run that steps now; nil: none
	until   market.Time  // runs step all candles that close up to here; never: there are no more after them
	outline blockSums    // of the candles of the only series
	watch   func(plan int, w Watched)
	memory  *Memory
}

// lockstepRun is one run of a lockstep.
type lockstepRun struct {
	plan   Plan
	ran    *RunEnd
	driver *driver       // nil until its first candles are known
	from   []market.Time // by feed: no candle that starts earlier is read
	next   []int64       // by feed: the number of the next candle, once there is a driver
	days   days
	over   bool // it has ended, or failed
	lost   bool // a strategy ended the goroutine
}

// errPause unwinds the loop of a run at the end of a block.
var errPause = errors.New("the block has ended")

// newLockstep opens the candles from the earliest time that a run reads on.
func newLockstep(plans []*Plan, o LockstepOptions, all []RunEnd) (*lockstep, error) {
	l := &lockstep{block: o.block, turn: len(plans), watch: o.Watch, memory: o.Memory}
	if l.block == 0 {
		l.block = blockSize
	}
	if l.memory == nil {
		l.memory = &Memory{}
	}
	from := make([]market.Time, len(plans[0].Feeds))
	for i, p := range plans {
		r := &lockstepRun{plan: *p, ran: &all[i], next: make([]int64, len(from))}
		if o.From != 0 {
			r.plan.From = o.From
		}
		for k, f := range p.Feeds {
			r.from = append(r.from, r.plan.History(f, 1))
			if i == 0 || r.from[k] < from[k] {
				from[k] = r.from[k]
			}
		}
		if i < len(l.memory.days) {
			r.days.own = l.memory.days[i]
		}
		l.runs = append(l.runs, r)
	}
	for k, f := range plans[0].Feeds {
		source, err := plans[0].Open(f, from[k], plans[0].To)
		if err != nil {
			l.close()
			return nil, err
		}
		l.series = append(l.series, series{Feed: f, source: source,
			bench: benchmark{length: market.Time(f.Interval.Fixed())}})
	}
	if len(l.series) == 1 {
		l.outline, l.series[0].own = l.memory.outline, l.memory.candles
	}
	return l, nil
}

func (l *lockstep) close() {
	for i := range l.series {
		l.series[i].source.Close()
	}
	if len(l.series) == 1 {
		l.memory.outline, l.memory.candles = l.outline, l.series[0].own
	}
	for i, r := range l.runs {
		if i == len(l.memory.days) {
			l.memory.days = append(l.memory.days, nil)
		}
		l.memory.days[i] = r.days.own
	}
}

// run drives all runs to their ends. Called again after a strategy has ended the goroutine, it goes
// on with the next run.
func (l *lockstep) run(ctx context.Context, progress func(market.Time)) error {
	for l.until != never || l.turn < len(l.runs) {
		if l.turn == len(l.runs) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := l.load(); err != nil {
				return err
			}
			if progress != nil && l.until != never {
				progress(l.until)
			}
		}
		for l.turn < len(l.runs) {
			l.active = l.runs[l.turn]
			l.turn++
			if !l.active.over {
				l.step(ctx, l.active)
			}
			l.active = nil
		}
	}
	return nil
}

// load forgets the candles that each run has stepped, and reads those of the next block.
func (l *lockstep) load() error {
	l.turn = 0
	first := never
	for k := range l.series {
		if s := &l.series[k]; !s.ended {
			s.drop(l.needed(k))
			first = min(first, s.close)
		}
	}
	span := l.series[0].Interval.End(0) * market.Time(l.block)
	l.until = never
	for k := range l.series {
		s := &l.series[k]
		for !s.ended && s.close < first+span {
			if err := s.more(l.block); err != nil {
				return err
			}
		}
		if !s.ended {
			l.until = min(l.until, s.close)
		}
	}
	if len(l.series) == 1 {
		l.outline.sumUp(l.series[0].candles)
	}
	for k := range l.series {
		s := &l.series[k]
		s.bench.step(s.closed(l.until), l.known(0))
	}
	return nil
}

// known is the outline of the block from a candle of the only series on.
func (l *lockstep) known(at int) outline {
	if len(l.series) > 1 {
		return outline{}
	}
	return outline{&l.outline, at}
}

// needed is the number of the first candle of a series that a run still needs.
func (l *lockstep) needed(k int) int64 {
	s := &l.series[k]
	number := s.before + int64(len(s.candles))
	for _, r := range l.runs {
		switch {
		case r.over:
		case r.driver == nil:
			number = min(number, s.from(r.from[k]))
		default:
			number = min(number, r.next[k])
		}
	}
	return number
}

// step drives a run over the block, and sums it up after the last one.
func (l *lockstep) step(ctx context.Context, r *lockstepRun) {
	err := l.advance(ctx, r)
	if err == nil && l.until == never {
		err = r.conclude(ctx)
	}
	if err != nil {
		r.over, r.ran.Err = true, err
	}
}

// advance drives a run over the block.
func (l *lockstep) advance(ctx context.Context, r *lockstepRun) (err error) {
	if r.driver == nil && l.ready(r) {
		err = l.begin(r)
	}
	d := r.driver
	if d == nil || err != nil {
		return err
	}
	for k := range d.feeds {
		d.feeds[k].give(l.series[k].rest(r.next[k]))
	}
	if len(d.feeds) == 1 {
		d.outline = l.known(int(r.next[0] - l.series[0].before))
	}
	d.pauseAt = l.until
	err = d.runOn(ctx)
	for k := range d.feeds {
		s, f := &l.series[k], &d.feeds[k]
		r.next[k] = s.before + int64(len(s.candles)-len(f.batch)+f.at)
	}
	if err == errPause {
		return nil
	}
	return err
}

// ready reports whether the first candle of each feed of a run is known.
func (l *lockstep) ready(r *lockstepRun) bool {
	for k := range l.series {
		if s := &l.series[k]; !s.ended && s.from(r.from[k]) == s.before+int64(len(s.candles)) {
			return false
		}
	}
	return true
}

// begin makes the driver of a run, over the candles that are known, and starts its strategies.
func (l *lockstep) begin(r *lockstepRun) (err error) {
	for k := range l.series {
		r.next[k] = l.series[k].from(r.from[k])
	}
	open := r.plan.Open
	defer func() { r.plan.Open = open }()
	r.plan.Open = func(f Feed, _, _ market.Time) (Source, error) {
		k := slices.IndexFunc(l.series, func(s series) bool { return s.like(f) })
		return &sliceSource{l.series[k].rest(r.next[k])}, nil
	}
	r.driver, err = newDriver(&r.plan,
		runOptions{record: func(equity market.Money, from market.Time, rates []exchange.Fees) (*recorder, error) {
			rec, err := newRecorder(r.plan.recording(Options{}, equity, from, rates))
			if err == nil {
				rec.follow(&r.days, r.plan.Feeds[0].Market)
				rec.hold.shared = l.benchmark(&rec.cfg)
			}
			return rec, err
		}})
	if err == nil {
		err = r.driver.open(runOptions{})
	}
	if err != nil {
		return err
	}
	if l.watch != nil {
		r.driver.watch(func(w Watched) { l.watch(slices.Index(l.runs, r), w) })
	}
	r.driver.pause = func(market.Time) error { return errPause }
	return r.driver.begin()
}

// benchmark is the shared hold of the market that a run is compared with; nil: there is none.
func (l *lockstep) benchmark(cfg *recorderConfig) *benchmark {
	if len(cfg.Markets) > 1 {
		return nil
	}
	for k := range l.series {
		s := &l.series[k]
		if s.Market.ID == cfg.Markets[0].ID && s.Interval == cfg.HoldInterval && s.bench.length != 0 {
			return &s.bench
		}
	}
	return nil
}

// conclude sums up a run that has ended.
func (r *lockstepRun) conclude(ctx context.Context) (err error) {
	d := r.driver
	if err := d.end(); err != nil {
		return err
	}
	if h := &d.recorder.hold; h.joint != nil {
		h.track = h.joint.end()
	}
	r.ran.Result, err = d.conclude(ctx, Options{Halted: r.ran.halted})
	if err == nil {
		r.ran.Track, r.over = d.recorder.track(), true
	}
	return err
}

// alone runs the plan again from the start, as Run does: a strategy has ended its goroutine.
func (r *lockstepRun) alone(ctx context.Context) error {
	d, result, err := run(ctx, &r.plan, Options{Halted: r.ran.halted}, &r.days)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.ran.Result, r.ran.Err = result, err
	if err == nil {
		r.ran.Track = d.recorder.track()
	}
	return nil
}
