package gap

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// life is the life of a live order, as the record has it.
type life struct {
	order    market.Order // as it was asked for
	at       market.Time  // of the decision
	accepted market.Time  // when the exchange took it, by its own clock; 0: it did not
	answered market.Time  // when the bot heard of it first; 0: never
	void     bool         // a kill came before its commit: it never left, and its number was given again
	refused  bool         // the exchange refused it, or never had it
	changes  []liveWrite
	told     []told // in the order of their records
}

// liveWrite is a live update or cancel of an order.
type liveWrite struct {
	kind  market.CommandKind
	at    market.Time // of the decision
	order market.Order
	until market.Time // when the bot heard of its outcome; 0: never
}

// told is an answer of the exchange about a live order.
type told struct {
	record uint64
	at     market.Time
	event  market.Event // with memory of its own
}

// keep copies an event.
func keep(ev *market.Event) market.Event {
	own := *ev
	if ev.Report != nil {
		report := *ev.Report
		own.Report = &report
	}
	own.Fills = slices.Clone(ev.Fills)
	return own
}

// tell adds an answer.
func (l *life) tell(number uint64, ev *market.Event) {
	l.told = append(l.told, told{number, ev.At, keep(ev)})
	r := ev.Report
	if r == nil {
		return
	}
	refusal := r.Exec == market.ExecRejected && r.Command == market.CommandPlace
	switch {
	case r.Exec == market.ExecUnknown:
		return
	case l.answered == 0:
		l.answered, l.refused = ev.At, refusal
	case l.refused && !refusal && r.Exec != market.ExecRejected:
		l.refused = false // it was there all the same
	}
	if !refusal && r.Exec != market.ExecRejected && l.accepted == 0 {
		l.accepted = max(l.at, min(ev.At, r.Updated))
	}
	for i := range l.changes {
		c := &l.changes[i]
		over := r.Status.Terminal() || c.kind == market.CommandUpdate && r.Exec == market.ExecUpdated ||
			r.Exec == market.ExecRejected && r.Command == c.kind
		if c.until == 0 && over {
			c.until = ev.At
			if r.Exec != market.ExecRejected && r.Updated > c.at {
				c.until = min(ev.At, r.Updated)
			}
		}
	}
}

// liveOrders is the live orders of a stretch.
type liveOrders struct {
	lives map[market.OrderID]*life
	order []*life // by decision
}

// add adds a live order.
func (b *liveOrders) add(c *market.Command) {
	if before := b.lives[c.Order.ID]; before != nil {
		before.void = true
	}
	b.order = append(b.order, b.keep(&life{order: c.Order, at: c.At}))
}

// keep makes a life that of its order's number.
func (b *liveOrders) keep(l *life) *life {
	if b.lives == nil {
		b.lives = map[market.OrderID]*life{}
	}
	b.lives[l.order.ID] = l
	return l
}

// key has the terms that an order of a run and a live one must have in common.
type key struct {
	strategy market.StrategyID
	market   market.ID
	side     market.Side
	byQuote  bool
}

func keyOf(o *market.Order) key { return key{o.Strategy, o.Market, o.Side, o.ByQuote()} }

// matcher finds for an order of a run the live one that stands for it: of the same strategy,
// market and side, with the nearest decision within a window. A live order stands for one order.
type matcher struct {
	free   map[key][]*life // by decision
	window market.Time
}

func newMatcher(b *liveOrders, window market.Time) *matcher {
	m := &matcher{free: map[key][]*life{}, window: window}
	for _, l := range b.order {
		k := keyOf(&l.order)
		m.free[k] = append(m.free[k], l)
	}
	return m
}

// take returns the live order of a new order; nil: there is none. Of decisions equally near it
// takes one of the same type, then the one with the nearest price, then the first.
func (m *matcher) take(c *market.Command) *life {
	k := keyOf(&c.Order)
	list := m.free[k]
	for len(list) > 0 && list[0].at < c.At-m.window { // decisions of a run never go back
		list = list[1:]
	}
	m.free[k] = list
	best := -1
	for i, l := range list {
		if away := distance(l.at, c.At); away <= m.window && (best < 0 || nearer(l, list[best], c)) {
			best = i
		}
		if l.at > c.At+m.window {
			break
		}
	}
	if best < 0 {
		return nil
	}
	l := list[best]
	m.free[k] = slices.Delete(list, best, best+1)
	return l
}

// nearer reports whether a stands for an order rather than b.
func nearer(a, b *life, c *market.Command) bool {
	if x, y := distance(a.at, c.At), distance(b.at, c.At); x != y {
		return x < y
	}
	if x, y := a.order.Type == c.Order.Type, b.order.Type == c.Order.Type; x != y {
		return x
	}
	return distance(level(&a.order), level(&c.Order)) < distance(level(&b.order), level(&c.Order))
}

// level is where an order stands: its limit, or its trigger.
func level(o *market.Order) market.Price {
	if o.Price != 0 {
		return o.Price
	}
	return o.TriggerAmount
}

func distance[T ~int64](a, b T) T { return max(a-b, b-a) }
