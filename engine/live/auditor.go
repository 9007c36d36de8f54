package live

import (
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/engine/verify"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// auditor has the data, beside the account, against which the loop checks answers: booked fills,
// the terms of unanswered updates, past prices of the markets, and the rules that answers have
// broken.
type auditor struct {
	base
	index    *index
	open     *openList
	fills    map[market.OrderID][]market.Fill // of orders that still expect something
	owners   owners
	changes  map[market.OrderID]market.Order // of unanswered updates: the orders after them
	prices   []priceLog                      // by market
	breaches []Breach                        // of the last day, in order of time

	insistences  insistences
	restatements restatements
}

// HighestFees are the rates of the exchange's highest tier (venue-facts 3.5).
var HighestFees = exchange.Fees{Maker: 200_000, Taker: 250_000}

func newAuditor(c base, x *index, open *openList) auditor {
	j := auditor{base: c, index: x, open: open, fills: map[market.OrderID][]market.Fill{},
		owners: owners{of: map[fillName]market.OrderID{}}, changes: map[market.OrderID]market.Order{},
		breaches: slices.Clone(c.Breaches), insistences: insistences{},
		restatements: restatements{seen: map[market.OrderID]restatement{}, changed: maps.Clone(c.ChangedByOthers)}}
	if j.restatements.changed == nil {
		j.restatements.changed = map[market.OrderID]string{}
	}
	if c.BookedFills != nil {
		c.BookedFills(func(f *market.Fill) { j.owners.add(f) })
		for _, o := range c.Account.Pending(nil) {
			j.fills[o.ID] = slices.Clone(c.FillsOf(o.ID))
			for i := range j.fills[o.ID] {
				j.owners.add(&j.fills[o.ID][i])
			}
		}
	}
	return j
}

// fillName is the exchange's name of a fill: ids are unique in a market.
type fillName struct {
	market market.ID
	id     uuid.UUID
}

// minOwners is the least number of booked fills remembered, so that none is booked for another
// order.
const minOwners = 50_000

// owners maps booked fills to their orders. It holds between minOwners and 2·minOwners fills and
// is trimmed in bulk.
type owners struct {
	of    map[fillName]market.OrderID
	order []fillName
}

func (w *owners) add(f *market.Fill) {
	name := fillName{f.Market, f.ID}
	if _, known := w.of[name]; !known {
		w.order = append(w.order, name)
	}
	w.of[name] = f.Order
	if len(w.order) >= 2*minOwners {
		for _, old := range w.order[:minOwners] {
			delete(w.of, old)
		}
		w.order = slices.Delete(w.order, 0, minOwners)
	}
}

// keepFills keeps the fills of an event that the account has booked.
func (j *auditor) keepFills(a *state.Account, ev *market.Event) {
	for i := range ev.Fills {
		f := &ev.Fills[i]
		j.owners.add(f)
		known := j.fills[f.Order]
		at := slices.IndexFunc(known, func(b market.Fill) bool { return b.ID == f.ID })
		switch {
		case at < 0:
			j.fills[f.Order] = append(known, *f)
		case f.Settled:
			known[at] = *f
		}
	}
	var id market.OrderID
	switch {
	case ev.Report != nil:
		id = ev.Report.Order
	case len(ev.Fills) > 0:
		id = ev.Fills[0].Order
	}
	if id != 0 && !a.Expects(id) {
		delete(j.fills, id)
		delete(j.changes, id)
	}
}

// audit is the verify of the loop: it checks a reply against the own order.
func (j *auditor) audit(own *state.Order, r *reply) (problem string, ok bool) {
	if r.from == fromRegular { // a regular list leads only to queries: nothing of it is booked
		return "", true
	}
	known, check, q := j.knownOf(own, r), j.checkOf(own.Market), j.queries.of[own.ID]
	var verdict verify.Verdict
	switch {
	case r.from == fromTrades:
		verdict.Broken = tradesBroken(check, known, r.trades)
	case r.from == fromLists:
		verdict = check.Record(known, 0, r.record)
		verdict.Broken = append(verdict.Broken, tradesBroken(check, known, r.trades)...)
		verdict.Short = false // the lists are the last source
	case r.from == fromNotice:
		verdict = check.Event(known, r.record)
	case r.write != nil && r.write.command.Kind == market.CommandCancel:
		verdict.Broken = nameBroken(known.Order, r.record.Order.ExchangeID)
	// of an answer that is older than an event of the order, only the fills are booked
	case r.write != nil && !(own.Reported && q != nil && q.noticed != 0 && r.record.Order.Updated < own.Updated):
		verdict = check.Record(known, r.write.command.Kind, r.record)
	default:
		verdict = check.Record(known, 0, r.record)
	}
	if len(verdict.Broken) > 0 && j.insistences.counts(own, r, verdict.Broken) {
		check.Coarse = true
		if again := check.Record(known, 0, r.record); len(again.Broken) == 0 {
			j.believe(own, verdict.Broken)
			verdict = again
		}
	}
	switch {
	case r.trusted && (r.record == nil || r.record.Order.Market == own.Market):
		j.bookAnyway(own, r, verdict.Broken)
	case len(verdict.Broken) > 0:
		if problem, ok, is := j.restated(own, r, known, check, verdict.Broken); is {
			return problem, ok
		}
		j.breach(own, verdict.Broken)
		j.haltInsisted(own, verdict.Broken)
		return verdict.Broken[0].String(), false
	case verdict.Short && r.whole:
		m := j.Account.Catalog().Market(own.Market)
		b := verify.Broken{Rule: verify.RuleFilled, Wanted: "the sum of the market's trades",
			Seen: m.FormatQty(r.record.Order.FilledAmount)}
		j.breach(own, []verify.Broken{b})
		return b.String(), false
	case verdict.Short:
		j.queryRest(own.ID, r)
		return "filledAmount is above the fills: the trades are asked for", false
	}
	if r.from == fromQuery {
		delete(j.insistences, own.ID)
	}
	j.unrestated(own, r)
	if !j.open.provesEnd(own, r) {
		return "nothing proves its end: the open orders are listed, then it is asked for again", false
	}
	return "", true
}

// knownOf is the state of an order before an answer.
func (j *auditor) knownOf(own *state.Order, r *reply) *verify.OwnOrder {
	fills, kept := j.fills[own.ID]
	if !kept && j.FillsOf != nil && own.FilledAmount > 0 { // the account has forgotten it
		fills = j.FillsOf(own.ID)
	}
	known := &verify.OwnOrder{Order: &own.Order, Ended: own.State.Terminal(), Fills: fills,
		Counted: max(own.BookedAmount(), sumOf(fills))}
	if own.InFlight == market.CommandUpdate {
		known.Change = j.changeOf(own, r)
	} else if own.InFlight == 0 {
		delete(j.changes, own.ID)
	}
	return known
}

func sumOf(fills []market.Fill) (sum market.Qty) {
	for i := range fills {
		sum += fills[i].Amount
	}
	return sum
}

// changeOf is an order's unanswered update.
func (j *auditor) changeOf(own *state.Order, r *reply) *verify.PendingUpdate {
	if r.write != nil && r.write.command.Kind == market.CommandUpdate {
		return &verify.PendingUpdate{Order: r.write.command.Order}
	}
	if order, known := j.changes[own.ID]; known {
		return &verify.PendingUpdate{Order: order}
	}
	if j.Asked != nil {
		if order, known := j.Asked(own.ID); known {
			j.changes[own.ID] = order
			return &verify.PendingUpdate{Order: order}
		}
	}
	return &verify.PendingUpdate{Order: own.Order, Unknown: true}
}

// checkOf is the check of answers about orders of a market.
func (j *auditor) checkOf(id market.ID) *verify.Check {
	catalog := j.Account.Catalog()
	m := catalog.Market(id)
	c := &verify.Check{Catalog: catalog, Market: m, Fees: HighestFees, Now: j.now,
		Prices:  func(at market.Time) verify.Prices { return j.prices[id].about(at, j.Account.Last(id)) },
		FillOf:  func(fill uuid.UUID) market.OrderID { return j.owners.of[fillName{id, fill}] },
		OrderOf: func(name uuid.UUID) market.OrderID { return j.named(id, name) }}
	if j.Fees != nil {
		c.Fees = j.Fees(m)
	}
	return c
}

// named is the own order of a market with this exchange id; 0: none.
func (j *auditor) named(id market.ID, name uuid.UUID) market.OrderID {
	j.index.follow()
	for _, own := range j.index.names[orderName{id, name}] {
		if o := j.Account.Known(own); o != nil && o.State != state.Rejected {
			return own
		}
	}
	if j.OrderOf != nil {
		return j.OrderOf(id, name)
	}
	return 0
}

// tradesBroken checks trades against an order: their names, then their fills.
func tradesBroken(check *verify.Check, known *verify.OwnOrder, trades []exchange.Trade) []verify.Broken {
	fills := make([]market.Fill, len(trades))
	for i := range trades {
		t := &trades[i]
		fills[i] = t.Fill
		if broken := nameBroken(known.Order, t.ExchangeID); broken != nil {
			return broken
		}
	}
	return check.Fills(known, fills)
}

// nameBroken checks the exchange's id of an order, where both have one. The answer to a cancel has
// nothing else.
func nameBroken(known *market.Order, got uuid.UUID) []verify.Broken {
	if got == uuid.Nil || known.ExchangeID == uuid.Nil || got == known.ExchangeID {
		return nil
	}
	return []verify.Broken{{Rule: verify.RuleOrderID, Wanted: known.ExchangeID.String(), Seen: got.String()}}
}

// queryRest queries the trades that a record has left out. After a write the outcome is then
// unresolved, and its order is queried first.
func (j *auditor) queryRest(id market.OrderID, r *reply) {
	if q := j.queries.of[id]; q != nil && r.from == fromQuery {
		q.short = r
		q.soon(j.now)
	}
}
