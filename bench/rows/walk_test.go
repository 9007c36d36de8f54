package rows

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/walkforward"
)

// BenchmarkWalk measures the rows of the table that are about walk-forwards.
func BenchmarkWalk(b *testing.B) {
	if testing.Short() {
		b.Skip("BenchmarkTable measures the same rows")
	}
	for b.Loop() {
		t := &table{b: b}
		t.walk()
		fmt.Println(t.text.String())
	}
}

// walk measures a walk-forward over the built-in market's 26,000 hours, with 180 days of training
// and 30 of test: pairs of averages, rolling and anchored. The floor is one sweep of the same sets
// over the range.
func (t *table) walk() {
	sets := 500
	if testing.Short() {
		sets = 60
	}
	job := t.averages(sets, "fast=5:200:5", "slow=205:710:5")
	job.Workers = 1
	forward := func(c walkforward.Config) func() {
		w, err := walkforward.New(job, c)
		require.NoError(t.b, err)
		return func() {
			_, err := w.Again(context.Background(), nil)
			require.NoError(t.b, err)
		}
	}
	searcher, err := research.NewSearcher(job)
	require.NoError(t.b, err)
	rounds := *t
	rounds.rounds = 4
	took := rounds.least(func() {
		_, err := searcher.Search(context.Background(), nil)
		require.NoError(t.b, err)
	}, forward(walkforward.Config{Train: 180, Test: 30}), forward(walkforward.Config{Train: 180, Test: 30,
		Anchored: true}))
	for i, name := range []string{"rolling", "anchored"} {
		t.compare(fmt.Sprintf("walk-forward of %d sets, %s", sets, name), "one sweep", took[0]/1e6, took[i+1]/1e6, "ms",
			1.1)
	}
}
