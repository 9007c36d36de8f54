package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/internal/goroutine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy"
)

// warmupTimeout is the longest time that new strategies may take to begin and to see their candles.
const warmupTimeout = time.Minute

// bySignal is the author of a reload by SIGHUP, in the journal.
const bySignal = "SIGHUP"

// settings are those that hold now. Any goroutine may read them.
type settings struct {
	plan *plan.Live
	at   market.Time // of the reload that brought them; 0: the start did
}

// reloadable are the settings that hold now; nil: those of the plan.
type reloadable struct {
	atomic.Pointer[settings]
	swapping sync.Mutex // a reload is under way
}

// config is the config of the settings that hold now. Any goroutine may call it.
func (r *runner) config() *config.Run {
	if now := r.settings.Load(); now != nil {
		return now.plan.Config
	}
	return r.plan.Config
}

// engineCopy is the state of the engine with a commit, for a reload that is prepared beside it.
type engineCopy struct {
	at       market.Time
	parts    map[string][]byte
	manifest *core.Manifest
	latest   map[poll.Series][]market.Candle // in the order of their close
}

// copying makes copies of the engine for reloads. It belongs to the loop's goroutine.
type copying struct {
	wanted   bool
	failed   error // why there is no copy
	copied   *engineCopy
	catching bool            // since copied …
	caught   []market.Candle // … these candles have entered the engine
}

// newCopy begins a copy with a commit; nil: none is wanted.
func (r *inputRecorder) newCopy() snapshot {
	if !r.copying.wanted {
		return nil
	}
	return snapshot{}
}

// keepCopy keeps a copy of what a commit has saved; nil: none was wanted.
func (r *inputRecorder) keepCopy(at market.Time, parts snapshot) {
	if parts == nil {
		return
	}
	text, err := r.describe()
	var m *core.Manifest
	if err == nil {
		m, err = core.DecodeManifest(text) // memory of its own
	}
	if r.copying = (copying{failed: err}); err != nil {
		return
	}
	r.copying = copying{catching: true,
		copied: &engineCopy{at: at, parts: parts, manifest: m, latest: r.latest.series()}}
}

// reload answers `bot reload`.
func (c *control) reload(_ context.Context, ask *operator.Request) (any, error) {
	wait := time.Duration(ask.WaitMS) * time.Millisecond
	if wait <= 0 || wait > operator.MaxWait {
		return nil, config.Usagef("a wait of %s is not in 1ms to %s", wait, operator.MaxWait)
	}
	ctx, cancel := context.WithTimeout(c.ctx, wait)
	defer cancel()
	return c.reloadNow(ctx, cmp.Or(ask.By, byOperator), ask.Check)
}

// followHangups reloads the settings with each SIGHUP until ctx ends.
func (c *control) followHangups(ctx context.Context, hangup <-chan os.Signal) {
	for {
		select {
		case <-hangup:
			within, cancel := context.WithTimeout(ctx, operator.MaxWait)
			_, _ = c.reloadNow(within, bySignal, false) // the log has the outcome
			cancel()
		case <-ctx.Done():
			return
		}
	}
}

// reloadNow takes over the settings that the config has now, all of them or none.
func (c *control) reloadNow(ctx context.Context, by string, check bool) (report *operator.Reload, err error) {
	r := c.r
	if r.Reread == nil {
		return nil, config.Usagef("this bot was not started from a config file: restart it with other settings")
	}
	if !r.settings.swapping.TryLock() {
		return nil, errors.New("another reload is under way: ask again when it is done")
	}
	defer r.settings.swapping.Unlock()
	report, err = c.tryReload(ctx, by, check)
	switch {
	case check:
	case err != nil:
		r.watch.count("reloads_total", 1, "refused")
		r.log.Error().Err(err).Str("by", by).Msg("the reload is refused: the bot goes on with the settings that it had")
	case len(report.Changed) == 0:
		r.log.Info().Str("by", by).Msg("reload: no setting has changed")
	default:
		r.watch.count("reloads_total", 1, "done")
		r.log.Info().Str("by", by).Strs("changed", report.Changed).Strs("warmed_up_anew", report.Strategies).
			Int("entries_cancelled", report.Cancelled).Str("config", report.ConfigHash).Msg("the settings are reloaded")
	}
	return report, err
}

func (c *control) tryReload(ctx context.Context, by string, check bool) (*operator.Reload, error) {
	r := c.r
	next, err := r.Reread()
	if err != nil {
		return nil, fmt.Errorf("nothing is applied: %w", err)
	}
	was := r.settings.Load()
	change := next.ChangeFrom(was.plan)
	if len(change.Restart) > 0 {
		return nil, config.Usagef("nothing is applied: %s: that needs a restart of the bot; a reload takes over risk, "+
			"strategies.NAME.risk, strategies.NAME.params, strategies.NAME.rules, alerts and bot.log",
			strings.Join(change.Restart, ", "))
	}
	s := &settingsSwap{control: c, by: by, next: next, was: was.plan, change: change,
		report: &operator.Reload{Changed: change.Lines(), Strategies: []string{}, Check: check}}
	if err := next.Succeed(was.plan, r.plan.Catalog); err != nil {
		return nil, err
	}
	if s.report.ConfigHash = next.SettingsHash; len(change.Settings) == 0 {
		return s.report, nil
	}
	if change.Trading() {
		defer s.stopCatching()
		if err := s.prepare(ctx); err != nil {
			return nil, err
		}
	}
	r.fault("reload prepared")
	if check {
		return s.report, nil
	}
	return s.report, s.swap(ctx)
}

// settingsSwap is a reload under way.
type settingsSwap struct {
	*control
	by        string
	next, was *plan.Live
	change    *plan.Change
	report    *operator.Reload
	prepared  *core.Reload // nil: neither limits nor parameters change
}

// prepare makes the strategies with the new parameters beside the loop, and warms them up.
func (s *settingsSwap) prepare(ctx context.Context) error {
	copied, err := s.copy(ctx)
	if err != nil {
		return err
	}
	s.r.fault("reload copied")
	manifest, err := copied.manifest.With(s.next.Strategies, s.next.Limits)
	if err != nil {
		return err
	}
	changed, err := copied.manifest.Changed(manifest)
	if err != nil {
		return err
	}
	p := &core.Reload{Manifest: manifest, Until: copied.at, Parts: copied.parts, Apart: goroutine.Call, Log: s.r.log,
		Kinds: kindsOf(s.next.Strategies)}
	if len(changed) > 0 {
		if p.History, err = s.history(ctx, copied); err != nil {
			return err
		}
	}
	if err := prepareBeside(ctx, p, copied.manifest); err != nil {
		return err
	}
	s.prepared, s.report.Strategies = p, append(s.report.Strategies, p.Strategies()...)
	s.report.WarmedUpToMS = copied.at.Millis()
	return nil
}

// prepareBeside prepares a reload on a goroutine of its own, which is left behind where a strategy
// does not return.
func prepareBeside(ctx context.Context, p *core.Reload, from *core.Manifest) error {
	done := make(chan error, 1)
	go func() {
		err := errors.New("a strategy ended its goroutine")
		defer func() {
			if reason := recover(); reason != nil {
				err = fmt.Errorf("panic: %v", reason)
			}
			done <- err
		}()
		err = p.Prepare(from)
	}()
	late, cancel := context.WithTimeout(ctx, warmupTimeout)
	defer cancel()
	select {
	case err := <-done:
		return err
	case <-late.Done():
		return fmt.Errorf("the new strategies are not warmed up: the bot ends, the time of --wait is over, or after "+
			"%s a strategy has not returned from a callback", warmupTimeout)
	}
}

// copy returns a copy of the engine as of a commit, from which on the candles are caught.
func (s *settingsSwap) copy(ctx context.Context) (copied *engineCopy, err error) {
	j := s.r.journal
	if err := s.awaitLoop(ctx, func(ctx context.Context) error {
		return s.r.loop.Do(ctx, func(market.Time) []market.Command {
			j.copying = copying{wanted: true}
			return nil
		})
	}); err != nil {
		return nil, err
	}
	var failed error
	err = s.query(ctx, func(market.Time) { copied, failed = j.copying.copied, j.copying.failed })
	if err == nil && failed == nil && copied == nil {
		failed = errors.New("the state of the engine was not saved")
	}
	return copied, errors.Join(err, failed)
}

// stopCatching ends what copy began. A loop that has ended needs no end.
func (s *settingsSwap) stopCatching() {
	_ = s.query(s.ctx, func(market.Time) { s.r.journal.copying = copying{} })
}

// history is the candles of the warm-ups: those that the bot keeps, or where they are too few,
// fetched ones that close no later.
func (s *settingsSwap) history(ctx context.Context, copied *engineCopy) (all []market.Candle, err error) {
	for _, series := range s.r.series() {
		of := s.r.plan.Catalog.Market(series.Market)
		count := backtest.Warmup(s.next.Strategies, of, series.Interval)
		have := copied.latest[series]
		if len(have) < count {
			if have, err = s.fetch(ctx, &series, have, count); err != nil {
				return nil, fmt.Errorf("candles of %s %s for the warm-up: %w", of.Name, series.Interval, err)
			}
		}
		all = append(all, have[max(0, len(have)-count):]...)
	}
	slices.SortStableFunc(all, inOrderOfClose)
	return all, nil
}

func (s *settingsSwap) fetch(ctx context.Context, series *poll.Series, have []market.Candle,
	count int) ([]market.Candle, error) {
	end := s.r.began
	if len(have) > 0 {
		end = have[len(have)-1].End()
	} else if last, err := s.r.lastCandle(series); err != nil {
		return nil, err
	} else if last != 0 {
		end = series.Interval.End(last)
	}
	return s.r.feed.History(ctx, *series, end, count)
}

// swap lets the new settings take over between two turns of the loop.
func (s *settingsSwap) swap(ctx context.Context) error {
	var failed error
	var old *alert.Sender
	if err := s.do(ctx, func(at market.Time) (commands []market.Command) {
		if commands, failed = s.takeOver(at); failed == nil {
			old = s.settle(at)
		}
		return commands
	}); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	old.Stop(alertFlushTimeout)
	s.r.fault("reload done")
	return s.query(ctx, func(market.Time) {}) // the turn of the reload has been committed
}

// takeOver lets the prepared strategies and limits take over. An error changes nothing.
func (s *settingsSwap) takeOver(at market.Time) ([]market.Command, error) {
	r, j := s.r, s.r.journal
	if s.prepared == nil {
		return nil, nil
	}
	later := j.later(s.prepared.History)
	record, err := s.prepared.Record(at, later)
	if err != nil {
		return nil, err
	}
	r.fault("reload begins")
	j.record(record)
	commands, err := r.core.Reload(at, s.prepared, later)
	if err != nil {
		return nil, err
	}
	r.fault("reload taken over")
	s.report.Cancelled = len(commands)
	j.manifest = s.prepared.Manifest
	if len(s.report.Strategies) > 0 {
		j.latest = r.newLatestCandles(s.next.Strategies)
		j.latest.add(s.prepared.History)
		j.latest.add(later)
	}
	return commands, nil
}

// later are the candles since the copy that a history lacks.
func (r *inputRecorder) later(history []market.Candle) (later []market.Candle) {
	newest := map[poll.Series]market.Time{}
	for i := range history {
		c := &history[i]
		newest[poll.Series{Market: c.Market, Interval: c.Interval}] = c.Start
	}
	for _, c := range r.copying.caught {
		if last, known := newest[poll.Series{Market: c.Market, Interval: c.Interval}]; !known || c.Start > last {
			later = append(later, c)
		}
	}
	return later
}

// settle makes the new settings those of the bot, in the journal too. The next commit saves all,
// and the recording gets a snapshot. It returns the sender of the old alerts, to be stopped; nil:
// there is none, or it goes on.
func (s *settingsSwap) settle(at market.Time) (old *alert.Sender) {
	r, j := s.r, s.r.journal
	s.report.Done = true
	entry := journal.Reload{By: s.by, ConfigHash: s.next.SettingsHash, Was: s.was.SettingsHash,
		Strategies: s.report.Strategies, Changes: s.report.Changed}
	if s.prepared != nil {
		entry.Until, j.day = s.prepared.Until, -1
	}
	j.batch.Reload(at, &entry)
	j.savedAll = 0
	r.settings.Store(&settings{plan: s.next, at: at})
	j.seal.Runs(seal.StrategiesOf(s.next.Strategies))
	for _, line := range j.seal.Changes() {
		r.log.Warn().Str("changed", line).Msg("not what was sealed: bot verify judges it all the same")
	}
	if r.SetLevel != nil {
		r.SetLevel(s.next.Config.Bot.Log)
	}
	if slices.ContainsFunc(s.change.Settings, func(d config.Difference) bool { return d.Path[0] == "alerts" }) {
		old = r.watch.realert(s.next, alert.NewSender(s.next.Receivers, s.next.Heartbeat, r.log))
	}
	return old
}

// kindsOf are the kinds of the strategies of a plan.
func kindsOf(strategies []backtest.StrategyPlan) (kinds []strategy.Definition) {
	for i := range strategies {
		kinds = append(kinds, strategies[i].Kind)
	}
	return kinds
}

// series are copies of the candles by series, oldest first.
func (l latestCandles) series() map[poll.Series][]market.Candle {
	all := make(map[poll.Series][]market.Candle, len(l))
	for of, s := range l {
		all[of] = slices.Clone(s.candles)
	}
	return all
}
