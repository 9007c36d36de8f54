package strategy_test

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// A whole strategy: it buys after some falling closes in a row and sells after the first rising
// one.
type dip struct {
	strategy.Base
	after, falls int
	last         market.Price
}

type dipParams struct {
	After int `toml:"after" default:"3" min:"1" max:"50" doc:"falling closes in a row before a buy"`
}

func (s *dip) OnCandle(d *strategy.Desk, c market.Candle) {
	s.falls++
	if c.Close >= s.last {
		s.falls = 0
	}
	s.last = c.Close
	m := d.In(c.Market)
	if held := m.Position().Amount; held > 0 && s.falls == 0 {
		m.Sell(strategy.Amount(held))
	} else if held == 0 && s.falls == s.after {
		m.Buy(strategy.CashShare(99 * market.Percent))
	}
}

var dipDefinition = strategy.Define("dip", "buys after falling closes", // pass it to bot.Main
	func(p dipParams) strategy.Needs { return strategy.Needs{Warmup: p.After} },
	func(p dipParams, _ strategy.Setup) (strategy.Strategy, error) { return &dip{after: p.After}, nil })

func Example() {
	var bench strategytest.Bench
	m := bench.Market("BTC-EUR", 2, 4, 1000_00)
	s, err := dipDefinition.New(map[string]any{"after": int64(2)}, bench.Setup(market.Interval1h))
	if err != nil {
		fmt.Println(err)
		return
	}
	d := bench.Desk()
	for _, price := range []market.Price{100_00, 99_00, 98_00} {
		bench.Candle(s, d, m, price)
	}
	bench.Fill(1, 98_00, 10_1020)
	bench.Candle(s, d, m, 101_00)
	for _, line := range bench.Asked() {
		fmt.Println(line)
	}
	// Output:
	// buy 10.102
	// sell 10.102
}

func ExampleDefinition_Params() {
	for _, p := range dipDefinition.Params() {
		fmt.Println(p.Name, p.Type, p.Default, p.Min, p.Max, p.Doc)
	}
	// Output: after int 3 1 50 falling closes in a row before a buy
}
