package runner

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// refusals are what the gate refuses, on its way to the journal. The first of a kind (one strategy,
// market, side, command and reason) is journalled with the turn it belongs to. What is refused
// alike after that is counted, and one entry with the last of them is written for all: a minute
// later, then after twice as long each time, up to an hour. A kind that was not seen for an hour
// begins anew. So a strategy that is refused at every price costs a few dozen entries a day, and no
// commit of its own.
type refusals struct {
	news  []*refusedKind // of this step, or turn: they wait for the event that led to them
	kinds map[refusalKey]*refusedKind
}

// refusalKey is what two refusals that are counted together have in common.
type refusalKey struct {
	strategy market.StrategyID
	market   market.ID
	command  market.CommandKind
	side     market.Side
	reason   string
}

// refusedKind is what was refused of a kind since its last entry.
type refusedKind struct {
	refusal journal.Refusal // the last one
	last    market.Time
	wait    market.Duration // between its last entry and the next
	written market.Time
}

const (
	refusalWait = time.Minute
	refusalRest = time.Hour
)

// refuse takes a refusal in.
func (r *refusals) refuse(at market.Time, key refusalKey, refusal *journal.Refusal) {
	k := r.kinds[key]
	if k == nil {
		k = &refusedKind{}
		r.kinds[key] = k
	}
	count, first := k.refusal.Count+1, k.refusal.First
	if count == 1 {
		first = at
	}
	rested := k.last == 0 || count == 1 && at.Sub(k.last) >= refusalRest
	k.refusal, k.last = *refusal, at
	k.refusal.Count, k.refusal.First = count, first
	if !slices.Contains(r.news, k) {
		r.news = append(r.news, k)
	}
	if rested {
		k.wait, k.written = 0, at
	}
}

// caused ends a step: what was refused in it has this cause, and what is the first of its kind is
// written.
func (r *refusals) caused(cause journal.Cause, write func(market.Time, *journal.Refusal)) {
	for _, k := range r.news {
		k.refusal.Cause = cause
		if k.wait == 0 {
			k.write(write)
		}
	}
	r.news = r.news[:0]
}

func (k *refusedKind) write(write func(market.Time, *journal.Refusal)) {
	write(k.last, &k.refusal)
	k.written, k.wait = k.last, min(max(2*k.wait, refusalWait), refusalRest)
	k.refusal.Count, k.refusal.First = 0, 0
}

// due writes what has been counted long enough, or all of it, and forgets what has not come again.
func (r *refusals) due(at market.Time, all bool, write func(market.Time, *journal.Refusal)) {
	for _, key := range slices.SortedFunc(maps.Keys(r.kinds), compareRefusals) {
		switch k := r.kinds[key]; {
		case k.refusal.Count > 0 && (all || at.Sub(k.written) >= k.wait):
			k.write(write)
		case k.refusal.Count == 0 && at.Sub(k.last) >= refusalRest:
			delete(r.kinds, key)
		}
	}
}

func compareRefusals(a, b refusalKey) int {
	return cmp.Or(cmp.Compare(a.strategy, b.strategy), cmp.Compare(a.market, b.market),
		cmp.Compare(a.command, b.command), cmp.Compare(a.side, b.side), cmp.Compare(a.reason, b.reason))
}

// counted are the refusals that no entry tells of yet.
func (r *refusals) counted() (list []journal.Refusal) {
	for _, key := range slices.SortedFunc(maps.Keys(r.kinds), compareRefusals) {
		if k := r.kinds[key]; k.refusal.Count > 0 {
			list = append(list, k.refusal)
		}
	}
	return list
}

// refused takes in what the gate refused.
func (j *botJournal) refused(asked, rounded *market.Command, why *risk.Refusal) {
	o, catalog := &asked.Order, j.account.Catalog()
	refusal := journal.Refusal{Strategy: j.seats[o.Strategy-1], Command: *asked, Rounded: state.TermsOf(&rounded.Order),
		Reason: why.Word()}
	var m *market.Market
	if o.Market > 0 && int(o.Market) <= len(catalog.Markets()) {
		m = catalog.Market(o.Market)
	} else {
		refusal.Command.Order.Market = 0 // a journal knows markets by name
	}
	currency := catalog.Asset(j.currency)
	refusal.Have, refusal.Limit = why.Values(m, currency)
	refusal.Detail = why.Words(m, currency)
	key := refusalKey{o.Strategy, refusal.Command.Order.Market, asked.Kind, o.Side, refusal.Reason}
	j.refusals.refuse(asked.At, key, &refusal)
}

// journalRefusal writes one entry.
func (j *botJournal) journalRefusal(at market.Time, r *journal.Refusal) {
	j.batch.Journal(max(at, j.at), r)
}
