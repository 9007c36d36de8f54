package bot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/docs"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/page"
)

// firstCommands are the commands that a new user needs first.
const firstCommands = `  bot backtest                           a strategy on made-up candles
  bot backtest -c configs/rules.toml     a strategy in ten lines of a config
  bot init ../mine                       a strategy of your own, in Go
  bot candles import --market BTC-EUR --interval 1h FILE.csv
  bot sweep --vary KEY=5:100:5           the best settings, and how much is luck
  bot exchange                           an exchange on this machine
  bot run -c configs/sandbox.toml        a bot that trades on it
  bot status -c configs/sandbox.toml     how that bot stands
  bot explain --refused                  why it did not trade
  bot cancel-all --direct -c FILE        the kill switch`

// rootHelp prints the commands in their groups.
func rootHelp(root *cobra.Command) {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\nFirst of all:\n%s\n", wrap(root.Long, helpWidth), root.Example)
	for _, g := range groups() {
		fmt.Fprintf(&text, "\n%s:\n", g.title)
		for _, b := range g.branches {
			if c, _, err := root.Find([]string{b.name}); err == nil {
				fmt.Fprintf(&text, "  %-11s %s\n", b.name, c.Short)
			}
		}
	}
	fmt.Fprintf(&text, "  %-11s %s\n  %-11s %s\n", "help", helpShort, "completion", "Complete commands in a shell")
	fmt.Fprint(root.OutOrStdout(), text.String())
}

const helpShort = "Find words in the documents, or show the help of a command"

const helpHelp = `Finds words in the documents, which are in the program: no network is asked. WORDS are a topic, any
words, or the name of a page or of a section as it stands below other answers. bot help alone lists the commands, bot
help COMMAND is bot COMMAND --help.`

func helpCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "help WORDS", Long: helpHelp, Args: cobra.ArbitraryArgs,
		Example: "  bot help stop loss\n  bot help fees\n  bot help limits.md#other-refusals\n  bot help backtest",
		RunE: func(c *cobra.Command, args []string) error {
			a.entered = true
			return a.help(c.Root(), args)
		},
	}
}

// help answers words: with the help of the command of that name or of that name elsewhere, or else
// with passages of the documents.
func (a *app) help(root *cobra.Command, words []string) error {
	asked := strings.Join(words, " ")
	if asked == "" {
		return root.Help()
	}
	answer := docs.Find(asked)
	if c, rest, err := root.Find(words); err == nil && len(rest) == 0 {
		err := c.Help()
		for i := range min(3, len(answer.Found)) {
			a.printf("%sbot help %s\n", [...]string{"\nIn the documents:\n  ", "  "}[min(i, 1)], answer.Found[i].Name())
		}
		return err
	}
	if c := leadsTo(root, asked); c != nil && answer.Topic == nil {
		a.printf("%s is `%s` here.\n\n", asked, c.CommandPath())
		return c.Help()
	}
	if answer.Topic == nil && len(answer.Found) == 0 {
		return config.Usagef("no page has the words %s; `bot help` lists the commands, `bot help index.md` the topics",
			config.Clip(asked))
	}
	d := passages(&answer, asked)
	a.printf("%s", d.Text(cmp.Or(a.terminal().Width, helpWidth)))
	return nil
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.Stdout, format, args...) }

// passageLines is how many lines of a section are shown at most, unless it was asked for by name.
const passageLines = 34

// moreSections is how many other sections are named.
const moreSections = 5

// passages shows the first section of an answer and names the next ones. All sections of a name are
// shown.
func passages(answer *docs.Answer, asked string) *view.Doc {
	d := &view.Doc{}
	if answer.Topic != nil {
		d.Title, d.Lead = answer.Topic[0]+":", plain(answer.Topic[1])
	}
	var next view.Commands
	for i := range answer.Found {
		s := &answer.Found[i]
		named := s.Page == strings.TrimPrefix(asked, "docs/") || s.Name() == strings.TrimPrefix(asked, "docs/")
		switch {
		case named || i == 0:
			parts, whole := shown(s, asked, named, answer.Topic != nil)
			if !whole {
				parts = append(parts, view.Text("The whole section: bot help "+s.Name()))
			}
			title := strings.Join(append(slices.Clone(s.Above), s.Title), ", ")
			d.Sections = append(d.Sections, view.Section{Title: "docs/" + s.Page + ": " + title, Parts: parts})
		case len(next) < moreSections:
			next = append(next, "bot help "+s.Name())
		}
	}
	if len(next) > 0 {
		d.Sections = append(d.Sections, view.Section{Title: "More:", Parts: []view.Part{next}})
	}
	return d
}

// shown are the blocks of a section. Of a long one these are the first blocks of a topic, or the
// first one and those with the words, as far as there is room.
func shown(s *docs.Section, asked string, all, topic bool) (parts []view.Part, whole bool) {
	lines, whole := 0, true
	best := 0
	for i := range s.Blocks {
		best = max(best, s.Blocks[i].Has(asked))
	}
	size := func(p view.Part) int {
		d := view.Doc{Sections: []view.Section{{Parts: []view.Part{p}}}}
		return strings.Count(d.Text(helpWidth), "\n")
	}
	long := 0
	for i := range s.Blocks {
		long += size(part(&s.Blocks[i]))
	}
	for i := range s.Blocks {
		b := &s.Blocks[i]
		p := part(b)
		off := i > 0 && !topic && (best == 0 || b.Has(asked) < best)
		if !all && long > passageLines && (off || lines > 0 && lines+size(p) > passageLines) {
			whole = false
			continue
		}
		lines += size(p)
		if row, ok := p.(view.Table); ok && len(parts) > 0 {
			if last, ok := parts[len(parts)-1].(view.Table); ok && slices.Equal(last.Head, row.Head) {
				last.Rows = append(last.Rows, row.Rows...)
				parts[len(parts)-1] = last
				continue
			}
		}
		if code, ok := p.(view.Commands); ok && len(parts) > 0 {
			if last, ok := parts[len(parts)-1].(view.Commands); ok {
				parts[len(parts)-1] = append(last, code...)
				continue
			}
		}
		parts = append(parts, p)
	}
	return parts, whole
}

// part is a block for a terminal.
func part(b *docs.Block) view.Part {
	switch {
	case b.Code:
		return view.Commands(strings.Split(strings.TrimRight(b.Text, "\n"), "\n"))
	case len(b.Row) > 0:
		t := view.Table{Class: "texts"}
		t.Grid = page.Grid{Head: make([]string, len(b.Head)), Rows: [][]string{make([]string, len(b.Head))}}
		for i := range b.Head {
			t.Head[i] = plain(b.Head[i])
			if i < len(b.Row) {
				t.Rows[0][i] = plain(b.Row[i])
			}
		}
		t.Rows[0][0] = cmp.Or(t.Rows[0][0], "–")
		return t
	case b.Item:
		return view.Text("- " + plain(b.Text))
	}
	return view.Text(plain(b.Text))
}

// plain is a line of Markdown without links and stress.
func plain(text string) string {
	return strings.ReplaceAll(docs.Unlinked(text), "**", "")
}

// elsewhere are the words for a command in other programs, and words that come to mind.
var elsewhere = [...]struct{ command, words string }{
	{"adopt", "takeover take-over"},
	{"backtest", "test backtesting simulate replay-candles plot plot-dataframe chart report lookahead-analysis " +
		"recursive-analysis"},
	{"canary", "promote shadow"},
	{"cancel-all", "kill killswitch kill-switch panic emergency"},
	{"candles export", "convert-data"},
	{"candles fetch", "download download-data fetch-data import-candles list-markets list-pairs"},
	{"candles import", "data load load-data csv"},
	{"candles list", "list-data"},
	{"candles resample", "trades-to-ohlcv"},
	{"chat", "telegram"},
	{"compare", "diff backtesting-show"},
	{"dashboard", "webserver web ui gui frontend monitor install-ui"},
	{"doctor", "check-config validate show-config connect ping"},
	{"equity", "curve plot-profit"},
	{"exchange", "sandbox serve server simulator mock"},
	{"explain", "why"},
	{"export", "tax taxes"},
	{"flatten", "sell close liquidate forceexit force-exit forcesell exit-all"},
	{"gap", "difference compare-live bridge slippage"},
	{"halt", "stop pause stopentry stopbuy"},
	{"help", "docs doc man manual search topic info"},
	{"init", "new create new-strategy make-strategy new-project create-project create-userdir new-config"},
	{"journal", "log logs events"},
	{"placebo", "luck"},
	{"profit", "pnl performance daily earnings"},
	{"record", "capture collect"},
	{"recording list", "recordings"},
	{"reload", "reload_config reload-config update"},
	{"replay", "rerun reproduce"},
	{"resume", "continue unpause"},
	{"run", "trade live live-trade paper dry-run dry_run start"},
	{"seal", "promise go-live"},
	{"state backup", "save"},
	{"status", "balance show info-bot"},
	{"strategies", "list list-strategies"},
	{"stress", "monte-carlo montecarlo robustness"},
	{"sweep", "optimize optimise optimization hyperopt grid grid-search tune"},
	{"trades", "history show-trades show_trades fills"},
	{"trials", "hyperopt-list hyperopt-show"},
	{"walkforward", "walk walk-forward wfo"},
}

// leadsTo is the command for a word of elsewhere; or else, of those below other commands, the one
// of this name, if there is one only.
func leadsTo(root *cobra.Command, name string) (found *cobra.Command) {
	for _, e := range elsewhere {
		if slices.Contains(strings.Fields(e.words), name) {
			if c, rest, err := root.Root().Find(strings.Fields(e.command)); err == nil && len(rest) == 0 {
				return c
			}
		}
	}
	for _, c := range root.Commands() {
		for _, below := range c.Commands() {
			switch {
			case below.Name() != name:
			case found != nil:
				return nil
			default:
				found = below
			}
		}
	}
	return found
}

// wrongCommand is the error about a command that does not exist; it says where to go.
type wrongCommand struct{ error }

// answerWrongCommands makes a command with others below it say which of them was probably meant.
func answerWrongCommands(c *cobra.Command) {
	for _, below := range c.Commands() {
		answerWrongCommands(below)
	}
	valid := c.Args
	if !c.HasSubCommands() || valid == nil {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		err := valid(c, args)
		if err == nil || !strings.HasPrefix(err.Error(), "unknown command") {
			return err
		}
		return wrongCommand{fmt.Errorf("%s has no command %s; %s", c.CommandPath(), config.Clip(args[0]),
			insteadOf(c, args))}
	}
}

// insteadOf says what to type instead of an unknown command.
func insteadOf(c *cobra.Command, args []string) string {
	help := "`bot help " + strings.Join(args, " ") + "`"
	if to := leadsTo(c, args[0]); to != nil {
		if to.Name() == "help" && len(args) > 1 {
			return "it is `bot help " + strings.Join(args[1:], " ") + "` here"
		}
		return fmt.Sprintf("it is `%s` here: %s. See `%[1]s --help`", to.CommandPath(), to.Short)
	}
	nearest, off := "", 3
	for _, below := range c.Commands() {
		far := strategy.Distance(args[0], below.Name())
		nearer := far < off || far == off && common(args[0], below.Name()) > common(args[0], nearest)
		if below.IsAvailableCommand() && nearer {
			nearest, off = below.Name(), far
		}
	}
	switch {
	case nearest != "":
		return fmt.Sprintf("did you mean `%s %s`?", c.CommandPath(), nearest)
	case len(docs.Find(strings.Join(args, " ")).Found) > 0:
		return help + " finds it in the documents"
	}
	return fmt.Sprintf("see `%s --help`", c.CommandPath())
}

// common is how many bytes two words have in common at their beginning.
func common(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
