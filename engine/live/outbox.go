package live

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// outgoing is a command with its intent, which is durable by the end of the turn.
type outgoing struct {
	intent   exchange.Intent
	command  market.Command
	strategy market.StrategyID
	provedBy source // an event or a query that told the outcome before the own answer; 0: none
	number   uint64 // in the order of decision
	taken    bool   // out of its queue, which skips it
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
// leave in their order. What a call costs does not grow with the number of intents.
type outbox struct {
	queues   [ranks][]*queue
	of       map[market.OrderID][]*outgoing // the waiting writes of an order, in the order of their decision
	suspects []market.OrderID               // whose waiting writes may be unwanted
	served   map[market.StrategyID]uint64   // the count when its latest intent left
	count    uint64                         // of intents that have left
	decided  uint64                         // intents so far
}

// queue is the waiting intents of one rank and strategy, in the order of their decision. The first
// one is not taken.
type queue struct {
	strategy market.StrategyID
	list     []*outgoing
}

func (b *outbox) put(o outgoing) {
	if b.of == nil {
		b.of, b.served = map[market.OrderID][]*outgoing{}, map[market.StrategyID]uint64{}
	}
	b.decided++
	o.number = b.decided
	q := b.queueOf(&o)
	q.list = append(q.list, &o)
	id := o.command.Order.ID
	b.of[id] = append(b.of[id], &o)
	b.suspects = append(b.suspects, id) // its order may have been doomed before
}

// queueOf is the queue of an intent.
func (b *outbox) queueOf(o *outgoing) *queue {
	queues := &b.queues[o.rank()]
	for _, q := range *queues {
		if q.strategy == o.strategy {
			return q
		}
	}
	*queues = append(*queues, &queue{strategy: o.strategy})
	return (*queues)[len(*queues)-1]
}

func (b *outbox) empty() bool { return len(b.of) == 0 }

func (b *outbox) clear() { b.queues, b.of, b.suspects = [ranks][]*queue{}, nil, nil }

// next takes out the next intent of a rank, of the strategy that has waited longest for its turn;
// nil: none waits.
func (b *outbox) next(r rank) *outgoing {
	var first *queue
	for _, q := range b.queues[r] {
		if len(q.list) > 0 && (first == nil || b.before(q, first)) {
			first = q
		}
	}
	if first == nil {
		return nil
	}
	o := first.list[0]
	o.taken = true
	first.skip()
	b.forget(o)
	b.count++
	b.served[o.strategy] = b.count
	return o
}

// before reports whether it is the turn of x before that of y.
func (b *outbox) before(x, y *queue) bool {
	return cmp.Or(cmp.Compare(b.served[x.strategy], b.served[y.strategy]),
		cmp.Compare(x.list[0].number, y.list[0].number)) < 0
}

// skip drops the taken intents at the head.
func (q *queue) skip() {
	for len(q.list) > 0 && q.list[0].taken {
		q.list[0], q.list = nil, q.list[1:]
	}
}

// forget removes an intent from those of its order.
func (b *outbox) forget(o *outgoing) {
	id := o.command.Order.ID
	rest := slices.DeleteFunc(b.of[id], func(other *outgoing) bool { return other == o })
	if b.of[id] = rest; len(rest) == 0 {
		delete(b.of, id)
	}
}

// suspect notes that an order has changed: its waiting writes may be unwanted now.
func (b *outbox) suspect(id market.OrderID) {
	if b.holds(id) {
		b.suspects = append(b.suspects, id)
	}
}

// takeBack removes the places and updates that are no longer wanted, of the orders that have
// changed and of those whose writes are new. They are never sent.
func (b *outbox) takeBack(unwanted func(*outgoing) bool) (taken []*outgoing) {
	for _, id := range b.suspects {
		for _, o := range b.of[id] {
			if o.command.Kind != market.CommandCancel && !o.taken && unwanted(o) {
				o.taken = true
				taken = append(taken, o)
			}
		}
	}
	b.suspects = b.suspects[:0]
	for _, o := range taken {
		b.queueOf(o).skip()
		b.forget(o)
	}
	slices.SortFunc(taken, func(x, y *outgoing) int { return cmp.Compare(x.number, y.number) })
	return taken
}

// holds reports whether a write of an order waits.
func (b *outbox) holds(id market.OrderID) bool { return len(b.of[id]) > 0 }

// waits is the number of a strategy's intents that wait.
func (b *outbox) waits(s market.StrategyID) (count int) {
	for _, queues := range b.queues {
		for _, q := range queues {
			for _, o := range q.list {
				if q.strategy == s && !o.taken {
					count++
				}
			}
		}
	}
	return count
}
