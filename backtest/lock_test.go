package backtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOneRunAtATimeWritesToAFolder(t *testing.T) {
	dir := t.TempDir()
	first, err := newResults(dir)
	require.NoError(t, err)
	_, err = newResults(dir)
	require.ErrorIs(t, err, errFolderBusy)
	first.discard()
	second, err := newResults(dir)
	require.NoError(t, err)
	_, err = second.create("rows.csv")
	require.NoError(t, err)
	require.NoError(t, second.publish())
	third, err := newResults(dir)
	require.NoError(t, err)
	third.discard()
}
