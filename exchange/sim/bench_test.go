package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// bench is a venue with much money and one market, whose candles follow one another.
type bench struct {
	venue   *Venue
	candle  [1]market.Candle
	event   market.Event
	command market.Command
	fills   int
}

func newBench(t testing.TB) *bench {
	catalog := &market.Catalog{}
	_, err := catalog.AddAsset("BTC", 8)
	require.NoError(t, err)
	_, err = catalog.AddAsset("EUR", 2)
	require.NoError(t, err)
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2,
		Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2}}))
	b := &bench{candle: [1]market.Candle{{Open: 100_00, High: 103_00, Low: 99_00, Close: 101_00, Market: 1,
		Interval: market.Interval1m}}}
	b.venue = New(catalog, Config{}, func(ev *market.Event) { b.fills += len(ev.Fills) })
	for asset := range market.AssetID(2) {
		require.NoError(t, b.venue.Deposit(asset+1, 1e15))
	}
	b.event = market.Event{Kind: market.KindCandles, Candles: b.candle[:]}
	return b
}

// advance moves the market by the next candle.
func (b *bench) advance() {
	b.candle[0].Start = b.event.At
	b.event.At = b.candle[0].End()
	if err := b.venue.Advance(&b.event); err != nil {
		panic(err)
	}
}

func (b *bench) place(o market.Order) {
	o.ID = b.command.Order.ID + 1
	o.Market, o.TimeInForce, o.SelfTradePrevention = 1, market.GTC, market.CancelOldest
	b.command = market.Command{Kind: market.CommandPlace, At: b.event.At, Order: o}
	b.venue.Do(&b.command)
}

// rest places orders that no candle of the bench reaches, on both sides and of both kinds.
func (b *bench) rest(count int) {
	for i := range count {
		o := market.Order{Side: market.Buy, Type: market.TypeLimit,
			OrderState: market.OrderState{Price: 90_00 - market.Price(i), Amount: 1e6}}
		if i%2 == 1 {
			o = market.Order{Side: market.Buy, Type: market.TypeStopLoss,
				OrderState: market.OrderState{TriggerAmount: 110_00 + market.Price(i), Amount: 1e6}}
		}
		b.place(o)
	}
	b.advance()
}

func BenchmarkQuietCandle(b *testing.B) {
	for _, resting := range [...]int{2, 100} {
		b.Run(fmt.Sprintf("%d_resting", resting), func(b *testing.B) {
			bench := newBench(b)
			bench.rest(resting)
			b.ReportAllocs()
			for b.Loop() {
				bench.advance()
			}
			require.Equal(b, resting, bench.venue.Open(1))
		})
	}
}

// BenchmarkMarketOrder is an order's way through the venue: handed over, arrived, checked, filled,
// told, forgotten.
func BenchmarkMarketOrder(b *testing.B) {
	bench := newBench(b)
	b.ReportAllocs()
	for b.Loop() {
		bench.place(market.Order{Side: market.Buy + market.Side(bench.fills%2), Type: market.TypeMarket,
			OrderState: market.OrderState{Amount: 1e6}})
		bench.advance()
	}
	require.Positive(b, bench.fills)
}

// BenchmarkLimitOrder rests at one candle and fills as a maker within it.
func BenchmarkLimitOrder(b *testing.B) {
	bench := newBench(b)
	b.ReportAllocs()
	for b.Loop() {
		o := market.Order{Side: market.Buy, Type: market.TypeLimit,
			OrderState: market.OrderState{Price: 99_50, Amount: 1e6}}
		if bench.fills%2 == 1 {
			o.Side, o.Price = market.Sell, 102_00
		}
		bench.place(o)
		bench.advance()
	}
	require.Positive(b, bench.fills)
}

func TestQuietCandleAllocatesNothing(t *testing.T) {
	bench := newBench(t)
	bench.rest(100)
	require.Zero(t, testing.AllocsPerRun(1000, bench.advance))
	require.Zero(t, bench.fills)
}

func TestOrdersAllocateNothingOnceWarm(t *testing.T) {
	bench := newBench(t)
	trade := func() {
		bench.place(market.Order{Side: market.Buy + market.Side(bench.fills%2), Type: market.TypeMarket,
			OrderState: market.OrderState{Amount: 1e6}})
		bench.advance()
	}
	trade()
	require.Zero(t, testing.AllocsPerRun(1000, trade))
	require.Equal(t, 1002, bench.fills)
}
