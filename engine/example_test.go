package engine_test

import (
	"fmt"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// dipper buys once, with a stop and a target.
type dipper struct {
	strategy.Base
	bought bool
}

func (s *dipper) OnCandle(d *strategy.Desk, c market.Candle) {
	if !s.bought {
		_, err := d.In(c.Market).Buy(strategy.Amount(50_000_000), strategy.Exits(c.Close*9/10, c.Close*11/10))
		s.bought = err == nil
	}
}

// ExampleEngine joins an engine with a venue: what the venue tells is stepped, and what a step
// wants is done by the venue.
func ExampleEngine() {
	var c market.Catalog
	c.AddAsset("EUR", 2)
	c.AddAsset("BTC", 8)
	c.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2, Status: market.Trading,
		Rules: market.Rules{TickSize: 1, QuantityDecimals: 8, MaxOpenOrders: 100}})
	account := state.NewAccount(&c, 1, nil)
	e := engine.New(engine.Config{Catalog: &c, Account: account,
		Gate: risk.New(&c, risk.Config{Strategies: make([]risk.Limits, 1)}), Slots: []engine.StrategyConfig{
			{Name: "dipper", Strategy: &dipper{}, Markets: []market.ID{1},
				Intervals: []market.Interval{market.Interval1h},
				Log:       zerolog.Nop()},
		}})
	var venue *sim.Venue
	step := func(ev *market.Event) {
		ev.At = max(ev.At, e.Now())
		for _, command := range e.Step(ev) {
			venue.Do(&command)
		}
	}
	venue = sim.New(&c, sim.Config{Watches: e.Watches()}, func(ev *market.Event) {
		if ev.Report != nil {
			fmt.Println("order", ev.Report.Order, ev.Report.Exec)
		}
		step(ev)
	})
	venue.Deposit(1, 10_000_00)
	step(&market.Event{Kind: market.KindTransfer, Asset: 1, Money: 10_000_00})
	for hour, top := range []market.Price{100_00, 105_00, 115_00} {
		start := market.Interval1h.StartOf(int64(hour))
		candles := []market.Candle{{Open: 100_00, High: top, Low: 100_00, Close: 100_00, Start: start, Market: 1,
			Interval: market.Interval1h}}
		event := market.Event{Kind: market.KindCandles, At: candles[0].End(), Candles: candles}
		venue.Advance(&event)
		step(&event)
	}
	fmt.Println("EUR", market.FormatFixed(int64(account.Total(1).Total), 2))
	// Output:
	// order 1 trade
	// order 2 new
	// order 2 canceled
	// order 3 trade
	// EUR 10005
}
