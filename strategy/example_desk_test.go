package strategy_test

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
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

// ExampleMarketDesk_Plot draws an average over the price, and the RSI in a pane below it. The bench
// writes down what report.html of a backtest would show.
func ExampleMarketDesk_Plot() {
	var bench strategytest.Bench
	m := bench.Market("BTC-EUR", 2, 4, 1000_00).ID
	mean, rsi := indicator.NewSMA(3), indicator.NewRSI(2)
	onCandle := func(d *strategy.Desk, c market.Candle) {
		m := d.In(c.Market)
		mean.Push(c.Close)
		rsi.Push(c.Close)
		if !mean.Ready() || !rsi.Ready() {
			return
		}
		m.Plot("mean", mean.Value())
		m.Plot("RSI", rsi.Value(), strategy.Pane("RSI"))
		if rsi.Value() < 30 {
			m.Mark("oversold")
		}
	}
	for _, price := range []market.Price{100_00, 101_00, 103_50, 99_00, 97_00} {
		onCandle(bench.Desk(), market.Candle{Market: m, Interval: market.Interval1h, Close: price})
	}
	for _, line := range bench.Plotted() {
		fmt.Println(line)
	}
	// Output:
	// mean 101.5
	// RSI 100 in RSI
	// mean 101.167
	// RSI 28 in RSI
	// mark oversold
	// mean 99.8333
	// RSI 17.0732 in RSI
	// mark oversold
}

// memory is a strategy that must know after a restart what no candle tells: its highest price since
// it bought. The embedded PerMarket saves and loads the exported field.
type memory struct {
	strategy.Base
	strategy.PerMarket[since]
}

type since struct {
	Top market.Price `json:"top"`
}

func newMemory(s strategy.Setup) *memory {
	return &memory{PerMarket: strategy.Each(s, func(market.Market) since { return since{} })}
}

func ExampleSaver() {
	var bench strategytest.Bench
	m := bench.Market("BTC-EUR", 2, 4, 1000_00)
	setup := bench.Setup(market.Interval1h)
	old, fresh := newMemory(setup), newMemory(setup)
	old.In(m.ID).Top = 101_25
	if err := bench.Restart(old, fresh, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.FormatPrice(fresh.In(m.ID).Top))
	// Output: 101.25
}

// signal buys with a stop far below, and leaves on a signal: the close falls below the average of
// the last closes.
type signal struct {
	strategy.Base
	mean market.Price
}

func (s *signal) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	s.mean = (9*s.mean + c.Close) / 10
	switch {
	case m.Held() == 0 && c.Close > s.mean:
		m.Buy(strategy.CashShare(95*market.Percent), strategy.StopAt(c.Close.Below(10*market.Percent)))
	case m.Held() > 0 && c.Close < s.mean:
		m.Close(strategy.Tag("below the mean"))
	}
}

// OnCloseFailed tries again: what is left has its stop meanwhile.
func (s *signal) OnCloseFailed(d *strategy.Desk, f strategy.CloseFailed) {
	d.In(f.Market).Close(strategy.Tag(f.Tag))
}

// ExampleMarketDesk_Close leaves on a signal. The stop needs no cancel: Close sees to it, and sells
// when the exchange has confirmed.
func ExampleMarketDesk_Close() {
	var bench strategytest.Bench
	m := bench.Market("BTC-EUR", 2, 4, 1000_00)
	s := &signal{mean: 100_00}
	d := bench.Desk()
	bench.Candle(s, d, m, 102_00)
	bench.Fill(1, 102_00, 9_3137)
	bench.Candle(s, d, m, 104_00)
	bench.Candle(s, d, m, 97_00)
	for _, line := range bench.Asked() {
		fmt.Println(line)
	}
	// Output:
	// buy 9.3137 stop 91.8 target 0
	// close all (below the mean)
}
