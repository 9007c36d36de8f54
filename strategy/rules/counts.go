package rules

import (
	"fmt"
	"strings"
)

// counts are how often the rules of one market were what, at the decisions after the warm-up.
type counts struct {
	entry, exit               int // true; the exit in a position
	entryUnknown, exitUnknown int // undefined
	both                      int // the entry was true, and so was the exit
	busy                      int // the entry was true, and position or orders left no room
	cooling                   int // the entry was true during the cooldown
	priceless                 int // the entry was true, and at, stop, target, trail or raise had no price
	refused                   int // the buy was refused
	waited                    int // a candle of a longer interval did not come
}

// Notes say how often the rules were true and what kept them from trading, over all markets.
func (w *written) Notes() []string {
	var n counts
	for _, id := range w.markets {
		of := &w.In(id).count
		for _, sum := range []struct{ into, more *int }{{&n.entry, &of.entry}, {&n.exit, &of.exit},
			{&n.entryUnknown, &of.entryUnknown}, {&n.exitUnknown, &of.exitUnknown}, {&n.both, &of.both},
			{&n.busy, &of.busy}, {&n.cooling, &of.cooling}, {&n.priceless, &of.priceless}, {&n.refused, &of.refused},
			{&n.waited, &of.waited}} {
			*sum.into += *sum.more
		}
	}
	times := "closes"
	if w.on != nil {
		times = "signals"
	}
	text := fmt.Sprintf("The entry was true at %d %s", n.entry, times)
	var kept []string
	for _, k := range []struct {
		times int
		why   string
	}{{n.busy, "with a position or an open order"}, {n.both, "with a true exit"}, {n.cooling, "in the cooldown"},
		{n.priceless, "without a price of at, stop, target, trail or raise"}, {n.refused, "refused"}} {
		if k.times > 0 {
			kept = append(kept, fmt.Sprintf("%d %s", k.times, k.why))
		}
	}
	if len(kept) > 0 {
		text += " (" + strings.Join(kept, ", ") + ")"
	}
	notes := []string{fmt.Sprintf("%s, the exit at %d in a position.", text, n.exit)}
	if n.entryUnknown+n.exitUnknown > 0 {
		notes = append(notes, fmt.Sprintf("A figure was undefined, and the rule so false: entry %d, exit %d %s.",
			n.entryUnknown, n.exitUnknown, times))
	}
	if n.waited > 0 {
		notes = append(notes, fmt.Sprintf("%d closes were not decided: a candle of a longer interval was missing.",
			n.waited))
	}
	return append(notes, w.nearMisses(times)...)
}
