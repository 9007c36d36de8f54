package backtest

import (
	"errors"
	"math"

	"github.com/tidemark-trading/tidemark/backtest/replica"
	"github.com/tidemark-trading/tidemark/market"
)

// window is how many candles of the finest feed before a cut a fork begins.
const window = 256

// forkCheck is the run of a look-ahead check that is forked before each cut: candle by candle, with
// all that is handed out overwritten after the callback.
type forkCheck struct {
	*lookahead
	main    *driver
	forker  *forker
	cuts    []market.Time // to come
	follow  follower
	differs bool             // the run or a fork decided otherwise than the whole run
	refused *replica.Refusal // the run cannot be copied
}

// run runs the plan and its forks.
func (s *forkCheck) run() error {
	p := s.altered(alteration{copies: true})
	p.OneByOne = true
	_, err := drive(s.ctx, &p, runOptions{overwrite: true, watch: s.options.Watch, began: s.begin,
		tracer: func(c *market.Command, sees market.Time) { s.follow.add(c, sees) }})
	s.differs = s.differs || !s.follow.same()
	return err
}

// begin is called before each pass of the run.
func (s *forkCheck) begin(d *driver) {
	s.main, s.forker, s.cuts, s.differs = d, nil, s.report.Cuts, false
	s.follow = follower{want: s.whole.list, counts: func(*decision) bool { return true }}
	s.report.Forks, d.pause = 0, s.pause
	s.forker = newForker(d)
	s.setPause()
}

// setPause sets the time of the next fork.
func (s *forkCheck) setPause() {
	s.main.pauseAt = math.MaxInt64
	if len(s.cuts) > 0 && !s.differs && s.refused == nil {
		s.main.pauseAt = s.cuts[0] - s.window()
	}
}

// window is the time from a fork to its cut.
func (s *forkCheck) window() market.Time {
	i := s.plan.Feeds[0].Interval
	return window * i.End(0)
}

// pause forks the run for the cuts that come within the window.
func (s *forkCheck) pause(end market.Time) error {
	s.differs = s.differs || s.follow.differs
	for len(s.cuts) > 0 && end > s.cuts[0]-s.window() && !s.differs && s.refused == nil {
		for _, ends := range [...]bool{false, true} {
			if err := s.fork(s.cuts[0], ends); err != nil {
				return err
			}
		}
		s.cuts = s.cuts[1:]
	}
	s.setPause()
	s.main.watch(s.options.Watch)
	return nil
}

// fork runs a copy up to a cut, over noise from there on or with nothing behind it.
func (s *forkCheck) fork(cut market.Time, ends bool) error {
	a := alteration{cut: cut, noise: !ends, ends: ends, owned: true, seed: s.chance.next()}
	d, err := s.forker.fork(cut, func(source Source, f Feed) Source { return s.leaky(a.apply(source, f)) },
		func(list []market.Signal) []market.Signal { return a.hear(list, shortHorizon) })
	if errors.As(err, &s.refused) {
		return nil
	}
	if err != nil {
		return err
	}
	s.report.Forks++
	f := follower{want: s.whole.list, at: s.follow.at, counts: s.counted(cut, ends)}
	d.tracer = f.add
	d.watch(s.options.Watch)
	if err := d.runPast(s.ctx, cut); err != nil {
		return err
	}
	s.differs = s.differs || !f.same()
	return nil
}

// follower compares the decisions of a run with those of another while it makes them.
type follower struct {
	want    []decision
	at      int // of want: the next
	counts  func(*decision) bool
	differs bool
}

// add compares the next decision.
func (f *follower) add(c *market.Command, sees market.Time) {
	if d := decisionOf(c, sees); f.counts(&d) {
		f.differs = f.differs || f.at >= len(f.want) || f.want[f.at] != d
		f.at++
	}
}

// same reports, at the end, whether all counted decisions were the same.
func (f *follower) same() bool {
	return !f.differs && (f.at >= len(f.want) || !f.counts(&f.want[f.at]))
}
