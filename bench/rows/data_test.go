package rows

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// What BenchmarkTable runs on: made-up candles and strategies that do nothing but place orders.

// benchStart is when made-up candles begin: 2001. Ten million minutes later is still the past, and
// an import refuses the future.
const benchStart = market.Time(978307200_000_000_000)

// csv writes n seeded candles and returns the file.
func (t *table) csv(dir string, n int) string {
	path := filepath.Join(dir, fmt.Sprint(n, ".csv"))
	file, err := os.Create(path)
	require.NoError(t.b, err)
	w := bufio.NewWriterSize(file, 1<<20)
	m, row := bitcoin(), []byte(nil)
	for _, c := range t.candles(m, n) {
		row = strconv.AppendInt(row[:0], c.Start.Millis(), 10)
		for _, price := range [...]market.Price{c.Open, c.High, c.Low, c.Close} {
			row = market.AppendFixedPadded(append(row, ','), int64(price), m.PriceDigits)
		}
		row = market.AppendFixedPadded(append(row, ','), int64(c.Volume), m.VolumeDigits)
		_, err := w.Write(append(row, '\n'))
		require.NoError(t.b, err)
	}
	require.NoError(t.b, w.Flush())
	require.NoError(t.b, file.Close())
	return path
}

// bitcoin is the market of all measurements.
func bitcoin() *market.Market {
	return &market.Market{Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 4,
		Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2, TickSize: 1}}
}

func (t *table) candles(m *market.Market, n int) []market.Candle {
	g, err := synthetic.New(synthetic.Config{Seed: 1, Market: m, Interval: market.Interval1m,
		Start: benchStart, First: 20000_00, Volume: 5_0000, GapChance: -1})
	require.NoError(t.b, err)
	candles := make([]market.Candle, n)
	for i := range candles {
		g.Next(&candles[i])
	}
	return candles
}

// plan is a backtest over n candles in memory with so many cents of cash.
func (t *table) plan(n int, cash market.Money, kind strategy.Definition) (*backtest.Plan, []market.Candle) {
	var catalog market.Catalog
	_, err := catalog.AddAsset("BTC", 8)
	require.NoError(t.b, err)
	eur, err := catalog.AddAsset("EUR", 2)
	require.NoError(t.b, err)
	m := bitcoin()
	require.NoError(t.b, catalog.AddMarket(m))
	candles := t.candles(m, n)
	return &backtest.Plan{
		Catalog: &catalog, Currency: eur, Deposits: []backtest.Deposit{{Asset: eur.ID, Money: cash}},
		Strategies: []backtest.StrategyPlan{{Name: "bench", Kind: kind, Markets: []*market.Market{m},
			Interval: market.Interval1m}},
		Feeds: []backtest.Feed{{Market: m, Interval: market.Interval1m, Drive: true, Deliver: true}},
		Open: func(backtest.Feed, market.Time, market.Time) (backtest.Source, error) {
			return &memory{candles}, nil
		},
		Fees: backtest.Fees{Maker: 150_000, Taker: 250_000},
	}, candles
}

// trade joins an engine and a venue without anything around them and runs a flipper over the
// candles.
func (t *table) trade(candles []market.Candle, orders int) {
	p, _ := t.plan(1, 0, flip(orders))
	m, fees := p.Catalog.Market(1), func(*market.Market) exchange.Fees { return exchange.Fees(p.Fees) }
	account := state.NewAccount(p.Catalog, 1, nil)
	e := engine.New(engine.Config{
		Catalog: p.Catalog, Account: account, Gate: risk.New(p.Catalog,
			risk.Config{Strategies: make([]risk.Limits, 1), Fees: fees}),
		Slots: []engine.StrategyConfig{{Strategy: &flipper{orders: orders}, Markets: []market.ID{m.ID},
			Intervals: []market.Interval{market.Interval1m}}},
	})
	var venue *sim.Venue
	step := func(ev *market.Event) {
		commands := e.Step(ev)
		for i := range commands {
			venue.Do(&commands[i])
		}
	}
	venue = sim.New(p.Catalog, sim.Config{Fees: fees, Watches: e.Watches()}, step)
	require.NoError(t.b, venue.Deposit(m.Quote, million*100))
	step(&market.Event{Kind: market.KindTransfer, Asset: m.Quote, Money: million * 100})
	ev := market.Event{Kind: market.KindCandles}
	for i := range candles {
		ev.Candles = candles[i : i+1]
		if err := venue.Advance(&ev); err != nil {
			t.b.Fatal(err) // require would cost as much as half an order
		}
		ev.At = candles[i].End()
		step(&ev)
	}
	require.NoError(t.b, e.Err())
	kept += int64(account.Total(m.Quote).Total)
}

// engine returns an engine with one strategy and no money: it sees every candle and asks for
// nothing.
func (t *table) engine(kind strategy.Definition) *engine.Engine {
	p, _ := t.plan(1, 0, kind)
	s, err := kind.New(nil, strategy.Setup{Markets: p.Catalog.Markets(), Interval: market.Interval1m})
	require.NoError(t.b, err)
	return engine.New(engine.Config{
		Catalog: p.Catalog, Account: state.NewAccount(p.Catalog, 1, nil), Gate: risk.New(p.Catalog,
			risk.Config{Strategies: make([]risk.Limits, 1)}),
		Slots: []engine.StrategyConfig{{Strategy: s, Markets: []market.ID{1},
			Intervals: []market.Interval{market.Interval1m}}},
	})
}

// stepQuiet steps a batch of candles, as a backtest does where nothing happens.
func (t *table) coast(e *engine.Engine, batch []market.Candle) {
	for len(batch) > 0 {
		n, _ := e.StepQuiet(batch, market.Time(market.Interval1m.Fixed()), 0, engine.Quiet{High: math.MaxInt64})
		if n == 0 {
			t.b.Fatal("an engine did not coast")
		}
		batch = batch[n:]
	}
}

// memory is a backtest.Source over candles in memory, in batches of 128: half as large as those of
// the store.
type memory struct {
	candles []market.Candle
}

func (s *memory) Next() ([]market.Candle, error) {
	if len(s.candles) == 0 {
		return nil, io.EOF
	}
	batch := s.candles[:min(128, len(s.candles))]
	s.candles = s.candles[len(batch):]
	return batch, nil
}

func (s *memory) Close() error { return nil }

// flipper buys and sells in turn at every candle, without looking at it: nothing but the orders'
// round trips.
type flipper struct {
	strategy.Base
	orders int // a candle
	long   bool
}

func (f *flipper) OnCandle(d *strategy.Desk, c market.Candle) {
	f.long = !f.long
	for range f.orders {
		if f.long {
			_, _ = d.In(c.Market).Buy(strategy.Amount(1_000_000))
		} else {
			_, _ = d.In(c.Market).Sell(strategy.Amount(1_000_000))
		}
	}
}

func flip(orders int) strategy.Definition {
	return define("flip", func() strategy.Strategy { return &flipper{orders: orders} })
}

// ladderer places orders far below at the first candle and leaves them.
type ladderer struct {
	strategy.Base
	orders int
}

func (l *ladderer) OnCandle(d *strategy.Desk, c market.Candle) {
	for ; l.orders > 0; l.orders-- {
		_, _ = d.In(c.Market).Buy(strategy.Amount(1_000_000), strategy.At(c.Close/10+market.Price(l.orders)))
	}
}

func ladder(n int) strategy.Definition {
	return define("ladder", func() strategy.Strategy { return &ladderer{orders: n} })
}

// plain is smacross as a user writes it: an OnCandle, without Skip. A wrapper that hides the Skip
// of smacross would copy each candle once more.
var plain = strategy.Define("plain", "smacross without Skip",
	func(p shipped.SMACrossParams) strategy.Needs { return strategy.Needs{Warmup: p.Slow + 1} },
	func(p shipped.SMACrossParams, s strategy.Setup) (strategy.Strategy, error) {
		made := func(market.Market) indicator.Cross { return indicator.NewCross(p.Fast, p.Slow) }
		return &plainCross{share: p.Share, cross: strategy.Each(s, made)}, nil
	})

type plainCross struct {
	strategy.Base
	share market.Rate
	cross strategy.PerMarket[indicator.Cross]
}

func (x *plainCross) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	switch x.cross.In(c.Market).Push(c.Close) {
	case indicator.Up:
		if m.Position().Amount == 0 && len(m.OpenOrders()) == 0 && m.Cash() > 0 {
			_, _ = m.Buy(strategy.CashShare(x.share))
		}
	case indicator.Down:
		if held := m.Position().Amount; held > 0 && len(m.OpenOrders()) == 0 {
			_, _ = m.Sell(strategy.Amount(held))
		}
	}
}

// guarded buys once, with a stop and a target that no price reaches.
type guarded struct {
	strategy.Base
	asked bool
}

func (g *guarded) OnCandle(d *strategy.Desk, c market.Candle) {
	if !g.asked {
		_, err := d.In(c.Market).Buy(strategy.Amount(1_000_000), strategy.StopAt(c.Close/100),
			strategy.TargetAt(c.Close*100))
		g.asked = err == nil
	}
}

var protected = define("guarded", func() strategy.Strategy { return &guarded{} })

func define(name string, build func() strategy.Strategy) strategy.Definition {
	return strategy.Define(name, "for a benchmark", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return build(), nil })
}
