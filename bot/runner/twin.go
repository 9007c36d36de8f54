package runner

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/replay"
	"github.com/tidemark-trading/tidemark/engine/goroutine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

const (
	twinQueue   = 4096              // inputs that wait for the twin
	twinSample  = market.Time(60e9) // between two comparisons, by the inputs' time
	twinTimeout = 5 * time.Second   // for the twin to end with the bot
	wholeBPS    = 1e4               // basis points of the whole
)

// twin runs the strategies of a live bot once more beside it, on the same inputs, with a simulated
// venue: a backtest.Session in a goroutine of its own. It begins with the bot's own state, and goes
// on over stops in good order. All strategies run in it, since they share money and limits. The
// loop never waits for it: where the queue is full, inputs are lost. A lost price does no harm for
// long. After any other loss the twin ends, and its figures stay as they were.
//
// Offer, sample and close belong to the loop's goroutine, run to the twin's; any may read figures.
type twin struct {
	session  *backtest.Session
	currency market.AssetID
	money    []market.Money // of each strategy at the beginning, by StrategyID − 1; 0: it had none yet
	queue    chan twinInput
	done     chan struct{} // closed when run has ended
	due      market.Time   // of the next comparison
	lost     atomic.Int64
	ended    atomic.Pointer[string] // why it has ended; nil: it runs
	figures  atomic.Pointer[twinFigures]

	began market.Time
	base  []market.Money                    // live profit less the twin's at the first comparison
	saved *twinState                        // of the last run; nil: it begins with the bot's state
	made  func() (*backtest.Session, error) // a session that nothing has entered
	// manifest is what the session's engine is made of.
	manifest *replay.Manifest
	left     atomic.Pointer[map[string][]byte] // parts of the engine at the end; nil: none
}

// twinFigures are the latest comparison.
type twinFigures struct {
	At       market.Time
	Tracking []float64      // by StrategyID − 1: live profit less the twin's since it began, in bps of the money
	Own      []market.Money // the twin's profit, likewise
	Halted   []bool         // the twin's strategy is halted, likewise
}

// twinInput is an input with memory of its own, or a comparison.
type twinInput struct {
	in             market.Input
	event          market.Event
	ticker         market.Ticker
	profits, money []market.Money // live, of a comparison; nil: an input
	reload         *replay.Reload // the twin takes over other settings; nil: an input
}

// openTwin makes the twin of the plan's strategies; nil: none has one.
func (r *runner) openTwin() (_ *twin, err error) {
	if !slices.ContainsFunc(r.plan.Names(), r.plan.Shadows) {
		return nil, nil
	}
	kinds := kindsOf(r.plan.Strategies)
	t := &twin{manifest: r.manifest, currency: r.plan.Currency.ID, queue: make(chan twinInput, twinQueue),
		done:  make(chan struct{}),
		money: make([]market.Money, len(r.plan.Strategies))}
	t.figures.Store(&twinFigures{Tracking: make([]float64, len(r.plan.Strategies))})
	t.made = func() (*backtest.Session, error) {
		made, err := r.manifest.Core(kinds)
		if err != nil {
			return nil, fmt.Errorf("twin: %w", err)
		}
		p := twinPlan(made)
		if err := r.plan.TwinVenue(p); err != nil {
			return nil, err
		}
		s, err := backtest.NewSession(p, backtest.SessionOptions{Unrecorded: true})
		if err != nil {
			return nil, fmt.Errorf("twin: %w", err)
		}
		return s, nil
	}
	if t.session, err = t.made(); err == nil {
		t.saved, err = r.savedTwin()
	}
	return t, err
}

// twinPlan is the plan of a session with the settings of a live engine.
func twinPlan(made *replay.CoreConfig) *backtest.Plan {
	p := &backtest.Plan{Catalog: made.Catalog, Currency: made.Catalog.Asset(made.Limits.Currency),
		Strategies: made.Strategies, Account: made.Limits, Fees: made.Fees, From: made.TradeFrom, Log: zerolog.Nop()}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			continue // NewSession says so
		}
		for _, m := range s.Markets {
			for _, c := range needs.Of(s.Interval) {
				f := backtest.Feed{Market: m, Interval: c.Interval, Deliver: true}
				if !slices.Contains(p.Feeds, f) {
					p.Feeds = append(p.Feeds, f)
				}
			}
		}
	}
	return p
}

// open begins the twin as the last run left it, else with the state of the bot.
func (t *twin) open(at market.Time, parts map[string][]byte, history []market.Candle) {
	if t == nil {
		return
	}
	defer t.recover()
	if t.goOn(at, history) {
		return
	}
	t.began = at
	err := error(nil)
	if t.saved != nil { // it does not fit the config any more
		t.session, err = t.made()
	}
	switch {
	case err != nil:
	case len(parts) > 0:
		err = t.session.Restore(at, parts, history)
	default:
		err = t.session.Open(at, history)
	}
	if err != nil {
		t.end("it could not begin with the bot's state: " + err.Error())
	}
}

// recover ends the twin at a panic of its engine.
func (t *twin) recover() {
	if reason := recover(); reason != nil {
		t.end(fmt.Sprint("panic: ", reason))
	}
}

// end ends the twin for a reason: the first one stays.
func (t *twin) end(reason string) { t.ended.CompareAndSwap(nil, &reason) }

// offer hands an input to the twin. It never waits.
func (t *twin) offer(in *market.Input, a *state.Account) {
	if t == nil || t.ended.Load() != nil {
		return
	}
	at := in.At
	if in.Event != nil {
		at = in.Event.At
	}
	if at >= t.due {
		t.due = at - at%twinSample + twinSample
		t.sample(at, a)
	}
	one, vital := twinInput{in: *in}, true
	switch in.Kind {
	case market.InputEvent, market.InputBooking:
		var wanted bool
		if vital, wanted = one.keep(in.Event); !wanted {
			return
		}
	default:
		one.in.Members, one.in.Orders = slices.Clone(in.Members), nil
		one.in.Order, one.in.Saved = nil, nil
	}
	select {
	case t.queue <- one:
	default:
		if t.lost.Add(1); vital {
			t.end("it fell behind, and lost " + one.name())
		}
	}
}

// name names an input for a person.
func (o *twinInput) name() string {
	if o.in.Event != nil {
		return o.event.Kind.String()
	}
	return o.in.Kind.String()
}

// keep copies an event. vital says that the twin cannot do without it; wanted, that it has use for
// it.
func (o *twinInput) keep(ev *market.Event) (vital, wanted bool) {
	o.event = *ev
	switch ev.Kind {
	case market.KindTicker:
		o.ticker = *ev.Ticker
		return false, true
	case market.KindBook:
		book := *ev.Book
		book.Bids, book.Asks = slices.Clone(book.Bids), slices.Clone(book.Asks)
		o.event.Book = &book
		return false, true
	case market.KindTrade:
		trade := *ev.Trade
		o.event.Trade = &trade
		return false, true
	case market.KindCandles:
		o.event.Candles = slices.Clone(ev.Candles)
	case market.KindMarketStatus:
		if ev.Rules != nil {
			rules := *ev.Rules
			o.event.Rules = &rules
		}
	case market.KindTransfer:
	default: // answers about live orders, and timers: the twin has its own
		return false, false
	}
	return true, true
}

// sample hands the live profits of the moment to the twin, to be compared with its own.
func (t *twin) sample(at market.Time, a *state.Account) {
	profits := make([]market.Money, len(t.money))
	for i := range profits {
		profit, err := a.Profit(strategyID(i+1), t.currency)
		if err != nil {
			return
		}
		profits[i] = profit
		if money, err := a.EquityOf(strategyID(i+1), t.currency); err == nil && t.money[i] == 0 {
			t.money[i] = money
		}
	}
	select {
	case t.queue <- twinInput{in: market.Input{At: at}, profits: profits, money: slices.Clone(t.money)}:
	default: // the next one comes
	}
}

// begin starts the twin's goroutine, for which close waits.
func (t *twin) begin() {
	if t != nil {
		go t.run()
	}
}

// run lets the inputs enter until the queue is closed.
func (t *twin) run() {
	defer close(t.done)
	if !goroutine.Call(func() { t.consume(); t.save() }) {
		t.end("a strategy ended its goroutine")
	}
	for range t.queue { // so that nothing keeps its memory
	}
}

func (t *twin) consume() {
	defer t.recover()
	var one twinInput // outside of the loop: it leaves the stack once
	for one = range t.queue {
		switch {
		case t.ended.Load() != nil:
		case one.profits != nil:
			t.compare(one.in.At, one.profits, one.money)
		case one.reload != nil:
			if err := t.takeOver(one.in.At, one.reload); err != nil {
				t.end("it could not take over a reload: " + err.Error())
			}
		default:
			if err := t.enter(&one); err != nil {
				t.end(err.Error())
			}
		}
	}
}

func (t *twin) enter(one *twinInput) error {
	if one.in.Event != nil {
		one.in.Event = &one.event
		if one.event.Kind == market.KindTicker {
			one.event.Ticker = &one.ticker
		}
	}
	return t.session.Enter(&one.in)
}

// compare compares the live profits with the twin's.
func (t *twin) compare(at market.Time, live, money []market.Money) {
	figures := &twinFigures{At: at, Tracking: make([]float64, len(live)), Own: make([]market.Money, len(live)),
		Halted: make([]bool, len(live))}
	first := t.base == nil
	for i, profit := range live {
		own, err := t.session.Account().Profit(strategyID(i+1), t.currency)
		if err != nil {
			t.end(err.Error())
			return
		}
		figures.Own[i] = own
		_, figures.Halted[i] = t.session.Engine().Halted(strategyID(i + 1))
		if first {
			t.base = append(t.base, profit-own)
		}
		if money[i] > 0 {
			figures.Tracking[i] = float64(profit-own-t.base[i]) * wholeBPS / float64(money[i])
		}
	}
	t.figures.Store(figures)
}

// close ends the twin with the bot. A strategy that does not return is left behind.
func (t *twin) close(log zerolog.Logger) {
	if t == nil {
		return
	}
	close(t.queue)
	timer := time.NewTimer(twinTimeout)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
		log.Warn().Msg("a strategy of the twin does not return")
	}
}

// reason is why the twin has ended; empty: it runs.
func (t *twin) reason() string {
	if reason := t.ended.Load(); reason != nil {
		return *reason
	}
	return ""
}

// status is a strategy's twin for the operator; nil: it has none.
func (r *runner) twinStatus(id market.StrategyID, name string) *operator.Twin {
	if r.twin == nil || !r.plan.Shadows(name) {
		return nil
	}
	figures := r.twin.figures.Load()
	return &operator.Twin{TrackingBPS: figures.Tracking[id-1], SinceMS: r.twin.began.Millis(),
		AtMS: figures.At.Millis(), Lost: r.twin.lost.Load(),
		Halted: figures.Halted != nil && figures.Halted[id-1], Ended: r.twin.reason()}
}

// checkTwin raises alerts where a strategy is far from its twin, once until it is half as near, and
// where the twin has ended.
func (w *watch) checkTwin() {
	t, limit := w.r.twin, float64(w.r.config().Alerts.Tracking)
	if t == nil {
		return
	}
	if reason := t.reason(); reason != "" && !w.twinEnded {
		w.twinEnded = true
		w.raise(alert.Tracking, "the twin has ended: %s", reason)
	}
	for i, name := range w.r.plan.Names() {
		if !w.r.plan.Shadows(name) {
			continue
		}
		far := math.Abs(t.figures.Load().Tracking[i])
		switch {
		case limit > 0 && far >= limit && !w.strayed[i+1]:
			w.strayed[i+1] = true
			w.raise(alert.Tracking, "%s is %+.1f bps of its money from its twin since %s", name,
				t.figures.Load().Tracking[i], operator.ClockOf(t.began.Millis()))
		case far < limit/2:
			w.strayed[i+1] = false
		}
	}
}
