package strategy_test

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

// riser buys where the price leaves its channel, and lets the stop follow.
type riser struct {
	strategy.Base
	channel indicator.Donchian
}

func (s *riser) OnCandle(d *strategy.Desk, c market.Candle) {
	m, ready, highest := d.In(c.Market), s.channel.Ready(), s.channel.High()
	s.channel.Push(c)
	if ready && m.Flat() && c.Close > highest {
		m.Buy(strategy.EquityShare(20*market.Percent), strategy.Trail(5*market.Percent),
			strategy.BreakEvenAfter(3*market.Percent), strategy.ExitAfter(48))
	}
}

func ExampleTrail() {
	var bench strategytest.Bench
	m := bench.Market("BTC-EUR", 2, 4, 1000_00)
	s := &riser{channel: indicator.NewDonchian(3)}
	d := bench.Desk()
	for _, price := range []market.Price{100_00, 101_00, 99_00, 102_00} {
		bench.Candle(s, d, m, price)
	}
	for _, line := range bench.Asked() {
		fmt.Println(line)
	}
	// Output: buy 1.9607 stop 96.9 target 0, trail 5%, break-even after 3%, exit after 48 candles
}
