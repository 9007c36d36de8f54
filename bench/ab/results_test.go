package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIDsAloneAreNoDifference(t *testing.T) {
	id, hash := "3f2a6c1e-0000-4000-8000-000000000001", strings.Repeat("ab", 32)
	side := func(id, hash, client, fees string) map[string][]byte {
		return map[string][]byte{
			"result.json": fmt.Appendf(nil, `{"run": {"id": %q, "config_hash": %q}, "fees": %q}`, id, hash, fees),
			"report.html": fmt.Appendf(nil, "<p>%s\n<p>%s", id, hash),
			"orders.csv":  fmt.Appendf(nil, "order,client_order_id\n1,%s\n", client),
		}
	}
	was := withoutIDs(side(id, hash, "db353ec7-da40-5755-8a27-4630845d687b", "1"))
	is := withoutIDs(side(strings.ReplaceAll(id, "3f", "40"), strings.Repeat("cd", 32),
		"9b353ec7-da40-5755-8a27-4630845d687c", "1"))
	require.Equal(t, was, is)
	require.Equal(t, "<p>(id)\n<p>(config_hash)", string(is["report.html"]))
	is = withoutIDs(side(id, hash, "db353ec7-da40-5755-8a27-4630845d687b", "2"))
	require.Equal(t, "line 1:\n  old: "+string(was["result.json"])+"\n  new: "+string(is["result.json"]),
		firstDifference(was["result.json"], is["result.json"]))
	require.Equal(t, "line 3:\n  old: \n  new: (end)", firstDifference([]byte("a\nb\n"), []byte("a\nb")))
	long := strings.Repeat("x", 1000)
	require.Equal(t, "line 1:\n  old: "+long[:100]+"a\n  new: "+long[:100]+"b",
		firstDifference([]byte(long+"a"), []byte(long+"b")))
}

// The strategies are compiled with this revision's interface, without touching its tree.
func TestTheStrategiesOfTheMeasurementsCompile(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	here := &tree{dir: root, out: t.TempDir()}
	list, err := here.overlay(filepath.Join("cmd", "bot", "main.go"), slices.Concat(strategies, mixer))
	require.NoError(t, err)
	_, err = output(tool(t.Context(), root, "go", "list", "-export", "-overlay", list, "./cmd/bot"))
	require.NoError(t, err)
}

func TestEveryRunOfTheResultsHasANameOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range resultRuns() {
		require.False(t, seen[r.name], "two runs are named %q", r.name)
		seen[r.name] = true
	}
}
