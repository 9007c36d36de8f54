package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const writtenText = `
[strategies.dip]
kind = "rules"
[strategies.dip.params]
low = 30
[strategies.dip.rules]
entry = 'close < floor'
add = true
[strategies.dip.rules.let]
floor = 'lowest(low, 20)[1]'
`

// The values of a strategy and their keys are one and the same, also for --set.
func TestEachValueHasItsKey(t *testing.T) {
	sets, err := ParseSets([]string{"strategies.dip.rules.exit=close > 2", "strategies.dip.rules.let.x=1"})
	require.NoError(t, err)
	c, err := LoadBacktest(&Source{Text: writtenText, Overrides: sets})
	require.NoError(t, err)
	section := c.Strategies["dip"]
	values := section.Values()
	require.Equal(t, map[string]any{"low": int64(30), "rules.entry": "close < floor", "rules.add": true,
		"rules.exit": "close > 2", "rules.let.floor": "lowest(low, 20)[1]", "rules.let.x": "1"}, values)
	for name := range values {
		path := ValuePath("dip", name)
		require.Equal(t, name, ValueAt(path))
		require.True(t, c.Source.Sets(path...), path)
	}
	for _, path := range [][]string{{"strategies", "dip", "rules"}, {"strategies", "dip", "rules", "let"},
		{"strategies", "dip", "risk", "x"}, {"risk", "a", "params", "x"}} {
		require.Empty(t, ValueAt(path), path)
	}
}
