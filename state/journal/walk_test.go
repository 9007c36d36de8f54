package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/state/bolt"
)

// What bbolt would answer with a panic in a goroutine of its own, which ends the process.
func TestADamagedFileIsRefusedByNameBeforeItIsWrittenTo(t *testing.T) {
	sound := filepath.Join(t.TempDir(), "bot.db")
	require.NoError(t, aDay(t, 200).Backup(sound))
	whole, err := os.ReadFile(sound)
	require.NoError(t, err)
	page := os.Getpagesize()
	spoilt := bytes.Clone(whole) // every other page behind the four that every file begins with
	for at := 4 * page; at+page <= len(spoilt); at += 2 * page {
		copy(spoilt[at+16:], bytes.Repeat([]byte{0xff}, 200))
	}
	for _, file := range []struct {
		name string
		data []byte
	}{
		{"cut off", whole[:len(whole)/2]},
		{"cut in its first pages", whole[:3*page]},
		{"pages overwritten", spoilt},
	} {
		path := filepath.Join(t.TempDir(), "bot.db")
		require.NoError(t, os.WriteFile(path, file.data, 0o600))
		s, err := Open(path)
		require.ErrorIs(t, err, bolt.ErrCorrupt, file.name)
		require.ErrorContains(t, err, path)
		require.Nil(t, s)
	}
	s, err := Open(sound)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}
