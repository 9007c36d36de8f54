package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/market"
)

// savedVersion is the shape of SavedEngine. Version 2 keeps why positions have no exit.
const savedVersion = 2

// The parts that Save writes and Restore reads. A strategy's own part is PartStrategy with its
// name.
const (
	PartAccount  = "account"
	PartPrices   = "prices"
	PartGate     = "gate"
	PartEngine   = "engine"
	PartStrategy = "strategy/"
)

// SavedEngine is what an Engine knows beside account, gate and strategies: markets and strategies
// by name, amounts in the units that the account is saved with. What was asked in a step has left
// with its commands, so nothing of it is kept.
type SavedEngine struct {
	Now         market.Time          `json:"now"`
	LastID      market.OrderID       `json:"lastId"` // order numbers go on from here and are never used again
	Strategies  map[string]SavedSeat `json:"strategies"`
	Brackets    []bracket.Saved      `json:"brackets,omitempty"`
	Timers      []SavedTimer         `json:"timers,omitempty"` // in the order in which they ring
	Halts       []SavedHalt          `json:"halts,omitempty"`
	Unprotected market.Duration      `json:"unprotected,omitzero"` // nanoseconds, all causes
	ByCause     bracket.SavedTimes   `json:"unprotectedBy,omitempty"`
}

// SavedSeat is how a strategy stands.
type SavedSeat struct {
	Warmed bool `json:"warmed,omitzero"` // its warm-up is over
	Halted bool `json:"halted,omitzero"`
	Saver  bool `json:"saver,omitzero"` // it has a part of its own
}

// SavedTimer is a time that a strategy asked for.
type SavedTimer struct {
	Strategy string      `json:"strategy"`
	At       market.Time `json:"at"`
	Name     int64       `json:"name"`
}

// SavedHalt is a strategy that was stopped.
type SavedHalt struct {
	Strategy string      `json:"strategy"`
	At       market.Time `json:"at"`
	Reason   string      `json:"reason"`
}

// ledger is what the engine remembers of Save.
type ledger struct {
	changed bool // the engine's own part, since it was saved; brackets are compared
	priced  int  // markets with a price when these were saved
	next    []byte
	last    map[string][]byte
}

// Save calls write for every part of the state that has changed since the last Save; data is valid
// until write returns. Call it between steps, in the transaction that holds the step's commands, so
// that a process that is killed anywhere goes on by Restore as if nothing had happened. What moves
// with prices and nothing else (latest prices, latest equity, counts of refusals) is no change:
// call SaveAll now and then, once a minute say, and when the process ends. An error of write is
// returned as it is; where the transaction fails later, SaveAll in the next. After an arithmetic
// error (Err) nothing is saved. A strategy that cannot say what it knows keeps what it said before:
// call HaltUnsaved after each Save.
//
// The names of the strategies must be there and differ, because they are what Restore matches by.
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
	b := &e.book
	w := partWriter{book: b, all: all, room: e.saveRoom, write: write}
	w.part(PartAccount, e.account.Changed(), func(dst []byte) ([]byte, error) { return e.account.Save(dst, names) })
	w.part(PartPrices, e.account.Priced() != b.priced, e.account.SavePrices)
	w.part(PartGate, e.gate.Changed(), func(dst []byte) ([]byte, error) { return e.gate.Save(dst, names) })
	w.part(PartEngine, b.changed || e.brackets.Changed(),
		func(dst []byte) ([]byte, error) { return e.saveSelf(dst, names) })
	for i := range e.seats {
		if s := &e.seats[i]; s.saver != nil && s.unsaved == "" {
			e.calls.enter(s.id, CallSave, e.now)
			w.strategy(s)
			e.calls.leave()
		}
	}
	if w.err != nil {
		return w.err
	}
	e.account.Saved()
	e.gate.Saved()
	e.brackets.MarkSaved()
	b.changed, b.priced = false, e.account.Priced()
	for i := range e.seats {
		e.seats[i].called = false
	}
	return nil
}

// partWriter writes parts until the first error.
type partWriter struct {
	book  *ledger
	all   bool
	room  int // bytes of a strategy's own part
	write func(part string, data []byte) error
	err   error
}

// part writes a part that may have changed or was never written, unless it is the same as the last
// time.
func (w *partWriter) part(name string, changed bool, save func([]byte) ([]byte, error)) {
	last, known := w.book.last[name]
	if w.err != nil || known && !changed && !w.all {
		return
	}
	data, err := save(w.book.next[:0])
	switch {
	case err == errUnsaved:
		return
	case err != nil:
		w.err = fmt.Errorf("%s: %w", name, err)
		return
	}
	w.book.next = data
	if known && !w.all && bytes.Equal(last, data) {
		return
	}
	if w.err = w.write(name, data); w.err == nil {
		w.book.last[name] = append(last[:0], data...)
	}
}

// strategy writes what a strategy knows. One that cannot tell is for HaltUnsaved: it keeps nobody
// else from being saved.
func (w *partWriter) strategy(s *seat) {
	w.part(PartStrategy+s.Name, s.called, func(dst []byte) ([]byte, error) {
		all, err := s.save(dst, w.room)
		if err != nil {
			s.unsaved = err.Error()
			return nil, errUnsaved
		}
		return all, nil
	})
}

// errUnsaved says that a part is left out.
var errUnsaved = errors.New("left out")

// names are the strategies' names by StrategyID − 1.
func (e *Engine) names() ([]string, error) {
	names := make([]string, len(e.seats))
	for i := range e.seats {
		name := e.seats[i].Name
		if name == "" || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("engine: strategy %d is named %q; give each a name of its own", i+1, name)
		}
		names[i] = name
	}
	return names, nil
}

// save appends what the strategy knows, room bytes at most. A panic is an error.
func (s *seat) save(dst []byte, room int) (all []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	data, err := s.saver.Save()
	if err == nil && len(data) > room {
		return nil, fmt.Errorf("it has %d bytes, and may have %d; keep less, or raise bot.save_kb", len(data), room)
	}
	return append(dst, data...), err
}

func (e *Engine) saveSelf(dst []byte, names []string) ([]byte, error) {
	s := SavedEngine{Now: e.now, LastID: e.lastID, Strategies: make(map[string]SavedSeat, len(e.seats)),
		Brackets: e.brackets.Save(names)}
	s.ByCause, s.Unprotected = e.brackets.SaveTimes()
	for i := range e.seats {
		seat := &e.seats[i]
		s.Strategies[seat.Name] = SavedSeat{Warmed: !seat.warming || seat.warmed, Halted: seat.halted,
			Saver: seat.saver != nil}
	}
	for _, t := range e.timers {
		s.Timers = append(s.Timers, SavedTimer{Strategy: t.seat.Name, At: t.at, Name: t.name})
	}
	for _, h := range e.halts {
		s.Halts = append(s.Halts, SavedHalt{Strategy: h.Name, At: h.At, Reason: h.Reason})
	}
	return market.AppendSaved(dst, savedVersion, &s)
}
