package live

import (
	"slices"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// outgoing is a command with its intent, which is durable by the end of the turn.
type outgoing struct {
	intent   exchange.Intent
	command  market.Command
	strategy market.StrategyID
	proved   bool // an event of the account channel has told the outcome
}

// rank is the order in which intents leave: first those that free money, then those that protect.
// Each rank has lanes of its own, so that orders waiting for the weight budget delay neither
// cancels nor exits.
type rank uint8

const (
	cancels rank = iota
	exits
	others
	ranks // number of ranks
)

func (o *outgoing) rank() rank {
	switch {
	case o.command.Kind == market.CommandCancel:
		return cancels
	case o.command.Attached && o.command.Order.Side != market.Buy: // a buy of a rebalance protects nothing
		return exits
	}
	return others
}

// outbox holds the intents that wait for a lane to the exchange. Within a rank the strategies take
// turns, so that a strategy with a thousand orders delays no other; the intents of one strategy
// leave in their order.
type outbox struct {
	waiting []outgoing                   // in the order of their decision
	served  map[market.StrategyID]uint64 // the count when its latest intent left
	count   uint64                       // of intents that have left
}

func (b *outbox) put(o outgoing) { b.waiting = append(b.waiting, o) }

func (b *outbox) empty() bool { return len(b.waiting) == 0 }

func (b *outbox) clear() { b.waiting = b.waiting[:0] }

// next takes out the next intent of a rank: of the strategy that has waited longest for its turn.
func (b *outbox) next(r rank) (o outgoing, any bool) {
	first := -1
	for i := range b.waiting {
		w := &b.waiting[i]
		if w.rank() == r && (first < 0 || b.served[w.strategy] < b.served[b.waiting[first].strategy]) {
			first = i
		}
	}
	if first < 0 {
		return o, false
	}
	o = b.waiting[first]
	b.waiting = slices.Delete(b.waiting, first, first+1)
	if b.served == nil {
		b.served = map[market.StrategyID]uint64{}
	}
	b.count++
	b.served[o.strategy] = b.count
	return o, true
}

// takeBack removes the places and updates that are no longer wanted. They are never sent.
func (b *outbox) takeBack(unwanted func(*outgoing) bool) (taken []outgoing) {
	b.waiting = slices.DeleteFunc(b.waiting, func(o outgoing) bool {
		remove := o.command.Kind != market.CommandCancel && unwanted(&o)
		if remove {
			taken = append(taken, o)
		}
		return remove
	})
	return taken
}

// holds reports whether a write of an order waits.
func (b *outbox) holds(id market.OrderID) bool {
	return slices.ContainsFunc(b.waiting, func(o outgoing) bool { return o.command.Order.ID == id })
}
