package lang

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// warm is the warm-up of each stream: the largest of its sums.
type warm map[int]sums

type sums []candleSum

// candleSum is a number, and terms that follow from params.
type candleSum struct {
	n     int
	terms []string
}

// of is the warm-up with n candles of a stream.
func (w warm) of(stream, n int) warm { return w.or(warm{stream: {{n: n}}}) }

// or is the larger one of each stream.
func (w warm) or(other warm) warm {
	all := maps.Clone(w)
	for stream, list := range other {
		all[stream] = slices.Concat(all[stream], list).largest()
	}
	return all
}

// plus adds candles of a stream; several streams count by the main one.
func (w warm) plus(stream, n int, term string) warm {
	stream = max(stream, 0)
	all := maps.Clone(w)
	old := all[stream]
	if len(old) == 0 {
		old = sums{{n: 1}}
	}
	all[stream] = nil
	for _, s := range old {
		next := candleSum{s.n + n, slices.Clone(s.terms)}
		if term != "" {
			next.terms = append(next.terms, term)
		}
		all[stream] = append(all[stream], next)
	}
	return all
}

// largest leaves out the sums that cannot be the largest.
func (s sums) largest() (all sums) {
	for _, one := range s {
		i := slices.IndexFunc(all, func(have candleSum) bool { return slices.Equal(have.terms, one.terms) })
		if i < 0 {
			all = append(all, one)
		} else {
			all[i].n = max(all[i].n, one.n)
		}
	}
	return all
}

// text is the largest as Go code.
func (s sums) text() string {
	var all []string
	for _, one := range s {
		text := strings.Join(one.terms, " + ")
		switch {
		case text == "":
			text = strconv.Itoa(one.n)
		case one.n > 0:
			text += " + " + strconv.Itoa(one.n)
		case one.n < 0:
			text += " - " + strconv.Itoa(-one.n)
		}
		all = append(all, text)
	}
	if len(all) == 1 {
		return all[0]
	}
	return "max(" + strings.Join(all, ", ") + ")"
}

// warm is the warm-up of an expression.
func (w *writer) warm(e *expr) warm {
	all := warm{}
	if e.op == opCell {
		return all.or(w.cells[e.cell].warm)
	}
	for _, k := range e.kids {
		all = all.or(w.warm(k))
	}
	return all
}
