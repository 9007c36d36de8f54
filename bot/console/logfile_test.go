package console_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/console"
)

// noEnv is an empty environment.
func noEnv(string) string { return "" }

// gone is a terminal that has gone away.
type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// linesOf are the numbers of the lines in a log file, packed or not.
func linesOf(t *testing.T, path string) (numbers []int) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if strings.HasSuffix(path, ".gz") {
		packed, err := gzip.NewReader(bytes.NewReader(text))
		require.NoError(t, err)
		text, err = io.ReadAll(packed)
		require.NoError(t, err)
	}
	for line := range bytes.Lines(text) {
		var row struct{ N int }
		require.NoError(t, json.Unmarshal(line, &row), "%s: %s", path, line)
		numbers = append(numbers, row.N)
	}
	return numbers
}

// Deleted, moved away as by logrotate, or with its folder: the next line makes the file again.
func TestALogFileThatIsGoneIsMadeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "bot.log")
	file, err := console.OpenLogFile(path, 1, 2)
	require.NoError(t, err)
	log := console.Logger(gone{}, "info", noEnv, file)
	log.Info().Int("n", 0).Msg("line")
	require.NoError(t, os.Rename(path, path+".1"))
	log.Info().Int("n", 1).Msg("line")
	log.Info().Int("n", 2).Msg("line")
	require.Equal(t, []int{1, 2}, linesOf(t, path))
	require.Equal(t, []int{0}, linesOf(t, path+".1"))
	require.NoError(t, os.RemoveAll(filepath.Dir(path)))
	log.Info().Int("n", 3).Msg("line")
	require.NoError(t, file.Close())
	require.Equal(t, []int{3}, linesOf(t, path))
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing was packed")
}

func TestAFullLogFileIsPackedAndTheLatestAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "bot.log")
	file, err := console.OpenLogFile(path, 1, 2)
	require.NoError(t, err)
	log := console.Logger(gone{}, "info", noEnv, file)
	const lines = 5000
	for n := range lines { // 5 MB: four full files
		log.Info().Int("n", n).Str("filler", strings.Repeat("x", 1000)).Msg("line")
	}
	require.NoError(t, file.Close())

	old, err := filepath.Glob(filepath.Join(filepath.Dir(path), "bot-*.log.gz"))
	require.NoError(t, err)
	all, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	require.NoError(t, err)
	require.Len(t, old, 2, "%v", all)
	require.Len(t, all, 3, "%v", all)
	next := -1
	for _, name := range append(old, path) { // Glob sorts, and the names have the time
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
		require.Less(t, info.Size(), int64(1<<20+2000), name)
		for _, n := range linesOf(t, name) {
			require.True(t, next < 0 || n == next, "line %d follows line %d in %s", n, next-1, name)
			next = n + 1
		}
	}
	require.Equal(t, lines, next)
}

func TestALogFileGoesOnAfterAStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.log")
	for n := range 2 {
		file, err := console.OpenLogFile(path, 1, 1)
		require.NoError(t, err)
		log := console.Logger(io.Discard, "info", noEnv, file)
		log.Info().Int("n", n).Msg("a start")
		require.NoError(t, file.Close())
	}
	require.Equal(t, []int{0, 1}, linesOf(t, path))
}

func TestALogFileThatCannotBeIsNamed(t *testing.T) {
	folder := t.TempDir()
	_, err := console.OpenLogFile(folder, 1, 1)
	require.ErrorContains(t, err, folder)
}

// On a full disk a line is on standard error all the same.
func TestALineThatALogFileCannotTakeIsNotLost(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("this system has no " + full)
	}
	file, err := console.OpenLogFile(full, 1, 1)
	require.NoError(t, err)
	var out bytes.Buffer
	log := console.Logger(&out, "info", noEnv, file)
	log.Info().Msg("a line")
	require.Contains(t, out.String(), `"message":"a line"`)
	require.NoError(t, file.Close())
}
