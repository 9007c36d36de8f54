package live

import (
	"cmp"
	"container/heap"

	"github.com/tidemark-trading/tidemark/market"
)

// queryQueue holds the queries of orders, and says which is due. A query is in one of two heaps
// while it is not pending: in waiting, by its time, or in due, by its order, once that time has
// come. So a commit costs a step for each query that is due, not one for each open order.
type queryQueue struct {
	of           map[market.OrderID]*query
	waiting, due queryHeap
}

func newQueryQueue() queryQueue {
	return queryQueue{of: map[market.OrderID]*query{},
		waiting: queryHeap{before: func(x, y *query) bool {
			return cmp.Or(cmp.Compare(x.next, y.next),
				cmp.Compare(x.id, y.id)) < 0
		}},
		due: queryHeap{before: func(x, y *query) bool { return x.id < y.id }}}
}

// add adds a query of an order that has none.
func (a *queryQueue) add(q *query) {
	q.agenda, a.of[q.id] = a, q
	heap.Push(&a.waiting, q)
}

// remove ends the query of an order, where there is one.
func (a *queryQueue) remove(id market.OrderID) {
	if q := a.of[id]; q != nil {
		delete(a.of, id)
		q.agenda = nil
		q.leave()
	}
}

// first returns the query that is due with the smallest number of its order; nil: none is due.
func (a *queryQueue) first(now market.Time) *query {
	for len(a.waiting.list) > 0 && a.waiting.list[0].next <= now {
		heap.Push(&a.due, heap.Pop(&a.waiting))
	}
	if len(a.due.list) == 0 {
		return nil
	}
	return a.due.list[0]
}

// next is when the next query is due; false: none is there that is not pending.
func (a *queryQueue) next() (at market.Time, any bool) {
	switch {
	case len(a.due.list) > 0:
		return a.due.list[0].next, true
	case len(a.waiting.list) > 0:
		return a.waiting.list[0].next, true
	}
	return 0, false
}

// at makes a query due at a time.
func (q *query) at(next market.Time) {
	q.next = next
	if q.heap != nil {
		q.leave()
		heap.Push(&q.agenda.waiting, q)
	}
}

// leave takes a query out of its heap.
func (q *query) leave() {
	if q.heap != nil {
		heap.Remove(q.heap, q.place)
	}
}

// begin notes that the query is on its way.
func (q *query) begin() {
	q.pending = true
	q.leave()
}

// end notes that the query was answered.
func (q *query) end() {
	q.pending = false
	if q.agenda != nil {
		heap.Push(&q.agenda.waiting, q)
	}
}

// queryHeap is a heap of queries; each knows its place.
type queryHeap struct {
	list   []*query
	before func(x, y *query) bool
}

// Len is the number of queries.
func (h *queryHeap) Len() int { return len(h.list) }

// Less reports whether a query comes before another.
func (h *queryHeap) Less(i, j int) bool { return h.before(h.list[i], h.list[j]) }

// Swap exchanges two queries.
func (h *queryHeap) Swap(i, j int) {
	h.list[i], h.list[j] = h.list[j], h.list[i]
	h.list[i].place, h.list[j].place = i, j
}

// Push adds a query at the end.
func (h *queryHeap) Push(x any) {
	q, _ := x.(*query)
	q.heap, q.place = h, len(h.list)
	h.list = append(h.list, q)
}

// Pop removes the query at the end.
func (h *queryHeap) Pop() any {
	last := len(h.list) - 1
	q := h.list[last]
	q.heap, h.list[last], h.list = nil, nil, h.list[:last]
	return q
}
