package live

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// doubter is the Journal of a rig. Before each commit it holds the loop's index and outbox against
// walks over all orders.
type doubter struct {
	*ledger
	loop   *Loop
	chance *rand.Rand
	seen   *sights
}

// sights counts what a doubter has compared.
type sights struct{ orders, named, reached int }

func (d *doubter) Commit(at market.Time) error {
	if err := d.compare(); err != nil {
		return err
	}
	return d.ledger.Commit(at)
}

func (d *doubter) compare() error {
	l := d.loop
	l.index.follow()
	for _, own := range l.Account.Pending(nil) {
		d.seen.orders++
		if have, want := l.auditor.named(1, own.ExchangeID), naiveNamed(l.Account, 1, own.ExchangeID); have != want {
			return fmt.Errorf("order %d: the exchange's id is that of %d, not of %d", own.ID, have, want)
		} else if have != 0 {
			d.seen.named++
		}
		if have := l.index.orderNamed(1, uuid.Nil, own.ClientOrderID); have != own {
			return fmt.Errorf("order %d: the client order id is that of %v", own.ID, have)
		}
	}
	last := l.Account.Last(1)
	for range 4 {
		low := last + market.Price(d.chance.IntN(2001)-1000)
		high := low + market.Price(d.chance.IntN(200))
		if d.chance.IntN(10) == 0 {
			low = 0
		}
		have := l.index.waiting[1].reached(nil, low, high)
		want := naiveReached(l.Account, low, high)
		if slices.Sort(have); !slices.Equal(have, want) {
			return fmt.Errorf("prices from %d to %d reach %v, not %v", low, high, have, want)
		}
		d.seen.reached += len(have)
	}
	for id, writes := range l.outbox.of {
		for _, o := range writes {
			if o.command.Kind != market.CommandCancel && l.unwantedWrite(o) && !slices.Contains(l.outbox.suspects, id) {
				return fmt.Errorf("the write of order %d is unwanted and not suspected", id)
			}
		}
	}
	return nil
}

// naiveNamed looks for an exchange id among all orders.
func naiveNamed(a *state.Account, m market.ID, name uuid.UUID) market.OrderID {
	for _, o := range a.Pending(nil) {
		if o.Market == m && o.ExchangeID == name && name != uuid.Nil {
			return o.ID
		}
	}
	return 0
}

// naiveReached looks at all open orders.
func naiveReached(a *state.Account, low, high market.Price) (ids []market.OrderID) {
	for _, o := range a.Open(nil, 0, 1) {
		if naiveReaches(o, low, high) {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

func naiveReaches(o *market.Order, low, high market.Price) bool {
	waits, level := o.Type.HasTrigger() && !o.Triggered, o.Price
	if waits {
		level = o.TriggerAmount
	}
	passed := !waits && (o.Side == market.Buy && low != 0 && low <= level || o.Side == market.Sell && high >= level)
	return level != 0 && (passed || low <= level && level <= high)
}

func TestTheIndexFindsWhatAWalkOverAllOrdersFinds(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 5))
	x, naive := newIndex(nil, nil, 3), map[market.OrderID]*state.Order{}
	for range 20_000 {
		id := market.OrderID(1 + chance.IntN(60))
		own := naive[id]
		switch {
		case own == nil:
			own = &state.Order{Order: market.Order{ID: id, Market: market.ID(1 + chance.IntN(2)),
				Side: market.Side(1 + chance.IntN(2)), Type: []market.OrderType{market.TypeLimit, market.TypeStopLoss,
					market.TypeStopLossLimit, market.TypeMarket}[chance.IntN(4)]}, State: state.Sent}
			own.ClientOrderID = uuid.UUID{byte(id)}
			naive[id] = own
		case chance.IntN(4) == 0:
			delete(naive, id)
			own = nil
		case chance.IntN(4) == 0:
			own.ExchangeID = uuid.UUID{1, byte(chance.IntN(50))} // two orders may have one
		case chance.IntN(4) == 0:
			own.State = []state.State{state.Open, state.Canceled}[chance.IntN(2)]
		case chance.IntN(4) == 0:
			own.Triggered = true
		default:
			own.Price, own.TriggerAmount = market.Price(chance.IntN(40)), market.Price(chance.IntN(40))
		}
		x.set(id, own)
		name := orderName{market.ID(1 + chance.IntN(2)), uuid.UUID{1, byte(chance.IntN(50))}}
		low, high := market.Price(chance.IntN(40)), market.Price(chance.IntN(40))
		var ids, reached []market.OrderID
		for at := market.OrderID(1); at <= 60; at++ {
			o := naive[at]
			if o == nil || o.Market != name.market {
				continue
			}
			if o.ExchangeID == name.id {
				ids = append(ids, at)
			}
			if !o.State.Terminal() && naiveReaches(&o.Order, low, high) {
				reached = append(reached, at)
			}
		}
		require.Equal(t, ids, append([]market.OrderID(nil), x.names[name]...))
		have := x.waiting[name.market].reached(nil, low, high)
		slices.Sort(have)
		require.Equal(t, reached, have)
	}
	for id := range naive {
		x.set(id, nil)
	}
	require.Empty(t, x.of)
	require.Empty(t, x.names)
	require.Empty(t, x.clients)
}
