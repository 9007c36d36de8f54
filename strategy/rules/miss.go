package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/rules/lang"
)

// miss is one comparison of the entry that kept it from being true, with all others true.
type miss struct {
	lang.Miss             // the nearest one
	at        market.Time // of it
	times     int
}

// Watch lets the rules count how often one comparison alone kept the entry from being true.
func (w *written) Watch() { w.watches, w.alone = true, false }

// miss counts a comparison that alone was false.
func (n *counts) miss(m lang.Miss, at market.Time) {
	if m.Part == "" {
		return
	}
	i := slices.IndexFunc(n.misses, func(old miss) bool { return old.Part == m.Part })
	if i < 0 {
		i = len(n.misses)
		n.misses = append(n.misses, miss{Miss: m, at: at})
	}
	if old := &n.misses[i]; m.Distance < old.Distance {
		old.Miss, old.at = m, at
	}
	n.misses[i].times++
}

// nearMisses are a sentence for each comparison, the most frequent first.
func nearMisses(of []miss) (notes []string) {
	slices.SortStableFunc(of, func(a, b miss) int { return cmp.Compare(b.times, a.times) })
	for _, m := range of {
		notes = append(notes, fmt.Sprintf("The entry was true at %d more but for %s; the nearest was %s at %s.",
			m.times, m.Part, m.Is, m.at))
	}
	return notes
}
