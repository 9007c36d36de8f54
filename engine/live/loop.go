// Package live is the one loop around the engine: it takes market events and the exchange's answers
// one by one, steps the engine, makes the intents of its commands durable, and only then lets them
// be sent. It decides nothing about orders and never sends anything twice: what the exchange did
// not answer is resolved by queries. Start at Loop.Run, and at transitions (outcome.go) for what
// answers lead to.
//
// Ordering invariant: one goroutine, that of Run, owns engine, account and journal. Others do
// nothing but talk to the exchange and hand back what it said.
package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Config is what a Loop is made of. Zero durations take the default that stands behind each.
type Config struct {
	Engine   *engine.Engine
	Account  *state.Account // the engine's
	Trading  exchange.Trading
	Journal  Journal
	Findings Findings
	// of the feeds, in the order of their arrival, At being that or 0; their slices and pointers
	// are the loop's
	Events <-chan market.Event
	Clock  func() market.Time // by which Events are stamped; nil: Trading's
	Log    zerolog.Logger
	// what begins the engine once the exchange has been asked; nil: Engine.Start. An engine that
	// was restored has begun
	Start func(at market.Time) []market.Command
	// hears that trading has begun, in the loop's goroutine; nil: nothing does. A run that is
	// stopped before has no such moment
	Ready func()
	// what is known of writes that were in flight when the last process died; nil: nothing
	Sent Sent

	OpenEvery     market.Duration // between two lists of open orders; a minute
	HoldingsEvery market.Duration // between two comparisons of the balances; 30 s
	// beyond an intent's window, until what was not found is certainly not there; 2 s
	Margin      market.Duration
	StopWithin  market.Duration        // for a stop in good order; 75 s, longer than an outcome can stay unresolved
	StopLeft    func() market.Duration // what of StopWithin is left when the loop comes to its stop; nil: all of it
	KeepOrders  bool                   // leave open orders at the exchange when stopping
	Groups      []uint16               // cancel-on-disconnect groups to keep armed while the loop is well
	GroupExpiry market.Duration        // of their timers, 150 s at least; 150 s

	Agreed map[market.AssetID]Agreement // what the last run noted of the balances; nil: there was none
	// whether an order of this name that has ended was this bot's, asked in the loop's goroutine;
	// nil: that is not known
	Owns func(client uuid.UUID) bool

	// the own order of this name as it ended, asked in the loop's goroutine; nil: none is kept
	Ended func(client uuid.UUID) *state.Order

	// What answers are held against; all are asked in the loop's goroutine.
	// the highest that the account can be charged; nil: the highest tier's (venue-facts 3.5)
	Fees func(m *market.Market) exchange.Fees
	// fills that earlier runs have booked, the latest at least; nil: there were none. With it comes
	// FillsOf
	Booked func(visit func(*market.Fill))
	// all fills of an order that earlier runs have booked
	FillsOf func(id market.OrderID) []market.Fill
	// the own order, of any run, that the exchange names so; 0: none. nil: that is not known
	OrderOf func(m market.ID, name uuid.UUID) market.OrderID
	// an order as the update makes it that was in flight when the last process died; nil: that is
	// not known
	Asked    func(id market.OrderID) (changed market.Order, known bool)
	Breaches []Breach // what the last run noted

	// hears of every step of the engine, in the loop's goroutine; nil: that is not measured
	Stepped func(kind market.EventKind, took time.Duration)
}

// Sent tells until when, on the exchange's clock, the exchange could take the write of an order
// that was in flight when the last process died: the end of the window that it was signed with.
// false: that is not known.
type Sent func(id market.OrderID, kind market.CommandKind) (until market.Time, known bool)

// most is how many events one turn takes, at most: they share one commit.
const most = 64

// inFlight is how many writes of each rank, and how many questions, are under way at a time.
const inFlight = 4

// lists is how many other questions may be under way: open orders, balances, timers. A worker never
// waits to hand back its answer.
const lists = 3

// Loop runs an engine against an exchange.
type Loop struct {
	Config
	replies chan func() // what workers hand back; the loop runs it
	workers sync.WaitGroup
	orders  chan request // what others want of the loop

	now     market.Time
	outbox  outbox
	sending [ranks]int
	asking  int
	queries map[market.OrderID]*query
	verify  verify // of every answer about an order, before anything is made of it
	auditor auditor
	marked  []marked // by market: whose data is not believed
	failed  error
	ending  error // why the loop ends by itself, in good order as far as that goes; nil: it does not
	stopped bool  // the engine has stopped: the world's events are let go by, for the next run to ask for

	lastTried map[market.OrderID]bool // the stop has asked for its end

	disconnect disconnect
	halted     again
	open       regular
	holdings   holdings
	began      market.Time
	pages      map[market.OrderID][]market.Fill // fills that wait to be booked
	paged      market.OrderID                   // the order whose fills were booked last
	evidence   evidence
	// by client's name: how many lists in a row show an order open that has ended by the books
	shown      map[uuid.UUID]int
	foreign    int
	keyRefused int // commands in a row that were refused for the key's sake
}

// regular is something that is asked for again and again.
type regular struct {
	next   market.Time
	asking bool
	failed bool // the last time it had no answer
}

// New returns a loop. Its engine has been warmed up, and restored where there was something to
// restore.
func New(c Config) *Loop {
	defaults(&c.OpenEvery, time.Minute)
	defaults(&c.HoldingsEvery, 30*time.Second)
	defaults(&c.Margin, 2*time.Second)
	defaults(&c.StopWithin, 75*time.Second)
	defaults(&c.GroupExpiry, 150*time.Second)
	if c.Agreed == nil {
		c.Agreed = map[market.AssetID]Agreement{}
	}
	if c.Start == nil {
		c.Start = c.Engine.Start
	}
	l := &Loop{Config: c, replies: make(chan func(), (int(ranks)+1)*inFlight+lists), orders: make(chan request),
		queries: map[market.OrderID]*query{}, pages: map[market.OrderID][]market.Fill{},
		holdings: holdings{agreed: c.Agreed, said: map[market.AssetID]market.Money{}, moves: map[market.AssetID]int{}}}
	l.verify, l.auditor = l.hold, newAuditor(&l.Config)
	if c.Account != nil {
		markets := len(c.Account.Catalog().Markets()) + 1
		l.marked, l.auditor.prices = make([]marked, markets), make([]priceLog, markets)
	}
	return l
}

func defaults(d *market.Duration, otherwise market.Duration) {
	if *d == 0 {
		*d = otherwise
	}
}

// Run reconciles with the exchange, starts the strategies and trades until ctx ends; then it stops
// in good order, for StopWithin at most. Where ctx ends before the exchange has been reconciled
// with, the rest of that is left out and nothing is traded: the orders that the account knows are
// queried and ended, or kept, by the same stop.
//
// It returns nil after a stop in good order, otherwise what went wrong: a journal that cannot be
// written, an exchange that cannot be reconciled with, orders that were to be cancelled and could
// not be, orders whose last write is unresolved.
func (l *Loop) Run(ctx context.Context) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx)) // answers that are under way are waited for
	defer l.workers.Wait()
	defer cancel()
	l.now = l.Trading.Now()
	l.began = l.now
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
	l.take(l.Config.Start(l.stamp()))
	if l.Ready != nil {
		l.Ready()
	}
	l.endTurn(work)
	for ctx.Err() == nil && l.failed == nil && l.ending == nil {
		l.turn(ctx, work)
	}
	if l.failed != nil {
		return l.failed
	}
	return l.stop(work)
}

// prepare does what comes before trading.
func (l *Loop) prepare(ctx context.Context) error {
	l.queryPending()
	if err := l.reconcile(ctx); err != nil {
		return err
	}
	return l.armFirst(ctx)
}

// insist is Insist with the loop's log.
func (l *Loop) insist(ctx context.Context, try func() error) error {
	return Insist(ctx, l.Log, try)
}

// turn waits for something to happen, takes what else has happened meanwhile, commits it, and
// sends.
func (l *Loop) turn(ctx, work context.Context) {
	timer := time.NewTimer(l.untilDue())
	defer timer.Stop()
	select {
	case ev := <-l.Events:
		l.hear(&ev)
	case reply := <-l.replies:
		reply()
	case r := <-l.orders:
		r.run()
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	for range most - 1 {
		select {
		case ev := <-l.Events:
			l.hear(&ev)
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
	l.ring()
	l.endHalted()
	l.endTurn(work)
}

// endTurn makes the turn durable and then lets the world know.
func (l *Loop) endTurn(work context.Context) {
	l.dropUnwanted()
	l.commit()
	if l.failed != nil {
		l.outbox.clear()
		return
	}
	l.dispatch(work)
	l.askDue(work)
}

// commit makes durable what has happened since the last commit.
func (l *Loop) commit() {
	if l.failed == nil {
		l.failed = l.Engine.Err()
	}
	l.write()
	if l.failed != nil {
		return
	}
	if commands, some := l.Engine.HaltUnsaved(l.stamp()); some {
		l.take(commands)
		l.write()
	}
}

func (l *Loop) write() {
	switch err := l.Journal.Commit(l.now); {
	case err == nil || l.failed != nil:
	case errors.Is(err, ErrLastRoom):
		l.ending = fmt.Errorf("live: nothing more is traded: %w", err)
		l.Log.Error().Err(err).Msg(
			"the disk is full: all orders are cancelled but the exits of brackets, then the bot ends")
	default:
		l.failed = fmt.Errorf("live: the journal cannot be written, nothing more is sent: %w", err)
	}
}

// stamp moves the loop's time to the exchange's. It never goes back.
func (l *Loop) stamp() market.Time {
	l.now = max(l.now, l.Trading.Now())
	return l.now
}

// step folds an event and takes what the strategies want.
func (l *Loop) step(ev *market.Event) {
	if l.failed != nil {
		return
	}
	ev.At = l.stamp()
	commands := l.stepEngine(ev)
	l.Journal.Event(ev)
	l.holdings.count(ev, l.Account.Catalog())
	l.auditor.booked(l.Account, ev)
	l.take(commands)
	l.notice(ev)
}

// ring lets the engine's timers ring that are due.
func (l *Loop) ring() {
	for l.failed == nil && !l.stopped {
		at, any := l.Engine.NextTimer()
		if !any || at > l.now {
			return
		}
		l.step(&market.Event{Kind: market.KindTimer})
	}
}

// take turns commands into intents. They leave when the turn has been committed.
func (l *Loop) take(commands []market.Command) {
	var refused []market.Command
	for i := range commands {
		c := commands[i]
		if c.Kind == market.CommandUpdate {
			l.auditor.changes[c.Order.ID] = c.Order
		}
		intent, err := l.Trading.Prepare(&c)
		if err != nil {
			l.Log.Error().Err(err).Stringer("command", c.Kind).Int64("order", int64(c.Order.ID)).
				Msg("a command cannot be written as a request")
			refused = append(refused, c)
			continue
		}
		intent.Last = l.isLast(&c)
		if q := l.queries[c.Order.ID]; q != nil {
			q.unresolved = nil // a new write is in flight: a restored engine sends what the last process left
		}
		l.Journal.Intent(&intent)
		l.outbox.put(outgoing{intent: intent, command: c, strategy: l.strategyOf(c.Order.ID)})
	}
	for i := range refused { // after the loop: a step makes commands anew
		l.answer(&refused[i], market.ExecRejected, 0)
	}
}

// strategyOf is the strategy of an own order, 0 where the order is not known any more.
func (l *Loop) strategyOf(id market.OrderID) market.StrategyID {
	if own := l.Account.Known(id); own != nil {
		return own.Strategy
	}
	return 0
}

// untilDue is how long nothing is to be done, as far as the loop knows.
func (l *Loop) untilDue() time.Duration {
	if len(l.pages) > 0 {
		return 0
	}
	next := l.now.Add(time.Second)
	if at, any := l.Engine.NextTimer(); any && !l.stopped {
		next = min(next, at)
	}
	for _, q := range l.queries {
		if !q.asking && l.asking < inFlight {
			next = min(next, q.next)
		}
	}
	return max(0, next.Sub(l.Trading.Now()))
}

// ErrStopping is what a request hears that came too late.
var ErrStopping = errors.New("the bot is stopping")
