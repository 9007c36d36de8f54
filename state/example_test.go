package state_test

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// ExampleAccount folds a deposit, an order and its fill.
func ExampleAccount() {
	var c market.Catalog
	c.AddAsset("EUR", 2)
	c.AddAsset("BTC", 8)
	c.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2})
	account := state.NewAccount(&c, 1, nil)
	account.Apply(&market.Event{Kind: market.KindTransfer, Asset: 1, Money: 100_00})
	order := account.Send(&market.Order{ID: 1, Strategy: 1, Market: 1, Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{Amount: 50_000_000, Price: 80_00}}, 41_00)
	fmt.Println(account.Balance(1, 1))

	report := market.ReportOf(&order.Order, market.ExecTrade)
	report.Status, report.FilledAmount, report.AmountRemaining = market.StatusFilled, 50_000_000, 0
	fill := market.Fill{Order: 1, Side: market.Buy, Settled: true, Price: 80_00, Amount: 50_000_000,
		Fee: market.ValueOf(1_000_000_000)}
	account.Apply(&market.Event{Kind: market.KindReport, Report: &report, Fills: []market.Fill{fill}})
	fmt.Println(account.Balance(1, 1))
	p := account.Position(1, 1)
	fmt.Println(p.Amount, c.Market(1).FormatValue(p.Cost), account.Check())
	// Output:
	// 5900 4100
	// 5990 0
	// 50000000 40.1 <nil>
}
