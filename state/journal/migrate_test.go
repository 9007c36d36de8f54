package journal

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/blackout"
	"github.com/tidemark-trading/tidemark/state/boltfile"
)

// kept is the end of the name of the copy that nextSchema keeps.
var kept = fmt.Sprintf(".format%d", current.format)

// nextSchema is a later format, whose migration from the present one moves a table and notes what
// was on disk meanwhile.
func nextSchema(path string, meanwhile *[]byte) schema {
	migrations := map[uint32]func(*bbolt.Tx) error{}
	for format, migrate := range current.migrations {
		migrations[format] = migrate
	}
	migrations[current.format] = func(tx *bbolt.Tx) (err error) {
		moved, err := tx.CreateBucket([]byte("moved"))
		if err == nil {
			err = boltfile.ForEach(tx.Bucket(bucketHalts),
				func(key, value []byte) error { return moved.Put(key, value) })
		}
		if err == nil && meanwhile != nil {
			*meanwhile, err = os.ReadFile(path)
		}
		return err
	}
	return schema{format: current.format + 1, migrations: migrations}
}

// movedRows is how many rows the migration has moved.
func movedRows(t *testing.T, s *Store) (rows int) {
	require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
		return boltfile.ForEach(tx.Bucket([]byte("moved")), func(_, _ []byte) error {
			rows++
			return nil
		})
	}))
	return rows
}

// A kill leaves in the page cache what was written, a power cut any part of what was not synced:
// the next start migrates what it finds, or finds it done.
func TestAMigrationThatIsKilledOrLosesItsPowerIsDoneByTheNextStart(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bot.db")
	s := aDay(t, 40)
	require.NoError(t, s.Backup(path))
	require.NoError(t, s.Close())
	old, err := os.ReadFile(path)
	require.NoError(t, err)
	var meanwhile []byte
	migrated, err := openFile(t.Context(), path, false, nextSchema(path, &meanwhile))
	require.NoError(t, err)
	require.Equal(t, 1, movedRows(t, migrated))
	require.NoError(t, migrated.Close())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, old, meanwhile, "nothing is written before the copy is there and the whole change is made")
	backup, err := os.ReadFile(path + kept)
	require.NoError(t, err)
	require.Equal(t, dumpOf(t, copyAt(t, old)), dumpOf(t, copyAt(t, backup)))

	seed := rand.Uint64()
	chance := rand.New(rand.NewPCG(seed, 1))
	images := map[string][]byte{"killed before the copy": old, "killed behind the commit": after}
	for _, step := range []blackout.Step{blackout.Pages, blackout.Head, blackout.Done} {
		images[step.String()] = blackout.Cut(old, after, step, chance)
	}
	for when, image := range images {
		left := copyAt(t, image)
		require.NoError(t, os.WriteFile(left+kept, backup, 0o600)) // of the try before
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(left), ".bot.db"+kept+".77.tmp"), backup[:5000],
			0o600))
		again, err := openFile(t.Context(), left, false, nextSchema(left, nil))
		require.NoError(t, err, "seed %d: %s", seed, when)
		require.Equal(t, 1, movedRows(t, again), "seed %d: %s", seed, when)
		require.NoError(t, again.Close())
		_, err = Open(left)
		require.ErrorIs(t, err, boltfile.ErrNewer, when)
		require.ErrorContains(t, err, "update the program", when)
		older, err := Open(left + kept)
		require.NoError(t, err, "an older program goes on with the copy: %s", when)
		requireSound(t, older)
		require.NoError(t, older.Close())
	}
}

// copyAt writes a file of its own.
func copyAt(t *testing.T, image []byte) (path string) {
	path = filepath.Join(t.TempDir(), "bot.db")
	require.NoError(t, os.WriteFile(path, image, 0o600))
	return path
}

func TestAMigrationWithoutACopyIsNotBegun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.db")
	s := aDay(t, 3)
	require.NoError(t, s.Backup(path))
	require.NoError(t, s.Close())
	require.NoError(t, os.Mkdir(path+kept, 0o700)) // in the way of the copy
	_, err := openFile(t.Context(), path, false, nextSchema(path, nil))
	require.ErrorContains(t, err, "keep a copy before the format changes")
	same, err := Open(path)
	require.NoError(t, err)
	requireSound(t, same)
	require.NoError(t, same.Close())
}
