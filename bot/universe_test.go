package bot_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

const universeOfTwo = `
[exchange]
base_url = "URL"
[bot]
mode = "paper"
[paper.start]
EUR = "10000"
[strategies.week]
kind = "rotation"
universe = {rank = "volume1d", top = 2}
interval = "1h"
operator_id = 1
params = {top = 1, candles = 3, every = "1d"}
`

// Markets are recorded and candles fetched over loopback; then a backtest and the plan of a live
// bot rank them.
func TestAUniverseOverLoopback(t *testing.T) {
	c := sandbox.Default()
	c.Clock, c.History = sandbox.ManualClock(townTime), 5*24*time.Hour
	c.Budget.PerIP = -1
	c.Tiers = []sandbox.Tier{{Volume: "0", Fees: map[string]exchange.Fees{"": {Taker: 200_000}, "B": {Taker: 400_000}}}}
	require.GreaterOrEqual(t, len(c.Markets), 3)
	c.Markets = c.Markets[:3]
	for i := range c.Markets {
		c.Markets[i].Source = prices.Synthetic{Price: "100", Step: time.Duration(20*(i+1)) * time.Second}
	}
	ex, err := sandbox.New(c)
	require.NoError(t, err)
	server := httptest.NewServer(ex)
	defer server.Close()
	folder := t.TempDir()
	store := filepath.Join(folder, "candles.db")
	run := func(args ...string) string {
		var out, errs bytes.Buffer
		code := bot.Run(t.Context(), bot.Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			Getenv: os.Getenv, Definitions: shipped.Definitions()})
		require.Zero(t, code, "%v: %s", args, &errs)
		return out.String()
	}
	require.Equal(t, "markets of 2026-01-10: 3 recorded, 3 of them trading\n",
		run("candles", "fetch", "--markets", "--db", store, "--base-url", server.URL))
	for i, name := range []string{"A_KEY", "A_SECRET"} {
		key := &c.Accounts[0].Keys[0]
		t.Setenv(name, []string{key.Key, key.Secret}[i])
	}
	withKey, withFees := filepath.Join(folder, "live.toml"), filepath.Join(folder, "fees.db")
	require.NoError(t, os.WriteFile(withKey, []byte("[exchange]\nbase_url = \""+server.URL+
		"\"\nkey_env = \"A_KEY\"\nsecret_env = \"A_SECRET\"\n"), 0o600))
	require.Equal(t, "markets of 2026-01-10: 3 recorded, 3 of them trading, 3 with the account's fees\n",
		run("candles", "fetch", "--markets", "--db", withFees, "-c", withKey))
	requireFees(t, withFees, "0.004", "0.002", "0.002")
	t.Setenv("A_SECRET", "")
	keyless := filepath.Join(folder, "keyless.db")
	require.Equal(t, "markets of 2026-01-10: 3 recorded, 3 of them trading\n",
		run("candles", "fetch", "--markets", "--db", keyless, "-c", withKey))
	requireFees(t, keyless, "", "", "")
	for _, m := range c.Markets {
		run("candles", "fetch", "--db", store, "--base-url", server.URL, "--market", m.Name, "--interval", "1h",
			"--from",
			"2026-01-05")
	}
	text := strings.NewReplacer("URL", server.URL).Replace(universeOfTwo)

	_, strategies, _ := strings.Cut(text, "EUR = \"10000\"\n")
	path := filepath.Join(folder, "backtest.toml")
	require.NoError(t, os.WriteFile(path, []byte("[backtest]\nfrom = 2026-01-07\n"+strategies), 0o600))
	var result backtest.Result
	require.NoError(t, json.Unmarshal([]byte(run("backtest", "-c", path, "--db", store, "--json")), &result))
	u := result.Universes[0]
	require.Equal(t, []int{2, u.Members}, []int{u.Top, u.Survivors})
	require.EqualValues(t, 8, u.ByCandles, "two members on each of four days")
	require.NotZero(t, result.Orders.Fills)
	require.Contains(t, strings.Join(result.Assumptions, "\n"), "are those recorded at the time")

	doctored := filepath.Join(folder, "doctor.toml")
	require.NoError(t, os.WriteFile(doctored, []byte(strings.Replace(text, "[bot]", "[bot]\nstate = \""+folder+
		"\"", 1)), 0o600))
	var said bytes.Buffer
	bot.Run(t.Context(), bot.Process{Args: []string{"doctor", "-c", doctored, "--json"}, Stdin: strings.NewReader(""),
		Stdout: &said, Stderr: &said, Getenv: os.Getenv, Definitions: shipped.Definitions()})
	require.Contains(t, said.String(),
		"universe of week, top 2 by the volume of the last 24 hours, ranked now for 2026-01")
	for _, m := range c.Markets { // two members and a watched market
		require.Contains(t, said.String(), "GET /"+m.Name+"/candles: weight 1 every 1h")
	}
	require.Contains(t, said.String(), "GET /ticker/24h: weight 25 every 24h")

	source := &config.Source{Text: text}
	loaded, err := config.LoadRun(source)
	require.NoError(t, err)
	live, err := plan.NewLive(loaded, shipped.Definitions(), os.Getenv)
	require.NoError(t, err)
	client, err := live.Client(plan.NewWeightBudget(&loaded.Exchange, func() market.Time { return townTime }, nil))
	require.NoError(t, err)
	defer client.Close()
	offered, err := live.Listing(t.Context(), client)
	require.NoError(t, err)
	live.Held = map[string][]string{"week": {c.Markets[2].Name}}
	require.NoError(t, live.Finish(offered))
	members := live.Strategies[0].Universe[0].Markets
	require.Len(t, members, 2)
	require.Len(t, live.Notes, 1)
	require.Contains(t, live.Notes[0], "universe of week, top 2 by the volume of the last 24 hours, ranked now")
	held := slices.ContainsFunc(live.Strategies[0].Markets, func(m *market.Market) bool {
		return m.Name == c.Markets[2].Name
	})
	require.True(t, held)
}

// requireFees requires the taker fees of the markets in the record of a store.
func requireFees(t *testing.T, path string, want ...string) {
	store, err := candles.Read(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	var have []string
	require.NoError(t, store.Listings(0, 0, func(l *candles.Listing) error {
		for i := range l.Markets {
			have = append(have, l.Markets[i].TakerFee)
		}
		return nil
	}))
	require.Equal(t, want, have)
}
