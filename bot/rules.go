package bot

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/strategy"
)

const rulesHelp = `Check the strategies of a config that stand there as rules, without a run.

It names the first mistake with its file, line, key and column. Else it shows what the rules are read as: how many
candles they need before the first decision, and what --vary can search.`

func rulesCommand(a *app) *cobra.Command {
	c := &cobra.Command{Use: "rules", Short: "Check strategies that stand in a config, or write them in Go"}
	var sets []string
	check := &cobra.Command{
		Use: "check FILE", Short: "Compile the rules of a config", Long: rulesHelp, Args: cobra.ExactArgs(1),
		Example: "  bot rules check configs/rules.toml\n  bot rules check configs/rules.toml " +
			"--set strategies.turtle.params.enter=55",
		RunE: a.enter(func(_ context.Context, args []string) error {
			return a.checkRules(&backtestFlags{config: args[0], sets: sets})
		}),
	}
	check.Flags().StringArrayVar(&sets, "set", nil, "change one setting: `a.b.c=value`; may be repeated")
	c.AddCommand(check, ejectCommand(a))
	return c
}

// checkRules compiles the rules of a config, and says what they need.
func (a *app) checkRules(f *backtestFlags) error {
	c, err := a.load(f)
	if err != nil {
		return err
	}
	p, err := plan.NewBacktest(c, a.Definitions)
	if err != nil {
		return err
	}
	found := false
	for i := range p.Strategies {
		if s := &p.Strategies[i]; s.Kind.Written() {
			found = true
			section := c.Strategies[s.Name]
			if err := a.printRules(s, section.Markets); err != nil {
				return err
			}
		}
	}
	if !found {
		return config.Errorf("%s: no strategy stands in it as rules; write kind = \"rules\" and a table "+
			"[strategies.NAME.rules]", c.Source.Name())
	}
	return nil
}

// printRules writes what a strategy's rules need.
func (a *app) printRules(s *backtest.StrategyPlan, markets []string) error {
	settings, err := s.Kind.Resolve(s.Values)
	if err != nil {
		return err
	}
	needs, err := s.Kind.Needs(s.Values)
	if err != nil {
		return err
	}
	on := strings.Join(markets, ", ")
	if on == "" {
		on = "its universe"
	}
	fmt.Fprintf(a.Stdout, "%s on %s %s\n", s.Name, on, s.Interval)
	table := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	for _, one := range settings {
		fmt.Fprintf(table, "  %s\t%s\n", strings.Join(config.ValuePath(s.Name, one.Name)[2:], "."), one.Text)
	}
	var warm []string
	for _, c := range needs.Of(s.Interval) {
		warm = append(warm, fmt.Sprintf("%d candles of %s", c.Warmup, c.Interval))
	}
	search := "give a number a name in [" + strings.Join(config.ValuePath(s.Name, "x")[:3], ".") + "], and --vary that"
	for _, one := range settings {
		if !strings.HasPrefix(one.Name, strategy.RulePrefix) {
			search = "--vary " + strings.Join(config.ValuePath(s.Name, one.Name), ".") +
				"=…, and every other of these keys"
		}
	}
	fmt.Fprintf(table, "  warm-up\t%s\n  search\t%s\n", strings.Join(warm, ", "), search)
	return table.Flush()
}
