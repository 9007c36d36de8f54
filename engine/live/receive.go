package live

import (
	"errors"
	"time"

	"github.com/tidemark-trading/tidemark/engine/verify"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// source is where a reply comes from.
type source uint8

const (
	fromQuery   source = iota + 1 // GET /order
	fromLists                     // the open orders and the trades, queried for one order
	fromTrades                    // the trades of a market
	fromRegular                   // the open orders, queried each minute
	fromSend                      // the answer to a place, an update or a cancel
	fromNotice                    // events of the account channel
)

// reply is the exchange's answer about one order. Nothing uses it before receive has verified it.
type reply struct {
	from  source
	asked market.Time // when the query left
	err   error
	// record comes from a query or a send without an error; from the lists, as the order has ended
	// by its trades.
	record *exchange.WireOrder
	open   bool                 // lists: it is among the open orders
	trades []exchange.Trade     // of this order alone
	shown  int                  // regular lists: how many in a row show it open after its end
	exec   market.ExecutionType // of an event
	write  *outgoing            // of a send

	whole    bool // record's fills are completed from the trades
	trusted  bool // a person has said that the exchange is right
	restated bool // someone else has changed the order, and a second answer says the same
	gone     bool // the exchange lists the order's market no more
}

// verifier checks a reply without an error against the own order. A reply that cannot be true
// counts as no answer; problem is the broken rule with both values.
type verifier func(own *state.Order, r *reply) (problem string, ok bool)

// receive handles every answer about an order, from any source: it verifies and reads the reply,
// and carries out the step that transitions has for it.
func (l *Loop) receive(q *query, r *reply) {
	own := q.own(l.Account)
	if own == nil && r.from != fromSend {
		l.queries.remove(q.id)
		return
	}
	if r.write != nil && r.write.provedBy != 0 {
		l.overtaken(q, own, r)
		return
	}
	if own == nil && l.fillsAfterEnd(r) {
		return
	}
	if l.holdsBack(q, own, r) {
		return
	}
	now := q.outcome(own)
	a := l.read(q, now, own, r)
	if l.judge(q, own, r, a) {
		if own = q.own(l.Account); own == nil {
			return
		}
		now = q.outcome(own)
		a = readQuery(q, now, r)
	}
	if a != answerRefuted && own != nil {
		defer l.channel.settle(q, own.Strategy, r)
	}
	s := transitions[now][a][q.moment(r.asked)]
	if s.next == 0 {
		l.Log.Error().Int64("order", int64(q.id)).Uint8("outcome", uint8(now)).Uint8("answer", uint8(a)).
			Msg("an impossible answer: it is ignored")
		return
	}
	if a.finds() {
		q.notFoundSince = 0
	}
	l.carryOutStep(q, r, s)
}

// finds reports whether an answer shows that the exchange has the order.
func (a answer) finds() bool {
	return a >= foundOpen && a <= foundChangedEnded || a >= noticedOpen && a <= noticedChangedEnded ||
		a == accepted || a == acceptedEnded
}

// outcome is what is known of an order and its last write; own is nil for an order that is done.
func (q *query) outcome(own *state.Order) resolution {
	switch {
	case own == nil:
		return ended
	case q.cancelling && own.State.Terminal():
		return endedCancelling
	case q.listed && own.State.Terminal():
		return endedListed
	case own.State == state.Rejected:
		return absent
	case own.State.Terminal():
		return ended
	case q.unresolved != nil:
		return q.unresolved.outcome
	}
	switch own.InFlight {
	case market.CommandPlace:
		return placeInFlight
	case market.CommandUpdate:
		return updateInFlight
	case market.CommandCancel:
		return cancelInFlight
	}
	return resolved
}

// listed reports whether lists show an order open that has ended in the account.
func (o resolution) listed() bool { return o == endedListed || o == endedCancelling }

// moment is when an answer was queried.
func (q *query) moment(asked market.Time) moment {
	switch u := q.unresolved; {
	case u == nil || asked > u.until:
		return after
	case asked < u.since:
		return early
	}
	return within
}

// read verifies a reply and returns its answer.
func (l *Loop) read(q *query, now resolution, own *state.Order, r *reply) answer {
	r.gone = own != nil && l.Account.Catalog().Market(own.Market).Status == market.Delisted
	if r.from == fromRegular {
		return readRegular(r)
	}
	if r.from == fromLists && r.err == nil {
		r.record, r.err = l.lastRecord(&own.Order, r.trades)
	}
	if r.err == nil && own != nil {
		problem, ok := l.verify(own, r)
		if ok && now.listed() && r.from == fromQuery {
			hold := r.record.Order.OnHold
			if r.record.Order.Done() {
				hold = 0
			}
			if err := l.Account.CanReopen(own, hold); err != nil {
				problem, ok = err.Error(), false
			}
		}
		if !ok {
			l.Log.Debug().Int64("order", int64(q.id)).Str("problem", problem).
				Msg("an answer of the exchange counts as none")
			return refuted[r.from]
		}
	}
	if own != nil && errors.Is(r.err, exchange.ErrFalse) {
		l.auditor.breach(own, []verify.Broken{{Rule: verify.RuleRecord, Wanted: "a record of this order",
			Seen: r.err.Error()}})
	}
	if r.from == fromSend && own != nil && r.err == nil && r.record.BySocket &&
		r.write.command.Kind != market.CommandCancel {
		l.withoutProof(q, own, r)
	}
	switch r.from {
	case fromSend:
		return readSend(r)
	case fromNotice:
		return l.readNotice(q, now, own, r)
	case fromLists:
		return readLists(q, now, r)
	case fromTrades:
		return tradesSeen
	}
	return readQuery(q, now, r)
}

// refuted is the answer of a reply that cannot be true, by its source.
var refuted = [...]answer{fromQuery: answerRefuted, fromLists: listsRefuted, fromTrades: answerRefuted,
	fromRegular: answerRefuted, fromSend: writeRefuted, fromNotice: noticeRefuted}

// readRegular reads how often the regular list has shown an order open that has ended in the
// account.
func readRegular(r *reply) answer {
	switch r.shown {
	case listsToBelieve:
		return listedOpen
	case listsToHalt:
		return listedLong
	}
	return listedAgain
}

// readQuery reads the answer to GET /order.
func readQuery(q *query, now resolution, r *reply) answer {
	switch {
	case isNotFound(r.err) && r.asked <= q.noticed:
		return noAnswer
	case isNotFound(r.err):
		return q.readNotFound(now, r)
	case r.err != nil:
		return noAnswer
	}
	shown := now == updateUnresolved && shows(&r.record.Order, &q.unresolved.command)
	switch done := r.record.Order.Done(); {
	case done && shown:
		return foundChangedEnded
	case done:
		return foundEnded
	case shown:
		return foundChanged
	}
	return foundOpen
}

// Patience is how long after the first 240 in a row another one leads to the lists.
const (
	placePatience    = 2 * time.Second // between two answers about a place
	acceptedPatience = 5 * time.Minute // longer than an exchange in trouble answers from an old copy
)

// readNotFound reads a 240 by the time of the first one.
func (q *query) readNotFound(now resolution, r *reply) answer {
	patience, asked := acceptedPatience, r.asked
	if now == placeUnresolved || r.gone {
		patience = placePatience
	}
	switch {
	case q.notFoundSince == 0:
		return notFound
	case asked.Sub(q.notFoundSince) >= patience:
		return notFoundLong
	}
	return notFoundAgain
}

// readLists reads what the lists say of one order. An event about a place without an answer shows
// that it is not absent, whatever the lists say.
func readLists(q *query, now resolution, r *reply) answer {
	switch {
	case r.err != nil || q.notFoundSince == 0:
		return listsFailed
	case r.open:
		return listsOpen
	case now == placeUnresolved && (len(r.trades) > 0 || q.noticed != 0):
		if r.asked.Sub(q.unresolved.until) >= acceptedPatience {
			return listsTradesLong
		}
		return listsTrades
	case len(r.trades) > 0:
		return listsTrades
	}
	return listsNothing
}

// readSend reads the answer to a write.
func readSend(r *reply) answer {
	switch exchange.OutcomeOf(r.err) {
	case exchange.Accepted:
		switch {
		case r.write.command.Kind == market.CommandCancel:
			return acceptedCancel
		case r.record.Order.Done():
			return acceptedEnded
		}
		return accepted
	case exchange.Rejected:
		if isNotFound(r.err) {
			return refusedNotFound
		}
		return refused
	}
	return unanswered
}

// isNotFound reports whether the exchange does not know an order.
func isNotFound(err error) bool {
	return codeOf(err) == exchange.CodeNotFound && exchange.OutcomeOf(err) == exchange.Rejected
}

// shows reports whether an order has the values of an update.
func shows(o *market.Order, c *market.Command) bool {
	want, set := &c.Order, c.Changed
	return (!set.Has(market.ChangeAmount) || o.Amount == want.Amount) &&
		(!set.Has(market.ChangeAmountQuote) || o.AmountQuote == want.AmountQuote) &&
		// sent as the amount that it comes to: fills may follow
		(!set.Has(market.ChangeAmountRemaining) || o.Amount == want.Amount) &&
		(!set.Has(market.ChangePrice) || o.Price == want.Price) &&
		(!set.Has(market.ChangeTriggerAmount) || o.TriggerAmount == want.TriggerAmount) &&
		(!set.Has(market.ChangeTimeInForce) || o.TimeInForce == want.TimeInForce) &&
		(!set.Has(market.ChangePostOnly) || o.PostOnly == want.PostOnly) &&
		(!set.Has(market.ChangeSelfTradePrevention) || o.SelfTradePrevention == want.SelfTradePrevention)
}

// codeOf is the exchange's code in an error, 0 where it has none.
func codeOf(err error) int {
	var refusal *exchange.Error
	if as(err, &refusal) {
		return refusal.Code
	}
	return 0
}

// as is errors.As with the target's type checked.
func as[T error](err error, target *T) bool { return errors.As(err, target) }
