package bot

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// The help of every command fits a terminal of 80 columns.
func TestHelpHasLinesOfAtMost80Columns(t *testing.T) {
	commands := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		commands++
		var out bytes.Buffer
		c.SetOut(&out)
		require.NoError(t, c.Help())
		for line := range bytes.Lines(out.Bytes()) {
			require.LessOrEqual(t, utf8.RuneCount(bytes.TrimRight(line, "\n")), helpWidth, "%s: %s", c.CommandPath(),
				line)
		}
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	root := Command()
	root.InitDefaultCompletionCmd()
	walk(root)
	require.Greater(t, commands, 30)
}

func TestParagraphsAreWrappedAndIndentedLinesStay(t *testing.T) {
	require.Equal(t, "one two\nthree\n\n  a  table\n  of two lines\n\nthe-longest\nword",
		wrap("one two three\n\n  a  table\n  of two lines\n\nthe-longest\nword", 12))
}
