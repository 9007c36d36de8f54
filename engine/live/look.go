package live

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// look is the loop's watch over one order: when to ask the exchange for it next.
type look struct {
	id     market.OrderID
	next   market.Time
	wait   market.Duration // until the look after the next
	asking bool
	doubt  *doubt // a write whose outcome is open; nil: none

	unfound market.Time // since when the exchange has not known it, though it had taken it; 0: it knows it
	gone    bool        // for so long that the lists decide
	unsent  bool        // the last command could not be sent, and the log has told
}

// doubt is a write of which nobody knows what became.
type doubt struct {
	command  market.Command
	since    market.Time // an answer to what was asked earlier says nothing of it
	until    market.Time // on the exchange's clock: later the exchange cannot take it any more
	blind    bool        // it was sent by a process that has died: what it asked for is not known
	absent   int         // how often in a row the order was not there
	absentAt market.Time
}

// The waits between two looks at an order.
const (
	firstWait = time.Second
	lastWait  = time.Minute
	absences  = 2 * time.Second // between the two answers that make an absence certain
)

// soon lets the order be looked at with the next turn, and then again after a short while.
func (k *look) soon(now market.Time) { k.next, k.wait = now, firstWait }

// lookAt returns the watch over an order, a new one where there is none.
func (l *Loop) lookAt(id market.OrderID) *look {
	k := l.looks[id]
	if k == nil {
		k = &look{id: id, next: l.now.Add(firstWait), wait: 2 * firstWait}
		l.looks[id] = k
	}
	return k
}

// follow keeps a watch over an order as long as anything is expected of it.
func (l *Loop) follow(id market.OrderID) {
	if !l.Account.Expects(id) {
		delete(l.looks, id)
		return
	}
	l.lookAt(id)
}

// doubtOf is the doubt about a command that was sent.
func (l *Loop) doubtOf(o *outgoing) *doubt {
	until, _ := market.TimeOfMillis(o.intent.Timestamp + o.intent.Window) // it was signed with it
	return &doubt{command: o.command, since: l.now, until: until.Add(l.Margin)}
}

// notice lets orders be looked at whose price a market event has reached: they may have filled.
func (l *Loop) notice(ev *market.Event) {
	var m market.ID
	var low, high market.Price
	switch ev.Kind {
	case market.KindTicker:
		m, low, high = ev.Ticker.Market, lowest(ev.Ticker.Last, ev.Ticker.Ask), max(ev.Ticker.Last, ev.Ticker.Bid)
	case market.KindTrade:
		m, low, high = ev.Trade.Market, ev.Trade.Price, ev.Trade.Price
	default:
		return
	}
	for _, o := range l.Account.Open(nil, 0, m) {
		level := o.Price
		if o.Type.HasTrigger() && !o.Triggered {
			level = o.TriggerAmount
		}
		if k := l.looks[o.ID]; k != nil && level != 0 && low <= level && level <= high || k != nil && passed(o, level, low, high) {
			if k.wait > firstWait {
				k.soon(l.now)
			}
		}
	}
}

// passed reports whether the market stands beyond a resting limit.
func passed(o *market.Order, level, low, high market.Price) bool {
	if o.Type.HasTrigger() && !o.Triggered || level == 0 {
		return false
	}
	return o.Side == market.Buy && low != 0 && low <= level || o.Side == market.Sell && high >= level
}

// lowest is the smaller of two prices of which 0 is none.
func lowest(a, b market.Price) market.Price {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// askDue asks for the orders whose time has come, and for the lists that are due.
func (l *Loop) askDue(work context.Context) {
	for _, id := range slices.Sorted(maps.Keys(l.looks)) {
		k := l.looks[id]
		switch {
		case l.asking >= inFlight || k.asking || k.next > l.now:
		case k.absent():
			l.consult(work, k, firstWait, l.lost)
		case k.gone:
			l.consult(work, k, goneWait, l.buried)
		default:
			l.ask(work, k)
		}
	}
	l.askLists(work)
	l.renew(work)
}

// ask asks the exchange for one order.
func (l *Loop) ask(work context.Context, k *look) {
	own := l.Account.Known(k.id)
	if own == nil {
		delete(l.looks, k.id)
		return
	}
	id, client, name, asked := own.Market, own.ClientOrderID, own.ExchangeID, l.now
	question := l.Trading.Order
	if l.stopped || own.InFlight == market.CommandCancel || own.CancelWanted {
		question = l.Trading.Ending
	}
	k.asking = true
	l.asking++
	l.workers.Go(func() {
		record, err := question(work, id, client, name)
		l.replies <- func() {
			l.asking--
			k.asking = false
			k.next, k.wait = l.stamp().Add(k.wait), min(2*k.wait, lastWait)
			l.looked(k, asked, &record, err)
		}
	})
}

// looked deals with the exchange's answer to a look that was asked for at a time.
func (l *Loop) looked(k *look, asked market.Time, record *exchange.Record, err error) {
	switch {
	case err == nil:
		l.found(k, asked, record)
	case codeOf(err) == exchange.CodeNotFound:
		l.missing(k, asked)
	default: // nothing is known that was not known before
		l.Log.Debug().Err(err).Int64("order", int64(k.id)).Msg("an order could not be asked for")
	}
}

// found folds a record and settles what was in doubt.
func (l *Loop) found(k *look, asked market.Time, record *exchange.Record) {
	exec, d := market.ExecTrade, k.doubt
	k.unfound, k.gone = 0, false
	switch {
	case d == nil:
	case d.command.Kind == market.CommandPlace:
		exec, k.doubt = market.ExecNew, nil
	case d.command.Kind == market.CommandUpdate && (d.blind && asked > d.until || !d.blind && asked >= d.since && shows(&record.Order, &d.command)):
		exec, k.doubt = market.ExecUpdated, nil
	case record.Order.Status.Terminal():
		k.doubt = nil
	case asked > d.until: // the exchange cannot take it any more, and has not
		k.doubt = nil
		defer l.answer(&d.command, market.ExecRejected, 0)
	default:
		k.next = min(k.next, d.until+1) // then it is certain, whichever way
	}
	l.report(k.id, record, exec)
}

// shows reports whether an order has the values that an update asked for.
func shows(o *market.Order, c *market.Command) bool {
	want, set := &c.Order, c.Changed
	return (!set.Has(market.ChangeAmount) || o.Amount == want.Amount) &&
		(!set.Has(market.ChangeAmountQuote) || o.AmountQuote == want.AmountQuote) &&
		(!set.Has(market.ChangeAmountRemaining) || o.Amount == want.Amount) && // it is sent as the amount that it comes to: fills may follow
		(!set.Has(market.ChangePrice) || o.Price == want.Price) &&
		(!set.Has(market.ChangeTriggerAmount) || o.TriggerAmount == want.TriggerAmount) &&
		(!set.Has(market.ChangeTimeInForce) || o.TimeInForce == want.TimeInForce) &&
		(!set.Has(market.ChangePostOnly) || o.PostOnly == want.PostOnly) &&
		(!set.Has(market.ChangeSelfTradePrevention) || o.SelfTradePrevention == want.SelfTradePrevention)
}

// missing deals with an order that the exchange does not know.
func (l *Loop) missing(k *look, asked market.Time) {
	d := k.doubt
	if own := l.Account.Known(k.id); own != nil && own.State == state.Rejected {
		delete(l.looks, k.id) // a list that is older than this answer had shown it
		return
	}
	if d == nil || d.command.Kind != market.CommandPlace {
		l.vanished(k, asked)
		return
	}
	k.wait = firstWait
	switch {
	case asked <= d.until:
		k.next = max(k.next, d.until+1)
	case d.absent == 0:
		d.absent, d.absentAt = 1, asked
		k.next = asked.Add(absences)
	case asked.Sub(d.absentAt) >= absences:
		d.absent++
	}
}

// absent reports whether the exchange has said twice, apart and late enough, that an order is not there: then the lists decide.
func (k *look) absent() bool { return k.doubt != nil && k.doubt.absent >= 2 }

// lost ends a place that neither open orders nor trades know: it was certainly never taken.
func (l *Loop) lost(k *look, open bool, trades []exchange.Trade) {
	d := k.doubt
	if open || len(trades) > 0 {
		d.absent = 0
		return
	}
	delete(l.looks, k.id)
	l.Log.Warn().Int64("order", int64(k.id)).Msg("an order whose answer was lost has certainly not reached the exchange")
	l.answer(&d.command, market.ExecRejected, 0)
}

// as is errors.As without a value to declare first.
func as[T error](err error, target *T) bool { return errors.As(err, target) }
