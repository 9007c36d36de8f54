package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// makerFirst is MakerFirst of a minute.
var makerFirst = strategy.MakerFirst(time.Minute)

// tactics are buys of 1 BTC that are asked for at 100, and the candles after that.
var tactics = []struct {
	name  string
	with  []strategy.Option
	bars  []bar
	sent  []string
	told  []string
	held  market.Qty
	going bool // it is under way in the end
}{
	{name: "a price that falls fills the order as a maker", with: []strategy.Option{makerFirst},
		bars: []bar{{100, 100, 98, 99}}, sent: []string{"buy 1 @ 99.99"}, told: []string{"1 new", "1 trade 1 @ 99.99"},
		held: btc},
	{name: "the order follows a price that rises", with: []strategy.Option{makerFirst},
		bars: []bar{{100, 101, 100, 101}, {101, 102, 101, 102}, {102, 102, 101, 101}},
		sent: []string{"buy 1 @ 99.99", "update 1 @ 100.99", "update 1 @ 101.99"},
		told: []string{"1 new", "1 updated", "1 updated", "1 trade 1 @ 101.99"}, held: btc},
	{name: "it moves at most once in its period", with: []strategy.Option{strategy.MakerFirst(3 * time.Minute)},
		bars: []bar{{100, 101, 100, 101}, {101, 102, 101, 102}, {102, 103, 102, 103}, {103, 104, 103, 104}},
		sent: []string{"buy 1 @ 99.99", "update 1 @ 102.99"}, told: []string{"1 new", "1 updated"}, going: true},
	{name: "after its time the rest is taken", with: []strategy.Option{makerFirst, strategy.TakeAfter(2 * time.Minute)},
		bars: []bar{{100, 101, 100, 101}, {101, 102, 101, 102}, {103, 104, 103, 103}},
		sent: []string{"buy 1 @ 99.99", "update 1 @ 100.99", "cancel 1", "buy 1 attached"},
		told: []string{"1 new", "1 updated", "1 canceled", "2 trade 1 @ 103"}, held: btc},
	{name: "a time within a candle ends where its path stands",
		with: []strategy.Option{makerFirst, strategy.TakeAfter(80 * time.Second)},
		bars: []bar{{100, 100, 100, 100}, {100, 107, 100, 104}},
		sent: []string{"buy 1 @ 99.99", "cancel 1 attached", "buy 1 attached"},
		told: []string{"1 new", "1 canceled", "2 trade 1 @ 100"}, held: btc},
	{name: "so does a time within the candle in which the order arrives",
		with: []strategy.Option{makerFirst, strategy.TakeAfter(40 * time.Second)}, bars: []bar{{100, 106, 100, 104}},
		sent: []string{"buy 1 @ 99.99", "cancel 1 attached", "buy 1 attached"},
		told: []string{"1 new", "1 canceled", "2 trade 1 @ 106"}, held: btc},
	{name: "a price far away is taken at once",
		with: []strategy.Option{makerFirst, strategy.TakeBeyond(2 * market.Percent)},
		bars: []bar{{100, 101, 100, 101}, {101, 103, 101, 103}, {103, 103, 103, 103}},
		sent: []string{"buy 1 @ 99.99", "update 1 @ 100.99", "cancel 1 attached", "buy 1 attached"},
		told: []string{"1 new", "1 updated", "1 canceled", "2 trade 1 @ 102.01"}, held: btc},
	{name: "a price just at the distance is not",
		with: []strategy.Option{makerFirst, strategy.TakeBeyond(2*market.Percent + 2*market.BasisPoint)},
		bars: []bar{{100, 102, 100, 102}, {102, 102, 102, 102}},
		sent: []string{"buy 1 @ 99.99", "update 1 @ 101.99"}, told: []string{"1 new", "1 updated"}, going: true},
	{name: "an order that would take is placed again after its period", with: []strategy.Option{makerFirst},
		bars: []bar{{99, 99, 99, 99}, {99, 99, 98, 98}},
		sent: []string{"buy 1 @ 99.99", "buy 1 @ 98.99"},
		told: []string{"1 canceled", "2 new", "2 trade 1 @ 98.99"}, held: btc},
	{name: "a TWAP buys equal parts", with: []strategy.Option{strategy.TWAP(4*time.Minute, 4)},
		bars: []bar{{101, 101, 101, 101}, {102, 102, 102, 102}, {103, 103, 103, 103}, {104, 104, 104, 104},
			{105, 105, 105, 105}},
		sent: []string{"buy 0.25", "buy 0.25", "buy 0.25", "buy 0.25"},
		told: []string{"1 trade 0.25 @ 101", "2 trade 0.25 @ 102", "3 trade 0.25 @ 103",
			"4 trade 0.25 @ 104"}, held: btc},
	{name: "parts within a candle meet the points of its path",
		with: []strategy.Option{strategy.TWAP(60*time.Second, 3)}, bars: []bar{{100, 107, 99, 103},
			{103, 103, 103, 103}},
		sent: []string{"buy 0.33333333", "buy 0.33333333 attached", "buy 0.33333334 attached"},
		told: []string{"1 trade 0.33333333 @ 100", "2 trade 0.33333333 @ 99", "3 trade 0.33333334 @ 107"}, held: btc},
}

func TestATacticSendsTheseOrders(t *testing.T) {
	for _, c := range tactics {
		t.Run(c.name, func(t *testing.T) {
			for _, restarting := range []bool{false, true} {
				s := &script{candle: once(func(d *strategy.Desk) {
					id, err := d.In(1).Buy(strategy.Amount(btc), c.with...)
					require.NoError(t, err)
					require.Equal(t, market.OrderID(1), id)
				})}
				b := one(t, s)
				if restarting {
					b.restartAlways(s)
				}
				b.group(ample(100))
				for _, x := range c.bars {
					candle := candleOf(1, x.open, x.high, x.low, x.close)
					candle.Volume = 1 << 40
					b.group(candle)
				}
				require.Equal(t, c.sent, b.sent)
				require.Equal(t, c.told, b.told)
				require.Equal(t, c.held, b.position())
				require.Equal(t, c.going, b.engine.Working(1, 1))
				_, timer := b.engine.NextTimer()
				require.False(t, timer && !c.going)
			}
		})
	}
}

func TestASaleJoinsTheAskAndFollowsItDown(t *testing.T) {
	b := one(t, &script{candle: minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc)) },
		2: func(d *strategy.Desk) {
			_, err := d.In(1).Sell(strategy.PositionShare(market.Whole), makerFirst,
				strategy.TakeBeyond(3*market.Percent))
			require.NoError(t, err)
		},
	})})
	b.flat(2, 100)
	b.candle(100, 100, 98, 98)
	b.candle(98, 98, 96, 96)
	b.candle(96, 97, 96, 97)
	require.Equal(t, []string{"buy 1", "sell 1 @ 100.01", "update 2 @ 98.01", "cancel 2 attached", "sell 1 attached"},
		b.sent)
	require.Zero(t, b.position())
}

// dear are fees of 1 % as a maker and 2 % as a taker.
func dear(*market.Market) exchange.Fees {
	return exchange.Fees{Maker: market.Percent, Taker: 2 * market.Percent}
}

func TestMoneyIsNeverExceededByAllPartsTogether(t *testing.T) {
	for _, way := range [][]strategy.Option{
		{makerFirst, strategy.TakeAfter(3 * time.Minute)},
		{strategy.TWAP(3*time.Minute, 3)},
	} {
		b := newBench(t, setup{venue: sim.Config{Fees: dear, VolumeShare: 25 * market.Percent},
			slots: []engine.StrategyConfig{{Strategy: &script{candle: once(func(d *strategy.Desk) {
				_, err := d.In(1).Buy(strategy.Money(1_000*eur), way...)
				require.NoError(t, err)
			})}}}})
		b.flat(1, 100)
		for _, x := range []bar{{100, 101, 99, 101}, {101, 103, 101, 103}, {103, 104, 103, 104}, {104, 104, 104, 104}} {
			c := candleOf(1, x.open, x.high, x.low, x.close)
			c.Volume = 40
			b.group(c)
		}
		b.group(ample(104))
		b.group(ample(104))
		require.False(t, b.engine.Working(1, 1))
		cash := b.account.Total(1).Total
		require.GreaterOrEqual(t, cash, 9_000*eur)
		require.Less(t, cash, 9_011*eur, "a maker's order leaves the difference of the fees: %v %v", b.sent, b.told)
	}
}

func TestWhatTheMakerHasBoughtIsNotTakenAgain(t *testing.T) {
	b := newBench(t, setup{venue: sim.Config{VolumeShare: 25 * market.Percent},
		slots: []engine.StrategyConfig{{Strategy: &script{candle: once(func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), makerFirst, strategy.TakeAfter(2*time.Minute))
		})}}}})
	b.flat(1, 100)
	c := candleOf(1, 100, 100, 99, 100)
	c.Volume = 1
	b.group(c)
	require.Equal(t, btc/4, b.position())
	b.group(ample(100))
	b.group(ample(100))
	require.Equal(t, []string{"buy 1 @ 99.99", "cancel 1", "buy 0.75 attached"}, b.sent)
	require.Equal(t, btc, b.position())
}

// partial lets a tactic with exits buy a quarter as a makerFirst, at 99.99.
func partial(t *testing.T, more map[int]func(d *strategy.Desk), with ...strategy.Option) *bench {
	acts := map[int]func(d *strategy.Desk){1: func(d *strategy.Desk) {
		_, err := d.In(1).Buy(strategy.Amount(btc), append(with, makerFirst, strategy.TakeAfter(3*time.Minute))...)
		require.NoError(t, err)
	}}
	for at, act := range more {
		acts[at] = act
	}
	b := newBench(t, setup{venue: sim.Config{VolumeShare: 25 * market.Percent},
		slots: []engine.StrategyConfig{{Strategy: &script{candle: minutely(acts)}}}})
	b.oneSell = true
	b.flat(1, 100)
	c := candleOf(1, 100, 100, 99, 100)
	c.Volume = 1
	b.group(c)
	require.Equal(t, btc/4, b.position())
	return b
}

func TestOneBracketProtectsAllPartsOfATactic(t *testing.T) {
	b := partial(t, nil, strategy.Exits(90*at1, 110*at1))
	for range 3 {
		b.group(ample(100))
	}
	require.Equal(t, []string{"buy 1 @ 99.99", "stop 0.25 @ 90 attached", "cancel 1", "buy 0.75 attached",
		"update 2 1 attached"}, b.sent)
	require.Equal(t, market.OrderID(1), b.engine.Brackets().EntryOf(3))
	b.group(ample(100))
	c := ample(80)
	b.group(c)
	require.Zero(t, b.position())
	require.Zero(t, b.engine.Brackets().Unprotected())
	require.NoError(t, b.engine.CheckBrackets())
	require.Empty(t, b.account.Open(nil, 0, 0))
	require.Equal(t, market.Watch{}, b.engine.Watches()[1])
}

func TestTheFirstIDMovesTheExitsAndEndsTheWhole(t *testing.T) {
	b := partial(t, map[int]func(d *strategy.Desk){
		5: func(d *strategy.Desk) { require.NoError(t, d.Update(1, strategy.StopAt(95*at1))) },
		7: func(d *strategy.Desk) { require.NoError(t, d.Cancel(1)) },
	}, strategy.Exits(90*at1, 110*at1))
	for range 6 {
		b.group(ample(100))
	}
	require.Equal(t, []string{"update 2 1 attached", "update 2 stop 95", "cancel 2"}, b.sent[4:])
	require.Equal(t, btc, b.position())
	require.Empty(t, b.account.Open(nil, 0, 0))
}

func TestAStopThatSellsEndsTheTactic(t *testing.T) {
	b := partial(t, nil, strategy.Exits(90*at1, 110*at1))
	b.group(ample(85)) // the maker order's price comes first, and then all of it is behind the stop
	for range 5 {
		b.group(ample(85))
	}
	require.Zero(t, b.position())
	require.False(t, b.engine.Working(1, 1))
	require.Empty(t, b.account.Open(nil, 0, 0))
}

func TestCancelEndsATactic(t *testing.T) {
	for name, end := range map[string]func(d *strategy.Desk){
		"by its id":     func(d *strategy.Desk) { require.NoError(t, d.Cancel(1)) },
		"by its market": func(d *strategy.Desk) { require.NoError(t, d.In(1).CancelAll()) },
		"with all":      func(d *strategy.Desk) { require.NoError(t, d.CancelAll()) },
		"by Close":      func(d *strategy.Desk) { require.NoError(t, d.In(1).Close()) },
		"by a panic":    func(*strategy.Desk) { panic("mistake") },
	} {
		for _, way := range [][]strategy.Option{
			{makerFirst, strategy.TakeAfter(3 * time.Minute)},
			{makerFirst, strategy.TakeAfter(3 * time.Minute), strategy.Exits(90*at1, 110*at1)},
			{strategy.TWAP(5*time.Minute, 5)},
		} {
			b := one(t, &script{candle: minutely(map[int]func(*strategy.Desk){
				1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), way...) },
				3: func(d *strategy.Desk) {
					require.False(t, d.In(1).Flat())
					require.True(t, d.In(1).Working())
					end(d)
				},
			})})
			b.flat(3, 100)
			held := b.position()
			b.flat(5, 100)
			if name == "by Close" {
				held = 0
			}
			require.Equal(t, held, b.position(), name)
			require.False(t, b.engine.Working(1, 0), name)
			require.Empty(t, b.account.Open(nil, 0, 0), name)
			_, timer := b.engine.NextTimer()
			require.False(t, timer, name)
		}
	}
}

func TestATacticThatTheLimitsCannotCarryIsRefusedWhole(t *testing.T) {
	for _, c := range []struct {
		limits risk.Limits
		size   strategy.Size
		with   []strategy.Option
		want   string
	}{
		{risk.Limits{OrdersPerMinute: 3}, strategy.Amount(btc),
			[]strategy.Option{strategy.MakerFirst(20 * time.Second)},
			"the whole as an order at market: refused: orders_per_minute (5, limit 3)"},
		{risk.Limits{OrdersPerMinute: 5}, strategy.Amount(btc),
			[]strategy.Option{strategy.MakerFirst(20 * time.Second)}, ""},
		{risk.Limits{OrdersPerMinute: 5}, strategy.Amount(btc), []strategy.Option{strategy.TWAP(time.Minute, 12)},
			"the whole as an order at market: refused: orders_per_minute (12, limit 5)"},
		{risk.Limits{MaxPosition: 50 * eur}, strategy.Amount(btc), []strategy.Option{strategy.TWAP(time.Hour, 12)},
			"the whole as an order at market: refused: max_position (100, limit 50)"},
		{risk.Limits{}, strategy.Amount(99 * btc), []strategy.Option{makerFirst},
			"the whole as an order at market: refused: the exchange would answer 216: You do not have sufficient " +
				"balance " +
				"to complete this operation. (needs 10098 EUR, has 10000 EUR)"},
		{risk.Limits{}, strategy.Amount(98 * btc), []strategy.Option{makerFirst}, ""},
		{risk.Limits{}, strategy.Amount(btc), []strategy.Option{strategy.TakeAfter(time.Minute)},
			"meaningless: TakeAfter and TakeBeyond need MakerFirst"},
		{risk.Limits{}, strategy.Amount(btc), []strategy.Option{makerFirst, strategy.TWAP(time.Minute, 2)},
			"meaningless: MakerFirst and TWAP together: use one of them"},
		{risk.Limits{}, strategy.Amount(btc), []strategy.Option{makerFirst, strategy.At(99 * at1)},
			"meaningless: a MakerFirst or " +
				"a TWAP chooses prices by itself: leave out At, StopLoss, TakeProfit, PostOnly and InForce"},
		{risk.Limits{}, strategy.Amount(btc), []strategy.Option{strategy.MakerFirst(time.Millisecond)},
			"meaningless: MakerFirst(1000000): an order moves at most once a second"},
		{risk.Limits{}, strategy.Amount(btc), []strategy.Option{strategy.TWAP(time.Minute, 0)},
			"meaningless: TWAP of 0 parts: a number of parts is positive"},
	} {
		text := ""
		b := newBench(t, setup{venue: sim.Config{Fees: dear}, limits: []risk.Limits{c.limits},
			slots: []engine.StrategyConfig{{Strategy: &script{candle: once(func(d *strategy.Desk) {
				if _, err := d.In(1).Buy(c.size, c.with...); err != nil {
					text = err.Error()
				}
			})}}}})
		b.flat(1, 100)
		require.Equal(t, c.want, text)
		require.Equal(t, c.want == "", b.engine.Working(1, 1))
		require.Equal(t, c.want != "", len(b.sent) == 0)
	}
}

func TestATacticWaitsWhileItsMarketIsHalted(t *testing.T) {
	for _, way := range [][]strategy.Option{
		{makerFirst, strategy.TakeAfter(2 * time.Minute)}, {strategy.TWAP(3*time.Minute, 3)},
	} {
		for _, restarting := range []bool{false, true} { // a restart that takes no time misses nothing
			s := &script{candle: once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), way...) })}
			b := one(t, s)
			if restarting {
				b.restartAlways(s)
			}
			b.flat(1, 100)
			status := func(s market.MarketStatus) {
				b.step(&market.Event{Kind: market.KindMarketStatus, At: b.now, Market: 1, Status: s})
			}
			b.flat(1, 100)
			sent := len(b.sent)
			status(market.Halted)
			b.catalog.Market(1).Status = market.Halted
			for range 4 {
				b.group(ample(100))
			}
			require.LessOrEqual(t, len(b.sent), sent+4, "cancels of the maker order at most: %v", b.sent)
			status(market.Trading)
			for range 3 {
				b.group(ample(100))
			}
			require.Equal(t, btc, b.position(), "%v %v", b.sent, b.told)
		}
	}
}

// All parts are sent: there is nothing that the restart comes too late for.
func TestATWAPWithoutPartsToSendHasMissedNothingAtTheRestart(t *testing.T) {
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(btc), strategy.TWAP(2*time.Minute, 2))
	})}
	b := one(t, s)
	watches := b.engine.Watches()
	b.group(ample(100))
	b.group(ample(100))
	require.Equal(t, []string{"buy 0.5", "buy 0.5"}, b.sent)
	b.now += 10 * minute
	require.Empty(t, b.restart(nil, s))
	copy(watches, b.engine.Watches())
	b.group(ample(100))
	require.Equal(t, btc, b.position())
	require.False(t, b.engine.Working(1, 1))
	require.NotContains(t, b.log.String(), "its time was over")
	require.Contains(t, b.log.String(), "tactic: ended")
}

func TestARestThatTheCashDoesNotPayForIsBoughtAsFarAsItDoes(t *testing.T) {
	b := one(t, &script{candle: once(func(d *strategy.Desk) {
		_, err := d.In(1).Buy(strategy.EquityShare(market.Whole), makerFirst, strategy.TakeAfter(2*time.Minute))
		require.NoError(t, err)
	})})
	b.group(ample(100))
	b.group(ample(105))
	b.group(ample(125))
	b.group(ample(125))
	require.Equal(t, 80*btc, b.position(), "%v %v", b.sent, b.told)
	require.Contains(t, b.log.String(), "tactic: the cash does not pay for the rest")
	require.False(t, b.engine.Working(1, 1))
}

func TestATacticWhoseTimeIsOverAtTheRestartEndsInWords(t *testing.T) {
	for _, way := range [][]strategy.Option{
		{makerFirst, strategy.TakeAfter(10 * time.Minute)}, {strategy.TWAP(10*time.Minute, 5)},
	} {
		for _, late := range []market.Time{9 * minute, 11 * minute} {
			s := &script{candle: once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), way...) })}
			b := one(t, s)
			watches := b.engine.Watches()
			b.group(ample(100))
			b.group(ample(100))
			b.now += late - minute
			require.Empty(t, b.restart(nil, s))
			copy(watches, b.engine.Watches())
			for range 5 {
				b.group(ample(100))
			}
			require.False(t, b.engine.Working(1, 1))
			require.Empty(t, b.account.Open(nil, 0, 0))
			if late < 10*minute {
				require.Equal(t, btc, b.position(), "%v %v", b.sent, b.told)
			} else {
				require.Less(t, b.position(), btc/2)
				require.Contains(t, b.log.String(), "its time was over before the restart; the rest is not traded")
			}
		}
	}
}

// tactician begins tactics by chance, one at a time, and leaves or cancels some of them.
type tactician struct {
	strategy.Base
	chance *rand.Rand
	stop   bool

	begun []begun
}

// begun is the size of a tactic, and its first order.
type begun struct {
	id     market.OrderID
	side   market.Side
	amount market.Qty
	money  market.Money
}

func (s *tactician) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(1)
	switch {
	case m.Working() && s.chance.IntN(20) == 0:
		d.Cancel(s.begun[len(s.begun)-1].id)
	case m.Working() || s.stop:
	case s.chance.IntN(6) == 0 && m.Position().Amount > 0:
		m.Close()
	default:
		s.begin(m, c.Close)
	}
}

// begin asks for a tactic.
func (s *tactician) begin(m strategy.MarketDesk, last market.Price) {
	b := begun{side: market.Side(1 + s.chance.IntN(2)), amount: 1 + market.Qty(s.chance.Int64N(int64(2*btc)))}
	size := strategy.Amount(b.amount)
	var with []strategy.Option
	if b.side == market.Buy && s.chance.IntN(2) == 0 {
		b.amount, b.money = 0, market.Money(1+s.chance.Int64N(200))*eur
		size = strategy.Money(b.money)
	}
	if b.side == market.Buy && s.chance.IntN(2) == 0 {
		with = append(with, strategy.Exits(last-market.Price(2+s.chance.IntN(9))*at1,
			last+market.Price(2+s.chance.IntN(9))*at1))
	}
	seconds := func(most int) time.Duration { return time.Duration(1+s.chance.IntN(most)) * time.Second }
	if s.chance.IntN(2) == 0 {
		with = append(with, strategy.TWAP(10*time.Second+seconds(400), 1+s.chance.IntN(8)))
	} else {
		with = append(with, strategy.MakerFirst(seconds(200)))
		if s.chance.IntN(4) > 0 {
			with = append(with, strategy.TakeAfter(seconds(500)))
		}
		if s.chance.IntN(2) == 0 {
			with = append(with, strategy.TakeBeyond(market.Rate(1+s.chance.IntN(400))*market.BasisPoint))
		}
	}
	id, err := m.Place(b.side, size, with...)
	if err == nil {
		b.id = id
		s.begun = append(s.begun, b)
	}
}

// ledger is the naive twin of all tactics: it adds up every fill by the latest tactic that began
// before the order.
type ledger struct {
	s       *tactician
	base    map[market.OrderID]market.Qty
	money   map[market.OrderID]market.Value
	catalog *market.Catalog
	steps   int
	waited  int // how often a tactic waited for a price
}

func (l *ledger) Closed(*state.Order) {}

func (l *ledger) Filled(o *state.Order, f *market.Fill) {
	for _, b := range slices.Backward(l.s.begun) {
		if b.id > o.ID || o.Tag != strategy.TagMakerFirst && o.Tag != strategy.TagTaken && o.Tag != strategy.TagTWAP {
			continue
		}
		value, _ := l.catalog.Market(1).Value(f.Price, f.Amount)
		value, _ = value.Add(f.Fee)
		l.base[b.id] += f.Amount
		l.money[b.id], _ = l.money[b.id].Add(value)
		return
	}
}

// chancily lets a tactician work before an exchange with latency, little volume and a hand that
// cancels orders.
func chancily(t *testing.T, seed uint64, restarting bool) (*bench, *tactician, *ledger) {
	chance := rand.New(rand.NewPCG(seed, 31))
	s := &tactician{chance: rand.New(rand.NewPCG(seed, 37))}
	book := &ledger{s: s, base: map[market.OrderID]market.Qty{}, money: map[market.OrderID]market.Value{}}
	config := sim.Config{Latency: market.Duration(chance.IntN(3)) * 7e9, Fees: dear,
		HalfSpread: market.Rate(chance.IntN(3)) * market.BasisPoint}
	if chance.IntN(2) == 0 {
		config.VolumeShare = market.Rate(1+chance.IntN(20)) * market.Percent / 100
	}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: config, observer: book,
		account: risk.AccountLimits{AllowSelfCross: true}})
	book.catalog = b.catalog
	b.catalog.Market(1).MinOrderInQuote = market.Money(chance.IntN(2)) * eur
	b.catalog.Market(1).TickSize = [...]market.Price{1, 1, 5, 30, 70}[chance.IntN(5)] // prices may lie between ticks
	check := func() {
		require.NoError(t, b.engine.CheckBrackets())
		if book.steps++; book.steps%8 == 0 && !restarting { // the naive way is slow
			waiting, err := b.engine.CheckTacticLevels()
			require.NoError(t, err, "seed %d", seed)
			book.waited += waiting
		}
	}
	if b.done = check; restarting {
		b.restartAlways(s)
	}
	price := market.Price(100)
	for range 120 {
		for _, o := range b.account.Open(nil, 0, 0) {
			if chance.IntN(20) == 0 {
				b.venue.Cancel(o.ID, 0, market.CancelOnAdminRequest)
			}
		}
		next := max(60, price+market.Price(chance.IntN(7)-3))
		b.candle(price, max(price, next)+market.Price(chance.IntN(3)), min(price, next)-market.Price(chance.IntN(3)),
			next)
		price = next
	}
	s.stop = true
	b.done = check
	for range 30 {
		b.group(ample(price))
	}
	return b, s, book
}

// Whatever happens, the parts of a tactic are never more than its size.
func TestThePartsOfATacticAreNeverMoreThanItsSize(t *testing.T) {
	whole, begun, waited := 0, 0, 0
	for seed := range uint64(*markets) {
		b, s, book := chancily(t, seed, false)
		waited += book.waited
		for _, x := range s.begun {
			begun++
			require.True(t, x.money != 0 || book.base[x.id] <= x.amount, "seed %d: order %d: %d of %d", seed, x.id,
				book.base[x.id], x.amount)
			if x.amount != 0 && book.base[x.id] == x.amount {
				whole++
			}
			if x.money != 0 {
				spent, err := book.money[x.id].CeilMoney(b.catalog.Market(1).MoneyDrop())
				require.NoError(t, err)
				require.LessOrEqual(t, spent, x.money, "seed %d: order %d", seed, x.id)
			}
		}
		require.Empty(t, b.engine.Brackets().Bare(), "seed %d", seed)
	}
	require.Greater(t, begun, 10**markets)
	require.Greater(t, whole, *markets*3/2)
	require.Greater(t, waited, 5**markets)
}

func TestARestartAtAnyMomentOfRandomTacticsChangesNothing(t *testing.T) {
	for seed := range uint64(8) {
		want, _, _ := chancily(t, seed, false)
		have, _, _ := chancily(t, seed, true)
		require.Equal(t, want.sent, have.sent, "seed %d", seed)
		require.Equal(t, want.told, have.told, "seed %d", seed)
	}
}

// Between two orders of a tactic nothing is open and nothing is bought: its exits can be moved all
// the same.
func TestExitsMoveWhileATacticHasNoOrder(t *testing.T) {
	var moved error
	b := one(t, &script{candle: minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) {
			_, err := d.In(1).Buy(strategy.Amount(btc), strategy.MakerFirst(2*time.Minute),
				strategy.Exits(80*at1, 120*at1))
			require.NoError(t, err)
		},
		2: func(d *strategy.Desk) {
			require.Empty(t, d.OpenOrders())
			moved = d.Update(1, strategy.StopAt(85*at1))
		},
	})})
	b.catalog.Market(1).MinOrderInQuote = 5 * eur
	b.group(ample(100))
	b.group(ample(99)) // the order would take
	require.NoError(t, moved)
	b.group(ample(99))
	b.candle(99, 99, 98, 98)
	require.Equal(t, []string{"buy 1 @ 99.99", "buy 1 @ 98.99", "stop 1 @ 85 attached"}, b.sent)
}

func TestMoneyThatWasSpentMeanwhileIsNotWaitedFor(t *testing.T) {
	b := one(t, &script{candle: minutely(map[int]func(*strategy.Desk){
		1: func(d *strategy.Desk) {
			_, err := d.In(1).Buy(strategy.Money(6_000*eur), makerFirst, strategy.TakeAfter(3*time.Minute))
			require.NoError(t, err)
			_, err = d.In(1).Buy(strategy.Money(3_000*eur), strategy.TWAP(10*time.Minute, 2))
			require.NoError(t, err)
		},
		4: func(d *strategy.Desk) {
			_, err := d.In(1).Buy(strategy.UpTo(strategy.Money(9_000 * eur)))
			require.NoError(t, err)
		},
	})})
	for range 15 {
		b.group(ample(100))
	}
	require.False(t, b.engine.Working(1, 1))
	cash, _ := b.account.Balance(1, 1)
	require.Less(t, cash, eur, "%v %v", b.sent, b.told)
}
