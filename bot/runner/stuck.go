package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// killSwitchInputs holds the parts that the kill switch needs in a running bot.
type killSwitchInputs struct {
	client  *rest.Client
	catalog *market.Catalog
	store   *journal.Store
	watch   *watch
}

const (
	switchTimeout = 30 * time.Second       // of the kill switch after a second Ctrl-C
	loopGrace     = time.Second            // for the loop to end after the switch
	writesEvery   = 100 * time.Millisecond // between two looks at the writes under way
	alertsTimeout = time.Second            // for alerts of a bot whose loop hangs
)

// Run runs a bot of a plan until ctx ends, and returns once it has ended in good order, or cannot.
// It logs to log. An error caused by the exchange, the state folder or an order is an Error.
func Run(ctx context.Context, p *plan.Live, log zerolog.Logger, o Options) error {
	return newRunner(p, log, o).supervise(ctx)
}

// supervise runs a bot in its own goroutine: a stop does not depend on the loop, which a strategy
// may block.
func (r *runner) supervise(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- r.serve(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	return r.awaitStop(ended)
}

// awaitStop waits for a bot that was asked to stop. A second Ctrl-C turns the kill switch, and so
// does half of stop_within while a strategy blocks. After stop_within a bot whose loop hangs is
// abandoned.
func (r *runner) awaitStop(ended <-chan error) error {
	again, forget := r.secondStop()
	defer forget()
	r.log.Info().Msg("a second Ctrl-C " + r.secondSignal())
	within := time.Duration(r.plan.Config.Bot.StopWithin)
	half, whole := time.NewTimer(within/2), time.NewTimer(within)
	defer half.Stop()
	defer whole.Stop()
	var report *killswitch.SwitchResult
	for {
		select {
		case err := <-ended:
			return err
		case <-again.Done():
			report, err := r.runSwitch("a second Ctrl-C", switchTimeout)
			return r.afterSwitch(ended, report, err)
		case <-half.C:
			if b := r.dog.blockage(); b != nil && !r.plan.Config.Bot.KeepOrders {
				var err error
				if report, err = r.runSwitch("a stop while "+b.text(time.Now()), within/2-alertsTimeout); err != nil {
					r.log.Error().Err(err).Msg("the open orders could not be cancelled without the loop")
				}
			}
		case <-whole.C:
			if r.dog.blockage() != nil {
				return r.abandon(report)
			}
			// the loop turns and knows that its time is over: it gets a little more
			whole.Reset(minStopTime + shutdownTimeout + alertFlushTimeout)
			if r.overdue {
				return r.abandon(report)
			}
			r.overdue = true
		}
	}
}

// secondSignal describes the effect of a second signal.
func (r *runner) secondSignal() string {
	if r.plan.Config.Bot.Paper() || r.plan.Config.Bot.KeepOrders {
		return "ends at once"
	}
	return "cancels the open orders without the loop, and ends"
}

// secondStop is a context that ends with the next signal to stop.
func (r *runner) secondStop() (context.Context, context.CancelFunc) {
	if r.Again == nil {
		return context.WithCancel(context.Background())
	}
	return r.Again()
}

// runSwitch cancels the bot's open orders without the loop, which can send only cancels from then
// on.
func (r *runner) runSwitch(by string, within time.Duration) (*killswitch.SwitchResult, error) {
	tools := r.armed.Load()
	switch {
	case r.plan.Config.Bot.Paper(), r.plan.Config.Bot.KeepOrders:
		return nil, nil // no order is at the exchange, or they are to stay
	case tools == nil:
		return nil, errors.New("the markets are not known yet: bot cancel-all --direct cancels what the last run left")
	}
	r.direct.own.Store(true)
	r.direct.valve.shut.Store(true)
	r.log.Warn().Str("by", by).Msg("open orders are cancelled without the loop")
	log, err := OpenSwitchLog(filepath.Join(r.plan.Config.Bot.State, killswitch.LogFile))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	keeps, err := r.keptExits(tools.store)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	s := &killswitch.Switch{Exchange: tools.client, Catalog: tools.catalog, Log: log,
		Operator: r.plan.Config.OperatorID(""),
		Say:      func(format string, args ...any) { r.log.Warn().Msgf(format, args...) },
		Own:      func(o *market.Order) bool { return tools.owns(o.ClientOrderID) && !keeps[o.ClientOrderID] },
		Fault:    r.Faults}
	if err = s.Begin(by, false); err == nil {
		err = r.cancelAll(ctx, tools, s)
	}
	report, ended := s.End()
	return report, errors.Join(err, ended, log.Close())
}

// cancelAll cancels the open orders. Where writes were under way when it asked for them, it waits
// until the exchange has answered those writes, or cannot take them any more, and cancels what has
// arrived meanwhile.
func (r *runner) cancelAll(ctx context.Context, tools *killSwitchInputs, s *killswitch.Switch) error {
	rows, err := r.underWay(tools, s)
	if err != nil {
		return s.Fail(err)
	}
	if err := s.Cancel(ctx); err != nil || len(rows) == 0 {
		return err
	}
	timer := time.NewTimer(writesEvery)
	defer timer.Stop()
	for said := false; ; said = true {
		if rows, err = r.underWay(tools, s); err != nil {
			return s.Fail(err)
		}
		if len(rows) == 0 {
			return s.Cancel(ctx)
		}
		if !said {
			r.log.Warn().Int("writes", len(rows)).Msg("writes are under way: waiting until they cannot arrive any more")
		}
		select {
		case <-timer.C:
			timer.Reset(writesEvery)
		case <-ctx.Done():
			for i := range rows {
				s.Under(&rows[i].Order, "the exchange may still take its "+rows[i].InFlight.String())
			}
			return nil
		}
	}
}

// underWay are the places and updates that the exchange may still take. The switch hears of the
// orders that the exchange has confirmed.
func (r *runner) underWay(tools *killSwitchInputs, s *killswitch.Switch) ([]journal.OrderRow, error) {
	rows, err := tools.store.OpenOrders()
	now := tools.client.Now()
	s.Confirmed = s.Confirmed[:0]
	for i := range rows {
		if rows[i].ExchangeID != uuid.Nil {
			s.Confirmed = append(s.Confirmed, rows[i].Order)
		}
	}
	return slices.DeleteFunc(rows, func(o journal.OrderRow) bool {
		if o.InFlight != market.CommandPlace && o.InFlight != market.CommandUpdate {
			return true
		}
		until, known := r.sentUntil(o.ID, o.InFlight)
		return known && now > until.Add(killswitch.Margin)
	}), err
}

// keptExits are the client order ids of the exits that a stop leaves at the exchange, as of the
// last commit: an order that was sent later than that does not exist.
func (r *runner) keptExits(store *journal.Store) (map[uuid.UUID]bool, error) {
	kept := map[uuid.UUID]bool{}
	parts, resumed, err := statedir.Parts(store)
	if err != nil || !resumed || !r.plan.Config.Bot.KeepExits {
		return kept, err
	}
	_, orders, err := engine.SavedExits(parts)
	if err != nil {
		return nil, err
	}
	for _, id := range orders {
		row, err := store.Order(id)
		if err != nil {
			return nil, fmt.Errorf("exit %d: %w", id, err)
		}
		kept[row.ClientOrderID] = true
	}
	return kept, nil
}

// owns reports whether an order is the bot's own.
func (t *killSwitchInputs) owns(client uuid.UUID) bool {
	_, err := t.store.OrderByClientID(client)
	return !errors.Is(err, bolt.ErrNotFound)
}

// afterSwitch ends a bot after a second Ctrl-C.
func (r *runner) afterSwitch(ended <-chan error, report *killswitch.SwitchResult, failed error) error {
	timer := time.NewTimer(loopGrace)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
	}
	if failed == nil && report != nil && report.Done {
		how := "ended without the loop: the exchange has confirmed that " + r.noneOpen()
		r.log.Warn().Int("cancelled", report.Cancelled).Msg(how + "; the next start reads " + killswitch.LogFile)
		r.tellAbandoned(how, 0)
		return nil
	}
	return errors.Join(failed, r.abandon(report))
}

// abandon logs and returns what is left of a bot whose loop does not end.
func (r *runner) abandon(report *killswitch.SwitchResult) error {
	why := fmt.Errorf("the loop has not ended within %s", time.Duration(r.plan.Config.Bot.StopWithin))
	if b := r.dog.blockage(); b != nil {
		why = fmt.Errorf("%s: the stop could not be finished", b.text(time.Now()))
	}
	open, remains := 0, r.noneOpen()+", as the exchange has confirmed"
	if report == nil || !report.Done {
		rows := r.openRows()
		open = len(rows)
		for i := range rows {
			r.log.Warn().Stringer("client_order_id", rows[i].ClientOrderID).Stringer("state", rows[i].State).
				Msg("order that may be open")
		}
		remains = fmt.Sprintf("%d orders may be open: bot cancel-all --direct cancels them", open)
		if r.plan.Config.Bot.Paper() {
			remains = fmt.Sprintf("%s has %d open orders, with which the next start goes on", statedir.PaperFile, open)
		}
	}
	why = fmt.Errorf("%w; %s", why, remains)
	r.log.Error().Err(why).Msg(
		"the bot ends without its loop: what it has not committed, the next start asks the exchange for")
	r.tellAbandoned(why.Error(), open)
	return Error{why}
}

// noneOpen describes what the kill switch of a stop leaves.
func (r *runner) noneOpen() string {
	if r.plan.Config.Bot.KeepExits {
		return "no order of the bot is open but the exits of positions"
	}
	return "no order of the bot is open"
}

// logAbandoned is logAway of a bot whose loop has not ended, or has not begun.
func (r *runner) logAbandoned() string {
	if tools := r.armed.Load(); tools != nil {
		return r.logAway(tools.store, tools.catalog)
	}
	return ""
}

// tellAbandoned logs what a bot leaves whose loop has not ended, and sends the alert of its end.
func (r *runner) tellAbandoned(how string, open int) {
	left := r.logAbandoned()
	if tools := r.armed.Load(); tools != nil {
		tools.watch.abandoned(how, open, left)
	}
}

// openRows are the open orders of the state file that a stop was to cancel.
func (r *runner) openRows() []journal.OrderRow {
	tools := r.armed.Load()
	if tools == nil {
		return nil
	}
	rows, err := tools.store.OpenOrders()
	if err != nil {
		r.log.Error().Err(err).Msg("which orders are open cannot be read")
	}
	kept, err := r.keptExits(tools.store)
	if err != nil {
		r.log.Error().Err(err).Msg("which orders are exits of positions cannot be read")
	}
	return slices.DeleteFunc(rows, func(o journal.OrderRow) bool { return kept[o.ClientOrderID] && o.InFlight == 0 })
}

// abandoned reports the end of a bot whose loop hangs.
func (w *watch) abandoned(reason string, open int, left string) {
	if w == nil {
		return
	}
	w.stopped(reason, open, left)
	if w.alerts != nil {
		w.alerts.Stop(alertsTimeout)
	}
}
