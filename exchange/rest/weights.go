package rest

import "github.com/tidemark-trading/tidemark/market"

// sureAfter is how many answers in a row must show the same weight before it is believed: another client of the key may spend between two.
const sureAfter = 3

// weights are what requests cost by the exchange's own count, where that differs from the table.
type weights struct {
	known  map[string]int
	doubts map[string]doubt
}

// doubt is a weight that answers have shown, and how many in a row.
type doubt struct{ weight, times int }

// of returns what a request of an endpoint costs.
func (w *weights) of(endpoint string, table int) int {
	if known, ok := w.known[endpoint]; ok && endpoint != "" {
		return known
	}
	return table
}

// learn takes what a request cost that was alone on its way between two answers.
func (l *Ledger) learn(t *ticket, cost int, now market.Time) {
	w := &l.weights
	switch seen := w.doubts[t.endpoint]; {
	case t.endpoint == "" || cost < 0:
	case cost == t.weight:
		delete(w.doubts, t.endpoint)
	case cost != seen.weight || seen.times == 0:
		w.doubts[t.endpoint] = doubt{cost, 1}
	case seen.times+1 < sureAfter:
		w.doubts[t.endpoint] = doubt{cost, seen.times + 1}
	default:
		delete(w.doubts, t.endpoint)
		w.known[t.endpoint] = cost
		l.warn(Warning{Kind: WarnWeight, Signed: t.of.signed, At: now, Endpoint: t.endpoint, Was: t.weight, Is: cost})
	}
}
