package bot

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

func printOrders(w io.Writer, orders []operator.Order) error {
	if len(orders) == 0 {
		_, err := fmt.Fprintln(w, "no orders")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "number\tclient order id\tstrategy\tmarket\torder\tfilled\tstate\tupdated\ttag")
	for i := range orders {
		o := &orders[i]
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", o.Number, o.ClientOrderID, o.Strategy, o.Market,
			o.Terms(), o.Filled, o.StateText(), clockOrNone(o.Updated()), o.Tag)
	}
	return table.Flush()
}

func (a *app) ordersCommand() *cobra.Command {
	f, all := &callerFlags{}, false
	c := &cobra.Command{
		Use: "orders", Short: "List a bot's open orders, or all", Args: onlyFlags,
		Example: "  bot orders -c configs/sandbox.toml\n  bot orders --state state --all --json",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			answer, err := ask(f, func(of operator.Target) (operator.Answer[operator.Orders], error) {
				return operator.AskOrders(ctx, of, all)
			})
			if err != nil {
				return err
			}
			return show(a, f, answer, func(list *operator.Orders) error { return printOrders(a.Stdout, list.Orders) })
		}),
	}
	f.register(c)
	c.Flags().BoolVar(&all, "all", false, fmt.Sprintf("done orders too, the latest %d", operator.MaxOrders))
	return c
}
