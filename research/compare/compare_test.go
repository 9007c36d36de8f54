package compare_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/research/compare"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// ran is the folder of a backtest over three made-up years.
func ran(t *testing.T, name string, fast int) string {
	dir := filepath.Join(t.TempDir(), name)
	params := map[string]any{"fast": fast, "slow": 480}
	_, err := bot.Backtest(t.Context(), shipped.SMACross, params, bot.Out(dir))
	require.NoError(t, err)
	return dir
}

func read(t *testing.T, dirs ...string) (runs []*compare.Run) {
	for _, dir := range dirs {
		r, err := compare.Read(dir)
		require.NoError(t, err)
		runs = append(runs, r)
	}
	return runs
}

func TestDaysHaveTheSharpeRatioOfTheResult(t *testing.T) {
	r := read(t, filepath.Join(ran(t, "a", 60), "result.json"))[0]
	var returns []float64
	growth := 1.0
	for i, d := range r.Days {
		require.Zero(t, d.End%(24*3600e9), "a day ends at midnight, UTC")
		require.True(t, i == 0 || d.End == r.Days[i-1].End+24*3600e9)
		returns = append(returns, d.Return)
		growth *= 1 + d.Return
	}
	require.Len(t, returns, int(r.Performance.Days))
	require.InEpsilon(t, float64(r.Performance.Sharpe), stats.Annual(stats.Sharpe(returns)), 1e-9)
	require.InEpsilon(t, 1+float64(r.Performance.Return), growth, 1e-9)
}

func TestTwoRunsOnTheSameCandles(t *testing.T) {
	a, b := ran(t, "a", 60), ran(t, "b", 120)
	o, err := compare.Compare(read(t, a, b))
	require.NoError(t, err)
	require.Empty(t, o.Warnings)
	require.Equal(t, []compare.Setting{{Name: o.Settings[0].Name, Values: []string{"60", "120"}}}, o.Settings)
	require.Contains(t, o.Settings[0].Name, ".fast")
	require.Equal(t, "All runs read the same candles, from 2021-01-01 to 2024-01-01.", o.DataNote())
	require.Len(t, o.Pairs, 1)
	p := &o.Pairs[0]
	require.Equal(t, []string{"a", "b"}, []string{p.First, p.Second})
	require.Equal(t, 1095, p.Days)
	require.Greater(t, float64(p.Error), 0.0)
	require.Contains(t, p.Sentence(), "It does not say which run will do better")

	turned, err := compare.Compare(read(t, b, a))
	require.NoError(t, err)
	require.Equal(t, -p.Mean, turned.Pairs[0].Mean)
	require.Equal(t, p.P, turned.Pairs[0].P)

	again, err := compare.Compare(read(t, a, ran(t, "c", 60)))
	require.NoError(t, err)
	require.Equal(t, 1.0, float64(again.Pairs[0].P), "the same run twice")
	require.True(t, again.SameSettings)
	require.Equal(t, "All runs have the same config.", again.SettingsNote())
}

// change writes a file of a folder anew.
func change(t *testing.T, dir, name, old, new string) {
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), old)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o644))
}

func TestRunsThatAreHardToCompareAreWarnedOf(t *testing.T) {
	a, b := ran(t, "same", 60), ran(t, "same", 60)
	r := read(t, a, b)
	r[1].Info.DataHash, r[1].Info.CodeVersion = "other", "v2"
	o, err := compare.Compare(r)
	require.NoError(t, err)
	require.Len(t, o.Warnings, 2)
	require.Contains(t, o.Warnings[0], "The runs read different candles")
	require.Contains(t, o.Warnings[1], "Different versions of the program")
	require.Equal(t, []string{a, b}, []string{o.Runs[0].Name, o.Runs[1].Name}, "two folders of one name")

	r[1].Trips.Count = 9
	o, err = compare.Compare(r)
	require.NoError(t, err)
	require.Equal(t, b+" made fewer than ten round trips: they are too few to tell it from luck.", o.Warnings[2])

	r[1].To, r[1].Days = r[1].From, r[1].Days[500:]
	o, err = compare.Compare(r)
	require.NoError(t, err)
	require.Contains(t, o.Warnings[0], "The runs have different ranges")
	require.Equal(t, 595, o.Pairs[0].Days)

	require.NoError(t, os.Remove(filepath.Join(b, "days.csv")))
	o, err = compare.Compare(read(t, a, b))
	require.NoError(t, err)
	require.Contains(t, o.Pairs[0].Sentence(), "has no days.csv: run the backtest again")
}

func TestWhatCannotBeComparedIsSaidInWords(t *testing.T) {
	dir := t.TempDir()
	a, b := ran(t, "a", 60), ran(t, "b", 60)
	change(t, b, "result.json", `"currency": "EUR"`, `"currency": "USD"`)
	_, err := compare.Compare(read(t, a, b))
	require.ErrorContains(t, err, "amounts of different currencies cannot be compared")
	_, err = compare.Compare(read(t, a, a))
	require.ErrorContains(t, err, "is there twice")
	_, err = compare.Compare(read(t, a))
	require.EqualError(t, err, "1 results: want 2 to 6")

	refused := func(path, want string) {
		t.Helper()
		_, err := compare.Read(path)
		require.ErrorContains(t, err, want)
	}
	refused(filepath.Join(dir, "no"), "there is no such folder")
	refused(dir, "is no result folder: it has no result.json; bot backtest writes one")
	sweep := filepath.Join(dir, "x.sweep")
	require.NoError(t, os.WriteFile(sweep, nil, 0o644))
	refused(sweep, "is the file of a sweep: run its best set")
	refused(filepath.Join(a, "equity.csv"), "is no result folder of bot backtest")
	change(t, b, "days.csv", "time_ms,return\n1609545600000,", "time_ms,return\n1609545600000,x")
	refused(b, "days.csv: line 2: \"x")
	change(t, b, "days.csv", "time_ms", "time")
	refused(b, "days.csv does not begin with time_ms,return")
	require.NoError(t, os.WriteFile(filepath.Join(b, "equity.csv"), []byte("time_ms,equity\n2,1\n2,1\n"), 0o644))
	refused(b, "line 3: its time is not after that of the line before")
	require.NoError(t, os.WriteFile(filepath.Join(b, "equity.csv"), []byte("time_ms,equity\n"), 0o644))
	refused(b, "has no curve")
	require.NoError(t, os.Remove(filepath.Join(b, "equity.csv")))
	refused(b, "has no equity.csv")
	change(t, b, "result.json", `"format": 1`, `"format": 99`)
	refused(b, "has a result of format 99, and this program reads 1: use the newer program")
	change(t, b, "result.json", `"format": 99`, `"schema": 3`)
	refused(b, "has the result of an older program, whose daily returns lack the first day: run the backtest again")
	require.NoError(t, os.WriteFile(filepath.Join(b, "result.json"), []byte("{"), 0o644))
	refused(b, "unexpected end of JSON input")
}
