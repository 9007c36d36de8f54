package bot

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/strategy"
)

// helpWidth is the width of a terminal of 80 columns.
const helpWidth = 80

// narrow makes the help of a command, and of all below it, fit helpWidth.
func narrow(root *cobra.Command) {
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages |", ".FlagUsagesWrapped 80 |"))
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c == root {
			rootHelp(root)
			return
		}
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

// suggest adds what was probably meant to the error about an unknown flag of a command: a parameter
// or setting of that name, for --set, or else the nearest flag or name, if one is near.
func (a *app) suggest(c *cobra.Command, err error) error {
	var wrong *pflag.InvalidValueError
	if errors.As(err, &wrong) && wrong.GetFlag().Value.Type() == "bool" {
		return fmt.Errorf("--%s=%s: want true or false, or --%[1]s alone", wrong.GetFlag().Name, wrong.GetValue())
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return err
	}
	typed := unknown.GetSpecifiedName()
	var flags []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags = append(flags, f.Name)
		}
	})
	nearest := strategy.Nearest(typed, flags)
	key := a.settingOf(c, typed)
	switch {
	case strings.HasSuffix(key, "."+typed):
	case strategy.Distance(typed, nearest) <= (len(typed)+1)/2:
		return fmt.Errorf("%w; the nearest is --%s", err, nearest)
	case key == "":
		return err
	}
	return fmt.Errorf("%w; did you mean --set %s=%s?", err, key, a.valueOf(typed))
}

// settingOf is the key of a parameter or setting with this name, or nearly this name, in the config
// of a command with --set; empty: there is none.
func (a *app) settingOf(c *cobra.Command, typed string) string {
	if c.Flags().Lookup("set") == nil {
		return ""
	}
	source, of := &config.Source{}, any(config.Run{})
	switch c.Name() {
	case "backtest":
		source.Text, of = builtinFor(a.Definitions), config.Backtest{}
	case "exchange":
		of = config.Sandbox{}
	}
	if file := a.flagText("c", "config"); file != "" {
		read, err := config.ReadSource(file, nil)
		if err != nil {
			return ""
		}
		source = read
	}
	return source.KeyNear(typed, of, a.paramsOf)
}

// paramsOf are the names of the parameters of a kind of strategy.
func (a *app) paramsOf(kind string) (names []string) {
	for _, d := range a.Definitions {
		if d.Name == kind {
			for _, p := range d.Params() {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// valueOf is the value that stands behind an unknown flag.
func (a *app) valueOf(name string) string {
	if text := a.flagText("", name); text != "" && !strings.HasPrefix(text, "-") {
		return config.Clip(text)
	}
	return "VALUE"
}

// flagText is the text behind a flag in the arguments: after = or in the next argument.
func (a *app) flagText(short, long string) string {
	for i, arg := range a.Args {
		if text, found := strings.CutPrefix(arg, "--"+long+"="); found {
			return text
		}
		if slices.Contains([]string{"-" + short, "--" + long}, arg) && i+1 < len(a.Args) {
			return a.Args[i+1]
		}
	}
	return ""
}
