package live

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// reconcile brings the account up to date with the exchange before the strategies start: the trades
// since the last time, each open or unsettled order, the list of open orders. An order whose place
// was never answered stays unknown, with its funds reserved, until a query resolves it.
func (l *Loop) reconcile(ctx context.Context) error {
	own := l.Account.Pending(nil)
	if err := RetryUntilReached(ctx, l.Log, func() error { return l.catchUp(ctx, own) }); err != nil {
		return fmt.Errorf("live: reconcile trades: %w", err)
	}
	for _, o := range own {
		if err := RetryUntilReached(ctx, l.Log, func() error { return l.reconcileOrder(ctx, o) }); err != nil {
			return fmt.Errorf("live: reconcile order %s: %w", o.ClientOrderID, err)
		}
	}
	err := RetryUntilReached(ctx, l.Log, func() error {
		asked := l.stamp()
		records, err := l.Trading.OpenOrders(ctx)
		if err != nil {
			return err
		}
		l.stamp()
		l.open.evidence = evidenceOf(asked, records)
		if err := l.newer.adoptOpen(ctx, records); err != nil {
			return err
		}
		l.open.compare(ctx, asked, records, nil)
		return l.askAgain(ctx)
	})
	if err != nil {
		return fmt.Errorf("live: reconcile open orders: %w", err)
	}
	l.open.next = l.now.Add(l.channel.pace(l.OpenEvery))
	l.newer.haltShared()
	l.commit()
	return l.failed
}

// askAgain queries open orders a second time: those that the list lacks, so that an end that their
// first answer told of is proven, and those that someone else may have changed. Until that is taken
// over, a stop that follows prices could be moved back.
func (l *Loop) askAgain(ctx context.Context) error {
	for _, o := range l.Account.Open(nil, 0, 0) {
		_, changed := l.auditor.restatements.seen[o.ID]
		lacks := !l.open.evidence.names[o.ClientOrderID]
		if own := l.Account.Own(o.ID); own.Reported && own.InFlight == 0 && (lacks || changed) {
			l.now++ // it is asked for later than the first time, also where no time has passed
			if err := l.reconcileOrder(ctx, own); err != nil {
				return err
			}
		}
	}
	return nil
}

// reconcileOrder queries one order.
func (l *Loop) reconcileOrder(ctx context.Context, o *state.Order) error {
	r := reply{from: fromQuery, asked: l.stamp()}
	record, err := l.Trading.Order(ctx, o.Market, o.ClientOrderID, o.ExchangeID)
	if err != nil && !isNotFound(err) {
		return err
	}
	r.record, r.err = &record, err
	l.receive(l.queryOf(o.ID), &r)
	return nil
}

// longestWindow is how long after its timestamp the exchange may still take a request
// (specification 5).
const longestWindow = time.Minute

// queryPending begins a query of every order that expects something. Writes that were in flight
// when the last process died are unresolved.
func (l *Loop) queryPending() {
	for _, o := range l.Account.Pending(nil) {
		q := l.queryOf(o.ID)
		if before, inFlight := leftBehind(o.InFlight); inFlight {
			q.unresolved = &unresolved{outcome: before, command: market.Command{Kind: o.InFlight, Order: o.Order},
				until: l.lastChance(o).Add(l.Margin)}
		}
	}
}

// leftBehind is the outcome of a write that was in flight when the last process died.
func leftBehind(kind market.CommandKind) (before resolution, inFlight bool) {
	switch kind {
	case market.CommandPlace:
		return placeUnresolved, true
	case market.CommandUpdate:
		return oldUpdateUnresolved, true
	case market.CommandCancel:
		return cancelUnresolved, true
	}
	return 0, false
}

// lastChance is when the exchange could last take an order's write that was in flight when the last
// process died.
func (l *Loop) lastChance(o *state.Order) market.Time {
	if l.Sent != nil {
		if until, known := l.Sent(o.ID, o.InFlight); known {
			return until
		}
	}
	sent := l.now // or earlier
	if o.InFlight == market.CommandPlace {
		sent = min(sent, o.Created)
	}
	return sent.Add(longestWindow)
}

// catchUp pages through the trades since the oldest open order, so that fills are booked even of
// orders that the exchange has forgotten meanwhile.
func (l *Loop) catchUp(ctx context.Context, own []*state.Order) error {
	since := map[market.ID]market.Time{}
	names := map[uuid.UUID]*state.Order{}
	for _, o := range own {
		if from, known := since[o.Market]; !known || o.Created < from {
			since[o.Market] = o.Created
		}
		names[o.ClientOrderID] = o
	}
	for m, from := range since {
		err := eachTrade(ctx, l.Trading, m, max(from, 1), func(t *exchange.Trade) {
			if o := names[t.ClientOrderID]; o != nil {
				l.receive(l.queryOf(o.ID), &reply{from: fromTrades, asked: l.now, trades: []exchange.Trade{*t}})
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
