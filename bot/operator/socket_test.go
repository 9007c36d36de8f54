package operator

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/statedir"
)

func TestTheSocketHasItsFinalModeFromItsFirstMomentOn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing here")
	}
	path := filepath.Join(t.TempDir(), statedir.SocketFile)
	seen, done := map[fs.FileMode]int{}, make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if info, err := os.Lstat(path); err == nil {
				seen[info.Mode().Perm()]++
			}
		}
	}()
	for range 500 {
		listener, err := Listen(path)
		require.NoError(t, err)
		info, err := os.Lstat(path)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
		connection, err := net.Dial("unix", path)
		require.NoError(t, err)
		require.NoError(t, connection.Close())
		require.NoError(t, listener.Close())
	}
	close(stop)
	<-done
	delete(seen, 0o600)
	require.Empty(t, seen, "wider modes, and how often they were seen")
}
