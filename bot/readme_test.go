package bot

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// A start makes the asked command alone; help, completion and a mistyped name need all.
func TestACommandMadeAloneIsTheOneAmongAll(t *testing.T) {
	kinds := shipped.Definitions()
	whole := (&app{Process: Process{Definitions: kinds}}).root()
	require.Len(t, whole.Commands(), len(branches()))
	for _, args := range [][]string{nil, {"help"}, {"versoin"}, {"--help"}} {
		require.Len(t, (&app{Process: Process{Args: args}}).root().Commands(), len(branches()), args)
	}
	for _, b := range branches() {
		alone := (&app{Process: Process{Definitions: kinds, Args: []string{b.name, "--help"}}}).root().Commands()
		require.Len(t, alone, 1)
		require.Equal(t, b.name, alone[0].Name())
		require.Empty(t, alone[0].Aliases, b.name)
		among, _, err := whole.Find([]string{b.name})
		require.NoError(t, err)
		require.Equal(t, among.UsageString(), alone[0].UsageString())
	}
}

// The table of commands in docs/index.md has each command, and each below one, with its line of
// --help.
func TestTheIndexListsEveryCommandAndEachHasAnExample(t *testing.T) {
	table, commands := "| command | does |\n|---|---|\n", 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.HasParent() && c.IsAvailableCommand() {
			table += fmt.Sprintf("| `%s` | %s |\n", strings.TrimPrefix(c.CommandPath(), "bot "), c.Short)
		}
		for _, one := range c.Commands() {
			walk(one)
		}
		if !c.HasSubCommands() {
			commands++
			require.Contains(t, c.Example, c.CommandPath(), c.CommandPath())
		}
	}
	walk((&app{}).root())
	require.Greater(t, commands, 20)
	text, err := os.ReadFile("../docs/index.md")
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(text), "\n\n"+table),
		"docs/index.md must end with this table:\n\n%s", table)
}
