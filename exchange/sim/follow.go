package sim

import "slices"

// showPaths walks the paths of active books that are all quiet, so all followed: nothing happens
// but that Config.Point gets their points. It stops after a point at which a book became other than
// quiet, and returns the number of points passed.
func (v *Venue) showPaths() int {
	for _, b := range v.active {
		b.points[1], b.points[2] = v.config.Path.extremes(&b.candle, v.solo.balances[b.market.Base].Total > 0)
		b.lowHit, b.topHit = false, false
	}
	for point := range 4 {
		for _, b := range v.active {
			b.last, b.time, b.leg = b.points[point], b.times[point], point
		}
		calm := true
		for _, b := range v.active {
			if calm = calm && !b.stirred(); calm {
				v.config.Point(&b.candle, b.times[point], b.points[point])
			} else { // what Point did with another book has changed this one
				v.reachPoint(b, point)
			}
		}
		if !calm || slices.ContainsFunc(v.active, (*book).stirred) {
			return point + 1
		}
	}
	return 4
}

// stirred reports whether a book whose candle was quiet is so no longer: a command is on its way,
// or the engine watches a price.
func (b *book) stirred() bool {
	return b.waiting > 0 || b.watch.Any() && b.watched(&b.candle)
}
