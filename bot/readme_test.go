package bot

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

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
