package bot

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/view"
	"github.com/tidemark-trading/tidemark/view/page"
)

func printOrders(w io.Writer, list *operator.Orders) error {
	orders := list.Orders
	if len(orders) == 0 {
		_, err := fmt.Fprintln(w, "no orders")
		return err
	}
	g := page.Grid{Head: []string{"number", "client order id", "strategy", "market", "order", "filled", "state",
		"updated", "tag"}}
	for i := range orders {
		o := &orders[i]
		g.Rows = append(g.Rows, []string{fmt.Sprint(o.Number), o.ClientOrderID, o.Strategy, o.Market, o.Terms(),
			o.Filled, o.StateText(), clockOrNone(o.Updated()), o.Tag})
	}
	return view.WriteTable(w, g, 0)
}

func (a *app) ordersCommand() *cobra.Command {
	f, all := &callerFlags{}, false
	c := &cobra.Command{
		Use: "orders", Short: "List a bot's open orders, or all", Args: onlyFlags,
		Example: "  bot orders -c configs/sandbox.toml\n  bot orders --state state --all --json",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			_, err := askAndShow(ctx, a, f, operator.AskOrders(all), printOrders)
			return err
		}),
	}
	f.register(c)
	c.Flags().BoolVar(&all, "all", false, fmt.Sprintf("done orders too, the latest %d", operator.MaxOrders))
	return c
}
