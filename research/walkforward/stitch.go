package walkforward

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research"
)

// first is the first window that has found parameters: before its test nothing trades.
func first(choices []choice) int {
	return slices.IndexFunc(choices, func(c choice) bool { return c.settings != nil })
}

// stitched is the run of the test days: it begins with the parameters of the first window, and each
// border changes them. A window that has found none, or the same ones, goes on with what it has;
// a flat border closes all positions in any case.
func (w *Walk) stitched(choices []choice, flat bool) (*backtest.Plan, error) {
	begin := first(choices)
	if begin < 0 {
		return nil, ErrNothing
	}
	base, err := w.searcher.Plan(choices[begin].settings)
	if err != nil {
		return nil, err
	}
	p := *base
	p.From = w.spans[begin].Test
	now, strategies := choices[begin].settings, p.Strategies
	for at := begin + 1; at < len(choices); at++ {
		next := choices[at].settings
		if changes := next != nil && !slices.Equal(next, now); changes {
			other, err := w.searcher.Plan(next)
			if err != nil {
				return nil, err
			}
			if what := differs(&p, other); what != "" {
				return nil, fmt.Errorf("window %d, %s: %s cannot change inside a run; vary parameters of strategies "+
					"alone",
					at+1, research.SettingsText(next), what)
			}
			now, strategies = next, other.Strategies
		} else if !flat {
			continue
		}
		p.Borders = append(p.Borders, backtest.Border{At: w.spans[at].Test, Strategies: strategies, Flat: flat})
	}
	return &p, nil
}

// differs names what differs beside the strategies; empty: nothing.
func differs(a, b *backtest.Plan) string {
	switch {
	case !reflect.DeepEqual(a.Feeds, b.Feeds):
		return "the candles"
	case a.Fees != b.Fees:
		return "the fees"
	case !reflect.DeepEqual(a.Venue, b.Venue) || a.DataLatency != b.DataLatency || a.SyntheticBook != b.SyntheticBook:
		return "the venue"
	case !reflect.DeepEqual(a.Account, b.Account):
		return "the limits of the account"
	case !reflect.DeepEqual(a.Deposits, b.Deposits) || a.Currency != b.Currency:
		return "the money"
	}
	return ""
}
