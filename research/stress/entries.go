package stress

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// entry is a position that has ended.
type entry struct {
	strategy        market.StrategyID
	market          market.ID
	entered         market.Time // first fill
	decided, exited market.Time
	profit          market.Money // over all of its round trips
}

// witness notes when the first order of each position was decided. It is a backtest.Observer.
type witness struct {
	asked   map[market.OrderID]market.Time
	decided map[fillKey]market.Time
}

// fillKey is a fill of a buy.
type fillKey struct {
	strategy market.StrategyID
	market   market.ID
	at       market.Time
}

// Approved notes when a buy was decided.
func (w *witness) Approved(_ state.Terms, c *market.Command, _ []state.Figure) {
	if c.Kind != market.CommandPlace || c.Order.Side != market.Buy {
		return
	}
	if w.asked == nil {
		w.asked, w.decided = map[market.OrderID]market.Time{}, map[fillKey]market.Time{}
	}
	w.asked[c.Order.ID] = c.At
}

// Filled notes the decision behind a fill.
func (w *witness) Filled(o *state.Order, f *market.Fill) {
	if at, bought := w.asked[o.ID]; bought {
		key := fillKey{o.Strategy, o.Market, f.Time}
		if before, known := w.decided[key]; !known || at < before {
			w.decided[key] = at
		}
	}
}

// Closed forgets an order.
func (w *witness) Closed(o *state.Order) { delete(w.asked, o.ID) }

// Ended has nothing to note.
func (w *witness) Ended(*state.Account) {}

// entries are the positions of a run that have ended, the one with the largest profit first.
func (w *witness) entries(p *backtest.Plan, trades []backtest.RoundTrip) (list []entry) {
	for i := range trades {
		t := &trades[i]
		strategy := slices.IndexFunc(p.Strategies, func(s backtest.StrategyPlan) bool { return s.Name == t.Strategy })
		key := fillKey{market.StrategyID(strategy + 1), p.Catalog.MarketNamed(t.Market).ID, t.Entered}
		at := slices.IndexFunc(list, func(e entry) bool {
			return e.strategy == key.strategy && e.market == key.market && e.entered == key.at
		})
		if at < 0 {
			at = len(list)
			decided, known := w.decided[key]
			if !known {
				decided = t.Entered
			}
			list = append(list, entry{strategy: key.strategy, market: key.market, entered: t.Entered, decided: decided})
		}
		e := &list[at]
		e.profit, e.exited = e.profit+t.Profit.Units, max(e.exited, t.Exited)
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(b.profit, a.profit) })
	return list
}

// leaveOut keeps a plan from some entries.
func leaveOut(p *backtest.Plan, entries []entry) {
	p.Absences = slices.Clone(p.Absences)
	for _, e := range entries {
		p.Absences = append(p.Absences, risk.Absence{Strategy: e.strategy, Market: e.market, From: e.decided,
			To: max(e.exited, e.decided+1)})
	}
}
