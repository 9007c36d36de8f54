package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResultsOfOneSchemaMayDifferInTheRunsIDAlone(t *testing.T) {
	was := `{"schema": 2, "run": {"id": "a", "config_hash": "b", "seed": 1}, "performance": {"fees": "1"}}`
	is := `{"schema": 2, "run": {"id": "c", "config_hash": "d", "seed": 1}, "performance": {"fees": "1"}}`
	before, after, err := normalise("result.json", []byte(was), []byte(is))
	require.NoError(t, err)
	require.Empty(t, firstDifference(before, after))

	is = `{"schema": 2, "run": {"id": "c", "config_hash": "d", "seed": 1}, "performance": {"fees": "2"}}`
	before, after, err = normalise("result.json", []byte(was), []byte(is))
	require.NoError(t, err)
	require.Equal(t, "line 3:\n  old: \"fees\": \"1\"\n  new: \"fees\": \"2\"", firstDifference(before, after))
}

func TestPlotsOfOneSideAloneAreNoDifference(t *testing.T) {
	was := `{"schema": 2, "files": ["trades.csv", "result.json"]}`
	is := `{"schema": 2, "files": ["trades.csv", "plots.csv", "result.json"]}`
	before, after, err := normalise("result.json", []byte(was), []byte(is))
	require.NoError(t, err)
	require.Empty(t, firstDifference(before, after))
}

func TestFeesAndRoundingAreOneSumAcrossSchemas(t *testing.T) {
	was := `{"schema": 1, "performance": {"fees": "2376.63"}, "unprotected_seconds": 7}`
	is := `{"schema": 2, "performance": {"fees": "2376.38", "rounding": "0.25"}, "unprotected_by": []}`
	before, after, err := normalise("result.json", []byte(was), []byte(is))
	require.NoError(t, err)
	require.Empty(t, firstDifference(before, after))

	is = `{"schema": 2, "performance": {"fees": "2376.38", "rounding": "0.26"}, "unprotected_by": []}`
	before, after, err = normalise("result.json", []byte(was), []byte(is))
	require.NoError(t, err)
	require.NotEmpty(t, firstDifference(before, after))
}

func TestOrdersAreComparedWithoutTheirClientIDs(t *testing.T) {
	was, is := "order,client_order_id,price\n1,aa,5\n", "order,client_order_id,price\n1,bb,5\n"
	before, after, err := normalise("orders.csv", []byte(was), []byte(is))
	require.NoError(t, err)
	require.Equal(t, "order,price\n1,5\n", string(before))
	require.Empty(t, firstDifference(before, after))
	require.Equal(t, "line 3:\n  old: \n  new: (end)", firstDifference([]byte("a\nb\n"), []byte("a\nb")))
}

// The strategies are compiled with this revision's interface, without touching its tree.
func TestTheStrategiesOfTheMeasurementsCompile(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	here := &tree{dir: root, out: t.TempDir()}
	text, err := strategiesFor(here)
	require.NoError(t, err)
	require.Equal(t, slices.Concat(strategies, presentDesk), text)
	list, err := here.overlay(filepath.Join("cmd", "bot", "main.go"), text)
	require.NoError(t, err)
	_, err = output(tool(t.Context(), root, "go", "list", "-export", "-overlay", list, "./cmd/bot"))
	require.NoError(t, err)
}

func TestAnOlderInterfaceGetsPointers(t *testing.T) {
	older := &tree{dir: t.TempDir()}
	require.NoError(t, os.Mkdir(filepath.Join(older.dir, "strategy"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(older.dir, "strategy", "strategy.go"),
		[]byte("type Strategy interface {\n\tOnCandle(d *Desk, c *market.Candle)\n}\n"), 0o644))
	text, err := strategiesFor(older)
	require.NoError(t, err)
	require.Contains(t, string(text), "OnCandle(d *strategy.Desk, k *market.Candle)")
	require.Contains(t, string(text), "OnFill(d *strategy.Desk, f *market.Fill)")
}

func TestEveryRunOfTheResultsHasANameOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range resultRuns() {
		require.False(t, seen[r.name], "two runs are named %q", r.name)
		seen[r.name] = true
	}
}
