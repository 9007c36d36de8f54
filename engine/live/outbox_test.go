package live

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// waiting fills an outbox with commands, each of a strategy. Orders are numbered from 1.
func waiting(list ...outgoing) *outbox {
	b := &outbox{}
	for i, o := range list {
		o.command.Order.ID = market.OrderID(i + 1)
		b.put(o)
	}
	return b
}

func by(s market.StrategyID, kind market.CommandKind, attached bool) outgoing {
	return outgoing{command: market.Command{Kind: kind, Attached: attached}, strategy: s}
}

// leave takes out all intents of a rank.
func (b *outbox) leave(r rank) (ids []market.OrderID) {
	for o, any := b.next(r); any; o, any = b.next(r) {
		ids = append(ids, o.command.Order.ID)
	}
	return ids
}

func TestCancelsAndExitsHaveLanesOfTheirOwn(t *testing.T) {
	const place, update, cancel = market.CommandPlace, market.CommandUpdate, market.CommandCancel
	b := waiting(by(1, place, false), by(1, update, false), by(1, place, true), by(1, cancel, false),
		by(1, update, true), by(1, cancel, true))
	require.Equal(t, []market.OrderID{4, 6}, b.leave(cancels))
	require.Equal(t, []market.OrderID{3, 5}, b.leave(exits))
	require.Equal(t, []market.OrderID{1, 2}, b.leave(others))
	require.True(t, b.empty())
}

func TestStrategiesTakeTurns(t *testing.T) {
	const place = market.CommandPlace
	b := waiting(by(1, place, false), by(1, place, false), by(1, place, false), by(1, place, false),
		by(2, place, false), by(3, place, false), by(2, place, false))
	require.Equal(t, []market.OrderID{1, 5, 6, 2, 7, 3, 4}, b.leave(others))
	b.put(by(1, place, false))
	b.put(by(3, place, false))
	o, _ := b.next(others)
	require.EqualValues(t, 3, o.strategy, "its last turn is longer ago")
}

func TestOnlyPlacesAndUpdatesAreTakenBack(t *testing.T) {
	b := waiting(by(1, market.CommandPlace, false), by(1, market.CommandUpdate, false),
		by(1, market.CommandCancel, false), by(2, market.CommandPlace, true))
	taken := b.takeBack(func(o *outgoing) bool { return o.strategy == 1 })
	require.Len(t, taken, 2)
	require.False(t, b.holds(1))
	require.True(t, b.holds(3))
	require.True(t, b.holds(4))
}

// Orders that wait for the weight budget hold every lane of theirs, and a cancel leaves all the
// same.
func TestOrdersThatWaitForTheBudgetHoldUpNoCancel(t *testing.T) {
	l := &Loop{replies: make(chan func(), 16), Config: Config{Journal: deaf{}, Trading: &stuck{}}}
	for range 2 * maxInFlight {
		l.outbox.put(by(1, market.CommandPlace, false))
	}
	ctx, cancel := context.WithCancel(t.Context())
	l.dispatch(ctx)
	require.Equal(t, [ranks]int{others: maxInFlight}, l.sending)
	l.outbox.put(by(1, market.CommandCancel, false))
	l.outbox.put(by(1, market.CommandPlace, true))
	l.dispatch(ctx)
	require.Equal(t, [ranks]int{cancels: 1, exits: 1, others: maxInFlight}, l.sending)
	cancel()
	l.workers.Wait()
}

// deaf is a Journal that keeps nothing.
type deaf struct{ Journal }

func (deaf) Sent(market.Time, *exchange.Intent) {}

// stuck is an exchange whose weight budget never comes.
type stuck struct{ exchange.Trading }

func (*stuck) Send(ctx context.Context, _ *exchange.Intent) (exchange.Record, error) {
	<-ctx.Done()
	return exchange.Record{}, ctx.Err()
}
