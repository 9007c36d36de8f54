//go:build unix

package bottest

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Freeze stops a child of this process until it gets SIGCONT, and returns once all its threads
// stand. A signal alone returns earlier: on a busy machine the threads run on for a while.
func Freeze(t testing.TB, p *os.Process) {
	require.NoError(t, p.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	_, err := syscall.Wait4(p.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped(), "the child has ended: %v", status)
}
