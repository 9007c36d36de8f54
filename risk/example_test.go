package risk_test

import (
	"errors"
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// ExampleGate asks for two orders: the gate rounds the first, and refuses the second by a limit.
func ExampleGate() {
	var c market.Catalog
	c.AddAsset("EUR", 2)
	c.AddAsset("BTC", 8)
	c.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2, Status: market.Trading,
		Rules: market.Rules{TickSize: 50, QuantityDecimals: 4, MaxOpenOrders: 100}})
	account := state.NewAccount(&c, 1, nil)
	account.Apply(&market.Event{Kind: market.KindTransfer, Owner: 1, Asset: 1, Money: 5000_00})
	gate := risk.New(&c, risk.Config{Account: risk.AccountLimits{Currency: 1},
		Strategies: []risk.Limits{{MaxOrderValue: 1000_00}}})

	ask := func(amount market.Qty, price market.Price) {
		order := market.Order{Strategy: 1, Market: 1, Side: market.Buy, Type: market.TypeLimit,
			OrderState: market.OrderState{TimeInForce: market.GTC, Amount: amount, Price: price}}
		approved, err := gate.Check(account, &market.Command{Kind: market.CommandPlace, Order: order})
		var refusal *risk.Refusal
		if errors.As(err, &refusal) {
			fmt.Println(refusal)
			return
		}
		fmt.Println("price", approved.Command().Order.Price, "holds", approved.Hold())
	}
	ask(1_23456789, 100_99)
	ask(20_00000000, 100_99)
	fmt.Println(gate.Refused(1))
	// Output:
	// price 10050 holds 12407
	// refused: max_order_value (2010, limit 1000)
	// [{max_order_value 1}]
}
