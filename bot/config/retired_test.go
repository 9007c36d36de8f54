package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const retiredConfig = `[exchange]
allow_withdrawals = true

[strategies.a]
kind = "dca"
allotment = "5"

[strategies]
b = { kind = "dca", allotment = "7" }
`

func TestAnOldNameIsReadAndGivesAHintWithItsPlace(t *testing.T) {
	source := &Source{File: "live.toml", Text: retiredConfig}
	c, err := LoadRun(source)
	require.NoError(t, err)
	require.Equal(t, Decimal("5"), c.Strategies["a"].Allocation)
	require.Equal(t, Decimal("7"), c.Strategies["b"].Allocation)
	require.Equal(t, []string{
		"live.toml:2: exchange.allow_withdrawals has no effect any more: the program cannot withdraw money; delete " +
			"the key",
		"live.toml:6: strategies.a.allotment is called allocation now; rename it",
		"live.toml:9: strategies.b.allotment is called allocation now; rename it"}, source.Hints)
	require.Equal(t, "live.toml:6: ", source.WhereOf([]string{"strategies", "a", "allocation"}),
		"an error about the value finds its line")

	source = &Source{File: "exchange.toml",
		Text: "[markets.BTC-EUR]\ntick_size = \"1\"\n[markets.BTC-EUR.house]\nlevels = 3\n"}
	x, err := LoadSandbox(source)
	require.NoError(t, err)
	require.EqualValues(t, 3, x.Markets["BTC-EUR"].Liquidity.Levels)
	require.Equal(t, []string{"exchange.toml:3: markets.BTC-EUR.house is called liquidity now; rename it"},
		source.Hints)
	require.Equal(t, "exchange.toml:4: ", source.WhereOf([]string{"markets", "BTC-EUR", "liquidity", "levels"}))
}

func TestAKeyUnderBothNamesIsRefusedWithBothPlaces(t *testing.T) {
	_, err := LoadBacktest(&Source{File: "x.toml", Text: "[strategies.a]\nallotment = \"5\"\nallocation = \"6\"\n"})
	require.EqualError(t, err,
		"x.toml:3: strategies.a.allocation: allotment is its old name, and stands there too (x.toml:2); delete that")
	require.ErrorAs(t, err, new(*KeyError))
	_, err = LoadSandbox(&Source{File: "x.toml", Text: "[markets.A]\nhouse = {}\nliquidity = {}\n"})
	require.ErrorContains(t, err,
		"x.toml:3: markets.A.liquidity: house is its old name, and stands there too (x.toml:2)")
}

func TestAFlagMayUseTheOldName(t *testing.T) {
	for _, c := range []struct{ text, flag, want, hint string }{
		{"[strategies.a]\nallocation = \"5\"\n", "strategies.a.allotment=6", "6",
			"--set strategies.a.allotment: strategies.a.allotment is called allocation now; rename it"},
		{"[strategies.a]\nallotment = \"5\"\n", "strategies.a.allocation=6", "6",
			"x.toml:2: strategies.a.allotment is called allocation now; rename it"},
		{"[strategies.a]\nallotment = \"5\"\n", "strategies.a={allotment=\"6\"}", "6",
			"--set strategies.a: strategies.a.allotment is called allocation now; rename it"},
		{"", "strategies.a.allotment=6", "6",
			"--set strategies.a.allotment: strategies.a.allotment is called allocation now; rename it"},
	} {
		overrides, err := ParseSets([]string{c.flag})
		require.NoError(t, err)
		source := &Source{File: "x.toml", Text: c.text, Overrides: overrides}
		b, err := LoadBacktest(source)
		require.NoError(t, err, c.flag)
		require.Equal(t, Decimal(c.want), b.Strategies["a"].Allocation, c.flag)
		require.Contains(t, source.Hints, c.hint)
	}
	overrides, err := ParseSets([]string{"strategies.a.allotment=x"})
	require.NoError(t, err)
	_, err = LoadBacktest(&Source{Overrides: overrides})
	require.ErrorContains(t, err, "--set strategies.a.allotment: strategies.a.allocation: ",
		"an error about the value names the flag as it was typed")
	overrides, err = ParseSets([]string{"strategies.a={allotment=\"1\", allocation=\"2\"}"})
	require.NoError(t, err)
	_, err = LoadBacktest(&Source{Overrides: overrides})
	require.ErrorContains(t, err,
		"--set strategies.a: strategies.a.allocation: allotment is its old name, and stands there too (--set "+
			"strategies.a)")
}
