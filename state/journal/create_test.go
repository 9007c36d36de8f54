package journal

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/filetest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// begun opens the state file in dir, commits an order, and wants it to be the only one.
func begun(t *testing.T, dir, when string) {
	s, err := Open(filepath.Join(dir, "bot.db"))
	require.NoError(t, err, when)
	defer s.Close()
	require.NoError(t, s.Bind(twoMarkets(t), twoStrategies), when)
	b := s.NewBatch()
	b.Order(ownOrder(1))
	require.NoError(t, s.Commit(b), when)
	require.EqualValues(t, 1, requireSound(t, s).Orders, when)
}

// What a power cut leaves of a file that has no name yet are any sectors of it, or nothing; one
// that has its name was synced before.
func TestAPowerCutInTheFirstMomentsLeavesNoFileOrAWholeOne(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 0))
	whole := filepath.Join(t.TempDir(), "bot.db")
	require.NoError(t, bolt.Create(whole))
	image, err := os.ReadFile(whole)
	require.NoError(t, err)
	for n := range 20 {
		dir := t.TempDir()
		torn := make([]byte, chance.IntN(len(image)+1))
		for at := 0; at < len(torn); at += 512 {
			if chance.IntN(2) == 0 {
				copy(torn[at:min(at+512, len(torn))], image[at:])
			}
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".bot.db.1234.tmp"), torn, 0o600))
		if n%2 == 0 {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "bot.db"), image, 0o600))
		}
		begun(t, dir, fmt.Sprint("cut ", n))
	}
}

// The first commits are cut like all that follow: that which makes the tables, that which binds the
// markets, and the first of a turn.
func TestAPowerCutInTheFirstCommitsLeavesAFileThatBegins(t *testing.T) {
	chance := rand.New(rand.NewPCG(2, 0))
	path := filepath.Join(t.TempDir(), "bot.db")
	require.NoError(t, bolt.Create(path))
	var s *Store
	for name, step := range []func() error{
		func() (err error) { s, err = Open(path); return err },
		func() error { return s.Bind(twoMarkets(t), twoStrategies) },
		func() error {
			b := s.NewBatch()
			b.Cursor(1, "candles", []byte{1})
			return s.Commit(b)
		},
	} {
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, step())
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		for n := range 30 {
			at, dir := filetest.Step(n%3+1), t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "bot.db"), filetest.Cut(before, after, at, chance),
				0o600))
			begun(t, dir, fmt.Sprintf("commit %d, cut %d %s", name, n, at))
		}
	}
	require.NoError(t, s.Close())
}

func TestAFileThatLostItsBytesIsNeverTakenForANewOne(t *testing.T) {
	s := botStore(t)
	for id := range market.OrderID(30) {
		live(t, s, s.NewBatch(), id+1)
	}
	require.NoError(t, s.Close())
	image, err := os.ReadFile(s.path)
	require.NoError(t, err)
	chance, damaged := rand.New(rand.NewPCG(3, 0)), 0
	sizes := []int{0, 1, 512, 4096, 8191, 8192, 16384}
	for range 25 {
		sizes = append(sizes, chance.IntN(len(image)), chance.IntN(30*4096))
	}
	for _, size := range sizes {
		path := filepath.Join(t.TempDir(), "bot.db")
		require.NoError(t, os.WriteFile(path, image[:size], 0o600))
		for _, open := range []func(string) (*Store, error){Read, Open} {
			cut, err := open(path)
			if err == nil { // nothing was behind it
				require.EqualValues(t, 30, requireSound(t, cut).Orders, "%d of %d bytes", size, len(image))
				require.NoError(t, cut.Close())
				continue
			}
			damaged++
			require.ErrorIs(t, err, bolt.ErrCorrupt, "%d of %d bytes", size, len(image))
			require.ErrorContains(t, err, path)
			left, failed := os.ReadFile(path)
			require.NoError(t, failed)
			require.Equal(t, image[:size], left, "it is left as it was found")
		}
	}
	require.Greater(t, damaged, 20)
	path := filepath.Join(t.TempDir(), "bot.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err = Open(path)
	require.ErrorContains(t, err, "it is empty, as no bot leaves it")
	require.NotErrorIs(t, err, bolt.ErrNotFound)
	s, err = Open(s.path) // for the cleanup
	require.NoError(t, err)
	require.NoError(t, s.Close())
}
