package bot_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// On a terminal the bot says now and then how it stands; into a pipe it does not.
func TestOnATerminalTheBotSaysHowItStands(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	defer s.exchange(t).stop(t)
	run := []string{"run", "-c", "configs/sandbox.toml", "--set", "bot.pulse=200ms"}
	piped := s.start(t, "order accepted", run...)
	piped.stop(t)
	require.NotContains(t, piped.said.String(), "waits for")

	screen, terminal := openTerminal(t)
	cmd := s.command(t, run...)
	cmd.Stderr = terminal
	require.NoError(t, cmd.Start())
	require.NoError(t, terminal.Close())
	want := regexp.MustCompile(`trading; waits for the 1m candle of \d\d:\d\dZ; equity [0-9.]+ EUR`)
	var said bytes.Buffer
	for !want.Match(bytes.ReplaceAll(said.Bytes(), []byte("\r\n              "), []byte(" "))) {
		_, err := io.CopyN(&said, screen, 1)
		require.NoError(t, err, "%s", &said)
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	rest := make(chan struct{})
	go func() { defer close(rest); _, _ = io.Copy(io.Discard, screen) }()
	require.NoError(t, cmd.Wait())
	<-rest
}

// openTerminal makes a terminal: what a process writes to it is read from screen, which ends with
// the last process that has it.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this machine makes no terminals: there is no /dev/ptmx")
	}
	require.NoError(t, err)
	t.Cleanup(func() { _ = screen.Close() })
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0))
	terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	return screen, terminal
}
