package backtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/market"
)

// LookaheadOptions set the effort of CheckLookahead.
type LookaheadOptions struct {
	Places    int    // cuts at even distances over the data
	Decisions int    // cuts right after decisions: at most so many, a sample where there are more
	Seed      uint64 // of the sample and of the noise

	Watch func(Watched) // as Options.Watch

	leak func(Source) Source // for tests: lets a strategy read candles too early
}

// LookaheadReport is the result of CheckLookahead.
type LookaheadReport struct {
	Decisions int               // of the whole run
	Runs      int               // of the plan from its start, over all of its candles or some
	Forks     int               // short runs from a copy of a run on
	Cuts      []market.Time     // last closes that the altered runs share with the whole run
	Changed   []ChangedDecision // differing decisions, the earliest first: empty is good
	// FromStart says why every altered run was made from the start; empty: forks were enough.
	FromStart string
}

// ChangedDecision is a decision that changed although the candles before it did not.
type ChangedDecision struct {
	Run   string      // how that run differed from the first
	Cut   market.Time // of the data of that run; 0: all data
	Known market.Time // close of the newest candle that the decision could know
	Was   string      // what the first run decided
	Is    string      // what that run decided in its place
}

// The runs that CheckLookahead compares with the first. Two kinds of knowledge of the future stay
// hidden: a fixed table of the future, which looks like a calendar, and knowledge that a strategy
// uses only in the first run of a process.
const (
	runAgain    = "a second run over the same candles"
	runOneByOne = "a run candle by candle, without Skip"
	runSpoiled  = "a run in which what was handed out is overwritten after the callback"
	runCut      = "a run whose data ends after that candle"
	runNoise    = "a run whose candles after that one are noise"
)

// horizon is how many candles of each feed an altered run continues after its cut.
const horizon = 512

// CheckLookahead runs the plan, then again in ways in which a strategy that knows only what has
// happened decides the same:
//
//   - with another future from a place in the first quarter on, noise for the next eighth: what a
//     strategy keeps from run to run, in memory or in files, is wrong then for the next run;
//   - over the same candles, one by one and without Skip, and with all that is handed out
//     overwritten after each callback;
//   - for cuts right after decisions and at even places: with the data ending there, and with noise
//     in place of the future, of candles and of signals.
//
// The altered runs of a cut are forks: copies of the run over the same candles, made a window of
// candles before the cut, that continue beyond the cut. Two cuts are run from the start as well.
// Where a fork or a run decides otherwise, and where the run cannot be copied, every cut is run
// from the start (FromStart says why); after a difference, a run over noise alone and a run for
// each cause of a difference go before. The report names decisions of such runs only.
//
// It takes 4 runs over all candles or some and two forks for each cut; from the start two runs up
// to each cut in addition, and 4 more after a difference. The first run of a process is the one
// that has no knowledge of an earlier one: call it before any other run of the plan.
func CheckLookahead(ctx context.Context, p *Plan, o LookaheadOptions) (*LookaheadReport, error) {
	l := &lookahead{ctx: ctx, plan: p, quiet: *p, options: o, chance: randomSequence(o.Seed)}
	l.quiet.Log = zerolog.Nop() // the first run has logged everything
	plan := *p
	plan.Open = l.open(alteration{})
	whole, first, last, err := decide(ctx, &plan, runOptions{watch: o.Watch})
	if err != nil {
		return nil, err
	}
	l.whole, l.report.Decisions, l.report.Runs = whole, len(whole.list), 1
	l.report.Cuts, l.eighth = l.cuts(first, last), (last-first)/8
	if err := l.check(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(l.report.Changed, func(a, b ChangedDecision) int { return cmp.Compare(a.Known, b.Known) })
	return &l.report, nil
}

// lookahead is one running check.
type lookahead struct {
	ctx     context.Context
	plan    *Plan
	quiet   Plan // the plan without its log
	options LookaheadOptions
	chance  randomSequence
	whole   *trail
	eighth  market.Time // of the data's length
	report  LookaheadReport
}

// check compares the whole run with others: with forks first, and where these do not suffice with
// runs from the start.
func (l *lookahead) check() error {
	if err := l.sample(true); err != nil {
		return err
	}
	s := forkCheck{lookahead: l}
	if err := s.run(); err != nil {
		return err
	}
	if err := l.sample(false); err != nil {
		return err
	}
	switch {
	case s.differs || len(l.report.Changed) > 0:
		return l.fromStart()
	case s.refused != nil:
		l.report.FromStart = "the run cannot be copied: " + s.refused.Error()
		return l.checkCuts()
	}
	return nil
}

// fromStart checks everything by runs from the start.
func (l *lookahead) fromStart() error {
	l.report.FromStart = "a run or a fork decided otherwise"
	if err := l.repeat(); err != nil {
		return err
	}
	if err := l.checkCuts(); err != nil {
		return err
	}
	if len(l.report.Changed) == 0 {
		l.report.FromStart = "a copy of the run decided otherwise, or disturbed it: a strategy keeps something " +
			"outside itself (a package variable), or compares addresses"
	}
	return nil
}

// checkCuts checks every cut by runs from the start.
func (l *lookahead) checkCuts() error {
	for _, cut := range l.report.Cuts {
		if err := l.checkCut(cut); err != nil {
			return err
		}
	}
	return nil
}

// sample makes one altered run from the start: knowledge of a future farther away than the window
// of a fork changes it. One of noise goes on for an eighth of the data: what a strategy keeps from
// it is wrong in the next run. Knowledge of the end of the data shows at any end: an early one
// costs least.
func (l *lookahead) sample(noise bool) error {
	cuts := l.report.Cuts
	switch {
	case noise && len(cuts) == 0:
		return l.cut(runNoise, alteration{noise: true})
	case noise:
		cut := cuts[len(cuts)/4]
		return l.cut(runNoise, alteration{cut: cut, noise: true, until: cut + l.eighth})
	case len(cuts) > 0:
		return l.cut(runCut, alteration{cut: cuts[len(cuts)/8], ends: true})
	}
	return nil
}

// repeat runs over all candles once more, after a run over noise: each cause of a difference alone.
func (l *lookahead) repeat() error {
	if _, err := l.run(alteration{noise: true}, false, false); err != nil {
		return err
	}
	for _, one := range [...]struct {
		name                string
		oneByOne, overwrite bool
	}{{runAgain, l.plan.OneByOne, false}, {runOneByOne, true, false}, {runSpoiled, true, true}} {
		trace, err := l.run(alteration{}, one.oneByOne, one.overwrite)
		if err != nil {
			return err
		}
		l.compare(one.name, 0, trace, func(*decision) bool { return true })
	}
	return nil
}

// checkCut compares the decisions up to a cut with those of runs from the start.
func (l *lookahead) checkCut(cut market.Time) error {
	if err := l.cut(runNoise, alteration{cut: cut, noise: true}); err != nil {
		return err
	}
	return l.cut(runCut, alteration{cut: cut, ends: true})
}

// cut compares the decisions up to the cut of an alteration with those of a run from the start.
func (l *lookahead) cut(name string, a alteration) error {
	trace, err := l.run(a, l.plan.OneByOne, false)
	switch {
	case errors.Is(err, ErrNoCandles):
		return nil
	case err != nil:
		return err
	}
	l.compare(name, a.cut, trace, l.counted(a.cut, a.ends))
	return nil
}

// counted tells which decisions a cut cannot change: those without knowledge of a later candle.
// With no later candle, later timers do not fire.
func (l *lookahead) counted(cut market.Time, ends bool) func(*decision) bool {
	arrival := cut + market.Time(l.plan.DataLatency)
	return func(d *decision) bool { return d.knows <= cut && (!ends || d.at <= arrival) }
}

// run runs the plan over altered candles.
func (l *lookahead) run(a alteration, oneByOne, overwrite bool) (*trail, error) {
	a.copies = overwrite
	p := l.altered(a)
	p.OneByOne = oneByOne
	trace, _, _, err := decide(l.ctx, &p, runOptions{overwrite: overwrite, watch: l.options.Watch})
	return trace, err
}

// altered is the plan of one more run, over altered candles.
func (l *lookahead) altered(a alteration) Plan {
	p := l.quiet
	a.seed = l.chance.next()
	p.Open, p.Signals = l.open(a), a.hear(p.Signals, len(p.Signals))
	l.report.Runs++
	return p
}

// open opens the plan's feeds with an alteration.
func (l *lookahead) open(a alteration) func(f Feed, from, to market.Time) (Source, error) {
	return func(f Feed, from, to market.Time) (Source, error) {
		source, err := l.plan.Open(f, from, to)
		if err != nil {
			return nil, err
		}
		return l.leaky(a.apply(source, f)), nil
	}
}

// leaky lets a test leak the candles of a source.
func (l *lookahead) leaky(source Source) Source {
	if l.options.leak == nil {
		return source
	}
	return l.options.leak(source)
}

// compare notes the first decision that differs from the whole run.
func (l *lookahead) compare(name string, cut market.Time, trace *trail, counts func(*decision) bool) {
	was, is := l.whole.differs(trace, counts)
	if was == nil && is == nil {
		return
	}
	known := market.Time(0)
	switch {
	case was == nil:
		known = is.knows
	case is == nil || was.knows <= is.knows:
		known = was.knows
	default:
		known = is.knows
	}
	change := ChangedDecision{Run: name, Cut: cut, Known: known, Was: l.plan.text(was), Is: l.plan.text(is)}
	if !slices.Contains(l.report.Changed, change) {
		l.report.Changed = append(l.report.Changed, change)
	}
}

// cuts chooses the cuts: after decisions and at even places, in order.
func (l *lookahead) cuts(first, last market.Time) (cuts []market.Time) {
	for i := range l.whole.list {
		sees, of := l.whole.list[i].knows, l.plan.Feeds[0].Interval
		if !of.Aligned(sees) { // a signal inside a candle
			sees = of.End(of.Floor(sees))
		}
		if sees > 0 && sees < last && (len(cuts) == 0 || cuts[len(cuts)-1] != sees) {
			cuts = append(cuts, sees)
		}
	}
	if len(cuts) > l.options.Decisions {
		for i := range l.options.Decisions {
			j := i + int(l.chance.below(int64(len(cuts)-i)))
			cuts[i], cuts[j] = cuts[j], cuts[i]
		}
		cuts = cuts[:l.options.Decisions]
	}
	for i := 1; i <= l.options.Places; i++ {
		cut := first + (last-first)/market.Time(l.options.Places+1)*market.Time(i)
		if cut = l.plan.Feeds[0].Interval.Floor(cut); cut > first {
			cuts = append(cuts, cut)
		}
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// String says what changed.
func (c ChangedDecision) String() string {
	return fmt.Sprintf("when the last candle known closed at %s, the first run decided %q; %s decided %q", c.Known,
		c.Was, c.Run, c.Is)
}
