package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

const percent = market.Percent

// follower asks for 1 BTC at market on its first candle, with exits that follow.
func follower(with ...strategy.Option) *script {
	return &script{candle: once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), with...) })}
}

var enough = []strategy.Option{strategy.StopAt(90 * at1), strategy.EnoughAfter(0, 10*percent),
	strategy.EnoughAfter(2*time.Minute, 3*percent)}

var trails = []life{
	{name: "each close moves the stop", with: []strategy.Option{strategy.Trail(10 * percent)},
		bars: []bar{{100, 130, 95, 110}, {110, 125, 105, 120}, {120, 120, 100, 104}},
		sent: []string{"stop 1 @ 90 attached", "update 2 stop 99", "update 2 stop 108"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "2 updated", "2 trade 1 @ 108"}, realised: 8 * eur},
	{name: "a fall moves nothing", with: []strategy.Option{strategy.Trail(10 * percent)},
		bars: []bar{{100, 100, 95, 95}, {95, 99, 92, 93}, {93, 94, 80, 85}},
		sent: []string{"stop 1 @ 90 attached"}, told: []string{"1 trade 1 @ 100", "2 new", "2 trade 1 @ 90"},
		realised: -10 * eur},
	{name: "a gap through the moved stop fills at the open", with: []strategy.Option{strategy.Trail(10 * percent)},
		bars: []bar{{100, 120, 100, 120}, {95, 99, 94, 96}},
		sent: []string{"stop 1 @ 90 attached", "update 2 stop 108"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated 1 @ 95"}, realised: -5 * eur},
	{name: "a distance in price, and a first stop of its own",
		with: []strategy.Option{strategy.TrailBy(5 * at1), strategy.StopAt(80 * at1)},
		bars: []bar{{100, 100, 85, 90}, {90, 103, 88, 103}, {103, 104, 90, 91}},
		sent: []string{"stop 1 @ 80 attached", "update 2 stop 85", "update 2 stop 98"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "2 updated", "2 trade 1 @ 98"}, realised: -2 * eur},
	{name: "by prices, the high first", path: sim.OHLC,
		with: []strategy.Option{strategy.Trail(10 * percent), strategy.ByPrices()},
		bars: []bar{{100, 100, 100, 100}, {100, 120, 95, 96}},
		sent: []string{"stop 1 @ 90 attached", "update 2 stop 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "2 trade 1 @ 108"}, realised: 8 * eur},
	{name: "by prices, the low first", path: sim.OLHC,
		with: []strategy.Option{strategy.Trail(10 * percent), strategy.ByPrices()},
		bars: []bar{{100, 100, 100, 100}, {100, 120, 95, 115}, {115, 115, 100, 101}},
		sent: []string{"stop 1 @ 90 attached", "update 2 stop 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "2 trade 1 @ 108"}, realised: 8 * eur},
	{name: "by prices, an open far above", path: sim.OLHC,
		with: []strategy.Option{strategy.Trail(10 * percent), strategy.ByPrices()},
		bars: []bar{{100, 100, 100, 100}, {130, 131, 100, 110}},
		sent: []string{"stop 1 @ 90 attached", "update 2 stop 117 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "2 trade 1 @ 117"}, realised: 17 * eur},
	{name: "by prices, the entry's own candle", path: sim.OHLC,
		with: []strategy.Option{strategy.Trail(10 * percent), strategy.ByPrices()},
		bars: []bar{{100, 120, 90, 91}},
		sent: []string{"stop 1 @ 90 attached", "update 2 stop 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "2 trade 1 @ 108"}, realised: 8 * eur},
	// at the high, price and stop are where they are; the stop of the first 110 is passed later
	{name: "the target rests, the watched stop follows", path: sim.OHLC,
		with: []strategy.Option{strategy.Trail(10 * percent), strategy.TargetAt(150 * at1),
			strategy.Keep(market.KeepTarget), strategy.ByPrices()},
		bars: []bar{{100, 100, 100, 100}, {100, 120, 101, 102}},
		sent: []string{"sell 1 @ 150 attached", "cancel 2 attached", "stop 1 @ 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 108"}, realised: 8 * eur},
	{name: "stop and target in one candle, the high first", path: sim.OHLC,
		with: []strategy.Option{strategy.Trail(10 * percent), strategy.TargetAt(115 * at1), strategy.ByPrices()},
		bars: []bar{{100, 100, 100, 100}, {100, 120, 80, 90}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2 attached", "sell 1 @ 115 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 115"}, realised: 15 * eur},
	{name: "a trail that begins at a profit", with: []strategy.Option{strategy.Trail(5 * percent),
		strategy.TrailAfter(10 * percent), strategy.StopAt(80 * at1)},
		bars: []bar{{100, 108, 95, 108}, {108, 112, 100, 110}, {110, 120, 106, 120}, {120, 120, 100, 101}},
		sent: []string{"stop 1 @ 80 attached", "update 2 stop 104.5", "update 2 stop 114"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "2 updated", "2 trade 1 @ 114"}, realised: 14 * eur},
	{name: "a trail that begins at a profit, by prices", path: sim.OHLC, with: []strategy.Option{
		strategy.Trail(5 * percent), strategy.TrailAfter(10 * percent), strategy.StopAt(80 * at1), strategy.ByPrices()},
		bars: []bar{{100, 109, 100, 100}, {100, 120, 105, 106}},
		sent: []string{"stop 1 @ 80 attached", "update 2 stop 114 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "2 trade 1 @ 114"}, realised: 14 * eur},
	{name: "a trail that begins at a profit gives a target a stop",
		with: []strategy.Option{strategy.TargetAt(150 * at1), strategy.TrailBy(6 * at1),
			strategy.TrailAfter(5 * percent)},
		bars: []bar{{100, 104, 20, 104}, {104, 106, 90, 106}, {106, 106, 90, 95}},
		sent: []string{"sell 1 @ 150 attached", "cancel 2 attached", "stop 1 @ 100 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 100"}},
	{name: "break-even before a trail that begins at a profit", with: []strategy.Option{strategy.StopAt(90 * at1),
		strategy.BreakEvenAfter(4 * percent), strategy.Trail(5 * percent), strategy.TrailAfter(10 * percent)},
		bars:     []bar{{100, 106, 100, 106}, {106, 112, 104, 112}, {112, 112, 100, 101}},
		sent:     []string{"stop 1 @ 90 attached", "update 2 stop 100", "update 2 stop 106.4"},
		told:     []string{"1 trade 1 @ 100", "2 new", "2 updated", "2 updated", "2 trade 1 @ 106.4"},
		realised: 64 * eur / 10},
	{name: "break-even", with: []strategy.Option{strategy.StopAt(90 * at1), strategy.BreakEvenAfter(5 * percent)},
		bars: []bar{{100, 104, 100, 104}, {104, 105, 104, 105}, {105, 106, 95, 96}},
		sent: []string{"stop 1 @ 90 attached", "update 2 stop 100"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "2 trade 1 @ 100"}},
	{name: "break-even gives a target a stop",
		with: []strategy.Option{strategy.TargetAt(150 * at1), strategy.BreakEvenAfter(5 * percent)},
		bars: []bar{{100, 106, 20, 106}, {106, 106, 90, 95}},
		sent: []string{"sell 1 @ 150 attached", "cancel 2 attached", "stop 1 @ 100 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 100"}},
	{name: "an end after two candles", with: []strategy.Option{strategy.StopAt(90 * at1), strategy.ExitAfter(2)},
		bars: []bar{{100, 104, 100, 104}, {104, 105, 104, 105}, {106, 107, 80, 96}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2", "sell 1 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 106"}, realised: 6 * eur},
	{name: "a gain is enough at once", with: enough,
		bars: []bar{{100, 112, 100, 110}, {111, 120, 80, 96}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2", "sell 1 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 111"}, realised: 11 * eur},
	{name: "a smaller gain is enough later, at a close", with: enough,
		bars: []bar{{100, 109, 95, 109}, {109, 120, 102, 102}, {102, 109, 101, 103}, {104, 104, 80, 80}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2", "sell 1 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 104"}, realised: 4 * eur},
	{name: "no gain is enough", with: enough,
		bars: []bar{{100, 109, 95, 109}, {109, 109, 100, 102}, {102, 103, 89, 90}},
		sent: []string{"stop 1 @ 90 attached"}, told: []string{"1 trade 1 @ 100", "2 new", "2 trade 1 @ 90"},
		realised: -10 * eur},
	{name: "the stop comes before the end", with: []strategy.Option{strategy.StopAt(90 * at1), strategy.ExitAfter(2)},
		bars: []bar{{100, 104, 100, 104}, {104, 105, 80, 105}, {106, 107, 80, 96}},
		sent: []string{"stop 1 @ 90 attached"}, told: []string{"1 trade 1 @ 100", "2 new", "2 trade 1 @ 90"},
		realised: -10 * eur},
	// the open of the second candle is 60 s after the entry: the timer lies between two points
	{name: "an end after a time",
		with: []strategy.Option{strategy.StopAt(90 * at1), strategy.ExitAfterTime(70 * time.Second)},
		bars: []bar{{100, 104, 100, 104}, {104, 110, 104, 105}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2", "sell 1 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 104"}, realised: 4 * eur},
}

func TestExitsFollowThroughEveryShapeOfCandle(t *testing.T) {
	for _, restarting := range []bool{false, true} {
		for _, l := range trails {
			s := follower(l.with...)
			b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{Path: l.path}})
			b.oneSell = true
			if restarting {
				b.restartAlways(s)
			}
			b.flat(1, 100)
			for _, c := range l.bars {
				b.candle(c.open, c.high, c.low, c.close)
			}
			require.Equal(t, l.sent, b.sent[1:], l.name)
			require.Equal(t, l.told, b.told, l.name)
			require.Equal(t, l.realised, b.realised(), l.name)
			require.Equal(t, market.Watch{}, b.engine.Watches()[1], l.name)
			require.Zero(t, b.position(), l.name)
			require.Empty(t, b.account.Open(nil, 0, 0), l.name)
		}
	}
}

// The stop after each close is the highest close less the rate, rounded up to the tick, where that
// is at least a thousandth of the highest close more; it never falls.
func TestAStopFollowsTheHighestClose(t *testing.T) {
	for seed := range uint64(*markets) {
		r := rand.New(rand.NewPCG(seed, 11))
		rate, tick := market.Rate(1+r.Int64N(int64(20*percent))), market.Price(1+r.IntN(30))
		s := follower(strategy.Trail(rate))
		b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}})
		b.catalog.Market(1).TickSize = tick
		if r.IntN(2) == 0 {
			b.restartAlways(s)
		}
		price := 100*at1/tick*tick + tick
		candle := func(to market.Price) {
			b.group(market.Candle{Market: 1, Interval: market.Interval1m, Open: price, High: max(price, to),
				Low: min(price, to), Close: to, Volume: 1000})
			price = to
		}
		candle(price)
		ceil := func(high market.Price) market.Price {
			exact := int64(high) * int64(market.Whole-rate) / int64(market.Whole)
			return (market.Price(exact) + tick - 1) / tick * tick
		}
		stop, high := ceil(price), market.Price(0)
		for n := range 60 {
			candle(max(tick, price+market.Price(r.Int64N(401)-195)))
			orders := b.account.Open(nil, 1, 1)
			if b.position() == 0 {
				break
			}
			if n == 0 {
				require.Len(t, orders, 1)
			}
			high = max(high, price)
			if aim := ceil(high); aim > stop && (aim-stop)*1000 >= high/1000*1000 {
				stop = aim
			}
			levels, found := b.engine.Exits(1, 1)
			require.True(t, found)
			require.Equal(t, stop, levels.Stop, "seed %d, close %d", seed, n)
		}
	}
}

// byHandTrail is an engine that has bought 1 BTC at 100 with a stop that trails by 10 %, order 2,
// which rests.
func byHandTrail(t *testing.T, with ...strategy.Option) *bench {
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: follower(append(with,
		strategy.Trail(10*percent))...)}}})
	b.close100()
	b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: reported(1, 1, market.StatusFilled, btc),
		Fills: []market.Fill{fillNumbered(1, 1, btc)}})
	b.accept(2)
	return b
}

// moved answers a move of the stop.
func (b *bench) moved(to market.Price) []string {
	o := *b.account.Order(2)
	o.TriggerAmount = to * at1
	r := market.ReportOf(&o, market.ExecUpdated)
	r.Updated = b.engine.Now() + 1
	return b.by(&market.Event{Kind: market.KindReport, At: r.Updated, Report: &r})
}

func (b *bench) timer(after time.Duration) []string {
	b.now = b.engine.Now().Add(after)
	return b.by(&market.Event{Kind: market.KindTimer, At: b.now})
}

func TestOneMoveIsUnderWayAtATime(t *testing.T) {
	b := byHandTrail(t, strategy.ByPrices())
	require.Equal(t, []string{"update 2 stop 99 attached"}, b.price(110))
	require.Empty(t, b.timer(time.Second))
	require.Empty(t, b.price(120), "the first has no answer yet")
	require.Equal(t, []string{"update 2 stop 108 attached"}, b.moved(99), "it is made up for with the answer")
	require.Empty(t, b.price(90))
	require.Empty(t, b.moved(108))
	require.Empty(t, b.price(119))
}

func TestAMoveWaitsForItsSecond(t *testing.T) {
	b := byHandTrail(t, strategy.ByPrices())
	require.Equal(t, []string{"update 2 stop 99 attached"}, b.price(110))
	require.Empty(t, b.moved(99))
	require.Empty(t, b.price(120))
	sent := b.engine.Now()
	at, waiting := b.engine.NextTimer()
	require.True(t, waiting)
	require.Less(t, at, sent.Add(time.Second))
	b.now = at - 1
	require.Empty(t, b.price(112))
	require.Equal(t, []string{"update 2 stop 108 attached"}, b.timer(1), "though the price has fallen")
	require.Empty(t, b.moved(108))
	_, waiting = b.engine.NextTimer()
	require.False(t, waiting)
}

func TestASmallRiseWaitsForMore(t *testing.T) {
	b := byHandTrail(t, strategy.ByPrices())
	cent := func(p market.Price) []string {
		b.timer(time.Second)
		return b.by(&market.Event{Kind: market.KindTrade, At: b.now, Trade: &market.Trade{Market: 1, Price: p}})
	}
	require.Empty(t, cent(100_11), "to 90.09")
	_, waiting := b.engine.NextTimer()
	require.False(t, waiting)
	require.Equal(t, []string{"update 2 stop 90.1 attached"}, cent(100_12), "a thousandth of 100.12")
}

func TestAMoveThatTheExchangeRefusesIsTriedAgain(t *testing.T) {
	b := byHandTrail(t, strategy.ByPrices())
	require.Equal(t, []string{"update 2 stop 99 attached"}, b.price(110))
	require.Empty(t, b.refuse(market.CommandUpdate, 2, exchange.CodeCancelOnly))
	levels, _ := b.engine.Exits(1, 1)
	require.Equal(t, 90*at1, levels.Stop, "the stop is where it rests")
	require.Equal(t, []string{"update 2 stop 99 attached"}, b.timer(time.Second))
	require.Empty(t, b.refuse(market.CommandUpdate, 2, exchange.CodeCancelOnly))
	at, _ := b.engine.NextTimer()
	require.Equal(t, b.engine.Now().Add(time.Second), at)
}

func TestPricesOfAPauseAreNotMadeUp(t *testing.T) {
	b := byHandTrail(t, strategy.ByPrices())
	require.Equal(t, []string{"update 2 stop 99 attached"}, b.price(110))
	b.moved(99)
	b.now = b.engine.Now().Add(time.Hour) // the process was down; the price was at 150
	require.Empty(t, b.restart(nil, &script{}))
	require.Empty(t, b.price(105))
	// a candle of the pause that is delivered late is no price for a stop that follows prices
	c := candleOf(1, 105, 150, 105, 140)
	c.Start = b.now - 2*minute
	require.Empty(t, b.by(&market.Event{Kind: market.KindCandles, At: b.now, Candles: []market.Candle{c}}))
	require.Equal(t, []string{"update 2 stop 108 attached"}, b.price(120))
}

func TestACandleFromBeforeTheEntryIsNotFollowed(t *testing.T) {
	b := byHandTrail(t, strategy.ExitAfter(2))
	c := candleOf(1, 150, 150, 150, 150)
	c.Start = b.engine.Now() - minute
	require.Empty(t, b.by(&market.Event{Kind: market.KindCandles, At: b.now, Candles: []market.Candle{c}}))
	levels, _ := b.engine.Exits(1, 1)
	require.Equal(t, 90*at1, levels.Stop)
}

func TestCandlesOfAnotherIntervalAreNotFollowed(t *testing.T) {
	s := follower(strategy.Trail(10*percent), strategy.ExitAfter(1))
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s, Intervals: []market.Interval{market.Interval5m,
		market.Interval1m}}}})
	b.flat(3, 100)
	b.flat(3, 120)
	require.Equal(t, []string{"buy 1", "stop 1 @ 90 attached"}, b.sent)
}

// Bought at 100 with a fee of 0.25 %: a sale at 100.51 less 0.25 % is the first one to bring at
// least 100.25.
func TestBreakEvenPaysBothFees(t *testing.T) {
	fees := func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} }
	s := follower(strategy.StopAt(90*at1), strategy.BreakEvenAfter(percent))
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{Fees: fees}})
	b.flat(2, 100)
	b.flat(1, 101) // 101.25 would be 1 % over the cost
	b.flat(1, 102)
	b.flat(1, 102)
	b.candle(102, 102, 95, 96)
	require.Equal(t, []string{"buy 1", "stop 1 @ 90 attached", "update 2 stop 100.51"}, b.sent)
	require.GreaterOrEqual(t, b.realised(), market.Money(0))
	require.Less(t, b.realised(), market.Money(2))
}

// Bought at 0.03 with a fee of 0.25 %: a sale at 0.0302 would bring what was paid, so that 0.04 is
// the first price that does. The cost of 0.030075 is not rounded to 0.04 before.
func TestBreakEvenAtCoarsePricesIsRoundedOnce(t *testing.T) {
	fees := func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} }
	s := &script{candle: once(func(d *strategy.Desk) {
		d.In(1).Buy(strategy.Amount(1000*btc), strategy.StopAt(1), strategy.BreakEvenAfter(percent))
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{Fees: fees}})
	at := func(prices ...market.Price) {
		for _, p := range prices {
			b.group(market.Candle{Market: 1, Interval: market.Interval1m, Open: p, High: p, Low: p, Close: p})
		}
	}
	at(3, 3, 7, 7, 7)
	require.Equal(t, []string{"buy 1000", "stop 1000 @ 0.01 attached", "update 2 stop 0.04"}, b.sent)
}

// A gain below the costs never moves the stop above the price.
func TestBreakEvenWaitsForAPriceAboveIt(t *testing.T) {
	fees := func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 250_000, Taker: 250_000} }
	s := follower(strategy.StopAt(90*at1), strategy.BreakEvenAfter(1))
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{Fees: fees}})
	b.flat(2, 100)
	b.group(market.Candle{Market: 1, Interval: market.Interval1m, Open: 100_51, High: 100_51, Low: 100_51,
		Close: 100_51})
	require.Len(t, b.sent, 2)
	b.group(market.Candle{Market: 1, Interval: market.Interval1m, Open: 100_52, High: 100_52, Low: 100_52,
		Close: 100_52})
	require.Equal(t, "update 2 stop 100.51", b.sent[2])
}

func TestAnUpdateSetsWhatABracketFollows(t *testing.T) {
	var refused error
	s := &script{candle: minutely(map[int]func(d *strategy.Desk){
		1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), strategy.Exits(90*at1, 200*at1)) },
		3: func(d *strategy.Desk) {
			require.NoError(t, d.Update(1, strategy.Trail(5*percent)))
			require.NoError(t, d.Update(1, strategy.ExitAfter(5), strategy.StopAt(92*at1)))
			refused = d.Update(7, strategy.Trail(5*percent))
		},
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}})
	b.flat(5, 100)
	b.flat(4, 110)
	require.ErrorContains(t, refused, "no_such_order")
	require.Equal(t, []string{"buy 1", "stop 1 @ 90 attached", "update 2 stop 92", "update 2 stop 95",
		"cancel 2", "sell 1 attached"}, b.sent, "the fifth candle since the entry closes at 110")
}

// Exits that an update sets later end at the same price as those that come with the buy: they count
// the candles, the time and the peak since the entry bought.
func TestExitsSetByAnUpdateCountFromTheEntry(t *testing.T) {
	path := []bar{{100, 101, 99, 100}, {100, 106, 100, 105}, {105, 121, 105, 120}, {120, 121, 113, 114},
		{114, 114, 112, 113}, {113, 114, 111, 112}, {112, 113, 95, 100}, {100, 101, 99, 100}}
	for name, with := range map[string][]strategy.Option{
		"trail":         {strategy.Trail(7 * percent)},
		"trail by":      {strategy.TrailBy(8 * at1)},
		"by prices":     {strategy.Trail(8 * percent), strategy.ByPrices()},
		"break-even":    {strategy.BreakEvenAfter(15 * percent)},
		"after candles": {strategy.ExitAfter(6)},
		"after a time":  {strategy.ExitAfterTime(5*time.Minute + time.Second)},
	} {
		ends := map[bool]market.Money{}
		for _, late := range []bool{false, true} {
			buy := []strategy.Option{strategy.StopAt(80 * at1)}
			if !late {
				buy = append(buy, with...)
			}
			s := &script{candle: minutely(map[int]func(d *strategy.Desk){
				1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), buy...) },
				5: func(d *strategy.Desk) {
					if late {
						require.NoError(t, d.Update(1, with...))
					}
				},
			})}
			b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}})
			b.flat(1, 100)
			for _, x := range path {
				b.candle(x.open, x.high, x.low, x.close)
			}
			require.Zero(t, b.position(), name)
			ends[late] = b.realised()
		}
		require.Equal(t, ends[false], ends[true], name)
	}
}

// An exit that the price has passed is refused, or, with OrSell, sells at once.
func TestAnUpdateBehindTheMarketSellsWhereItMay(t *testing.T) {
	for name, level := range map[string]strategy.Option{"target": strategy.TargetAt(99 * at1),
		"stop": strategy.StopAt(101 * at1)} {
		for _, keep := range []market.Leg{market.KeepStop, market.KeepTarget} {
			var refused error
			s := &script{candle: minutely(map[int]func(d *strategy.Desk){
				1: func(d *strategy.Desk) {
					d.In(1).Buy(strategy.Amount(btc), strategy.Exits(90*at1, 200*at1), strategy.Keep(keep))
					require.Error(t, d.Update(1, level, strategy.OrSell()), "the entry has bought nothing")
				},
				3: func(d *strategy.Desk) {
					refused = d.Update(1, level)
					require.NoError(t, d.Update(1, level, strategy.OrSell()))
				},
			})}
			b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}})
			b.flat(3, 100)
			require.Equal(t, btc, b.position())
			require.ErrorContains(t, refused, "latest price", name)
			b.flat(1, 100)
			require.Zero(t, b.position(), "%s, keeps %d", name, keep)
			require.Zero(t, b.realised())
		}
	}
}

func TestAHeldPositionIsFollowed(t *testing.T) {
	s := &script{candle: minutely(map[int]func(d *strategy.Desk){
		1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc)) },
		2: func(d *strategy.Desk) {
			_, err := d.In(1).Protect(strategy.Trail(10*percent), strategy.ExitAfterTime(3*time.Minute))
			require.NoError(t, err)
		},
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}})
	b.flat(2, 100)
	b.flat(5, 110)
	require.Equal(t, []string{"buy 1", "stop 1 @ 90", "update 3 stop 99", "cancel 3", "sell 1 attached"}, b.sent)
}

func TestExitsThatFollowNeedAnExit(t *testing.T) {
	var said []string
	s := &script{candle: once(func(d *strategy.Desk) {
		ask := func(_ market.OrderID, err error) { said = append(said, fmt.Sprint(err)) }
		ask(d.In(1).Buy(strategy.Amount(btc), strategy.ExitAfter(3)))
		ask(d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.ByPrices()))
		ask(d.In(1).Buy(strategy.Amount(btc), strategy.TrailBy(100*at1)))
		ask(d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.TrailAfter(percent)))
		ask(d.In(1).Buy(strategy.Amount(btc), strategy.Trail(percent), strategy.TrailAfter(percent)))
		ask(d.In(1).Buy(strategy.Amount(btc), strategy.EnoughAfter(0, percent)))
		ask(d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.EnoughAfter(0, -percent)))
		ask(d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.EnoughAfter(-time.Second, percent)))
		ask(d.In(1).Buy(strategy.Amount(btc), strategy.Trail(100*percent)))
		ask(d.In(1).Protect(strategy.ExitAfter(3)))
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}})
	b.flat(1, 100)
	require.Equal(t, []string{
		"meaningless: an exit that follows needs a stop or a target: add StopAt, TargetAt or Trail",
		"meaningless: ByPrices without Trail, TrailBy or BreakEvenAfter",
		"refused: stop: -0.01 is not above 0",
		"meaningless: TrailAfter without Trail or TrailBy",
		"meaningless: an exit that follows needs a stop or a target: add StopAt, TargetAt or Trail",
		"meaningless: an exit that follows needs a stop or a target: add StopAt, TargetAt or Trail",
		"meaningless: EnoughAfter(-1000000): a gain is at least 0 and at most 10000%",
		"meaningless: EnoughAfter(-1s): a duration is not below 0",
		"meaningless: Trail(100000000): a rate is above 0 and below 100%",
		"meaningless: an exit that follows needs a stop or a target: add StopAt, TargetAt or Trail"}, said)
}

// A Close that a bracket begins by itself takes its own base and cancels its own entry, not those
// of others.
func TestTheEndOfABracketIsItsOwn(t *testing.T) {
	s := &script{candle: minutely(map[int]func(d *strategy.Desk){
		1: func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(90*at1), strategy.ExitAfter(2), strategy.Tag("first"))
		},
		2: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(2*btc), strategy.StopAt(80*at1)) },
		3: func(d *strategy.Desk) {
			d.In(1).Buy(strategy.Amount(3 * btc))
			d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1), strategy.StopAt(40*at1))
		},
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}})
	b.flat(5, 100)
	require.Equal(t, []string{"buy 1", "stop 1 @ 90 attached", "buy 2", "stop 2 @ 80 attached", "buy 3", "buy 1 @ 50",
		"cancel 2",
		"sell 1 attached"}, b.sent)
	require.Equal(t, 5*btc, b.position())
	require.Equal(t, market.OrderID(6), b.account.Open(nil, 1, 1)[1].ID, "the other entry still waits")
	levels, found := b.engine.Exits(1, 3)
	require.True(t, found)
	require.Equal(t, 80*at1, levels.Stop)
}

// explained keeps the figures of what the gate passed, and the moves.
type explained struct {
	guard
	lines []string
}

func (e *explained) Approved(_ state.Terms, c *market.Command, figures []state.Figure) {
	for _, f := range figures {
		e.lines = append(e.lines, fmt.Sprintf("%s %d: %s %s %s", c.Kind, c.Order.ID, f.Name, f.Before, f.After))
	}
}

func (e *explained) StopMoved(m *strategy.StopMoved) {
	e.lines = append(e.lines, fmt.Sprintf("%d moved from %s to %s", m.Bracket, cents(m.From), cents(m.To)))
}

func TestTheJournalHearsWhatFollows(t *testing.T) {
	e := &explained{}
	s := follower(strategy.Trail(10*percent), strategy.TrailAfter(percent), strategy.StopAt(90*at1),
		strategy.ExitAfter(9), strategy.EnoughAfter(time.Hour, 50*percent))
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, observer: e})
	b.flat(2, 100)
	b.flat(1, 120)
	require.Equal(t, []string{"place 1: exits fixed trail 10%, trail after 1%, exit after 9 candles, " +
		"enough at 50% after 1h0m0s",
		"update 2: stop follows 90 108",
		"1 moved from 90 to 108"}, e.lines)
}

// With latency a stop that follows prices is moved late, and never back.
func TestAStopThatFollowsPricesNeverLoosens(t *testing.T) {
	for seed := range uint64(*markets) {
		r := rand.New(rand.NewPCG(seed, 12))
		with := []strategy.Option{strategy.Trail(market.Rate(1 + r.Int64N(int64(10*percent)))), strategy.ByPrices()}
		if r.IntN(2) == 0 {
			with = append(with, strategy.BreakEvenAfter(2*percent))
		}
		play := func(restarting bool) *bench {
			s := follower(with...)
			b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}},
				venue: sim.Config{Path: sim.Path(seed % 5), Latency: time.Duration(seed%3) * 10 * time.Second}})
			if restarting {
				b.restartAlways(s)
			}
			stop := market.Price(0)
			if done := b.done; true {
				b.done = func() {
					if done != nil {
						done()
					}
					if levels, found := b.engine.Exits(1, 1); found {
						require.GreaterOrEqual(t, levels.Stop, stop)
						stop = levels.Stop
					}
				}
			}
			chance := rand.New(rand.NewPCG(seed, 13))
			price := market.Price(100)
			for range 40 {
				to := price + market.Price(chance.IntN(9)-4)
				b.candle(price, max(price, to)+market.Price(chance.IntN(3)),
					min(price, to)-market.Price(chance.IntN(3)), to)
				price = to
			}
			return b
		}
		want, have := play(false), play(true)
		require.Equal(t, want.sent, have.sent, "seed %d", seed)
		require.Equal(t, want.told, have.told, "seed %d", seed)
	}
}

// The exchange refuses the sale at the end: the old stop protects again, and a minute later the
// bracket tries again.
func TestAnEndThatFailsIsTriedAgain(t *testing.T) {
	b := byHandTrail(t, strategy.ExitAfterTime(10*time.Second))
	require.Empty(t, b.timer(9*time.Second))
	at, _ := b.engine.NextTimer()
	b.now = at
	require.Equal(t, []string{"cancel 2"}, b.by(&market.Event{Kind: market.KindTimer, At: at}))
	require.Equal(t, []string{"sell 1 attached"}, b.cancelled(2, 0))
	require.Equal(t, []string{"stop 1 @ 90 attached"}, b.refuse(market.CommandPlace, 3, exchange.CodeCancelOnly))
	b.accept(4)
	again, _ := b.engine.NextTimer()
	require.Equal(t, at.Add(time.Minute), again)
	b.now = again
	require.Equal(t, []string{"cancel 4"}, b.by(&market.Event{Kind: market.KindTimer, At: again}))
}
