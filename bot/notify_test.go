package bot

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slowStop is an exchange on which no order can be cancelled.
const slowStop = `
[[faults]]
kind = "error"
code = 101
endpoints = ["DELETE /order"]
`

// TestSystemdIsToldOfAProcessFromStartToStop plays systemd for a real `bot run` whose orders cannot be cancelled, so that its stop takes all the
// time that it has.
func TestSystemdIsToldOfAProcessFromStartToStop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	faults, config, socket := filepath.Join(dir, "faults.toml"), filepath.Join(dir, "bot.toml"), filepath.Join(dir, "notify")
	require.NoError(t, os.WriteFile(faults, []byte(slowStop), 0o600))
	facts := exchangeChild(t, dir, "--faults", faults)
	key := facts.Accounts[0].Keys[0]
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, strings.Replace(killConfig, `half_spread_bps = "1"`, `half_spread_bps = "2000"`, 1), filepath.Join(dir, "state"), facts.BaseURL, key.Key, key.Secret), 0o600))
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	require.NoError(t, err)
	var mu sync.Mutex
	var ear sync.WaitGroup
	var heard []string
	count := func(message string) (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, one := range heard {
			if one == message {
				n++
			}
		}
		return n
	}
	ear.Go(func() {
		buffer := make([]byte, 256)
		for n, err := systemd.Read(buffer); err == nil; n, err = systemd.Read(buffer) {
			mu.Lock()
			heard = append(heard, string(buffer[:n]))
			mu.Unlock()
		}
	})
	defer ear.Wait()
	defer systemd.Close()

	path, err := exec.LookPath("bot")
	require.NoError(t, err)
	logs, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	defer logs.Close()
	cmd := exec.Command(path, "run", "-c", config, "--set", "bot.stop_within=7s", "--set", "bot.log=debug")
	cmd.Dir, cmd.Stderr, cmd.Env = dir, logs, append(os.Environ(), "NOTIFY_SOCKET="+socket, "WATCHDOG_USEC=900000")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	wait := func(what string, holds func() bool) {
		require.Eventually(t, holds, 30*time.Second, 20*time.Millisecond, what)
	}
	wait("the start", func() bool { return count("READY=1") == 1 && count("WATCHDOG=1") > 1 })
	status := func() string {
		out, _ := exec.Command(path, "orders", "-c", config, "--json").Output()
		return string(out)
	}
	wait("a resting order", func() bool { return strings.Contains(status(), `"state": "open"`) })
	require.Zero(t, count("STOPPING=1")+count("EXTEND_TIMEOUT_USEC=15000000"))
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	wait("the stop", func() bool { return count("STOPPING=1") == 1 && count("EXTEND_TIMEOUT_USEC=15000000") > 0 })
	signs := count("WATCHDOG=1")
	require.Error(t, cmd.Wait(), "orders are left: %s", readText(t, logs.Name()))
	require.Contains(t, readText(t, logs.Name()), "orders are still open after 7s")
	require.GreaterOrEqual(t, count("EXTEND_TIMEOUT_USEC=15000000"), 2, "%q", heard)
	require.Greater(t, count("WATCHDOG=1"), signs, "a bot that stops is alive")
	require.Equal(t, "READY=1", heard[0])
}
