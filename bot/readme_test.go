package bot

import (
	"os"
	"regexp"
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

func TestTheReadmeListsEveryCommandAndEachHasAnExample(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	rows := strings.Join(regexp.MustCompile("(?m)^\\| `bot .*$").FindAllString(string(text), -1), "\n")
	commands := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, one := range c.Commands() {
			walk(one)
			if one.HasSubCommands() {
				require.Contains(t, rows, "`bot "+one.Name()+" ")
				continue
			}
			commands++
			require.Regexp(t, "[` ]"+one.Name()+"[` ]", rows, one.CommandPath())
			require.Contains(t, one.Example, one.CommandPath(), one.CommandPath())
		}
	}
	walk((&app{}).root())
	require.Greater(t, commands, 20)
}
