package engine

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Restore makes a new engine, with its account, gate and strategies, what it was when Save wrote
// the parts; it takes the place of Start. saved returns what was written of a part, nil where
// nothing was. history yields the candles that the strategies had seen before, in groups as Step
// takes them, at least those of every warm-up: each strategy with a warm-up sees them again, its
// asks refused and its timers not set, and what it knows beyond (strategy.Saver) is loaded
// afterwards. nil yields none. at is the time of the restart; the engine's time is that or the last
// event's.
//
// Strategies are matched by name. One that was not there then is started as Start does and warmed
// up by history; one that is gone must have left nothing behind. The commands are what new
// strategies asked for, and the cancels of strategies that panicked; valid until the next Step. An
// error names the part and the difference, or is that of history; the engine is of no use then.
func (e *Engine) Restore(at market.Time, saved func(part string) []byte,
	history iter.Seq2[[]market.Candle, error]) ([]market.Command, error) {
	names, err := e.names()
	if err != nil {
		return nil, err
	}
	for _, part := range [...]string{PartAccount, PartPrices, PartGate, PartEngine} {
		if saved(part) == nil {
			return nil, fmt.Errorf("restore: nothing was saved of %s", part)
		}
	}
	err = errors.Join(e.account.Restore(saved(PartAccount), names), e.account.RestorePrices(saved(PartPrices)),
		e.gate.Restore(saved(PartGate), names))
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	var s SavedEngine
	if err := market.ParseSaved(saved(PartEngine), savedVersion, &s); err != nil {
		return nil, fmt.Errorf("restore: engine: %w", err)
	}
	if err := e.restoreSelf(&s, names); err != nil {
		return nil, fmt.Errorf("restore: engine: %w", err)
	}
	e.begin(max(at, s.Now))
	e.startAgain(&s)
	if err := e.recall(&s, history); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	e.now, e.at = max(at, s.Now), 0
	for i := range e.seats {
		e.calls.enter(e.seats[i].id, CallLoad, e.now)
		err := e.seats[i].load(&s, saved)
		e.calls.leave()
		if err != nil {
			return nil, fmt.Errorf("restore: strategy %s: %w", e.seats[i].Name, err)
		}
	}
	e.tell()
	return e.out, nil
}

// restoreSelf takes over what is the engine's own; the account is restored already.
func (e *Engine) restoreSelf(s *SavedEngine, names []string) error {
	e.lastID = s.LastID
	for _, o := range e.account.Open(nil, 0, 0) {
		if o.ID > s.LastID {
			return fmt.Errorf("order %d is open and the last one was %d: engine and account were not saved together",
				o.ID, s.LastID)
		}
	}
	err := errors.Join(e.brackets.RestoreTimes(s.ByCause, s.Unprotected),
		e.brackets.Restore(s.Brackets, names, s.LastID))
	if err != nil {
		return err
	}
	for _, t := range s.Timers {
		if seat := e.seatNamed(t.Strategy); seat != nil {
			e.SetTimer(seat.id, t.At, t.Name)
		}
	}
	for _, h := range s.Halts {
		if seat := e.seatNamed(h.Strategy); seat != nil {
			e.halts = append(e.halts, Halt{Strategy: seat.id, Name: h.Strategy, At: h.At, Reason: h.Reason})
		}
	}
	for i := range e.seats {
		if err := e.checkMarkets(&e.seats[i]); err != nil {
			return err
		}
		e.seats[i].halted = s.Strategies[e.seats[i].Name].Halted
	}
	return nil
}

// checkMarkets requires that a strategy still trades where it has something.
func (e *Engine) checkMarkets(s *seat) error {
	for _, m := range e.catalog.Markets() {
		if slices.Contains(s.Markets, m.ID) {
			continue
		}
		held := e.account.Position(s.id, m.ID).Amount
		if held > 0 && held >= m.MinOrderInBase || len(e.account.Open(nil, s.id, m.ID)) > 0 {
			return fmt.Errorf("strategy %s holds %s of %s, or has orders there, and does not trade it any more; take "+
				"it back into the config",
				s.Name, m.FormatQty(held), m.Name)
		}
	}
	return nil
}

func (e *Engine) seatNamed(name string) *seat {
	for i := range e.seats {
		if e.seats[i].Name == name {
			return &e.seats[i]
		}
	}
	return nil
}

// startAgain calls OnStart: of a strategy that was running before, with its asks held.
func (e *Engine) startAgain(s *SavedEngine) {
	for i := range e.seats {
		_, e.recalling = s.Strategies[e.seats[i].Name]
		e.guard(&e.seats[i], CallStart)
	}
	e.recalling = false
}

// recall lets the strategies see the candles of their warm-up again, at the times of these.
func (e *Engine) recall(s *SavedEngine, history iter.Seq2[[]market.Candle, error]) error {
	e.recalling = true
	defer func() { e.recalling = false }()
	if history != nil {
		for group, err := range history {
			if err != nil {
				return err
			}
			for i := range group {
				e.recallOne(&group[i])
			}
		}
	}
	for i := range e.seats {
		seat := &e.seats[i]
		seat.warmed = s.Strategies[seat.Name].Warmed
		if seat.warming && seat.warmed && slices.Max(append(seat.missing, 0)) == 0 {
			e.endWarmUp(seat)
		}
	}
	return nil
}

func (e *Engine) recallOne(c *market.Candle) {
	e.now = c.End()
	for _, s := range e.receivers(c) {
		if s.Warmup == 0 {
			continue
		}
		if c.Interval == s.Intervals[0] && s.missing[c.Market] > 0 {
			s.missing[c.Market]--
		}
		e.given.candle = c
		e.guard(s, CallCandle)
	}
}

// load gives a strategy back what it knew.
func (s *seat) load(from *SavedEngine, saved func(part string) []byte) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	known, was := from.Strategies[s.Name]
	data := saved(PartStrategy + s.Name)
	switch {
	case !was:
		return nil
	case s.saver != nil && known.Saver && data == nil && s.halted:
		return nil // it was halted because it could never be saved
	case known.Saver != (s.saver != nil) || known.Saver != (data != nil):
		return errors.New("was of another kind; give the new one a name of its own")
	case s.saver == nil:
		return nil
	}
	return s.saver.Load(data)
}
