package bot

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/server"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
)

// A longer run of the kills:
//
//	go test ./bot -run KilledProcess -kill-for 10m -timeout 20m
var killFor = flag.Duration("kill-for", 10*time.Second,
	"how long TestAKilledProcessLosesNothing kills a bot again and again")

// killFaults befall what the bot asks while it is being killed.
const killFaults = `
[[faults]]
kind = "dropAnswer"
endpoints = ["POST /order", "PUT /order", "DELETE /order"]
probability = 0.08
until = %[1]q
[[faults]]
kind = "resetRequest"
endpoints = ["POST /order", "PUT /order", "DELETE /order", "GET /order"]
probability = 0.08
until = %[1]q
[[faults]]
kind = "error"
code = 101
work = true
endpoints = ["POST /order", "PUT /order", "DELETE /order"]
probability = 0.08
until = %[1]q
`

// killConfig is a bot that moves its quotes all the time.
const killConfig = `
[bot]
state = %q
log = "info"
stop_within = "5m"
[exchange]
base_url = %q
key = %q
secret = %q
weight_per_key = 100000
weight_per_ip = 100000
[poll]
tickers = "300ms"
books = "300ms"
[risk]
max_open_orders = 2
max_position = "3000"
max_exposure = "1100"
[strategies.maker]
kind = "maker"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "5000"
operator_id = 1
cod_group_id = 1
params = { half_spread_bps = "1", move_bps = "0.05", money = "200", max_money = "2000" }
`

// TestAKilledProcessLosesNothing kills a real `bot run` with SIGKILL at random moments, in front of
// a real `bot exchange` that loses answers, and starts it again; in the end the state file and the
// exchange tell the same story.
func TestAKilledProcessLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes from 15 s to 30 s: what was in flight at the last kill is unresolved for its window of 10 s")
	}
	t.Parallel()
	dir := t.TempDir()
	faults := filepath.Join(dir, "faults.toml")
	require.NoError(t, os.WriteFile(faults, fmt.Appendf(nil, killFaults, killFor.String()), 0o600))
	// every start lists all open orders
	facts, _ := exchangeChild(t, dir, "--faults", faults, "--state", filepath.Join(dir, "exchange.db"), "--set",
		"budget.per_key=1000000", "--set", "budget.per_ip=1000000")
	key := facts.Accounts[0].Keys[0]
	config := filepath.Join(dir, "bot.toml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, killConfig, filepath.Join(dir, "state"), facts.BaseURL,
		key.Key, key.Secret), 0o600))

	s := auditOf(t, dir, &facts)
	seen, enough := watchMost(s)
	seed := uint64(time.Now().UnixNano())
	random, kills := rand.New(rand.NewPCG(seed, 0)), 0
	t.Logf("seed %d", seed)
	for began := time.Now(); time.Since(began) < *killFor; kills++ {
		cmd := child(t, dir, "run", "-c", config)
		time.Sleep(300*time.Millisecond + time.Duration(random.Int64N(int64(2*time.Second))))
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, bottest.Ended(cmd))
	}
	last := child(t, dir, "run", "-c", config)
	bottest.Await(t, func() bool { return seen().open == 2 }, "the limit is reached")
	time.Sleep(4 * time.Second)
	require.NoError(t, last.Process.Signal(os.Interrupt))
	require.NoError(t, bottest.Ended(last), "%s", last.Stderr)

	enough()
	most := seen()
	require.Equal(t, 2, most.open, "open orders at any time, which the limit allows")
	require.Less(t, most.exposure, 1100*1.02, "a price moves by that much between a decision and the look at it")
	require.Empty(t, s.OpenAtTheExchange())
	a := s.AgreeOnFile()
	t.Logf("%d kills, %+v, at most %+v", kills, a, most)
	require.Positive(t, a.Orders)
	requireReplay(t, s.Folder)
}

// auditOf are the books of a bot that has its state in dir, and of an exchange that is a process of
// its own.
func auditOf(t *testing.T, dir string, facts *server.Facts) *bottest.Books {
	s, key := &bottest.Books{T: t, Folder: filepath.Join(dir, "state")}, facts.Accounts[0].Keys[0]
	var err error
	s.Auditor, err = rest.New(rest.Config{BaseURL: facts.BaseURL, Key: rest.NewSecret(key.Key),
		Secret: rest.NewSecret(key.Secret), Window: market.Duration(time.Minute)})
	require.NoError(t, err)
	require.NoError(t, s.Auditor.Sync(t.Context()))
	s.Units, _, err = s.Auditor.Catalog(t.Context())
	require.NoError(t, err)
	s.Auditor.Use(s.Units)
	return s
}

// most is the most that was seen at an exchange at any time.
type most struct {
	open     int
	exposure float64
}

// watchMost looks at the exchange, again and again until enough is called. What it returns first
// tells the most that was seen so far.
func watchMost(s *bottest.Books) (seen func() most, enough func()) {
	ctx, stop := context.WithCancel(s.T.Context())
	before := s.Holdings()[s.Market().Base]
	var (
		peak   most
		lock   sync.Mutex
		looker sync.WaitGroup
	)
	looker.Go(func() {
		for ctx.Err() == nil {
			if open, exposure, err := exposed(ctx, s, before); err == nil {
				lock.Lock()
				peak.open, peak.exposure = max(peak.open, open), max(peak.exposure, exposure)
				lock.Unlock()
			}
			select {
			case <-time.After(250 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
	return func() most { lock.Lock(); defer lock.Unlock(); return peak }, func() { stop(); looker.Wait() }
}

// exposed is how many orders are open and what the account has of the base, beyond what it had
// before, together with what open buys hold. The balance is asked for first: a buy that fills
// meanwhile counts nowhere, and not twice.
func exposed(ctx context.Context, s *bottest.Books, before market.Money) (orders int, exposure float64, err error) {
	prices, err := s.Auditor.TickerPrices(ctx, nil)
	if err != nil {
		return 0, 0, err
	}
	held, err := s.Auditor.Holdings(ctx)
	if err != nil {
		return 0, 0, err
	}
	open, err := s.Auditor.OpenOrders(ctx)
	m := s.Market()
	for _, h := range held {
		if h.Asset == m.Base {
			at := slices.IndexFunc(prices, func(t market.Ticker) bool { return t.Market == m.ID })
			exposure += float64(h.Available+h.Orders-before) / 1e8 * inMoney(m.FormatPrice(prices[at].Last))
		}
	}
	for i := range open {
		if o := &open[i].Order; o.Side == market.Buy {
			exposure += float64(o.OnHold) / 100
		}
	}
	return len(open), exposure, err
}

// child starts the program as a process of its own, which the end of the test kills.
func child(t *testing.T, dir string, args ...string) *exec.Cmd {
	cmd := bottest.Child(bottest.Program(t), args...)
	cmd.Dir, cmd.Stderr = dir, new(bottest.Log)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// exchangeChild starts `bot exchange` on a free port and returns what it tells.
func exchangeChild(t *testing.T, dir string, args ...string) (facts server.Facts, process *os.Process) {
	cmd := bottest.Child(bottest.Program(t), append([]string{"exchange", "--listen", "127.0.0.1:0", "--json"},
		args...)...)
	said := new(bottest.Log)
	cmd.Dir, cmd.Stderr = dir, said
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	defer bottest.Overdue(cmd)()
	require.NoError(t, json.NewDecoder(out).Decode(&facts),
		"it tells its facts before anything else; on standard error: %s", said)
	return facts, cmd.Process
}

func inMoney(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64) // the exchange's own text
	return n
}
