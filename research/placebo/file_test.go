package placebo

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research"
)

// TestAFileOfThisVersionIsRead holds the format: the bytes of a file of version 1.
func TestAFileOfThisVersionIsRead(t *testing.T) {
	id := &Identity{Version: 1, Code: "c", Config: "f", Data: "d", Procedure: []string{"grid", "sharpe"},
		Rules: Rules{Seed: 3}}
	thetas := []float64{1.5, -0.25, 1e-300}
	kept, err := os.ReadFile("testdata/v1.placebo")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "copy.placebo")
	require.NoError(t, os.WriteFile(path, kept, 0o644))
	f, err := openFile(path, id)
	require.NoError(t, err)
	require.Equal(t, thetas, f.thetas)
	require.Empty(t, f.torn)
	_, err = openFile(path, id)
	require.ErrorIs(t, err, research.ErrBusy)
	require.NoError(t, f.Close())

	fresh := filepath.Join(t.TempDir(), "fresh.placebo")
	f, err = openFile(fresh, id)
	require.NoError(t, err)
	for i, theta := range thetas {
		require.NoError(t, f.append(i+1, theta))
	}
	require.NoError(t, f.Close())
	written, err := os.ReadFile(fresh)
	require.NoError(t, err)
	require.Equal(t, string(kept), string(written))
}

func TestAnOlderFileIsRefusedWithItsCure(t *testing.T) {
	before, err := os.ReadFile("testdata/v1.placebo")
	require.NoError(t, err)
	before = bytes.Replace(before, []byte(fileMagic), []byte("tidemark-placebo "), 1) // before version 1
	path := filepath.Join(t.TempDir(), "a.placebo")
	require.NoError(t, os.WriteFile(path, before, 0o644))
	_, err = openFile(path, &Identity{Version: fileVersion})
	require.ErrorContains(t, err, "this is no file of a placebo that this program reads; move it away, or write "+
		"elsewhere")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestANewerFileIsRefusedAndStaysAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.placebo")
	f, err := openFile(path, &Identity{Version: fileVersion + 1})
	require.NoError(t, err)
	require.NoError(t, f.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = openFile(path, &Identity{Version: fileVersion})
	require.ErrorContains(t, err, "the format is 2, and this program reads up to 1")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}
