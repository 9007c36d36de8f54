package poll

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// nextTraded is the start of a candle in a while that has a trade, as have both of its neighbours.
func nextTraded(f *fake, s Series) market.Time {
	i := s.Interval.Index(f.Now()) + 3
	for !traded(s.Market, s.Interval, i-1) || !traded(s.Market, s.Interval, i) || !traded(s.Market, s.Interval, i+1) {
		i++
	}
	return s.Interval.StartOf(i)
}

// hide hides a candle until a while after its end.
func (f *fake) hide(s Series, start market.Time, delay time.Duration) {
	f.told = func(c *market.Candle) bool {
		return c.Interval != s.Interval || c.Start != start || f.Now() >= c.End().Add(delay)
	}
}

func TestACandleThatIsListedLateComesOnceAndInItsOrder(t *testing.T) {
	minute, five := market.Interval1m, market.Interval5m
	for _, row := range []struct {
		interval     market.Interval
		delay        time.Duration // from its end to its place in the list
		age          time.Duration // MaxCandleAge
		late, behind bool          // it is marked late; it is behind a newer one, and is not delivered
	}{
		{minute, 3 * time.Second, 0, false, false}, // the second query has it
		{minute, 6 * time.Second, 0, true, false},
		{minute, 20 * time.Second, 0, true, false},
		{minute, 59 * time.Second, 0, true, false},
		{minute, 6 * time.Second, 5 * time.Second, true, false}, // the query of the next candle has it
		{minute, 70 * time.Second, 0, false, true},
		{five, 6 * time.Second, 0, true, false},
		{five, 4 * time.Minute, 0, true, false},
		{five, 8 * time.Minute, 0, false, true},
		{market.Interval1h, 6 * time.Second, 0, true, false},
		{market.Interval1h, 40 * time.Minute, 20 * time.Minute, true, false},
		{market.Interval1d, 6 * time.Second, 0, true, false},
	} {
		t.Run(fmt.Sprint(row), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, s, log := newFake(t, 1), Series{Market: 1, Interval: row.interval}, lines{}
				start, hidden := f.Now(), nextTraded(f, s)
				f.hide(s, hidden, row.delay)
				length := s.Interval.End(hidden).Sub(hidden)
				told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.New(&log), Series: []Series{s},
					MaxCandleAge: row.age}, hidden.Sub(start)+5*length)
				want := whole(s, s.Interval.Floor(start), hidden.Add(4*length))
				want = slices.DeleteFunc(want, func(c market.Candle) bool { return row.behind && c.Start == hidden })
				got := candlesIn(t, told, s)
				same(t, want, got)
				for _, c := range got {
					require.Equal(t, row.late && c.Start == hidden, c.Late, c.Start)
				}
				require.Equal(t, row.late, log.count("listed a candle late", `"start":"`+hidden.String()) == 1,
					log.text.String())
				require.Equal(t, row.behind, log.count("behind a newer one", `"start":"`+hidden.String()) == 1,
					log.text.String())
				for _, ev := range told {
					if row.age == 0 && ev.Kind == market.KindCandles && ev.Candles[0].Start == hidden {
						age := ev.At.Sub(ev.Candles[0].End())
						require.LessOrEqual(t, age, 4*row.delay+5*time.Second, "it is asked for at four times its age")
					}
				}
			})
		})
	}
}

func TestACandleThatNeverComesIsSaidOnceAndAskedForUntilItIsTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, log := newFake(t, 1), Series{Market: 1, Interval: market.Interval1h}, lines{}
		hidden := nextTraded(f, s)
		f.hide(s, hidden, 1000*time.Hour)
		asked := []market.Duration(nil)
		hide := f.told
		f.told = func(c *market.Candle) bool { return hide(c) }
		end := s.Interval.End(hidden)
		f.onCandles = func() {
			if f.Now() > end {
				asked = append(asked, f.Now().Sub(end).Round(time.Millisecond))
			}
		}
		listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.New(&log), Series: []Series{s},
			MaxCandleAge: 20 * time.Minute}, end.Sub(f.Now())+50*time.Minute)
		ages := []market.Duration{2 * time.Second, 4 * time.Second, 16 * time.Second, 64 * time.Second,
			256 * time.Second, 1024 * time.Second, 20 * time.Minute}
		require.Len(t, asked, len(ages))
		for i := range ages {
			require.InEpsilon(t, ages[i], asked[i], 0.05)
		}
		require.Equal(t, 1, log.count("no trade, or it is missing", `"from":"`+hidden.String()), log.text.String())
	})
}

// A later list shows a row without volume: nothing was traded, and nothing comes.
func TestARowWithoutVolumeThatComesLateSaysThatNothingWasTraded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := newFake(t, 1), Series{Market: 1, Interval: market.Interval1m}
		start, hidden := f.Now(), nextTraded(f, s)
		f.hide(s, hidden, 6*time.Second)
		hide := f.told
		f.told = func(c *market.Candle) bool {
			if c.Start == hidden {
				c.Volume = 0
			}
			return hide(c)
		}
		got := candlesIn(t, listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Series: []Series{s}},
			hidden.Sub(start)+5*time.Minute), s)
		require.Equal(t, hidden.Add(time.Minute), got[slices.IndexFunc(got, func(c market.Candle) bool {
			return c.Start >= hidden
		})].Start)
	})
}

// Nothing at all is listed for a while, then everything at once: in order, the absent ones late.
func TestAListThatStandsStillForMinutesLosesNoCandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := newFake(t, 1), Series{Market: 1, Interval: market.Interval1m}
		start, from := f.Now(), nextTraded(f, s)
		f.told = func(c *market.Candle) bool { return c.Start < from || f.Now() > from.Add(100*time.Second) }
		got := candlesIn(t, listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Series: []Series{s}},
			from.Sub(start)+6*time.Minute), s)
		same(t, whole(s, s.Interval.Floor(start), from.Add(5*time.Minute)), got)
	})
}

func TestAnAnswerThatHasRowsTwiceOrUnorderedIsReadAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := newFake(t, 1), Series{Market: 1, Interval: market.Interval1m}
		f.change = func(rows []market.Candle) []market.Candle {
			f.mu.Lock()
			defer f.mu.Unlock()
			rows = append(rows, rows...)
			f.chance.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			return rows
		}
		feed := New(Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop()})
		history, err := feed.History(t.Context(), s, f.Now(), 3000)
		require.NoError(t, err)
		require.Equal(t, 3000, len(history))
		same(t, whole(s, history[0].Start, f.Now()), history)
		start := f.Now()
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Series: bothSeries}, 20*time.Minute)
		for _, s := range bothSeries {
			same(t, whole(s, s.Interval.Floor(start), start.Add(19*time.Minute)), candlesIn(t, told, s))
		}
	})
}

// An exchange lists the candle that runs, and the one after it, whatever is asked for.
func TestCandlesAheadOfTheExchangesClockAreLeftOutAndSaidOnce(t *testing.T) {
	for _, ahead := range []int64{0, 1, 100} {
		synctest.Test(t, func(t *testing.T) {
			f, s, log := newFake(t, 1), Series{Market: 1, Interval: market.Interval1m}, lines{}
			f.change = func(rows []market.Candle) []market.Candle {
				return append(rows, candleOf(1, s.Interval, s.Interval.Index(f.Now())+ahead))
			}
			start := f.Now()
			c := Config{Data: f, Catalog: f.catalog, Log: zerolog.New(&log), Series: []Series{s}}
			history, err := New(c).History(t.Context(), s, start, 2000)
			require.NoError(t, err)
			require.LessOrEqual(t, history[len(history)-1].End(), start)
			same(t, whole(s, s.Interval.Floor(start), start.Add(9*time.Minute)),
				candlesIn(t, listen(t, c, 10*time.Minute), s))
			require.Equal(t, 2, log.count("candles of BTC-EUR 1m: row ", "it has not closed yet"), // one a feed
				log.text.String())
		})
	}
}

// An impossible row moves up from list to list: the log names it once. Two series have such a row
// of one start: the log names both.
func TestARowThatCannotBeIsSaidOnceASeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, log := newFake(t, 1), lines{}
		start := market.Interval5m.End(market.Interval5m.Floor(f.Now()))
		for slices.ContainsFunc(bothSeries, func(s Series) bool {
			return !traded(s.Market, s.Interval, s.Interval.Index(start))
		}) {
			start = start.Add(5 * time.Minute)
		}
		f.change = func(rows []market.Candle) []market.Candle {
			for i := range rows {
				if rows[i].Start == start {
					rows[i].Low = rows[i].High + 1
				}
			}
			return rows
		}
		listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.New(&log), Series: bothSeries},
			start.Sub(f.Now())+10*time.Minute)
		for _, s := range bothSeries {
			name := f.catalog.Market(s.Market).Name
			require.Equal(t, 1, log.count("candles of "+name+" "+s.Interval.String()+": row "), log.text.String())
		}
	})
}

// Candles of another interval are no candles; the others go on, and the log says why.
func TestCandlesOfAnotherIntervalAreRefusedInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, log := newFake(t, 1), lines{}
		f.change = func(rows []market.Candle) []market.Candle {
			if len(rows) > 0 && rows[0].Interval == market.Interval5m {
				rows[0].Start = rows[0].Start.Add(time.Minute)
			}
			return rows
		}
		start := f.Now()
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.New(&log), Series: bothSeries},
			20*time.Minute)
		require.Empty(t, candlesIn(t, told, bothSeries[2]))
		same(t, whole(bothSeries[0], bothSeries[0].Interval.Floor(start), start.Add(19*time.Minute)),
			candlesIn(t, told, bothSeries[0]))
		require.NotZero(t, log.count(`"warn"`, "candles of BTC-EUR 5m: row 1 of ", "no 5m candle starts then"),
			log.text.String())
	})
}

// A market had no trade for longer than a page: older candles are found all the same.
func TestAHistoryGoesOnBehindAPageWithoutACandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 3, 1, 0, 0, 30, 0, time.UTC)))
		f, s := newFake(t, 1), Series{Market: 1, Interval: market.Interval1m}
		last := f.Now().Add(-50 * time.Hour)
		f.began = last.Add(-300 * time.Hour)
		f.told = func(c *market.Candle) bool { return c.Start < last }
		got, err := New(Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop()}).History(t.Context(), s, f.Now(), 4000)
		require.NoError(t, err)
		require.Equal(t, 4000, len(got))
		same(t, whole(s, got[0].Start, last), got)
	})
}

// The bot starts while the newest candle is not listed yet.
func TestACandleThatTheHistoryLackedComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := newFake(t, 1), Series{Market: 1, Interval: market.Interval1m}
		hidden := nextTraded(f, s)
		f.hide(s, hidden, 6*time.Second)
		time.Sleep(hidden.Add(time.Minute + 3*time.Second).Sub(f.Now()))
		s.Last = hidden
		feed := New(Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Series: []Series{s}})
		history, err := feed.History(t.Context(), s, s.Interval.End(hidden), 100)
		require.NoError(t, err)
		require.NotEqual(t, hidden, history[len(history)-1].Start)
		feed.Follows(history)
		got := candlesIn(t, listenTo(t, feed, 3*time.Minute), s)
		require.Equal(t, hidden, got[0].Start)
		require.True(t, got[0].Late)
		require.False(t, got[1].Late)
	})
}
