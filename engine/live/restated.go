package live

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/engine/verify"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Another key of the account, or the exchange's own page, can change an own order. A record with
// other terms than the sent ones counts as none until a second answer, asked for later, shows the
// same terms: then they are taken over. Terms that the strategy's money does not cover halt it.

// restatement is a change of an own order by someone else that one answer has shown.
type restatement struct {
	asked   market.Time // the answer that showed it
	updated market.Time // of the order, by that answer
	terms   state.Terms
	broken  []verify.Broken // by the answer, if it is false
}

// restatements are the changes of own orders by someone else that the loop has seen.
type restatements struct {
	seen    map[market.OrderID]restatement // shown once
	changed map[market.OrderID]string      // taken over, in words; of orders that still expect something
}

const byOthers = " changed by someone else"

// restated decides about a record that breaks rules because someone else may have changed the
// order. is reports whether that may be.
func (j *auditor) restated(own *state.Order, r *reply, known *verify.OwnOrder, check *verify.Check,
	broken []verify.Broken) (problem string, ok, is bool) {
	if r.from != fromQuery && r.from != fromNotice || r.trusted {
		return "", false, false
	}
	got := &r.record.Order
	before := own.Updated
	if !own.Reported {
		before = got.Created // its place has no answer
	}
	if got.Updated <= before {
		return "", false, false
	}
	now := *known
	now.Change = &verify.PendingUpdate{Order: withTerms(&own.Order, got)}
	if !plausibleTerms(own, got) {
		return "", false, false
	}
	verdict := check.Record(&now, 0, r.record)
	if r.from == fromNotice {
		verdict = check.Event(&now, r.record)
	}
	switch {
	case len(verdict.Broken) > 0 || verdict.Short && r.whole:
		return "", false, false
	case verdict.Short:
		j.queryRest(own.ID, r)
		return "filledAmount is above the fills: the trades are asked for", false, true
	}
	q := j.loop.queryOf(own.ID)
	first, seen := j.restatements.seen[own.ID]
	switch {
	case !covers(j.Account, own, got):
		j.haltRestated(own, got)
		return "the strategy's money does not cover what someone else has made of the order", false, true
	case seen && r.from == fromQuery && r.asked > first.asked && first.terms == state.TermsOf(got):
		delete(j.restatements.seen, own.ID)
		j.takeOver(own, got)
		r.restated = true
		return "", true, true
	case seen && first.updated == got.Updated && first.terms != state.TermsOf(got):
		delete(j.restatements.seen, own.ID)
		return "", false, false // two states of one moment: one of them is false
	}
	j.restatements.seen[own.ID] = restatement{asked: r.asked, updated: got.Updated, terms: state.TermsOf(got),
		broken: slices.Clone(broken)}
	q.in(firstWait, j.now)
	return "someone else may have changed the order: it is asked for again", false, true
}

// unrestated breaks the rule of a restatement that a later answer contradicts.
func (j *auditor) unrestated(own *state.Order, r *reply) {
	before, seen := j.restatements.seen[own.ID]
	if !seen || r.from != fromQuery || r.asked <= before.asked {
		return
	}
	delete(j.restatements.seen, own.ID)
	if r.record.Order.Updated < before.updated {
		j.breach(own, before.broken)
	}
}

// withTerms is an order with the terms of a record that an update can set.
func withTerms(own, got *market.Order) market.Order {
	o := *own
	o.Price, o.TriggerAmount, o.Amount, o.AmountQuote = got.Price, got.TriggerAmount, got.Amount, got.AmountQuote
	o.TimeInForce, o.SelfTradePrevention, o.PostOnly = got.TimeInForce, got.SelfTradePrevention, got.PostOnly
	return o
}

// plausibleTerms reports whether the terms of a record could be set by an update.
func plausibleTerms(own *state.Order, got *market.Order) bool {
	size := got.Amount > 0 && got.AmountQuote == 0
	if own.ByQuote() {
		size = got.AmountQuote > 0
	}
	return size && (!own.Type.HasPrice() || got.Price > 0) && (!own.Type.HasTrigger() || got.TriggerAmount > 0)
}

// covers reports whether the strategy's money covers what a record holds and has filled beyond what
// is booked.
func covers(account *state.Account, own *state.Order, got *market.Order) bool {
	m := account.Catalog().Market(own.Market)
	available, _ := account.Balance(own.Strategy, own.OnHoldCurrency)
	need := got.OnHold
	if got.Done() {
		need = 0
	}
	if own.Side == market.Sell {
		need += market.Money(got.FilledAmount - own.BookedAmount())
	} else {
		cost, err := got.FilledAmountQuote.Sub(own.FilledAmountQuote)
		if err == nil {
			var fees market.Value
			if fees, err = got.FeePaid.Sub(own.FeePaid); err == nil {
				cost, err = cost.Add(fees)
			}
		}
		spent, failed := cost.CeilMoney(m.MoneyDrop())
		if err != nil || failed != nil {
			return false
		}
		need += spent
	}
	return need <= available+own.OnHold
}

// takeOver tells of a change by someone else that is taken over.
func (j *auditor) takeOver(own *state.Order, got *market.Order) {
	m := j.Account.Catalog().Market(own.Market)
	was, is := termsText(m, &own.Order, got), termsText(m, got, &own.Order)
	changed := j.restatements.changed
	changed[own.ID] = was + " to " + is
	maps.DeleteFunc(changed, func(id market.OrderID, _ string) bool { return !j.Account.Expects(id) })
	j.ReconcileLog.ChangedByOthers(changed)
	j.Log.Warn().Int64("order", int64(own.ID)).Str("was", was).Str("is", is).
		Msg("an order was changed by someone else: its new terms are taken over")
	j.ReconcileLog.Discrepancy(j.now, &state.Discrepancy{What: orderText(own.ID) + byOthers, Ours: was, Theirs: is,
		Conclusion: "taken over", Order: own.ID})
}

// haltRestated halts the strategy of an order that someone else has made larger than its money.
func (j *auditor) haltRestated(own *state.Order, got *market.Order) {
	if _, halted := j.Engine.Halted(own.Strategy); halted {
		return
	}
	m := j.Account.Catalog().Market(own.Market)
	was, is := termsText(m, &own.Order, got), termsText(m, got, &own.Order)
	reason := fmt.Sprintf("%s was changed by someone else, from %s to %s, and the strategy's money does not cover "+
		"that: change it back or cancel it at the exchange, then bot resume", orderText(own.ID), was, is)
	j.Log.Error().Int64("order", int64(own.ID)).Str("was", was).Str("is", is).
		Msg("an order was changed by someone else beyond the money of its strategy: the strategy is halted")
	j.ReconcileLog.Discrepancy(j.now, &state.Discrepancy{What: orderText(own.ID) + byOthers, Ours: was, Theirs: is,
		Conclusion: "not booked; halted", Order: own.ID})
	j.loop.halt(own.Strategy, reason)
}

// termsText are the terms of an order that differ from another's.
func termsText(m *market.Market, o, from *market.Order) string {
	var parts []string
	add := func(differs bool, name, text string) {
		if differs {
			parts = append(parts, name+" "+text)
		}
	}
	add(o.Price != from.Price, "price", m.FormatPrice(o.Price))
	add(o.TriggerAmount != from.TriggerAmount, "trigger", m.FormatPrice(o.TriggerAmount))
	add(o.Amount != from.Amount, "amount", m.FormatQty(o.Amount))
	add(o.AmountQuote != from.AmountQuote, "amountQuote", m.FormatMoney(o.AmountQuote))
	add(o.TimeInForce != from.TimeInForce, "timeInForce", o.TimeInForce.String())
	add(o.PostOnly != from.PostOnly, "postOnly", fmt.Sprint(o.PostOnly))
	add(o.SelfTradePrevention != from.SelfTradePrevention, "selfTradePrevention", o.SelfTradePrevention.String())
	return strings.Join(parts, ", ")
}

// ChangedByOthers are the orders that someone else has changed and that still expect something, in
// words. Call it within Look.
func (l *Loop) ChangedByOthers() (list []string) {
	changed := l.auditor.restatements.changed
	maps.DeleteFunc(changed, func(id market.OrderID, _ string) bool { return !l.Account.Expects(id) })
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		list = append(list, orderText(id)+": "+changed[id])
	}
	return list
}

// execOf is how a record without a command of ours is reported.
func (r *reply) execOf() market.ExecutionType {
	if r.restated {
		return market.ExecRestated
	}
	return market.ExecTrade
}
