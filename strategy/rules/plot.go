package rules

import (
	"strings"

	"github.com/tidemark-trading/tidemark/strategy"
)

// plot is a figure that is drawn at each close.
type plot struct {
	name string // its text
	rule int
}

// plotted are the texts between the commas that stand in no bracket and no quotes.
func plotted(text string) (all []string) {
	deep, quote, from := 0, rune(0), 0
	for i, r := range text + "," {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '(' || r == '[':
			deep++
		case r == ')' || r == ']':
			deep--
		case r == ',' && deep == 0:
			if one := strings.TrimSpace(text[from:i]); one != "" {
				all = append(all, one)
			}
			from = i + 1
		}
	}
	if from < len(text) { // a bracket or a quote is open, which the language says
		all = append(all, strings.TrimSpace(text[from:]))
	}
	return all
}

// draw draws the figures: prices on the prices, others in a pane of their own.
func (w *written) draw(m strategy.MarketDesk, x *trade) {
	for _, p := range w.plots {
		if v, price := x.state.Shown(p.rule, &x.inputs); price {
			m.Plot(p.name, v)
		} else {
			m.Plot(p.name, v, strategy.Pane(p.name))
		}
	}
}
