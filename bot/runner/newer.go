package runner

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// maxNewerRuns is of how many runs orders are looked for that the state file does not have.
const maxNewerRuns = 8

// newerThan is what shows that an order is this bot's and newer than the state file. last is the
// file's highest number. Call it before this start writes to the file.
func (r *runner) newerThan(last market.OrderID) (*live.Newer, error) {
	n := &live.Newer{Owners: r.ownersOf}
	runs, err := r.store.Runs()
	if err != nil {
		return nil, err
	}
	saved, err := statedir.ReadNewer(r.store)
	if err != nil {
		return nil, err
	}
	n.Runs, n.Orders = saved.Runs, saved.Orders
	if len(runs) > 0 {
		n.First = runs[0].At
		n.Runs = slices.Insert(n.Runs, 0, live.Run{ID: runs[len(runs)-1].Run, Last: last})
	}
	n.Runs = n.Runs[:min(len(n.Runs), maxNewerRuns)]
	r.journal.newer.runs = n.Runs
	if n.Unknown, err = r.savedParts(saved.Unknown); err != nil {
		return nil, err
	}
	if n.Lent, err = r.savedParts(saved.Lent); err != nil {
		return nil, err
	}
	number, err := r.store.LastNumber()
	if err != nil {
		return nil, err
	}
	err = r.store.Entries(number, func(e *journal.Entry) error {
		n.Since = e.At
		if end, is := e.Record.(*journal.Stop); is && len(n.Runs) > 0 && end.Run == n.Runs[0].ID {
			r.journal.newer.runs = n.Runs[1:] // the file has all orders of that run
		}
		return nil
	})
	if saved.Since != 0 { // a start has failed since
		n.Since = saved.Since
	}
	return n, err
}

// savedParts are parts of positions that earlier starts have saved. Those of a strategy or a market
// that is gone are left out: a start refuses where more than dust of them is held.
func (r *runner) savedParts(saved []statedir.UnknownExit) (list []live.UnknownExit, err error) {
	for i := range saved {
		u := &saved[i]
		at, m := slices.Index(r.plan.Names(), u.Strategy), r.plan.Catalog.MarketNamed(u.Market)
		if at < 0 || m == nil {
			continue
		}
		amount, err := m.ParseQty(u.Amount)
		if err != nil {
			return nil, fmt.Errorf("newer orders in the state file: %w", err)
		}
		one := live.UnknownExit{Strategy: strategyID(at + 1), Market: m.ID, Amount: amount, Since: u.Since}
		if same := slices.IndexFunc(list, one.Same); same >= 0 { // of a strategy that has handed over to another
			list[same].Amount, list[same].Since = list[same].Amount+amount, max(list[same].Since, u.Since)
			continue
		}
		list = append(list, one)
	}
	return list, nil
}

// savedNewer is what the state file has of newer orders.
type savedNewer struct {
	newer   *live.Newer // nil: no run came before
	runs    []live.Run  // those that the next start is to know
	begun   bool        // this start has saved it
	settled bool        // the rest is as saved last
	list    []live.UnknownExit
	orders  []market.OrderID
	lent    []live.UnknownExit
}

// saveNewer puts what is known of newer orders into the batch, where that has changed.
func (j *botJournal) saveNewer() {
	was, n := &j.newer, j.newer.newer
	if n == nil {
		return
	}
	left, orders := n.Left(j.account)
	if was.begun && was.settled == n.Settled && slices.Equal(left, was.list) && slices.Equal(orders, was.orders) &&
		slices.Equal(n.Lent, was.lent) {
		return
	}
	was.begun, was.settled, was.list, was.orders = true, n.Settled, slices.Clone(left), orders
	was.lent = slices.Clone(n.Lent)
	saved := statedir.Newer{Runs: was.runs, Orders: orders}
	if !n.Settled {
		saved.Since = n.Since
	}
	saved.Unknown, saved.Lent = j.saveParts(left), j.saveParts(n.Lent)
	if text, err := saved.Append(nil); err == nil { // names and numbers
		j.batch.Blob(statedir.NewerBlob, text)
	}
}

func (j *botJournal) saveParts(list []live.UnknownExit) (saved []statedir.UnknownExit) {
	for _, u := range list {
		m := j.account.Catalog().Market(u.Market)
		saved = append(saved, statedir.UnknownExit{Strategy: j.names[u.Strategy-1], Market: m.Name,
			Amount: m.FormatQty(u.Amount), Since: u.Since})
	}
	return saved
}

// ownersOf are the strategies that an order in a market may be of: those with its operator id. Of a
// sale the first is the one whose free base fits its amount best; then the larger position counts.
// Where none has the operator id and proven is true, it has been changed in the config: any of the
// market's strategies is meant.
func (r *runner) ownersOf(o *market.Order, proven bool) []market.StrategyID {
	var same, others []market.StrategyID
	for i := range r.plan.Strategies {
		s := &r.plan.Strategies[i]
		switch trades := slices.ContainsFunc(s.Markets, func(m *market.Market) bool { return m.ID == o.Market }); {
		case trades && s.Limits.OperatorID == o.OperatorID:
			same = append(same, strategyID(i+1))
		case trades && proven:
			others = append(others, strategyID(i+1))
		}
	}
	if len(same) == 0 {
		same = others
	}
	off := func(id market.StrategyID) market.Money { // an exit sells what no other order holds
		if o.Side == market.Buy {
			return 0
		}
		free, _ := r.account.Balance(id, r.plan.Catalog.Market(o.Market).Base)
		return max(free-market.Money(o.Amount), market.Money(o.Amount)-free)
	}
	slices.SortStableFunc(same, func(x, y market.StrategyID) int {
		return cmp.Or(cmp.Compare(off(x), off(y)),
			cmp.Compare(r.account.Position(y, o.Market).Amount, r.account.Position(x, o.Market).Amount))
	})
	return same
}

// checkpoints are how the balances of the exchange stand beside the books.
type checkpoints struct {
	balances  map[string]statedir.BalanceCheckpoint // by symbol
	explained bool                                  // a difference, since they were last kept
}

// Checkpoint keeps how a balance stands beside the books: at once where that is new, or follows a
// difference that was explained, which the next run is not to explain again; otherwise once a
// minute.
func (j *botJournal) Checkpoint(asset market.AssetID, a live.BalanceCheckpoint) {
	symbol := j.account.Catalog().Asset(asset).Symbol
	before, known := j.agreed.balances[symbol]
	j.agreed.balances[symbol] = statedir.BalanceCheckpoint(a)
	if !known || before.Surplus != a.Surplus || j.agreed.explained {
		j.agreed.explained = false
		j.saveAgreed()
	}
}

func (j *botJournal) saveAgreed() {
	text, _ := json.Marshal(j.agreed.balances) // names and numbers
	j.batch.Blob(statedir.AgreedBlob, text)
}

// Discrepancy journals a difference of the balances.
func (j *botJournal) Discrepancy(at market.Time, d *state.Discrepancy) {
	j.agreed.explained = true
	j.batch.Journal(at, &journal.Difference{Discrepancy: *d})
}

// agreements loads the balance checkpoints of the last run, less the money given to strategies
// since.
func (r *runner) agreements() (map[market.AssetID]live.BalanceCheckpoint, error) {
	noted, err := statedir.ReadCheckpoints(r.store)
	if err != nil {
		return nil, err
	}
	agreed := map[market.AssetID]live.BalanceCheckpoint{}
	for symbol, a := range noted {
		if symbol == r.plan.Currency.Symbol {
			a.Surplus -= r.funds.given
			noted[symbol] = a
		}
		if asset := r.plan.Catalog.AssetNamed(symbol); asset != nil {
			agreed[asset.ID] = live.BalanceCheckpoint(a)
		}
	}
	r.journal.agreed.balances = noted
	return agreed, nil
}

// owns reports whether an order that has ended is in the state file.
func (r *runner) owns(client uuid.UUID) bool {
	_, err := r.store.OrderByClientID(client)
	return !errors.Is(err, bolt.ErrNotFound)
}

// ended is an own order from the state file, by client order id; nil where there is none or it
// cannot be read.
func (r *runner) ended(client uuid.UUID) *state.Order {
	row, err := r.store.OrderByClientID(client)
	if errors.Is(err, bolt.ErrNotFound) {
		return nil
	}
	var fills []journal.FillRow
	if err == nil {
		fills, err = r.store.FillsOf(row.ID)
	}
	if err != nil {
		r.log.Error().Err(err).Stringer("client_order_id", client).
			Msg("an order that the exchange lists as open cannot be read from the state file")
		return nil
	}
	return row.Ended(fills)
}
