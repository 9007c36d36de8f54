package sim

import "slices"

// showPaths walks the paths of active books that are all quiet, so all followed: nothing happens
// but that Config.Point gets their points. It stops after a point at which a book became other than
// quiet, and returns the number of points passed.
func (v *Venue) showPaths() (passed int) {
	books := len(v.active)
	for _, b := range v.active {
		b.points[1], b.points[2] = v.config.Path.extremes(&b.candle, v.solo.balances[b.market.Base].Total > 0)
		b.lowHit, b.topHit = false, false
	}
	v.shown = slices.Grow(v.shown[:0], 4*books)[:4*books]
	for i, b := range v.active {
		for point := range 4 {
			p := &v.shown[point*books+i]
			p.Candle, p.At, p.Price = &b.candle, b.times[point], b.points[point]
		}
	}
	next := 0
	for calm := true; next < len(v.shown) && calm; {
		next += v.config.Point(v.shown[next:])
		for _, b := range v.active {
			calm = calm && b.waiting == 0 && !(b.watch.Any() && b.watched(&b.candle))
		}
	}
	last := (next - 1) / books
	for _, b := range v.active {
		b.last, b.time, b.leg = b.points[last], b.times[last], last
	}
	for _, b := range v.active[next-last*books:] { // what Point did with another book may have changed these
		v.reachPoint(b, last)
	}
	return last + 1
}
