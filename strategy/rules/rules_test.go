package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules"
	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

const hour = market.Time(3_600_000_000_000)

// stage has a market with whole prices and 1000 EUR, and rules on its hours.
type stage struct {
	*testing.T
	strategytest.Bench
	market   *market.Market
	strategy strategy.Strategy
	values   map[string]any
	next     market.Time // start of the next candle
	history  []market.Candle
}

func start(t *testing.T, values map[string]any) *stage {
	s := &stage{T: t, values: values}
	s.market = s.Market("BTC-EUR", 0, 2, 1000_00)
	s.strategy = s.made()
	return s
}

func (s *stage) made() strategy.Strategy {
	made, err := rules.Definition.New(s.values, s.Setup(market.Interval1h))
	require.NoError(s, err)
	made.(strategy.Watcher).Watch()
	return made
}

// bar closes a candle of ±2 around the price.
func (s *stage) bar(price market.Price, want ...string) {
	s.Helper()
	c := market.Candle{Open: price, High: price + 2, Low: price - 2, Close: price, Volume: 1, Market: s.market.ID,
		Interval: market.Interval1h, Start: s.next}
	s.next += hour
	s.At = s.next
	s.history = append(s.history, c)
	s.Bar(s.strategy, s.Desk(), c)
	require.Equal(s, want, s.Asked())
}

// fill fills an order at the open of the next candle.
func (s *stage) fill(id market.OrderID, side market.Side, price market.Price, amount market.Qty) {
	s.Fill(id, price, amount)
	s.strategy.(strategy.FillHandler).OnFill(s.Desk(), market.Fill{Order: id, Market: s.market.ID, Side: side,
		Price: price, Amount: amount, Time: s.next})
}

func TestTheExitGoesBeforeTheEntryAndTagsSayWhy(t *testing.T) {
	s := start(t, map[string]any{"rules.entry": "close > level", "level": int64(100), "rules.exit": "close > 110"})
	s.bar(100)
	s.bar(101, "buy 9.4 (entry: close 101 > level 100)")
	s.bar(102) // the buy is open
	s.fill(1, market.Buy, 102, 9_40)
	s.bar(103)
	s.bar(111, "close all (exit: close 111 > 110)")
	s.fill(2, market.Sell, 111, 9_40)
	s.bar(112) // flat, and both are true
	s.bar(105, "buy 9.81 (entry: close 105 > level 100)")
	require.Equal(t, []string{"The entry was true at 6 closes (2 with a position or an open order, 2 with a true " +
		"exit), the exit at 1 in a position."}, s.strategy.(strategy.Noter).Notes()[:1])
}

func TestTheLevelsOfAnEntry(t *testing.T) {
	for _, c := range []struct {
		name   string
		values map[string]any
		want   string
	}{
		{"prices", map[string]any{"rules.stop": "close * 0.955", "rules.target": "close * 1.055"},
			"buy 9.5 stop 95 target 106 (entry: close 100 > 0)"},
		{"rates", map[string]any{"rules.stop": "4%", "rules.target": "250bps", "rules.tag": "dip"},
			"buy 9.5 stop 96 target 103 (dip: close 100 > 0)"},
		{"a limit", map[string]any{"rules.at": "low", "rules.stop": "10%", "rules.size": "up to 2% risk",
			"rules.break_even": "3%"}, "buy 2 at 98 stop 88 target 0 (entry: close 100 > 0), break-even after 3%"},
		{"a trail by a rule", map[string]any{"rules.trail": "1.1 * (high - low)", "rules.size": "1% risk"},
			"buy 2 stop 95 target 0 (entry: close 100 > 0), trail by 5"},
		{"a trail by a rate", map[string]any{"rules.trail": "5%", "rules.size": "100 quote"},
			"buy for 100 stop 95 target 0 (entry: close 100 > 0), trail 5%"},
		{"a stop without a price", map[string]any{"rules.stop": "close - 3 * stdev(50)"}, ""},
	} {
		c.values["rules.entry"] = "close > 0"
		s := start(t, c.values)
		if c.values["rules.exit"] = "false"; c.want == "" {
			s.bar(100)
			require.Contains(t, s.strategy.(strategy.Noter).Notes()[0], "1 without a price")
			continue
		}
		s.bar(100, c.want)
	}
}

func TestARaiseMovesTheStopUpwardsOnly(t *testing.T) {
	s := start(t, map[string]any{"rules.entry": "close == 100", "rules.raise": "low - 3", "rules.target": "20%"})
	s.bar(100, "buy 9.5 stop 95 target 120 (entry: close 100 == 100)")
	s.bar(110) // not filled yet
	s.fill(1, market.Buy, 100, 9_50)
	s.bar(110, "update 1 stop 105 target 0")
	s.bar(108)
	s.bar(112, "update 1 stop 107 target 0")
}

func TestALimitEntryLivesUntilTheNextClose(t *testing.T) {
	s := start(t, map[string]any{"rules.entry": "close < 100", "rules.at": "close - 1", "rules.exit": "close > 200",
		"rules.size": "1 base"})
	s.bar(90, "buy 1 at 89 (entry: close 90 < 100)")
	s.bar(95, "buy 1 at 94 (entry: close 95 < 100) replacing 1")
	s.bar(95) // the same price
	s.bar(101, "cancel 2")
	s.bar(90, "buy 1 at 89 (entry: close 90 < 100)")
	s.fill(3, market.Buy, 89, 50)
	s.bar(101) // it has bought a part: the rest goes on
	s.bar(201, "close all (exit: close 201 > 200)")
}

func TestCooldownExitAfterAndAdd(t *testing.T) {
	s := start(t, map[string]any{"rules.entry": "close > 0", "rules.exit_after": int64(2), "rules.cooldown": int64(2),
		"rules.add": int64(1), "rules.size": "1 base"})
	s.bar(100, "buy 1 (entry: close 100 > 0)")
	s.fill(1, market.Buy, 100, 1_00)
	s.bar(100, "buy 1 (entry: close 100 > 0)") // one more
	s.fill(2, market.Buy, 100, 1_00)
	s.bar(100, "close all (exit: 2 candles)")
	s.fill(3, market.Sell, 100, 2_00)
	s.bar(100)
	s.bar(100)
	s.bar(100, "buy 1 (entry: close 100 > 0)")
	require.Contains(t, s.strategy.(strategy.Noter).Notes()[0], "2 in the cooldown")
}

// hears takes signals for a strategy that asks its desk for them.
type hears struct{ strategy.SignalHandler }

func (hears) OnSignal(*strategy.Desk, market.Signal) {}

func TestRulesReadSignals(t *testing.T) {
	s := start(t, map[string]any{"rules.signals": "model, mood", "rules.entry": "model.value > 0.5 and mood.value < 30",
		"rules.exit": "mood.value > 70"})
	needs, err := rules.Definition.Needs(s.values)
	require.NoError(t, err)
	require.Equal(t, []string{"model", "mood"}, needs.Signals)
	s.bar(100)
	s.Signal(hears{}, s.Desk(), market.Signal{Source: "model", Value: 0.8, HasValue: true})
	s.bar(100) // no mood
	s.Signal(hears{}, s.Desk(), market.Signal{Source: "mood", Value: 20, HasValue: true})
	s.bar(100, "buy 9.5 (entry: model.value 0.8 > 0.5, mood.value 20 < 30)")
	s.fill(1, market.Buy, 100, 9_50)
	s.Signal(hears{}, s.Desk(), market.Signal{Source: "mood", Value: 80, HasValue: true})
	s.bar(100, "close all (exit: mood.value 80 > 70)")
}

func TestATagIsNotLongerThanAnyoneReads(t *testing.T) {
	s := start(t, map[string]any{"rules.entry": strings.Repeat("close > 0 and ", 30) + "close > 0", "rules.stop": "4%"})
	s.Bar(s.strategy, s.Desk(), market.Candle{Close: 100, Market: s.market.ID, Interval: market.Interval1h})
	tag := s.Desk().OpenOrders()[0].Tag
	require.Len(t, []rune(tag), 200)
	require.True(t, strings.HasSuffix(tag, "…"), tag)
}

func TestTheWordsOfThePosition(t *testing.T) {
	for rule, at := range map[string]int{ // of the closes 100, 104, 90, 96
		"bars_since_entry >= 2": 1, "highest_since_entry >= 106": 1, "lowest_since_entry <= 88": 2,
		"entry_price == 101 and close > 101": 1, "profit < -10": 2, "in_position and close == 96": 3,
		"cost > close": 0,
	} {
		s := start(t, map[string]any{"rules.entry": "close == 99 and bars_since_exit > 100", "rules.exit": rule,
			"rules.size": "2 base"})
		s.bar(99, "buy 2 (entry: close 99 == 99, bars_since_exit never > 100)")
		s.fill(1, market.Buy, 100, 1_00)
		s.fill(1, market.Buy, 102, 1_00)
		for i, price := range []market.Price{100, 104, 90, 96} {
			s.next += hour
			s.At = s.next
			s.Bar(s.strategy, s.Desk(), market.Candle{Open: price, High: price + 2, Low: price - 2, Close: price,
				Market: s.market.ID, Interval: market.Interval1h, Start: s.next - hour})
			if i == at {
				require.Len(t, s.Asked(), 1, "%s at %d", rule, price)
				break
			}
			require.Empty(t, s.Asked(), "%s at %d", rule, price)
		}
	}
}

// A restart keeps the entry, and takes the candles that it missed into the highest price.
func TestARestartSeesTheCandlesThatItMissed(t *testing.T) {
	s := start(t, map[string]any{"rules.entry": "close == 99", "rules.exit": "close < highest_since_entry - 20"})
	s.bar(99, "buy 9.59 (entry: close 99 == 99)")
	s.fill(1, market.Buy, 99, 9_59)
	s.bar(100)
	old := s.strategy
	for _, price := range []market.Price{120, 100} { // the bot does not run
		s.history = append(s.history, market.Candle{Open: price, High: price + 2, Low: price, Close: price,
			Market: s.market.ID, Interval: market.Interval1h, Start: s.next})
		s.next += hour
	}
	fresh := s.made()
	require.NoError(t, s.Restart(old, fresh, s.history))
	s.strategy = fresh
	s.bar(103)
	s.bar(101, "close all (exit: close 101 < highest_since_entry - 20 102)")
}

// A candle of a longer interval that closes with one of the main interval counts, whichever comes
// first; where it does not come, there is no decision.
func TestADecisionWaitsForTheLongerCandle(t *testing.T) {
	day := func(s *stage, price market.Price) market.Candle {
		return market.Candle{Open: price, High: price, Low: price, Close: price, Market: s.market.ID,
			Interval: market.Interval1d, Start: s.next.Add(-market.Duration(24 * hour))}
	}
	for _, dayFirst := range []bool{false, true} {
		s := start(t, map[string]any{"rules.entry": `close("1d") > 200`, "rules.exit": "false"})
		for range 23 {
			s.bar(100)
		}
		if dayFirst {
			s.next += hour
			c := day(s, 201)
			s.next -= hour
			s.strategy.OnCandle(s.Desk(), c)
			s.bar(100, `buy 9.5 (entry: close("1d") 201 > 200)`)
			continue
		}
		s.bar(100)
		s.strategy.OnCandle(s.Desk(), day(s, 201))
		require.Equal(t, []string{`buy 9.5 (entry: close("1d") 201 > 200)`}, s.Asked())
		s.Drop(1)
		for range 23 {
			s.bar(100, `buy 9.5 (entry: close("1d") 201 > 200)`)
			s.Drop(s.Desk().OpenOrders()[0].ID)
		}
		s.bar(100) // the day is due, and does not come
		s.bar(100, `buy 9.5 (entry: close("1d") 201 > 200)`)
		require.Contains(t, strings.Join(s.strategy.(strategy.Noter).Notes(), " "), "1 closes were not decided")
	}
}

func TestMistakesNameTheRuleAndTheCure(t *testing.T) {
	entry := func(text string) map[string]any { return map[string]any{"rules.entry": text, "rules.stop": "4%"} }
	with := func(name string, value any) map[string]any {
		return map[string]any{"rules.entry": "close > 1", "rules.exit": "close < 1", name: value}
	}
	for _, c := range []struct {
		values map[string]any
		want   string
	}{
		{map[string]any{"rules.exit": "close < 1"}, `rules.entry: is missing; write a condition, such as 'rsi(14) < 30'`},
		{map[string]any{"rules.entry": "close > 1"}, `rules.exit: is missing, and there is no stop, target, trail, ` +
			`raise or exit_after: what is bought is never sold; write exit = 'false' if you mean that`},
		{entry("close > 1 and rsl(14) < 30"), `rules.entry: column 15: unknown function "rsl"; the nearest is "rsi(s, n)"`},
		{entry("rsi(14) < close"), "rules.entry: column 1: rsi(14) is 0 to 100, close is a price"},
		{entry("close"), "rules.entry: column 1: close is a price; a condition is wanted here"},
		{entry("close > 1\nand close = 2"), `rules.entry: line 2, column 11: "=" sets nothing here; did you mean "=="?`},
		{entry(`close("ETH-EUR") > 1`), "rules.entry: ETH-EUR is read and is no market of the run"},
		{entry(`close > sma(20, "15m")`), `rules.entry: candles of 15m are shorter than those that it trades on, 1h: ` +
			`set interval = "15m" and read "1h"`},
		{with("rules.entry", "sma(n) > close"), `rules.entry: column 5: unknown word "n"; the nearest is "na(x)"`},
		{with("level", 2.0), "level: no rule reads it"},
		{with("rules.let.bottom", "lowest(20)"),
			"rules.let.bottom: no rule reads it; write it into a rule, or leave it out"},
		{with("rules.zone", "Amsterdam"), `rules.zone: "Amsterdam" is no zone, such as Europe/Amsterdam`},
		{with("rules.plot", "ema(5), rsl(14)"), `rules.plot: column 1: unknown function "rsl"`},
		{with("rules.plot", "ema(5), max(1, 2"), `rules.plot: column 9: the text ends too early`},
		{with("close", 2.0), `close: "close" is a word of the language; take another name`},
		{with("rules.let.floor", "close"), `rules.let.floor: "floor" is a word of the language; take another name`},
		{with("rules.let.bottom", "lowest("), `rules.let.bottom: column 8: the text ends too early`},
		{with("rules.stop", "rsi(14)"), "rules.stop: column 1: rsi(14) is 0 to 100; a price is wanted here"},
		{with("rules.stop", "100%"), "rules.stop: 100% below the price is no price"},
		{with("rules.trail", "0%"), `rules.trail: "0%": a rate is above 0%`},
		{with("rules.trail", "close"),
			"rules.trail: column 1: close is a price; a distance between prices is wanted here"},
		{with("rules.size", "2% risk"),
			"rules.size: 2% risk needs a stop, a trail or a raise: it is what the stop may lose"},
		{with("rules.size", "2% of all"), `parameter rules.size: "2% of all" is not a size such as "20% equity"`},
		{with("rules.size", "0.001 base"), "parameter rules.size: 0.001 base in BTC-EUR, which has 2 decimals"},
		{with("rules.break_even", "1%"), "rules.break_even: needs a stop, a target, a trail or a raise"},
		{map[string]any{"rules.entry": "close > 1", "rules.raise": "close - 9", "rules.add": int64(1)},
			"rules.raise: moves one stop, and add lets several stand; use trail"},
		{with("rules.add", int64(-1)), "parameter rules.add: -1 is out of bounds, want 0 to 1000000"},
		{with("rules.signals", "model"), "rules.signals: no rule reads model, as in model.value"},
		{with("rules.entry", "model.value > 1"), `rules.entry: column 1: model is no source of signals; name ` +
			`it: signals = "model"`},
		{with("rules.stop", "3"), `rules.stop: "3" has no unit: write 3% for a rate, or 3.0 for a price`},
		{with("rules.onn", "model"), `rules.onn: unknown rule "onn"; the nearest is "on"`},
	} {
		var b strategytest.Bench
		b.Market("BTC-EUR", 2, 2, 0)
		_, err := rules.Definition.New(c.values, b.Setup(market.Interval1h))
		require.ErrorContains(t, err, "strategy rules: "+c.want)
	}
}

func TestTheNeedsFollowFromTheRules(t *testing.T) {
	needs, err := rules.Definition.Needs(map[string]any{"rules.entry": `close > highest(high, n)[1] and close > sma(50, "1d")`,
		"n": int64(20), "rules.stop": "close - 2 * atr(3)"})
	require.NoError(t, err)
	require.Equal(t, strategy.Needs{Warmup: 21, Intervals: strategy.Intervals{market.Interval1d: 50}}, needs)
	_, err = rules.Definition.Needs(map[string]any{"rules.entry": "close > sma(n)", "rules.stop": "4%", "n": 30.5})
	require.EqualError(t, err, "strategy rules: rules.entry: column 13: a length must be a whole number from 1 to "+
		"5000, n is 30.5")
}

func TestACandleWithoutAnAskAllocatesNothing(t *testing.T) {
	s := start(t, map[string]any{"rules.entry": "close < sma(20)", "rules.exit": "profit > 2", "rules.stop": "4%"})
	for range 30 {
		s.bar(100)
	}
	c := market.Candle{Open: 100, High: 100, Low: 100, Close: 100, Market: s.market.ID, Interval: market.Interval1h}
	desk := s.Desk()
	require.Zero(t, testing.AllocsPerRun(200, func() {
		c.Start, c.Close = s.next, c.Close+1
		s.next += hour
		s.strategy.OnCandle(desk, c)
	}))
}

// hears lets the rules hear a signal of the source model.
func (s *stage) hears(at market.Time, heard market.Signal, want ...string) {
	s.Helper()
	heard.Source, s.At = "model", at
	if heard.Time == 0 {
		heard.Time = at
	}
	s.Signal(s.strategy.(strategy.SignalHandler), s.Desk(), heard)
	require.Equal(s, want, s.Asked())
}

// rings ends the only timer.
func (s *stage) rings(want ...string) {
	s.Helper()
	require.Len(s, s.Timers, 1)
	t := s.Timers[0]
	s.Timers, s.At = nil, t.At
	s.strategy.(strategy.TimerHandler).OnTimer(s.Desk(), t.Name)
	require.Equal(s, want, s.Asked())
}

// The figures of candles are those of the last close, also between closes.
func TestASignalDecidesAndACloseDoesNot(t *testing.T) {
	s := start(t, map[string]any{"rules.on": "model", "rules.entry": `model.action == "buy" and close crosses above 100`,
		"rules.exit": `model.action == "sell" or minute == 40 and bars_since_entry == 0`, "rules.stop": "10%"})
	needs, err := rules.Definition.Needs(s.values)
	require.NoError(t, err)
	require.Equal(t, []string{"model"}, needs.Signals)
	buy, sell := market.Signal{Action: market.ActBuy}, market.Signal{Action: market.ActSell}
	s.hears(1, buy) // there is no candle
	s.bar(100)
	s.bar(101) // the crossing, and the signal of before
	want := `buy 9.4 stop 90 target 0 (entry: model.action buy == "buy", close 101 crosses above 100 (before: 100 and 100))`
	s.hears(s.next+1, buy, want)
	s.hears(s.next+2, buy) // its buy is open
	s.Drop(1)
	s.hears(s.next+3, market.Signal{Action: market.ActSell, Time: 5}) // a revision of the past: buy holds
	s.hears(s.next+4, sell)                                           // there is nothing to sell
	s.hears(s.next+5, buy, want)
	s.fill(2, market.Buy, 101, 9_40)
	s.hears(s.next+40*60e9, buy, "close all (exit: minute 40 == 40, bars_since_entry 0 == 0)")
	require.Empty(t, s.Timers)
}

func TestASignalWaitsForTheCandlesThatClosedBeforeIt(t *testing.T) {
	s := start(t, map[string]any{"rules.on": "model", "rules.entry": `close == 102 or hour == 4`, "rules.exit": "false"})
	s.bar(100)
	s.hears(2*hour, market.Signal{}) // at one instant it comes before the candle
	s.bar(102, "buy 9.31 (entry: close 102 == 102)")
	s.Drop(1)
	s.Timers = nil
	s.hears(4*hour+1, market.Signal{}) // the third hour is not in, and no fourth one comes
	s.bar(103)
	fresh := s.made() // a restart keeps the wait
	require.NoError(t, s.Restart(s.strategy, fresh, s.history))
	s.strategy = fresh
	s.rings("buy 9.22 (entry: hour 4 == 4)")
}

func TestWithoutACloseExitAfterAndRaiseGoOn(t *testing.T) {
	s := start(t, map[string]any{"rules.on": "model", "rules.entry": "true", "rules.raise": "low - 3",
		"rules.exit_after": int64(2)})
	s.bar(100)
	s.hears(s.next+1, market.Signal{}, "buy 9.5 stop 95 target 0 (entry: true)")
	s.fill(1, market.Buy, 100, 9_50)
	s.bar(110, "update 1 stop 105 target 0")
	s.bar(110, "close all (exit: 2 candles)")
	s.bar(110) // it is under way
	require.Contains(t, s.strategy.(strategy.Noter).Notes()[0], "the exit at 1 in a position")
}

// A Close that is under way over several closes is one exit.
func TestAnExitCountsOnce(t *testing.T) {
	s := start(t, map[string]any{"rules.entry": "close == 99", "rules.exit": "close > 100"})
	count := func() string { return s.strategy.(strategy.Noter).Notes()[0] }
	for i := range 2 {
		s.bar(99, "buy 9.59 (entry: close 99 == 99)")
		s.fill(s.Desk().OpenOrders()[0].ID, market.Buy, 99, 9_59)
		s.bar(101, "close all (exit: close 101 > 100)")
		s.bar(102) // it is under way
		require.Contains(t, count(), []string{"exit at 1 in", "exit at 3 in"}[i])
		s.Drop(s.Desk().OpenOrders()[0].ID)
		s.strategy.(strategy.CloseHandler).OnCloseFailed(s.Desk(), strategy.CloseFailed{Market: s.market.ID})
		s.bar(102, "close all (exit: close 102 > 100)")
		require.Contains(t, count(), []string{"exit at 2 in", "exit at 4 in"}[i])
		s.fill(s.Desk().OpenOrders()[0].ID, market.Sell, 99, 9_59)
	}
}

func TestRulesThatAreWatchedCountNearMisses(t *testing.T) {
	s := start(t, map[string]any{"rules.entry": "close > 100 and close > 2 * open - 95", "rules.exit": "false"})
	s.strategy.(strategy.Watcher).Watch()
	for _, price := range []market.Price{90, 101, 99, 98, 97} { // both, the second, the first alone
		s.bar(price)
	}
	s.bar(94)
	notes := s.strategy.(strategy.Noter).Notes()
	require.Equal(t, []string{"The entry was true at 0 closes, the exit at 0 in a position.",
		"The entry lacked close > 100 alone at 2 closes; nearest was close 94 <= 100 at 1970-01-01T06:00:00Z.",
		"The entry lacked close > 2 * open - 95 alone at 1 closes; nearest was close 101 <= 2 * open - 95 107 " +
			"at 1970-01-01T02:00:00Z."}, notes)
	s = start(t, map[string]any{"rules.entry": "close > 100", "rules.exit": "false"})
	s.strategy.(strategy.Watcher).Watch()
	s.bar(90)
	s.bar(97)
	require.Equal(t, "Nearest to an entry was close 97 <= 100 at 1970-01-01T02:00:00Z.",
		s.strategy.(strategy.Noter).Notes()[1])
}

// On 2021-03-28 the clocks of Amsterdam skip the hour after 1:00 UTC, on 2021-10-31 they show one
// hour twice.
func TestTheClockOfAZoneChangesWithTheSeason(t *testing.T) {
	for day, want := range map[string]string{
		"2021-03-27": "4", "2021-03-28": "3", "2021-10-30": "3", "2021-10-31": "0 1 4"} {
		midnight, err := time.Parse(time.DateOnly, day)
		require.NoError(t, err)
		rule := `between("04:30", "05:30")`
		if day == "2021-10-31" {
			rule = `hour == 2 or hour == 5 and weekday == 7`
		}
		s := start(t, map[string]any{"rules.entry": rule, "rules.exit": "false", "rules.zone": "Europe/Amsterdam"})
		var at []string
		s.next = market.Time(midnight.UnixNano()) - hour
		for h := range 8 { // decided at h:00 UTC
			s.plain()
			if asked := s.Asked(); len(asked) > 0 {
				at = append(at, fmt.Sprint(h))
				s.Drop(s.Desk().OpenOrders()[0].ID)
			}
		}
		require.Equal(t, want, strings.Join(at, " "), day)
	}
}

// plain closes a candle, and leaves what is asked.
func (s *stage) plain() {
	c := market.Candle{Open: 100, High: 100, Low: 100, Close: 100, Market: s.market.ID, Interval: market.Interval1h,
		Start: s.next}
	s.next += hour
	s.At = s.next
	s.Bar(s.strategy, s.Desk(), c)
}

func TestFiguresAreDrawnOnThePricesOrBelow(t *testing.T) {
	s := start(t, map[string]any{"rules.entry": "close > 1000", "rules.exit": "false",
		"rules.plot": "sma(2), rsi(2), max(high, low)[1], volume"})
	for _, price := range []market.Price{100, 102, 104} {
		s.bar(price)
	}
	require.Equal(t, []string{"sma(2) NaN", "rsi(2) NaN in rsi(2)", "max(high, low)[1] NaN", "volume 1 in volume",
		"sma(2) 101", "rsi(2) NaN in rsi(2)", "max(high, low)[1] 102", "volume 1 in volume",
		"sma(2) 103", "rsi(2) 100 in rsi(2)", "max(high, low)[1] 104", "volume 1 in volume"}, s.Plotted())
	needs, err := rules.Definition.Needs(s.values)
	require.NoError(t, err)
	require.Equal(t, 1, needs.Warmup, "no decision waits for what is drawn")
}

func TestThePositionIsAnAmountOfBase(t *testing.T) {
	s := start(t, map[string]any{"rules.entry": "position < 1.5", "rules.add": int64(9), "rules.exit": "false",
		"rules.size": "1 base", "rules.exit_after": int64(99)})
	s.bar(100, "buy 1 (entry: position 0 < 1.5)")
	s.fill(1, market.Buy, 100, 1_00)
	s.bar(100, "buy 1 (entry: position 1 < 1.5)")
	s.fill(2, market.Buy, 100, 1_00)
	s.bar(100)
}

// A bot that has just started decides on the first signal: it has the last close.
func TestADecisionOnASignalNeedsACandle(t *testing.T) {
	s := start(t, map[string]any{"rules.on": "model", "rules.entry": "model.value > 0.7", "rules.stop": "4%"})
	needs, err := rules.Definition.Needs(s.values)
	require.NoError(t, err)
	require.Equal(t, 1, needs.Warmup)
}
