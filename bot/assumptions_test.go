package bot

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// A fee of 0 in the config of bot gap --backtest is 0, and no fee that was left out.
func TestGapTakesTheFeesOfItsConfig(t *testing.T) {
	for fees, want := range map[string]exchange.Fees{
		"maker_fee = \"0\"\ntaker_fee = 0":     {},
		"maker_fee = \"0\"":                    {Taker: 250_000},
		"taker_fee = \"0\"":                    {Maker: 150_000},
		"maker_fee = \"-0.0001\"":              {Maker: -10_000, Taker: 250_000},
		"maker_fee = 0.001\ntaker_fee = 0.002": {Maker: 100_000, Taker: 200_000},
		"":                                     {Maker: 150_000, Taker: 250_000},
	} {
		path := filepath.Join(t.TempDir(), "fees.toml")
		require.NoError(t, os.WriteFile(path, []byte("[data]\nsource = \"synthetic\"\n[account]\n"+fees+
			"\n[strategies.dca]\nkind = \"dca\"\nmarkets = [\"BTC-EUR\"]\ninterval = \"1h\"\n"), 0o600))
		o := &gap.Options{Kinds: shipped.Definitions()}
		_, err := gapModel(path, o)
		require.NoError(t, err)
		require.Equal(t, want, exchange.Fees(*o.Model.Fees), fees)
	}
}

// What cannot be measured is said, and no file is written or written over.
func TestAssumptionsThatCannotBeMeasuredAreRefused(t *testing.T) {
	dir := t.TempDir()
	other, missing := filepath.Join(dir, "live.toml"), filepath.Join(dir, "measured.toml")
	require.NoError(t, os.WriteFile(other, []byte("[bot]\n"), 0o600))
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"bot.db: not found", exitFailed, []string{"--write-assumptions", missing}},
		{"was not written by --write-assumptions", 64, []string{"--write-assumptions", other}},
		{"--from 2026-11-02 is not before --to 2026-11-01", 64,
			[]string{"--write-assumptions", missing, "--from", "2026-11-02", "--to", "2026-11-01"}},
		{"is no time", 64, []string{"--write-assumptions", missing, "--from", "soon"}},
	} {
		var failed bytes.Buffer
		code := Run(t.Context(),
			Process{Args: append([]string{"gap", "--state", filepath.Join(dir, "nowhere")}, c.args...),
				Stdout: new(bytes.Buffer), Stderr: &failed, Getenv: func(string) string { return "" }})
		require.Equal(t, c.code, code, failed.String())
		require.Contains(t, failed.String(), c.want)
	}
	text, err := os.ReadFile(other)
	require.NoError(t, err)
	require.Equal(t, "[bot]\n", string(text))
	require.NoFileExists(t, missing)
}
