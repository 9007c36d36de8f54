package engine

import (
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/engine/timer"
	"github.com/tidemark-trading/tidemark/market"
)

// CancelEntries cancels the open orders of all strategies that buy, and ends what would buy later.
// Exits and other sells stay. Before a Restore with other parameters it leaves the positions, and
// nothing that the old parameters have decided about new ones.
func (e *Engine) CancelEntries(at market.Time) []market.Command {
	e.begin(at)
	for i := range e.slots {
		e.cancelEntries(&e.slots[i])
	}
	return e.out
}

// cancelEntries is CancelEntries of one strategy.
func (e *Engine) cancelEntries(s *strategyState) {
	e.rebalances.Drop(s.id)
	e.tactics.EndBuys(s.id)
	for _, o := range e.account.Open(nil, s.id, 0) {
		if o.Side == market.Buy {
			e.cancel(o.ID, nil, false)
		}
	}
}

// CloseAll leaves the positions of all strategies and cancels their orders, as a Close of each
// market does that is decided on a candle's close. Positions that cannot be sold, such as dust, and
// those of halted strategies stay. The Closes go on after a Restore.
func (e *Engine) CloseAll(at market.Time, tag string) []market.Command {
	e.begin(at)
	for i := range e.slots {
		s := &e.slots[i]
		for _, m := range s.Markets {
			if s.halted {
				continue
			}
			err := e.close(s.id, m, 0, tag, true)
			if err != nil {
				s.Log.Info().Str("market", e.catalog.Market(m).Name).Err(err).Msg("the position is not closed")
			}
		}
	}
	return e.out
}

// Anew are saved parts without the memory of the strategies: Restore starts them as new ones and
// warms them up. Positions, orders, Closes, halted strategies and the counters of limits stay.
func Anew(saved map[string][]byte) (map[string][]byte, error) {
	s, err := engineOf(saved)
	if err != nil {
		return nil, err
	}
	parts := maps.Clone(saved)
	for name, slot := range s.Strategies {
		if !slot.Halted {
			delete(s.Strategies, name)
			delete(parts, PartStrategy+name)
		}
	}
	s.Timers = slices.DeleteFunc(s.Timers, func(t timer.Saved) bool { return !s.Strategies[t.Strategy].Halted })
	text, err := market.AppendSaved(nil, savedVersion, &s)
	parts[PartEngine] = text
	return parts, err
}
