package bot_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// rounds is `bot gap --every` as a process beside `bot run`, on an exchange that charges fees of
// which the bot's config knows nothing: live is away from the backtest.
type rounds struct {
	t           *testing.T
	state       string
	config      string
	out, stderr *output
	cmd         *exec.Cmd
}

// start begins rounds of a second.
func (r *rounds) start() {
	r.out, r.stderr = &output{}, &output{}
	r.cmd = bottest.Child(bottest.Program(r.t), "gap", "-c", r.config, "--every", "1s", "--listen", "127.0.0.1:0")
	r.cmd.Stdout, r.cmd.Stderr = r.out, r.stderr
	require.NoError(r.t, r.cmd.Start())
	r.t.Cleanup(func() { _ = r.cmd.Process.Kill() })
}

// wait waits for a line of the rounds that come from now on.
func (r *rounds) wait(want string) {
	before := len(r.out.String())
	bottest.Await(r.t, func() bool { return strings.Contains(r.out.String()[before:], want) },
		"rounds with %q; they say:\n%s", want, r.out)
}

// scrape is what the rounds tell Prometheus.
func (r *rounds) scrape() string {
	at := regexp.MustCompile(`http://\S+`)
	answer, err := http.Get(at.FindString(r.stderr.String()))
	require.NoError(r.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(r.t, err)
	return string(text)
}

func TestABotIsComparedWithItsBacktestRoundAfterRound(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var heard []alert.Alert
	phone := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		var one alert.Alert
		if json.NewDecoder(q.Body).Decode(&one) == nil && one.Kind == alert.Tracking {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, one)
		}
	}))
	defer phone.Close()
	dir := t.TempDir()
	exchange := serve(t, nil)
	key := exchange.facts.Accounts[0].Keys[0]
	r := &rounds{t: t, state: filepath.Join(dir, "state"), config: filepath.Join(dir, "live.toml")}
	require.NoError(t, os.WriteFile(r.config, fmt.Appendf(nil, `
[bot]
state = %q
stop_within = "5m"
[exchange]
base_url = %q
key = %q
secret = %q
[poll]
books = "500ms"
[strategies.maker]
kind = "maker"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "5000"
operator_id = 1
cod_group_id = 1
params = { half_spread_bps = "1", move_bps = "0.1", money = "500", max_money = "2000" }
[account]
maker_fee = "0"
taker_fee = "0"
[alerts]
tracking_bps = 1
[alerts.to.phone]
url = %q
`, r.state, exchange.facts.BaseURL, key.Key, key.Secret, phone.URL), 0o600))
	run := func() *exec.Cmd {
		cmd := bottest.Child(bottest.Program(t), "run", "-c", r.config)
		cmd.Stderr = &output{}
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return cmd
	}
	stop := func(cmd *exec.Cmd) {
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		require.NoError(t, bottest.Ended(cmd), "%s", cmd.Stderr)
	}
	r.start()
	r.wait("no comparison: no bot is running with its state in " + r.state)
	bot := run()
	r.wait(": maker -")
	bottest.Await(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(heard) > 0 },
		"an alert; the rounds say:\n%s", r.out)
	require.Regexp(t, `^maker is away from its backtest since .*: -\d+\.\d bps \(.*fees -`, heard[0].Text)
	require.Equal(t, "live", heard[0].Bot)
	text := r.scrape()
	require.Contains(t, text, `tidemark_gap_tracking_bps{strategy="maker"} -`)
	require.Contains(t, text, `tidemark_gap_part_bps{part="fees",strategy="maker"} -`)
	require.Contains(t, text, `tidemark_gap_rounds_total{outcome="failed"}`)

	stop(bot) // the state file is free: the bot ends and begins as it likes
	r.wait("no comparison: ")
	bot = run()
	r.wait(": maker -")

	pid := r.cmd.Process.Pid
	require.NoError(t, r.cmd.Process.Kill())
	_ = bottest.Ended(r.cmd)
	left := []string{fmt.Sprintf(".copy-%d.db", pid), fmt.Sprintf("..copy-%d.db.1234.tmp", pid)}
	other := fmt.Sprintf(".copy-%d.db", os.Getpid())
	for _, name := range append(left, other, "gap-1.db") {
		require.NoError(t, os.WriteFile(filepath.Join(r.state, name), nil, 0o600))
	}
	r.start()
	r.wait(": maker -")
	for _, name := range left {
		require.NoFileExists(t, filepath.Join(r.state, name))
	}
	require.FileExists(t, filepath.Join(r.state, other), "its process lives")
	require.FileExists(t, filepath.Join(r.state, "gap-1.db"))

	require.NoError(t, r.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, bottest.Ended(r.cmd), r.stderr.String())
	stop(bot)
	code, out, failed := call(t.Context(), "gap", "-c", r.config)
	require.Zero(t, code, failed)
	require.Contains(t, out, ", 2 starts\n")
}
