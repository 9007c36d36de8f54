package poll

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// fake is an exchange whose candles are a function of time: a trade in most intervals, none in
// some. It is slow to show the newest, and now and then does not answer.
type fake struct {
	catalog *market.Catalog
	mu      sync.Mutex
	chance  *rand.Rand
	faults  int             // in a hundred
	down    [2]market.Time  // no answer between these
	lag     market.Duration // until a closed candle shows
	rules   []market.Market
	asked   int
	empty   [2]market.Time            // lists without anything in them between these
	mute    market.ID                 // no answer for candles of this market until the end of down
	jump    atomic.Int64              // of the clock
	unfit   bool                      // some tickers do not fit their units
	eager   bool                      // it shows the open candle too, whatever end is asked for
	told    func(*market.Candle) bool // changes a candle as it is told; false: it is not
	began   market.Time               // of its first candle

	onCandles func()                                // called at each query; may be nil
	change    func([]market.Candle) []market.Candle // changes the rows of an answer; nil: none
}

var errDown = errors.New("no answer")

func newFake(t testing.TB, seed uint64) *fake {
	f := &fake{catalog: &market.Catalog{}, chance: rand.New(rand.NewPCG(seed, 1))}
	f.began = f.Now().Add(-100 * 24 * time.Hour)
	for _, symbol := range [...]string{"EUR", "BTC", "ETH"} {
		_, err := f.catalog.AddAsset(symbol, 2)
		require.NoError(t, err)
	}
	for _, name := range [...]string{"BTC-EUR", "ETH-EUR"} {
		require.NoError(t, f.catalog.AddMarket(&market.Market{Name: name, PriceDigits: 2}))
	}
	for _, m := range f.catalog.Markets() {
		f.rules = append(f.rules, *m)
	}
	return f
}

// Now is the made-up clock of the test.
func (f *fake) Now() market.Time { return market.Time(time.Now().UnixNano() + f.jump.Load()) }

// answers reports whether the exchange answers this time.
func (f *fake) answers() bool {
	time.Sleep(20 * time.Millisecond)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	now := f.Now()
	return f.chance.IntN(100) >= f.faults && (now < f.down[0] || now > f.down[1])
}

// traded reports whether there was a trade in an interval; seven of eight have one.
func traded(m market.ID, interval market.Interval, index int64) bool {
	mixed := uint64(index)*0x9e3779b97f4a7c15 ^ uint64(m)<<7 ^ uint64(interval)
	return (mixed^mixed>>31)*0xbf58476d1ce4e5b9>>61 != 0
}

func candleOf(m market.ID, interval market.Interval, index int64) market.Candle {
	p := market.Price(100_00 + index%50)
	return market.Candle{Open: p, High: p, Low: p, Close: p, Volume: 1, Start: interval.StartOf(index), Market: m,
		Interval: interval}
}

// Candles returns the closed candles and the open one.
func (f *fake) Candles(_ context.Context, m *market.Market, interval market.Interval, start, end market.Time, limit int,
	dst []market.Candle) ([]market.Candle, error) {
	if !f.answers() || m.ID == f.mute && f.Now() < f.down[1] {
		return dst, errDown
	}
	if f.onCandles != nil {
		f.onCandles()
	}
	var all []market.Candle
	for i := interval.Index(max(start, f.began)); interval.StartOf(i) < min(end, f.Now().Add(-f.lag)); i++ {
		if c := candleOf(m.ID, interval, i); c.Start >= start && traded(m.ID, interval, i) &&
			c.End().Add(f.lag) <= f.Now() {
			all = append(all, c)
		}
	}
	if f.eager {
		all = append(all, candleOf(m.ID, interval, interval.Index(f.Now())))
	}
	if f.told != nil {
		all = slices.DeleteFunc(all, func(c market.Candle) bool { return !f.told(&c) })
		for i := range all {
			f.told(&all[i])
		}
	}
	if f.change != nil {
		all = f.change(all)
	}
	asked := exchange.CandleRange{Market: m, Interval: interval, Start: start, End: end, Limit: limit}
	read, err := asked.Read(all, f.Now())
	return append(dst, read...), err
}

// blank reports whether lists are empty now.
func (f *fake) blank() bool { return f.Now() > f.empty[0] && f.Now() < f.empty[1] }

// TickerPrices returns a price for both markets.
func (f *fake) TickerPrices(_ context.Context, dst []market.Ticker) ([]market.Ticker, error) {
	if !f.answers() {
		return dst, errDown
	}
	if f.blank() {
		return dst, nil
	}
	var err error
	if f.unfit {
		err = exchange.ErrUnits
	}
	return append(dst, market.Ticker{Market: 1, Last: 100_00}, market.Ticker{Market: 2, Last: 50_00}), err
}

// TickerBooks returns bid and ask of the first.
func (f *fake) TickerBooks(_ context.Context, dst []market.Ticker) ([]market.Ticker, error) {
	if !f.answers() {
		return dst, errDown
	}
	if f.blank() {
		return dst, nil
	}
	return append(dst, market.Ticker{Market: 1, Bid: 99_00, Ask: 101_00}), nil
}

// Book returns a book that changes every five seconds.
func (f *fake) Book(_ context.Context, m *market.Market, depth int, into *market.OrderBook) error {
	if !f.answers() {
		return errDown
	}
	*into = market.OrderBook{Market: m.ID, Nonce: int64(f.Now()) / 5e9}
	return nil
}

// Rules returns the rules that the test has set.
func (f *fake) Rules(context.Context) ([]market.Market, error) {
	if !f.answers() {
		return nil, errDown
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.rules), nil
}

var bothSeries = []Series{{Market: 1, Interval: market.Interval1m}, {Market: 2, Interval: market.Interval1m},
	{Market: 1, Interval: market.Interval5m}}

// listen runs a feed for a while and returns its events.
func listen(t *testing.T, c Config, d time.Duration) (told []market.Event) {
	return listenTo(t, New(c), d)
}

func listenTo(t *testing.T, f *Feed, d time.Duration) (told []market.Event) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	ran := make(chan struct{})
	go func() { f.Run(ctx); close(ran) }()
	for {
		select {
		case ev := <-f.Events():
			told = append(told, ev)
		case <-ran:
			return told
		}
	}
}

// candlesIn requires that groups are in order and none is sent twice, and returns the candles of a
// series.
func candlesIn(t *testing.T, told []market.Event, s Series) (list []market.Candle) {
	var before *market.Candle
	for _, ev := range told {
		if ev.Kind != market.KindCandles {
			continue
		}
		for i := range ev.Candles {
			c := &ev.Candles[i]
			require.Equal(t, ev.Candles[0].End(), c.End(), "a group closes at one instant")
			if i > 0 {
				last := &ev.Candles[i-1]
				require.True(t, last.Interval < c.Interval || last.Interval == c.Interval && last.Market < c.Market,
					"shorter ones first, then by market")
			}
			require.GreaterOrEqual(t, ev.At, c.End().Add(2*time.Second), "told before it was settled")
			if c.Market == s.Market && c.Interval == s.Interval {
				require.True(t, before == nil || before.Start < c.Start, "out of order, or twice")
				before = c
				list = append(list, *c)
			}
		}
	}
	return list
}

// whole is all candles of a series between two times.
func whole(s Series, from, to market.Time) (list []market.Candle) {
	for i := s.Interval.Index(from); ; i++ {
		c := candleOf(s.Market, s.Interval, i)
		if c.End() > to {
			return list
		}
		if traded(s.Market, s.Interval, i) {
			list = append(list, c)
		}
	}
}

// same requires that the candles begin with those wanted, late or not.
func same(t *testing.T, want, got []market.Candle) {
	t.Helper()
	for i := range want {
		require.Greater(t, len(got), i, "%s is missing at the end", want[i].Start)
		have := got[i]
		have.Late = false
		require.Equal(t, want[i], have, "candle %d", i)
	}
}

func TestClosedCandlesComeOnceAndInOrderWhateverFails(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(t, seed)
			f.faults, f.lag = int(seed*3), market.Duration(seed%3)*time.Second/2
			f.down = [2]market.Time{f.Now().Add(40 * time.Minute), f.Now().Add(50 * time.Minute)}
			start := f.Now()
			told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Series: bothSeries},
				2*time.Hour+30*time.Second)
			for _, s := range bothSeries {
				same(t, whole(s, s.Interval.Floor(start), start.Add(2*time.Hour-time.Minute)), candlesIn(t, told, s))
			}
		})
	}
}

func TestAFeedGoesOnBehindTheLastCandleThatWasDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		start := f.Now()
		// two days ago
		s := Series{Market: 1, Interval: market.Interval1m,
			Last: market.Interval1m.StartOf(market.Interval1m.Index(start) - 3000)}
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Series: []Series{s}}, 90*time.Second)
		got := candlesIn(t, told, s)
		same(t, whole(s, s.Interval.End(s.Last), start), got) // over several pages
		require.True(t, got[0].Late)
		require.False(t, got[len(got)-1].Late)
	})
}

func TestTickersTellPriceBidAndAskOfTheWantedMarkets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Tickers: []market.ID{1}},
			10*time.Second)
		tickers := 0
		for _, ev := range told {
			if ev.Kind == market.KindTicker {
				require.Equal(t, market.Ticker{Market: 1, Last: 100_00, Bid: 99_00, Ask: 101_00}, *ev.Ticker)
				tickers++
			}
		}
		require.InDelta(t, 10, tickers, 2)
	})
}

func TestSilenceIsToldOnceAndEndsWithTheNextTicker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		f.down = [2]market.Time{f.Now().Add(5 * time.Second), f.Now().Add(35 * time.Second)}
		silent := 0
		listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Tickers: []market.ID{1},
			Stale: func(market.Duration) { silent++ }}, time.Minute)
		require.Equal(t, 1, silent)
	})
}

func TestWhateverIsNotAnsweredIsSaidOnceAndSoIsItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		f.down = [2]market.Time{f.Now().Add(5 * time.Second), f.Now().Add(5 * time.Minute)}
		var log lines
		listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.New(&log), Tickers: []market.ID{1},
			Books: []market.ID{2}, Series: []Series{{Market: 1, Interval: market.Interval1m}}}, 7*time.Minute)
		for _, feed := range [...]string{"tickers", "book ETH-EUR", "markets", "candles BTC-EUR 1m"} {
			require.Equal(t, 1, log.count(`"warn"`, `"`+feed+`"`, "does not answer", errDown.Error()), "%s: %s", feed,
				log.text.String())
			require.Equal(t, 1, log.count(`"info"`, `"`+feed+`"`, "answers again"), "%s: %s", feed, log.text.String())
		}
	})
}

func TestASilenceThatLastsIsSaidAgainNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		f.down = [2]market.Time{1, f.Now().Add(time.Hour)}
		var log lines
		listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.New(&log), Tickers: []market.ID{1}}, 35*time.Minute)
		require.Equal(t, 4, log.count(`"warn"`, `"tickers"`), "%s", log.text.String())
	})
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// count counts the lines that hold all of these words.
func (l *lines) count(words ...string) (n int) {
	for line := range strings.Lines(l.text.String()) {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			n++
		}
	}
	return n
}

func TestRulesAreToldWhenTheyChangeAndAtOnceOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		feed := New(Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), RulesEvery: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { feed.Run(ctx); close(done) }()
		for range 2 {
			ev := <-feed.Events()
			require.Equal(t, market.Trading, ev.Status)
		}
		f.mu.Lock()
		f.rules[1].Status, f.rules[1].TickSize = market.Halted, 5
		f.mu.Unlock()
		asked := time.Now()
		feed.AskRules()
		ev := <-feed.Events()
		require.Less(t, time.Since(asked), time.Second)
		require.Equal(t, market.ID(2), ev.Market)
		require.Equal(t, market.Halted, ev.Status)
		require.Equal(t, market.Price(5), ev.Rules.TickSize)
		cancel()
		<-done
	})
}

func TestBooksAreToldWhenTheyChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Books: []market.ID{2}}, time.Minute)
		nonces := map[int64]bool{}
		for _, ev := range told {
			if ev.Kind == market.KindBook {
				require.False(t, nonces[ev.Book.Nonce], "a book that has not changed")
				nonces[ev.Book.Nonce] = true
			}
		}
		require.InDelta(t, 12, len(nonces), 2)
	})
}

func TestBooksBeginBehindTheFirstPrices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Tickers: []market.ID{1},
			Books: []market.ID{1}}, 10*time.Second)
		prices := func(ev market.Event) bool { return ev.Kind == market.KindTicker }
		books := func(ev market.Event) bool { return ev.Kind == market.KindBook }
		require.Positive(t, slices.IndexFunc(told, books))
		require.Less(t, slices.IndexFunc(told, prices), slices.IndexFunc(told, books))
	})
}

func TestAHistoryIsPagedBackFromTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		feed := New(Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop()})
		s := Series{Market: 1, Interval: market.Interval1m}
		got, err := feed.History(t.Context(), s, f.Now(), 4000)
		require.NoError(t, err)
		require.Len(t, got, 4000)
		all := whole(s, got[0].Start, f.Now())
		same(t, all, got)
	})
}

func TestTickersWithoutAnyPriceAreASilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		f.empty = [2]market.Time{f.Now().Add(5 * time.Second), f.Now().Add(35 * time.Second)}
		silent := 0
		listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Tickers: []market.ID{1},
			Stale: func(market.Duration) { silent++ }}, time.Minute)
		require.Equal(t, 1, silent)
	})
}

func TestACandleThatIsRevisedIsToldOnceAndTheRevisionLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		revised := market.Interval1m.Index(f.Now()) + 3
		for !traded(1, market.Interval1m, revised) || !traded(1, market.Interval1m, revised+1) {
			revised++
		}
		f.told = func(c *market.Candle) bool {
			if market.Interval1m.Index(c.Start) == revised && f.Now() > c.End().Add(30*time.Second) {
				c.Close, c.High = 200_00, 200_00
			}
			return true
		}
		var log lines
		start, s := f.Now(), Series{Market: 1, Interval: market.Interval1m}
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.New(&log), Series: []Series{s}},
			15*time.Minute)
		same(t, whole(s, s.Interval.Floor(start), start.Add(14*time.Minute)), candlesIn(t, told, s))
		require.Equal(t, 1, log.count(`"warn"`, "revised", `"close_is":"200"`), "%s", log.text.String())
	})
}

func TestACandleThatCannotBeIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		f.told = func(c *market.Candle) bool {
			c.Low = c.High + 1
			return true
		}
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Series: bothSeries}, 5*time.Minute)
		require.Empty(t, candlesIn(t, told, bothSeries[0]))
	})
}

// Between the two questions for a candle the exchange is down, until another candle has closed:
// that one has two questions of its own.
func TestEveryCandleThatIsAbsentIsAskedForTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		minute := market.Interval1m
		next := minute.Index(f.Now()) + 2
		hidden := func(c *market.Candle) bool {
			i := minute.Index(c.Start)
			return i == next || i == next+1 && f.Now() < c.End().Add(3*time.Second)
		}
		f.down = [2]market.Time{minute.StartOf(next + 1).Add(2500 * time.Millisecond), minute.StartOf(next + 2).
			Add(2100 * time.Millisecond)}
		f.told = func(c *market.Candle) bool { return !hidden(c) }
		for !traded(1, minute, next+1) {
			next++
			f.down = [2]market.Time{minute.StartOf(next + 1).Add(2500 * time.Millisecond), minute.StartOf(next + 2).
				Add(2100 * time.Millisecond)}
		}
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(),
			Series: []Series{{Market: 1, Interval: minute}}}, time.Duration(next-minute.Index(f.Now())+4)*time.Minute)
		got := candlesIn(t, told, Series{Market: 1, Interval: minute})
		require.True(t, slices.ContainsFunc(got, func(c market.Candle) bool { return minute.Index(c.Start) == next+1 }),
			"it was slow, and came with the second question")
		require.False(t, slices.ContainsFunc(got, func(c market.Candle) bool { return minute.Index(c.Start) == next }))
	})
}

func TestACandleThatIsOpenIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		f.eager = true
		start, s := f.Now(), bothSeries[0]
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Series: []Series{s}}, 10*time.Minute)
		same(t, whole(s, s.Interval.Floor(start), start.Add(9*time.Minute)), candlesIn(t, told, s))
	})
}

func TestACandleIsLateWhenItIsOlderThanTwiceItsIntervalOrThanTheConfigSays(t *testing.T) {
	minute := market.Interval1m
	c := market.Candle{Interval: minute, Start: minute.StartOf(100)}
	for age, late := range map[time.Duration]bool{0: false, 2 * time.Minute: false, 2*time.Minute + 1: true} {
		require.Equal(t, late, (&Feed{}).late(&c, c.End().Add(age)), age)
	}
	strict := &Feed{Config: Config{MaxCandleAge: 10 * time.Second}}
	require.False(t, strict.late(&c, c.End().Add(10*time.Second)))
	require.True(t, strict.late(&c, c.End().Add(11*time.Second)))
}

// Without a receiver, prices are dropped and polled all the same, and candles wait.
func TestTickersWaitForNobodyAndCandlesForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		feed := New(Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Tickers: []market.ID{1},
			Series: bothSeries[:1], RulesEvery: 24 * time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		done, began := make(chan struct{}), f.Now()
		go func() { feed.Run(ctx); close(done) }()
		time.Sleep(10 * time.Minute)
		f.mu.Lock()
		require.Greater(t, f.asked, 1000, "two questions a second")
		f.mu.Unlock()
		var told []market.Event
		for range 1200 {
			told = append(told, <-feed.Events())
		}
		same(t, whole(bothSeries[0], began, began.Add(12*time.Minute)), candlesIn(t, told, bothSeries[0]))
		cancel()
		<-done
	})
}

func TestEverySilenceIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		f.down = [2]market.Time{f.Now().Add(5 * time.Second), f.Now().Add(35 * time.Second)}
		f.empty = [2]market.Time{f.Now().Add(65 * time.Second), f.Now().Add(95 * time.Second)}
		silent := 0
		listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Tickers: []market.ID{1},
			Stale: func(market.Duration) { silent++ }}, 2*time.Minute)
		require.Equal(t, 2, silent)
	})
}

func TestTickersThatFitAreToldBesideOthersThatDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		f.unfit = true
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Tickers: []market.ID{1}},
			10*time.Second)
		require.True(t, slices.ContainsFunc(told, func(ev market.Event) bool { return ev.Kind == market.KindTicker }))
	})
}

func TestAnExchangeThatIsSlowToShowACandleLosesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		f.lag = 3 * time.Second // it is asked for the first time after two
		start, s := f.Now(), bothSeries[0]
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Series: []Series{s}}, 20*time.Minute)
		same(t, whole(s, s.Interval.Floor(start), start.Add(19*time.Minute)), candlesIn(t, told, s))
	})
}

// Of one market there are no candles for ten minutes. The others wait for it for Grace; its own
// come late in the end, all of them.
func TestASeriesThatIsMissingHoldsUpTheOthersForItsGraceAndNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		start := f.Now()
		f.mute, f.down = 2, [2]market.Time{start.Add(10 * time.Minute), start.Add(10 * time.Minute)}
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Series: bothSeries[:2]},
			15*time.Minute)
		for _, s := range bothSeries[:2] {
			same(t, whole(s, s.Interval.Floor(start), start.Add(14*time.Minute)), candlesIn(t, told, s))
		}
		late := 0
		for _, ev := range told {
			if ev.Kind != market.KindCandles {
				continue
			}
			for i := range ev.Candles {
				c := &ev.Candles[i]
				if c.Late {
					late++
					require.Equal(t, f.mute, c.Market)
				}
				require.True(t, c.Market == f.mute || ev.At.Sub(c.End()) <= 30*time.Second, "%s came at %s", c.Start,
					ev.At)
			}
		}
		require.Positive(t, late)
	})
}

// The machine slept for an hour, in which no timer of its goes on, and then knows the exchange's
// time again.
func TestAfterASleepCandlesComeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1)
		hour, woke := market.Interval1h, market.Time(0)
		time.AfterFunc(10*time.Minute, func() {
			f.jump.Store(int64(time.Hour))
			woke = f.Now()
		})
		s := Series{Market: 1, Interval: hour}
		if !traded(1, hour, hour.Index(f.Now())) {
			s.Market = 2
		}
		first := whole(s, hour.Floor(f.Now()), f.Now().Add(12*time.Hour))[0]
		told := listen(t, Config{Data: f, Catalog: f.catalog, Log: zerolog.Nop(), Series: []Series{s}}, 12*time.Hour)
		require.NotEmpty(t, candlesIn(t, told, s))
		require.Equal(t, hour.Floor(woke), first.End(), "it closed while the machine slept")
		for _, ev := range told {
			if ev.Kind == market.KindCandles {
				require.Less(t, ev.At.Sub(woke), 10*time.Second)
				break
			}
		}
	})
}
