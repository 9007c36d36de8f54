package sim_test

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// ExampleVenue rests a limit order at the open of a candle, which fills on the way to the low.
func ExampleVenue() {
	var c market.Catalog
	c.AddAsset("EUR", 2)
	c.AddAsset("BTC", 8)
	c.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2, Rules: market.Rules{QuantityDecimals: 8}})
	config := sim.Config{Fees: func(*market.Market) exchange.Fees {
		return exchange.Fees{Maker: 150_000,
			Taker: 250_000}
	}}
	venue := sim.New(&c, config, func(ev *market.Event) {
		fmt.Println(ev.At.Std().Format("15:04:05"), ev.Report.Exec, ev.Report.Status)
		for _, f := range ev.Fills {
			fmt.Println("  at", c.Market(1).FormatPrice(f.Price), "fee", c.Market(1).FormatValue(f.Fee))
		}
	})
	venue.Deposit(1, 1000_00)
	venue.Do(&market.Command{Kind: market.CommandPlace, Order: market.Order{
		ID: 1, Market: 1, Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{TimeInForce: market.GTC, Amount: 2_00000000, Price: 95_00},
	}})
	candle := market.Candle{Open: 100_00, High: 101_00, Low: 90_00, Close: 97_00, Market: 1,
		Interval: market.Interval1h}
	venue.Advance(&market.Event{Kind: market.KindCandles, At: candle.End(), Candles: []market.Candle{candle}})
	fmt.Println(c.Market(1).FormatMoney(venue.Balance(1).Total))
	// Output:
	// 00:00:00 new new
	// 00:30:54 trade filled
	//   at 95 fee 0.29
	// 809.71
}
