package trials

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// small writes the index after a few tries.
func small(l *Ledger) *Ledger { return &Ledger{l.path, sizes{first: 3, tail: 2, chunk: 6}} }

func drawnGroup(t *rapid.T) Group {
	from := rapid.Int64Range(0, 40).Draw(t, "from")
	g := group("s", rapid.SampledFrom([]string{"A-EUR", "B-EUR", "C-EUR"}).Draw(t, "market"), from,
		from+rapid.Int64Range(1, 6).Draw(t, "days"))
	if rapid.IntRange(0, 5).Draw(t, "two markets") == 0 {
		g.Markets = union(g.Markets, []string{"A-EUR"})
	}
	for range rapid.IntRange(1, 8).Draw(t, "tries") {
		g.Tries = append(g.Tries, drawnTry(t))
	}
	return g
}

func drawnTry(t *rapid.T) Try {
	return Try{rapid.Uint64Range(0, 30).Draw(t, "key"), rapid.Uint64Range(0, 30).Draw(t, "series"), 0, 5, 0}
}

// harm changes the file of the index, or that of the ledger.
func harm(t *rapid.T, l *Ledger) {
	switch rapid.IntRange(0, 5).Draw(t, "harm") {
	case 0:
		_ = os.Remove(l.indexPath())
	case 1:
		_ = os.Remove(l.Path())
	case 2, 3: // a byte of the index, or its end
		b, err := os.ReadFile(l.indexPath())
		if err != nil || len(b) == 0 {
			return
		}
		at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		if rapid.Bool().Draw(t, "cut") {
			b = b[:at]
		} else {
			b[at] ^= 1
		}
		require.NoError(t, os.WriteFile(l.indexPath(), b, 0o600))
	case 4: // the end of the ledger is torn
		if info, err := os.Stat(l.Path()); err == nil {
			require.NoError(t, os.Truncate(l.Path(), rapid.Int64Range(0, info.Size()).Draw(t, "size")))
		}
	case 5: // a kill while the index was written
		require.NoError(t, os.WriteFile(l.indexPath()+".new", []byte("a part"), 0o600))
	}
}

// TestTheIndexCountsAsTheLedgerDoes compares the counts with those of a pass over the whole file.
func TestTheIndexCountsAsTheLedgerDoes(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		l := small(fresh(t, dir))
		for _, end := range []string{"", ".new"} {
			err := os.Remove(l.indexPath() + end)
			require.True(t, err == nil || errors.Is(err, fs.ErrNotExist))
		}
		for step := range rapid.IntRange(1, 25).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				harm(t, l)
			case 1:
				v := view(t, l)
				if len(v.Seals) > 0 && v.Seals[len(v.Seals)-1].Opened == nil {
					require.NoError(t, v.Open(&v.Seals[len(v.Seals)-1], 7))
				} else {
					g := drawnGroup(t)
					_, err := v.Seal(Span{g.Markets, g.From, g.To}, 5)
					require.NoError(t, err)
				}
			default:
				g := drawnGroup(t)
				g.At += int64(step) // a ledger that is begun again differs
				_, err := l.Append(g)
				require.NoError(t, err)
			}
			if rapid.Bool().Draw(t, "look") {
				sameAsTheView(t, l)
			}
		}
		sameAsTheView(t, l)
	})
}

func sameAsTheView(t *rapid.T, l *Ledger) {
	v, g, own := view(t, l), drawnGroup(t), drawnTry(t)
	span := Span{g.Markets, g.From, g.To}
	for _, own := range []*Try{nil, &own} {
		want, err := v.Standing(span, own)
		require.NoError(t, err)
		have, err := l.Standing(span, own)
		require.NoError(t, err)
		require.Equal(t, want, have)
	}
	seals, err := l.Seals()
	require.NoError(t, err)
	require.Equal(t, v.Seals, seals)
}

// TestTheIndexGrowsByManyBlocks counts more hashes than blocks have, in several chunks.
func TestTheIndexGrowsByManyBlocks(t *testing.T) {
	l := &Ledger{fresh(t, t.TempDir()).path, sizes{first: 100, tail: 50, chunk: 1500}}
	span := Span{[]string{"X-EUR"}, 0, 10 * day0}
	for n := range uint64(40) {
		g := group("a", "X-EUR", 0, 10)
		for i := range 100 + n {
			g.Tries = append(g.Tries, Try{n*90 + i, (n*90 + i) / 2, 0, 9, 0})
		}
		_, err := l.Append(g)
		require.NoError(t, err)
		if n%3 == 1 {
			continue
		}
		for _, own := range []Try{{n * 90, n, 0, 9, 0}, {1 << 40, 0, 0, 9, 0}} {
			want, err := view(t, l).Standing(span, &own)
			require.NoError(t, err)
			have, err := l.Standing(span, &own)
			require.NoError(t, err)
			require.Equal(t, want, have)
		}
	}
	x, err := l.openIndex()
	require.NoError(t, err)
	require.Greater(t, x.Keys, int64(3*blockRows))
	x.close()
	require.NoError(t, os.Remove(l.indexPath()))
	st, err := l.Standing(span, nil)
	require.NoError(t, err)
	require.Equal(t, x.Keys, st.Tries)
	again, err := l.openIndex()
	require.NoError(t, err)
	require.Equal(t, x.Keys, again.Keys)
	again.close()
}

// TestAnIndexThatCannotBeWrittenIsDoneWithout counts in a folder that takes no index.
func TestAnIndexThatCannotBeWrittenIsDoneWithout(t *testing.T) {
	l := small(fresh(t, t.TempDir()))
	require.NoError(t, os.Mkdir(l.indexPath()+".new", 0o700))
	for n := range uint64(20) {
		_, err := l.Append(group("a", "X-EUR", 0, 10, Try{n, n / 2, 0, 9, 0}, Try{n, n, 0, 9, 0}))
		require.NoError(t, err)
		st, err := l.Standing(Span{[]string{"X-EUR"}, 0, 10 * day0}, nil)
		require.NoError(t, err)
		require.Equal(t, int64(n+1), st.Tries)
	}
	require.NoFileExists(t, l.indexPath())
}

// TestCountsSideBySide appends and counts from several files at once, as processes do.
func TestCountsSideBySide(t *testing.T) {
	l := small(fresh(t, t.TempDir()))
	span := Span{[]string{"X-EUR"}, 0, 10 * day0}
	var writers sync.WaitGroup
	for w := range 6 {
		writers.Go(func() {
			for i := range 20 {
				key := uint64(w*1000 + i)
				if _, err := small(l).Append(group("a", "X-EUR", 0, 10, Try{key, key, 0, 9, 0})); err != nil {
					t.Error(err)
				}
				if st, err := small(l).Standing(span, &Try{key, key, 0, 9, 0}); err != nil || st.New ||
					st.Tries <= int64(i) {
					t.Error(err, st)
				}
			}
		})
	}
	writers.Wait()
	st, err := l.Standing(span, nil)
	require.NoError(t, err)
	require.Equal(t, Standing{Tries: 120, Series: 120}, st)
}
