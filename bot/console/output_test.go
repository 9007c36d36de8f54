package console

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/state/osfile"
)

// A process that was killed while it wrote a file leaves a part of it behind. The next one that
// writes the file removes it, and not what another process is writing.
func TestAnOutputRemovesWhatAKilledOneHasLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trades.csv")
	left := filepath.Join(filepath.Dir(path), ".trades.csv.12.tmp")
	require.NoError(t, os.WriteFile(left, []byte("a part"), 0o600))
	held, err := osfile.Temporary(path)
	require.NoError(t, err)
	defer held.Close()
	require.NoError(t, osfile.TryLock(held))
	require.NoError(t, WriteTo(nil, path, func(w io.Writer) error {
		require.NoError(t, WriteTo(nil, path, func(w io.Writer) error {
			_, err := io.WriteString(w, "the other's")
			return err
		}))
		_, err := io.WriteString(w, "all of it")
		return err
	}))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "all of it", string(text), "two at once: the last one's is whole")
	require.NoFileExists(t, left)
	require.FileExists(t, held.Name())
	failed := errors.New("the disk is full")
	require.ErrorIs(t, WriteTo(nil, path, func(io.Writer) error { return failed }), failed)
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 2, "the file and what is held")
}
