package gap

import (
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// swapped is how many facts, from Data on, are run in every admissible order. Prices and Fees
// follow them.
const swapped = Fills + 1

// admissible reports whether a run with these facts has a meaning: a recorded fill belongs to a
// recorded acceptance, so Fills need Orders.
func admissible(s Set) bool { return !s.Has(Fills) || s.Has(Orders) }

// sequences are the orders in which the swapped facts may be added: 12 of 24.
func sequences() (all [][]Fact) {
	var extend func(Set, []Fact)
	extend = func(have Set, path []Fact) {
		if len(path) == int(swapped) {
			all = append(all, slices.Clone(path))
			return
		}
		for f := range swapped {
			if next := have.With(f); next != have && admissible(next) {
				extend(next, append(path, f))
			}
		}
	}
	extend(0, nil)
	return all
}

// subsets are the admissible sets of the swapped facts: 12 of 16, each one run.
func subsets() (all []Set) {
	for s := range Set(1 << swapped) {
		if admissible(s) {
			all = append(all, s)
		}
	}
	return all
}

// share is the change by a fact: over all admissible orders, in units of the currency.
type share struct {
	mean        market.Money // rounded so that the shares of all facts add up to the whole
	least, most market.Money
}

// shares are the Shapley values of the swapped facts over the admissible orders. profit is asked
// once for each admissible set.
func shares(profit func(Set) market.Money) (all [swapped]share) {
	var known [1 << swapped]market.Money
	for _, s := range subsets() {
		known[s] = profit(s)
	}
	orders := sequences()
	var sums [swapped]market.Money
	for i, order := range orders {
		have := Set(0)
		for _, f := range order {
			change := known[have.With(f)] - known[have]
			have = have.With(f)
			one := &all[f]
			sums[f] += change
			if one.least = min(one.least, change); i == 0 {
				one.least = change
			}
			if one.most = max(one.most, change); i == 0 {
				one.most = change
			}
		}
	}
	for f, mean := range apportion(sums[:], market.Money(len(orders))) {
		all[f].mean = mean
	}
	return all
}

// apportion divides each sum by n. The results are rounded down, and those with the largest rests
// then up, the first ones of equals, until they add up to the total divided by n. n must divide
// the total.
func apportion(sums []market.Money, n market.Money) []market.Money {
	parts, rests, missing := make([]market.Money, len(sums)), make([]market.Money, len(sums)), market.Money(0)
	for i, sum := range sums {
		parts[i] = sum / n
		if rests[i] = sum % n; rests[i] < 0 {
			parts[i]--
			rests[i] += n
		}
		missing += rests[i]
	}
	for ; missing > 0; missing -= n {
		largest := 0
		for i := range rests {
			if rests[i] > rests[largest] {
				largest = i
			}
		}
		parts[largest]++
		rests[largest] = -1
	}
	return parts
}
