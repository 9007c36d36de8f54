package live

import (
	"context"
	"math/rand/v2"
	"slices"
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
	for o := b.next(r); o != nil; o = b.next(r) {
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
	require.EqualValues(t, 3, b.next(others).strategy, "its last turn is longer ago")
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

// naiveOutbox is the outbox as one list.
type naiveOutbox struct {
	waiting []outgoing
	served  map[market.StrategyID]int
	count   int
}

func (b *naiveOutbox) next(r rank) (id market.OrderID) {
	first := -1
	for i, o := range b.waiting {
		if o.rank() == r && (first < 0 || b.served[o.strategy] < b.served[b.waiting[first].strategy]) {
			first = i
		}
	}
	if first < 0 {
		return 0
	}
	o := b.waiting[first]
	b.waiting = slices.Delete(b.waiting, first, first+1)
	b.count++
	b.served[o.strategy] = b.count
	return o.command.Order.ID
}

func (b *naiveOutbox) takeBack(doomed map[market.OrderID]bool) (ids []market.OrderID) {
	b.waiting = slices.DeleteFunc(b.waiting, func(o outgoing) bool {
		remove := o.command.Kind != market.CommandCancel && doomed[o.command.Order.ID]
		if remove {
			ids = append(ids, o.command.Order.ID)
		}
		return remove
	})
	return ids
}

func TestTheOutboxIsOneListThatIsWalked(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		b, naive := &outbox{}, &naiveOutbox{served: map[market.StrategyID]int{}}
		doomed, last := map[market.OrderID]bool{}, market.OrderID(0)
		for range 300 {
			switch draw := chance.IntN(10); {
			case draw < 5:
				o := by(market.StrategyID(chance.IntN(4)), market.CommandKind(1+chance.IntN(3)), chance.IntN(2) == 0)
				last++
				o.command.Order.ID = max(1, last-market.OrderID(chance.IntN(3))) // now and then a second write
				b.put(o)
				naive.waiting = append(naive.waiting, o)
			case draw < 7 && last > 0:
				id := 1 + market.OrderID(chance.IntN(int(last)))
				doomed[id] = true
				b.suspect(id)
			case draw == 7:
				var ids []market.OrderID
				for _, o := range b.takeBack(func(o *outgoing) bool { return doomed[o.command.Order.ID] }) {
					ids = append(ids, o.command.Order.ID)
				}
				require.Equal(t, naive.takeBack(doomed), ids)
			default:
				r, id := rank(chance.IntN(int(ranks))), market.OrderID(0)
				if o := b.next(r); o != nil {
					id = o.command.Order.ID
				}
				require.Equal(t, naive.next(r), id)
			}
			require.Equal(t, len(naive.waiting) == 0, b.empty())
			for s := range market.StrategyID(4) {
				count := 0
				for _, o := range naive.waiting {
					if o.strategy == s {
						count++
					}
				}
				require.Equal(t, count, b.waits(s))
			}
		}
	}
}

// Orders that wait for the weight budget hold every lane of theirs, and a cancel leaves all the
// same.
func TestOrdersThatWaitForTheBudgetHoldUpNoCancel(t *testing.T) {
	l := &Loop{workers: workers{replies: make(chan func(), 16)}, queries: newQueryQueue(),
		writes: map[market.OrderID]*outgoing{}, Config: Config{Journal: deaf{}, Trading: &stuck{}}}
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
	l.group.Wait()
}

// deaf is a Journal that keeps nothing.
type deaf struct{ Journal }

func (deaf) Sent(market.Time, *exchange.Intent) {}

// stuck is an exchange whose weight budget never comes.
type stuck struct{ exchange.Trading }

func (*stuck) Send(ctx context.Context, _ *exchange.Intent) (exchange.WireOrder, error) {
	<-ctx.Done()
	return exchange.WireOrder{}, ctx.Err()
}
