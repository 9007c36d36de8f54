package bot_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
)

// The table of commands in docs/index.md has each command with its line of bot --help.
func TestTheIndexListsEveryCommand(t *testing.T) {
	table := "| command | does |\n|---|---|\n"
	for _, c := range bot.Command().Commands() {
		if c.IsAvailableCommand() {
			table += fmt.Sprintf("| `%s` | %s |\n", c.Name(), c.Short)
		}
	}
	require.True(t, strings.HasSuffix(read(t, "../docs/index.md"), "\n\n"+table),
		"docs/index.md must end with this table:\n\n%s", table)
}
