package sandbox_test

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

// A test moves the exchange's time by hand.
func ExampleManualClock() {
	clock := sandbox.ManualClock(1772452800_000000000)
	clock.Advance(90 * time.Second)
	fmt.Println(clock.Now())
	fmt.Println(clock.Set(0))
	// Output:
	// 2026-03-02T12:01:30Z
	// clock: 1970-01-01T00:00:00Z lies before the exchange's time, 2026-03-02T12:01:30Z; it never goes back
}

// The same seed and anchor give the same prices, whenever one looks.
func ExampleSynthetic() {
	catalog := &market.Catalog{}
	_, _ = catalog.AddAsset("BTC", 8)
	_, _ = catalog.AddAsset("EUR", 2)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, TickSize: 100, QuantityDecimals: 8, NotionalDecimals: 2}
	if err := catalog.AddMarket(m); err != nil {
		fmt.Println(err)
		return
	}
	const noon market.Time = 1772452800_000000000
	source := sandbox.Synthetic{Seed: 1, Anchor: noon.Add(-24 * time.Hour), Price: "95000"}
	next, err := source.Movements(sandbox.Start{Market: m, Beginning: noon, From: noon})
	if err != nil {
		fmt.Println(err)
		return
	}
	var move sandbox.Movement
	for range 3 {
		_, _ = next(&move)
		fmt.Println(move.At.Std().Format("15:04:05"), move.Side, m.FormatPrice(move.Price))
	}
	// Output:
	// 12:00:00 sell 89668
	// 12:00:01 sell 89653
	// 12:00:02 buy 89658
}
