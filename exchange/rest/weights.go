package rest

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// sureAfter is how many answers in a row must show the same weight before it is believed: another
// client of the key may spend between two.
const sureAfter = 3

// weights are what requests cost by the exchange's own count, where that differs from the table.
type weights struct {
	known  map[priced]int
	doubts map[priced]doubt
	// of which a person has heard: another client with a rhythm of its own makes them come and go
	told map[priced]bool
}

// priced is a kind of request: an endpoint may have one weight for a market and another for all, so
// that the table's belongs to its name.
type priced struct {
	endpoint string // "": it is not told, and nothing is learnt
	table    int
}

// doubt is a weight that answers have shown, and how many in a row.
type doubt struct{ weight, times int }

// of returns what a request costs.
func (w *weights) of(p priced) int {
	if known, ok := w.known[p]; ok {
		return known
	}
	return p.table
}

// learn takes what a request cost that was alone on its way between two answers.
func (l *Ledger) learn(t *ticket, cost int, now market.Time) {
	w := &l.weights
	switch seen := w.doubts[t.priced]; {
	case t.endpoint == "" || cost < 0:
	case cost == t.weight:
		delete(w.doubts, t.priced)
	case cost != seen.weight || seen.times == 0:
		w.doubts[t.priced] = doubt{cost, 1}
	case seen.times+1 < sureAfter:
		w.doubts[t.priced] = doubt{cost, seen.times + 1}
	default:
		delete(w.doubts, t.priced)
		w.known[t.priced] = cost
		if w.told[t.priced] {
			return
		}
		w.told[t.priced] = true
		l.warn(Warning{Kind: WarnWeight, Payer: t.of.payer, At: now, Endpoint: t.endpoint, Was: t.weight, Is: cost})
	}
}

// states returns the weights that were learnt, in an order that is always the same.
func (w *weights) states() []WeightState {
	list := make([]WeightState, 0, len(w.known))
	for p, real := range w.known {
		list = append(list, WeightState{p.endpoint, p.table, real})
	}
	slices.SortFunc(list, func(a, b WeightState) int {
		return cmp.Or(cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Table, b.Table))
	})
	return list
}
