package sim

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// arrive takes in the commands that are due at a point, in the order cancel, update, place, and among equals as they were handed over: so
// they wait.
func (v *Venue) arrive(point int) {
	if len(v.waiting) == 0 {
		return
	}
	v.due = v.due[:0]
	keep := v.waiting[:0]
	for _, a := range v.waiting {
		b := &v.books[a.command.Order.Market]
		if v.isDue(a, b, point) {
			v.due = append(v.due, a)
			b.waiting--
			continue
		}
		keep = append(keep, a)
	}
	v.waiting = keep
	for kind := market.CommandCancel; kind <= market.CommandPlace; kind++ {
		for _, a := range v.due {
			if a.command.Kind == kind {
				v.perform(&v.books[a.command.Order.Market], &a.command, &a.origin, point)
			}
		}
	}
	for _, a := range v.due {
		v.arrived = append(v.arrived, a)
	}
}

// isDue reports whether a command arrives at a point of the candles under way. What was decided during their own path, other
// than by a bracket, waits for the next.
func (v *Venue) isDue(a *arrival, b *book, point int) bool {
	if a.movement == v.movement && !a.command.Attached {
		return false
	}
	return a.at <= b.times[point] && slices.Contains(v.active, b)
}

// arriveAttached takes in the commands of brackets at once, where there is no latency; with latency they arrive at the next
// point that is late enough.
func (v *Venue) arriveAttached(b *book) {
	for b.attached && v.config.Latency == 0 && v.err == nil {
		b.attached = false
		for i := 0; i < len(v.waiting); i++ {
			a := v.waiting[i]
			if !a.command.Attached || a.command.Order.Market != b.market.ID {
				continue
			}
			v.waiting = slices.Delete(v.waiting, i, i+1)
			b.waiting--
			v.perform(b, &a.command, &a.origin, -1)
			v.arrived = append(v.arrived, a)
			v.match(b)
			i = -1 // what it caused may have brought more
		}
	}
}
