package bot

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
)

const explainHelp = `Tells the story of an order from the journal, each step with its time: the event, the decision,
the gate's figures before and after, the request, the answers, the states, the fills, the fees. ORDER is its number,
its client order id, the exchange's order id, or at least four first digits of one of these ids that no other order
has.

--refused tells why a strategy, or any, did not trade: the orders that the gate or the exchange refused in the last
--since, the reasons, with the value and its limit, how often, and whether the strategy is halted.`

func (a *app) explainCommand() *cobra.Command {
	f, refused, since := &callerFlags{}, false, "24h"
	c := &cobra.Command{
		Use: "explain ORDER | --refused [STRATEGY]", Short: "Tell the story of an order, or why there is none",
		Args: cobra.MaximumNArgs(1), Long: explainHelp,
		Example: "  bot explain 12 -c configs/sandbox.toml\n  bot explain 8254ec74 --json\n  bot explain --refused " +
			"maker --since 1h",
		RunE: a.enter(func(ctx context.Context, args []string) error {
			switch {
			case refused:
				return a.explainRefusals(ctx, f, strings.Join(args, ""), since)
			case len(args) == 0:
				return config.Usagef("want an order, or --refused")
			}
			_, err := askAndShow(ctx, a, f, operator.AskStory(args[0]),
				func(w io.Writer, s *operator.Story) error { return s.Write(w) })
			return err
		}),
	}
	f.register(c)
	c.Flags().BoolVar(&refused, "refused", false, "what the gate and the exchange refused, instead of an order")
	c.Flags().StringVar(&since, "since", since, "with --refused: how far back `AGO` reaches, like 30m or 7d")
	return c
}

func (a *app) explainRefusals(ctx context.Context, f *callerFlags, strategy, ago string) error {
	since, err := parseAgo(ago)
	if err != nil {
		return config.Usagef("--since %w", err)
	}
	_, err = askAndShow(ctx, a, f, operator.AskRefused(strategy, since), printRefused)
	return err
}
