package bot_test

import (
	"context"
	"fmt"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/dca"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// ExampleBacktest is how a strategy's own test runs it: on the built-in market, without files.
func ExampleBacktest() {
	result, err := bot.Backtest(context.Background(), dca.Definition,
		map[string]any{"money": "100", "every_candles": int64(24 * 7)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Title)
	fmt.Println(result.Orders.Orders, "orders,", result.Performance.Fees, result.Currency, "of fees")
	// Output:
	// dca on BTC-EUR 1h (synthetic)
	// 100 orders, 24.94 EUR of fees
}

// ExampleMain is a whole program: every command of bot, with an own strategy among the shipped
// ones.
func ExampleMain() {
	mine := strategy.Define("mine", "does nothing yet",
		func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return strategy.Base{}, nil })
	bot.Main(append(shipped.Definitions(), mine)...)
}
