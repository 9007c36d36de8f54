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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// systemd is what a supervisor hears of a real `bot run`.
type systemd struct {
	t     *testing.T
	cmd   *exec.Cmd
	log   string // file
	mu    sync.Mutex
	heard []string
}

// supervise starts the bot as systemd does, with a socket to speak to and a watchdog.
func supervise(t *testing.T, dir string, args ...string) *systemd {
	s := &systemd{t: t, log: filepath.Join(dir, "log")}
	socket := filepath.Join(dir, "notify")
	ear, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	require.NoError(t, err)
	var listening sync.WaitGroup
	listening.Go(func() {
		buffer := make([]byte, 256)
		for n, err := ear.Read(buffer); err == nil; n, err = ear.Read(buffer) {
			s.mu.Lock()
			s.heard = append(s.heard, string(buffer[:n]))
			s.mu.Unlock()
		}
	})
	t.Cleanup(func() { ear.Close(); listening.Wait() })
	logs, err := os.Create(s.log)
	require.NoError(t, err)
	defer logs.Close()
	s.cmd = bottest.Child(bottest.Program(t), append([]string{"run"}, args...)...)
	s.cmd.Dir, s.cmd.Stderr, s.cmd.Env = dir, logs, append(os.Environ(), "NOTIFY_SOCKET="+socket,
		"WATCHDOG_USEC=900000")
	require.NoError(t, s.cmd.Start())
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

// count is how often a message was heard.
func (s *systemd) count(message string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.heard {
		if one == message {
			n++
		}
	}
	return n
}

func (s *systemd) wait(what string, holds func() bool) {
	s.t.Helper()
	if !assert.Eventually(s.t, holds, bottest.Patience, 20*time.Millisecond, what) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.t.Fatalf("heard %q; the bot's log:\n%s", s.heard, readText(s.t, s.log))
	}
}

// TestSystemdIsToldOfAProcessFromStartToStop lets a bot stop whose orders cannot be cancelled, so
// that it takes all the time that it has, and forces it when enough was heard.
func TestSystemdIsToldOfAProcessFromStartToStop(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	const more = "EXTEND_TIMEOUT_USEC=15000000"
	dir := t.TempDir()
	faults, config := filepath.Join(dir, "faults.toml"), filepath.Join(dir, "bot.toml")
	require.NoError(t, os.WriteFile(faults,
		[]byte("[[faults]]\nkind = \"error\"\ncode = 101\nendpoints = [\"DELETE /order\"]\n"), 0o600))
	facts, _ := exchangeChild(t, dir, "--faults", faults)
	key := facts.Accounts[0].Keys[0]
	far := strings.Replace(killConfig, `half_spread_bps = "1"`, `half_spread_bps = "2000"`, 1) // nothing is filled
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, far, filepath.Join(dir, "state"), facts.BaseURL, key.Key,
		key.Secret), 0o600))

	s := supervise(t, dir, "-c", config, "--set", "bot.stop_within=10m")
	s.wait("the start", func() bool { return s.count("READY=1") == 1 && s.count("WATCHDOG=1") > 1 })
	s.wait("a resting order", func() bool {
		out, _ := bottest.Short(t, s.cmd.Path, "orders", "-c", config, "--json").Output()
		return strings.Contains(string(out), `"state": "open"`)
	})
	require.Zero(t, s.count("STOPPING=1")+s.count(more))
	require.NoError(t, s.cmd.Process.Signal(os.Interrupt))
	s.wait("the stop", func() bool { return s.count("STOPPING=1") == 1 && s.count(more) > 0 })
	signs := s.count("WATCHDOG=1")
	s.wait("more time to be asked for, by a bot that is alive",
		func() bool { return s.count(more) > 1 && s.count("WATCHDOG=1") > signs })
	require.NoError(t, s.cmd.Process.Signal(os.Interrupt))
	require.Error(t, bottest.Ended(s.cmd), "orders are left: %s", readText(t, s.log))
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Equal(t, "READY=1", s.heard[0])
}

func TestABotThatIsStoppedBeforeItTradesAsksForAllItsTimeAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "bot.toml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, killConfig, filepath.Join(dir, "state"),
		"http://127.0.0.1:1/v2", strings.Repeat("k", 64), "secret"), 0o600))
	s := supervise(t, dir, "-c", config, "--set", "bot.stop_within=80s")
	s.wait("the bot to wait for its exchange",
		func() bool { return strings.Contains(readText(t, s.log), "the exchange cannot be reached") })
	require.NoError(t, s.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, bottest.Ended(s.cmd), "%s", readText(t, s.log))
	s.wait("the stop", func() bool { return s.count("STOPPING=1\nEXTEND_TIMEOUT_USEC=95000000") == 1 })
	require.Zero(t, s.count("READY=1")+s.count("WATCHDOG=1"))
}

func readText(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
