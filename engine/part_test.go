package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// half is 1 BTC bought at 100, a half sold at 103, the rest at 90 or 108.
func half(with ...strategy.Option) []strategy.Option {
	return append([]strategy.Option{strategy.StopAt(90 * at1), strategy.PartAt(103*at1, 50*percent),
		strategy.TargetAt(108 * at1)}, with...)
}

var parts = []life{
	{name: "the part, then the target", with: half(), bars: []bar{{100, 105, 99, 104}, {104, 110, 103, 109}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached", "cancel 2 attached",
			"sell 0.5 @ 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103", "2 canceled",
			"4 trade 0.5 @ 108"}, realised: 550},
	{name: "the part, then the stop", with: half(), bars: []bar{{100, 105, 99, 104}, {104, 104, 85, 86}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103",
			"2 trade 0.5 @ 90"}, realised: -350},
	{name: "the stop alone", with: half(), bars: []bar{{100, 102, 85, 86}},
		sent: []string{"stop 1 @ 90 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 trade 1 @ 90"}, realised: -1000},
	{name: "part and target in one candle", with: half(), bars: []bar{{100, 100, 100, 100}, {100, 110, 99, 109}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached", "cancel 2 attached",
			"sell 0.5 @ 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103", "2 canceled",
			"4 trade 0.5 @ 108"}, realised: 550},
	{name: "part and stop in one candle, the high first", path: sim.OHLC, with: half(),
		bars: []bar{{100, 100, 100, 100}, {100, 105, 85, 95}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103",
			"2 trade 0.5 @ 90"}, realised: -350},
	{name: "part and stop in one candle, the low first", path: sim.OLHC, with: half(),
		bars: []bar{{100, 100, 100, 100}, {100, 105, 85, 95}},
		sent: []string{"stop 1 @ 90 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 trade 1 @ 90"}, realised: -1000},
	{name: "a gap over the part fills at the open", with: half(),
		bars: []bar{{100, 100, 100, 100}, {105, 106, 104, 105}, {105, 105, 80, 81}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 105",
			"2 trade 0.5 @ 90"}, realised: -250},
	{name: "a gap over the target sells all by it", with: half(),
		bars: []bar{{100, 100, 100, 100}, {110, 111, 109, 110}},
		sent: []string{"stop 1 @ 90 attached", "cancel 2 attached", "sell 1 @ 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 canceled", "3 trade 1 @ 110"}, realised: 1000},
	{name: "bought above the part: it is sold at once", with: half(), bars: []bar{{104, 105, 103, 104}, {104, 109, 104,
		109}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached", "cancel 2 attached",
			"sell 0.5 @ 108 attached"},
		told: []string{"1 trade 1 @ 104", "2 new", "2 updated", "3 trade 0.5 @ 104", "2 canceled",
			"4 trade 0.5 @ 108"}, realised: 200},
	{name: "the target rests and is reduced", with: half(strategy.Keep(market.KeepTarget)),
		bars: []bar{{100, 105, 99, 104}, {104, 110, 103, 109}},
		sent: []string{"sell 1 @ 108 attached", "update 2 0.5 attached", "sell 0.5 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103",
			"2 trade 0.5 @ 108"}, realised: 550},
	{name: "the target rests, the part is sold, the stop is reached", with: half(strategy.Keep(market.KeepTarget)),
		bars: []bar{{100, 105, 99, 104}, {104, 104, 85, 86}},
		sent: []string{"sell 1 @ 108 attached", "update 2 0.5 attached", "sell 0.5 attached", "cancel 2 attached",
			"stop 0.5 @ 90 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103", "2 canceled",
			"4 trade 0.5 @ 90"}, realised: -350},
	{name: "two parts on the way", with: half(strategy.PartAt(105*at1, 25*percent)),
		bars: []bar{{100, 100, 100, 100}, {100, 106, 99, 106}, {106, 109, 105, 109}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached", "update 2 0.25 attached",
			"sell 0.25 attached", "cancel 2 attached", "sell 0.25 @ 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103", "2 updated", "4 trade 0.25 @ 105",
			"2 canceled", "5 trade 0.25 @ 108"}, realised: 475},
	{name: "a gap over two parts is one sale", with: half(strategy.PartAt(105*at1, 25*percent)),
		bars: []bar{{100, 100, 100, 100}, {106, 106, 105, 106}, {106, 109, 105, 109}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.25 attached", "sell 0.75 attached", "cancel 2 attached",
			"sell 0.25 @ 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.75 @ 106", "2 canceled",
			"4 trade 0.25 @ 108"}, realised: 650},
	{name: "a trailing stop over the rest", with: []strategy.Option{strategy.Trail(10 * percent),
		strategy.PartAt(103*at1, 30*percent)},
		bars: []bar{{100, 105, 99, 104}, {104, 120, 104, 120}, {120, 120, 100, 101}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.7 attached", "sell 0.3 attached", "update 2 stop 93.6",
			"update 2 stop 108"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.3 @ 103", "2 updated", "2 updated",
			"2 trade 0.7 @ 108"}, realised: 650},
	{name: "a trailing stop by prices", path: sim.OHLC, with: []strategy.Option{strategy.Trail(10 * percent),
		strategy.ByPrices(), strategy.PartAt(103*at1, 30*percent)},
		bars: []bar{{100, 100, 100, 100}, {100, 120, 104, 110}},
		sent: []string{"stop 1 @ 90 attached", "update 2 stop 92.7 attached", "update 2 0.7 attached",
			"sell 0.3 attached", "update 2 stop 108 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "2 updated", "3 trade 0.3 @ 103", "2 updated",
			"2 trade 0.7 @ 108"}, realised: 650},
	{name: "break-even for the rest", with: half(strategy.BreakEvenAfter(3 * percent)),
		bars: []bar{{100, 105, 99, 104}, {104, 104, 85, 86}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached", "update 2 stop 100"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103", "2 updated",
			"2 trade 0.5 @ 100"}, realised: 150},
	{name: "an end after two candles sells the rest", with: half(strategy.ExitAfter(2)),
		bars: []bar{{100, 105, 99, 104}, {104, 104, 102, 104}, {104, 104, 102, 104}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached", "cancel 2",
			"sell 0.5 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.5 @ 103", "2 canceled",
			"4 trade 0.5 @ 104"}, realised: 350},
	{name: "no decimals are lost", with: []strategy.Option{strategy.StopAt(90 * at1),
		strategy.PartAt(103*at1, 33*percent+33*market.BasisPoint), strategy.PartAt(104*at1, 33*percent),
		strategy.TargetAt(105 * at1)},
		bars: []bar{{100, 106, 99, 106}},
		sent: []string{"stop 1 @ 90 attached", "update 2 0.6667 attached", "sell 0.3333 attached",
			"update 2 0.3367 attached", "sell 0.33 attached", "cancel 2 attached", "sell 0.3367 @ 105 attached"},
		told: []string{"1 trade 1 @ 100", "2 new", "2 updated", "3 trade 0.3333 @ 103", "2 updated",
			"4 trade 0.33 @ 104", "2 canceled", "5 trade 0.3367 @ 105"}, realised: 399},
}

func TestPartialTargetsThroughEveryShapeOfCandle(t *testing.T) {
	for _, restarting := range []bool{false, true} {
		for _, l := range parts {
			s := follower(l.with...)
			b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{Path: l.path}})
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

// walk is a bracket with partial targets by plain arithmetic, for paths that visit open, high, low
// and close.
type walk struct {
	stop, target market.Price
	parts        strategy.Parts
	passed       int
	held, parted market.Qty
	fills        []string
}

func (w *walk) sell(amount market.Qty, price market.Price) {
	w.held -= amount
	w.fills = append(w.fills, fmt.Sprintf("%d at %d", amount, price))
}

// part sells the parts up to a level.
func (w *walk) part(level, price market.Price) {
	share := market.Rate(0)
	for i, p := range w.parts {
		if p.Price <= level {
			share, w.passed = share+p.Share, max(w.passed, i+1)
		}
	}
	if amount := btc*market.Qty(share)/market.Qty(market.Whole) - w.parted; amount > 0 {
		w.parted += amount
		w.sell(amount, price)
	}
}

// jump is a price that comes after a gap, and go on to the next price.
func (w *walk) jump(price market.Price) {
	switch {
	case w.held == 0:
	case price <= w.stop, price >= w.target:
		w.sell(w.held, price)
	case w.passed < len(w.parts) && price >= w.parts[w.passed].Price:
		w.part(price, price)
	}
}

func (w *walk) on(price market.Price) {
	for w.held > 0 && w.passed < len(w.parts) && price >= w.parts[w.passed].Price {
		w.part(w.parts[w.passed].Price, w.parts[w.passed].Price)
	}
	switch {
	case w.held == 0:
	case price <= w.stop:
		w.sell(w.held, w.stop)
	case price >= w.target:
		w.sell(w.held, w.target)
	}
}

func TestPartialTargetsSellWhatPlainArithmeticSells(t *testing.T) {
	sales := 0
	for seed := range uint64(*markets) {
		r := rand.New(rand.NewPCG(seed, 31))
		price := 100 * at1
		w := &walk{stop: price - market.Price(1+r.IntN(1000)), held: btc}
		with := []strategy.Option{strategy.StopAt(w.stop), strategy.Keep(market.Leg(r.IntN(2)))}
		level := price
		for range 1 + r.IntN(4) {
			level += market.Price(1 + r.IntN(300))
			p := strategy.Part{Price: level, Share: market.Rate(1 + r.Int64N(int64(25*percent-1)))}
			w.parts = append(w.parts, p)
			with = slices.Insert(with, r.IntN(len(with)+1), strategy.PartAt(p.Price, p.Share))
		}
		w.target = level + market.Price(1+r.IntN(300))
		s := follower(append(with, strategy.TargetAt(w.target))...)
		fills := &sold{}
		b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, observer: fills,
			venue: sim.Config{Path: sim.OHLC, LimitGap: sim.GapOpen}})
		if r.IntN(2) == 0 {
			b.restartAlways(s)
		}
		b.done = both(b.done, func() { require.NoError(t, b.engine.CheckBrackets()) })
		b.flat(2, 100)
		for range 40 {
			open := max(1, price+market.Price(r.IntN(101)-50))
			next := max(1, open+market.Price(r.IntN(401)-200))
			c := market.Candle{Market: 1, Interval: market.Interval1m, Open: open, Close: next, Volume: 1000,
				High: max(open, next) + market.Price(r.IntN(100)),
				Low:  max(1, min(open, next)-market.Price(r.IntN(100)))}
			b.group(c)
			w.jump(c.Open)
			for _, p := range []market.Price{c.High, c.Low, c.Close} {
				w.on(p)
			}
			price = next
		}
		require.Equal(t, w.fills, fills.list, "seed %d", seed)
		require.Equal(t, w.held, b.position(), "seed %d", seed)
		require.Zero(t, b.engine.Brackets().Unprotected(), "seed %d", seed)
		sales += len(w.fills)
	}
	require.Greater(t, sales, *markets)
}

func both(first, then func()) func() {
	return func() {
		if first != nil {
			first()
		}
		then()
	}
}

// sold lists the fills of sells.
type sold struct{ list []string }

func (s *sold) Filled(o *state.Order, f *market.Fill) {
	if o.Side == market.Sell {
		s.list = append(s.list, fmt.Sprintf("%d at %d", f.Amount, f.Price))
	}
}

func (s *sold) Closed(*state.Order) {}

// byHandPart is byHand with a part of a half at 103, and the stop, order 2, resting.
func byHandPart(t *testing.T, c *closer) *bench {
	c.candle = once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), half()...) })
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: c}}})
	b.close100()
	b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: reported(1, 1, market.StatusFilled, btc),
		Fills: []market.Fill{fillNumbered(1, 1, btc)}})
	b.accept(2)
	require.Equal(t, []bracket.Watched{
		{Bracket: 1, Strategy: 1, Market: 1, Price: 103 * at1, Amount: btc / 2, Part: true},
		{Bracket: 1, Strategy: 1, Market: 1, Price: 108 * at1, Amount: btc}}, b.engine.Brackets().Watched(1))
	require.Equal(t, []string{"update 2 0.5 attached"}, b.price(103))
	return b
}

// reduced answers the reduction of the stop.
func (b *bench) reduced(id market.OrderID, to market.Qty) []string {
	o := *b.account.Order(id)
	o.Amount, o.AmountRemaining, o.OnHold = to, to-o.FilledAmount, market.Money(to-o.FilledAmount)
	r := market.ReportOf(&o, market.ExecUpdated)
	b.now += 1e9
	r.Updated = b.now
	return b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: &r})
}

// The stop protects the whole until the exchange has confirmed that it holds the rest alone. A sale
// that is refused leaves the part protected at once; the part is tried again a minute later, at a
// price that has reached it.
func TestAPartThatCannotBeSoldIsProtectedAndTriedAgain(t *testing.T) {
	c := &closer{}
	b := byHandPart(t, c)
	require.Empty(t, b.price(104), "one change at a time")
	require.Empty(t, b.engine.Brackets().Bare())
	require.Equal(t, []string{"sell 0.5 attached"}, b.reduced(2, btc/2))
	require.Equal(t, strategy.CauseClose, b.engine.Brackets().Bare()[0].Cause)
	require.Equal(t, []string{"update 2 1 attached"}, b.refuse(market.CommandPlace, 3, exchange.CodeInvalid))
	require.Equal(t, []string{"0.5 of order 3 (partial target): the exchange refused sale 3: " +
		exchange.ErrCode(exchange.CodeInvalid).Error()}, c.failed)
	require.Empty(t, b.reduced(2, btc))
	require.Empty(t, b.engine.Brackets().Bare())
	require.Empty(t, b.price(104), "it waits a minute")
	require.Empty(t, b.timer(time.Minute), "for a price that has reached it")
	require.Empty(t, b.price(102))
	_, waiting := b.engine.NextTimer()
	require.False(t, waiting)
	require.Equal(t, []string{"update 2 0.5 attached"}, b.price(103))
	require.Equal(t, []string{"sell 0.5 attached"}, b.reduced(2, btc/2))
	require.Empty(t, b.sells(4, 4, btc/2, market.StatusFilled))
	require.Empty(t, b.price(104))
	require.Empty(t, b.engine.Brackets().Bare())
	require.Equal(t, market.Watch{Above: 108 * at1}, b.engine.Watches()[1])
}

// A sale that finds too few buyers: what it has sold is not sold again.
func TestAPartThatIsSoldInPartSellsItsRest(t *testing.T) {
	c := &closer{}
	b := byHandPart(t, c)
	b.reduced(2, btc/2)
	require.Equal(t, []string{"update 2 0.7 attached"}, b.sells(3, 3, 3*btc/10, market.StatusExpired))
	b.reduced(2, 7*btc/10)
	b.now += minute
	require.Equal(t, []string{"update 2 0.5 attached"}, b.price(103))
	require.Equal(t, []string{"sell 0.2 attached"}, b.reduced(2, 5*btc/10))
}

// The stop fills while it is being reduced: nothing is left to sell.
func TestAStopThatFillsFirstLeavesNothingForThePart(t *testing.T) {
	c := &closer{}
	b := byHandPart(t, c)
	o := *b.account.Order(2)
	o.Status, o.FilledAmount, o.AmountRemaining, o.OnHold = market.StatusFilled, btc, 0, 0
	require.Empty(t, b.tell(&o, soldNumbered(2, 2, btc)))
	require.Empty(t, b.refuse(market.CommandUpdate, 2, exchange.CodeNotFound))
	require.Zero(t, b.position())
	require.Empty(t, c.failed)
	require.Empty(t, b.price(110))
}

// A Close of the strategy while a part is on its way is not lost: it follows.
func TestACloseDuringAPartFollowsIt(t *testing.T) {
	for _, restarting := range []bool{false, true} {
		c := &closer{}
		b := byHandPart(t, c)
		c.candle = func(d *strategy.Desk, _ market.Candle) {
			require.NoError(t, d.In(1).ClosePart(strategy.Amount(btc/10)))
			require.NoError(t, d.In(1).Close(strategy.Tag("signal")))
		}
		require.Empty(t, b.close100())
		if restarting {
			b.slotOf(t, c)
		}
		require.Equal(t, []string{"sell 0.5 attached"}, b.reduced(2, btc/2))
		require.Equal(t, []string{"cancel 2"}, b.sells(3, 3, btc/2, market.StatusFilled))
		require.Equal(t, []string{"sell 0.5 attached"}, b.cancelled(2, 0))
		require.Equal(t, "signal", b.account.Order(4).Tag)
		b.sells(4, 4, btc/2, market.StatusFilled)
		require.Zero(t, b.position())
		require.Empty(t, b.engine.Brackets().Bare())
	}
}

// parted is a bench with a minimum of 5 EUR, on which a limit entry at 100 fills a share of each
// candle's volume; without a share, an entry of 0.12 BTC at market.
func parted(t *testing.T, volume market.Rate, with ...strategy.Option) *bench {
	s := follower(append(with, strategy.At(100*at1))...)
	if volume == 0 {
		s = &script{candle: once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(12*btc/100), with...) })}
	}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, venue: sim.Config{VolumeShare: volume}})
	b.catalog.Market(1).MinOrderInQuote = 5 * eur
	b.flat(1, 100)
	return b
}

func TestAPartThatIsTooSmallStaysWithTheRest(t *testing.T) {
	// 0.04 of 0.12 BTC are 4.12 EUR: sold with the next part
	b := parted(t, 0, strategy.StopAt(90*at1), strategy.PartAt(103*at1, 34*percent),
		strategy.PartAt(106*at1, 10*percent))
	b.candle(100, 104, 100, 104)
	require.Equal(t, []string{"buy 0.12", "stop 0.12 @ 90 attached"}, b.sent)
	require.Contains(t, b.log.String(), `"level":"103","amount":"0.0408","why":"the part is too small: target: 4.2`)
	require.Equal(t, market.Watch{Above: 106 * at1}, b.engine.Watches()[1])
	b.candle(104, 107, 104, 107)
	require.Equal(t, []string{"update 2 0.0672 attached", "sell 0.0528 attached"}, b.sent[2:])

	// 0.05 BTC at the stop would be 4.5 EUR: all stay
	b = parted(t, 0, strategy.StopAt(90*at1), strategy.PartAt(103*at1, 60*percent))
	b.candle(100, 104, 100, 104)
	b.candle(104, 104, 80, 80)
	require.Equal(t, []string{"buy 0.12", "stop 0.12 @ 90 attached"}, b.sent)
	require.Contains(t, b.log.String(), "the rest would be too small: stop: 4.3")
	require.Zero(t, b.position())
}

// A part is a share of what the entry has bought. What it may still buy is cancelled first.
func TestAPartOfAPartlyFilledEntry(t *testing.T) {
	b := parted(t, 20_000, half()...) // 0.2 BTC of each candle's volume
	b.flat(2, 100)
	require.Equal(t, 4*btc/10, b.position())
	b.candle(101, 104, 101, 104)
	require.Equal(t, []string{"cancel 1 attached", "update 2 0.2 attached", "sell 0.2 attached"},
		b.sent[len(b.sent)-3:])
	require.Equal(t, 2*btc/10, b.position())
	b.flat(2, 100)
	require.Equal(t, 2*btc/10, b.position(), "the entry buys no more")

	// what is too small while the entry may buy more, is a part later
	b = parted(t, 6_000, half()...)
	b.flat(1, 100)
	b.candle(101, 104, 101, 101)
	b.flat(2, 100)
	many := candleOf(1, 101, 104, 101, 104)
	many.Volume *= 100
	b.group(many)
	require.Equal(t, []string{"cancel 1 attached", "update 2 0.09 attached", "sell 0.09 attached"},
		b.sent[len(b.sent)-3:])
}

func TestAnUpdateReplacesThePartsThatAreToCome(t *testing.T) {
	var said []string
	s := &script{candle: minutely(map[int]func(d *strategy.Desk){
		1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc), half()...) },
		3: func(d *strategy.Desk) {
			said = append(said, fmt.Sprint(d.Update(1, strategy.PartAt(104*at1, 10*percent))),
				fmt.Sprint(d.Update(1, strategy.PartAt(108*at1, 10*percent))),
				fmt.Sprint(d.Update(7, strategy.PartAt(108*at1, 10*percent))))
			require.NoError(t, d.Update(1, strategy.PartAt(106*at1, 20*percent), strategy.TargetAt(120*at1)))
		},
		5: func(d *strategy.Desk) { require.NoError(t, d.Update(1, strategy.Trail(5*percent))) },
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}})
	b.flat(1, 100)
	b.candle(100, 104, 100, 104)
	b.flat(1, 104)
	b.candle(104, 107, 104, 107)
	b.flat(1, 107)
	require.Equal(t, []string{"buy 1", "stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached",
		"update 2 0.3 attached", "sell 0.2 attached", "update 2 stop 101.65"}, b.sent)
	require.Equal(t, []string{"partial target: refused: target: 104 is not above 104, the latest price",
		"meaningless: PartAt(108) is not below the target of 108", "refused: no_such_order (order 7)"}, said)
}

func TestAHeldPositionIsSoldInParts(t *testing.T) {
	s := &script{candle: minutely(map[int]func(d *strategy.Desk){
		1: func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(btc)) },
		2: func(d *strategy.Desk) {
			_, err := d.In(1).Protect(half()...)
			require.NoError(t, err)
		},
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}})
	b.flat(3, 100)
	b.candle(100, 104, 100, 104)
	require.Equal(t, []string{"buy 1", "stop 1 @ 90", "update 3 0.5 attached", "sell 0.5 attached"}, b.sent)
}

func TestPartialTargetsThatDoNotFitAreRefused(t *testing.T) {
	var said []string
	s := &script{candle: once(func(d *strategy.Desk) {
		ask := func(with ...strategy.Option) {
			_, err := d.In(1).Buy(strategy.Amount(btc), with...)
			said = append(said, fmt.Sprint(err))
		}
		ask(strategy.PartAt(103*at1, 50*percent))
		ask(half(strategy.PartAt(104*at1, 50*percent))...)
		ask(half(strategy.PartAt(108*at1, 10*percent))...)
		ask(half(strategy.PartAt(100*at1, 10*percent))...)
		ask(half(strategy.PartAt(104*at1, 100*percent))...)
		ask(half(strategy.PartAt(0, 10*percent))...)
		_, err := d.In(1).Sell(strategy.Amount(btc), strategy.PartAt(104*at1, 10*percent), strategy.StopAt(90*at1))
		said = append(said, fmt.Sprint(err))
		_, err = d.In(9).Buy(strategy.Amount(btc), half()...)
		said = append(said, fmt.Sprint(err))
	})}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}})
	b.flat(1, 100)
	require.Empty(t, b.sent)
	require.Equal(t, []string{
		"meaningless: an exit that follows needs a stop or a target: add StopAt, TargetAt or Trail",
		"meaningless: the shares of PartAt are 100% together: they are below 100%, and TargetAt sells the rest",
		"meaningless: PartAt(108) is not below the target of 108",
		"partial target: refused: target: 100 is not above 100, the worst price of the entry",
		"meaningless: PartAt with a share of 100%: a share is above 0% and below 100%; all is TargetAt",
		"meaningless: PartAt(0): a price is positive",
		"partial target: refused: target: exits belong to a buy; leave Exits out of a sell, or use Protect",
		"refused: unknown_market"}, said)
}

func TestTheJournalHearsOfPartialTargets(t *testing.T) {
	e := &explained{}
	s := follower(half()...)
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}, observer: e})
	b.flat(1, 100)
	b.candle(100, 104, 100, 104)
	require.Equal(t, []string{"place 1: exits fixed partial targets 50% at 103",
		"update 2: close partial target 1 0.5", "place 3: close partial target 1 0.5"}, e.lines)
}

// With latency the reduction and the sale are late, and the stop keeps the rest.
func TestAPartWithLatency(t *testing.T) {
	s := follower(half()...)
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}},
		venue: sim.Config{Latency: market.Duration(30 * time.Second)}})
	b.flat(2, 100)
	b.candle(100, 104, 100, 102)
	b.flat(2, 102)
	require.Equal(t, []string{"buy 1", "stop 1 @ 90 attached", "update 2 0.5 attached", "sell 0.5 attached"}, b.sent)
	require.Equal(t, btc/2, b.position())
	require.Equal(t, []string{"arriving 40 s", "close 40 s"}, b.causes())
}

// A sale that fails while the reduced stop is being swapped: what the stop does not hold counts
// until an exit holds it.
func TestAReducedExitThatIsSwappedCountsAsTooSmall(t *testing.T) {
	c := &closer{}
	b := byHandPart(t, c)
	require.Equal(t, []string{"sell 0.5 attached"}, b.reduced(2, btc/2))
	require.Equal(t, []string{"cancel 2 attached"}, b.price(108))
	require.Empty(t, b.refuse(market.CommandPlace, 3, exchange.CodeInvalid))
	require.Len(t, b.engine.Brackets().Bare(), 1)
	o := *b.account.Order(2)
	require.Empty(t, b.tell(&o), "the stop still rests")
	require.Len(t, b.engine.Brackets().Bare(), 1, "over a half")
	require.Equal(t, []string{"sell 1 @ 108 attached"}, b.cancelled(2, 0))
	b.accept(4)
	require.Empty(t, b.engine.Brackets().Bare())
}

// The same where the swap waited for the answer to the reduction, and the Close has failed by then.
func TestAnExitThatIsReducedAfterItsPartHasFailedCounts(t *testing.T) {
	s := &closer{}
	s.candle = once(func(d *strategy.Desk) { d.In(1).Buy(strategy.Amount(2*btc), half(strategy.At(100*at1))...) })
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Strategy: s}}})
	b.close100()
	o := reported(1, 1, market.StatusPartiallyFilled, btc)
	b.by(&market.Event{Kind: market.KindReport, At: b.now, Report: o, Fills: []market.Fill{fillNumbered(1, 1, btc)}})
	b.accept(2)
	require.Equal(t, []string{"cancel 1 attached", "update 2 0.5 attached"}, b.price(103))
	require.Empty(t, b.price(108), "the swap waits for the reduction")
	require.Empty(t, b.refuse(market.CommandCancel, 1, exchange.CodeInvalid))
	require.Len(t, s.failed, 1)
	require.Equal(t, []string{"cancel 2 attached"}, b.reduced(2, btc/2))
	require.Len(t, b.engine.Brackets().Bare(), 1)
}
