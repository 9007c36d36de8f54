package bolt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/osfile"
)

// begun is a new file, open for writing.
func begun(t *testing.T) *File {
	path := filepath.Join(t.TempDir(), "x.db")
	require.NoError(t, Create(path))
	f, err := Open(t.Context(), path, Options{Mode: 0o600, Maps: 1})
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	require.NoError(t, f.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket(BucketMeta); return err }))
	return f
}

func TestErrorsOfOpenAreExplained(t *testing.T) {
	f := begun(t)
	explained := func(path string) error {
		_, err := Open(t.Context(), path, Options{ReadOnly: true})
		require.Error(t, err)
		return Explain(path, "store of tests", "; stop it", err)
	}
	require.EqualError(t, explained(f.Path()), f.Path()+" is in use by another process; stop it")
	require.NoError(t, f.Close())
	whole, err := os.ReadFile(f.Path())
	require.NoError(t, err)
	torn := append([]byte{}, whole...)
	for at := 2 * os.Getpagesize(); at < len(torn); at += os.Getpagesize() {
		torn[at] ^= 1
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"short": {whole[:os.Getpagesize()+100], ": corrupt: cut off: "},
		"half":  {whole[:2*os.Getpagesize()], ": corrupt: page 0: the file is cut off: "},
		"torn":  {torn, ": corrupt: page "},
		"text":  {[]byte(strings.Repeat("candles\n", 10_000)), ": corrupt: not a store of tests: "},
	} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, c.data, 0o600))
		err := explained(path)
		require.ErrorIs(t, err, ErrCorrupt)
		require.ErrorContains(t, err, path+c.want, name)
	}
	require.ErrorContains(t, explained(filepath.Join(t.TempDir(), "none")), "open store of tests: open ")
}

func TestAPanicInATransactionIsDamageAndLeavesTheFileUsable(t *testing.T) {
	f := begun(t)
	for name, do := range map[string]func(func(tx *bbolt.Tx) error) error{"read": f.View, "write": f.Update} {
		err := do(func(tx *bbolt.Tx) error { panic("page 9: unexpected flags") })
		require.ErrorIs(t, err, ErrCorrupt, name)
		require.EqualError(t, err, f.Path()+": corrupt: page 9: unexpected flags", name)
	}
	require.NoError(t, f.Update(func(tx *bbolt.Tx) error { return tx.Bucket(BucketMeta).Put(KeyFormat, []byte{1}) }))
}

func TestACopyIsWholeAndTheFileKnowsWhetherItStillHasItsName(t *testing.T) {
	f := begun(t)
	require.NoError(t, f.Update(func(tx *bbolt.Tx) error { return tx.Bucket(BucketMeta).Put(KeyFormat, []byte{7}) }))
	is := func() bool {
		info, err := os.Stat(f.Path())
		require.NoError(t, err)
		return f.Is(info)
	}
	require.True(t, is())
	beside := filepath.Join(filepath.Dir(f.Path()), "copy.db")
	require.NoError(t, f.Backup(beside))
	require.NoError(t, checkPath(beside))
	require.NoError(t, Rewrite(f.Path(), func(into *bbolt.DB) error { return bbolt.Compact(into, f.DB, 1<<16) }))
	require.False(t, is())
	require.NoError(t, checkPath(f.Path()))
	err := Rewrite(f.Path(), func(*bbolt.DB) error { return context.Canceled })
	require.EqualError(t, err, "write "+f.Path()+": context canceled")
	left, err := os.ReadDir(filepath.Dir(f.Path()))
	require.NoError(t, err)
	require.Len(t, left, 2, "nothing stays beside the files")
}

// A process that was killed while it wrote a copy leaves a part of it behind. The next copy of that
// name removes it, and nothing else.
func TestACopyRemovesWhatAKilledOneHasLeft(t *testing.T) {
	f := begun(t)
	dir := filepath.Dir(f.Path())
	held, err := osfile.Temporary(filepath.Join(dir, "copy.db")) // another process is writing it
	require.NoError(t, err)
	require.NoError(t, osfile.TryLock(held))
	stay := []string{".copy.db.tmp", ".copy.db.x1.tmp", ".copy.db.old.12.tmp", ".copy.db.12", ".other.db.12.tmp"}
	for _, name := range append([]string{".copy.db.12.tmp"}, stay...) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("a part"), 0o600))
	}
	require.NoError(t, f.Backup(filepath.Join(dir, "copy.db")))
	for _, name := range append(stay, filepath.Base(held.Name())) {
		require.FileExists(t, filepath.Join(dir, name))
	}
	require.NoFileExists(t, filepath.Join(dir, ".copy.db.12.tmp"))
	require.NoError(t, held.Close())
	require.NoError(t, Rewrite(filepath.Join(dir, "copy.db"), func(*bbolt.DB) error { return nil }))
	require.NoFileExists(t, held.Name())
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.db")
	if err := Create(path); err != nil {
		panic(err)
	}
	f, err := Open(context.Background(), path, Options{Mode: 0o600})
	if err != nil {
		panic(Explain(path, "state file", "; stop that one", err))
	}
	defer f.Close()
	err = f.Update(func(tx *bbolt.Tx) error {
		meta, err := tx.CreateBucket(BucketMeta)
		if err != nil {
			return err
		}
		return meta.Put(KeyFormat, []byte{1})
	})
	fmt.Println(err)
	// Output: <nil>
}
