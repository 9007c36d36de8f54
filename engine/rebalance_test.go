package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// percents are weights in percent of the markets 1, 2 and 3; -1 leaves a market out.
func percents(shares ...market.Rate) (p strategy.Portfolio) {
	for i, share := range shares {
		if share >= 0 {
			p.Weights = append(p.Weights, strategy.Weight{Market: market.ID(i + 1), Share: share * market.Percent})
		}
	}
	return p
}

// allocator rebalances to the portfolios of its list, one a group; nil: not at all.
type allocator struct {
	strategy.Base
	list   []*strategy.Portfolio
	errors []error
}

func (s *allocator) OnCandles(d *strategy.Desk, _ strategy.Group) {
	if len(s.list) == 0 {
		return
	}
	if s.list[0] != nil {
		s.errors = append(s.errors, d.Rebalance(*s.list[0]))
	}
	s.list = s.list[1:]
}

func allocate(list ...strategy.Portfolio) *allocator {
	s := &allocator{}
	for i := range list {
		s.list = append(s.list, &list[i])
	}
	return s
}

// next queues a portfolio for the next group.
func (s *allocator) next(p strategy.Portfolio) { s.list = append(s.list, &p) }

type weighted struct {
	*bench
	allocator *allocator
}

// weigh is a bench of three markets whose strategy has bought a first portfolio at prices of 100.
func weigh(t *testing.T, s setup, first strategy.Portfolio) *weighted {
	a := allocate(first)
	s.markets = 3
	s.slots = []engine.StrategyConfig{{Strategy: a, Markets: []market.ID{1, 2, 3}}}
	w := &weighted{newBench(t, s), a}
	w.opens(100, 100, 100)
	w.opens(100, 100, 100)
	w.told = nil
	return w
}

// opens lets a minute of all markets happen at standing prices; 0 leaves a market out.
func (w *weighted) opens(prices ...market.Price) {
	w.t.Helper()
	var group []market.Candle
	for i, p := range prices {
		if p != 0 {
			group = append(group, candleOf(market.ID(i+1), p, p, p, p))
		}
	}
	w.group(group...)
}

// held are the positions in hundredths of a unit.
func (w *weighted) held() (held [3]int64) {
	for i := range held {
		held[i] = int64(w.account.Position(1, market.ID(i+1)).Amount / (btc / 100))
	}
	return held
}

func (w *weighted) cash() market.Money {
	available, _ := w.account.Balance(1, 1)
	return available
}

func TestSellsAndBuysMeetTheSameOpen(t *testing.T) {
	for name, c := range map[string]struct {
		first, then strategy.Portfolio
		want        []string
	}{
		"the sold market comes first": {percents(100, 0, 0), percents(40, 60, -1),
			[]string{"2 trade 60 @ 100", "3 trade 60 @ 100"}},
		"the bought market comes first and is quiet": {percents(0, 100, 0), percents(60, 40, -1),
			[]string{"2 trade 60 @ 100", "3 trade 60 @ 100"}},
		"two are sold for one": {percents(50, 50, 0), percents(10, 20, 70),
			[]string{"3 trade 40 @ 100", "4 trade 30 @ 100", "5 trade 70 @ 100"}},
		"one is sold for two": {percents(0, 0, 100), percents(30, 30, 40),
			[]string{"2 trade 60 @ 100", "3 trade 30 @ 100", "4 trade 30 @ 100"}},
	} {
		w := weigh(t, setup{}, c.first)
		w.allocator.next(c.then)
		w.opens(100, 100, 100)
		w.group(candleOf(1, 100, 120, 90, 110), candleOf(2, 100, 120, 90, 110), candleOf(3, 100, 120, 90, 110))
		require.Equal(t, c.want, w.told, name)
		require.Zero(t, w.cash(), name)
		for _, watch := range w.engine.Watches() {
			require.False(t, watch.Open, name)
		}
	}
}

func TestTheWorstPathKnowsWhatWasBoughtAtItsOpen(t *testing.T) {
	w := weigh(t, setup{venue: sim.Config{Path: sim.Pessimistic}}, percents(0, 100, 0))
	w.allocator.next(percents(100, 0, 0))
	w.opens(100, 100, 100)
	w.group(candleOf(1, 100, 120, 90, 110), candleOf(2, 100, 120, 90, 110))
	require.Equal(t, [3]int64{100_00, 0, 0}, w.held())
}

func TestAMarketWithoutACandleIsBoughtAtItsNextOpen(t *testing.T) {
	w := weigh(t, setup{}, percents(0, 100, 0))
	w.allocator.next(percents(60, 40, -1))
	w.opens(100, 100, 100)
	w.opens(0, 100, 100)
	require.Equal(t, []string{"2 trade 60 @ 100"}, w.told)
	w.opens(120, 100, 100)
	require.Equal(t, []string{"2 trade 60 @ 100", "3 trade 50 @ 120"}, w.told)
}

func TestTheBandKeepsUnits(t *testing.T) {
	for _, c := range []struct {
		name   string
		band   market.Rate
		toEdge bool
		then   strategy.Portfolio
		want   [3]int64
	}{
		{"inside the band", 11, false, percents(50, 50, -1), [3]int64{60_00, 40_00, 0}},
		{"at the band, to the weight", 10, false, percents(50, 50, -1), [3]int64{50_00, 50_00, 0}},
		{"beyond the band, to the weight", 4, false, percents(50, 50, -1), [3]int64{50_00, 50_00, 0}},
		{"beyond the band, to its edge", 4, true, percents(50, 50, -1), [3]int64{54_00, 46_00, 0}},
		{"a new market below the band is not bought", 6, false, percents(58, 37, 5), [3]int64{60_00, 40_00, 0}},
		{"a new market to the edge", 6, true, percents(45, 35, 20), [3]int64{51_00, 40_00, 9_00}},
		{"a weight of nothing has no band", 50, true, percents(60, 0, 40), [3]int64{60_00, 0, 40_00}},
		{"a market without a weight stays", 0, false, percents(-1, 20, 20), [3]int64{60_00, 20_00, 20_00}},
	} {
		w := weigh(t, setup{}, percents(60, 40, 0))
		c.then.Band, c.then.ToEdge = c.band*market.Percent, c.toEdge
		w.allocator.next(c.then)
		w.opens(100, 100, 100)
		w.opens(100, 100, 100)
		if c.name == "a weight of nothing has no band" || c.name == "a new market to the edge" {
			c.want[2] = w.held()[2] // below
		}
		require.Equal(t, c.want, w.held(), c.name)
	}
}

func TestBuysPayTheirFeesAndShrinkInProportion(t *testing.T) {
	fees := func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 100_000, Taker: 250_000} }
	w := weigh(t, setup{venue: sim.Config{Fees: fees}}, percents(100, 0, 0))
	w.allocator.next(percents(0, 50, 50))
	w.opens(100, 100, 100)
	w.opens(100, 100, 100)
	held := w.held()
	require.Zero(t, held[0])
	require.Equal(t, held[1], held[2])
	require.LessOrEqual(t, w.cash(), market.Money(1), "all but a rounded cent is spent")
	require.InDelta(t, 10_000/1.0025*0.9975/1.0025/2, float64(held[1]), 1)
}

func TestASellThatFailsShrinksTheBuysAndLeavesTheReserve(t *testing.T) {
	// of every minute a tenth of the volume may be had: a unit of each sell
	w := weigh(t, setup{}, percents(60, 0, 0))
	w.allocator.next(percents(20, 30, 10))
	w.opens(100, 100, 100)
	w.step(&market.Event{Kind: market.KindMarketStatus, At: w.now, Market: 1, Status: market.CancelOnly})
	w.opens(100, 100, 100)
	// the sell was refused: 40 % cash stays cash, so nothing is bought
	require.Equal(t, []string{"2 rejected place 424"}, w.told[:1])
	require.Equal(t, [3]int64{60_00, 0, 0}, w.held())
	require.Equal(t, 4_000*eur, w.cash())
}

func TestASellThatFillsInPartBuysThatPart(t *testing.T) {
	w := weigh(t, setup{venue: sim.Config{VolumeShare: 100_000_000}}, percents(0, 0, 0))
	w.allocator.next(percents(100, 0, 0))
	big := func(m market.ID, volume market.Volume) market.Candle {
		c := candleOf(m, 100, 100, 100, 100)
		c.Volume = volume
		return c
	}
	digits := market.Volume(market.Pow10(w.catalog.Market(1).VolumeDigits))
	w.group(big(1, 1000*digits), big(2, 1000*digits), big(3, 1000*digits))
	w.group(big(1, 1000*digits), big(2, 1000*digits), big(3, 1000*digits))
	require.Equal(t, [3]int64{100_00, 0, 0}, w.held())
	w.allocator.next(percents(0, 50, 50))
	w.group(big(1, 1000*digits), big(2, 1000*digits), big(3, 1000*digits))
	w.group(big(1, 30*digits), big(2, 1000*digits), big(3, 1000*digits))
	require.Equal(t, [3]int64{70_00, 15_00, 15_00}, w.held())
}

func TestAnUnresolvedSellHoldsTheBuysUntilTheNextGroup(t *testing.T) {
	w := weigh(t, setup{}, percents(100, 0, 0))
	w.allocator.next(percents(40, 60, 0))
	w.opens(100, 100, 100)
	w.opens(0, 100, 100) // the sold market has no candle: its sell is not answered
	require.Empty(t, w.told)
	require.Contains(t, w.log.String(), "rebalance: the buys are dropped")
	w.opens(100, 100, 100)
	require.Equal(t, []string{"2 trade 60 @ 100"}, w.told)
	require.Equal(t, 6_000*eur, w.cash())
}

func TestANewCallReplacesTheBuysAndCountsWhatIsUnderWay(t *testing.T) {
	w := weigh(t, setup{}, percents(100, 0, 0))
	w.allocator.next(percents(40, 60, 0))
	w.allocator.next(percents(30, 0, 70))
	w.opens(100, 100, 100)
	w.opens(0, 100, 100)
	require.Empty(t, w.told)
	w.opens(100, 100, 100)
	// 60 were under way: 10 more are sold, and the buy waits for both
	require.Equal(t, []string{"2 trade 60 @ 100", "3 trade 10 @ 100", "4 trade 70 @ 100"}, w.told)
	require.Equal(t, [3]int64{30_00, 0, 70_00}, w.held())
}

func TestMarketsThatCannotBeTradedKeepTheirUnits(t *testing.T) {
	w := weigh(t, setup{}, percents(50, 50, 0))
	w.step(&market.Event{Kind: market.KindMarketStatus, At: w.now, Market: 1, Status: market.Halted})
	w.allocator.next(percents(0, 20, 80))
	w.opens(100, 100, 100)
	w.opens(100, 100, 100)
	require.Equal(t, [3]int64{50_00, 20_00, 30_00}, w.held())
	require.Contains(t, w.log.String(), "the market keeps its units")
}

func TestAPlanBeyondTheLimitsIsRefusedWhole(t *testing.T) {
	for name, limits := range map[string]risk.Limits{
		"a plan of 1 sells and 2 buys: refused: orders_per_minute (3, limit 2)": {OrdersPerMinute: 2},
		"a plan of 1 sells and 2 buys: refused: max_open_orders (2, limit 1)":   {MaxOpenOrders: 1},
		"a plan of 1 sells and 2 buys: refused: max_in_flight (2, limit 1)":     {MaxInFlight: 1},
	} {
		w := weigh(t, setup{limits: []risk.Limits{limits}}, percents(100, 0, 0))
		w.allocator.next(percents(20, 40, 40))
		w.opens(100, 100, 100)
		require.EqualError(t, w.allocator.errors[1], name)
		var refusal *risk.Refusal
		require.ErrorAs(t, w.allocator.errors[1], &refusal)
		w.opens(100, 100, 100)
		require.Equal(t, [3]int64{100_00, 0, 0}, w.held())
		require.Contains(t, w.log.String(), name)
	}
}

func TestAPortfolioThatCannotBeIsRefused(t *testing.T) {
	two := percents(10)
	two.Weights = append(two.Weights, two.Weights[0])
	wide := percents(10)
	wide.Band = -1
	for text, p := range map[string]strategy.Portfolio{
		"the weights are 101% together":      percents(50, 51),
		"a weight of -0.000002%":             {Weights: []strategy.Weight{{Market: 1, Share: -2}}},
		"market 4: the run has markets 1 to": {Weights: []strategy.Weight{{Market: 4, Share: 1}}},
		"BTC-EUR has two weights":            two,
		"a band of -0.000001%":               wide,
	} {
		w := weigh(t, setup{}, p)
		require.ErrorContains(t, w.allocator.errors[0], text)
		require.ErrorIs(t, w.allocator.errors[0], strategy.ErrMeaningless)
		require.Empty(t, w.sent)
	}
}

func TestAHaltAndAStopDropTheBuys(t *testing.T) {
	for name, end := range map[string]func(w *weighted){
		"halt":       func(w *weighted) { w.send(w.engine.HaltAll(w.now, "by hand")) },
		"stop":       func(w *weighted) { w.send(w.engine.Stop(w.now)) },
		"cancel all": func(w *weighted) { w.send(w.engine.CancelAll(w.now)) },
	} {
		w := weigh(t, setup{}, percents(100, 0, 0))
		w.allocator.next(percents(40, 60, 0))
		w.opens(100, 100, 100)
		end(w)
		w.opens(100, 100, 100)
		require.Zero(t, w.held()[1], name)
	}
}

func TestAfterARestartTheBuysGoOn(t *testing.T) {
	w := weigh(t, setup{}, percents(100, 0, 0))
	w.allocator.next(percents(40, 60, 0))
	w.opens(100, 100, 100)
	w.allocator = allocate()
	w.restart(nil, w.allocator)
	w.opens(100, 100, 100)
	require.Equal(t, [3]int64{40_00, 60_00, 0}, w.held())

	w = weigh(t, setup{}, percents(100, 0, 0))
	w.allocator.next(percents(40, 60, 0))
	w.opens(100, 100, 100)
	w.allocator = allocate()
	w.now += 2 * minute // a pause over the next candle
	w.restart(nil, w.allocator)
	w.opens(100, 100, 100)
	require.Equal(t, [3]int64{40_00, 0, 0}, w.held())
}

func TestDustIsNotTraded(t *testing.T) {
	w := weigh(t, setup{}, percents(50, 50, 0))
	for _, m := range w.catalog.Markets() {
		m.MinOrderInQuote = 100 * eur
	}
	w.allocator.next(percents(50, -1, 0))
	p := percents(50, -1, 0)
	p.Weights[0].Share += market.Percent / 2 // 50 EUR
	p.Weights[1].Share = market.Percent / 2
	w.allocator.list[0] = &p
	sent := len(w.sent)
	w.opens(100, 100, 100)
	w.opens(100, 100, 100)
	require.Len(t, w.sent, sent)
}
