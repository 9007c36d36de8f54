package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

func TestTheTapeAnswersAsANaiveListDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.IntRange(1, 40).Draw(t, "keep")
		tape, naive := tradeRing{keep: keep}, []publicTrade(nil)
		at, count := noon, uint64(0)
		bounds := rapid.Int64Range(-5, 300)
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "step") > 0 {
				at += market.Time(rapid.IntRange(0, 5).Draw(t, "later"))
				count += uint64(rapid.IntRange(1, 3).Draw(t, "count"))
				trade := publicTrade{id: tradeID(1, count), at: at, price: market.Price(len(naive)), amount: 1,
					side: market.Buy}
				naive = append(naive, trade)
				require.True(t, tape.print(&trade))
				require.False(t, tape.print(&trade), "the other of its orders tells it too")
				continue
			}
			s := tradeRange{from: noon + market.Time(bounds.Draw(t, "from")),
				to:    noon + market.Time(bounds.Draw(t, "to")),
				first: 0, final: 1<<64 - 1}
			if rapid.Bool().Draw(t, "by id") {
				s.first, s.final = uint64(rapid.IntRange(0, 250).Draw(t, "first")), uint64(rapid.IntRange(0, 250).
					Draw(t, "final"))
			}
			var want []publicTrade
			for _, trade := range naive[max(0, len(naive)-keep):] {
				if n := counter(trade.id); trade.at >= s.from && trade.at < s.to && n >= s.first && n <= s.final {
					want = append(want, trade)
				}
			}
			require.Equal(t, want, append([]publicTrade(nil), tape.in(s)...))
		}
		require.Len(t, tape.all(), min(keep, len(naive)))
		require.LessOrEqual(t, len(tape.trades), keep+keep/4+1)
	})
}

func TestTheScreenRemembersTheDefault(t *testing.T) {
	var keep Retention
	keep.fill()
	zero := publicData{tape: tradeRing{keep: keep.Trades}, candles: candles{keep: keep.Candles}}
	for i := range uint64(3 * defaultRetention) {
		trade := publicTrade{id: tradeID(1, i+1), at: noon, price: 1, amount: 1}
		require.True(t, zero.tape.print(&trade))
		zero.candles.add(&trade, market.Value{})
	}
	require.Len(t, zero.tape.all(), defaultRetention)
	require.Len(t, zero.candles.appendIn(nil, market.Interval1m, 0, never, 10), 1)
}

func TestALateTradePrintsAtTheTimeOfTheLast(t *testing.T) {
	tape := tradeRing{keep: 10}
	require.Nil(t, tape.last())
	require.True(t, tape.print(&publicTrade{id: tradeID(1, 1), at: noon}))
	require.True(t, tape.print(&publicTrade{id: tradeID(1, 2), at: noon - 1}))
	require.Equal(t, noon, tape.last().at)
	require.EqualValues(t, 2, counter(tape.last().id))
}

func TestTradeIDsOfOtherMarketsAreNotTaken(t *testing.T) {
	for text, want := range map[string]bool{
		"00000000-0000-0431-0000-000002986190":          true,
		"00000000-0000-0430-0000-000002986190":          false, // another market
		"00000000-0000-0431-0100-000002986190":          false, // an order
		"57b1159b-6bf5-4cde-9e2c-6bd6a5678baf":          false,
		"urn:uuid:00000000-0000-0431-0000-000002986190": false,
		"0000000000000431000000000298619":               false,
		"00000000-0000-0431-0000-00000298619g":          false,
		"":                                              false,
	} {
		place, ok := placeNamed(text, 0x431, nameOfFill)
		require.Equal(t, want, ok, text)
		if want {
			require.EqualValues(t, 0x2986190, place)
		}
	}
}

func TestLongCandlesAreTheFoldOfTheirMinutes(t *testing.T) {
	m := newStage(t).ex.catalog.Market(1)
	rapid.Check(t, func(t *rapid.T) {
		held := candles{keep: 100_000}
		var trades []publicTrade
		at := noon
		for range rapid.IntRange(1, 60).Draw(t, "trades") {
			at = at.Add(market.Duration(rapid.SampledFrom([]int64{0, 1e9, 59e9, 60e9, 3600e9, 86400e9, 10 * 86400e9}).
				Draw(t, "later")))
			trade := publicTrade{at: at, price: market.Price(rapid.Int64Range(1, 1000).Draw(t, "price")),
				amount: market.Qty(rapid.Int64Range(1, 1<<62).Draw(t, "amount"))}
			trades = append(trades, trade)
			worth, err := m.Value(trade.price, trade.amount)
			require.NoError(t, err)
			held.add(&trade, worth)
		}
		for _, interval := range market.Intervals() {
			require.Equal(t, foldTrades(t, m, trades, interval), held.appendIn(nil, interval, 0, never, 1<<30),
				interval)
		}
		first := trades[rapid.IntRange(0, len(trades)-1).Draw(t, "since")].at
		total, any := held.since(market.Interval1m.Floor(first))
		require.True(t, any)
		var sum market.Value
		for _, trade := range trades {
			if trade.at >= market.Interval1m.Floor(first) {
				sum, _ = sum.Add(market.ValueOf(int64(trade.amount)))
			}
		}
		require.Equal(t, sum, total.Base)
	})
}

// foldTrades makes candles in the plainest way, the newest first.
func foldTrades(t require.TestingT, m *market.Market, trades []publicTrade, interval market.Interval) []bar {
	var bars []bar
	for _, trade := range trades {
		start := interval.Floor(trade.at)
		if len(bars) == 0 || bars[0].Start != start {
			bars = append([]bar{{Start: start, End: interval.End(start), Open: trade.price, High: trade.price,
				Low: trade.price, First: trade.at}}, bars...)
		}
		b := &bars[0]
		b.High, b.Low, b.Close, b.Last = max(b.High, trade.price), min(b.Low, trade.price), trade.price, trade.at
		var err error
		b.Base, err = b.Base.Add(market.ValueOf(int64(trade.amount)))
		require.NoError(t, err)
		worth, err := m.Value(trade.price, trade.amount)
		require.NoError(t, err)
		b.Quote, err = b.Quote.Add(worth)
		require.NoError(t, err)
	}
	return bars
}

func TestCandlesAreAskedForByTimeAndTheNewestWin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.IntRange(1, 30).Draw(t, "keep")
		held := candles{keep: keep}
		var all []bar // the newest first
		at := market.Interval1h.Floor(noon)
		for range rapid.IntRange(0, 60).Draw(t, "candles") {
			at = at.Add(time.Minute * market.Duration(rapid.IntRange(1, 3).Draw(t, "gap")))
			trade := publicTrade{at: at, price: 7, amount: 1}
			held.add(&trade, market.Value{})
			all = append([]bar{{Start: at, End: at.Add(time.Minute), Open: 7, High: 7, Low: 7, Close: 7, First: at,
				Last: at, Base: market.ValueOf(1)}}, all...)
		}
		from := noon.Add(time.Minute * market.Duration(rapid.IntRange(-5, 150).Draw(t, "from")))
		to := noon.Add(time.Minute * market.Duration(rapid.IntRange(-5, 150).Draw(t, "to")))
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		var want []bar
		for _, b := range all[:min(keep, len(all))] {
			if b.Start >= from && b.Start < to && len(want) < limit {
				want = append(want, b)
			}
		}
		require.Equal(t, want, held.appendIn(nil, market.Interval1m, from, to, limit))
		require.LessOrEqual(t, len(held.bars[market.Interval1m]), keep+keep/4+1)
	})
}

func TestWeeksBeginOnMondayAndMonthsOnTheFirst(t *testing.T) {
	held := candles{keep: 10}
	sunday := noon.Add(-24 * time.Hour) // 2026-03-01
	for i, at := range []market.Time{sunday.Add(-24 * time.Hour), sunday, noon} {
		trade := publicTrade{at: at, price: market.Price(i + 1), amount: 1}
		held.add(&trade, market.Value{})
	}
	weeks := held.appendIn(nil, market.Interval1W, 0, never, 10)
	require.Len(t, weeks, 2)
	require.Equal(t, "2026-03-02T00:00:00Z", weeks[0].Start.String())
	require.Equal(t, "2026-02-23T00:00:00Z", weeks[1].Start.String())
	require.EqualValues(t, 2, weeks[1].Close)
	months := held.appendIn(nil, market.Interval1M, 0, never, 10)
	require.Len(t, months, 2)
	require.Equal(t, "2026-03-01T00:00:00Z", months[0].Start.String())
	require.Equal(t, "2026-02-01T00:00:00Z", months[1].Start.String())
}

func TestAVolumeBeyondSixtyFourBitsIsExact(t *testing.T) {
	held := candles{keep: 10}
	for range 4 {
		trade := publicTrade{at: noon, price: 1, amount: 1<<63 - 1}
		held.add(&trade, market.Value{})
	}
	bars := held.appendIn(nil, market.Interval1d, 0, never, 1)
	require.Equal(t, "36893488147419103228", bars[0].Base.Format(0))
}

func BenchmarkPrint(b *testing.B) {
	tape, held := tradeRing{keep: defaultRetention}, candles{keep: 60 * 24 * 60}
	trade := publicTrade{at: noon, price: 95000_00, amount: 1_000_000}
	for i := uint64(1); b.Loop(); i++ {
		trade.id = tradeID(1, i)
		trade.at += market.Time(time.Second)
		tape.print(&trade)
		held.add(&trade, market.ValueOf(1))
	}
}
