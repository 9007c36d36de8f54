package bot_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/research"
)

// sweepKills is how often TestAKilledSweepEndsWithTheSameFile kills the process.
var sweepKills = flag.Int("sweep-kills", 8, "kill the process of a sweep so many times")

// killedSweep are the arguments of the sweep that is killed.
func killedSweep(file string) []string {
	return []string{"sweep", "--vary", "strategies.trend.params.fast=5:200:5", "--vary",
		"strategies.trend.params.slow=220:480:20", "--workers", "2", "--out", file}
}

// TestASweepRefusesAFileThatAnotherProcessWrites is about two coordinators on one sweep.
func TestASweepRefusesAFileThatAnotherProcessWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.sweep")
	held, err := os.Create(path)
	require.NoError(t, err)
	defer held.Close()
	require.NoError(t, research.Lock(held))
	text, err := command(t, dir, killedSweep(path)...)
	require.Error(t, err)
	require.Contains(t, text, "a.sweep: "+research.ErrBusy.Error())
	require.Zero(t, sizeOf(t, path))
}

func TestAKilledSweepEndsWithTheSameFile(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	dir := t.TempDir()
	whole, killed := filepath.Join(dir, "whole.sweep"), filepath.Join(dir, "killed.sweep")
	text, err := command(t, dir, killedSweep(whole)...)
	require.NoError(t, err, text)
	want, err := os.ReadFile(whole)
	require.NoError(t, err)
	for i := range *sweepKills {
		before := sizeOf(t, killed)
		if i%2 == 0 { // its lines come before a group is in the file
			killAfterLines(t, dir, 1+(i*5)%8, killedSweep(killed)...)
		} else {
			killWhen(t, dir, func() bool {
				size := sizeOf(t, killed)
				return size > before+4096 || size == int64(len(want)) // the identity is shorter, a group longer
			}, killedSweep(killed)...)
		}
		// The 560 sets are in 32 groups, of 17 or 18 sets each.
		require.Greater(t, sizeOf(t, killed), before-int64(len(want))*18/560, "at most a torn group is lost")
	}
	text, err = command(t, dir, killedSweep(killed)...)
	require.NoError(t, err, text)
	if *sweepKills > 4 {
		require.Contains(t, text, "in the file already")
	}
	got, err := os.ReadFile(killed)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "the file of the killed sweep differs: %d bytes, want %d", len(got),
		len(want))
}

func sizeOf(t *testing.T, path string) int64 {
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(t, err)
	return info.Size()
}

// killAfterLines runs a command and kills it when it has written so many lines on standard error.
func killAfterLines(t *testing.T, dir string, lines int, args ...string) {
	cmd := bottest.Child(bottest.Program(t), args...)
	cmd.Dir = dir
	out, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer bottest.Overdue(cmd)()
	for scan := bufio.NewScanner(out); lines > 0 && scan.Scan(); {
		lines--
	}
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()
}

// killWhen runs a command and kills it when something holds, if it has not ended before.
func killWhen(t *testing.T, dir string, holds func() bool, args ...string) {
	cmd := bottest.Child(bottest.Program(t), args...)
	cmd.Dir = dir
	require.NoError(t, cmd.Start())
	defer bottest.Overdue(cmd)()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	bottest.Await(t, func() bool { return holds() || len(ended) > 0 })
	_ = cmd.Process.Kill() // it may have ended
	<-ended
}

// TestEachRowOfTheTableIsASingleBacktest runs the sets of an exported table one by one.
func TestEachRowOfTheTableIsASingleBacktest(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	dir := t.TempDir()
	text, err := command(t, dir, "sweep", "--vary", "strategies.trend.params.fast=20,60", "--vary",
		"account.taker_fee=0.1%,0.25%", "--export", "sets.csv")
	require.NoError(t, err, text)
	from := regexp.MustCompile(`(?m)^  bot backtest .* --from (\S+)$`).FindStringSubmatch(text)
	require.NotNil(t, from, text)
	table, err := os.Open(filepath.Join(dir, "sets.csv"))
	require.NoError(t, err)
	defer table.Close()
	rows, err := csv.NewReader(table).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+4)
	for _, row := range rows[1:] {
		args := []string{"backtest", "--json", "--from", from[1]}
		for i, name := range rows[0] {
			if strings.Contains(name, ".") {
				args = append(args, "--set", name+"="+row[i])
			}
		}
		text, err := command(t, dir, args...)
		require.NoError(t, err, text)
		var result backtest.Result
		require.NoError(t, json.Unmarshal([]byte(text), &result))
		figures := research.FiguresOf(&result)
		for i, name := range research.FigureNames() {
			want, err := strconv.ParseFloat(row[slices.Index(rows[0], name)], 64)
			require.NoError(t, err)
			require.InDelta(t, want, figures[i], 0, "%s of %v", name, args)
		}
	}
}

// TestThePrintedCommandShowsTheFiguresOfTheSweep runs what the end of a sweep prints.
func TestThePrintedCommandShowsTheFiguresOfTheSweep(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	dir := t.TempDir()
	// late.db has all days, and hours from the twentieth on: "auto" would let them move a run that
	// begins later
	for _, args := range [][]string{
		{"candles", "export", "--synthetic", "--market", "BTC-EUR", "--interval", "1h", "--out", "hours.csv"},
		{"candles", "import", "--market", "BTC-EUR", "--interval", "1h", "hours.csv"},
		{"candles", "resample", "--market", "BTC-EUR", "--interval", "1h", "--into", "1d"},
		{"candles", "export", "--market", "BTC-EUR", "--interval", "1d", "--out", "days.csv"},
		{"candles", "import", "--db", "late.db", "--market", "BTC-EUR", "--interval", "1d", "days.csv"},
		{"candles", "export", "--market", "BTC-EUR", "--interval", "1h", "--from", "2021-01-20", "--out", "late.csv"},
		{"candles", "import", "--db", "late.db", "--market", "BTC-EUR", "--interval", "1h", "late.csv"},
	} {
		text, err := command(t, dir, args...)
		require.NoError(t, err, text)
	}
	for _, args := range [][]string{
		{"--db", "late.db", "--vary", "strategies.trend.params.fast=3,5", "--set", "strategies.trend.params.slow=30",
			"--set", "strategies.trend.interval=1d"},
		{"--vary", "strategies.trend.params.fast=20,60", "--vary", "strategies.trend.params.slow=150,300"},
		{"--vary", "strategies.trend.params.share=20%,90%", "--vary", "account.taker_fee=0.1%,0.25%", "--from",
			"2022-03-05",
			"--to", "2022-12-01", "--set", "backtest.warmup=inside"},
		{"--vary", "strategies.trend.interval=2h,1d", "--set", "strategies.trend.params.fast=3", "--set",
			"strategies.trend.params.slow=12"},
	} {
		args = append([]string{"sweep"}, args...)
		text, err := command(t, dir, args...)
		require.NoError(t, err, text)
		again := regexp.MustCompile(`(?m)^  bot (backtest .*)$`).FindStringSubmatch(text)
		require.NotNil(t, again, text)
		require.Equal(t, args[1] == "--db", strings.Contains(again[1], "path_interval=1d"), again[1])
		text, err = command(t, dir, append(args, "--json")...)
		require.NoError(t, err, text)
		var o research.Outcome
		require.NoError(t, json.Unmarshal([]byte(text), &o))
		text, err = command(t, dir, append(strings.Fields(again[1]), "--json")...)
		require.NoError(t, err, text)
		var result backtest.Result
		require.NoError(t, json.Unmarshal([]byte(text), &result))
		for i, want := range research.FiguresOf(&result) {
			require.InDelta(t, want, float64(o.Top[0].Figures[i].Value), 0, "%s of %s", o.Top[0].Figures[i].Name,
				again[1])
		}
		require.Equal(t, int64(o.Days), result.Performance.Days)
	}
}
