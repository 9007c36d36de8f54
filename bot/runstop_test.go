package bot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/server"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// orphans is a real `bot exchange` with the orders of a real `bot run` that was killed.
type orphans struct {
	*bottest.Books
	dir, config string
	facts       server.Facts
	exchange    *os.Process
}

func newOrphans(t *testing.T) *orphans {
	o := &orphans{dir: t.TempDir()}
	o.facts, o.exchange = exchangeChild(t, o.dir, "--set", "budget.per_key=100000", "--set", "budget.per_ip=100000")
	o.Books = auditOf(t, o.dir, &o.facts)
	key := o.facts.Accounts[0].Keys[0]
	o.config = filepath.Join(o.dir, "bot.toml")
	require.NoError(t, os.WriteFile(o.config, fmt.Appendf(nil, killConfig, o.Folder, o.facts.BaseURL, key.Key,
		key.Secret), 0o600))
	bottest.Await(t, func() bool { // until it dies with orders, which may be filled in the moment before
		bot := child(t, o.dir, "run", "-c", o.config)
		bottest.Await(t, func() bool { return len(o.OpenAtTheExchange()) > 0 })
		require.NoError(t, bot.Process.Kill())
		require.Error(t, bottest.Ended(bot))
		return len(o.OpenAtTheExchange()) > 0
	})
	return o
}

// begin starts the bot anew and waits until it says something.
func (o *orphans) begin(says string, args ...string) *exec.Cmd {
	bot := child(o.T, o.dir, append([]string{"run", "-c", o.config}, args...)...)
	bottest.Await(o.T, func() bool { return strings.Contains(logOf(bot), says) }, says)
	return bot
}

func logOf(bot *exec.Cmd) string { return bot.Stderr.(*bottest.Log).String() }

// strike lets questions fail at the exchange; without any, none.
func (o *orphans) strike(endpoints ...string) {
	faults := []any{}
	if len(endpoints) > 0 {
		faults = append(faults, map[string]any{"kind": "error", "code": 101, "endpoints": endpoints})
	}
	text, err := json.Marshal(map[string]any{"faults": faults})
	require.NoError(o.T, err)
	r, err := http.NewRequestWithContext(o.T.Context(), http.MethodPut, o.facts.AdminURL+"/faults",
		bytes.NewReader(text))
	require.NoError(o.T, err)
	r.Header.Set("Authorization", "Bearer "+o.facts.AdminToken)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(o.T, err)
	require.NoError(o.T, answer.Body.Close())
	require.Equal(o.T, http.StatusOK, answer.StatusCode)
}

func TestAProcessThatIsStoppedBeforeItTradesEndsWhatTheLastOneLeft(t *testing.T) {
	t.Parallel()
	o := newOrphans(t)
	o.strike("GET /trades") // the reconcile does not come to an end
	bot := o.begin("the exchange cannot be reached")
	require.NoError(t, bot.Process.Signal(syscall.SIGTERM))
	require.NoError(t, bottest.Ended(bot), "%s", bot.Stderr)
	require.Contains(t, logOf(bot), `"open_orders":0`)
	o.strike()
	require.Empty(t, o.OpenAtTheExchange())
	require.Positive(t, o.AgreeOnFile().Orders)
}

// The exchange stands still: neither does it answer nor does it break connections.
func TestAProcessThatIsStoppedAtASilentExchangeSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	o := newOrphans(t)
	left := o.OpenAtTheExchange()
	bottest.Freeze(t, o.exchange)
	bot := o.begin("asking the exchange for its markets", "--set", "bot.stop_within=2s")
	require.NoError(t, bot.Process.Signal(os.Interrupt))
	var exit *exec.ExitError
	require.ErrorAs(t, bottest.Ended(bot), &exit, "%s", bot.Stderr)
	require.Equal(t, exitFailed, exit.ExitCode(), "%s", bot.Stderr)
	require.Regexp(t, `stopped before the exchange could be asked for the \d+ orders that the last run left open`,
		logOf(bot))
	for i := range left {
		require.Contains(t, logOf(bot), left[i].Order.ClientOrderID.String())
	}

	empty := o.begin("asking the exchange for its markets", "--set", "bot.state="+filepath.Join(o.dir, "another"))
	require.NoError(t, empty.Process.Signal(os.Interrupt))
	require.NoError(t, bottest.Ended(empty), "%s", empty.Stderr)
	require.Contains(t, logOf(empty), "stopped before trading began")
	require.NoError(t, o.exchange.Signal(syscall.SIGCONT))
}
