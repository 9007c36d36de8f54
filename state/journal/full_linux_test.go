package journal

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tidemark-trading/tidemark/market"
)

func TestAFullDiskFailsTheCommitAndNothingElse(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=600k"); err != nil {
		t.Skipf("a full disk needs the right to mount one: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(disk, 0)) })
	ballast := filepath.Join(disk, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 200<<10), 0o600))
	s, err := Open(filepath.Join(disk, "bot.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.NoError(t, s.Bind(twoMarkets(t), twoStrategies))
	b := s.NewBatch()
	id := market.OrderID(0)
	for err == nil {
		id++
		b.Journal(market.Time(id), intentOf(ownOrder(id)))
		b.Order(ownOrder(id))
		err = s.Commit(b)
	}
	require.ErrorContains(t, err, "no space left on device")
	require.NotErrorIs(t, err, ErrUnresolved)
	require.Greater(t, id, market.OrderID(20))
	report := requireSound(t, s)
	require.EqualValues(t, id-1, report.Orders)
	require.Error(t, s.Commit(b), "the disk is as full as before")
	require.Error(t, s.Backup(filepath.Join(disk, "copy.db")))
	require.NoFileExists(t, filepath.Join(disk, "copy.db"))

	require.NoError(t, os.Remove(ballast))
	require.NoError(t, s.Commit(b), "the batch was kept")
	report = requireSound(t, s)
	require.EqualValues(t, id, report.Orders)
}
