package sim

import "github.com/tidemark-trading/tidemark/market"

// tactics reports whether a tactic is under way in any market.
func (v *Venue) tactics() bool { return v.config.Watches != nil && v.config.Watches[0].Tactic }

// attaches reports whether a command can act where the path of a book stands. While a tactic is
// under way, only a command that is sent while the path is walked can: a timer may have sent it.
func (v *Venue) attaches(b *book) bool {
	return v.rings && b.movement == v.movement || !v.rings && !v.tactics()
}

// mostRings bounds the timers of one leg: the engine may set its next timer in the past.
const mostRings = 1000

// ringsTo walks all paths to a point and lets the engine's timers ring on the way, each where the
// paths stand at its time. What they send acts there.
//
// Known limitation: of several markets one walks after the other. A timer that is set on the way in
// one of them finds those before it at the point.
func (v *Venue) ringsTo(point int) {
	v.ringsLeft = mostRings
	v.ring(point)
	for i := 0; i < len(v.active) && v.err == nil; {
		v.walk(v.active[i], point)
		if v.interrupted() {
			v.ring(point)
		} else {
			i++
		}
	}
}

// ring walks the paths towards their next point, from one timer before it to the next.
func (v *Venue) ring(point int) {
	end := v.active[0].times[point]
	for _, b := range v.active {
		end = min(end, b.times[point])
	}
	for ; v.ringsLeft > 0 && v.err == nil; v.ringsLeft-- {
		at := v.config.Watches[0].Timer
		if at == 0 || at >= end {
			break
		}
		v.until = at
		for i := 0; i < len(v.active) && v.config.Watches[0].Timer == at; i++ {
			v.walkUntil(v.active[i], at, point)
		}
		if v.config.Watches[0].Timer != at {
			continue // another one, by what happened on the way
		}
		for _, b := range v.active {
			b.time = max(b.time, at)
		}
		v.priceEvent = market.Event{At: at, Kind: market.KindTimer}
		v.sink(&v.priceEvent)
		for _, b := range v.active {
			v.arriveAttached(b)
		}
	}
	v.until = end
}

// interrupted reports whether a timer rings before the path is where it is walking to: the engine
// has set it on the way.
func (v *Venue) interrupted() bool { return v.rings && v.timerOnTheWay() }

//go:noinline
func (v *Venue) timerOnTheWay() bool {
	at := v.config.Watches[0].Timer
	return at != 0 && at < v.until && v.ringsLeft > 0 && v.err == nil
}

// walkUntil goes to where the path stands at a time before a point: at the latest tick that it has
// reached.
func (v *Venue) walkUntil(b *book, at market.Time, point int) {
	if b.leg = point; at > b.times[point-1] {
		from, way := b.points[point-1], b.points[point]-b.points[point-1]
		past, whole := market.Price(at-b.times[point-1]), market.Price(b.times[point]-b.times[point-1])
		tick := max(1, b.market.TickSize)
		switch to := from + towards(way, past, whole); {
		case way > 0:
			v.walkAndStand(b, max(b.last, market.FloorTo(to, tick)))
		case way < 0:
			v.walkAndStand(b, min(b.last, market.CeilTo(to, tick)))
		}
	}
	if b.watch.Tactic && v.config.Watches[0].Timer == at {
		v.notifyPrice(b)
	}
}

// walkAndStand goes to a price of the leg that the path is on, and stops there.
func (v *Venue) walkAndStand(b *book, to market.Price) {
	if !v.walkTo(b, to) {
		return
	}
	b.stand(to)
	for v.err == nil && v.notifyHere(b) {
	}
}

// notifyTactic walks to the price that a tactic waits for, if the path reaches it before it stops,
// and notifies the engine. An entry at that price is executed first. It reports whether the tactic
// waits for another price now.
func (v *Venue) notifyTactic(b *book, stop market.Price, entry bool) bool {
	w := *b.watch
	level := w.Rise
	if stop < b.last {
		level = w.Fall
	}
	switch ahead := b.watchedBefore(stop); {
	case w.Rise != 0 && b.last >= w.Rise, w.Fall != 0 && b.last <= w.Fall:
	case level == 0 || level != between(level, b.last, ahead) || level == stop && entry:
		return false
	default:
		b.stand(level)
	}
	v.notifyPrice(b)
	return b.watch.Rise != w.Rise || b.watch.Fall != w.Fall
}
