package bot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// takeAway is a way to take the state file of a running bot away, and what then has to stand in its
// place; nil: nothing.
type takeAway struct {
	name string
	do   func(t *testing.T, path string)
	want []byte
}

var waysToTakeAway = []takeAway{
	{"deleted", func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) }, nil},
	{"replaced", func(t *testing.T, path string) {
		require.NoError(t, os.WriteFile(path+".new", []byte("another file"), 0o600))
		require.NoError(t, os.Rename(path+".new", path))
	}, []byte("another file")},
	{"deleted with its folder",
		func(t *testing.T, path string) { require.NoError(t, os.RemoveAll(filepath.Dir(path))) }, nil},
	{"moved away, with an older rescue beside it", func(t *testing.T, path string) {
		require.NoError(t, os.WriteFile(path+statedir.RescuedExt, []byte("older"), 0o600))
		require.NoError(t, os.Rename(path, path+".moved"))
	}, nil},
}

// A real bot loses its state file while it trades: it ends its orders, saves the open file, and
// ends with 1. Nothing is written to what stands in the place, and the saved file goes on where the
// bot was, halted.
func TestABotWhoseStateFileIsTakenAwayEndsItsOrdersAndSavesIt(t *testing.T) {
	for _, way := range waysToTakeAway {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			facts, _ := exchangeChild(t, dir, "--set", "budget.per_key=1000000", "--set", "budget.per_ip=1000000")
			key := facts.Accounts[0].Keys[0]
			config := filepath.Join(dir, "bot.toml")
			require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, killConfig, filepath.Join(dir, "state"),
				facts.BaseURL, key.Key, key.Secret), 0o600))
			s, path := auditOf(t, dir, &facts), filepath.Join(dir, "state", statedir.StateFile)
			cmd := child(t, dir, "run", "-c", config, "--set", "bot.keep_orders=true")
			bottest.Await(t, func() bool { return len(s.OpenAtTheExchange()) > 0 })
			way.do(t, path)
			requireFailed(t, cmd)
			said := fmt.Sprint(cmd.Stderr)
			require.Contains(t, said, "all strategies are halted, all orders are cancelled")
			require.Contains(t, said, "put that into its place before the next start")
			require.Empty(t, s.OpenAtTheExchange(), said)
			have, err := os.ReadFile(path)
			require.Equal(t, way.want == nil, errors.Is(err, os.ErrNotExist), "a new file is made by nothing")
			require.Equal(t, way.want, have, "and an other one not written to")
			saved := path + statedir.RescuedExt
			if old, err := os.ReadFile(saved); err == nil && string(old) == "older" {
				saved += ".2"
			}
			requireRescued(t, saved)
			require.NoError(t, os.Rename(saved, path))
			again := child(t, dir, "run", "-c", config)
			awaitState(t, filepath.Dir(path), operator.Halted)
			require.NoError(t, again.Process.Signal(os.Interrupt))
			require.NoError(t, again.Wait(), "%s", again.Stderr)
		})
	}
}

// awaitState waits until the bot of a folder says that it is in a state.
func awaitState(t *testing.T, folder, want string) {
	t.Helper()
	bottest.Await(t, func() bool {
		var out bytes.Buffer
		var s operator.Status
		code := Run(t.Context(), Process{Args: []string{"status", "--state", folder, "--json"}, Stdout: &out,
			Stderr: io.Discard, Getenv: func(string) string { return "" }})
		return code == exitDone && json.Unmarshal(out.Bytes(), &s) == nil && s.State == want
	})
}

// requireFailed waits for a bot to end, with exit code 1.
func requireFailed(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		require.Equal(t, exitFailed, exit.ExitCode(), "%s", cmd.Stderr)
	case <-time.After(2 * time.Minute):
		require.Fail(t, "the bot goes on", "%s", cmd.Stderr)
	}
}

// requireRescued wants a whole state file whose strategy is halted and whose orders have ended.
func requireRescued(t *testing.T, path string) {
	t.Helper()
	store, err := journal.Read(path)
	require.NoError(t, err)
	defer store.Close()
	report, err := store.Check()
	require.NoError(t, err)
	require.Empty(t, report.Flaws)
	require.Positive(t, report.Orders)
	require.Zero(t, report.Open)
	halts, err := store.Halts()
	require.NoError(t, err)
	require.Len(t, halts, 1)
	require.Contains(t, halts[0].Reason, "the bot's state file was taken away")
}

func TestAPaperBotWhoseExchangeFileIsDeletedSavesIt(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	dir := t.TempDir()
	facts, _ := exchangeChild(t, dir)
	state := filepath.Join(dir, "state")
	config, err := filepath.Abs("../configs/paper.toml")
	require.NoError(t, err)
	cmd := child(t, dir, "run", "-c", config, "--set", "exchange.base_url="+facts.BaseURL, "--set", "bot.state="+state,
		"--set", "bot.stop_within=5m")
	awaitState(t, state, operator.Trading)
	paper := filepath.Join(state, statedir.PaperFile)
	require.NoError(t, os.Remove(paper))
	requireFailed(t, cmd)
	require.NoFileExists(t, paper)
	require.NoError(t, os.Rename(paper+statedir.RescuedExt, paper))
	again := child(t, dir, "run", "-c", config, "--set", "exchange.base_url="+facts.BaseURL, "--set",
		"bot.state="+state, "--set", "bot.stop_within=5m")
	awaitState(t, state, operator.Halted)
	require.NoError(t, again.Process.Signal(os.Interrupt))
	require.NoError(t, again.Wait(), "%s", again.Stderr)
}
