package shelf_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/bottest"
	"github.com/tidemark-trading/tidemark/bot/dashboard/shelf"
)

// BenchmarkResults lists 1,000 results: for the first time, and again after a look is no longer
// fresh.
func BenchmarkResults(b *testing.B) {
	made := &bottest.Results{TB: b, Folder: filepath.Join(b.TempDir(), "out"), Hours: 3 * 365 * 24}
	made.Backtest("r0", "one of many", "trend", "120", "480")
	for i := range 999 {
		for _, name := range []string{"result.json", "days.csv"} {
			made.Write(fmt.Sprintf("r%d/%s", i+1, name), made.Read("r0/"+name))
		}
	}
	now := time.Now()
	s := shelf.New(shelf.Config{Folder: made.Folder, Now: func() time.Time { return now }})
	list := func(b *testing.B) {
		now = now.Add(time.Minute)
		list, err := s.Results(shelf.Query{Sort: "sharpe"})
		require.NoError(b, err)
		require.Len(b, list.Results, 1000)
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			s = shelf.New(s.Config)
			list(b)
		}
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			list(b)
		}
	})
}
