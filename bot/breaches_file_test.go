package bot

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

func TestABlobOfBreachesThatCannotBeReadIsAProblemOfTheFile(t *testing.T) {
	dir := t.TempDir()
	store, err := journal.Open(filepath.Join(dir, statedir.StateFile))
	require.NoError(t, err)
	require.NoError(t, store.Bind(&market.Catalog{}, nil))
	batch := store.NewBatch()
	batch.Blob(statedir.BreachesBlob, []byte("nonsense"))
	require.NoError(t, store.Commit(batch))
	require.NoError(t, store.Close())
	var out, errs bytes.Buffer
	require.Equal(t, 1, Run(t.Context(), Process{Args: []string{"state", "check", "--state", dir},
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: os.Getenv}))
	require.Contains(t, out.String(), "breaches in the state file")
	require.Contains(t, errs.String(), "1 problems")
}
