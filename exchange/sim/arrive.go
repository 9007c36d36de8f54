package sim

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// arrive carries out the commands that are due at a point: cancels, then updates, then new orders,
// each in the order of the calls of Do. v.waiting is in that order of calls, and mostly sorted by
// kind already.
func (v *matching) arrive(point int) {
	if len(v.waiting) > 0 {
		v.takeDue(point)
		for _, a := range v.due {
			v.carryOutArrival(a, point)
		}
	}
}

// takeDue moves the commands that are due from waiting to due, in the order in which they arrive.
func (in *inbox) takeDue(point int) {
	all, sorted, before := true, true, market.CommandKind(0)
	for _, a := range in.waiting {
		if !in.isDue(a, point) {
			all = false
			continue
		}
		a.book.waiting--
		sorted, before = sorted && before <= a.kind, a.kind
	}
	if all {
		in.waiting, in.due = in.due[:0], in.waiting
	} else {
		in.splitDue(point)
	}
	if !sorted {
		slices.SortStableFunc(in.due, func(a, b *arrival) int { return int(a.kind) - int(b.kind) })
	}
}

// splitDue is takeDue where some commands are not due. Each command changes places with spare
// memory of the other list.
func (in *inbox) splitDue(point int) {
	due, late := in.due[:0], 0
	for i, a := range in.waiting {
		if !in.isDue(a, point) {
			in.waiting[late], in.waiting[i] = a, in.waiting[late]
			late++
			continue
		}
		if len(due) == cap(due) {
			due = moreArrivals(due)
		}
		due = due[:len(due)+1]
		due[len(due)-1], in.waiting[i] = a, due[len(due)-1]
	}
	in.waiting, in.due = in.waiting[:late], due
}

// anywhere is the point of a command that arrives between two points of the path, or without one.
const anywhere = -1

// carryOutArrival carries out a command that has arrived. point is the point of the path at which
// the price stands, or anywhere.
func (v *matching) carryOutArrival(a *arrival, point int) {
	if a.kind != market.CommandPlace {
		v.revise(a.book, a.change, &a.origin)
	} else if v.place(a.book, a.placed, &a.origin, point) {
		v.accept(a.book, a.placed, market.ExecNew)
	}
}

// isDue reports whether a command arrives at a point of the present candles. A command decided
// during their path waits for the next path, unless it is a bracket's.
func (in *inbox) isDue(a *arrival, point int) bool {
	if a.movement == in.movement && !a.attached {
		return false
	}
	return a.book.movement == in.movement && a.at <= a.book.times[point]
}

// arriveAttached carries out the commands of brackets at once where there is no latency. With
// latency they arrive at the next point that is late enough.
func (v *matching) arriveAttached(b *book) {
	if b.attached {
		v.arriveInPath(b)
	}
}

func (v *matching) arriveInPath(b *book) {
	for b.attached && v.config.Latency == 0 && v.err == nil {
		b.attached = false
		for i := 0; i < len(v.waiting); i++ {
			if a := v.waiting[i]; !a.attached || a.book != b {
				continue
			}
			a := v.takeOut(i)
			b.waiting--
			v.carryOutArrival(&a, anywhere)
			v.match(b)
			i = -1 // its effects may have brought more commands
		}
	}
}

// takeOut takes a command out of the waiting ones. Its memory is spare.
func (in *inbox) takeOut(i int) arrival {
	a, last := in.waiting[i], len(in.waiting)-1
	copy(in.waiting[i:], in.waiting[i+1:])
	in.waiting[last] = a
	in.waiting = in.waiting[:last]
	taken := *a
	a.change = nil // the effects of the command may bring more commands, which use the spare memory
	return taken
}
