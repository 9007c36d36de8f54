package engine

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// SavedMarkets lists the markets, by strategy and sorted, in which saved parts have base, an order
// or a tactic: Restore needs them.
func SavedMarkets(saved map[string][]byte) (map[string][]string, error) {
	markets, err := state.SavedMarkets(saved[PartAccount], savedOrders(saved))
	if err != nil {
		return nil, err
	}
	s, err := engineOf(saved)
	if err != nil {
		return nil, err
	}
	for i := range s.Tactics {
		t := &s.Tactics[i]
		list := append(markets[t.Strategy], t.Market)
		slices.Sort(list)
		markets[t.Strategy] = slices.Compact(list)
	}
	return markets, nil
}

// SavedSlots lists the strategies of saved parts, by name.
func SavedSlots(saved map[string][]byte) (map[string]SavedSlot, error) {
	s, err := engineOf(saved)
	return s.Strategies, err
}

// engineOf is the engine's own part of saved parts.
func engineOf(saved map[string][]byte) (s SavedEngine, err error) {
	if err = market.ParseSaved(saved[PartEngine], savedVersion, &s); err != nil {
		err = fmt.Errorf("engine: %w", err)
	}
	return s, err
}

// SavedExits are the brackets of saved parts that hold base, and the orders at the exchange that
// protect or sell it.
func SavedExits(saved map[string][]byte) (brackets []bracket.Saved, orders []market.OrderID, err error) {
	s, err := engineOf(saved)
	if err != nil {
		return nil, nil, err
	}
	for i := range s.Brackets {
		if b := &s.Brackets[i]; b.Amount > 0 {
			brackets = append(brackets, *b)
		}
		orders = append(orders, s.Brackets[i].Exit)
	}
	for i := range s.Closes {
		orders = append(orders, s.Closes[i].Sale)
	}
	return brackets, slices.DeleteFunc(orders, func(id market.OrderID) bool { return id == 0 }), nil
}

// savedOrders are the parts that are orders.
func savedOrders(saved map[string][]byte) (orders [][]byte) {
	for part, text := range saved {
		if strings.HasPrefix(part, PartOrder) {
			orders = append(orders, text)
		}
	}
	return orders
}

// Restore brings a new engine, with its account, gate and strategies, to the state in which Save
// wrote the parts; it replaces Start. saved has the bytes of the parts by name.
// history yields the candles before the save, in groups as Step takes them, at least those of every
// warm-up; nil yields none. Each strategy with a warm-up sees them again, with its asks refused and
// its timers not set; its own state (strategy.Saver) is loaded afterwards. at is the time of the
// restart; the engine's time is that or the last event's.
//
// Strategies are matched by name. A new one is started as by Start and warmed up by history; one
// that is no longer configured must have left nothing behind; one whose own state cannot be loaded
// is halted. The commands are the asks of new
// strategies and the cancels of strategies that panicked; they are valid until the next Step. An
// error names the part and the difference, or comes from history; the engine is unusable then.
func (e *Engine) Restore(at market.Time, saved map[string][]byte,
	history iter.Seq2[[]market.Candle, error]) ([]market.Command, error) {
	r, err := newRestorer(e, saved)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	s := &r.engine
	e.begin(max(at, s.Now))
	if err := r.warmUp(history); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	e.now, e.at = max(at, s.Now), 0
	for i := range e.slots {
		e.calls.begin(e.slots[i].id, CallLoad, e.now)
		err := e.slots[i].load(s, saved)
		e.calls.end()
		if err != nil {
			r.haltUnloaded(&e.slots[i], err)
		}
	}
	for i := range e.slots {
		if !e.slots[i].halted {
			e.brackets.Readmit(e.slots[i].id)
		}
	}
	if e.now > s.Now {
		e.brackets.Resume()
	}
	e.replaces.DropSaved(s.Replaces)
	e.tactics.Resume(s.Now)
	e.notifySent()
	e.watchTactics()
	return e.out, nil
}

// restorer brings a new engine to a saved state.
type restorer struct {
	*Engine
	engine SavedEngine // its own part
	names  []string    // of the strategies
}

// newRestorer restores everything but the strategies of a new engine.
func newRestorer(e *Engine, saved map[string][]byte) (*restorer, error) {
	names, err := e.names()
	if err != nil {
		return nil, err
	}
	for _, part := range [...]string{PartAccount, PartPrices, PartGate, PartEngine} {
		if saved[part] == nil {
			return nil, fmt.Errorf("nothing was saved of %s", part)
		}
	}
	err = errors.Join(e.account.Restore(saved[PartAccount], savedOrders(saved), names),
		e.account.RestorePrices(saved[PartPrices]), e.gate.Restore(saved[PartGate], names))
	if err != nil {
		return nil, err
	}
	if closes := saved[PartCloses]; closes != nil {
		if err := e.gate.RestoreCloses(closes, names); err != nil {
			return nil, err
		}
	}
	r := &restorer{Engine: e, names: names}
	if r.engine, err = engineOf(saved); err != nil {
		return nil, err
	}
	if err := r.self(); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	return r, nil
}

// self restores the engine's own part; the account is restored already.
func (r *restorer) self() error {
	e, s, names := r.Engine, &r.engine, r.names
	e.lastID = s.LastID
	for _, o := range e.account.Open(nil, 0, 0) {
		if o.ID > s.LastID {
			return fmt.Errorf("order %d is open and the last one was %d: engine and account were not saved together",
				o.ID, s.LastID)
		}
	}
	for _, o := range e.account.Pending(nil) {
		e.brackets.Outside(o)
	}
	err := errors.Join(e.brackets.RestoreTimes(s.ByCause),
		e.brackets.Restore(s.Brackets, names, s.LastID))
	if err == nil {
		err = errors.Join(e.brackets.RestoreCloses(s.Closes, names, s.LastID),
			e.brackets.RestoreDepartures(s.Departures, names))
	}
	if err != nil {
		return err
	}
	e.rebalances.Restore(s.Rebalances)
	if err := e.tactics.Restore(s.Tactics, s.LastID); err != nil {
		return err
	}
	e.timers.Restore(s.Timers)
	e.signals.Restore(s.Signals)
	for _, h := range s.Halts {
		if slot := e.slotNamed(h.Strategy); slot != nil {
			e.halts = append(e.halts, Halt{Strategy: slot.id, Name: h.Strategy, At: h.At, Reason: h.Reason})
		}
	}
	for i := range e.slots {
		if err := r.checkMarkets(&e.slots[i]); err != nil {
			return err
		}
		e.slots[i].halted = s.Strategies[e.slots[i].Name].Halted
	}
	return nil
}

// checkMarkets requires that a strategy still trades every market where it has a position or an
// order, except one that has gone, and dust.
func (r *restorer) checkMarkets(s *strategyState) error {
	for _, m := range r.catalog.Markets() {
		if m.Status == market.Delisted || slices.Contains(s.Markets, m.ID) {
			continue
		}
		held := r.account.Position(s.id, m.ID).Amount
		if held > 0 && !r.brackets.IsDust(m.ID, held) || len(r.account.Open(nil, s.id, m.ID)) > 0 {
			return fmt.Errorf("strategy %s holds %s of %s, or has orders there, and does not trade it any more; take "+
				"it back into the config",
				s.Name, m.FormatQty(held), m.Name)
		}
	}
	return nil
}

func (e *Engine) slotNamed(name string) *strategyState {
	for i := range e.slots {
		if e.slots[i].Name == name {
			return &e.slots[i]
		}
	}
	return nil
}

// warmUp calls OnStart, with the asks of strategies that were running before refused, and shows the
// strategies the candles of their warm-up again, each at its own time.
func (r *restorer) warmUp(history iter.Seq2[[]market.Candle, error]) error {
	for i := range r.slots {
		_, r.replaying = r.engine.Strategies[r.slots[i].Name]
		r.guard(&r.slots[i], CallStart)
	}
	if err := r.show(history); err != nil {
		return err
	}
	for i := range r.slots {
		slot := &r.slots[i]
		r.groups.Resume(slot.id, r.engine.Strategies[slot.Name].Group)
		slot.wait.Resume(r.engine.Strategies[slot.Name].Warmed)
	}
	return nil
}

// show shows the strategies past candles, in the groups in which they closed, with their asks
// refused; nil: there are none.
func (e *Engine) show(history iter.Seq2[[]market.Candle, error]) error {
	e.replaying = true
	defer func() { e.replaying = false }()
	if history == nil {
		return nil
	}
	for group, err := range history {
		if err != nil {
			return err
		}
		e.gate.Closes(group)
		if e.groups.Open() > 0 {
			e.groups.EndOlder(group)
		}
		for i := range group {
			e.replayCandle(&group[i])
		}
		if e.groups.Wanted() {
			e.groups.Add(group)
		}
	}
	return nil
}

func (e *Engine) replayCandle(c *market.Candle) {
	e.now = c.End()
	for _, s := range e.receivers(c) {
		if !s.wait.Warms() || s.past.Hides(c) {
			continue
		}
		s.wait.CountPast(c)
		e.args.candle = c
		e.guard(s, CallCandle)
	}
}

// haltUnloaded halts a strategy that cannot go on from its saved state. Its brackets guard what it
// holds, and the saved state stays as it is, for a start that can load it.
func (r *restorer) haltUnloaded(s *strategyState, why error) {
	was := r.engine.Strategies[s.Name]
	s.unloaded, s.unsaved = &was, why.Error()
	if s.halted { // of an earlier start
		return
	}
	r.halt(s, fmt.Sprintf("its saved state cannot be loaded: %s; its exits are guarded. Start the bot with the "+
		"parameters and the program of before, then: bot resume %s. Or let a new name take over: bot adopt --fresh "+
		"%s NEW", why, s.Name, s.Name))
}

// load restores a strategy's own state.
func (s *strategyState) load(from *SavedEngine, saved map[string][]byte) error {
	known, was := from.Strategies[s.Name]
	data := saved[PartStrategy+s.Name]
	switch {
	case !was:
		return nil
	case s.saver != nil && known.Saver && data == nil && s.halted:
		return nil // halted because it could never be saved
	case known.Saver != (s.saver != nil) || known.Saver != (data != nil):
		return errors.New("was of another kind; give the new one a name of its own")
	case s.saver == nil:
		return nil
	}
	return s.loadOwn(data)
}

// loadOwn calls the strategy's Load. A panic is an error.
func (s *strategyState) loadOwn(data []byte) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	return s.saver.Load(data)
}
