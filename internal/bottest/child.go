package bottest

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Program is the path of the program under test: testscript.Main puts it there.
func Program(t testing.TB) string {
	path, err := exec.LookPath("bot")
	require.NoError(t, err, "testscript.Main puts it on the path")
	return path
}

// Child returns a command to be started. Wait ends at most Patience after the process, also where a
// grandchild holds its pipes open.
func Child(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.WaitDelay = Patience
	return cmd
}

// Short returns a command that ends by itself; it is killed after twice Patience, or with the test.
func Short(t testing.TB, program string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), 2*Patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second
	return cmd
}

// Overdue kills a started child after Patience: then its pipes end, and so does a wait for a line
// or for its end. Call stop when the wait is over.
func Overdue(cmd *exec.Cmd) (stop func() bool) { return killAfter(cmd, Patience) }

func killAfter(cmd *exec.Cmd, after time.Duration) (stop func() bool) {
	return time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop
}

// Ended waits for the end of a child, and kills it after Patience.
func Ended(cmd *exec.Cmd) error {
	defer Overdue(cmd)()
	return cmd.Wait()
}
