package runner

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/folder"
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
	if n.Unknown, err = r.unknownExits(); err != nil {
		return nil, err
	}
	return n, r.store.Entries(number, func(e *journal.Entry) error {
		n.Since = e.At
		return nil
	})
}

// unknownExits are the purchases of earlier starts whose exits are not known. Those of a strategy
// or a market that is gone are left out: a start refuses where more than dust of them is held.
func (r *runner) unknownExits() (list []live.UnknownExit, err error) {
	saved, err := folder.ReadUnknown(r.store)
	for i := range saved {
		u := &saved[i]
		at, m := slices.Index(r.plan.Names(), u.Strategy), r.plan.Catalog.MarketNamed(u.Market)
		if at < 0 || m == nil {
			continue
		}
		amount, err := m.ParseQty(u.Amount)
		if err != nil {
			return nil, fmt.Errorf("purchases without a known exit in the state file: %w", err)
		}
		one := live.UnknownExit{Strategy: strategyID(at + 1), Market: m.ID, Amount: amount, Since: u.Since}
		if same := slices.IndexFunc(list, one.Same); same >= 0 { // of a strategy that has handed over to another
			list[same].Amount, list[same].Since = list[same].Amount+amount, max(list[same].Since, u.Since)
			continue
		}
		list = append(list, one)
	}
	return list, err
}

// unknownSaved is what the state file has of the purchases whose exits are not known.
type unknownSaved struct {
	newer *live.Newer // nil: no run came before
	list  []live.UnknownExit
}

// saveUnknown puts the purchases whose exits are not known into the batch, where they have changed.
func (j *botJournal) saveUnknown() {
	if j.unknown.newer == nil {
		return
	}
	left := j.unknown.newer.Left(j.account)
	if slices.Equal(left, j.unknown.list) {
		return
	}
	j.unknown.list = slices.Clone(left)
	rows := make([]folder.UnknownExit, len(left))
	for i, u := range left {
		m := j.account.Catalog().Market(u.Market)
		rows[i] = folder.UnknownExit{Strategy: j.names[u.Strategy-1], Market: m.Name, Amount: m.FormatQty(u.Amount),
			Since: u.Since}
	}
	if text, err := folder.AppendUnknown(nil, rows); err == nil { // names and numbers
		j.batch.Blob(folder.UnknownBlob, text)
	}
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
