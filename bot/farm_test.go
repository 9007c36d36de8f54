package bot_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// background is a child whose standard error is read line by line.
type background struct {
	*exec.Cmd
	t     *testing.T
	lines chan string
	out   bytes.Buffer
}

func startBackground(t *testing.T, dir string, args ...string) *background {
	b := &background{Cmd: bottest.Child(bottest.Program(t), args...), t: t, lines: make(chan string, 10_000)}
	b.Dir, b.Stdout = dir, &b.out
	out, err := b.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, b.Start())
	t.Cleanup(func() { _ = b.Process.Kill() })
	go func() {
		scan := bufio.NewScanner(out)
		for scan.Scan() {
			b.lines <- scan.Text()
		}
		_, _ = io.Copy(io.Discard, out)
		close(b.lines)
	}()
	return b
}

// await waits for a line, and returns its submatches.
func (b *background) await(pattern string) []string {
	b.t.Helper()
	defer bottest.Overdue(b.Cmd)()
	want, said := regexp.MustCompile(pattern), ""
	for line := range b.lines {
		if found := want.FindStringSubmatch(line); found != nil {
			return found
		}
		said += line + "\n"
	}
	require.Failf(b.t, "it is not said", "%s in\n%s", pattern, said)
	return nil
}

// finish waits for the end, and returns the exit code and what was said since.
func (b *background) finish() (code int, said string) {
	defer bottest.Overdue(b.Cmd)()
	for line := range b.lines {
		said += line + "\n"
	}
	_ = b.Wait()
	return b.ProcessState.ExitCode(), said
}

// storeOf makes a candle store of the made-up market in a folder.
func storeOf(t *testing.T, dir string) {
	for _, args := range [][]string{
		{"candles", "export", "--synthetic", "--market", "BTC-EUR", "--interval", "1h", "--out", "hours.csv"},
		{"candles", "import", "--market", "BTC-EUR", "--interval", "1h", "hours.csv"},
		{"candles", "import", "--market", "ETH-EUR", "--interval", "1h", "hours.csv"},
	} {
		text, err := command(t, dir, args...)
		require.NoError(t, err, text)
	}
}

// TestAFarmWritesTheFileOfALocalSweep runs sweeps with two workers, of which one comes late and is
// killed, and a coordinator that is killed and starts again.
func TestAFarmWritesTheFileOfALocalSweep(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	dir := t.TempDir()
	storeOf(t, dir)
	secret := "do not print me 4711"
	config := read(t, "builtin.toml")
	require.Contains(t, config, `source = "synthetic"`)
	config = strings.Replace(config, `source = "synthetic"`, `candles = "candles.db"`, 1)
	config += "\n[alerts]\nurl = \"https://example.com/" + secret + "\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "own.toml"), []byte(config), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte("open sesame"), 0o600))
	var workers []*background
	address := "127.0.0.1:0"
	for i, method := range [][]string{{"--method", "grid"}, {"--method", "cma-es", "--sets", "120"},
		{"--method", "halving", "--sets", "90"}} {
		sweep := append([]string{"sweep", "-c", "own.toml", "--vary", "strategies.trend.params.fast=5:200:5", "--vary",
			"strategies.trend.params.slow=220:480:20", "--to", "2022-01-01"}, method...)
		text, err := command(t, dir, append(sweep, "--out", "local.sweep")...)
		require.NoError(t, err, text)
		want := contentOf(t, dir, "local.sweep")
		require.NoError(t, os.Remove(filepath.Join(dir, "local.sweep")))

		sweep = append(sweep, "--token-file", "token", "--out", "farm.sweep", "--listen")
		c := startBackground(t, dir, append(sweep, address)...)
		address = c.await(`workers join with: bot worker --join (\S+)`)[1]
		for len(workers) < 1+i%2 {
			workers = append(workers, startBackground(t, t.TempDir(), "worker", "--join", address, "--token-file",
				filepath.Join(dir, "token"), "--cache", filepath.Join(dir, "cache"), "--cores", "1"))
		}
		if i == 0 {
			workers[0].await(`^candles: \d+ of \d+ pieces fetched`)
			c.await(` joined$`)
			require.NoError(t, c.Process.Kill())
			_, _ = c.finish()
			c = startBackground(t, dir, append(sweep, address)...)
		}
		if i == 1 {
			c.await(` joined$`)
			require.NoError(t, workers[1].Process.Kill())
		}
		code, said := c.finish()
		require.Zero(t, code, said)
		require.NotContains(t, said, "sesame")
		require.Equal(t, want, contentOf(t, dir, "farm.sweep"), "%v: %s", method, said)
		require.NoError(t, os.Remove(filepath.Join(dir, "farm.sweep")))
		left, err := filepath.Glob(filepath.Join(dir, ".farm-*"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
	require.NoError(t, workers[0].Process.Signal(os.Interrupt))
	_, said := workers[0].finish()
	require.NotContains(t, said, "sesame")
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, "cache"), func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			content, failed := os.ReadFile(path)
			require.NotContains(t, string(content), secret)
			return failed
		}
		return err
	}))
}

// TestAFarmTakesFilesOfSignals: the worker has no file, and its folder is another one.
func TestAFarmTakesFilesOfSignals(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	dir := t.TempDir()
	rows := "time,position\n"
	for day := range 200 {
		rows += fmt.Sprintf("2021-%02d-%02dT09:07:03Z,%s\n", 1+day/28, 1+day%28, []string{"long", "flat"}[day/3%2])
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "model.csv"), []byte(rows), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "own.toml"), []byte(`
data.source = "synthetic"
[signals.model]
file = "missing.csv"
live = "door"
secret_file = "secret"
[signals.door]
listen = "127.0.0.1:8790"
[strategies.s]
kind = "follow"
markets = ["BTC-EUR"]
interval = "1h"
params = { source = "model" }
`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte("open sesame"), 0o600))
	sweep := []string{"sweep", "-c", "own.toml", "--set", "signals.model.file=model.csv", "--vary",
		"strategies.s.params.stop=1%:9%:1%", "--to", "2022-01-01", "--out"}
	text, err := command(t, dir, append(sweep, "local.sweep")...)
	require.NoError(t, err, text)
	c := startBackground(t, dir, append(sweep, "farm.sweep", "--token-file", "token", "--listen", "127.0.0.1:0")...)
	address := c.await(`workers join with: bot worker --join (\S+)`)[1]
	worker := startBackground(t, t.TempDir(), "worker", "--join", address, "--token-file", filepath.Join(dir, "token"),
		"--cache", filepath.Join(dir, "cache"), "--cores", "1")
	code, said := c.finish()
	require.Zero(t, code, said)
	require.Equal(t, contentOf(t, dir, "local.sweep"), contentOf(t, dir, "farm.sweep"))
	require.NoError(t, worker.Process.Signal(os.Interrupt))
	worker.finish()

	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.csv"), []byte(rows), 0o600))
	text, err = command(t, dir, "sweep", "-c", "own.toml", "--set", "signals.model.file=model.csv", "--vary",
		"signals.model.file=model.csv,other.csv", "--listen", "127.0.0.1:0", "--token-file", "token")
	require.Error(t, err)
	require.Contains(t, text, "--vary signals.model.file: other machines have the file of the config alone")
}

func contentOf(t *testing.T, dir, name string) string {
	content, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(content)
}
