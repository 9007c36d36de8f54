package bot_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// handed is a handover as a program reads it.
type handed struct {
	Before    bool
	Entry     uint64
	By        string
	Positions []struct{ Market, Amount, Cost string }
	Orders    []struct{ Order int64 }
	Memory    bool
	Halt      string
}

// TestARenamedStrategyHandsOver renames the strategy of a bot that holds something and has orders
// at the exchange. Doctor and start name the command; it says first what it would
// do, then does it once.
func TestARenamedStrategyHandsOver(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	b := trade(t, "--set", "bot.keep_orders=true")
	b.waitToHold()
	config := b.renamed()
	code, _, said := call(t.Context(), "adopt", "maker", "quoter", "-c", config, "--state", b.folder)
	require.Equal(t, 1, code)
	require.Contains(t, said, "a strategy hands over while the bot is stopped")
	bottest.Await(t, func() bool { // the last order may be filled, and the position sold, in the moment of the stop
		b.waitForOrders()
		b.stop()
		var open orders
		var held positions
		b.ask("orders", &open)
		b.ask("positions", &held)
		both := len(open.Orders) > 0 && len(held.Positions) > 0 && held.Positions[0].Amount != "0"
		if !both {
			b.start("--set", "bot.keep_orders=true")
		}
		return both
	})

	for _, words := range [][]string{{"doctor"}, {"run", "--set", "bot.stop_within=1m"}} {
		code, out, said := call(t.Context(), append(words, "-c", config, "--set",
			"exchange.base_url="+b.exchange.facts.BaseURL, "--set", "bot.state="+b.folder)...)
		require.NotZero(t, code)
		require.Contains(t, out+said, "bot adopt maker NEW", words)
	}
	adopt := func(args ...string) (r handed) {
		code, out, said := call(t.Context(), append([]string{"adopt", "maker", "quoter", "-c", config, "--state",
			b.folder, "--json"}, args...)...)
		require.Zero(t, code, said)
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		return r
	}
	checked := adopt("--check")
	require.Zero(t, checked.Entry)
	require.True(t, checked.Memory)
	require.NotEmpty(t, checked.Positions)
	require.NotEmpty(t, checked.Orders)
	r := adopt()
	require.Equal(t, checked.Positions, r.Positions)
	require.Equal(t, checked.Orders, r.Orders)
	require.True(t, strings.HasPrefix(r.By, "user "))
	require.False(t, r.Before)
	again := adopt()
	require.True(t, again.Before)
	require.Equal(t, r.Entry, again.Entry)
	_, out, _ := call(t.Context(), "adopt", "maker", "quoter", "-c", config, "--state", b.folder)
	require.Contains(t, out, "maker was handed over to quoter")
	_, out, _ = call(t.Context(), "explain", strconv.FormatInt(r.Orders[0].Order, 10), "--state", b.folder)
	require.Contains(t, out, "adopted   maker has handed the order over to quoter, by user ")
	code, _, said = call(t.Context(), "state", "check", "--state", b.folder)
	require.Zero(t, code, said)
	var held struct {
		Positions []struct{ Strategy, Amount string }
	}
	require.Zero(t, b.try("positions", &held))
	names := []string{}
	for _, p := range held.Positions {
		if p.Amount != "0" {
			names = append(names, p.Strategy)
		}
	}
	require.Equal(t, []string{"quoter"}, names)
	for _, refusal := range []struct{ from, to, said string }{
		{"maker", "maker", "maker cannot hand over to itself"},
		{"quoter", "maker", "strategy quoter is still in the config"},
		{"nobody", "quoter", `strategy "nobody": the state file has no strategy of that name; it has: quoter`},
		{"maker", "other", `the config has no strategy "other"; it has: quoter`},
	} {
		code, _, said := call(t.Context(), "adopt", refusal.from, refusal.to, "-c", config, "--state", b.folder)
		require.NotZero(t, code)
		require.Contains(t, said, refusal.said)
	}
}

// renamed is the config of the bot with another name for its strategy.
func (b *trader) renamed() string {
	text, err := os.ReadFile("../configs/sandbox.toml")
	require.NoError(b.t, err)
	path := filepath.Join(b.t.TempDir(), "renamed.toml")
	config := strings.ReplaceAll(string(text), "strategies.maker", "strategies.quoter")
	require.NoError(b.t, os.WriteFile(path, []byte(config), 0o600))
	return path
}
