package journal

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestTheReachOfAJournalBeginsBehindWhatWasTrimmed(t *testing.T) {
	s := botStore(t)
	require.Zero(t, must(s.Reach()).First, "no entry yet")
	s = aYear(t, 700, 690)
	first := must(s.Reach())
	require.Equal(t, Reach{Bytes: first.Bytes, First: 1, Since: 1}, first)
	for trimStep(t, s, 500_000).More {
	}
	reach := must(s.Reach())
	require.Equal(t, must(s.Check()).Cut+1, reach.First)
	require.NoError(t, s.Entries(reach.First, func(e *Entry) error {
		if e.Number == reach.First {
			require.Equal(t, e.At, reach.Since)
		}
		return nil
	}))
	require.Greater(t, reach.Since, market.Time(1000))
	info, err := os.Stat(s.Path())
	require.NoError(t, err)
	require.Equal(t, info.Size(), max(reach.Bytes, info.Size()), "bbolt counts its pages, the file may have more")
}
