package bot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// fill takes all room of a disk, and returns what gives it back.
func fill(t *testing.T, disk string) (free func()) {
	path := filepath.Join(disk, "ballast")
	file, err := os.Create(path)
	require.NoError(t, err)
	block := make([]byte, 4096)
	for err == nil {
		_, err = file.Write(block)
	}
	require.ErrorIs(t, err, unix.ENOSPC)
	require.NoError(t, file.Close())
	return func() { require.NoError(t, os.Remove(path)) }
}

// A real bot trades on a disk that becomes full. It cancels its orders in the room that it had set
// aside, each cancel after its intent, and ends.
func TestABotOnAFullDiskCancelsItsOrdersAndEnds(t *testing.T) {
	t.Parallel()
	dir, disk := t.TempDir(), t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("a full disk needs the right to mount one: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(disk, 0)) })
	facts, _ := exchangeChild(t, dir, "--set", "budget.per_key=1000000", "--set", "budget.per_ip=1000000")
	key := facts.Accounts[0].Keys[0]
	config := filepath.Join(dir, "bot.toml")
	text := strings.Replace(killConfig, "[bot]", "[bot]\nkeep_orders = true", 1) // nobody comes back to them
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, text, filepath.Join(disk, "state"), facts.BaseURL, key.Key,
		key.Secret), 0o600))
	s := auditOf(t, disk, &facts)

	cmd := child(t, dir, "run", "-c", config)
	bottest.Await(t, func() bool { return len(s.OpenAtTheExchange()) > 0 }, "orders")
	free := fill(t, disk)
	require.Error(t, bottest.Ended(cmd), "exit code 1, and by itself")
	require.True(t, cmd.ProcessState.Exited(), "it was killed after %s: %s", bottest.Patience, cmd.Stderr)
	require.Empty(t, s.OpenAtTheExchange(), "at once, and not when its timer has run out: %s", cmd.Stderr)
	said := fmt.Sprint(cmd.Stderr)
	require.Contains(t, said, "the disk is full: all orders are cancelled but the exits of brackets, then the bot ends")
	require.Contains(t, said, "no space left on device")
	require.NoFileExists(t, filepath.Join(disk, "state", statedir.ReserveFile))

	again := child(t, dir, "run", "-c", config)
	require.Error(t, bottest.Ended(again), "it does not trade without a reserve")
	require.Contains(t, fmt.Sprint(again.Stderr), "no space left on device")
	free()
	s.Sound()
	again = child(t, dir, "run", "-c", config, "--set", "bot.keep_orders=false")
	bottest.Await(t, func() bool { return len(s.OpenAtTheExchange()) > 0 }, "orders")
	require.FileExists(t, filepath.Join(disk, "state", statedir.ReserveFile))
	require.NoError(t, again.Process.Signal(os.Interrupt))
	require.NoError(t, bottest.Ended(again), "%s", again.Stderr)
	require.Positive(t, s.AgreeOnFile().Orders)
}
