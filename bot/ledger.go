package bot

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/research/trials"
)

// tryLog is the ledger of tries as a command uses it; nil: made-up candles have none. Its failures
// end no run: the first is said, and the rest of the command counts nothing. Only a ledger that
// cannot be read does, since it may have sealed the range.
type tryLog struct {
	*trials.Ledger
	stderr io.Writer
	err    error         // the first failure: nothing is counted after it
	sealed []trials.Seal // at the start, opened ones too
}

// trials is the ledger beside the candles of a config.
func (a *app) trials(c *config.Backtest) *tryLog {
	if c.Data.Source == config.SourceSynthetic {
		return nil
	}
	return &tryLog{Ledger: trials.Beside(c.Data.Candles), stderr: a.Stderr}
}

// fail says an error once.
func (t *tryLog) fail(err error) {
	if t.err == nil {
		t.err = err
		console.Tell(t.stderr, fmt.Sprintf("tries are not counted: %v", err))
	}
}

// append appends groups.
func (t *tryLog) append(groups ...trials.Group) {
	if t.err != nil || len(groups) == 0 {
		return
	}
	cut, err := t.Append(groups...)
	if err != nil {
		t.fail(err)
	}
	if cut > 0 {
		console.Tell(t.stderr, fmt.Sprintf("%d damaged bytes at the end of %s were cut off", cut, t.Path()))
	}
}

// nowMS is the time at which a try is made: a person reads it, and nothing depends on it.
func nowMS() int64 { return time.Now().UnixMilli() }

// sealedError is the end of a run over candles that are sealed.
type sealedError struct{ text string }

func (e sealedError) Error() string { return e.text }

// refuse returns an error if a range of the backtest's markets is sealed.
func (t *tryLog) refuse(p *plan.Backtest) error {
	if t == nil {
		return nil
	}
	span, err := spanOf(p)
	if err != nil {
		return err
	}
	t.sealed, err = t.Seals()
	if foreign, is := errors.AsType[*trials.ForeignError](err); is {
		t.fail(foreign)
		return nil
	}
	if err != nil {
		return sealedError{fmt.Sprintf("the range may be sealed, and the ledger that says so cannot be read: %v", err)}
	}
	closed, _ := span.Under(t.sealed)
	if len(closed) == 0 {
		return nil
	}
	s := &closed[0]
	return sealedError{fmt.Sprintf("%s is sealed; end the run before, with --to %s, or open the seal, once and for "+
		"good: bot trials unseal%s", s.Text(),
		sweepDate(market.Time(s.From)*market.Time(time.Millisecond)), p.StoreFlag())}
}

// spanOf is the candles on which a backtest trades.
func spanOf(p *plan.Backtest) (trials.Span, error) {
	from, err := p.Begin()
	if err != nil {
		return trials.Span{}, err
	}
	to, err := p.End()
	return trials.Span{Markets: trials.OriginOf(p.Run, trials.Origin{}).Markets, From: from.Millis(),
		To: to.Millis()}, err
}

// originOf says on which candles, over which range and with which code a run's tries were made.
func originOf(p *plan.Backtest, run *backtest.Plan, from, to market.Time) (trials.Origin, error) {
	data, err := p.HashUntil(run, to)
	return trials.OriginOf(run, trials.Origin{From: from.Millis(), To: to.Millis(), Code: p.Options.CodeVersion,
		Data: data}), err
}

// backtest counts a backtest that has ended, and says how many its family has.
func (t *tryLog) backtest(p *plan.Backtest, days *backtest.Track) []string {
	lines, err := t.counted(p, days)
	if err != nil {
		t.fail(err)
	}
	return lines
}

func (t *tryLog) counted(p *plan.Backtest, days *backtest.Track) ([]string, error) {
	if t.err != nil {
		return nil, nil
	}
	span, err := spanOf(p)
	if err != nil {
		return nil, err
	}
	origin, err := originOf(p, p.Run, market.Time(span.From)*market.Time(time.Millisecond),
		market.Time(span.To)*market.Time(time.Millisecond))
	if err != nil {
		return nil, err
	}
	try, err := trials.NewTry(p.Run, &origin, days.First, days.Returns, days.Excess(nil), days.Trips)
	if err != nil {
		return nil, err
	}
	st, err := t.Standing(span, &try)
	if err != nil {
		return nil, err
	}
	looks, fresh := t.looks(span, try.Key)
	if st.New || fresh {
		t.append(trials.Group{Origin: origin, At: nowMS(), Tries: []trials.Try{try}})
	}
	if t.err != nil {
		return nil, nil
	}
	return append([]string{fmt.Sprintf("Tries of this family: %s of %s different series of returns.",
		thousands(st.Tries), thousands(st.Series)) + luckText(&st, &try)}, looks...), nil
}

// countTry lets a backtest count as a try. It refuses a range that is sealed.
func (a *app) countTry(p *plan.Backtest) error {
	t := a.trials(p.Config)
	if t == nil {
		return nil
	}
	p.Options.Tried = func(days *backtest.Track) []string { return t.backtest(p, days) }
	return t.refuse(p)
}

// luckText compares a try with the luck of its family.
func luckText(st *trials.Standing, try *trials.Try) string {
	if try.Days < 2 {
		return ""
	}
	return fmt.Sprintf(" The best of so many worthless ones shows a Sharpe above %.2f on this length in 5 of 100 "+
		"cases; this one shows %.2f in excess of a hold at its own exposure.",
		research.LuckOf(int(st.Series), int(try.Days)).Bar, stats.Annual(try.Sharpe))
}

// looks says which look at an opened range a try is, and whether the ledger has to note it as one.
func (t *tryLog) looks(span trials.Span, key uint64) (lines []string, fresh bool) {
	_, opened := span.Under(t.sealed)
	for i := range opened {
		s, looks := &opened[i], opened[i].Opened.Looks
		at := slices.Index(looks, key)
		if at < 0 {
			at, fresh = len(looks), true
		}
		if at == 0 {
			lines = append(lines, fmt.Sprintf(
				"This is the first run over %s since its seal was opened, after %s tries: "+
					"the one honest look. Whatever is changed after it is a search again.", s.Text(),
				thousands(s.Opened.Tries)))
		} else {
			lines = append(lines, fmt.Sprintf(
				"This is run %d over %s since its seal was opened: only the first was an honest look.", at+1, s.Text()))
		}
	}
	return lines, fresh
}

// thousands writes a number with a comma between thousands.
func thousands[N int | int64 | uint64](n N) string { return backtest.Figure(n).Text(0) }

// sweepTries counts the sets of a sweep.
type sweepTries struct {
	*tryLog
	variants  *plan.Variants
	overrides func([]research.Setting) []config.Override
	space     *research.Space
	origins   map[originKey]trials.Origin
	kept      []trials.Group      // by an earlier start: the ledger has them, unless that was killed
	series    map[uint64]struct{} // of this sweep
	whole     trials.Span         // of the sets that ran over the whole range
}

// originKey is what decides on the origin of a set in a sweep.
type originKey struct {
	base *plan.Backtest
	to   market.Time
	read string // where its series begin
}

// count lets a sweep count its sets.
func (t *tryLog) count(s *search, a *app) error {
	overrides, err := overriding(s.job.Space)
	if err != nil {
		return err
	}
	k := &sweepTries{tryLog: t, variants: a.plansOf(s.config, s.candles, s.job.Space, overrides),
		overrides: overrides, space: s.job.Space, origins: map[originKey]trials.Origin{}, series: map[uint64]struct{}{}}
	s.job.Tried = func(of research.Tried) {
		if err := k.tried(&of); err != nil {
			t.fail(err)
		}
	}
	s.job.Family = func() (*research.Family, error) {
		f, err := k.family()
		if err != nil {
			t.fail(err)
		}
		return f, nil
	}
	return nil
}

// tried counts a group.
func (k *sweepTries) tried(of *research.Tried) error {
	if k.err != nil {
		return nil
	}
	base, err := k.variants.Base(k.overrides(k.space.Settings(of.Rows[0].Set)))
	if err != nil {
		return err
	}
	var groups []trials.Group // of sets that read the same candles
	for i := range of.Rows {
		r := &of.Rows[i]
		p, err := k.variants.Plan(k.overrides(k.space.Settings(r.Set)))
		if err != nil {
			return err
		}
		origin, err := k.origin(base, p, of)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(groups, func(g trials.Group) bool { return g.Data == origin.Data })
		if at < 0 {
			at = len(groups)
			groups = append(groups, trials.Group{Origin: origin, At: nowMS(), Crowded: of.Crowded})
		}
		try, err := trials.NewTry(p, &origin, market.Time(r.First)*market.Time(24*time.Hour), r.Daily, r.Excess,
			int64(r.Figures.Of("trips")))
		if err != nil {
			return err
		}
		groups[at].Tries = append(groups[at].Tries, try)
		k.series[try.Series] = struct{}{}
	}
	if of.Kept {
		k.kept = append(k.kept, groups...)
	} else {
		k.append(groups...)
	}
	return nil
}

// origin is that of a set of a group.
func (k *sweepTries) origin(base *plan.Backtest, p *backtest.Plan, of *research.Tried) (o trials.Origin, err error) {
	run := *p
	if of.From != 0 {
		run.From = of.From
	}
	key := originKey{base: base, to: of.To}
	for _, f := range run.Feeds {
		key.read += run.ReadFrom(f).String()
	}
	if o, known := k.origins[key]; known {
		return o, nil
	}
	from, to := of.From, of.To
	if from == 0 {
		if from, err = base.Begin(); err != nil {
			return o, err
		}
	}
	end, err := base.End()
	if err != nil {
		return o, err
	}
	if to == 0 {
		to = end
	}
	if o, err = originOf(base, &run, from, min(to, end)); err != nil {
		return o, err
	}
	k.origins[key] = o
	if of.To == 0 {
		k.whole.From, k.whole.To = o.From, max(o.To, k.whole.To)
		k.whole.Markets = append(k.whole.Markets, o.Markets...)
	}
	return o, nil
}

// family counts the tries of all searches.
func (k *sweepTries) family() (*research.Family, error) {
	missing, err := k.Missing(k.kept)
	if err != nil || k.err != nil {
		return nil, err
	}
	if k.append(missing...); k.err != nil {
		return nil, nil
	}
	view, err := k.View()
	if err != nil {
		return nil, err
	}
	st, err := view.Standing(k.whole, nil)
	if err != nil {
		return nil, err
	}
	spread, err := view.Spread(k.whole)
	return &research.Family{File: k.Path(), Tries: st.Tries, Series: st.Series,
		Earlier: st.Series - int64(len(k.series)), Spread: spread}, err
}

// seals says what the seals of the ledger mean for a search.
func (s *search) seals() (lines []string) {
	if s.trials == nil {
		return nil
	}
	if s.said != "" {
		lines = append(lines, s.said)
	}
	span, err := spanOf(s.base)
	if err != nil {
		return lines
	}
	_, opened := span.Under(s.trials.sealed)
	for i := range opened {
		lines = append(lines, fmt.Sprintf("%s was sealed: a search over it is no honest look at it.", opened[i].Text()))
	}
	return lines
}

// lock ends the search before the sealed end of its range. If no end is sealed yet, lock seals the
// last part of the range. It returns the beginning of the sealed end.
func (t *tryLog) lock(p *plan.Backtest, part float64) (to market.Time, said string, err error) {
	span, err := spanOf(p)
	if err != nil {
		return 0, "", err
	}
	view, err := t.View()
	if err != nil {
		return 0, "", err
	}
	closed, _ := span.Under(view.Seals)
	if len(closed) > 0 {
		s := slices.MinFunc(closed, func(a, b trials.Seal) int { return int(a.From/1000 - b.From/1000) })
		said = fmt.Sprintf("%s is sealed already: the sweep ends before it", s.Text())
		span.To = s.From
	} else {
		day := (24 * time.Hour).Milliseconds()
		cut := (span.To - int64(part*float64(span.To-span.From))) / day * day
		seal := trials.Span{Markets: span.Markets, From: cut, To: span.To}
		if cut <= span.From {
			return 0, "", config.Usagef("--lock-last: nothing is left before the sealed part; seal less")
		}
		sealed, err := view.Seal(seal, nowMS())
		if err != nil {
			return 0, "", fmt.Errorf("seal the end of the candles: %w", err)
		}
		if said = fmt.Sprintf("%s is sealed from now on", sealed.Text()); sealed.Tries > 0 {
			said += fmt.Sprintf("; it is not fresh: %s tries have used a part of it before", thousands(sealed.Tries))
		}
		span.To = cut
	}
	if span.To <= span.From {
		return 0, "", sealedError{said + ": nothing is left"}
	}
	return market.Time(span.To) * market.Time(time.Millisecond), said, nil
}

// lockPart reads the value of --lock-last.
func lockPart(text string) (part float64, err error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	if part, err = strconv.ParseFloat(number, 64); err == nil && percent && part > 0 && part <= 50 {
		return part / 100, nil
	}
	return 0, config.Usagef("--lock-last %s: want a part of the range, at most half of it, like 20%%",
		config.Clip(text))
}
