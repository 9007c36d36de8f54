package runner

import (
	"slices"

	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// maxNewerRuns is how many runs of the state file may have sent an order that it does not have: the
// last one, and those after which a start failed.
const maxNewerRuns = 4

// newerThan is what shows that an order is this bot's and newer than the state file. last is the
// file's highest number. Call it before this start writes to the file.
func (r *runner) newerThan(last market.OrderID) (*live.Newer, error) {
	n := &live.Newer{Last: last, Owner: r.ownerOf}
	runs, err := r.store.Runs()
	if err != nil {
		return nil, err
	}
	for i := range runs[max(0, len(runs)-maxNewerRuns):] {
		n.Runs = append(n.Runs, runs[len(runs)-1-i].Run)
	}
	number, err := r.store.LastNumber()
	if err != nil {
		return nil, err
	}
	return n, r.store.Entries(number, func(e *journal.Entry) error {
		n.Since = e.At
		return nil
	})
}

// ownerOf is the strategy of an order in a market: the one with its operator id and, where several
// have it, the one with the largest position. Where none has it and proven is true, the operator id
// has been changed in the config: any of the market's strategies is meant.
func (r *runner) ownerOf(o *market.Order, proven bool) (id market.StrategyID) {
	most, same := market.Qty(-1), false
	for i := range r.plan.Strategies {
		s := &r.plan.Strategies[i]
		trades := slices.ContainsFunc(s.Markets, func(m *market.Market) bool { return m.ID == o.Market })
		operates := s.Limits.OperatorID == o.OperatorID
		if !trades || same && !operates || !operates && !proven {
			continue
		}
		if held := r.account.Position(strategyID(i+1), o.Market).Amount; held > most || operates && !same {
			id, most, same = strategyID(i+1), held, operates
		}
	}
	return id
}
