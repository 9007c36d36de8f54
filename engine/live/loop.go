package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Config is the input of New. Zero durations take the default at the end of each comment.
type Config struct {
	Engine       *engine.Engine
	Account      *state.Account // the engine's
	Trading      exchange.Trading
	Journal      Journal
	ReconcileLog ReconcileLog
	// Events come from the feeds in the order of their arrival; At is that time or 0. Their slices
	// and pointers belong to the loop.
	Events <-chan market.Event
	// Notices come from the exchange's account channel, in the order of their arrival. No notice
	// may be dropped while the channel is up. nil: there is no channel, and the exchange is asked.
	Notices <-chan exchange.Notice
	Clock   func() market.Time // stamped the Events; nil: Trading's
	Log     zerolog.Logger
	// Recorder keeps what enters the engine; nil: nothing is kept.
	Recorder Recorder
	// Start returns the commands of an engine that has begun already, such as a restored one; nil:
	// the strategies' OnStart is called after reconciliation.
	Start func(at market.Time) []market.Command
	// Ready is called when trading has begun, in the loop's goroutine. A run that is stopped
	// earlier never calls it.
	Ready func()
	// Muted is called, at most once a minute, when an event of the account channel has not come
	// that had to: connect the channel anew. The loop's goroutine calls it; nil: not called.
	Muted func()
	// SetAside is called when the exchange denies a fill or an end that an event told, or an answer
	// or a refusal over a socket: nothing is to leave over a socket for so long. nil: not called.
	SetAside      func(long time.Duration)
	OpenEvery     market.Duration // between two lists of open orders; a minute
	HoldingsEvery market.Duration // between two comparisons of the balances; 30 s
	// QuietEvery is the least time between two of either, and the longest between two queries of
	// one resting order, while the account channel is up; 5 min.
	QuietEvery market.Duration
	// Margin is the time beyond an intent's window after which an order that is not found certainly
	// does not exist; 2 s.
	Margin      market.Duration
	Groups      []uint16        // cancel-on-disconnect groups to keep armed
	GroupExpiry market.Duration // of their timers, 150 s at least; 150 s
	// Fees are the highest that the account can be charged, for the check of answers; nil: the
	// highest tier's (venue-facts 3.5).
	Fees func(m *market.Market) exchange.Fees
	// Stepped gets the duration of every step of the engine, in the loop's goroutine; nil: not
	// measured.
	Stepped func(kind market.EventKind, took time.Duration)

	StopConfig
	Earlier
}

// StopConfig says how a run ends.
type StopConfig struct {
	StopWithin market.Duration        // for a stop in good order; 75 s, longer than an outcome can stay unresolved
	StopLeft   func() market.Duration // rest of StopWithin when the stop begins; nil: all of it
	KeepOrders bool                   // leave open orders but the exits of brackets at the exchange when stopping
	KeepExits  bool                   // leave the exits of brackets at the exchange when stopping
}

// Earlier is what earlier runs have left to this one. Its functions are called in the loop's
// goroutine.
type Earlier struct {
	// Sent is until when, on the exchange's clock, the exchange could take the write of an order
	// that was in flight when the last process died: the end of its signed window; nil, false:
	// unknown.
	Sent func(id market.OrderID, kind market.CommandKind) (until market.Time, known bool)
	// FormerGroups are groups of earlier runs whose timers may run: they are stopped.
	FormerGroups []uint16
	Checkpoints  map[market.AssetID]BalanceCheckpoint // of the last run; nil: none
	// Owns reports whether an ended order with this client order id was this bot's; nil: unknown.
	Owns func(client uuid.UUID) bool
	// Newer is what shows that an order which the state file does not know is this bot's; nil: no
	// run came before.
	Newer *Newer
	// Ended is the own order with this client order id as it ended; nil: none is kept.
	Ended func(client uuid.UUID) *state.Order
	// BookedFills visits the fills that earlier runs have booked, at least the latest; nil: none.
	// It needs FillsOf.
	BookedFills func(visit func(*market.Fill))
	// FillsOf are all fills of an order that earlier runs have booked.
	FillsOf func(id market.OrderID) []market.Fill
	// OrderOf is the own order, of any run, with this exchange id; 0: none; nil: unknown.
	OrderOf func(m market.ID, name uuid.UUID) market.OrderID
	// Asked is an order after the update that was in flight when the last process died; nil:
	// unknown.
	Asked    func(id market.OrderID) (changed market.Order, known bool)
	Breaches []Breach // of the last run
	// ChangedByOthers are the orders that someone else had changed in earlier runs, in words.
	ChangedByOthers map[market.OrderID]string
}

// maxBatch is the most events of one turn: they share one commit.
const maxBatch = 64

// maxInFlight is the most writes of each rank, and the most queries, in flight at a time.
const maxInFlight = 4

// maxListQueries is the most other queries in flight: open orders, balances, timers. It sizes
// replies, so that a worker never waits to hand back its answer.
const maxListQueries = 3

// Loop runs an engine against an exchange.
type Loop struct {
	Config
	clock
	workers
	door  Inputs
	calls chan func() // from other goroutines; the loop runs them

	outbox   outbox
	sending  [ranks]int
	writes   map[market.OrderID]*outgoing // in flight, where their outcome is not known yet
	querying int
	queries  queryQueue
	index    index
	verify   verifier // checks every answer about an order before it is used
	failed   error
	ending
	auditor    auditor
	plausible  plausibility
	disconnect disconnect
	channel    channel
	open       openList
	holdings   holdings
	newer      newer
	halted     retry
	pages      map[market.OrderID][]market.Fill // fills that wait to be booked
	paged      market.OrderID                   // the order whose fills were booked last
	keyRefused int                              // commands in a row that were refused because of the key
}

// regular is a query that is repeated at an interval.
type regular struct {
	next    market.Time
	pending bool
	failed  bool // the last one had no answer
}

// New returns a loop. Its engine has been warmed up, and restored where a state was saved.
func New(c Config) *Loop {
	defaults(&c.OpenEvery, time.Minute)
	defaults(&c.HoldingsEvery, 30*time.Second)
	defaults(&c.QuietEvery, 5*time.Minute)
	defaults(&c.Margin, 2*time.Second)
	defaults(&c.StopWithin, 75*time.Second)
	defaults(&c.GroupExpiry, 150*time.Second)
	if c.Newer == nil {
		c.Newer = &Newer{Owners: func(*market.Order, bool) []market.StrategyID { return nil }}
	}
	if c.Checkpoints == nil {
		c.Checkpoints = map[market.AssetID]BalanceCheckpoint{}
	}
	l := new(Loop)
	*l = Loop{Config: c, clock: clock{trading: c.Trading}, door: Inputs{Engine: c.Engine, Recorder: c.Recorder},
		workers: workers{replies: make(chan func(), (int(ranks)+1)*maxInFlight+maxListQueries)},
		calls:   make(chan func()), queries: newQueryQueue(), pages: map[market.OrderID][]market.Fill{},
		writes: map[market.OrderID]*outgoing{}, ending: ending{Config: &l.Config, cancels: map[market.OrderID]bool{}}}
	b := base{&l.Config, &l.clock, &l.workers, &l.door, &l.queries, &l.channel, l}
	l.disconnect.base = b
	l.newer = newNewer(b)
	l.open = openList{base: b, disconnect: &l.disconnect, newer: &l.newer}
	l.auditor = newAuditor(b, &l.index, &l.open)
	l.verify = l.auditor.audit
	l.holdings = holdings{base: b, newer: &l.newer, open: &l.open, checkpoints: c.Checkpoints,
		moves: map[market.AssetID]int{}, reported: map[market.AssetID]market.Money{},
		postponed: map[market.AssetID]market.Money{}, bought: map[market.AssetID]*explanation{}}
	l.channel = channel{base: b, index: &l.index, auditor: &l.auditor, open: &l.open, holdings: &l.holdings,
		owed: map[uuid.UUID]owed{}}
	if c.Account != nil {
		markets := len(c.Account.Catalog().Markets()) + 1
		l.auditor.prices = make([]priceLog, markets)
		l.plausible = plausibility{account: c.Account, log: c.Log, markets: make([]suspension, markets),
			distrust: func(m market.ID) { l.input(&market.Input{Kind: market.InputUnreliable, Market: m}) }}
		l.index = newIndex(c.Account, &l.outbox, markets)
		c.Account.Track()
	}
	return l
}

func defaults(d *market.Duration, otherwise market.Duration) {
	if *d == 0 {
		*d = otherwise
	}
}

// Run reconciles with the exchange, starts the strategies and trades until ctx ends; then it stops
// in good order, within StopWithin. When ctx ends during reconciliation, the rest of it is left out
// and nothing is traded: the same stop queries the account's orders and cancels or keeps them.
//
// It returns nil after a stop in good order, otherwise an error: the journal cannot be written,
// reconciliation failed, orders could not be cancelled, or the last write of an order is
// unresolved.
func (l *Loop) Run(ctx context.Context) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the end waits for pending answers
	defer l.group.Wait()
	defer cancel()
	l.now = l.Trading.Now()
	l.began, l.resumed = l.now, l.Engine.Now()
	switch err := l.prepare(ctx); {
	case l.failed != nil:
		return l.failed
	case refuses(err) && ctx.Err() != nil:
		return errors.Join(err, l.stopEarly(work))
	case ctx.Err() != nil:
		return l.stopEarly(work)
	case err != nil:
		return err
	}
	l.queueCommands(l.begin())
	if l.Engine.Brackets().Held() {
		l.input(&market.Input{Kind: market.InputGuard})
	}
	l.fireTimers() // exits that the last run left to place come before all else
	if l.Ready != nil {
		l.Ready()
	}
	l.endTurn(work)
	for ctx.Err() == nil && l.failed == nil && l.ending.why == nil {
		l.turn(ctx, work)
	}
	if l.failed != nil {
		return l.failed
	}
	return l.stop(work)
}

// begin returns the first commands of the strategies.
func (l *Loop) begin() []market.Command {
	if l.Recorder != nil {
		l.Recorder.Begun()
	}
	if l.Config.Start != nil {
		return l.Config.Start(l.engineTime())
	}
	return l.door.Enter(&market.Input{Kind: market.InputStart, At: l.engineTime()}).Commands
}

// prepare brings the loop to the state in which trading can begin.
func (l *Loop) prepare(ctx context.Context) error {
	l.queryPending()
	if err := l.reconcile(ctx); err != nil {
		return err
	}
	l.holdings.reconcile(ctx)
	l.newer.settle()
	return l.disconnect.armFirst(ctx)
}

// onNotice receives an event of the account channel.
func (l *Loop) onNotice(n *exchange.Notice) {
	if l.failed == nil {
		l.channel.receive(n)
	}
}

// turn waits for an event, takes the others that are there, commits them, and sends.
func (l *Loop) turn(ctx, work context.Context) {
	timer := time.NewTimer(l.untilDue())
	defer timer.Stop()
	select {
	case ev := <-l.Events:
		l.onEvent(&ev)
	case n := <-l.Notices:
		l.onNotice(&n)
	case reply := <-l.replies:
		reply()
	case call := <-l.calls:
		call()
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	for range maxBatch - 1 {
		select {
		case ev := <-l.Events:
			l.onEvent(&ev)
			continue
		case n := <-l.Notices:
			l.onNotice(&n)
			continue
		case reply := <-l.replies:
			reply()
			continue
		default:
		}
		break
	}
	l.stamp()
	l.bookPages()
	l.channel.checkOwed()
	l.fireTimers()
	if !l.stopped && l.failed == nil {
		l.endHalted()
		l.newer.cancelRest()
	}
	l.endTurn(work)
}

// endHalted cancels orders of halted strategies again, at growing intervals. A halt cancels once;
// that cancel may have been lost, have outlived its window in a ban, or have met a halted market.
func (l *Loop) endHalted() {
	if l.halted.next > l.now {
		return
	}
	var a engine.Answer
	if l.Engine.HaltedOpen() {
		a = l.input(&market.Input{Kind: market.InputCancelHalted})
	}
	l.halted.later(l.now, a.Left > 0, len(a.Commands) > 0)
}

// endTurn makes the turn durable, then sends.
func (l *Loop) endTurn(work context.Context) {
	l.dropUnwanted()
	l.commit()
	if l.failed != nil {
		l.outbox.clear()
		return
	}
	l.dispatch(work)
	l.queryDue(work)
}

// commit makes everything since the last commit durable.
func (l *Loop) commit() {
	if l.failed == nil {
		l.failed = l.Engine.Err()
	}
	l.write()
	if l.failed != nil {
		return
	}
	due := l.Engine.Unsaved()
	for _, h := range due {
		l.halt(h.Strategy, h.Reason)
	}
	if len(due) > 0 {
		l.write()
	}
}

func (l *Loop) write() {
	switch err := l.Journal.Commit(l.now); {
	case err == nil || l.failed != nil:
	case errors.Is(err, ErrLastRoom):
		l.ending.why = fmt.Errorf("live: nothing more is traded: %w", err)
		l.Log.Error().Err(err).Msg(
			"the disk is full: all orders are cancelled but the exits of brackets, then the bot ends")
	default:
		l.failed = fmt.Errorf("live: the journal cannot be written, nothing more is sent: %w", err)
	}
}

// step folds an event and queues the strategies' commands.
func (l *Loop) step(ev *market.Event) {
	if l.failed != nil {
		return
	}
	l.newer.lend(ev.Fills)
	bought := l.newer.buys(ev.Fills)
	ev.At = l.engineTime()
	began := time.Now()
	commands := l.door.Enter(&market.Input{Kind: market.InputEvent, Event: ev}).Commands
	if l.Stepped != nil {
		l.Stepped(ev.Kind, time.Since(began))
	}
	l.Journal.Event(ev)
	l.holdings.count(ev, l.Account.Catalog())
	l.auditor.keepFills(l.Account, ev)
	l.open.proof.ended(ev, l.now)
	l.queueCommands(commands)
	l.queryReached(ev)
	l.newer.takeBackLoan(bought)
}

// fireTimers steps the engine for its due timers.
func (l *Loop) fireTimers() {
	for l.failed == nil && !l.stopped {
		at, any := l.Engine.NextTimer()
		if !any || at > l.engineTime() {
			return
		}
		l.step(&market.Event{Kind: market.KindTimer})
	}
}

// queueCommands turns commands into intents. They leave once the turn has been committed.
func (l *Loop) queueCommands(commands []market.Command) {
	var refused []market.Command
	for i := range commands {
		c := commands[i]
		if _, moved := l.auditor.restatements.seen[c.Order.ID]; moved && c.Kind == market.CommandUpdate {
			l.Log.Debug().Int64("order", int64(c.Order.ID)).
				Msg("someone else may have changed the order: it is not changed before that is known")
			l.withhold(&c)
			refused = append(refused, c)
			continue
		}
		if c.Kind == market.CommandUpdate {
			l.auditor.changes[c.Order.ID] = c.Order
		}
		intent, err := l.Trading.Prepare(&c)
		if err != nil {
			l.Log.Error().Err(err).Stringer("command", c.Kind).Int64("order", int64(c.Order.ID)).
				Msg("a command does not fit into a request")
			l.withhold(&c)
			refused = append(refused, c)
			continue
		}
		intent.Last = l.isFinalCancel(&c)
		if q := l.queries.of[c.Order.ID]; q != nil {
			q.unresolved = nil // a new write is in flight: a restored engine sends the last process's commands
		}
		l.Journal.Intent(&intent)
		o := outgoing{intent: intent, command: c}
		if own := l.Account.Known(c.Order.ID); own != nil { // otherwise the account has forgotten the order
			o.strategy = own.Strategy
		}
		l.outbox.put(o)
	}
	for i := range refused { // after the loop: a step overwrites commands
		l.answer(&refused[i], market.ExecRejected, 0)
	}
}

// untilDue is how long the loop may wait for events.
func (l *Loop) untilDue() time.Duration {
	if len(l.pages) > 0 {
		return 0
	}
	next := l.now.Add(time.Second)
	if at, any := l.Engine.NextTimer(); any && !l.stopped {
		next = min(next, at)
	}
	if at, any := l.queries.next(); any && l.querying < maxInFlight {
		next = min(next, at)
	}
	return max(0, next.Sub(l.Trading.Now()))
}

// ErrStopping is returned by Do once the loop is stopping.
var ErrStopping = errors.New("the bot is stopping")
