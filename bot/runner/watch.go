package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// The feeds, as metrics name them.
const (
	feedPrices = iota
	feedTops
	feedBooks
	feedCandles
	feedRules
	feeds
)

var feedNames = [feeds]string{"ticker_price", "ticker_book", "book", "candles", "rules"}

// watch sees what a running bot does and passes it on to metrics, alerts and systemd, each of which
// may be nil. A nil watch sees nothing and costs nothing. Its methods belong to the loop's
// goroutine where nothing else is said.
type watch struct {
	r       *runner
	now     func() time.Time
	began   time.Time
	metrics *metrics
	alerts  alerts // nil: nobody is told
	notify  *notifier
	server  *metricsServer

	turned  atomic.Int64        // when the loop last turned, since began; 0: not yet
	heard   [feeds]atomic.Int64 // when a feed last had an answer, likewise
	trading atomic.Bool         // the loop has reconciled with the exchange
	leaving atomic.Bool         // the bot has been asked to stop
	settle  func()              // returns when systemd knows of a bot that was asked to stop; nil: nobody hears

	sampled  time.Time // when the figures were last taken
	halted   []bool    // by StrategyID
	stand    risk.Standing
	peak     market.Money // highest equity so far
	refused  map[refusalKind]int64
	rejected int64 // by the exchange, since the last sample
	storm    storm
	fills    fillNews
	name     string // of the bot
}

// alerts tells persons what happens.
type alerts interface {
	// Tell hands an alert on. It never waits.
	Tell(alert.Alert)
	// Stop waits until every alert is on its way, for so long at most.
	Stop(within time.Duration)
}

// flushAlertsWithin is how long a stop waits for alerts.
const flushAlertsWithin = 5 * time.Second

// openWatch starts what a config wants to be told: nothing by default.
func (r *runner) openWatch(ctx context.Context) error {
	p := r.plan
	notify := newNotifier(r.Getenv)
	if p.Config.Metrics.Listen == "" && len(p.Receivers) == 0 && notify == nil {
		return nil
	}
	w := &watch{r: r, name: p.Name(), now: time.Now, began: time.Now(), notify: notify,
		halted: make([]bool, len(p.Strategies)+1), refused: map[refusalKind]int64{},
		storm: storm{limit: p.Config.Alerts.Refusals}}
	r.watch = w
	if p.Config.Metrics.Listen != "" {
		w.metrics = newMetrics(w)
		server, err := newMetricsServer(w)
		if err != nil {
			return err
		}
		w.server = server
		r.log.Info().Stringer("address", server.listener.Addr()).Msg("metrics and health are served")
	}
	if sender := alert.NewSender(p.Receivers, r.log); sender != nil {
		w.alerts = sender
	}
	if notify != nil {
		w.hearStop(ctx)
	}
	return nil
}

// hearStop tells systemd when ctx ends.
func (w *watch) hearStop(ctx context.Context) {
	told := make(chan struct{})
	forget := context.AfterFunc(ctx, func() { defer close(told); w.part() })
	w.settle = func() {
		switch {
		case !forget():
			<-told
		case ctx.Err() != nil: // a run may see that ctx has ended, and be over, before ctx has called anybody
			w.part()
		}
	}
}

// part tells systemd that the bot was asked to stop.
func (w *watch) part() {
	w.leaving.Store(true)
	if w.trading.Load() {
		w.notify.sayWithin("STOPPING=1", oncePatience)
		return
	}
	// there is no loop yet that would ask again and again
	w.notify.sayWithin("STOPPING=1\n"+begging(time.Duration(w.r.plan.Config.Bot.StopWithin)+begFor), oncePatience)
}

// attach lets metrics see parts of the runner that are there by now.
func (w *watch) attach() {
	if w != nil && w.metrics != nil {
		w.metrics.attach(w.r)
	}
}

// since is the time since the watch began.
func (w *watch) since() int64 { return int64(w.now().Sub(w.began)) }

// started hears that the loop has reconciled and trades.
func (w *watch) started() {
	if w == nil {
		return
	}
	w.countRefusals() // those of earlier runs are no news
	w.trading.Store(true)
	w.notify.sayWithin("READY=1", oncePatience)
	w.tell(alert.Start, "trading begins on %s", w.r.plan.Config.Exchange.Origin())
}

// stopped says how a run has ended, or that it has not begun.
func (w *watch) stopped(reason string, open int) {
	if w == nil {
		return
	}
	w.trading.Store(false)
	w.tellFills(true)
	reason, _, _ = strings.Cut(reason, "\n") // the log has all of it
	w.tell(alert.Stop, "trading has ended with %d open orders: %s", open, reason)
}

// close sends what waits and ends everything.
func (w *watch) close() {
	if w == nil {
		return
	}
	if w.settle != nil {
		w.settle()
	}
	if w.alerts != nil {
		w.alerts.Stop(flushAlertsWithin)
	}
	w.server.close()
}

// tell raises an alert. Any goroutine may.
func (w *watch) tell(kind, format string, args ...any) {
	if w != nil && w.alerts != nil {
		w.alerts.Tell(alert.Alert{Kind: kind, At: w.now().UTC(), Bot: w.name, Run: w.r.run.String(),
			Text: fmt.Sprintf(format, args...)})
	}
}

// warned hears what the weight ledger has to say, in any goroutine.
func (w *watch) warned(warning rest.Warning) {
	if w == nil || warning.Kind != rest.WarnBan && warning.Kind != rest.WarnBanOver {
		return
	}
	w.tell(alert.Ban, "%s", warning)
	if w.metrics != nil && warning.Kind == rest.WarnBan {
		w.metrics.bans.WithLabelValues(warning.Payer.String()).Inc()
	}
}

// stale hears that prices have stopped, in the feed's goroutine.
func (w *watch) stale(silent market.Duration) {
	if w == nil {
		return
	}
	w.tell(alert.Stale, "no prices from the exchange for %s", silent.Round(time.Second))
	if w.metrics != nil {
		w.metrics.stale.Inc()
	}
}

// filled hears of a fill of an own order.
func (w *watch) filled(o *state.Order, f *market.Fill) {
	if w == nil {
		return
	}
	m := w.r.plan.Catalog.Market(f.Market)
	w.fills.add(w.now(), fmt.Sprintf("%s: %s %s %s at %s, fee %s", w.r.nameOf(o.Strategy), f.Side,
		m.FormatQty(f.Amount), m.Name, m.FormatPrice(f.Price), m.FormatValue(f.Fee)))
	if w.metrics != nil {
		w.metrics.fills.WithLabelValues(w.r.nameOf(o.Strategy), m.Name, f.Side.String()).Inc()
	}
}

// unprotected hears of a position that cannot have an exit.
func (w *watch) unprotected(u *strategy.Unprotected) {
	if w == nil {
		return
	}
	m := w.r.plan.Catalog.Market(u.Market)
	w.tell(alert.Unprotected, "%s: %s %s has no exit (%s): %s", w.r.nameOf(u.Strategy), m.FormatQty(u.Amount), m.Name,
		u.Cause, u.Why)
	if w.metrics != nil {
		w.metrics.bare.WithLabelValues(w.r.nameOf(u.Strategy), u.Cause.String()).Inc()
	}
}

// closed hears of an own order that is done.
func (w *watch) closed(o *state.Order) {
	if w != nil && w.metrics != nil {
		w.metrics.ended.WithLabelValues(o.State.String()).Inc()
	}
}

// blocked hears, from the watchdog's goroutine, that a strategy blocks, or does no more.
func (w *watch) blocked(b *blockage, now bool) {
	if w == nil || w.metrics == nil {
		return
	}
	if now {
		w.metrics.blocks.WithLabelValues(b.Strategy, b.Callback).Inc()
	}
}

// healthy reports whether the loop turns. One that has not begun is waiting for the exchange. Any
// goroutine may ask.
func (w *watch) healthy() error {
	turned := w.turned.Load()
	if b := w.blockage(); b != nil && w.now().Sub(b.Since) >= alertAfter {
		return errors.New(b.text(w.now()))
	}
	if age := time.Duration(w.since() - turned); turned != 0 && age > stillAfter {
		return fmt.Errorf("the loop has stood still for %s", age.Round(time.Second))
	}
	return nil
}

// stillAfter is how long a loop may take for a turn.
const stillAfter = 30 * time.Second

// ready reports whether the bot can trade. Any goroutine may ask.
func (w *watch) ready() error {
	if b := w.blockage(); b != nil {
		return errors.New(b.text(w.now()))
	}
	if !w.trading.Load() {
		return fmt.Errorf("the bot has not reconciled with the exchange, or is stopping")
	}
	if until := w.r.ledger.BannedUntil(rest.PaidByKey); until != 0 {
		return fmt.Errorf("the exchange has banned the key until %s", until)
	}
	last := int64(0)
	for i := range w.heard {
		last = max(last, w.heard[i].Load())
	}
	if age := time.Duration(w.since() - last); age > time.Duration(w.r.plan.Config.Metrics.StaleAfter) {
		return fmt.Errorf("nothing was heard from the exchange for %s", age.Round(time.Second))
	}
	return w.healthy()
}

// concern is what /healthz adds while all is still well. Any goroutine may ask.
func (w *watch) concern() string {
	if b := w.blockage(); b != nil {
		return ": " + b.text(w.now())
	}
	return ""
}

// blockage is the strategy that blocks now, nil where none does. Any goroutine may ask.
func (w *watch) blockage() *blockage {
	if w.r == nil {
		return nil
	}
	return w.r.dog.blockage()
}
