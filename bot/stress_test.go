package bot

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// The delays of a bot's signals are drawn in a stress: its journal has them.
func TestAStressDrawsTheDelaysOfABot(t *testing.T) {
	dir := t.TempDir()
	follow := filepath.Join(dir, "follow.toml")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "model.csv"), []byte("time,position\n"+
		"2021-02-01T09:07:03Z,long\n2021-02-03T09:07:03Z,flat\n"), 0o600))
	require.NoError(t, os.WriteFile(follow, []byte("[data]\nsource = \"synthetic\"\n[signals.model]\nfile = \""+
		filepath.ToSlash(dir)+"/model.csv\"\n[strategies.s]\nkind = \"follow\"\nmarkets = [\"BTC-EUR\"]\n"+
		"interval = \"1h\"\nparams = { size = \"50% equity\" }\n"), 0o600))
	state := filepath.Join(dir, "state")
	require.NoError(t, os.Mkdir(state, 0o700))
	came := func(sent, came market.Time) {
		store, err := journal.Open(filepath.Join(state, statedir.StateFile))
		require.NoError(t, err)
		require.NoError(t, store.Bind(&market.Catalog{}, nil))
		b := store.NewBatch()
		b.Journal(came, &journal.Signal{Source: "model", Came: came, Sent: sent})
		require.NoError(t, errors.Join(store.Commit(b), store.Close()))
	}
	came(0, 1e9)
	stress := []string{"stress", "-c", follow, "--no-files", "--resamples", "20", "--to", "2021-02-15",
		"--measured-delays", state}
	_, failed := onRecording(t, 64, stress...)
	require.Contains(t, failed, "no signal of that bot says when it was sent")
	came(2e9, 9e9)
	out, _ := onRecording(t, 0, stress...)
	require.Regexp(t, `(?m)^ *signals late +as measured `, out)
	require.NotRegexp(t, `(?m)^ *signals late +30 min `, out)
}
