package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/engine/rebalance"
	"github.com/tidemark-trading/tidemark/engine/replace"
	"github.com/tidemark-trading/tidemark/engine/signal"
	"github.com/tidemark-trading/tidemark/engine/tactic"
	"github.com/tidemark-trading/tidemark/engine/timer"
	"github.com/tidemark-trading/tidemark/market"
)

// savedVersion is the version of SavedEngine.
const savedVersion = 1

// The parts that Save writes and Restore reads. An order's part is PartOrder plus its number; a
// strategy's own part is PartStrategy plus its name.
const (
	PartAccount  = "account"
	PartOrder    = "order/"
	PartPrices   = "prices"
	PartGate     = "gate"
	PartCloses   = "closes" // of a gate with a target for the volatility
	PartEngine   = "engine"
	PartStrategy = "strategy/"
)

// SavedEngine is the engine's state apart from account, gate and strategies: markets and strategies
// by name, amounts in the units of the saved account. The asks of a step have left with its
// commands, so they are not part of it.
type SavedEngine struct {
	Now        market.Time              `json:"now"`
	LastID     market.OrderID           `json:"lastId"` // order numbers go on from here and are never used again
	Strategies map[string]SavedSlot     `json:"strategies"`
	Brackets   []bracket.Saved          `json:"brackets,omitempty"`
	Closes     []bracket.SavedClose     `json:"closes,omitempty"`
	Departures []bracket.SavedDeparture `json:"departures,omitempty"`
	Timers     []timer.Saved            `json:"timers,omitempty"` // in the order in which they fire
	Halts      []SavedHalt              `json:"halts,omitempty"`
	ByCause    bracket.SavedTimes       `json:"unprotectedBy,omitempty"`
	Rebalances []rebalance.Saved        `json:"rebalances,omitempty"`
	Replaces   []replace.Saved          `json:"replaces,omitempty"` // a restart drops them
	Tactics    []tactic.Saved           `json:"tactics,omitempty"`
	Signals    []signal.Saved           `json:"signals,omitempty"` // the latest of each source and market
}

// SavedSlot is a strategy's state in SavedEngine.
type SavedSlot struct {
	Warmed bool `json:"warmed,omitzero"` // it has begun to trade: Config.TradeFrom no longer holds it
	Halted bool `json:"halted,omitzero"`
	Saver  bool `json:"saver,omitzero"` // it has a part of its own

	Group market.Time `json:"group,omitzero"` // end of the newest group of candles that it has had
}

// SavedHalt is the halt of a strategy.
type SavedHalt struct {
	Strategy string      `json:"strategy"`
	At       market.Time `json:"at"`
	Reason   string      `json:"reason"`
}

// snapshotCache holds the parts last written by Save, to leave out those that have not changed.
type snapshotCache struct {
	changed bool // the engine's own part, since it was saved; brackets are compared
	limit   int  // bytes of a strategy's own part: Config.SaveLimit
	priced  int  // markets with a price when prices were saved
	next    []byte
	last    map[string][]byte
}

// Save calls write for every part of the state that has changed since the last Save; data is valid
// until write returns, nil for a part that is to be removed. Call it between steps, in the
// transaction that holds the step's commands, so that a process killed at any point continues by
// Restore as if nothing had happened. Values that move only with prices (latest prices, latest
// equity, counts of refusals) are no change: call SaveAll now and then, once a minute for example,
// and when the process ends. An error of write is returned unchanged. When the transaction fails
// later, the next one must write the same parts, or those of SaveAll in the place of all others.
// After an arithmetic error (Err) nothing is saved. A strategy whose Save fails keeps its last
// saved state: halt those of Unsaved after each Save.
//
// The names of the strategies must be set and differ, because Restore matches by them.
func (e *Engine) Save(write func(part string, data []byte) error) error {
	return e.saveParts(false, write)
}

// SaveAll is Save of every part, changed or not.
func (e *Engine) SaveAll(write func(part string, data []byte) error) error {
	return e.saveParts(true, write)
}

func (e *Engine) saveParts(all bool, write func(part string, data []byte) error) error {
	if e.err != nil {
		return e.err
	}
	names, err := e.names()
	if err != nil {
		return err
	}
	b := &e.saves
	w := partWriter{cache: b, names: names, all: all, write: write}
	w.err = e.account.SaveOrders(names, all, func(id market.OrderID, text []byte) error {
		return write(fmt.Sprintf("%s%012d", PartOrder, id), text)
	})
	w.part(PartAccount, e.account.Changed(), e.account.Save)
	w.part(PartPrices, e.account.Priced() != b.priced,
		func(dst []byte, _ []string) ([]byte, error) { return e.account.SavePrices(dst) })
	w.part(PartGate, e.gate.Changed(), e.gate.Save)
	if e.gate.Estimates() {
		w.part(PartCloses, e.gate.ClosesChanged(), e.gate.SaveCloses)
	}
	w.part(PartEngine, b.changed || e.brackets.Changed(), e.saveSelf)
	for i := range e.slots {
		if s := &e.slots[i]; s.saver != nil && s.unsaved == "" {
			e.calls.begin(s.id, CallSave, e.now)
			w.strategy(s)
			e.calls.end()
		}
	}
	if w.err != nil {
		return w.err
	}
	e.account.Saved()
	e.gate.Saved()
	e.gate.ClosesSaved()
	e.brackets.MarkSaved()
	b.changed, b.priced = false, e.account.Priced()
	for i := range e.slots {
		e.slots[i].called = false
	}
	return nil
}

// partWriter writes parts until the first error.
type partWriter struct {
	cache *snapshotCache
	names []string // of the strategies
	all   bool
	write func(part string, data []byte) error
	err   error
}

// part writes a part that may have changed or was never written, unless its bytes are those of the
// last time.
func (w *partWriter) part(name string, changed bool, save func([]byte, []string) ([]byte, error)) {
	last, known := w.cache.last[name]
	if w.err != nil || known && !changed && !w.all {
		return
	}
	data, err := save(w.cache.next[:0], w.names)
	switch {
	case err == errUnsaved:
		return
	case err != nil:
		w.err = fmt.Errorf("%s: %w", name, err)
		return
	}
	if data == nil {
		data = []byte{}
	}
	w.cache.next = data
	if known && !w.all && bytes.Equal(last, data) {
		return
	}
	if w.err = w.write(name, data); w.err == nil {
		w.cache.last[name] = append(last[:0], data...)
	}
}

// strategy writes a strategy's own state. A strategy whose Save fails is left to Unsaved: the
// others are still saved.
func (w *partWriter) strategy(s *strategyState) {
	w.part(PartStrategy+s.Name, s.called, func(dst []byte, _ []string) ([]byte, error) {
		all, err := s.save(dst, w.cache.limit)
		if err != nil {
			s.unsaved = err.Error()
			return nil, errUnsaved
		}
		return all, nil
	})
}

// errUnsaved: the part is left out.
var errUnsaved = errors.New("left out")

// Names are the strategies' names by StrategyID − 1.
func (e *Engine) Names() (names []string) {
	for i := range e.slots {
		names = append(names, e.slots[i].Name)
	}
	return names
}

// names are the strategies' names by StrategyID − 1.
func (e *Engine) names() ([]string, error) {
	names := make([]string, len(e.slots))
	for i := range e.slots {
		name := e.slots[i].Name
		if name == "" || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("engine: strategy %d is named %q; give each a name of its own", i+1, name)
		}
		names[i] = name
	}
	return names, nil
}

// save appends the strategy's own state, at most limit bytes. A panic is an error.
func (s *strategyState) save(dst []byte, limit int) (all []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	data, err := s.saver.Save()
	if err == nil && len(data) > limit {
		return nil, fmt.Errorf("it has %d bytes, and may have %d; keep less, or raise bot.save_kb", len(data), limit)
	}
	return append(dst, data...), err
}

func (e *Engine) saveSelf(dst []byte, names []string) ([]byte, error) {
	s := SavedEngine{Now: e.now, LastID: e.lastID, Strategies: make(map[string]SavedSlot, len(e.slots)),
		Brackets: e.brackets.Save(names), Closes: e.brackets.SaveCloses(names),
		Departures: e.brackets.SaveDepartures(names)}
	s.ByCause = e.brackets.SaveTimes()
	for i := range e.slots {
		slot := &e.slots[i]
		s.Strategies[slot.Name] = SavedSlot{Warmed: slot.wait.Begun(), Halted: slot.halted,
			Saver: slot.saver != nil, Group: e.groups.Done(slot.id)}
		if slot.unloaded != nil {
			s.Strategies[slot.Name] = SavedSlot{Warmed: slot.unloaded.Warmed, Halted: slot.halted,
				Saver: slot.unloaded.Saver, Group: slot.unloaded.Group}
		}
	}
	s.Rebalances, s.Replaces, s.Tactics = e.rebalances.Save(), e.replaces.Save(), e.tactics.Save()
	s.Timers, s.Signals = e.timers.Save(), e.signals.Save()
	for _, h := range e.halts {
		s.Halts = append(s.Halts, SavedHalt{Strategy: h.Name, At: h.At, Reason: h.Reason})
	}
	return market.AppendSaved(dst, savedVersion, &s)
}
