package replay

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// scribe plays inputs as a live bot does: it records them, journals the commands, and commits.
// Every order is answered as if the exchange had refused it.
type scribe struct {
	testing.TB
	core     *core.Core
	config   *core.Config
	w        *recording.Writer
	store    *journal.Store
	batch    *journal.Batch
	entries  uint64
	waiting  int  // inputs since the last commit
	commands bool // since the last commit
}

// askerKind asks for an order at every so many tickers.
var askerKind = strategy.Define("asker", "asks now and then",
	func(askerParams) strategy.Needs { return strategy.Needs{Ticker: true} },
	func(p askerParams, _ strategy.Setup) (strategy.Strategy, error) { return &asker{every: p.Every}, nil })

type askerParams struct {
	Every int64 `toml:"every" default:"1000" min:"1" doc:"tickers from order to order"`
}

type asker struct {
	strategy.Base
	every, count int64
}

func (s *asker) OnTicker(d *strategy.Desk, t market.Ticker) {
	if s.count++; s.count%s.every == 0 {
		_, _ = d.In(t.Market).Buy(strategy.Amount(1_000_000), strategy.At(t.Last/2))
	}
}

// scribeKinds are the strategies of a scribe's bots.
func scribeKinds() []strategy.Definition { return append(shipped.Definitions(), askerKind) }

// newScribe opens a state folder.
func newScribe(t testing.TB, dir string, config *core.Config) *scribe {
	s := &scribe{TB: t, config: config}
	var err error
	s.store, err = journal.Open(filepath.Join(dir, statedir.StateFile))
	require.NoError(t, err)
	var names []string
	for i := range config.Strategies {
		names = append(names, config.Strategies[i].Name)
	}
	require.NoError(t, s.store.Bind(config.Catalog, names))
	s.w, err = recording.Open(filepath.Join(dir, statedir.RecordingFolder), recording.Options{Catalog: config.Catalog,
		Strategies: names})
	require.NoError(t, err)
	s.core, err = core.New(config)
	require.NoError(t, err)
	s.batch = s.store.NewBatch()
	s.batch.Start(1, &journal.Start{Run: config.Run, Currency: "EUR", Strategies: names})
	return s
}

func (s *scribe) record(r *recording.Record) {
	_, err := s.w.Write(r)
	require.NoError(s, err)
}

// begin records a start with a warm-up, of which the journal has the hashes.
func (s *scribe) begin(at market.Time, history, hashed []market.Candle) {
	m, err := core.NewManifest(s.config, "test")
	require.NoError(s, err)
	text, err := m.Encode()
	require.NoError(s, err)
	s.record(&recording.Record{Kind: recording.KindStart, At: at, Manifest: text})
	if len(history) > 0 {
		s.record(&recording.Record{Kind: recording.KindHistory, At: at, Candles: history})
	}
	s.record(&recording.Record{Kind: recording.KindOpen, At: at})
	for name, sum := range WarmupSums(s.config.Catalog, hashed) {
		s.batch.Cursor(at, name, sum)
	}
	_, err = s.core.Open(at, nil, history)
	require.NoError(s, err)
	s.record(&recording.Record{Kind: recording.KindWaiting, At: at})
	s.record(&recording.Record{Kind: recording.KindBegun, At: at})
	money := market.Event{At: at, Kind: market.KindTransfer, Asset: s.config.Limits.Currency, Money: 1e12}
	s.enter(&market.Input{Kind: market.InputBooking, Event: &money})
	s.commit(at)
}

// enter lets an input enter the engine; a turn has 64 of them.
func (s *scribe) enter(in *market.Input) {
	s.record(&recording.Record{Kind: recording.KindInput, Input: *in})
	at := in.Event.At
	for _, c := range slices.Clone(s.core.Engine.Enter(in).Commands) {
		intent := journal.Intent{Command: c, Method: "POST", Path: "/order"}
		if own := s.core.Account.Known(c.Order.ID); own != nil {
			intent.Command.Order = own.Order
		}
		s.batch.Journal(at, &intent)
		s.commands = true
		r := market.Report{Exec: market.ExecRejected, Command: c.Kind, Order: c.Order.ID, Market: c.Order.Market,
			OrderState: market.OrderState{Updated: at}}
		s.enter(&market.Input{Kind: market.InputEvent,
			Event: &market.Event{At: at, Kind: market.KindReport, Market: c.Order.Market, Report: &r}})
	}
	if s.waiting++; s.commands && s.waiting >= 64 {
		s.commit(at)
	}
}

// commit ends a turn.
func (s *scribe) commit(at market.Time) {
	to := s.entries + uint64(s.batch.Entries())
	s.record(&recording.Record{Kind: recording.KindTurn, At: at, From: s.entries, To: to})
	if s.commands {
		require.NoError(s, s.w.Flush())
	}
	s.batch.Blob(statedir.RecordingBlob, statedir.AppendNextRecord(nil, s.w.Next()))
	require.NoError(s, s.store.Commit(s.batch))
	s.entries, s.waiting, s.commands = to, 0, false
}

func (s *scribe) end(at market.Time) {
	s.commit(at)
	require.NoError(s, s.w.Close())
	require.NoError(s, s.store.Close())
}

// hear lets a bot hear n tickers and candles: each market each second, and a candle of each market
// a minute.
func hear(n int, at market.Time, enter func(*market.Input)) market.Time {
	random, prices := rand.New(rand.NewPCG(1, 1)), [3]market.Price{0, 3_000_000, 200_000}
	for i := range n {
		id := market.ID(1 + i%2)
		prices[id] += market.Price(random.Int64N(21) - 10)
		price := prices[id]
		if id == 1 {
			at = at.Add(time.Second)
		}
		ev := market.Event{At: at, Kind: market.KindTicker, Market: id, Ticker: &market.Ticker{Market: id, Last: price,
			Bid: price - 2, Ask: price + 2, BidSize: market.Qty(random.Int64N(1e8)), AskSize: 5}}
		if i%120 < 2 && i > 2 {
			ev = market.Event{At: at, Kind: market.KindCandles, Candles: []market.Candle{{Market: id,
				Interval: market.Interval1m, Start: market.Interval1m.Floor(at).Add(-time.Minute), Open: price,
				High: price + 9, Low: price - 9, Close: price + 1, Volume: 12345}}}
		}
		enter(&market.Input{Kind: market.InputEvent, Event: &ev})
	}
	return at
}

// began is when the bots of these tests begin.
const began = market.Time(1_699_999_980_000_000_000)

// heard is a state folder of a bot of six strategies, and one that asks, which heard n tickers and
// candles.
func heard(t testing.TB, dir string, n int) { heardIn(t, dir, n, twoMarkets) }

// heardIn is heard in markets of these names.
func heardIn(t testing.TB, dir string, n int, markets [2]string) {
	config := coreOf(t, markets)
	asking := backtest.StrategyPlan{Name: "asker", Kind: askerKind, Interval: market.Interval1m,
		Markets: config.Catalog.Markets()}
	asking.Limits.OperatorID = 1
	config.Strategies = append(config.Strategies, asking)
	s := newScribe(t, dir, config)
	s.begin(began, nil, nil)
	s.end(hear(n, began, s.enter))
}

func TestWhatAScribeWritesIsReplayedEqual(t *testing.T) {
	dir := t.TempDir()
	heard(t, dir, 10_000)
	r, err := Run(t.Context(), dir, scribeKinds(), nil)
	require.NoError(t, err)
	require.Nil(t, r.First)
	require.Equal(t, 9, r.Equal)
}

func TestACandleOfTheWarmUpThatIsNotTheJournalsIsFound(t *testing.T) {
	history := []market.Candle{{Market: 1, Interval: market.Interval1m, Start: began - 60e9, Open: 5, High: 6, Low: 4,
		Close: 5, Volume: 7}}
	other := slices.Clone(history)
	other[0].Close ^= 1 << 1 // one bit
	for _, c := range []struct {
		hashed []market.Candle
		then   string
	}{{history, ""}, {other, "1 candles from 2023-11-14T22:12:00Z, hash "}, {nil, ""}} {
		dir := t.TempDir()
		s := newScribe(t, dir, benchCore(t))
		s.begin(began, history, c.hashed)
		s.end(began)
		r, err := Run(t.Context(), dir, scribeKinds(), nil)
		require.NoError(t, err)
		if slices.Equal(c.hashed, history) {
			require.Nil(t, r.First)
			continue
		}
		require.NotNil(t, r.First)
		require.Equal(t, "the candles of the warm-up BTC-EUR 1m", r.First.Event)
		require.Contains(t, r.First.Then, c.then)
		require.NotEqual(t, r.First.Then, r.First.Now)
	}
}

// monthOf is a state folder with some days of two markets; only benchmarks make it.
func monthOf(b *testing.B, days int) string {
	dir, err := os.MkdirTemp("", "month")
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, os.RemoveAll(dir)) })
	heard(b, dir, days*24*60*122)
	return dir
}

// BenchmarkMonth replays and compares a month of a bot: 5.3 million tickers and candles of two
// markets, seven strategies, 5,182 commands.
func BenchmarkMonth(b *testing.B) {
	if testing.Short() {
		b.Skip("it writes a month first")
	}
	days := 30
	if b.N == 1 { // one round of CI is no measurement
		days = 1
	}
	dir := monthOf(b, days)
	least, r := time.Hour, (*Verdict)(nil)
	b.ResetTimer()
	for range b.N {
		began, err := time.Now(), error(nil)
		r, err = Run(b.Context(), dir, scribeKinds(), nil)
		least = min(least, time.Since(began))
		require.NoError(b, err)
		require.Nil(b, r.First)
	}
	b.ReportMetric(least.Seconds()*30/float64(days), "s/month")
	b.ReportMetric(float64(r.Records)/least.Seconds()/1e6, "M/s")
	b.ReportMetric(float64(r.Equal), "commands")
}

func TestWhatWasTakenOutOfTheJournalIsUnchecked(t *testing.T) {
	dir := t.TempDir()
	heard(t, dir, 20_000)
	path := filepath.Join(dir, statedir.StateFile)
	store, err := journal.Open(path)
	require.NoError(t, err)
	_, err = store.Prune(path, began.Add(5000*time.Second))
	require.NoError(t, err)
	require.NoError(t, store.Close())
	r, err := Run(t.Context(), dir, scribeKinds(), nil)
	require.NoError(t, err)
	require.Nil(t, r.First)
	require.Equal(t, 10, r.Equal)
	require.Len(t, r.Notes, 1)
	require.Regexp(t, `^the journal no longer has all entries up to \d+: 9 commands are unchecked$`, r.Notes[0])
}

// A strategy that does not return is shown by its callback, and the play ends with its context.
func TestAReplayShowsTheCallbackThatItIsIn(t *testing.T) {
	dir := t.TempDir()
	heard(t, dir, 1_000)
	kinds := scribeKinds()
	var seen backtest.Watched
	kinds[len(kinds)-1] = strategy.Define("asker", "looks at where it is called",
		func(askerParams) strategy.Needs { return strategy.Needs{Ticker: true} },
		func(askerParams, strategy.Setup) (strategy.Strategy, error) {
			return &looker{look: func() {
				call, is := seen.Callback.Now()
				require.True(t, is)
				require.Equal(t, "OnTicker", call.Kind.String())
				require.Equal(t, "asker", seen.Name(call.Strategy))
			}}, nil
		})
	_, err := Run(t.Context(), dir, kinds, func(w backtest.Watched) { seen = w })
	require.NoError(t, err)
	require.NotNil(t, seen.Callback)
}

type looker struct {
	strategy.Base
	look func()
}

func (s *looker) OnTicker(*strategy.Desk, market.Ticker) { s.look() }
