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
	f, exchange, absent := &actFlags{}, false, false
	c := a.actCommand(&cobra.Command{
		Use:   "resolve ORDER --as-exchange|--as-absent",
		Short: "Decide what became of an order whose answers cannot be true", Args: cobra.ExactArgs(1),
		Example: "  bot resolve 12 --as-exchange -c configs/sandbox.toml\n  bot resolve 12 --as-absent --wait 1m",
		Long: "Decides about an order whose answers were not booked, because they break a rule (docs/running.md). " +
			"Look at the\nexchange's own page first. --as-exchange books the next answer to a query as it is; " +
			"--as-absent ends the order in the\nbooks with the booked fills. Type the word " + resolveWord +
			" to confirm. Both values go to the journal: bot explain ORDER\nshows them.",
	}, operator.PathResolve, f)
	c.RunE = a.enter(func(ctx context.Context, args []string) error {
		if exchange == absent {
			return config.Usagef("give one of --as-exchange and --as-absent")
		}
		as := operator.AsExchange
		if absent {
			as = operator.AsAbsent
		}
		fmt.Fprintf(a.Stderr, "order %s is resolved as %s; type %q to go on: ", args[0], as, resolveWord)
		word, _ := bufio.NewReader(a.Stdin).ReadString('\n')
		if strings.TrimSpace(word) != resolveWord {
			return config.Usagef("nothing is done: the word is %q", resolveWord)
		}
		request := &operator.Request{Order: args[0], As: as, WaitMS: f.wait.Milliseconds()}
		return a.act(ctx, f, operator.PathResolve, request)
	})
	c.Flags().BoolVar(&exchange, "as-exchange", false, "the exchange is right: its next answer is booked")
	c.Flags().BoolVar(&absent, "as-absent", false,
		"the exchange does not have it: the order ends with the fills that are booked")
	return c
}
