package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRowsOfTheBenchTableAreRead(t *testing.T) {
	require.Equal(t, []figure{
		{"candle without an order (smacross 20/50)", "ns", 14.79},
		{"allocations of 2 M candles against 1 M", "", 174},
		{"candle on disk", "B", 8.74},
	}, parseTable(`
| what | floor | ours | ratio | goal |
| candle without an order (smacross 20/50) | scan 2.151 ns | 14.79 ns | 6.88× | ≤ 3.5× missed |
| allocations of 2 M candles against 1 M | 174 | 174 | +0 | ≤ +522 |
| candle on disk | | 8.74 B | | ≤ 9 B |
| bot backtest, whole process | no sha256sum here | | | |
goos: linux
cpu: AMD EPYC
BenchmarkRows/loop         	1	10275410686 ns/op
PASS
`))
}

func TestFiguresOfABenchmarkAreRead(t *testing.T) {
	require.Equal(t, map[string]float64{
		"ns/op": 5837, "ns/floor": 230.2, "ns/what": 358, "x_sha256": 1.555, "allocs/op": 0,
	}, parseBenchmark(`goos: linux
pkg: github.com/tidemark-trading/tidemark/exchange/rest
BenchmarkSigning	58855	5837 ns/op	230.2 ns/floor	358.0 ns/what	1.555 x_sha256	0 allocs/op
PASS
`))
	require.Empty(t, parseBenchmark("BenchmarkRows\nPASS\nok  \tmodule\t1.2s\n"))
}

// The rows name benchmarks of this repository: a renamed one fails here.
func TestTheBenchmarksOfTheRowsExist(t *testing.T) {
	here := &tree{dir: "../.."}
	for i := range packageBenchmarks {
		_, err := packageBenchmarks[i].find(here)
		require.NoError(t, err, packageBenchmarks[i].function)
	}
	text, err := os.ReadFile("../rows/table_test.go")
	require.NoError(t, err)
	for _, c := range []struct {
		source []byte
		want   []string
	}{{text, sections}, {olderRows, sections[:len(sections)-newSections]}} {
		var found []string
		for _, m := range regexp.MustCompile(`\{"(\w+)", \(\*table\)\.(\w+)\}`).FindAllSubmatch(c.source, -1) {
			require.Equal(t, string(m[1]), string(m[2]))
			found = append(found, string(m[1]))
		}
		require.Equal(t, c.want, found)
	}
}

func TestABenchmarkOfTwoPackagesIsRefused(t *testing.T) {
	twice := &tree{benchmarks: []declared{{"state", "Import"}, {"market", "Book"}, {"chart", "Import"}}}
	_, err := (&packageBenchmark{function: "Import"}).find(twice)
	require.ErrorContains(t, err, "state and chart both have a BenchmarkImport")
	folder, err := (&packageBenchmark{function: "Book"}).find(twice)
	require.NoError(t, err)
	require.Equal(t, "market", folder)
}

func TestEveryRowHasANameOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range append(packageSources(), processSources(t.TempDir())...) {
		for _, row := range s.rows {
			require.False(t, seen[row], "two rows are named %q", row)
			seen[row] = true
		}
	}
	require.Greater(t, len(seen), 15)
}
