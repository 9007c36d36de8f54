package bot

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/server"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// What a bot at work costs, of a program as it is shipped:
//
//	go test ./bot -run FiftyMarkets -measure 2m -v
var measureFor = flag.Duration("measure",
	0, "how long TestFiftyMarketsAndSixStrategiesAreTradedByOneBot measures; 0: it only sees that they are traded")

const fiftyMarkets = 50

// fiftyExchange is an exchange with so many markets.
func fiftyExchange() string {
	var text strings.Builder
	text.WriteString("[exchange]\nhistory = \"8h\"\n[accounts.bot.balances]\nEUR = " +
		"\"1000000\"\n[accounts.bot.keys.main]\npermissions = [\"read\", \"trade\"]\n[assets.EUR]\ndecimals = 2\n")
	for i := range fiftyMarkets {
		fmt.Fprintf(&text, "[assets.M%02[1]d]\n[markets.M%02[1]d-EUR]\ntick_size = \"0.01\"\nmin_order_in_base = "+
			"\"0.001\"\nmin_order_in_quote = \"5\"\n"+
			"source = { kind = \"synthetic\", price = \"%[2]d\", volatility = \"0.2\" }\nliquidity = { levels = 50, "+
			"half_spread_bps = \"2\", size = \"5\" }\n", i, 50+7*i)
	}
	return text.String()
}

// fiftyBot is a bot with every shipped strategy; together they trade all markets. What is not
// written here has its default.
func fiftyBot(facts *server.Facts, folder string) string {
	var text strings.Builder
	key := facts.Accounts[0].Keys[0]
	fmt.Fprintf(&text, "[bot]\nstate = %q\nlog = \"info\"\n[exchange]\nbase_url = %q\nkey = %q\nsecret = %q\n", folder,
		facts.BaseURL, key.Key, key.Secret)
	from := 0
	for i, row := range []struct {
		kind, params string
		markets      int
	}{
		{"smacross", `fast = 3, slow = 8`, 9}, {"breakout", `channel = 5`, 9}, {"rsirevert", `low = 45, high = 55`,
			9}, {"grid", `levels = 3`, 9}, {"dca", `every_candles = 1`, 9}, {"maker", ``, 5},
	} {
		var markets []string
		for range row.markets {
			markets = append(markets, fmt.Sprintf(`"M%02d-EUR"`, from))
			from++
		}
		fmt.Fprintf(&text, "[strategies.%[1]s]\nkind = %[1]q\nmarkets = [%[2]s]\ninterval = \"1m\"\nallocation = "+
			"\"100000\"\noperator_id = %[3]d\nparams = { %[4]s }\n", row.kind, strings.Join(markets,
			", "), i+1, row.params)
	}
	return text.String()
}

// TestFiftyMarketsAndSixStrategiesAreTradedByOneBot lets a bot of its own process trade, with the
// default plan, and tells what that took.
func TestFiftyMarketsAndSixStrategiesAreTradedByOneBot(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a dozen seconds; nothing of it is about races")
	}
	t.Parallel()
	dir := t.TempDir()
	market, config, program := filepath.Join(dir, "exchange.toml"), filepath.Join(dir, "bot.toml"), "bot"
	require.NoError(t, os.WriteFile(market, []byte(fiftyExchange()), 0o600))
	facts, _ := exchangeChild(t, dir, "-c", market)
	require.NoError(t, os.WriteFile(config, []byte(fiftyBot(&facts, filepath.Join(dir, "state"))), 0o600))
	if *measureFor > 0 {
		program = filepath.Join(dir, "shipped")
		out, err := bottest.Short(t, "go", "build", "-o", program, "../cmd/bot").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	logs, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	defer logs.Close()
	cmd := bottest.Child(program, "run", "-c", config)
	cmd.Dir, cmd.Stderr = dir, logs
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	bottest.Await(t, func() bool { return strings.Contains(readText(t, logs.Name()), `"message":"fill"`) },
		"the maker trades before the first candle has closed")
	if *measureFor > 0 {
		measure(t, cmd.Process.Pid)
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, bottest.Ended(cmd), "%s", readText(t, logs.Name()))
	store, err := journal.Read(filepath.Join(dir, "state", statedir.StateFile))
	require.NoError(t, err)
	defer store.Close()
	report, err := store.Check()
	require.NoError(t, err)
	require.Empty(t, report.Flaws)
	t.Logf("%d orders, %d fills", report.Orders, report.Fills)
	require.Positive(t, report.Fills)
}

// measure tells the share of a core and the memory that a process takes.
func measure(t *testing.T, pid int) {
	const settle = 20 * time.Second // what the start took is not what the work takes
	time.Sleep(settle)
	began, before := time.Now(), cpuOf(t, pid)
	time.Sleep(*measureFor)
	used := cpuOf(t, pid) - before
	var parts []string
	peak := 0
	for line := range strings.Lines(readText(t, fmt.Sprintf("/proc/%d/status", pid))) {
		name, value, _ := strings.Cut(line, ":")
		switch kilobytes, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB")); name {
		case "VmRSS", "RssAnon", "RssFile":
			parts = append(parts, fmt.Sprintf("%s %.1f MB", name, float64(kilobytes)/1024))
		case "VmHWM":
			parts, peak = append(parts, fmt.Sprintf("%s %.1f MB", name, float64(kilobytes)/1024)), kilobytes/1024
		}
	}
	t.Logf("over %s: %.2f %% of a core; %s", time.Since(began).Round(time.Second), 100*used.Seconds()/time.Since(began).
		Seconds(), strings.Join(parts, ", "))
	require.LessOrEqual(t, peak, 60, "MB")
}

// cpuOf is the time that a process has spent on a core (proc(5), stat: fields 14 and 15, in
// hundredths of a second).
func cpuOf(t *testing.T, pid int) time.Duration {
	_, rest, found := strings.Cut(readText(t, fmt.Sprintf("/proc/%d/stat", pid)), ") ")
	require.True(t, found)
	fields := strings.Fields(rest)
	user, err := strconv.Atoi(fields[11])
	require.NoError(t, err)
	system, err := strconv.Atoi(fields[12])
	require.NoError(t, err)
	return time.Duration(user+system) * 10 * time.Millisecond
}
