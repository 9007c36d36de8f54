package bot

import (
	"context"
	"fmt"
	"io"
	"slices"

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

func ordersCommand(a *app) *cobra.Command {
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

// clockOrNone is a time for a person; "-": unknown.
func clockOrNone(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return operator.ClockOf(ms)
}

func printPositions(w io.Writer, list *operator.Positions) error {
	positions := list.Positions
	if !slices.ContainsFunc(positions, func(p operator.Position) bool { return p.Amount != "0" || p.Realised != "0" }) {
		_, err := fmt.Fprintln(w, "no positions")
		return err
	}
	timed := slices.ContainsFunc(positions, func(p operator.Position) bool { return p.LastMS+p.ChangedMS != 0 })
	g := page.Grid{Head: []string{"strategy", "market", "amount", "cost", "last", "worth", "realised", "fees",
		"last seen", "changed"}}
	for _, p := range positions {
		g.Rows = append(g.Rows, []string{p.Strategy, p.Market, p.Amount, p.Cost, orNone(p.Last), orNone(p.Value),
			p.Realised, p.Fees, clockOrNone(p.LastMS), clockOrNone(p.ChangedMS)})
	}
	if !timed {
		g.Drop("last seen")
		g.Drop("changed")
	}
	return view.WriteTable(w, g, 0)
}

func positionsCommand(a *app) *cobra.Command {
	f := &callerFlags{}
	c := &cobra.Command{
		Use: "positions", Short: "List what a bot's strategies hold", Args: onlyFlags,
		Example: "  bot positions -c configs/sandbox.toml\n  bot positions --state state --json",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			_, err := askAndShow(ctx, a, f, operator.AskPositions(), printPositions)
			return err
		}),
	}
	f.register(c)
	return c
}

// asOfText is the time of a figure of a stopped bot; empty: unknown.
func asOfText(ms int64) string {
	if ms == 0 {
		return ""
	}
	return ", as of " + operator.ClockOf(ms)
}
