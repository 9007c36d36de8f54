package filetest

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Golden unpacks testdata/NAME.gz into a temporary folder and returns its path. With write, make
// creates a missing file first. An existing file of an older program is never overwritten: it must
// still open.
func Golden(t *testing.T, write bool, name string, make func(path string)) (path string) {
	t.Helper()
	packed, path := filepath.Join("testdata", name+".gz"), filepath.Join(t.TempDir(), name)
	if _, err := os.Stat(packed); write && os.IsNotExist(err) {
		make(path)
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var small bytes.Buffer
		out, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
		require.NoError(t, err)
		_, err = out.Write(raw)
		require.NoError(t, err)
		require.NoError(t, out.Close())
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(packed, small.Bytes(), 0o644))
	}
	file, err := os.Open(packed)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	in, err := gzip.NewReader(file)
	require.NoError(t, err)
	raw, err := io.ReadAll(in)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return path
}

// RequireText compares a text with testdata/NAME. With write, it writes the text first.
func RequireText(t *testing.T, write bool, name string, have []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if write {
		require.NoError(t, os.WriteFile(path, have, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(have))
}
