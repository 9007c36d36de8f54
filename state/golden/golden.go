// Package golden is for tests of the stores: files that an older program wrote, and the texts that are expected of them. It is never
// linked into the bot. Start at File.
package golden

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// write lets tests write the files that they compare with. A file of an older program is never written again, only a missing one:
// the file of back then must still open. After a change of the format:
//
//	go test ./state/journal -run OfTheFirst -golden
var write = flag.Bool("golden", false, "write the files of testdata that are missing, and the texts beside them anew; read the difference before you keep it")

// File unpacks testdata/NAME.gz into a temporary folder and returns its path. With the flag -golden, make writes a file that is missing.
func File(t *testing.T, name string, make func(path string)) (path string) {
	t.Helper()
	packed, path := filepath.Join("testdata", name+".gz"), filepath.Join(t.TempDir(), name)
	if _, err := os.Stat(packed); *write && os.IsNotExist(err) {
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

// Require compares a text with testdata/NAME. With the flag -golden it writes the text instead.
func Require(t *testing.T, name string, have []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *write {
		require.NoError(t, os.WriteFile(path, have, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(have))
}
