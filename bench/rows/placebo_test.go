package rows

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research/placebo"
)

// BenchmarkPlacebo measures the rows of the table that are about placebos.
func BenchmarkPlacebo(b *testing.B) {
	if testing.Short() {
		b.Skip("BenchmarkTable measures the same rows")
	}
	for b.Loop() {
		t := &table{b: b}
		t.placebo()
		fmt.Println(t.text.String())
	}
}

// placebo measures one search on a surrogate of the built-in market's 26,000 hours: sets drawn from
// the 10,011 pairs of 142 averages, with all orders, fills and figures. The floor is the same
// search on the data.
func (t *table) placebo() {
	sets := 1000
	if testing.Short() {
		sets = 16
	}
	job := t.averages(sets, "fast=5:705:5", "slow=10:710:5")
	data, err := placebo.NewData(placebo.Rules{})
	require.NoError(t.b, err)
	search, err := placebo.Search(job)(1, data.Note)
	require.NoError(t.b, err)
	found, err := search.Run(context.Background(), nil)
	require.NoError(t.b, err)
	require.NoError(t.b, data.Read(found.Reads))
	var s *placebo.Surrogate
	number := 0
	rounds := *t
	rounds.rounds = 4
	took := rounds.least(func() {
		_, err := search.Run(context.Background(), func(*backtest.Plan) {})
		require.NoError(t.b, err)
	}, func() {
		number++
		s = data.Surrogate(number, s)
		_, err := search.Run(context.Background(), s.Alter)
		require.NoError(t.b, err)
	})
	runs := float64(found.Tries * data.Candles())
	t.compare("placebo, candle·set of a surrogate", "the data", took[0]/runs, took[1]/runs, "ns", 1.15)
	whole, goal := took[1]/float64(found.Tries)*1000*199/1e9, "≤ 60 s"
	if whole > 60 {
		goal += " missed"
	}
	t.line("placebo, 199 × 1,000 sets × 26 k candles", fmt.Sprintf("the data %.3g s", took[0]/1e9),
		fmt.Sprintf("%.3g s",
			whole), "", goal)
}
