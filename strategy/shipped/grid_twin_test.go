package shipped_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/market/synthetic"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// naive is the grid without memory: at each close it reckons each rung and looks each order up.
type naive struct {
	strategy.Base
	spacing, recentre market.Rate
	money             strategy.Size
	centre            map[market.ID]market.Price
	buys, sells       map[market.ID][]market.OrderID
}

var naiveKind = strategy.Define("grid", "", func(shipped.GridParams) strategy.Needs { return strategy.Needs{} },
	func(p shipped.GridParams, s strategy.Setup) (strategy.Strategy, error) {
		n := &naive{money: p.Money, centre: map[market.ID]market.Price{}, buys: map[market.ID][]market.OrderID{},
			sells: map[market.ID][]market.OrderID{}}
		n.spacing, n.recentre = p.Spacing, p.Recentre
		for _, m := range s.Markets {
			n.buys[m.ID], n.sells[m.ID] = make([]market.OrderID, p.Levels), make([]market.OrderID, p.Levels)
		}
		return n, nil
	})

func (n *naive) OnCandle(d *strategy.Desk, c market.Candle) {
	centre := n.centre[c.Market]
	away := c.Close - centre
	if centre == 0 || max(away, -away) > centre.Part(n.recentre) {
		n.centre[c.Market] = c.Close
	}
	sides := []func(*strategy.Desk, *market.Candle){n.keepBuys, n.keepSells}
	if away > 0 {
		sides[0], sides[1] = sides[1], sides[0]
	}
	sides[0](d, &c)
	sides[1](d, &c)
}

func (n *naive) moneyIn(m *market.Market) market.Money {
	money, err := n.money.MoneyIn(m)
	if err != nil {
		panic(err)
	}
	return money
}

func (n *naive) keepBuys(d *strategy.Desk, c *market.Candle) {
	m := d.In(c.Market).Market()
	money, buys := n.moneyIn(&m), n.buys[c.Market]
	for k := range buys {
		distance := n.spacing * market.Rate(k+1)
		price := m.RoundPrice(market.Buy, n.centre[c.Market].Below(distance))
		if o, open := d.Order(buys[k]); open {
			naiveMove(d, &o, price)
			continue
		}
		amount := m.Tradable(m.AmountFor(m.MoneyValue(money), price), price)
		if amount == 0 || price >= c.Close || d.In(c.Market).Cash() < money {
			continue
		}
		buys[k], _ = d.In(c.Market).Buy(strategy.Amount(amount), strategy.At(price), strategy.PostOnly(),
			strategy.Tag("rung below"))
	}
}

func (n *naive) keepSells(d *strategy.Desk, c *market.Candle) {
	m, free := d.In(c.Market).Market(), d.In(c.Market).Position().Amount
	for _, o := range d.In(c.Market).OpenOrders() {
		if o.Side == market.Sell {
			free -= o.AmountRemaining
		}
	}
	money, sells := n.moneyIn(&m), n.sells[c.Market]
	for k := range sells {
		distance := n.spacing * market.Rate(k+1)
		price := m.RoundPrice(market.Sell, n.centre[c.Market].Above(distance))
		if o, open := d.Order(sells[k]); open {
			naiveMove(d, &o, price)
			continue
		}
		amount := m.Tradable(min(free, m.AmountFor(m.MoneyValue(money), price)), price)
		if amount == 0 || price <= c.Close {
			continue
		}
		sells[k], _ = d.In(c.Market).Sell(strategy.Amount(amount), strategy.At(price), strategy.PostOnly(),
			strategy.Tag("rung above"))
		if sells[k] != 0 {
			free -= amount
		}
	}
}

func naiveMove(d *strategy.Desk, o *market.Order, price market.Price) {
	if o.Status != 0 && o.Price != price {
		_ = d.Update(o.ID, strategy.At(price))
	}
}

// spender is a second strategy: it takes and gives back the cash that both share.
type spender struct {
	strategy.Base
	r *rand.Rand
}

func (s *spender) OnCandle(d *strategy.Desk, c market.Candle) {
	switch s.r.IntN(20) {
	case 0:
		_, _ = d.In(c.Market).Buy(strategy.CashShare(market.Whole / 2))
	case 1:
		_, _ = d.In(c.Market).Buy(strategy.CashShare(market.Whole/3), strategy.At(c.Close*99/100))
	case 2:
		_ = d.In(c.Market).CancelAll()
		_, _ = d.In(c.Market).Target(strategy.Amount(0))
	}
}

// listener writes down what the gate lets pass and what follows.
type listener struct{ lines []string }

func (l *listener) Approved(_ state.Terms, c *market.Command, _ []state.Figure) {
	l.lines = append(l.lines, fmt.Sprintf("%d %d %+v", c.At, c.Kind, c.Order))
}

func (l *listener) Filled(o *state.Order, f *market.Fill) {
	l.lines = append(l.lines, fmt.Sprintf("fill %d %+v", o.ID, *f))
}

func (l *listener) Closed(o *state.Order) {
	l.lines = append(l.lines, fmt.Sprintf("closed %+v", o.Order))
}

func (l *listener) Ended(*state.Account) {}

// series is a source of candles in memory.
type series struct{ candles []market.Candle }

func (s *series) Next() ([]market.Candle, error) {
	if len(s.candles) == 0 {
		return nil, io.EOF
	}
	batch := s.candles
	s.candles = nil
	return batch, nil
}

func (s *series) Close() error { return nil }

// randomPlan is a backtest of a kind of grid, the same for the same seed.
func randomPlan(t *testing.T, kind strategy.Definition, seed uint64) *backtest.Plan {
	r := rand.New(rand.NewPCG(seed, 1))
	var catalog market.Catalog
	eur := asset(t, &catalog, "EUR", 2)
	p := &backtest.Plan{Catalog: &catalog, Currency: eur, OneByOne: r.IntN(4) == 0,
		Deposits: []backtest.Deposit{{Asset: eur.ID, Money: market.Money(20_000 + r.Int64N(2_000_000))}},
		Fees:     backtest.Fees{Maker: 150_000, Taker: 250_000}}
	p.Venue = sim.Config{Path: sim.Path(r.IntN(5)), LimitFill: sim.LimitFill(r.IntN(2)),
		HalfSpread: market.Rate(r.IntN(3) * 10_000), PlacementLimit: market.Rate(r.IntN(2) * 5_000_000),
		Latency: market.Duration(r.IntN(3) * 45e9), VolumeShare: market.Rate(r.IntN(2) * 1_000_000)}
	limits := risk.Limits{MaxOpenOrders: r.IntN(3) * 7, OrdersPerMinute: r.IntN(2) * 4, MaxInFlight: r.IntN(2) * 3,
		MaxPosition: market.Money(r.IntN(2) * 30_000)}
	levels := 1 + r.Int64N(12)
	if r.IntN(3) == 0 {
		levels = 1 + r.Int64N(50)
	}
	g := backtest.StrategyPlan{Name: "grid", Kind: kind, Interval: market.Interval1m, Limits: limits,
		Values: map[string]any{"levels": levels, "spacing_bps": fmt.Sprint(3 + r.IntN(40)),
			"recentre_bps": fmt.Sprint(5 + r.IntN(200)), "money": fmt.Sprint(5 + r.IntN(120))}}
	all := map[*market.Market][]market.Candle{}
	for i := range 1 + r.IntN(2) {
		asset(t, &catalog, fmt.Sprint("A", i), 4+uint8(r.IntN(5)))
		m := &market.Market{Name: fmt.Sprintf("A%d-EUR", i), PriceDigits: uint8(1 + r.IntN(3)), VolumeDigits: 4}
		require.NoError(t, catalog.AddMarket(m))
		m.Rules = market.Rules{TickSize: market.Price(1 + r.IntN(3)), QuantityDecimals: uint8(3 + r.IntN(2)),
			NotionalDecimals: 2, MinOrderInQuote: market.Money(r.IntN(2) * 500), MaxOpenOrders: r.IntN(2) * 9}
		g.Markets = append(g.Markets, m)
		all[m] = candles(t, m, seed+uint64(i))
		p.Feeds = append(p.Feeds, backtest.Feed{Market: m, Interval: market.Interval1m, Drive: true, Deliver: true})
	}
	p.Strategies = append(p.Strategies, g)
	if r.IntN(2) == 0 {
		p.Strategies = append(p.Strategies, backtest.StrategyPlan{Name: "spender", Interval: market.Interval1m,
			Markets: g.Markets, Kind: strategy.Define("spender", "",
				func(struct{}) strategy.Needs { return strategy.Needs{} },
				func(struct{}, strategy.Setup) (strategy.Strategy, error) {
					return &spender{r: rand.New(rand.NewPCG(seed, 2))}, nil
				})})
	}
	if r.IntN(3) == 0 {
		p.From = all[g.Markets[0]][100].Start
	}
	p.Open = func(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
		return &series{candles: all[f.Market]}, nil
	}
	return p
}

func asset(t *testing.T, c *market.Catalog, symbol string, digits uint8) *market.Asset {
	a, err := c.AddAsset(symbol, digits)
	require.NoError(t, err)
	return a
}

func candles(t *testing.T, m *market.Market, seed uint64) []market.Candle {
	g, err := synthetic.New(synthetic.Config{Seed: seed, Market: m, Interval: market.Interval1m,
		Start: 1640995200_000_000_000, First: market.Price(100 * market.Pow10(m.PriceDigits)), Volume: 50_0000,
		DailyVolatility: 0.1})
	require.NoError(t, err)
	all := make([]market.Candle, 1500)
	for i := range all {
		g.Next(&all[i])
	}
	return all
}

func TestTheGridAsksWhatItsNaiveTwinAsks(t *testing.T) {
	fills := 0
	for seed := range uint64(40) {
		want, have := listener{}, listener{}
		naively := play(t, naiveKind, seed, &want)
		result := play(t, shipped.Grid, seed, &have)
		for i := range min(len(want.lines), len(have.lines)) {
			require.Equal(t, want.lines[i], have.lines[i], "seed %d, line %d", seed, i)
		}
		require.Equal(t, len(want.lines), len(have.lines), "seed %d", seed)
		require.Equal(t, string(naively), string(result), "seed %d", seed)
		fills += len(have.lines)
	}
	require.Greater(t, fills, 5_000)
}

func play(t *testing.T, kind strategy.Definition, seed uint64, l *listener) []byte {
	result, err := backtest.Run(context.Background(), randomPlan(t, kind, seed), backtest.Options{Observer: l})
	require.NoError(t, err, "seed %d", seed)
	text, err := result.JSON()
	require.NoError(t, err)
	return text
}
