package bot_test

import (
	"context"
	"fmt"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// ExampleBacktest is how a strategy's own test runs it: on the built-in market, without files.
func ExampleBacktest() {
	result, err := bot.Backtest(context.Background(), shipped.DCA,
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

// ExampleUniverse lets a strategy trade the market with the largest volume of the day before, of
// two. Each candle of Closes has a volume of 1, so it is the one with the higher price.
func ExampleUniverse() {
	kind := strategy.Define("largest", "buys the member and sells the other",
		func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &largest{}, nil })
	result, err := bot.Backtest(context.Background(), kind, nil, bot.Universe("volume1d", 1),
		bot.Closes("ADA-EUR", market.Interval1d, "10 10 10 30 30 30 30"),
		bot.Closes("XRP-EUR", market.Interval1d, "20 20 20 20 20 20 20"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range result.Fills {
		fmt.Println(f.Time.Std().Format("2006-01-02"), f.Side, f.Market)
	}
	// Output:
	// 2024-01-02 buy XRP-EUR
	// 2024-01-05 buy ADA-EUR
	// 2024-01-05 sell XRP-EUR
}

// largest holds the one member of its universe.
type largest struct{ strategy.Base }

func (s *largest) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	switch {
	case m.Member() && m.Flat():
		m.Buy(strategy.Money(100_00))
	case !m.Member() && !m.Flat():
		m.Close()
	}
}

// ExampleMain is a whole program: every command of bot, with an own strategy among the shipped
// ones.
func ExampleMain() {
	mine := strategy.Define("mine", "does nothing yet",
		func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return strategy.Base{}, nil })
	bot.Main(append(shipped.Definitions(), mine)...)
}
