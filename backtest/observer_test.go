package backtest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// diary is a Witness that writes down what it hears.
type diary struct{ lines []string }

func (w *diary) note(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

func (w *diary) Approved(_ state.Terms, c *market.Command, _ []state.Figure) {
	w.note("%s %d", c.Kind, c.Order.ID)
}

func (w *diary) Filled(o *state.Order, f *market.Fill) {
	w.note("fill of %d: %d @ %d", o.ID, f.Amount, f.Price)
}

func (w *diary) Closed(o *state.Order) { w.note("%d %s", o.ID, o.State) }

func (w *diary) Ended(a *state.Account) { w.note("holds %d", a.Position(1, 1).Amount) }

func TestAWitnessHearsARunInItsOrder(t *testing.T) {
	s := newStage(t, func(d *strategy.Desk, c market.Candle) {
		if c.Start > 0 {
			for _, o := range d.In(1).OpenOrders() {
				require.NoError(t, d.Cancel(o.ID))
			}
			return
		}
		_, err := d.In(1).Buy(strategy.Amount(1), strategy.At(95))
		require.NoError(t, err)
		_, err = d.In(1).Buy(strategy.Amount(1), strategy.At(50))
		require.NoError(t, err)
	})
	s.plan.Strategies[0].Markets = s.plan.Catalog.Markets()[:1]
	s.feed(1, market.Interval1h, true, true, [5]int64{0, 100, 100, 100, 100}, [5]int64{60, 100, 110, 90, 105},
		[5]int64{120, 105, 105, 105, 105})
	var w diary
	with := s.run(t, Options{Observer: &w, Envelope: true})
	require.Equal(t, []string{"place 1", "place 2", "fill of 1: 1 @ 95", "1 filled", "cancel 2", "2 canceled",
		"holds 1"}, w.lines)
	want, err := s.run(t, Options{Envelope: true}).JSON()
	require.NoError(t, err)
	have, err := with.JSON()
	require.NoError(t, err)
	require.Equal(t, string(want), string(have), "it changes nothing")
}
