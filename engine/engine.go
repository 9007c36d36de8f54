package engine

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/engine/group"
	"github.com/tidemark-trading/tidemark/engine/rebalance"
	"github.com/tidemark-trading/tidemark/engine/refusal"
	"github.com/tidemark-trading/tidemark/engine/replace"
	"github.com/tidemark-trading/tidemark/engine/signal"
	"github.com/tidemark-trading/tidemark/engine/tactic"
	"github.com/tidemark-trading/tidemark/engine/timer"
	"github.com/tidemark-trading/tidemark/engine/universe"
	"github.com/tidemark-trading/tidemark/engine/warmup"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// maxRounds limits how often the callbacks of one step may react to their own orders; beyond it the
// strategy is halted.
const maxRounds = 16

// StrategyConfig is a strategy and what it receives.
type StrategyConfig struct {
	Name      string
	Strategy  strategy.Strategy
	Markets   []market.ID
	Reads     []market.ID       // markets whose candles it receives too, and may not trade
	Intervals []market.Interval // of the candles it receives
	Ticker    bool              // receives tickers
	Book      bool              // receives order books
	// Warmup counts, by place in Intervals, the candles of each market up to and including the
	// first one on which the strategy may trade there; an interval without a number holds none.
	Warmup []int
	// Universe is the strategy's members over time, oldest first; nil: all markets at all times.
	Universe []strategy.Membership
	Signals  []string       // the sources of signals that it hears
	Log      zerolog.Logger // its lines get the name, as "strategy"
}

// Observer is notified of what the engine folded, for reports and metrics. Its arguments are valid
// until it returns.
type Observer interface {
	// Filled is called for every new fill of an own order.
	Filled(o *state.Order, f *market.Fill)
	// Closed is called for every own order that has ended, rejected ones included.
	Closed(o *state.Order)
}

// Approver is an Observer that is also notified of what the gate approves.
type Approver interface {
	// Approved is called before an order, change or cancel leaves. It gets the terms as they were
	// asked for and the figures that the gate checked (risk.Gate.Figures).
	Approved(asked state.Terms, c *market.Command, figures []state.Figure)
}

// Refuser is an Observer that is also notified of what the gate refuses. Asks during warm-up replay
// are not reported.
type Refuser = refusal.Observer

// Guard is an Observer that is also notified of positions that cannot have an exit.
type Guard interface {
	// Unprotected gets the calls of strategy.ExitHandler, also for strategies that do not implement
	// it or are halted.
	Unprotected(u *strategy.Unprotected)
}

// CloseGuard is an Observer that is also notified of Closes that have not sold all.
type CloseGuard interface {
	// CloseFailed gets the calls of strategy.CloseHandler, also for strategies that do not
	// implement it or are halted.
	CloseFailed(f *strategy.CloseFailed)
}

// Mover is an Observer that is also notified of stops that follow the price.
type Mover interface {
	// StopMoved is called when a bracket has moved its stop; the exchange may still refuse.
	StopMoved(m *strategy.StopMoved)
}

// Parter is an Observer that is also notified of partial targets.
type Parter interface {
	// PartReached is called when the price has reached partial targets of a bracket.
	PartReached(p *strategy.PartReached)
}

// Config is the input of New.
type Config struct {
	Catalog   *market.Catalog
	Account   *state.Account
	Gate      *risk.Gate
	Slots     []StrategyConfig // StrategyID 1 is the first
	TradeFrom market.Time      // asks before it are refused as warm-up; 0: from the first event
	Observer  Observer         // may be an Approver, a Refuser and a Guard too; nil: none
	Plots     strategy.Plotter // gets what strategies plot; nil: their debug logs
	// Apart calls strategies on goroutines of their own, so that a strategy that ends its goroutine
	// is halted; nil: on the caller's goroutine.
	Apart       Apart
	Spoil       bool // overwrites the memory that desks handed out after each callback: see strategy.Spoil
	WholeGroups bool // each event has all candles that closed at its instant, as in a backtest
	SaveLimit   int  // most bytes of a strategy's Save; 0: DefaultSaveLimit
	// LogTimes puts the engine's time into the lines of the strategies' logs, as "at": where it is
	// not that of the clock.
	LogTimes bool
	// Run is the run id of a live bot, the same over restarts: client order ids derive from it;
	// zero: none.
	Run uuid.UUID
}

// Apart calls f on another goroutine, waits, and reports whether f returned: goroutine.Call is one.
type Apart func(f func()) (returned bool)

// DefaultSaveLimit is how many bytes a strategy's Save may write: each commit after a callback of
// the strategy writes them all.
const DefaultSaveLimit = 1 << 20

// Engine is the pure core. It is a plain value owned by one goroutine.
type Engine struct {
	catalog  *market.Catalog
	account  *state.Account
	gate     *risk.Gate
	slots    []strategyState // by StrategyID − 1
	subs     subscribers
	run      uuid.UUID
	observed bool // the gate follows the equity

	now       market.Time
	lastID    market.OrderID
	out       []market.Command
	sent      []sentOrder // during the callback; OnOrder follows it
	halts     []Halt
	err       error
	replaying bool          // strategies see past candles again: asks are refused
	stopped   bool          // OnStop has been called: nothing may be placed or updated
	awaited   market.Time   // see Await
	saves     snapshotCache // what Save has written

	features
	listeners
	delivery
	row row
	scratch
	admission
}

// features are packages of their own: each reaches the core by its port alone.
type features struct {
	brackets   *bracket.Set
	warmups    *warmup.Rules
	groups     *group.Set
	timers     *timer.Set
	rebalances *rebalance.Set
	histories  *warmup.Histories
	tactics    *tactic.Set
	replaces   *replace.Set
	refusals   *refusal.Log
	universes  *universe.Set
	signals    *signal.Set
}

// subscribers are the strategies that receive candles, by market and interval, and tickers and
// order books, by market.
type subscribers struct {
	candles, tickers, books [][]*strategyState
}

// listeners are the observer and its optional abilities, nil where it lacks them.
type listeners struct {
	observer Observer
	approver Approver
	guardian Guard
	plotter  strategy.Plotter // nil: none
	closes   CloseGuard
	mover    Mover
	parter   Parter
}

// delivery is the position within a step's calls, so that they can go on after a strategy panicked.
type delivery struct {
	current *strategyState
	at      int      // number of the current call in its group
	calls   Callback // the current callback; other goroutines read it
	mark    int      // length of out before the current callback; the brackets mark theirs
	args    arguments
	spoil   bool // Config.Spoil
	apart   Apart
}

// scratch is reused memory: a pointer to a local through an interface would allocate on every ask.
type scratch struct {
	command market.Command // the engine's own ask
	exits   risk.Exits     // levels of a bracket being checked
	entry   market.Order   // that bracket's entry after the change
}

type strategyState struct {
	StrategyConfig
	id            market.StrategyID
	desk          *strategy.Desk
	onOrder       strategy.OrderHandler
	onFill        strategy.FillHandler
	onTimer       strategy.TimerHandler
	onUnprotected strategy.ExitHandler
	onCloseFailed strategy.CloseHandler
	skipper       strategy.Skipper
	saver         strategy.Saver
	window        strategy.BookWindow
	wait          warmup.Wait
	halted        bool
	called        bool                   // since its state was last saved
	trespass      atomic.Pointer[misuse] // a forbidden use of its desk; any goroutine may set it
	stack         []byte                 // of the latest halt, if known
	unsaved       string                 // why its state could not be saved; "": it could
	unloaded      *SavedSlot             // as saved, where its own state was not loaded; nil: it was
	onCandles     strategy.GroupHandler
	onSignal      strategy.SignalHandler
	past          warmup.History
	given         []market.ID // markets whose candles it receives: Markets, then Reads
}

// sentOrder is an own order whose strategy's OnOrder follows: sent during a callback, or dropped.
type sentOrder struct {
	slot    *strategyState
	id      market.OrderID
	dropped *droppedOrder // it waited, and never left; nil: it was sent
}

// droppedOrder is an order that never left, and what its strategy hears of it.
type droppedOrder struct {
	order  market.Order
	report market.Report
}

// New returns an engine with its strategies. Start calls their OnStart.
func New(c Config) *Engine {
	markets := len(c.Catalog.Markets()) + 1
	e := &Engine{
		catalog: c.Catalog, account: c.Account, gate: c.Gate, run: c.Run,
		observed: c.Gate.Observes(), slots: make([]strategyState, len(c.Slots)),
		subs: subscribers{candles: make([][]*strategyState, markets*market.IntervalSlots),
			tickers: make([][]*strategyState, markets),
			books:   make([][]*strategyState, markets)},
	}
	e.row.known = noRow
	e.brackets = bracket.New(c.Catalog, &e.now, exits{e})
	e.replaces = replace.New(core{e}, e.brackets, c.Catalog, &e.now, c.Account, c.Gate)
	e.rebalances = rebalance.New(core{e}, e.brackets, c.Catalog, &e.now, c.Account, c.Gate, len(c.Slots),
		c.WholeGroups)
	e.tactics = tactic.New(core{e}, e.brackets, c.Catalog, &e.now, c.Account, c.Gate)
	e.groups = group.New(core{e}, &e.now, len(c.Slots), c.WholeGroups)
	e.timers = timer.New(core{e}, &e.now, maxRounds)
	e.histories = warmup.NewHistories(core{e}, &e.now, c.Catalog)
	e.universes = universe.New(&e.now)
	e.signals = signal.New(core{e}, c.Catalog, &e.now)
	e.warmups = warmup.New(core{e}, c.Catalog, &e.now, c.Gate, c.TradeFrom)
	e.saves = snapshotCache{changed: true, limit: cmp.Or(c.SaveLimit, DefaultSaveLimit),
		last: make(map[string][]byte)}
	e.observer, e.spoil, e.apart = c.Observer, c.Spoil, c.Apart
	e.approver, _ = c.Observer.(Approver)
	refuser, _ := c.Observer.(Refuser)
	e.refusals = refusal.New(core{e}, c.Catalog, &e.now, c.Account, c.Gate, refuser, e.approver != nil, len(c.Slots))
	e.guardian, _ = c.Observer.(Guard)
	e.plotter = c.Plots
	e.closes, _ = c.Observer.(CloseGuard)
	e.mover, _ = c.Observer.(Mover)
	e.parter, _ = c.Observer.(Parter)
	for i := range c.Slots {
		slot := c.Slots[i]
		slot.Log = slot.Log.With().Str("strategy", slot.Name).Logger()
		if c.LogTimes {
			slot.Log = slot.Log.Hook(zerolog.HookFunc(e.stamp))
		}
		e.addSlot(&e.slots[i], slot, market.StrategyID(i+1))
	}
	e.gate.NameStrategies(e.Names())
	return e
}

func (e *Engine) addSlot(s *strategyState, from StrategyConfig, id market.StrategyID) {
	s.StrategyConfig, s.id = from, id
	s.desk = strategy.NewDesk(asks{e}, id, from.Log)
	s.window.Desk = s.desk
	s.onOrder, _ = from.Strategy.(strategy.OrderHandler)
	s.onFill, _ = from.Strategy.(strategy.FillHandler)
	s.onTimer, _ = from.Strategy.(strategy.TimerHandler)
	s.onUnprotected, _ = from.Strategy.(strategy.ExitHandler)
	s.onCloseFailed, _ = from.Strategy.(strategy.CloseHandler)
	s.skipper, _ = from.Strategy.(strategy.Skipper)
	s.saver, _ = from.Strategy.(strategy.Saver)
	if s.onCandles, _ = from.Strategy.(strategy.GroupHandler); s.onCandles != nil {
		e.groups.Want(id)
	}
	s.onSignal, _ = from.Strategy.(strategy.SignalHandler)
	e.signals.Begin(from.Signals)
	s.given = slices.Concat(from.Markets, slices.DeleteFunc(slices.Clone(from.Reads),
		func(m market.ID) bool { return slices.Contains(from.Markets, m) }))
	e.universes.Begin(from.Markets, from.Universe, s.given[len(from.Markets):])
	e.histories.Begin(&s.past, s.given, from.Intervals, from.Warmup)
	for _, m := range s.given {
		for _, interval := range from.Intervals {
			at := int(m)*market.IntervalSlots + int(interval)
			e.subs.candles[at] = append(e.subs.candles[at], s)
		}
	}
	for _, m := range from.Markets {
		if from.Ticker {
			e.subs.tickers[m] = append(e.subs.tickers[m], s)
		}
		if from.Book {
			e.subs.books[m] = append(e.subs.books[m], s)
		}
	}
	s.wait = e.warmups.Begin(id, from.Markets, from.Intervals, from.Warmup)
}

// Start calls the strategies' OnStart, of each once its history begins (SeeFrom). Call it once,
// before the first Step.
func (e *Engine) Start(at market.Time) []market.Command {
	e.histories.Await(at)
	return e.callAll(at, CallStart)
}

// Stop calls the strategies' OnStop. Call it once. In later steps strategies still receive reports
// of their orders, and can only cancel. Brackets follow reports and send nothing: what they would
// do, they do after a Restore.
func (e *Engine) Stop(at market.Time) []market.Command {
	e.callAll(at, CallStop)
	e.stopped = true
	e.brackets.Stop()
	e.tactics.Stop()
	for i := range e.slots {
		e.rebalances.Drop(e.slots[i].id)
	}
	e.replaces.Drop(0, "the run stops")
	e.notifySent()
	return e.out
}

func start(s *strategyState) {
	if starter, ok := s.Strategy.(strategy.Starter); ok {
		starter.OnStart(s.desk)
	}
}

func stop(s *strategyState) {
	if stopper, ok := s.Strategy.(strategy.Stopper); ok && !s.halted {
		stopper.OnStop(s.desk)
	}
}

func (e *Engine) callAll(at market.Time, kind CallbackKind) []market.Command {
	e.begin(at)
	for i := range e.slots {
		if !e.slots[i].past.Starting() {
			e.guard(&e.slots[i], kind)
		}
	}
	e.notifySent()
	return e.out
}

// Step folds one event and returns the commands that it led to, valid until the next Step. Events
// must not go back in time: that is a broken invariant of the caller and panics. After an
// arithmetic error (Err) a step does nothing.
func (e *Engine) Step(ev *market.Event) []market.Command {
	if ev.At < e.now {
		backInTime(ev, e.now)
	}
	was := e.now
	e.begin(ev.At)
	if e.err != nil {
		return nil
	}
	if e.histories.Waiting() > 0 {
		e.histories.Start(was)
	}
	var applied state.Applied
	var err error
	if e.replaces.Len() == 0 {
		applied, err = e.account.Apply(ev)
	} else {
		applied, err = e.replaces.Apply(ev)
	}
	if err == nil && e.observed {
		err = e.observe(ev)
	}
	if err != nil {
		e.fail(ev, err)
		return nil
	}
	switch ev.Kind {
	case market.KindCandles:
		if e.brackets.Len() > 0 { // before the strategies: this close does not apply to exits that they place on it
			e.brackets.Candles(ev.Candles)
		}
		if e.rebalances.Len() > 0 {
			e.rebalances.Outdate(ev.Candles)
		}
		if e.groups.Open() > 0 {
			e.groups.EndOlder(ev.Candles)
		}
		for !e.deliverCandles(ev.Candles) {
		}
		if e.groups.Wanted() {
			e.groups.Add(ev.Candles)
		}
	case market.KindReport, market.KindFill:
		e.deliverReport(ev, applied)
	default:
		e.deliver(ev)
	}
	if e.tactics.Len()+len(e.sent) > 0 || e.brackets.Busy() {
		e.endStep(ev)
	}
	return e.out
}

// endStep lets tactics and brackets act after an event, and tells strategies of what was sent.
//
//go:noinline
func (e *Engine) endStep(ev *market.Event) {
	if e.tactics.Len() > 0 {
		e.tactics.Run(ev)
	}
	if e.brackets.Busy() {
		e.brackets.Retry()
	}
	e.notifySent()
	if e.tactics.Len() > 0 {
		e.watchTactics()
	}
}

// fail stops the engine at an arithmetic error.
//
//go:noinline
func (e *Engine) fail(ev *market.Event, err error) {
	e.err = fmt.Errorf("engine: %s at %s: %w", ev.Kind, ev.At, err)
}

// observe shows the gate the account after an event.
func (e *Engine) observe(ev *market.Event) error {
	if ev.Kind == market.KindCandles {
		e.gate.Closes(ev.Candles)
	}
	if ev.Kind == market.KindTransfer {
		return e.gate.Transferred(e.account, ev.At)
	}
	return e.gate.Observe(e.account, ev.At)
}

//go:noinline
func backInTime(ev *market.Event, now market.Time) {
	panic(fmt.Sprintf("engine: event %s at %s after %s", ev.Kind, ev.At, now))
}

func (e *Engine) begin(at market.Time) {
	if !e.owns() {
		e.setOwner()
	}
	e.now = at
	e.out = e.out[:0]
	e.at = 0
	if e.trespassed.Load() {
		e.haltTrespassers(nil)
	}
}

// Now is the arrival time of the current event.
func (e *Engine) Now() market.Time { return e.now }

// Catalog lists markets and assets.
func (e *Engine) Catalog() *market.Catalog { return e.catalog }

// Err returns the arithmetic error that stopped the engine, or nil.
func (e *Engine) Err() error { return e.err }

// Refused returns how often the gate refused a strategy, by reason.
func (e *Engine) Refused(id market.StrategyID) []risk.Count { return e.gate.Refused(id) }

// Watches returns the price levels that the engine waits for, by market.ID. The slice belongs to
// the engine and changes with every step.
func (e *Engine) Watches() []market.Watch { return e.brackets.Watches() }

// LatestSignal is the latest signal of a source about a market, or about all where m is 0, also one
// that holds no more.
func (e *Engine) LatestSignal(source string, m market.ID) (s market.Signal, heard bool) {
	return e.signals.Latest(source, m)
}

// SignalsOf are the numbers of the signals that hold now of what a strategy hears about a market.
func (e *Engine) SignalsOf(id market.StrategyID, m market.ID) []int64 {
	return e.signals.Numbers(id, m)
}

// Brackets is the part of the brackets and Closes that others may read.
func (e *Engine) Brackets() bracket.View { return e.brackets.View() }

// Watch asks the strategies to note more. Call it before the first event.
func (e *Engine) Watch() {
	for i := range e.slots {
		if w, can := e.slots[i].Strategy.(strategy.Watcher); can {
			w.Watch()
		}
	}
}

// Notes are what a strategy has to tell about the run; nil: it is no Noter, or it fell over.
func (e *Engine) Notes(id market.StrategyID) (notes []string) {
	noter, tells := e.slots[id-1].Strategy.(strategy.Noter)
	if !tells {
		return nil
	}
	defer func() {
		if recover() != nil {
			notes = nil
		}
	}()
	return noter.Notes()
}

// Warming reports whether a strategy may not trade in any of its markets yet.
func (e *Engine) Warming(id market.StrategyID) bool { return e.slots[id-1].wait.All() }

// Began lists the markets of a strategy in their order, with the ends of their warm-ups.
func (e *Engine) Began(id market.StrategyID) []warmup.WarmupEnd { return e.slots[id-1].wait.Began() }

// Lacking lists the markets of a strategy in which candles are missing, in words: "BTC-EUR needs 12
// more 1d candles".
func (e *Engine) Lacking(id market.StrategyID) []string { return e.slots[id-1].wait.Lacking() }
