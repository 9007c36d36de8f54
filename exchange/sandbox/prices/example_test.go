package prices_test

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

// The same seed and anchor give the same prices, whenever one looks.
func ExampleSynthetic() {
	catalog := &market.Catalog{}
	_, _ = catalog.AddAsset("BTC", 8)
	_, _ = catalog.AddAsset("EUR", 2)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2,
		Rules: market.Rules{TickSize: 100, QuantityDecimals: 8, NotionalDecimals: 2}}
	if err := catalog.AddMarket(m); err != nil {
		fmt.Println(err)
		return
	}
	const noon market.Time = 1772452800_000000000
	source := prices.Synthetic{Seed: 1, Anchor: noon.Add(-24 * time.Hour), Price: "95000"}
	next, err := source.Movements(prices.Start{Market: m, Beginning: noon, From: noon})
	if err != nil {
		fmt.Println(err)
		return
	}
	var move prices.Movement
	for range 3 {
		_, _ = next(&move)
		fmt.Println(move.At.Std().Format("15:04:05"), move.Side, m.FormatPrice(move.Price))
	}
	// Output:
	// 12:00:00 sell 89668
	// 12:00:01 sell 89653
	// 12:00:02 buy 89658
}
