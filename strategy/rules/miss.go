package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/strategy/rules/lang"
)

// mostMisses is how many parts of an entry Notes tell of.
const mostMisses = 3

// Watch lets tags say why, and the rules count, while they hold nothing, how often one part of the
// entry alone kept it from being true.
func (w *written) Watch() {
	w.watches = true
	for _, id := range w.markets {
		w.In(id).state.Watch(w.entry)
	}
}

// nearMisses are a sentence for each part of the entry, the most frequent first, over all markets.
func (w *written) nearMisses(times string) (notes []string) {
	var all []lang.Miss
	for k, id := range w.markets {
		for i, m := range w.In(id).state.Misses() {
			if len(w.markets) > 1 {
				m.Is += " in " + w.names[k]
			}
			switch {
			case i == len(all):
				all = append(all, m)
			case m.Distance < all[i].Distance:
				m.Times += all[i].Times
				all[i] = m
			default:
				all[i].Times += m.Times
			}
		}
	}
	one := len(all) == 1
	all = slices.DeleteFunc(all, func(m lang.Miss) bool { return m.Times == 0 })
	slices.SortStableFunc(all, func(a, b lang.Miss) int { return cmp.Compare(b.Times, a.Times) })
	for _, m := range all[:min(len(all), mostMisses)] {
		if one {
			return []string{fmt.Sprintf("Nearest to an entry was %s at %s.", m.Is, m.At)}
		}
		notes = append(notes, fmt.Sprintf("The entry lacked %s alone at %d %s; nearest was %s at %s.", m.Part, m.Times,
			times, m.Is, m.At))
	}
	return notes
}
