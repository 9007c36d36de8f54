package bot_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/bottest"
)

func TestABotWhoseTerminalIsGoneStopsInGoodOrder(t *testing.T) {
	t.Parallel()
	s, folder := lively(t), filepath.Join(t.TempDir(), "state")
	cmd := bottest.Child(bottest.Program(t), "run", "-c", filepath.Join("..", "configs", "sandbox.toml"), "--set",
		"exchange.base_url="+s.facts.BaseURL, "--set", "bot.state="+folder, "--set", "bot.stop_within=5m")
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // under nohup a child would inherit that it is ignored
	defer signal.Stop(hangups)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stderr = write
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	require.NoError(t, write.Close())
	accepted, said := bottest.Overdue(cmd), ""
	for lines := bufio.NewScanner(read); !strings.Contains(said, "order accepted"); {
		require.True(t, lines.Scan(), "no order was accepted; the bot said:\n%s", said)
		said += lines.Text() + "\n"
	}
	accepted()
	require.NoError(t, read.Close()) // as when Ctrl-C ends a tee

	entries := func() (n int) {
		var now status
		code, out := 1, ""
		bottest.Await(t, func() bool {
			code, out, _ = call(t.Context(), "status", "--json", "--state", folder)
			return code == 0
		})
		require.NoError(t, json.Unmarshal([]byte(out), &now))
		require.Equal(t, "trading", now.State, "the bot lives on")
		return now.Journal
	}
	before := entries()
	bottest.Await(t, func() bool { return entries() >= before+4 })
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	require.NoError(t, bottest.Ended(cmd), "exit code 0: nothing is left open")
	var left orders
	_, out, _ := call(t.Context(), "orders", "--json", "--state", folder)
	require.NoError(t, json.Unmarshal([]byte(out), &left))
	require.False(t, left.Running)
	require.Empty(t, left.Orders)
	s.stop()
}
