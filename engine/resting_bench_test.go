package engine_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// resting is an engine and a venue in which many orders rest, and a strategy that asks for a few
// orders more at each candle of the first market.
type resting struct {
	t       testing.TB
	engine  *engine.Engine
	venue   *sim.Venue
	account *state.Account
	crowd   int // orders that rest in each market
	markets int
	ask     func(d *strategy.Desk, r *resting)
	candles int
	ids     []market.OrderID // of the orders of the last candle
	candle  [1]market.Candle
	event   market.Event
}

// middle is the price of all markets in the benchmark; orders rest above and below it.
const middle = market.Price(10_000_000)

func newResting(t testing.TB, markets, crowd int, ask func(d *strategy.Desk, r *resting)) *resting {
	r := &resting{t: t, crowd: crowd, markets: markets, ask: ask}
	catalog := &market.Catalog{}
	for i := range markets + 1 {
		_, err := catalog.AddAsset(fmt.Sprint("A", i), 2)
		require.NoError(t, err)
	}
	ids := make([]market.ID, markets)
	for i := range markets {
		require.NoError(t, catalog.AddMarket(&market.Market{Name: fmt.Sprintf("A%d-A0", i+1), PriceDigits: 2,
			Status: market.Trading, Rules: market.Rules{TickSize: 1, QuantityDecimals: 2, NotionalDecimals: 2}}))
		ids[i] = market.ID(i + 1)
	}
	fees := func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} }
	r.account = state.NewAccount(catalog, 1, nil)
	s := &script{candle: func(d *strategy.Desk, _ market.Candle) { r.ask(d, r) }}
	r.engine = engine.New(engine.Config{Catalog: catalog, Account: r.account,
		Gate: risk.New(catalog, risk.Config{Account: risk.AccountLimits{Currency: 1, MaxExposure: 1e18},
			Strategies: []risk.Limits{{MaxOpenOrders: 1e6, MaxPosition: 1e18, MaxInFlight: 1e6}}, Fees: fees}),
		Slots: []engine.StrategyConfig{{Name: "s", Strategy: s, Markets: ids,
			Intervals: []market.Interval{market.Interval1m}}}})
	r.venue = sim.New(catalog, sim.Config{Fees: fees, Watches: r.engine.Watches()}, r.step)
	for _, asset := range catalog.Assets() {
		money := market.Money(1e9)
		if asset.ID == 1 {
			money = 1e16
		}
		require.NoError(t, r.venue.Deposit(asset.ID, money))
		r.step(&market.Event{Kind: market.KindTransfer, Asset: asset.ID, Money: money})
	}
	r.event.Kind = market.KindCandles
	ask, r.ask = r.ask, placeCrowd
	for m := range markets {
		r.move(market.ID(m+1), middle, middle)
	}
	for m := range markets { // they arrive
		r.ask = func(*strategy.Desk, *resting) {}
		r.move(market.ID(m+1), middle, middle)
	}
	require.Equal(t, markets*crowd, r.account.OpenBy(1))
	r.ask, r.candles = ask, 0
	return r
}

// placeCrowd places the orders that rest, the nearest first.
func placeCrowd(d *strategy.Desk, r *resting) {
	m := market.ID(int(r.candle[0].Market))
	for i := range market.Price(r.crowd) {
		if i%2 == 0 {
			_, _ = d.In(m).Buy(strategy.Amount(100), strategy.At(middle-100_000-i*7))
		} else {
			_, _ = d.In(m).Sell(strategy.Amount(100), strategy.At(middle+100_000+i*7))
		}
	}
}

func (r *resting) step(ev *market.Event) {
	commands := r.engine.Step(ev)
	for i := range commands {
		r.venue.Do(&commands[i])
	}
}

// move lets a candle of a market happen.
func (r *resting) move(m market.ID, low, high market.Price) {
	r.candle[0] = market.Candle{Market: m, Interval: market.Interval1m, Start: r.event.At, Open: middle, High: high,
		Low: low, Close: middle}
	r.event.Candles = r.candle[:]
	if err := r.venue.Advance(&r.event); err != nil {
		r.t.Fatal(err)
	}
	r.event.At = r.candle[0].End()
	r.step(&r.event)
}

// a candle brings ordersACandle orders.
const ordersACandle = 8

// run lets candles of the first market happen, in which the price moves by 20 and back.
func (r *resting) run(candles int) {
	for range candles {
		r.candles++
		r.move(1, middle-20, middle+20)
	}
}

// keepID notes an order for the next candle.
func (r *resting) keepID(id market.OrderID, err error) {
	if err != nil {
		r.t.Fatal(err)
	}
	r.ids = append(r.ids, id)
}

// asks are the ways in which an order lives, each with ordersACandle orders a candle.
var asks = []struct {
	name string
	ask  func(d *strategy.Desk, r *resting)
}{
	{"market", func(d *strategy.Desk, r *resting) {
		r.ids = r.ids[:0]
		for range ordersACandle {
			if r.candles%2 == 0 {
				r.keepID(d.In(1).Buy(strategy.Amount(100)))
			} else {
				r.keepID(d.In(1).Sell(strategy.Amount(100)))
			}
		}
	}},
	{"filled", func(d *strategy.Desk, r *resting) {
		r.ids = r.ids[:0]
		for i := range market.Price(ordersACandle) {
			if r.candles%2 == 0 {
				r.keepID(d.In(1).Buy(strategy.Amount(100), strategy.At(middle-10-i)))
			} else {
				r.keepID(d.In(1).Sell(strategy.Amount(100), strategy.At(middle+10+i)))
			}
		}
	}},
	{"cancelled", func(d *strategy.Desk, r *resting) {
		for _, id := range r.ids {
			if err := d.Cancel(id); err != nil {
				r.t.Fatal(err)
			}
		}
		r.ids = r.ids[:0]
		for i := range market.Price(ordersACandle) {
			r.keepID(d.In(1).Buy(strategy.Amount(100), strategy.At(middle-1000-i)))
		}
	}},
	{"far", func(d *strategy.Desk, r *resting) {
		for _, id := range r.ids {
			if err := d.Cancel(id); err != nil {
				r.t.Fatal(err)
			}
		}
		r.ids = r.ids[:0]
		for i := range market.Price(ordersACandle) {
			r.keepID(d.In(1).Buy(strategy.Amount(100), strategy.At(middle/2-i)))
		}
	}},
	{"moved", func(d *strategy.Desk, r *resting) {
		for i := len(r.ids); i < ordersACandle; i++ {
			r.keepID(d.In(1).Buy(strategy.Amount(100), strategy.At(middle-5000)))
		}
		for i, id := range r.ids {
			if err := d.Update(id, strategy.At(
				middle-1000-market.Price(i)-market.Price(r.candles%100*50))); err != nil && r.candles > 2 {
				r.t.Fatal(err)
			}
		}
	}},
}

// BenchmarkOrderAmongResting is the cost of an order, from the ask to its end, among orders that
// rest: 50, 1,000 and 20,000 in its market, and 100 in each of 200 markets. All sizes run in turn;
// figures are CPU time, the least of several tries. A metric ×N is the ratio to 50.
func BenchmarkOrderAmongResting(b *testing.B) {
	sizes := []struct {
		name           string
		markets, crowd int
	}{{"50", 1, 50}, {"1000", 1, 1000}, {"20000", 1, 20_000}, {"200x100", 200, 100}}
	const candles = 500
	for _, how := range asks {
		b.Run(how.name, func(b *testing.B) {
			var rigs []*resting
			for _, size := range sizes {
				r := newResting(b, size.markets, size.crowd, how.ask)
				r.run(candles)
				rigs = append(rigs, r)
			}
			least := make([]float64, len(sizes))
			rounds := 0
			for b.Loop() {
				for range 20 {
					for i, r := range rigs {
						began := userTime(b)
						r.run(candles)
						if took := float64(userTime(b) - began); rounds == 0 || took < least[i] {
							least[i] = took
						}
					}
					rounds++
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(least[0]/candles/ordersACandle, "ns/order")
			for i, size := range sizes[1:] {
				b.ReportMetric(least[i+1]/least[0], "×"+size.name)
			}
		})
	}
}

// BenchmarkSaveAmongResting is the cost of a save after one order has changed, among 50, 400 and
// 20,000 orders that rest. All sizes run in turn; figures are CPU time, the least of several tries.
// A metric ×N is the ratio to 50.
func BenchmarkSaveAmongResting(b *testing.B) {
	sizes, saves := []int{50, 400, 20_000}, 20
	discard := func(string, []byte) error { return nil }
	var rigs []*resting
	for _, size := range sizes {
		r := newResting(b, 1, size, func(*strategy.Desk, *resting) {})
		require.NoError(b, r.engine.Save(discard))
		rigs = append(rigs, r)
	}
	least := make([]float64, len(sizes))
	for rounds := 0; b.Loop(); rounds++ {
		for i, r := range rigs {
			began := userTime(b)
			own := r.account.Own(market.OrderID(1 + rounds%50))
			for n := range saves {
				r.account.WantCancel(own, n%2 == 0)
				require.NoError(b, r.engine.Save(discard))
			}
			if took := float64(userTime(b) - began); rounds == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(least[0]/float64(saves), "ns/save")
	for i, size := range sizes[1:] {
		b.ReportMetric(least[i+1]/least[0], fmt.Sprint("×", size))
	}
}

// userTime is the CPU time of the process in nanoseconds.
func userTime(tb testing.TB) int64 {
	var usage syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}
