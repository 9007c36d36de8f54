package bot

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// A start makes the asked command alone; help, completion and a mistyped name need all.
func TestACommandMadeAloneIsTheOneAmongAll(t *testing.T) {
	kinds := shipped.Definitions()
	whole := (&app{Process: Process{Definitions: kinds}}).root()
	var branches []branch
	for _, g := range groups() {
		branches = append(branches, g.branches...)
	}
	require.Len(t, whole.Commands(), len(branches))
	for _, args := range [][]string{nil, {"help"}, {"versoin"}, {"--help"}} {
		require.Len(t, (&app{Process: Process{Args: args}}).root().Commands(), len(branches), args)
	}
	for _, b := range branches {
		alone := (&app{Process: Process{Definitions: kinds, Args: []string{b.name, "--help"}}}).root().Commands()
		require.Len(t, alone, 1)
		require.Equal(t, b.name, alone[0].Name())
		require.Empty(t, alone[0].Aliases, b.name)
		among, _, err := whole.Find([]string{b.name})
		require.NoError(t, err)
		require.Equal(t, among.UsageString(), alone[0].UsageString())
	}
}

func TestEachCommandHasAnExampleAndIsInTheListOfItsParent(t *testing.T) {
	commands := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		var list bytes.Buffer
		c.SetOut(&list)
		require.NoError(t, c.Help())
		for _, one := range c.Commands() {
			require.Regexp(t, `(?m)^  `+one.Name()+` +`+regexp.QuoteMeta(one.Short)+`$`, list.String())
			walk(one)
		}
		if !c.HasSubCommands() {
			commands++
			require.Contains(t, c.Example, c.CommandPath(), c.CommandPath())
		}
	}
	walk((&app{}).root())
	require.Greater(t, commands, 20)
}
