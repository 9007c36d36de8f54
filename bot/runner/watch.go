package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/bot/plan"
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

// watch reports the bot's events to metrics, alerts and systemd, each of which may be nil. On a nil
// watch its methods do nothing. They belong to the loop's goroutine unless they say otherwise.
type watch struct {
	r       *runner
	now     func() time.Time
	began   time.Time
	metrics *metrics
	alerts  alerts // nil: none
	notify  *notifier
	server  *host.Server

	turned      atomic.Int64        // when the loop last turned, since began; 0: not yet
	answered    [feeds]atomic.Int64 // when a feed was last answered, likewise
	trading     atomic.Bool         // the loop has reconciled with the exchange
	stopping    atomic.Bool         // the bot has been asked to stop
	awaitNotify func()              // waits until systemd has been notified of a stop; nil: no systemd

	sampled  time.Time // when the figures were last taken
	halted   []bool    // by StrategyID
	standing risk.Standing
	peak     market.Money // highest equity so far
	refused  map[refusalKind]int64
	rejected int64 // by the exchange, since the last sample
	burst    refusalBurst
	fills    fillSummary
	earned   earnings
	daily    dailyLine
	name     string // of the bot

	stands atomic.Pointer[moneyView] // the last look at the money; nil: there was none
}

// alerts sends alerts to persons.
type alerts interface {
	// Tell queues an alert. It never waits.
	Tell(alert.Alert)
	// Begin, Beat and Fail are the heartbeat: a run begins, the loop has turned, the run has
	// failed. They never wait. Only the loop's goroutine may call Beat.
	Begin()
	Beat(now time.Time)
	Fail(why string)
	// Stop waits until every alert is sent, but at most for within.
	Stop(within time.Duration)
}

// alertFlushTimeout is how long a stop waits for alerts.
const alertFlushTimeout = 5 * time.Second

// switchboard hands alerts to the present sender, which a reload replaces.
type switchboard struct{ sender atomic.Pointer[alert.Sender] }

func newSwitchboard(to *alert.Sender) *switchboard {
	s := &switchboard{}
	s.sender.Store(to)
	return s
}

// Tell is of alerts.
func (s *switchboard) Tell(one alert.Alert) { s.sender.Load().Tell(one) }

// Begin is of alerts.
func (s *switchboard) Begin() { s.sender.Load().Begin() }

// Beat is of alerts.
func (s *switchboard) Beat(now time.Time) { s.sender.Load().Beat(now) }

// Fail is of alerts.
func (s *switchboard) Fail(why string) { s.sender.Load().Fail(why) }

// Stop is of alerts.
func (s *switchboard) Stop(within time.Duration) { s.sender.Load().Stop(within) }

// realert makes a sender that of the alerts from now on, and returns the one before.
func (w *watch) realert(p *plan.Live, to *alert.Sender) (old *alert.Sender) {
	if w == nil {
		return to // nothing is raised
	}
	w.burst.limit = p.Config.Alerts.Refusals
	if s, replaceable := w.alerts.(*switchboard); replaceable {
		return s.sender.Swap(to)
	}
	return to
}

// openWatch starts the metrics, alerts and notifications of the config; by default none.
func (r *runner) openWatch(ctx context.Context) error {
	p := r.plan
	notify := newNotifier(r.Getenv)
	w := &watch{r: r, name: p.Name(), now: time.Now, began: time.Now(), notify: notify,
		halted: make([]bool, len(p.Strategies)+1), refused: map[refusalKind]int64{},
		burst: refusalBurst{limit: p.Config.Alerts.Refusals}}
	r.watch = w
	if p.Config.Metrics.Listen != "" {
		w.metrics = newMetrics(w)
		server, err := serveMetrics(w)
		if err != nil {
			return err
		}
		w.server = server
		r.log.Info().Stringer("address", server.Address()).Msg("metrics and health are served")
	}
	w.alerts = newSwitchboard(alert.NewSender(p.Receivers, p.Heartbeat, r.log))
	if notify != nil {
		w.onStop(ctx)
	}
	return nil
}

// onStop notifies systemd when ctx ends.
func (w *watch) onStop(ctx context.Context) {
	notified := make(chan struct{})
	forget := context.AfterFunc(ctx, func() { defer close(notified); w.notifyStopping() })
	w.awaitNotify = func() {
		switch {
		case !forget():
			<-notified
		case ctx.Err() != nil: // a run may end before AfterFunc has begun
			w.notifyStopping()
		}
	}
}

// notifyStopping notifies systemd that the bot was asked to stop.
func (w *watch) notifyStopping() {
	w.stopping.Store(true)
	if w.trading.Load() {
		w.notify.sendWithin("STOPPING=1", notifyTimeout)
		return
	}
	// no loop runs yet that would repeat the request
	w.notify.sendWithin("STOPPING=1\n"+extendTimeout(time.Duration(w.r.plan.Config.Bot.StopWithin)+extendBy),
		notifyTimeout)
}

// attach registers the metrics that read parts of the runner.
func (w *watch) attach() {
	if w != nil && w.metrics != nil {
		w.metrics.attach(w.r)
	}
}

// since is the time since the watch began.
func (w *watch) since() int64 { return int64(w.now().Sub(w.began)) }

// started reports that the loop has reconciled and trades.
func (w *watch) started() {
	if w == nil {
		return
	}
	w.countRefusals() // those of earlier runs raise no alert
	w.trading.Store(true)
	w.notify.sendWithin("READY=1", notifyTimeout)
	w.earned.begin(w.r)
	w.look()
	w.alerts.Begin()
	w.raise(alert.Start, "trading begins on %s", w.r.plan.Config.Exchange.Origin())
}

// stopped reports how a run has ended, or why it has not begun, and what logAway has told of.
func (w *watch) stopped(reason string, open int, left string) {
	if w == nil {
		return
	}
	w.trading.Store(false)
	w.alertFills(true)
	if reason != stopAsked && w.alerts != nil {
		w.alerts.Fail(reason)
	}
	reason, _, _ = strings.Cut(reason, "\n") // the log has all of it
	w.raise(alert.Stop, "trading has ended with %d open orders: %s%s", open, reason, left)
}

// close sends the queued alerts and closes everything.
func (w *watch) close() {
	if w == nil {
		return
	}
	if w.awaitNotify != nil {
		w.awaitNotify()
	}
	if w.alerts != nil {
		w.alerts.Stop(alertFlushTimeout)
	}
	w.server.Close()
}

// raise sends an alert. Any goroutine may call it.
func (w *watch) raise(kind, format string, args ...any) {
	if w == nil || w.alerts == nil {
		return
	}
	one := alert.Alert{Kind: kind, At: w.now().UTC(), Bot: w.name, Run: w.r.run.String(),
		Text: fmt.Sprintf(format, args...)}
	if kind != alert.Summary { // it has figures of its own
		one.Money = w.money()
	}
	w.alerts.Tell(one)
}

// warned reports a warning of the weight budget, in any goroutine.
func (w *watch) warned(warning rest.Warning) {
	if w == nil || warning.Kind != rest.WarnBan && warning.Kind != rest.WarnBanOver {
		return
	}
	w.raise(alert.Ban, "%s", warning)
	if warning.Kind == rest.WarnBan {
		w.count("bans_total", 1, warning.Payer.String())
	}
}

// stale reports that prices have stopped, in the feed's goroutine.
func (w *watch) stale(silent market.Duration) {
	if w == nil {
		return
	}
	w.raise(alert.Stale, "no prices from the exchange for %s", silent.Round(time.Second))
	if w.metrics != nil {
		w.metrics.stale.Inc()
	}
}

// filled reports a fill of an own order.
func (w *watch) filled(o *state.Order, f *market.Fill) {
	if w == nil {
		return
	}
	m := w.r.plan.Catalog.Market(f.Market)
	w.fills.add(w.now(), fmt.Sprintf("%s: %s %s %s at %s, fee %s", w.r.nameOf(o.Strategy), f.Side,
		m.FormatQty(f.Amount), m.Name, m.FormatPrice(f.Price), m.FormatValue(f.Fee)))
	if f.Side == market.Sell && w.earned.sold != nil {
		w.earned.sold[place{o.Strategy, f.Market}] = true
	}
	w.count("fills_total", 1, w.r.nameOf(o.Strategy), m.Name, f.Side.String())
}

// unprotected reports a position without an exit.
func (w *watch) unprotected(u *strategy.Unprotected) {
	if w == nil {
		return
	}
	w.look()
	m := w.r.plan.Catalog.Market(u.Market)
	w.raise(alert.Unprotected, "%s: %s %s has no exit (%s): %s", w.r.nameOf(u.Strategy), m.FormatQty(u.Amount), m.Name,
		u.Cause, u.Why)
	w.count("unprotected_total", 1, w.r.nameOf(u.Strategy), u.Cause.String())
}

// healthy returns an error where the loop hangs. Before its first turn it waits for the exchange.
// Any goroutine may call it.
func (w *watch) healthy() error {
	turned := w.turned.Load()
	if b := w.blockage(); b != nil && w.now().Sub(b.Since) >= alertAfter {
		return errors.New(b.text(w.now()))
	}
	if age := time.Duration(w.since() - turned); turned != 0 && age > maxTurnTime {
		return fmt.Errorf("the loop has stood still for %s", age.Round(time.Second))
	}
	return nil
}

// maxTurnTime is the longest healthy time of a turn of the loop.
const maxTurnTime = 30 * time.Second

// ready returns an error where the bot cannot trade. Any goroutine may call it.
func (w *watch) ready() error {
	if b := w.blockage(); b != nil {
		return errors.New(b.text(w.now()))
	}
	if !w.trading.Load() {
		return fmt.Errorf("the bot has not reconciled with the exchange, or is stopping")
	}
	if until := w.r.weights.BannedUntil(rest.PaidByKey); until != 0 {
		return fmt.Errorf("the exchange has banned the key until %s", until)
	}
	last := int64(0)
	for i := range w.answered {
		last = max(last, w.answered[i].Load())
	}
	age := time.Duration(w.since() - last)
	if streamed, any := w.r.streams.age(); any {
		age = min(age, streamed)
	}
	if age > time.Duration(w.r.plan.Config.Metrics.StaleAfter) {
		return fmt.Errorf("nothing was heard from the exchange for %s", age.Round(time.Second))
	}
	return w.healthy()
}

// concern is /healthz's note of a blocking strategy while the bot is still healthy. Any goroutine
// may call it.
func (w *watch) concern() string {
	if b := w.blockage(); b != nil {
		return ": " + b.text(w.now())
	}
	return ""
}

// blockage is the strategy that blocks now; nil: none does. Any goroutine may call it.
func (w *watch) blockage() *blockage {
	if w.r == nil {
		return nil
	}
	return w.r.dog.blockage()
}
