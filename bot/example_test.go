package bot_test

import (
	"context"
	"fmt"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/strategy/dca"
)

// ExampleBacktest is how a strategy's own test runs it: on the built-in market, without files.
func ExampleBacktest() {
	result, err := bot.Backtest(context.Background(), dca.Kind, map[string]any{"money": "100", "every_candles": int64(24 * 7)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Title)
	fmt.Println(result.Orders.Orders, "orders,", result.Performance.Fees, result.Currency, "of fees")
	// Output:
	// dca on BTC-EUR 1h (synthetic)
	// 100 orders, 24.96 EUR of fees
}
