package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachCommandHasAPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	require.NoError(t, write(dir))
	pages, err := filepath.Glob(filepath.Join(dir, "bot-*.1"))
	require.NoError(t, err)
	require.Greater(t, len(pages), 25)
	text, err := os.ReadFile(filepath.Join(dir, "bot-candles-import.1"))
	require.NoError(t, err)
	require.Contains(t, string(text), `--skip-bad`)
}
