package rows

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// BenchmarkGrowth measures how the cost of a backtest, and of the candle store, grows with each
// amount that a user can choose, and prints two tables:
//
//	go test -run '^$' -bench Growth -benchtime 1x .
//
// The first has the cost of a unit at one, two, four and eight times an amount of work, and the
// exponent of the cost: the slope of log cost over log work, by least squares. The cost of the
// least work (one candle, market, strategy, order) is subtracted first, so that a fixed cost does
// not make the exponent look small. Each run gets its memory from the operating system, as a
// command does: otherwise a small run would use memory that a large one left, and cost less. The
// second compares the cost of a unit among few and among many. Figures are CPU time, the least of
// several tries in turn. With -short the amounts are tiny: to see that it works.
func BenchmarkGrowth(b *testing.B) {
	for b.Loop() {
		g := &growth{table: &table{b: b, rounds: 5}, scale: 1}
		if testing.Short() {
			g.rounds, g.scale = 1, 50
		}
		g.text.WriteString(machine())
		g.header("what grows", "1×", "2×", "4×", "8×", "exponent", "goal")
		candles := g.candles(bitcoin(), million/g.scale)
		g.scan = g.least(func() { kept += scan(candles) })[0] / float64(len(candles))
		g.backtests()
		g.answers()
		stores := g.stores()
		g.text.WriteByte('\n')
		g.line("what", "floor", "ours", "ratio", "goal")
		g.crowds()
		g.opens()
		g.brackets()
		g.levels()
		g.feeds()
		g.disk(stores)
		fmt.Println(g.text.String())
	}
}

// growth is the table of BenchmarkGrowth.
type growth struct {
	*table
	scale int     // divides the amounts
	scan  float64 // ns a candle: the floor of most rows
}

func (g *growth) header(cells ...string) {
	fmt.Fprintf(&g.text, "\n| %-74s | %-8s | %-8s | %-8s | %-8s | %-8s | %-12s |", cells[0], cells[1], cells[2],
		cells[3],
		cells[4], cells[5], cells[6])
}

// most is the largest exponent of a cost that should be linear.
const most = 1.1

// grows measures work of 1 and of 1, 2, 4 and 8 times base units more, and prints the cost of a
// unit at each and the exponent. make prepares what is measured.
func (g *growth) grows(what string, base int, make func(n int) func()) {
	works := []func(){make(1)}
	for size := 1; size <= 8; size *= 2 {
		works = append(works, make(1+size*base))
	}
	g.fresh = true
	took := g.least(works...)
	g.fresh = false
	units := [4]float64{float64(base), 2 * float64(base), 4 * float64(base), 8 * float64(base)}
	var costs [4]float64
	for i := range costs {
		costs[i] = took[1+i] - took[0]
	}
	g.curve(fmt.Sprintf("%s (1×: %d)", what, base), units, costs)
}

// curve prints a row of costs in ns, by units of work.
func (g *growth) curve(what string, units, costs [4]float64) {
	slope := exponent(units[:], costs[:])
	cells := []string{what}
	for i := range costs {
		cells = append(cells, readable(costs[i]/units[i]))
	}
	goal := fmt.Sprintf("≤ %g", most)
	if !(slope <= most) { // a cost below that of the least work has no logarithm
		goal += " missed"
	}
	g.header(append(cells, fmt.Sprintf("%.2f", slope), goal)...)
}

// readable is a time of so many ns.
func readable(ns float64) string {
	switch {
	case math.Abs(ns) < 1e4:
		return fmt.Sprintf("%.4g ns", ns)
	case math.Abs(ns) < 1e7:
		return fmt.Sprintf("%.4g µs", ns/1e3)
	}
	return fmt.Sprintf("%.4g ms", ns/1e6)
}

// exponent is the slope of log cost over log work, by least squares.
func exponent(work, cost []float64) float64 {
	var n, x, y, xx, xy float64
	for i := range work {
		u, v := math.Log(work[i]), math.Log(cost[i])
		n, x, y, xx, xy = n+1, x+u, y+v, xx+u*u, xy+u*v
	}
	return (n*xy - x*y) / (n*xx - x*x)
}

// backtests are the rows that run in memory.
func (g *growth) backtests() {
	base := million / 2 / g.scale
	m := bitcoin()
	m.ID = 1
	all := g.candles(m, 1+8*base)
	g.grows("candles (smacross); a candle", base, func(n int) func() {
		p, _ := g.plan(1, 1, shipped.SMACross)
		p.Open = func(backtest.Feed, market.Time, market.Time) (backtest.Source, error) { return &memory{all[:n]}, nil }
		return func() { g.run(p) }
	})
	const each = 40_000
	g.grows("markets of 40 k candles, idle strategy; a market", 5, func(n int) func() {
		p := g.many(n, each/g.scale, idle())
		return func() { g.run(p) }
	})
	g.grows("strategies (smacross) over 200 k candles; a strategy", 5, func(n int) func() {
		p, _ := g.plan(5*each/g.scale, 1, shipped.SMACross)
		for range n - 1 {
			p.Strategies = append(p.Strategies, p.Strategies[0])
		}
		return func() { g.run(p) }
	})
	g.orders()
}

// orders are the rows of orders, among them those of the shipped grid.
func (g *growth) orders() {
	g.grows("orders placed in four markets, all rest; an order", 10_000/g.scale, func(n int) func() {
		p := stocked(g.many(4, 4, define("crowd", func() strategy.Strategy {
			return &crowd{b: g.b, orders: (n + 3) / 4}
		})))
		return func() { g.run(p) }
	})
	g.grows("levels of the shipped grid, 40 k candles; a level", 6, func(n int) func() {
		p := g.grid(40_000/g.scale, n)
		return func() { g.run(p) }
	})
	g.grows("orders with their fills and records; an order", 25_000/g.scale, func(n int) func() {
		p, _ := g.plan(n, million*100, flip(1))
		return func() { g.run(p) }
	})
	g.grows("orders with their fills, records and files; an order", 5000/g.scale, func(n int) func() {
		p, _ := g.plan(n, million*100, flip(1))
		out := filepath.Join(g.b.TempDir(), "out")
		return func() {
			_, err := backtest.Run(g.b.Context(), p, backtest.Options{Out: out})
			require.NoError(g.b, err)
		}
	})
}

// crowds are the rows of an order among few and among many.
func (g *growth) crowds() {
	orders, markets := 20_000/g.scale, max(2, 200/g.scale)
	took := g.inside(g.among(1, 50, 1), g.among(1, orders, 1), g.among(markets, 100, 1))
	g.compare(fmt.Sprintf("order among %d resting ones of its market", orders), "among 50", took[0], took[1], "ns", 1.5)
	g.compare(fmt.Sprintf("order in one of %d markets with 100 resting ones each", markets), "among 50", took[0],
		took[2], "ns", 1.5)
	took = g.inside(g.among(markets, 0, 0), g.among(markets, 100, 0), g.elsewhere(50), g.elsewhere(orders))
	g.compare(fmt.Sprintf("orders in %d markets in turn, 100 resting ones in each", markets), "none in each", took[0],
		took[1], "ns", 1.5)
	g.compare(fmt.Sprintf("open orders of an empty market, %d elsewhere", orders), "50 elsewhere", took[2], took[3],
		"ns", 1.5)
}

// scene is a run of a crowd.
type scene struct {
	crowd
	markets, candles int
}

// among is a scene in which so many orders rest in each market. A call is a market order, and one
// that rests until the next candle. They go to one market, or in turn to all where in is 0.
func (g *growth) among(markets, orders int, in market.ID) *scene {
	candles := 2000
	if in == 0 {
		candles = 20_000 / markets
	}
	return &scene{markets: markets, candles: 2 + candles/g.scale, crowd: crowd{b: g.b, orders: orders, in: in,
		each: func(c *crowd, d *strategy.Desk, k *market.Candle, i int) {
			if i%2 == 0 {
				_, _ = d.In(k.Market).Buy(strategy.Amount(1_000_000))
			} else {
				_, _ = d.In(k.Market).Sell(strategy.Amount(1_000_000))
			}
			_ = d.Cancel(c.resting[k.Market][i])
			c.resting[k.Market][i], _ = d.In(k.Market).Buy(strategy.Amount(1_000_000), strategy.At(k.Close*9/10))
		}}}
}

// elsewhere is a scene in which so many orders rest in one market. A call is Desk.OpenOrders in
// another.
func (g *growth) elsewhere(orders int) *scene {
	return &scene{markets: 2, candles: 2 + 2000/g.scale, crowd: crowd{b: g.b, orders: orders, only: 1, in: 1,
		each: func(_ *crowd, d *strategy.Desk, _ *market.Candle, _ int) { kept += int64(len(d.In(2).OpenOrders())) }}}
}

// inside plays scenes in turn and returns the least CPU time of a call of each.
func (g *growth) inside(scenes ...*scene) []float64 {
	best := make([]float64, len(scenes))
	for round := range g.rounds {
		for i, s := range scenes {
			if took := g.play(s); round == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best
}

// play runs a scene once. Markets without calls have two candles.
func (g *growth) play(s *scene) float64 {
	c := s.crowd
	p := stocked(g.many(s.markets, s.candles, define("crowd", func() strategy.Strategy { return &c })))
	open := p.Open
	p.Open = func(f backtest.Feed, from, to market.Time) (backtest.Source, error) {
		source, err := open(f, from, to)
		if c.in != 0 && f.Market.ID != c.in {
			source = &memory{source.(*memory).candles[:2]}
		}
		return source, err
	}
	runtime.GC()
	g.run(p)
	return float64(c.took) / float64(c.calls)
}

// levels compares grids of 50 and of five levels while their centre stands. The price stays within
// the nearest five, so that both trade alike.
func (g *growth) levels() {
	n := 100_000 / g.scale
	few, many := g.grid(n, 5), g.grid(n, 50)
	took := g.least(func() { g.run(few) }, func() { g.run(many) })
	g.compare("shipped grid of 50 levels, a candle", "5 levels", took[0]/float64(n), took[1]/float64(n), "ns", 1.2)
	require.InDelta(g.b, g.run(few).Orders.Fills, g.run(many).Orders.Fills, 1)

	n = 200_000 / g.scale
	p, candles := g.plan(n, million*100, shipped.Maker)
	p.SyntheticBook, p.Venue.HalfSpread = true, 10_000
	took = g.least(func() { kept += scan(candles) }, func() { g.run(p) })
	require.NotZero(g.b, g.run(p).Orders.Orders)
	g.atMost("shipped maker on made-up books, a candle", "scan", took[0]/float64(n), took[1]/float64(n), "ns", 1500)
}

// feeds measures tickers of a path, and the merge of many feeds.
func (g *growth) feeds() {
	n := million / 2 / g.scale
	p, candles := g.plan(n, million, tickers())
	took := g.least(func() { kept += scan(candles) }, func() { g.run(p) })
	g.atMost("ticker, four a candle, candle included", "scan", took[0]/float64(n), took[1]/4/float64(n), "ns", 40)
	const markets = 50
	n = 20_000 / g.scale
	one, merged := g.many(1, n*markets, idle()), g.many(markets, n, idle())
	took = g.least(func() { g.run(one) }, func() { g.run(merged) })
	g.atMost("candle of one of 50 feeds, idle strategy", "one feed", took[0]/float64(markets*n),
		took[1]/float64(markets*n), "ns", 25)
}

// atMost prints a row whose goal is an absolute figure.
func (t *table) atMost(what, floorName string, floor, ours float64, unit string, goal float64) {
	mark := ""
	if ours > goal {
		mark = " missed"
	}
	t.line(what, fmt.Sprintf("%s %.4g %s", floorName, floor, unit), fmt.Sprintf("%.4g %s", ours, unit),
		fmt.Sprintf("%.4g×", ours/floor), fmt.Sprintf("≤ %g %s%s", goal, unit, mark))
}

// many is a backtest of one strategy in so many markets, each with n candles in memory.
func (t *table) many(markets, n int, kind strategy.Definition) *backtest.Plan {
	p, candles := t.plan(n, million*100_000, kind)
	series := [][]market.Candle{nil, candles}
	for i := 2; i <= markets; i++ {
		asset, err := p.Catalog.AddAsset(fmt.Sprint("A", i), 8)
		require.NoError(t.b, err)
		m := bitcoin()
		m.Name = asset.Symbol + "-EUR"
		require.NoError(t.b, p.Catalog.AddMarket(m))
		p.Feeds = append(p.Feeds, backtest.Feed{Market: m, Interval: market.Interval1m, Drive: true, Deliver: true})
		own := append([]market.Candle(nil), candles...)
		for j := range own {
			own[j].Market = m.ID
		}
		series = append(series, own)
	}
	p.Strategies[0].Markets = p.Catalog.Markets()
	p.Open = func(f backtest.Feed, _, _ market.Time) (backtest.Source, error) {
		return &memory{series[f.Market.ID]},
			nil
	}
	return p
}

// stocked gives the account of a plan the base of each market.
func stocked(p *backtest.Plan) *backtest.Plan {
	for _, m := range p.Catalog.Markets() {
		p.Deposits = append(p.Deposits, backtest.Deposit{Asset: m.Base, Money: million * million})
	}
	return p
}

// grid is a backtest of the shipped grid over candles that swing by less than half a per cent.
func (t *table) grid(n, levels int) *backtest.Plan {
	p, candles := t.plan(n, million*100, shipped.Grid)
	const middle, reach = 20000_00, 90_00
	for i := range candles {
		c := &candles[i]
		at := market.Price((i*7+reach/100)%(4*reach/100)) * 100 // up, and down again
		if at > 2*reach {
			at = 4*reach - at
		}
		c.Open, c.Close = middle-reach+at, middle-reach+at
		c.High, c.Low = c.Open+5_00, c.Open-5_00
	}
	p.Strategies[0].Values = map[string]any{"levels": int64(levels), "spacing_bps": "10", "recentre_bps": "5000",
		"money": "50"}
	return p
}

// idle is a strategy that does nothing, and does not say so.
func idle() strategy.Definition {
	return define("idle", func() strategy.Strategy { return strategy.Base{} })
}

// tickers is a strategy that gets tickers and does nothing with them.
func tickers() strategy.Definition {
	return strategy.Define("tickers", "for a benchmark",
		func(struct{}) strategy.Needs { return strategy.Needs{Ticker: true} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return strategy.Base{}, nil })
}

// calls is how often a crowd acts on a candle.
const calls = 8

// crowd places orders at the first candle of each market, half of them far below and half far
// above. It measures the CPU time of all later candles, on which it acts.
type crowd struct {
	strategy.Base
	b       *testing.B
	orders  int       // in each market
	only    market.ID // the only market with orders; 0: all have them
	in      market.ID // the only market where it acts; 0: it acts in all
	each    func(c *crowd, d *strategy.Desk, k *market.Candle, call int)
	placed  [256]bool // by market
	resting [256][calls]market.OrderID
	began   time.Duration
	took    time.Duration
	calls   int64
}

func (c *crowd) OnCandle(d *strategy.Desk, k market.Candle) {
	if !c.placed[k.Market] {
		c.placed[k.Market] = true
		if c.only == 0 || c.only == k.Market {
			c.place(d, &k)
		}
		return
	}
	if c.in != 0 && c.in != k.Market || c.each == nil {
		return
	}
	if c.began == 0 {
		c.began = cpuTime(c.b, syscall.RUSAGE_SELF)
	}
	for i := range calls {
		c.each(c, d, &k, i)
		c.calls++
	}
}

func (c *crowd) place(d *strategy.Desk, k *market.Candle) {
	for i := range c.orders {
		side, price := market.Buy, k.Close/2+market.Price(i)
		if i%2 == 0 {
			side, price = market.Sell, 2*k.Close-market.Price(i)
		}
		if _, err := d.In(k.Market).Place(side, strategy.Amount(1_000_000), strategy.At(price)); err != nil {
			c.b.Fatal(err) // require would cost as much as the order
		}
	}
}

// brackets measures what it costs to place many brackets of which none ends.
func (g *growth) brackets() {
	place := func(n int) func() {
		p, _ := g.plan(2+(n+7)/8, million*million, define("fan", func() strategy.Strategy { return &fan{left: n} }))
		return func() { g.run(p) }
	}
	few, many := max(8, 2000/g.scale), max(8, 16_000/g.scale)
	took := g.least(place(few), place(many))
	g.atMost(fmt.Sprintf("bracket of %d, placed eight a candle", many), fmt.Sprintf("of %d", few),
		took[0]/float64(few)/1000, took[1]/float64(many)/1000, "µs", 20)
}

// fan buys eight times a candle, with exits far away.
type fan struct {
	strategy.Base
	left int
}

func (f *fan) OnCandle(d *strategy.Desk, k market.Candle) {
	for range min(f.left, 8) {
		f.left--
		_, _ = d.In(k.Market).Buy(strategy.Amount(1_000_000), strategy.Exits(k.Close/4, k.Close*4))
	}
}

// OnStop ends the measurement.
func (c *crowd) OnStop(*strategy.Desk) { c.took = cpuTime(c.b, syscall.RUSAGE_SELF) - c.began }
