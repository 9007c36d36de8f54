package bot

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
)

// resolveWord is the word that the user types to confirm.
const resolveWord = "resolve"

func (a *app) resolveCommand() *cobra.Command {
	f, exchange, absent, gone := &actFlags{}, false, false, ""
	c := a.actCommand(&cobra.Command{
		Use:     "resolve ORDER --as-exchange|--as-absent, or resolve --gone MARKET",
		Short:   "Decide about a disputed order, or a market that has gone",
		Args:    cobra.MaximumNArgs(1),
		Example: "  bot resolve 12 --as-exchange -c configs/sandbox.toml\n  bot resolve 12 --as-absent --wait 1m",
		Long: "Decides about an order whose answers were not booked, because they break a rule (docs/recovery.md). " +
			"Look at the\nexchange's own page first. --as-exchange books the next answer to a query as it is; " +
			"--as-absent ends the order in the\nbooks with the booked fills. Type the word " + resolveWord +
			" to confirm. Both values go to the journal: bot explain ORDER\nshows them.\n\n--gone MARKET takes " +
			"what strategies hold in a market that the exchange lists no more out of the books, as a\nwithdrawal " +
			"at cost: no profit, no loss. What the account still has of it is then unallocated.",
	}, operator.PathResolve, f)
	c.RunE = a.enter(func(ctx context.Context, args []string) error {
		request := &operator.Request{Gone: gone, WaitMS: f.wait.Milliseconds()}
		what := "what is held in " + gone + " is written off"
		switch {
		case gone != "" && (exchange || absent || len(args) > 0):
			return config.Usagef("--gone takes no order")
		case gone != "":
		case exchange == absent || len(args) == 0:
			return config.Usagef("give one of --as-exchange and --as-absent with an order, or --gone MARKET")
		default:
			request.Order, request.As = args[0], operator.AsExchange
			if absent {
				request.As = operator.AsAbsent
			}
			what = "order " + request.Order + " is resolved as " + request.As
		}
		fmt.Fprintf(a.Stderr, "%s; type %q to go on: ", what, resolveWord)
		word, _ := bufio.NewReader(a.Stdin).ReadString('\n')
		if strings.TrimSpace(word) != resolveWord {
			return config.Usagef("nothing is done: the word is %q", resolveWord)
		}
		return a.act(ctx, f, operator.PathResolve, request)
	})
	c.Flags().BoolVar(&exchange, "as-exchange", false, "the exchange is right: its next answer is booked")
	c.Flags().BoolVar(&absent, "as-absent", false,
		"the exchange does not have it: the order ends with the fills that are booked")
	c.Flags().StringVar(&gone, "gone", "", "write off what is held in a market that the exchange lists no more")
	return c
}
