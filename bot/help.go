package bot

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// helpWidth is the width of a terminal of 80 columns.
const helpWidth = 80

// narrow makes the help of a command, and of all below it, fit helpWidth.
func narrow(root *cobra.Command) {
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages |", ".FlagUsagesWrapped 80 |"))
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		c.Long = wrap(c.Long, helpWidth)
		help(c, args)
	})
}

// wrap breaks the paragraphs of a text into lines of at most width columns. A longer word has a
// line of its own. Lines that begin with a space stay.
func wrap(text string, width int) string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		if strings.HasPrefix(paragraph, " ") {
			lines = append(lines, paragraph)
			continue
		}
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			switch {
			case line == "":
				line = word
			case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
				line += " " + word
			default:
				lines, line = append(lines, line), word
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
