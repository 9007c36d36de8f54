package engine

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Prepare brings a new engine to where some of its strategies, those of changed, can take over from
// the ones of the same names in the engine that saved the parts. These strategies are started and
// see the candles of their warm-up, with their asks refused and their timers not set, as by
// Restore; their own state (strategy.Saver) follows with TakeOver. The other strategies are not
// called. It replaces Start. at is the present time.
//
// A strategy that is halted on the way, for example because it panicked, is an error. The other
// engine may go on meanwhile: CatchUp shows the candles that it gets.
func (e *Engine) Prepare(at market.Time, saved map[string][]byte, history iter.Seq2[[]market.Candle, error],
	changed []market.StrategyID) error {
	r, err := newRestorer(e, saved)
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	e.halts = nil
	for i := range e.slots { // a halted strategy is warmed up too: bot resume may follow
		e.slots[i].halted = !slices.Contains(changed, e.slots[i].id)
	}
	e.begin(max(at, r.engine.Now))
	if err := r.warmUp(history); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	return e.prepared()
}

// CatchUp shows the strategies of Prepare more candles, in the groups in which they closed.
func (e *Engine) CatchUp(later iter.Seq2[[]market.Candle, error]) error {
	e.setOwner()
	if err := e.show(later); err != nil {
		return err
	}
	return e.prepared()
}

// prepared returns why a strategy cannot take over: it was halted.
func (e *Engine) prepared() error {
	for _, h := range e.halts {
		return fmt.Errorf("strategy %s cannot take over: %s", h.Name, h.Reason)
	}
	return nil
}

// TakeOver lets strategies of next, which Prepare and CatchUp have brought here, take over from
// those of the same names, and all limits of next hold from now on. What the strategies have at the
// exchange and in the account stays, with two exceptions: their resting entries are cancelled, and
// what would buy later ends. Brackets, halts, timers and the use of limits stay. Strategies that
// are not in changed go on untouched. The old strategies are not told.
//
// The own state (strategy.Saver) of the old strategies is loaded into the new ones first. An error
// of that leaves e as it was. next is unusable afterwards.
func (e *Engine) TakeOver(at market.Time, next *Engine, changed []market.StrategyID) ([]market.Command, error) {
	e.begin(at)
	for _, id := range changed {
		if err := e.handState(&e.slots[id-1], &next.slots[id-1]); err != nil {
			return nil, fmt.Errorf("strategy %s: %w", e.slots[id-1].Name, err)
		}
	}
	e.gate.TakeLimits(next.gate)
	e.observed = e.observed || e.gate.Observes()
	for _, id := range changed {
		s := &e.slots[id-1]
		e.cancelEntries(s)
		e.replaces.Drop(id, "the parameters of the strategy have changed")
		e.groups.TakeOver(id, next.groups, next.slots[id-1].wait.Warms())
		e.replaceStrategy(s, &next.slots[id-1])
	}
	e.saves.changed = true
	e.notifySent()
	return e.out, nil
}

// handState loads the own state of a strategy into the one that takes over.
func (e *Engine) handState(s, next *strategyState) error {
	if s.saver == nil && next.saver == nil {
		return nil
	}
	if s.saver == nil || next.saver == nil {
		return errors.New("one of the two saves a state and the other does not; restart the bot")
	}
	e.calls.begin(s.id, CallSave, e.now)
	data, err := s.save(nil, e.saves.limit)
	e.calls.end()
	if err != nil {
		if s.halted {
			return nil // halted because it cannot be saved: the new one begins without a state
		}
		return fmt.Errorf("save its state: %w", err)
	}
	if data == nil {
		data = []byte{}
	}
	e.calls.begin(s.id, CallLoad, e.now)
	defer e.calls.end()
	if err := next.loadOwn(data); err != nil {
		return fmt.Errorf("load its state with the new parameters: %w", err)
	}
	return nil
}

// replaceStrategy puts the strategy of another engine into a slot.
func (e *Engine) replaceStrategy(s, next *strategyState) {
	next.desk.Move(asks{e})
	s.Strategy, s.desk, s.window, s.Warmup = next.Strategy, next.desk, next.window, next.Warmup
	s.onOrder, s.onFill, s.onTimer = next.onOrder, next.onFill, next.onTimer
	s.onUnprotected, s.onCloseFailed = next.onUnprotected, next.onCloseFailed
	s.skipper, s.saver = next.skipper, next.saver
	s.onCandles, s.onSignal, s.Signals = next.onCandles, next.onSignal, next.Signals
	e.signals.Want(s.id, s.Signals)
	s.unsaved, s.called = "", true
	e.refusals.Forget(s.id)
	s.trespass.Store(nil)
	s.wait.TakeOver(&next.wait)
}
