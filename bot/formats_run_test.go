package bot_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/bot/bottest"
)

// The paper bot of 31b5e46 was killed with a position, its stop and an exchange of its own. Today's
// program goes on with its folder.
func TestAPaperBotOf31b5e46GoesOn(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	ex := serve(t, nil, "--set", "clock.start=2026-11-22T09:00:00Z")
	folder := bot.UnpackBot(t, "paper")
	path, err := exec.LookPath("bot")
	require.NoError(t, err)
	cmd := exec.Command(path, "run", "-c", "testdata/31b5e46/paper.toml", "--set",
		"exchange.base_url="+ex.facts.BaseURL, "--set", "bot.state="+folder, "--set", "bot.stop_within=5m")
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Minute
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	b := &trader{t: t, exchange: ex, folder: folder}
	var s status
	bottest.Await(t, func() bool { return b.try("status", &s) == 0 && s.State == "trading" })
	require.Len(t, s.Strategies, 4)
	var held struct {
		Positions []struct{ Strategy, Market, Amount string }
	}
	b.ask("positions", &held)
	amounts := map[string]string{}
	for _, p := range held.Positions {
		amounts[p.Strategy] = p.Amount
	}
	require.Contains(t, amounts, "dca", "what it held is held still")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait(), stderr.String())
	code, out, errText := call(t.Context(), "state", "check", "--state", filepath.Join(folder, "bot.db"))
	require.Zero(t, code, out+errText)
	require.Contains(t, out, "2 runs")
	code, out, errText = call(t.Context(), "replay", "--state", folder)
	require.Zero(t, code, out+errText)
	require.Contains(t, out, "commands, all equal")
	require.Contains(t, out, "26 commands are older than the first start in the recording")
}
