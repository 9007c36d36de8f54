package bolt

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// nested writes a file with two inner buckets of keys, a few of them with gaps and overflow pages.
func nested(t *testing.T, r *rand.Rand) string {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: 1024, NoSync: true})
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		outer, err := tx.CreateBucket([]byte("outer"))
		require.NoError(t, err)
		for _, name := range []string{"inner", "other"} {
			inner, err := outer.CreateBucket([]byte(name))
			require.NoError(t, err)
			for n := range uint64(2000) {
				if r.IntN(5) > 0 {
					require.NoError(t, inner.Put(number(n*10), make([]byte, r.IntN(40)*r.IntN(60))))
				}
			}
		}
		return nil
	}))
	require.NoError(t, db.Close())
	return path
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// keysFrom walks like the candle store: to the first key past to.
func keysFrom(tx *bbolt.Tx, from, to []byte) (keys []string) {
	cursor := NewCursor(tx.Bucket([]byte("outer")).Bucket([]byte("inner")))
	key, value := cursor.First()
	if from != nil {
		key, value = cursor.Seek(from)
	}
	for ; key != nil; key, value = cursor.Next() {
		keys = append(keys, string(key)+string(value))
		if to != nil && bytes.Compare(key, to) > 0 {
			break
		}
	}
	return keys
}

func openLazily(t *testing.T, path string) *File {
	f, err := Open(t.Context(), path, Options{ReadOnly: true, Lazy: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestAWalkNeedsOnlyTheLeavesThatCheckKeysRead destroys all other leaves of a file: a walk over the
// range finds what it finds in the whole file.
func TestAWalkNeedsOnlyTheLeavesThatCheckKeysRead(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	path := nested(t, r)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for range 60 {
		from, to := number(r.Uint64N(21_000)), number(r.Uint64N(21_000))
		switch r.IntN(8) {
		case 0:
			from = nil
		case 1:
			to = nil
		case 2:
			from, to = nil, number(0)
		case 3:
			from, to = number(math.MaxUint64), nil
		}
		sound := openLazily(t, path)
		var want []string
		unread := 0
		broken := bytes.Clone(whole)
		require.NoError(t, sound.View(func(tx *bbolt.Tx) error {
			require.NoError(t, sound.CheckKeys(tx.Bucket([]byte("outer")).Bucket([]byte("inner")), from, to))
			want = keysFrom(tx, from, to)
			return nil
		}))
		for _, groups := range sound.tree.unread {
			for _, leaves := range groups {
				for _, page := range leaves.next {
					if page != 0 {
						copy(broken[page*1024:][:1024], bytes.Repeat([]byte{0xff}, 1024))
						unread++
					}
				}
			}
		}
		require.Positive(t, unread)
		copied := filepath.Join(t.TempDir(), "broken.db")
		require.NoError(t, os.WriteFile(copied, broken, 0o600))
		f := openLazily(t, copied)
		require.NoError(t, f.View(func(tx *bbolt.Tx) error {
			require.NoError(t, f.CheckKeys(tx.Bucket([]byte("outer")).Bucket([]byte("inner")), from, to))
			require.Equal(t, want, keysFrom(tx, from, to))
			return nil
		}))
		require.ErrorAs(t, f.CheckRest(), new(*Damage))
	}
}

// TestALazyCheckFindsWhatAWholeOneFinds flips bits: opening lazily, CheckKeys and CheckRest
// together find damage exactly where the check of an eager opening does.
func TestALazyCheckFindsWhatAWholeOneFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	data, err := os.ReadFile(nested(t, r))
	require.NoError(t, err)
	lazily := func() error {
		tree, err := checkTree(t.Context(), bytes.NewReader(data), int64(len(data)), levels, true)
		if err != nil {
			return err
		}
		f := &File{tree: tree}
		for _, groups := range tree.unread {
			for _, leaves := range groups {
				if _, err := tree.read(leaves, number(r.Uint64N(21_000)), number(r.Uint64N(21_000))); err != nil {
					return err
				}
			}
		}
		return f.CheckRest()
	}
	require.NoError(t, lazily())
	found := 0
	for range 3000 {
		at, bit := r.IntN(len(data)), r.IntN(8)
		if r.IntN(2) == 0 {
			at = at&^1023 | r.IntN(48) // heads of pages and first elements
		}
		data[at] ^= 1 << bit
		want, have := check(t.Context(), bytes.NewReader(data), int64(len(data)), levels), lazily()
		require.Equal(t, want == nil, have == nil, "byte %d, bit %d: %v and %v", at, bit, want, have)
		if want != nil {
			found++
		}
		data[at] ^= 1 << bit
	}
	require.Greater(t, found, 300)
}

// TestAnOpeningForReadingReadsFewLeaves counts the reads of a lazy check beside those of a whole
// one.
func TestAnOpeningForReadingReadsFewLeaves(t *testing.T) {
	data, err := os.ReadFile(nested(t, rand.New(rand.NewPCG(1, 1))))
	require.NoError(t, err)
	reads := func(lazy bool) int {
		counted := &countingReader{Reader: bytes.NewReader(data)}
		_, err := checkTree(t.Context(), counted, int64(len(data)), levels, lazy)
		require.NoError(t, err)
		return counted.reads
	}
	require.Less(t, reads(true)*10, reads(false))
}

type countingReader struct {
	*bytes.Reader
	reads int
}

func (c *countingReader) ReadAt(p []byte, at int64) (int, error) {
	c.reads++
	return c.Reader.ReadAt(p, at)
}
