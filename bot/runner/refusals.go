package runner

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// refusals collects the gate's refusals for the journal. Those of a kind (one strategy, market,
// side, command and reason) are counted together. So a strategy that is
// refused at every price costs a few dozen entries a day, and no commit of its own.
type refusals struct {
	pending []*refusedKind // of this step or turn: they wait for their cause
	kinds   map[refusalKey]*refusedKind
}

// refusalKey is the kind of a refusal.
type refusalKey struct {
	strategy market.StrategyID
	market   market.ID
	command  market.CommandKind
	side     market.Side
	reason   string
}

// refusedKind is what was refused of a kind since its last journal entry.
type refusedKind struct {
	repeats
	refusal journal.Refusal // the last one
}

// refuse adds a refusal.
func (r *refusals) refuse(at market.Time, key refusalKey, refusal *journal.Refusal) {
	k := r.kinds[key]
	if k == nil {
		k = &refusedKind{}
		r.kinds[key] = k
	}
	k.add(at)
	k.refusal = *refusal
	k.refusal.Count, k.refusal.First = k.count, k.first
	if !slices.Contains(r.pending, k) {
		r.pending = append(r.pending, k)
	}
}

// setCause ends a step: it sets the cause of its refusals, and writes those that are the first of
// their kind.
func (r *refusals) setCause(causeOf func(of market.StrategyID, in market.ID) journal.Cause,
	write func(market.Time, *journal.Refusal)) {
	for _, k := range r.pending {
		o := &k.refusal.Command.Order
		k.refusal.Cause = causeOf(o.Strategy, o.Market)
		if k.wait == 0 {
			k.write(write)
		}
	}
	r.pending = r.pending[:0]
}

func (k *refusedKind) write(write func(market.Time, *journal.Refusal)) {
	write(k.last, &k.refusal)
	k.wrote()
}

// writeDue writes the kinds whose wait is over, or all, and drops those that did not occur for an
// hour.
func (r *refusals) writeDue(at market.Time, all bool, write func(market.Time, *journal.Refusal)) {
	for _, key := range slices.SortedFunc(maps.Keys(r.kinds), compareRefusals) {
		switch k := r.kinds[key]; {
		case k.due(at) || all && k.count > 0:
			k.write(write)
		case k.over(at):
			delete(r.kinds, key)
		}
	}
}

func compareRefusals(a, b refusalKey) int {
	return cmp.Or(cmp.Compare(a.strategy, b.strategy), cmp.Compare(a.market, b.market),
		cmp.Compare(a.command, b.command), cmp.Compare(a.side, b.side), cmp.Compare(a.reason, b.reason))
}

// counted are the refusals that are not in the journal yet.
func (r *refusals) counted() (list []journal.Refusal) {
	for _, key := range slices.SortedFunc(maps.Keys(r.kinds), compareRefusals) {
		if k := r.kinds[key]; k.count > 0 {
			list = append(list, k.refusal)
		}
	}
	return list
}

// refused adds a refusal of the gate.
func (j *botJournal) refused(asked, rounded *market.Command, why *risk.Refusal) {
	o, catalog := &asked.Order, j.account.Catalog()
	refusal := journal.Refusal{Strategy: j.names[o.Strategy-1], Command: *asked, Rounded: state.TermsOf(&rounded.Order),
		Reason: why.Word()}
	var m *market.Market
	if o.Market > 0 && int(o.Market) <= len(catalog.Markets()) {
		m = catalog.Market(o.Market)
	} else {
		refusal.Command.Order.Market = 0 // a journal knows markets by name
	}
	currency := j.plan.Currency
	refusal.Have, refusal.Limit = why.Values(m, currency)
	refusal.Detail = why.Words(m, currency)
	key := refusalKey{o.Strategy, refusal.Command.Order.Market, asked.Kind, o.Side, refusal.Reason}
	j.refusals.refuse(asked.At, key, &refusal)
}

func (j *botJournal) journalRefusal(at market.Time, r *journal.Refusal) {
	j.batch.Journal(max(at, j.at), r)
}
