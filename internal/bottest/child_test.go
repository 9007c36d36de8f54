package bottest

import (
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAChildThatSaysNothingIsNotWaitedForWithoutEnd(t *testing.T) {
	t.Parallel()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("there is no sleep on this machine")
	}
	cmd := Child(sleep, "3600")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer killAfter(cmd, 10*time.Millisecond)() // Overdue is more patient
	_, err = out.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.Error(t, Ended(cmd))
}
