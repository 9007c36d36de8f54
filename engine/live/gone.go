package live

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// An order that the exchange had taken and does not know any more is asked for again and again. When it has not been found for goneAfter,
// the lists decide: one that is not among the open orders has ended, with those fills that its trades tell of.
const (
	goneAfter = 5 * time.Minute  // longer than an exchange in trouble answers from an old copy
	goneWait  = 5 * time.Second  // between two questions until then
	goneAgain = 10 * time.Minute // where the lists still know it
)

// vanished deals with an order that the exchange had taken, and does not know.
func (l *Loop) vanished(k *look, asked market.Time) {
	own := l.Account.Known(k.id)
	if own == nil {
		return
	}
	if k.unfound == 0 {
		k.unfound = asked
		l.Log.Error().Int64("order", int64(k.id)).Stringer("client_order_id", own.ClientOrderID).Stringer("decided_in", goneAfter).
			Msg("the exchange does not know an order that it had taken: it is asked for again, then the lists decide")
		l.Findings.Remark("missing", orderText(k.id))
	}
	if own.State.Terminal() { // only its last fees are missing
		k.wait = lastWait
		return
	}
	k.next, k.wait = l.now.Add(goneWait), firstWait
	k.gone = asked.Sub(k.unfound) >= goneAfter
}

// consult asks the lists for an order that is not found by itself, and lets decide hear what they know. Where they do not answer, nothing is
// known that was not known before, and the order is asked for again after wait.
func (l *Loop) consult(work context.Context, k *look, wait time.Duration, decide func(k *look, open bool, trades []exchange.Trade)) {
	own := l.Account.Known(k.id)
	if own == nil {
		delete(l.looks, k.id)
		return
	}
	m, client, from := own.Market, own.ClientOrderID, own.Created.Add(-time.Minute)
	k.asking = true
	l.asking++
	l.workers.Go(func() {
		open, trades, err := l.lists(work, m, client, from)
		l.replies <- func() {
			l.asking--
			k.asking, k.gone = false, false
			k.next = l.stamp().Add(wait)
			if err == nil {
				decide(k, open, trades)
			}
		}
	})
}

// buried ends an order that the exchange has forgotten, with what its trades tell, where the lists do not know it as open either.
func (l *Loop) buried(k *look, open bool, trades []exchange.Trade) {
	own := l.Account.Own(k.id)
	if own == nil || k.unfound == 0 { // it has ended, or was found meanwhile
		return
	}
	if open {
		l.Log.Error().Int64("order", int64(k.id)).Stringer("again_in", goneAgain).Msg("the exchange lists an order as open that it does not find by itself: it stays open here")
		k.unfound = l.now.Add(goneAgain - goneAfter)
		return
	}
	record, err := l.lastRecord(&own.Order, trades)
	if err != nil {
		l.Log.Error().Err(err).Int64("order", int64(k.id)).Msg("the trades of an order that the exchange does not know any more")
		return
	}
	l.Log.Error().Int64("order", int64(k.id)).Stringer("client_order_id", own.ClientOrderID).Int("trades", len(trades)).
		Msg("an order has ended that the exchange neither finds nor lists; if the exchange has begun anew, stop the bot and give it a new bot.state")
	l.Findings.Remark("gone", orderText(k.id))
	k.doubt = nil
	l.report(k.id, &record, market.ExecCanceled)
	l.follow(k.id)
}

// lastRecord is how an order has ended of which only its trades are known, all of them or, at an exchange that has forgotten these too, fewer
// than were heard of before.
func (l *Loop) lastRecord(own *market.Order, trades []exchange.Trade) (exchange.Record, error) {
	var filled market.Qty
	var quote, fees market.Value
	record := exchange.Record{Order: *own}
	for i := range trades {
		f := trades[i].Fill
		value, err := l.Account.Catalog().Market(own.Market).Value(f.Price, f.Amount)
		if err == nil {
			quote, err = quote.Add(value)
		}
		if err == nil {
			fees, err = fees.Add(f.Fee)
		}
		if err != nil {
			return record, err
		}
		filled += f.Amount
		record.Fills = append(record.Fills, f)
	}
	o := &record.Order
	if filled > o.FilledAmount {
		o.FilledAmount, o.FilledAmountQuote, o.FeePaid = filled, quote, fees
		o.AmountRemaining = max(0, o.Amount-filled)
	}
	o.Status, o.OnHold, o.Updated = market.StatusCanceled, 0, max(o.Updated, l.now)
	if o.Amount > 0 && o.FilledAmount >= o.Amount {
		o.Status = market.StatusFilled
	}
	return record, nil
}

// lists asks whether an order is open, and for its trades since a time, by the client's name.
func (l *Loop) lists(work context.Context, m market.ID, client uuid.UUID, from market.Time) (open bool, trades []exchange.Trade, err error) {
	records, err := l.Trading.OpenOrders(work)
	if err != nil {
		return false, nil, err
	}
	for i := range records {
		open = open || records[i].Order.ClientOrderID == client
	}
	for more := true; more; {
		var page []exchange.Trade
		if page, more, err = l.Trading.Trades(work, m, from); err != nil {
			return false, nil, err
		}
		for i := range page {
			if page[i].ClientOrderID == client {
				trades = append(trades, page[i])
			}
			from = max(from, page[i].Time)
		}
	}
	return open, trades, nil
}
