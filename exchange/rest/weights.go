package rest

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// minAnswers is how many answers in a row must show the same weight before it is learnt: another
// client of the key may spend between two.
const minAnswers = 3

// weights are the weights by the exchange's count, where they differ from the table.
type weights struct {
	known   map[weightKey]int
	samples map[weightKey]weightSample
	// warned are the keys with a warning: a periodic other client makes a weight come and go.
	warned map[weightKey]bool
}

// weightKey is a kind of request: an endpoint may have one weight for a market and another for all,
// so the table's weight is part of the key.
type weightKey struct {
	endpoint string // "": nothing is learnt
	table    int
}

// weightSample is a weight in the last answers, and in how many in a row.
type weightSample struct{ weight, times int }

// of returns the weight of a request.
func (w *weights) of(p weightKey) int {
	if known, ok := w.known[p]; ok {
		return known
	}
	return p.table
}

// learn takes the cost of a request that was the only one between two answers.
func (l *WeightBudget) learn(t *ticket, cost int, now market.Time) {
	w := &l.weights
	switch seen := w.samples[t.weightKey]; {
	case t.endpoint == "" || cost < 0:
	case cost == t.weight:
		delete(w.samples, t.weightKey)
	case cost != seen.weight || seen.times == 0:
		w.samples[t.weightKey] = weightSample{cost, 1}
	case seen.times+1 < minAnswers:
		w.samples[t.weightKey] = weightSample{cost, seen.times + 1}
	default:
		delete(w.samples, t.weightKey)
		w.known[t.weightKey] = cost
		if w.warned[t.weightKey] {
			return
		}
		w.warned[t.weightKey] = true
		l.warn(Warning{Kind: WarnWeight, Payer: t.allowance.payer, At: now, Endpoint: t.endpoint,
			Was: t.weight, Is: cost})
	}
}

// states returns the learnt weights, sorted.
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
