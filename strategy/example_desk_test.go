package strategy_test

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// ExampleDesk asks for an order of each kind that a strategy needs most. The desk of this test
// writes them down; that of a bot passes them to its gate, which may refuse.
func ExampleDesk() {
	var bench strategytest.Bench
	m := bench.Market("BTC-EUR", 2, 4, 1000_00)
	d := bench.Desk()
	id, err := d.In(m.ID).Buy(strategy.Amount(1_0000), strategy.At(99_50), strategy.PostOnly(), strategy.Tag("entry"))
	if err != nil {
		fmt.Println(err)
		return
	}
	d.Update(id, strategy.At(99_00))
	d.Cancel(id)
	// limit at 100, then a stop at 95 and a target at 110 for what it bought
	d.In(m.ID).Buy(strategy.Amount(2_0000), strategy.StopAt(95_00), strategy.TargetAt(110_00), strategy.At(100_00))
	for _, line := range bench.Asked() {
		fmt.Println(line)
	}
	// Output:
	// buy 1 at 99.5 post-only (entry)
	// update 1 price 99
	// cancel 1
	// buy 2 at 100 stop 95 target 110
}

// memory is a strategy that must know after a restart what no candle tells: its highest price since
// it bought.
type memory struct {
	strategy.Base
	setup strategy.Setup
	top   []market.Price // by market
}

// Save writes a value for each market, under its name.
func (s *memory) Save() ([]byte, error) {
	return strategy.SaveMarkets(s.setup, func(m market.ID) market.Price { return s.top[m] })
}

// Load reads what Save wrote.
func (s *memory) Load(data []byte) error {
	return strategy.LoadMarkets(s.setup, data, func(m market.ID, top market.Price) error {
		s.top[m] = top
		return nil
	})
}

func ExampleSaver() {
	var bench strategytest.Bench
	m := bench.Market("BTC-EUR", 2, 4, 1000_00)
	setup := bench.Setup(market.Interval1h)
	old := &memory{setup: setup, top: make([]market.Price, setup.Slots())}
	old.top[m.ID] = 101_25
	fresh := &memory{setup: setup, top: make([]market.Price, setup.Slots())}
	if err := bench.Restart(old, fresh, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.FormatPrice(fresh.top[m.ID]))
	// Output: 101.25
}
