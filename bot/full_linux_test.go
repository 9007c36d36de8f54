package bot_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// smallDisk mounts a file system of so many bytes.
func smallDisk(t *testing.T, size string) string {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a full disk needs the right to mount one: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, 0)) })
	return dir
}

// command runs bot in dir and returns what it printed.
func command(t *testing.T, dir string, args ...string) (string, error) {
	cmd := bottest.Short(t, bottest.Program(t), args...)
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	return string(text), err
}

func TestAFullDiskLeavesTheOldResultsAndNothingElse(t *testing.T) {
	bottest.Unraced(t)
	disk := smallDisk(t, "1300k")
	text, err := command(t, disk, "backtest", "--out", "out")
	require.NoError(t, err, text)
	before := contents(t, filepath.Join(disk, "out"))
	require.Len(t, before, 8)
	text, err = command(t, disk, "backtest", "--out", "out", "--set", "strategies.trend.params.fast=100")
	require.Error(t, err)
	require.Contains(t, text, "no space left on device")
	require.Equal(t, before, contents(t, filepath.Join(disk, "out")))
}

func TestASweepGoesOnWhenAFullDiskHasRoomAgain(t *testing.T) {
	bottest.Unraced(t)
	disk := smallDisk(t, "600k")
	args := []string{"sweep", "--vary", "strategies.trend.params.fast=20:200:10", "--vary",
		"strategies.trend.params.slow=120:300:40", "--out", "a.sweep"}
	ballast := filepath.Join(disk, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 150_000), 0o600))
	text, err := command(t, disk, args...)
	require.Error(t, err)
	require.Contains(t, text, "write a.sweep: ")
	require.Contains(t, text, "no space left on device")
	require.NoError(t, os.Remove(ballast))
	require.NoError(t, unix.Mount("", disk, "", unix.MS_REMOUNT, "size=2m"))
	text, err = command(t, disk, args...)
	require.NoError(t, err, text)
	require.Regexp(t, `[1-9]\d* of them are in the file already`, text)
	require.NotContains(t, text, "torn")
}

func TestAFullDiskLeavesTheStoreAsItWas(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	disk := smallDisk(t, "700k")
	text, err := command(t, disk, "candles", "import", "--market", "BTC-EUR", "--interval", "1m", rowsFile(t, 0, 1000))
	require.NoError(t, err, text)
	text, err = command(t, disk, "candles", "import", "--market", "BTC-EUR", "--interval", "1m",
		rowsFile(t, 1000, 300_000))
	require.Error(t, err)
	require.Contains(t, text, "no space left on device")
	requireWhole(t, filepath.Join(disk, "candles.db"), 1000, "after the disk was full")
}

// contents are the files of a folder by name.
func contents(t *testing.T, dir string) map[string]string {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = string(text)
	}
	return files
}
