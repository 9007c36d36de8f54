package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/host"
)

// A file that changes is read again; one that says nothing leaves the value as it is, and is told
// of once.
func TestAFileThatChangesIsReadAgain(t *testing.T) {
	file, at := filepath.Join(t.TempDir(), "secret"), time.Unix(1_700_000_000, 0)
	write := func(text string) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		at = at.Add(time.Second)
		require.NoError(t, os.Chtimes(file, at, at))
	}
	reads := 0
	read := func() (string, error) {
		reads++
		text, err := os.ReadFile(file)
		if string(text) == "bad" {
			err = errors.New("no secret")
		}
		return string(text), err
	}
	_, err := host.NewFresh(read, file)
	require.ErrorContains(t, err, "no such file")
	write("bad")
	_, err = host.NewFresh(read, file)
	require.EqualError(t, err, "no secret")
	write("one")
	f, err := host.NewFresh(read, file)
	require.NoError(t, err)
	reads = 0
	latest := func(want string, changes bool, fails string) {
		t.Helper()
		value, changed, err := f.Latest()
		require.Equal(t, want, value)
		require.Equal(t, changes, changed)
		if fails == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, fails)
		}
	}
	latest("one", false, "")
	require.Zero(t, reads)
	write("two")
	latest("two", true, "")
	latest("two", false, "")
	require.Equal(t, 1, reads)
	write("bad")
	latest("two", false, "no secret")
	latest("two", false, "")
	require.Equal(t, 2, reads)
	require.NoError(t, os.Remove(file))
	latest("two", false, "no such file")
	latest("two", false, "")
	write("three")
	latest("three", true, "")
	fixed, changed, err := host.Fixed(7).Latest()
	require.Equal(t, 7, fixed)
	require.False(t, changed)
	require.NoError(t, err)
}
