package record

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/osfile"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// direct is the way to an exchange in the same process. In synctest's bubble no time is wasted.
type direct struct {
	ex *sandbox.Exchange

	mu     sync.Mutex // guards everything below
	lose   int        // of so many requests, one gets no answer; 0: each gets one
	rand   *rand.Rand
	cables []*bottest.Cable
	ended  sync.WaitGroup // of the cables
}

// cut cuts all sockets.
func (d *direct) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.cables {
		c.Cut()
	}
	d.cables = nil
}

// dial opens a socket in memory. A frame takes 20 ms.
func (d *direct) dial(r *http.Request) (*http.Response, error) {
	d.ended.Add(1)
	answer, cable := bottest.DialCable(d.ex, r, func(_ bool, text []byte) ([]byte, time.Duration) {
		return text, 20 * time.Millisecond
	}, d.ended.Done)
	if cable != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.cables = append(d.cables, cable)
	}
	return answer, nil
}

// loses reports whether a request gets no answer.
func (d *direct) loses() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lose > 0 && d.rand.IntN(d.lose) == 0
}

func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.loses() {
		return nil, errors.New("the connection broke")
	}
	if bottest.IsHandshake(r) {
		return d.dial(r)
	}
	answer := httptest.NewRecorder()
	d.ex.ServeHTTP(answer, r)
	return answer.Result(), nil
}

const testConfig = `
[record]
folder = "recordings"
markets = ["BTC-EUR"]
keep_free_mb = 0
[exchange]
base_url = "https://exchange.test/v2"
[poll]
trades = "5s"
depth = 10
`

// configOf is the config of a test, with changes.
func configOf(t *testing.T, dir string, changes ...string) *config.RecordConfig {
	overrides, err := config.ParseSets(append(changes, "record.folder="+dir))
	require.NoError(t, err)
	c, err := config.LoadRecord(&config.Source{File: "record.toml", Text: testConfig, Overrides: overrides})
	require.NoError(t, err)
	return c
}

// records are what a recording has, by kind.
type records struct {
	tickers, books int
	trades         []market.Trade
	candles        []market.Candle
	starts         int
	last           market.Time
}

func recordsOf(t *testing.T, dir string) (all records, holes []reader.Hole) {
	holes, err := reader.Walk(context.Background(), dir, reader.Range{}, func(r *reader.Item) error {
		require.GreaterOrEqual(t, r.At, all.last, "times never go back")
		all.last = r.At
		if r.Kind == recording.KindStart {
			all.starts++
		}
		switch ev := r.Input.Event; {
		case ev == nil:
		case ev.Kind == market.KindTicker:
			all.tickers++
		case ev.Kind == market.KindBook:
			require.Len(t, ev.Book.Bids, 10)
			require.Len(t, ev.Book.Asks, 10)
			all.books++
		case ev.Kind == market.KindTrade:
			all.trades = append(all.trades, *ev.Trade)
		case ev.Kind == market.KindCandles:
			all.candles = append(all.candles, ev.Candles...)
		}
		return nil
	})
	require.NoError(t, err)
	return all, holes
}

// Each trade and each candle is recorded once, also where the exchange often does not answer, and
// where the stream breaks each 45 seconds.
func TestARecordingHasWhatTheExchangeShows(t *testing.T) {
	for seed := range uint64(6) {
		if testing.Short() && seed%3 != 1 {
			continue // a seed costs seconds under the race detector
		}
		var changes []string
		if seed >= 3 {
			changes = []string{"stream.feed=stream"}
		}
		synctest.Test(t, func(t *testing.T) {
			ex, err := sandbox.New(bottest.Exchange(seed))
			require.NoError(t, err)
			defer func() { require.NoError(t, ex.Close()) }()
			way := &direct{ex: ex, rand: rand.New(rand.NewPCG(seed, 1))}
			quiet, err := rest.New(rest.Config{BaseURL: "https://exchange.test/v2", Transport: &direct{ex: ex}})
			require.NoError(t, err)
			defer quiet.Close()
			require.NoError(t, quiet.Sync(t.Context()))
			catalog, _, err := quiet.Catalog(t.Context())
			require.NoError(t, err)
			began, dir := quiet.Now(), filepath.Join(t.TempDir(), "recording")
			time.AfterFunc(10*time.Second, func() {
				way.mu.Lock()
				defer way.mu.Unlock()
				way.lose = int(seed) % 3 * 5 // seeds 0 and 3: all is answered
			})
			breaks := time.NewTicker(45 * time.Second)
			breaking, calm := context.WithCancel(t.Context())
			go func() {
				for breaking.Err() == nil {
					select {
					case <-breaks.C:
						way.cut()
					case <-breaking.Done():
					}
				}
			}()
			report, err := Run(t.Context(), configOf(t, dir, changes...), zerolog.Nop(),
				Options{Transport: way, For: 10 * time.Minute})
			calm()
			breaks.Stop()
			way.cut()
			way.ended.Wait()
			require.NoError(t, err)

			have, holes := recordsOf(t, dir)
			require.Empty(t, holes)
			require.EqualValues(t, have.tickers, report.Tickers)
			require.EqualValues(t, len(have.trades), report.Trades)
			require.Greater(t, have.tickers, 250)
			require.Greater(t, have.books, 100)
			m := catalog.MarketNamed("BTC-EUR")
			want, err := quiet.PublicTrades(t.Context(), m, rest.Page{Limit: 1000, Start: began}, nil)
			require.NoError(t, err)
			slices.Reverse(want)
			require.NotEmpty(t, have.trades)
			for i, trade := range have.trades {
				trade.Market = want[i].Market
				if seed >= 3 { // the stream tells nanoseconds, REST milliseconds
					trade.Time -= trade.Time % market.Time(time.Millisecond)
				}
				require.Equal(t, want[i].Trade, trade)
			}
			require.GreaterOrEqual(t, len(have.candles), 8)
			shown, err := quiet.Candles(t.Context(), m, market.Interval1m, have.candles[0].Start, quiet.Now(), 0, nil)
			require.NoError(t, err)
			for i, c := range have.candles {
				require.Equal(t, shown[i].Start, c.Start)
				require.Equal(t, shown[i].Close, c.Close)
			}
		})
	}
}

// What a kill leaves is whole up to the latest flush, and the next recorder goes on there; the
// candles in between come with its start.
func TestAKilledRecorderLosesSecondsAndTheNextOneGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex, err := sandbox.New(bottest.Exchange(7))
		require.NoError(t, err)
		defer func() { require.NoError(t, ex.Close()) }()
		dir, left := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "left")
		options := Options{Transport: &direct{ex: ex}, For: 5 * time.Minute}
		began := time.Now()
		time.AfterFunc(4*time.Minute, func() { require.NoError(t, os.CopyFS(left, os.DirFS(dir))) })
		_, err = Run(t.Context(), configOf(t, dir), zerolog.Nop(), options)
		require.NoError(t, err)
		killed, holes := recordsOf(t, left)
		require.Empty(t, holes)
		require.Greater(t, time.Duration(killed.last)-time.Duration(began.UnixNano()), 4*time.Minute-20*time.Second)

		report, err := Run(t.Context(), configOf(t, left), zerolog.Nop(), options)
		require.NoError(t, err)
		have, holes := recordsOf(t, left)
		require.Len(t, holes, 1)
		require.Contains(t, holes[0].String(), "nothing was recorded from ")
		require.Equal(t, 2, have.starts)
		require.EqualValues(t, have.tickers, int64(killed.tickers)+report.Tickers)
		var starts []market.Time
		_, err = reader.Walk(t.Context(), left, reader.Range{}, func(r *reader.Item) error {
			for _, c := range slices.Concat(r.Candles, candlesOf(r)) {
				if !slices.Contains(starts, c.Start) {
					starts = append(starts, c.Start)
				}
			}
			return nil
		})
		require.NoError(t, err)
		for i := 1; i < len(starts); i++ {
			require.Equal(t, market.Interval1m.End(starts[i-1]), starts[i], "candle %d", i)
		}
	})
}

// The recorder reads an odd list as a bot does; what came late is marked in the recording.
func TestARecorderReadsOddListsOfCandlesAsOne(t *testing.T) {
	bottest.Unraced(t)
	for _, odd := range bottest.OddLists() {
		for _, way := range []string{"poll", "stream"} {
			t.Run(odd.Name+" over "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { recordOdd(t, &odd, "stream.feed="+way) })
			})
		}
	}
}

func recordOdd(t *testing.T, odd *bottest.OddCandles, way string) {
	ex, err := sandbox.New(bottest.Exchange(7))
	require.NoError(t, err)
	defer func() { require.NoError(t, ex.Close()) }()
	straight, dir := &direct{ex: ex}, filepath.Join(t.TempDir(), "recording")
	defer func() {
		straight.cut()
		straight.ended.Wait()
	}()
	var log bytes.Buffer
	_, err = Run(t.Context(), configOf(t, dir, way), zerolog.New(zerolog.SyncWriter(&log)),
		Options{Transport: odd.Through(straight, time.Now), For: 25 * time.Minute})
	if odd.None {
		require.ErrorContains(t, err, odd.Said)
		return
	}
	require.NoError(t, err)
	require.Contains(t, log.String(), odd.Said)
	have, holes := recordsOf(t, dir)
	require.Empty(t, holes)
	require.Greater(t, len(have.candles), 18)
	next, late := have.candles[0].Start, 0
	for _, c := range have.candles {
		for next < c.Start && odd.Lacks(next.Std()) {
			next = next.Add(time.Minute)
		}
		require.Equal(t, next, c.Start, "each in its order, once")
		require.NoError(t, c.Check())
		require.False(t, way == "stream.feed=poll" && odd.Lacks(c.Start.Std()))
		if next = c.End(); c.Late {
			late++
			require.True(t, odd.Late && bottest.IsLate(c.Start.Std()), c.Start)
		}
	}
	require.Equal(t, odd.Late && way == "stream.feed=poll", late > 10, late)
}

func candlesOf(r *reader.Item) []market.Candle {
	if ev := r.Input.Event; ev != nil {
		return ev.Candles
	}
	return nil
}

func TestARecorderKeepsToItsCaps(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a recording of megabytes")
	}
	synctest.Test(t, func(t *testing.T) {
		ex, err := sandbox.New(bottest.Exchange(7))
		require.NoError(t, err)
		defer func() { require.NoError(t, ex.Close()) }()
		dir, options := filepath.Join(t.TempDir(), "full"), Options{Transport: &direct{ex: ex}, For: 4 * time.Hour}
		report, err := Run(t.Context(), configOf(t, dir, "record.limit_mb=1", "poll.tickers=500ms", "poll.books=500ms",
			"exchange.weight_per_ip=100000"), zerolog.Nop(), options)
		require.NoError(t, err)
		require.LessOrEqual(t, report.Bytes, int64(1<<20))
		have, holes := recordsOf(t, dir)
		require.Positive(t, have.starts, "a recording that has lost its beginning can be read")
		require.Less(t, have.starts, report.Starts)
		require.Less(t, have.tickers, int(report.Tickers))
		for _, h := range holes {
			require.True(t, h.Unknown, h.String())
		}

		options.For = time.Minute
		_, err = Run(t.Context(), configOf(t, dir, "record.keep_free_mb=1000000000"), zerolog.Nop(), options)
		require.ErrorIs(t, err, ErrNoRoom)
	})
}

func TestWhatARecorderRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex, err := sandbox.New(bottest.Exchange(7))
		require.NoError(t, err)
		defer func() { require.NoError(t, ex.Close()) }()
		options := Options{Transport: &direct{ex: ex}, For: time.Minute}
		run := func(dir string, changes ...string) error {
			_, err := Run(t.Context(), configOf(t, dir, changes...), zerolog.Nop(), options)
			return err
		}
		require.ErrorContains(t, run(t.TempDir(), "record.markets=[\"BTC-EUR\",\"ETC-EUR\"]"),
			"the exchange has no market ETC-EUR")
		require.ErrorContains(t, run(t.TempDir(), "exchange.weight_per_ip=100"), "ask less often for")
		bot := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(bot, statedir.StateFile), nil, 0o600))
		require.ErrorContains(t, run(bot), "which records itself")
		busy := t.TempDir()
		lock, err := osfile.LockFolder(busy)
		require.NoError(t, err)
		if lock != nil {
			require.ErrorContains(t, run(busy), "another bot record writes into it")
			require.NoError(t, lock.Close())
		}
	})
	for _, c := range []struct{ set, want string }{
		{"record.markets=[]", "record.markets: is missing"},
		{"record.candles=[\"7m\"]", "record.candles: "},
		{"record.flush=0s", "record.flush: 0s is not in 1s to 1h"},
		{"record.limit_mb=0", "record.limit_mb: is too small"},
		{"poll.depth=0", "poll.depth: want 1 level"},
		{"exchange.key=abc", "exchange.key: unknown key"},
	} {
		overrides, err := config.ParseSets([]string{c.set})
		require.NoError(t, err)
		_, err = config.LoadRecord(&config.Source{File: "record.toml", Text: testConfig, Overrides: overrides})
		require.ErrorContains(t, err, c.want)
	}
}
