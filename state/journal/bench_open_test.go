package journal

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkOpenStateFile measures what an opening takes of a file of 20,000 orders, which the
// system has in its cache: for reading, as the commands do, and for writing, as the start of a bot
// does.
func BenchmarkOpenStateFile(b *testing.B) {
	path := filepath.Join(b.TempDir(), "bot.db")
	s := aDay(b, 20_000)
	require.NoError(b, s.Backup(path))
	require.NoError(b, s.Close())
	for name, open := range map[string]func(string) (*Store, error){"read": Read, "write": Open} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, err := open(path)
				require.NoError(b, err)
				require.NoError(b, s.Close())
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/(float64(fileSize(b, path))/(1<<20)),
				"ms/MB")
		})
	}
}
