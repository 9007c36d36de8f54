// Package engine turns events into commands: it folds each event into the account, calls the
// strategies, and passes what they ask for through the gate. It reads no clock, starts no goroutine
// and draws no random number, so that backtest, paper and live are the same machine under different
// events. Start at Engine.Step.
package engine

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// maxRounds is how often the callbacks of one step may answer what they themselves caused before
// the strategy is halted.
const maxRounds = 16

// Seat is a strategy's place in an engine.
type Seat struct {
	Name      string
	Strategy  strategy.Strategy
	Markets   []market.ID
	Intervals []market.Interval // of the candles it receives
	Ticker    bool              // it receives tickers
	Book      bool              // it receives order books
	// candles of the first interval, in each market, up to and with the first one it may trade on
	Warmup int
	Log    zerolog.Logger
}

// Observer hears of what the engine folded, for reports and metrics. What it is given is valid
// until it returns.
type Observer interface {
	// Filled is told of every new fill of an own order.
	Filled(o *state.Order, f *market.Fill)
	// Closed is told of every own order that is done, refused ones included.
	Closed(o *state.Order)
}

// Approver is an Observer that also hears of what the gate lets pass.
type Approver interface {
	// Approved is told of every order and change that is about to leave, with its terms as they
	// were asked for and what the gate looked at (risk.Gate.Figures), and of every cancel.
	Approved(asked state.Terms, c *market.Command, figures []state.Figure)
}

// Refuser is an Observer that also hears of what the gate refuses.
type Refuser interface {
	// Refused is told of every order and change that was refused: as it was asked, as the gate had
	// rounded it until it refused, and why. What strategies ask while they see the past again is
	// not told.
	Refused(asked, rounded *market.Command, why *risk.Refusal)
}

// Guard is an Observer that also hears of positions that cannot have an exit.
type Guard interface {
	// Unprotected is told what a strategy.ExitHandler is, also of strategies that are not one or
	// are halted.
	Unprotected(u *strategy.Unprotected)
}

// Config is what an Engine is made of.
type Config struct {
	Catalog   *market.Catalog
	Account   *state.Account
	Gate      *risk.Gate
	Seats     []Seat      // StrategyID 1 is the first
	TradeFrom market.Time // asks before are refused as warm-up; 0: from the first event
	Observer  Observer    // nil: nobody; may be an Approver, a Refuser and a Guard too
	// calls strategies on goroutines of their own, so that one that ends its goroutine is halted;
	// nil: on the caller's
	Apart     Apart
	Spoil     bool // what desks have handed out is overwritten after each callback: see strategy.Spoil
	SaveLimit int  // most bytes of what a strategy's Save writes; 0: DefaultSaveLimit
	// the run id of a live bot: every order gets its client order id from it, and keeps it over
	// restarts; zero: none
	Run uuid.UUID
}

// Apart calls f on another goroutine, waits, and reports whether f returned: goroutine.Call is one.
type Apart func(f func()) (returned bool)

// DefaultSaveLimit is how many bytes a strategy's Save may write: each commit that follows a
// callback of the strategy writes all of them.
const DefaultSaveLimit = 1 << 20

// Engine is the pure core. It is a plain value owned by one goroutine.
type Engine struct {
	catalog  *market.Catalog
	account  *state.Account
	gate     *risk.Gate
	seats    []seat    // by StrategyID − 1
	candles  [][]*seat // by market and interval: who receives them
	tickers  [][]*seat // by market
	books    [][]*seat
	brackets *bracket.Set
	from     market.Time
	run      uuid.UUID
	observed bool // the gate follows the equity
	saveRoom int  // Config.SaveLimit

	now       market.Time
	lastID    market.OrderID
	out       []market.Command
	told      []note // what to tell the strategies after the callback
	timers    []timer
	halts     []Halt
	err       error
	recalling bool   // strategies see the past again: nothing may be asked
	stopped   bool   // OnStop is behind: nothing may be placed or updated
	book      ledger // of what Save has written

	listeners
	delivery
	scratch
	admission
}

// listeners are the observer and its optional abilities, nil where it has them not.
type listeners struct {
	observer Observer
	approver Approver
	refuser  Refuser
	guardian Guard
}

// delivery is where the calls of a step stand, so that they can go on behind a strategy that
// panicked.
type delivery struct {
	current *seat
	at      int      // place of the call under way among those of a group
	calls   Callback // which strategy is in which callback; read from beside the loop
	mark    int      // commands in out before the callback under way; the brackets mark theirs
	coasted int
	given   given
	spoil   bool // what desks have handed out is overwritten after each callback
	apart   Apart
	ringing *timer // whose OnTimer is being called
}

// scratch is memory that is used again: a pointer to a local through an interface would allocate on
// every ask.
type scratch struct {
	command market.Command // what the engine itself asks
	asked   market.Command // what the gate is looking at, as it was asked
	held    risk.Refusal   // the answer while nothing may be asked
	exits   risk.Exits     // of a bracket, while they are checked
	entry   market.Order   // of that bracket, as it shall be
}

type seat struct {
	Seat
	id       market.StrategyID
	desk     *strategy.Desk
	onOrder  strategy.OrderHandler
	onFill   strategy.FillHandler
	onTimer  strategy.TimerHandler
	onBare   strategy.ExitHandler
	quieter  strategy.Quieter
	saver    strategy.Saver
	window   strategy.BookWindow
	warming  bool
	missing  []int // by market: candles until the warm-up is over
	warmed   bool  // its warm-up was over before a restart: the start of trading holds it no more
	halted   bool
	called   bool                     // since its state was last saved
	trespass atomic.Pointer[trespass] // its desk was used from elsewhere; any goroutine may set it
	overrun  bool                     // its timers set one another without end
	stack    []byte                   // where it was when it was halted, if that is known
	unsaved  string                   // why its state could not be saved; "": it could
}

// note is an own order that was sent during a callback and that its strategy is to hear of
// afterwards.
type note struct {
	seat  *seat
	order market.OrderID
}

// Halt is a strategy that was stopped.
type Halt struct {
	Strategy market.StrategyID
	Name     string
	At       market.Time
	Reason   string
}

// New returns an engine with its strategies seated. OnStart has not been called: see Start.
func New(c Config) *Engine {
	markets := len(c.Catalog.Markets()) + 1
	e := &Engine{
		catalog: c.Catalog, account: c.Account, gate: c.Gate, run: c.Run, from: c.TradeFrom,
		observed: c.Gate.Observes(), saveRoom: cmp.Or(c.SaveLimit, DefaultSaveLimit),
		seats: make([]seat, len(c.Seats)), candles: make([][]*seat, markets*intervals),
		tickers: make([][]*seat, markets), books: make([][]*seat, markets),
	}
	e.brackets = bracket.New(c.Catalog, &e.now, exits{e})
	e.book = ledger{changed: true, last: make(map[string][]byte)}
	e.observer, e.spoil, e.apart = c.Observer, c.Spoil, c.Apart
	e.approver, _ = c.Observer.(Approver)
	e.refuser, _ = c.Observer.(Refuser)
	e.guardian, _ = c.Observer.(Guard)
	for i := range c.Seats {
		e.take(&e.seats[i], c.Seats[i], market.StrategyID(i+1))
	}
	return e
}

const intervals = int(market.Interval1M) + 1

// take seats one strategy.
func (e *Engine) take(s *seat, from Seat, id market.StrategyID) {
	s.Seat, s.id, s.missing = from, id, make([]int, len(e.tickers))
	s.window.Admit = func(call string) bool { return e.Admit(id, call) }
	s.desk = strategy.NewDesk(e, id, from.Log)
	s.onOrder, _ = from.Strategy.(strategy.OrderHandler)
	s.onFill, _ = from.Strategy.(strategy.FillHandler)
	s.onTimer, _ = from.Strategy.(strategy.TimerHandler)
	s.onBare, _ = from.Strategy.(strategy.ExitHandler)
	s.quieter, _ = from.Strategy.(strategy.Quieter)
	s.saver, _ = from.Strategy.(strategy.Saver)
	for _, m := range from.Markets {
		s.missing[m] = from.Warmup
		for _, interval := range from.Intervals {
			at := int(m)*intervals + int(interval)
			e.candles[at] = append(e.candles[at], s)
		}
		if from.Ticker {
			e.tickers[m] = append(e.tickers[m], s)
		}
		if from.Book {
			e.books[m] = append(e.books[m], s)
		}
	}
	s.warming = from.Warmup > 0 || e.from > 0
	e.gate.WarmUp(id, s.warming)
}

// Start calls the strategies' OnStart. Call it once, before the first Step.
func (e *Engine) Start(at market.Time) []market.Command { return e.each(at, CallStart) }

// Stop calls the strategies' OnStop. Call it once. In later steps strategies hear what becomes of
// their orders, and can only cancel.
func (e *Engine) Stop(at market.Time) []market.Command {
	commands := e.each(at, CallStop)
	e.stopped = true
	return commands
}

func start(s *seat) {
	if starter, ok := s.Strategy.(strategy.Starter); ok {
		starter.OnStart(s.desk)
	}
}

func stop(s *seat) {
	if stopper, ok := s.Strategy.(strategy.Stopper); ok && !s.halted {
		stopper.OnStop(s.desk)
	}
}

func (e *Engine) each(at market.Time, kind CallbackKind) []market.Command {
	e.begin(at)
	for i := range e.seats {
		e.guard(&e.seats[i], kind)
	}
	e.tell()
	return e.out
}

// Step folds one event and returns the commands that it led to, valid until the next Step. Events
// must not go back in time: that is a broken invariant of the caller and panics. After an
// arithmetic error (Err) a step does nothing.
func (e *Engine) Step(ev *market.Event) []market.Command {
	if ev.At < e.now {
		backInTime(ev, e.now)
	}
	e.begin(ev.At)
	applied, err := e.fold(ev)
	if err != nil {
		return nil
	}
	switch ev.Kind {
	case market.KindCandles:
		if e.brackets.Len() > 0 { // before the strategies: a close says nothing about exits that they ask for on it
			e.brackets.Candles(ev.Candles)
		}
		for !e.deliverCandles(ev.Candles) {
		}
	case market.KindReport, market.KindFill:
		e.deliverReport(ev, applied)
	default:
		e.deliver(ev)
	}
	if e.brackets.Busy() {
		e.brackets.Retry()
		e.tell()
	} else if len(e.told) > 0 {
		e.tell()
	}
	return e.out
}

// fold takes the event into the account and lets the gate see it.
func (e *Engine) fold(ev *market.Event) (applied state.Applied, err error) {
	if e.err != nil {
		return applied, e.err
	}
	applied, err = e.account.Apply(ev)
	if err == nil && e.observed {
		err = e.observe(ev)
	}
	if err != nil {
		e.err = fmt.Errorf("engine: %s at %s: %w", ev.Kind, ev.At, err)
	}
	return applied, e.err
}

func (e *Engine) observe(ev *market.Event) error {
	if ev.Kind == market.KindTransfer {
		return e.gate.Transferred(e.account, ev.At)
	}
	return e.gate.Observe(e.account, ev.At)
}

func backInTime(ev *market.Event, now market.Time) {
	panic(fmt.Sprintf("engine: event %s at %s after %s", ev.Kind, ev.At, now))
}

func (e *Engine) begin(at market.Time) {
	e.own()
	e.now = at
	e.out = e.out[:0]
	e.at = 0
	if e.trespassed.Load() {
		e.expel(nil)
	}
}

// Err returns the arithmetic error that stopped the engine, or nil.
func (e *Engine) Err() error { return e.err }

// Halts returns the strategies that were stopped so far, in order.
func (e *Engine) Halts() []Halt { return e.halts }

// Refused returns how often the gate refused a strategy, by reason.
func (e *Engine) Refused(id market.StrategyID) []risk.Count { return e.gate.Refused(id) }

// Watches returns what the engine waits for, by market.ID. The slice is the engine's own and
// changes with every step.
func (e *Engine) Watches() []market.Watch { return e.brackets.Watches() }

// Unprotected is the time, over all brackets and up to now, during which a position or a part of it
// that was to have an exit at the venue had none.
func (e *Engine) Unprotected() market.Duration { return e.brackets.Unprotected() }

// UnprotectedBy is Unprotected by cause, without causes that did not occur.
func (e *Engine) UnprotectedBy() []strategy.CauseTime { return e.brackets.ByCause() }

// Bare lists the positions that have no exit now, or one that is too small.
func (e *Engine) Bare() []strategy.Unprotected { return e.brackets.Bare() }
