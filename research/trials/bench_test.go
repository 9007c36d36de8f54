package trials

import (
	"flag"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchTries is how many tries the ledger of BenchmarkCount has.
var benchTries = flag.Int("tries", 100_000, "tries of the ledger that is counted")

// BenchmarkAppend appends one backtest. The floor writes as many bytes to the end of a file.
func BenchmarkAppend(b *testing.B) {
	g := group("smacross", "BTC-EUR", 0, 1000, Try{1, 1, 0, 999, 0})
	b.Run("ledger", func(b *testing.B) {
		l := fresh(b, b.TempDir())
		for b.Loop() {
			_, err := l.Append(g)
			require.NoError(b, err)
		}
	})
	b.Run("floor", func(b *testing.B) {
		frame, err := appendGroup(nil, &g)
		require.NoError(b, err)
		name := b.TempDir() + "/floor"
		for b.Loop() {
			f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			require.NoError(b, err)
			_, err = f.Write(frame)
			require.NoError(b, err)
			require.NoError(b, f.Close())
		}
	})
}

// BenchmarkCount is what a backtest asks of a ledger: the seals before it runs, the count of its
// family, and that it counts. The floor reads the file.
func BenchmarkCount(b *testing.B) {
	l := fresh(b, b.TempDir())
	random := rand.New(rand.NewPCG(1, 2))
	for made := 0; made < *benchTries; {
		var all []Group
		for range 500 {
			g := group("smacross", "BTC-EUR", 0, 1000)
			for range min(24, *benchTries-made) {
				g.Tries = append(g.Tries, Try{random.Uint64(), random.Uint64(), random.NormFloat64() / 30, 999, 0})
				made++
			}
			all = append(all, g)
		}
		_, err := l.Append(all...)
		require.NoError(b, err)
	}
	span := Span{[]string{"BTC-EUR"}, 0, 1000 * day0}
	b.Run("whole", func(b *testing.B) {
		own := Try{random.Uint64(), random.Uint64(), 0, 999, 0}
		for b.Loop() {
			v, err := l.View()
			require.NoError(b, err)
			st, err := v.Standing(span, &own)
			require.NoError(b, err)
			require.Equal(b, int64(*benchTries+1), st.Tries)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(*benchTries), "ns/try")
	})
	b.Run("first", func(b *testing.B) { // without an index
		for b.Loop() {
			_ = os.Remove(l.indexPath())
			_, err := l.Seals()
			require.NoError(b, err)
		}
	})
	b.Run("backtest", func(b *testing.B) { // each is a new try
		_, err := l.Seals()
		require.NoError(b, err)
		for b.Loop() {
			own := Try{random.Uint64(), random.Uint64(), 0, 999, 0}
			_, err := l.Seals()
			require.NoError(b, err)
			st, err := l.Standing(span, &own)
			require.NoError(b, err)
			require.True(b, st.New)
			_, err = l.Append(group("smacross", "BTC-EUR", 0, 1000, own))
			require.NoError(b, err)
		}
	})
	b.Run("floor", func(b *testing.B) {
		buffer := make([]byte, bufferSize)
		for b.Loop() {
			f, err := os.Open(l.Path())
			require.NoError(b, err)
			for n := 1; n > 0; {
				n, _ = f.Read(buffer)
			}
			require.NoError(b, f.Close())
		}
	})
}
