package bot_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/trials"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// storeIn makes a store with candles of an interval in a folder.
func storeIn(t *testing.T, dir, interval string) (db string) {
	db = filepath.Join(dir, "candles.db")
	csv := filepath.Join(dir, "candles.csv")
	for _, args := range [][]string{
		{"candles", "export", "--synthetic", "--market", "BTC-EUR", "--interval", interval, "--out", csv},
		{"candles", "import", "--db", db, "--market", "BTC-EUR", "--interval", interval, csv},
	} {
		code, _, errs := call(t.Context(), args...)
		require.Zero(t, code, errs)
	}
	return db
}

// familyOf are the counts of the only family of a ledger.
func familyOf(t *testing.T, db string) trials.Family {
	view, err := trials.Beside(db).View()
	require.NoError(t, err)
	require.Zero(t, view.Damage)
	families, err := view.Families()
	require.NoError(t, err)
	require.Len(t, families, 1)
	return families[0]
}

// sweepOf runs a sweep and returns its outcome.
func sweepOf(t *testing.T, args ...string) (o research.Outcome) {
	code, out, errs := call(t.Context(), append([]string{"sweep", "--json"}, args...)...)
	require.Zero(t, code, errs)
	require.NoError(t, json.Unmarshal([]byte(out), &o))
	return o
}

// TestAKilledSweepCountsItsSetsOnce kills a sweep between its file and the ledger, too: the next
// start counts what the ledger lacks.
func TestAKilledSweepCountsItsSetsOnce(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	db := storeIn(t, t.TempDir(), "1d")
	dir := filepath.Dir(db)
	sweep := func(db, name string) []string {
		return []string{"sweep", "--db", db, "--out", filepath.Join(filepath.Dir(db), name), "--set",
			"strategies.trend.interval=1d", "--vary", "strategies.trend.params.fast=2:60:4", "--vary",
			"strategies.trend.params.slow=62:200:12", "--workers", "2"}
	}
	args := sweep(db, "killed.sweep")
	for i := range 3 {
		before := sizeOf(t, trials.Beside(db).Path())
		if i == 1 { // as if it had been killed before the last group was counted
			require.NoError(t, os.Truncate(trials.Beside(db).Path(), before-100))
			before -= 100
		}
		killWhen(t, dir, func() bool { return sizeOf(t, trials.Beside(db).Path()) > before }, args...)
	}
	killed := sweepOf(t, args[1:]...)
	again := sweepOf(t, args[1:]...)
	require.Equal(t, killed, again)
	require.Equal(t, []int64{int64(killed.Tried), int64(killed.Distinct), 0}, []int64{killed.Family.Tries,
		killed.Family.Series, killed.Family.Earlier})

	other := storeIn(t, t.TempDir(), "1d")
	whole := sweepOf(t, sweep(other, "whole.sweep")[1:]...)
	for _, o := range []*research.Outcome{&killed, &whole} {
		o.File, o.Family.File = "", ""
	}
	require.Equal(t, whole, killed)
	a, b := familyOf(t, db), familyOf(t, other)
	a.First, a.Last, b.First, b.Last = 0, 0, 0, 0
	require.Equal(t, a, b)
}

// TestTheVerdictOfASweepDependsOnTheSweepAlone runs it beside a ledger with other tries. What
// counts them is a field of its own.
func TestTheVerdictOfASweepDependsOnTheSweepAlone(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	db := storeIn(t, t.TempDir(), "1d")
	args := []string{"--db", db, "--set", "strategies.trend.interval=1d", "--vary",
		"strategies.trend.params.fast=2:9:1",
		"--set", "strategies.trend.params.slow=20", "--out"}
	alone := sweepOf(t, append(args, filepath.Join(t.TempDir(), "a.sweep"))...)
	require.Equal(t, alone.Verdict.Luck, alone.Family.Luck)
	require.InDelta(t, float64(alone.Verdict.DSR.Value), float64(alone.Family.DSR.Value), 1e-12)
	sweepOf(t, append(slices.Replace(slices.Clone(args), 5, 6, "strategies.trend.params.fast=10:18:1"),
		filepath.Join(t.TempDir(), "b.sweep"))...)
	after := sweepOf(t, append(args, filepath.Join(t.TempDir(), "a.sweep"))...)
	require.Equal(t, alone.Verdict, after.Verdict)
	require.Equal(t, []int64{17, 9}, []int64{after.Family.Tries, after.Family.Earlier})
	require.Greater(t, after.Family.Luck.Bar, after.Verdict.Luck.Bar)
	require.Equal(t, after.Judged().Luck, after.Family.Luck)
	after.Family, after.File, alone.Family, alone.File = nil, "", nil, ""
	require.Equal(t, alone, after)
}

// TestPartsOfTheRangeCountByThemselves runs the methods that go where results lead them.
func TestPartsOfTheRangeCountByThemselves(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	for _, method := range []string{"halving", "cma-es"} {
		db := storeIn(t, t.TempDir(), "1d")
		args := []string{"--db", db, "--method", method, "--sets", "40", "--set", "strategies.trend.interval=1d",
			"--vary", "strategies.trend.params.fast=2:12:1", "--vary", "strategies.trend.params.slow=15:40:1",
			"--out", filepath.Join(t.TempDir(), "a.sweep")}
		o := sweepOf(t, args...)
		require.Zero(t, o.Family.Earlier)
		if method == "halving" {
			require.Equal(t, int64(o.Started+o.Tried), o.Family.Tries, "two rungs")
			require.Equal(t, o.Verdict.DSR.Missing, o.Family.DSR.Missing)
		} else {
			require.Equal(t, int64(o.Tried), o.Family.Tries)
			require.InDelta(t, float64(o.Verdict.DSR.Value), float64(o.Family.DSR.Value), 1e-12)
		}
		again := sweepOf(t, args...)
		require.Equal(t, []int64{o.Family.Tries, o.Family.Series, 0}, []int64{again.Family.Tries, again.Family.Series,
			again.Family.Earlier})
	}
}

// TestATestCountsIfItIsAskedTo writes no ledger otherwise. The count changes the page alone.
func TestATestCountsIfItIsAskedTo(t *testing.T) {
	t.Parallel()
	db := storeIn(t, t.TempDir(), "1d")
	run := func(with ...bot.Option) map[string]string {
		dir := t.TempDir()
		_, err := bot.Backtest(t.Context(), shipped.SMACross, map[string]any{"fast": 3, "slow": 9},
			append(with, bot.Store(db, market.Interval1d, "BTC-EUR"), bot.Out(dir))...)
		require.NoError(t, err)
		return contents(t, dir)
	}
	silent := run()
	require.NoFileExists(t, trials.Beside(db).Path())
	counted := run(bot.Counted())
	require.Equal(t, int64(1), familyOf(t, db).Tries)
	line := regexp.MustCompile(
		`\n<p class="quiet">Tries of this family: 1 of 1 different series of returns\.[^\n]*</p>`)
	require.Regexp(t, line, counted["report.html"])
	counted["report.html"] = line.ReplaceAllString(counted["report.html"], "")
	require.Len(t, counted, len(silent))
	for name := range silent {
		require.True(t, silent[name] == counted[name], "%s differs", name)
	}

	_, err := bot.Backtest(t.Context(), shipped.SMACross, nil, bot.Counted())
	require.ErrorContains(t, err, "bot.Counted: the ledger of tries is beside a store; add bot.Store")
	view, err := trials.Beside(db).View()
	require.NoError(t, err)
	_, err = view.Seal(trials.Span{Markets: []string{"BTC-EUR"}, From: 1_690_000_000_000, To: 1_800_000_000_000}, 1)
	require.NoError(t, err)
	_, err = bot.Backtest(t.Context(), shipped.SMACross, nil, bot.Counted(),
		bot.Store(db, market.Interval1d, "BTC-EUR"))
	require.ErrorContains(t, err, "of BTC-EUR is sealed; end the run before, with --to 2023-07-22T04:26:40Z")
}
