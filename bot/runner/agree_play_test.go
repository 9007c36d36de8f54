package runner

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/internal/clutter"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// play is a bot with its strategies on made-up candles, to be traded live at an exchange that
// replays them, and in a backtest.
type play struct {
	weather
	strategies string // sections of the config, the same in both
	live       string // further sections, of `bot run` alone
	backtest   string // further keys of [backtest]
	minutes    int    // of trading
	// minutes of the candles before the bot starts; the exchange has an some hours of history
	// before them
	late   int
	into   time.Duration // its minute the bot starts
	longer []market.Interval
	quiet  bool // see hush
	alike  bool // it sends only orders that other agreements send too
	// prices have no decimals, so that a backtest keeps them in coarser units than the exchange
	// does
	round bool
	slow  time.Duration // from the bot's beginning to its first look at the market
	kills []int         // minutes of trading in whose calm second the bot is killed, and started again
	paper bool          // in paper mode, on the prices of that exchange
	hears string        // as stage.hears; "": the stage's
	shut  func(now market.Time, path string) bool
	// advice are the objects that a sender gives the source model in the calm second of a minute of
	// trading; nil: there is none. FILE in strategies is what the bot has recorded of them.
	advice   func(minute int) []string
	exported string // folder of that file
}

// calmSecond is in the last part of a minute, when its price stands and everything that happened is
// known.
const calmSecond = 56

const liveHead = `
[bot]
mode = %q
keep_orders = true
[exchange]
base_url = "https://exchange.test/v2"
key_env = "KEY"
secret_env = "SECRET"
weight_per_key = 1000000
weight_per_ip = 1000000
[paper.start]
EUR = "20000"
`

const backtestHead = `
[backtest]
from = %d
to = %d
%s
[data]
candles = %q
[account.start]
EUR = "20000"
[report]
envelope = "false"
`

const backtestMarket = `
[markets.%s]
tick_size = %q
quantity_decimals = 8
notional_decimals = 2
min_order_in_base = "0.0001"
min_order_in_quote = "5"
max_order_in_base = "1000"
max_order_in_quote = "1000000000"
max_open_orders = 100
`

// markets are the series of a play: BTC-EUR and ETH-EUR.
func (p *play) markets(t *testing.T, from market.Time, minutes int) []*series {
	other := p.weather
	other.seed += 1_000_000
	if p.round {
		return []*series{makeSeries(t, "BTC-EUR", 30_000_00, 20_00, from, minutes, p.weather),
			makeSeries(t, "ETH-EUR", 2_000_00, 1_00, from, minutes, other)}
	}
	return []*series{makeSeries(t, "BTC-EUR", 29_990_25, 20_25, from, minutes, p.weather),
		makeSeries(t, "ETH-EUR", 2_000_00, 1_25, from, minutes, other)}
}

// agree trades the play both ways, requires that nothing differs, and returns what there was.
func (p *play) agree(t *testing.T) (live *trail) {
	t.Helper()
	live, tested, _ := p.both(t)
	p.compare(t, tested, live)
	return live
}

// both trades the play both ways.
func (p *play) both(t *testing.T) (live, tested *trail, all []*series) {
	if p.live = "[poll]\ntickers = \"2s\"\n"; p.quiet {
		p.hush()
	}
	if p.advice != nil {
		p.exported = memoryFolder(t)
	}
	var from, to market.Time
	synctest.Test(t, func(t *testing.T) { live, all, from, to = p.traded(t) })
	var candles []stored
	for _, s := range all {
		candles = append(candles, s.stored(p.longer))
	}
	return live, p.tested(t, candles, from, to), all
}

// compare requires that two trails are the same, strategy by strategy and market by market; it
// shows the first difference of each.
func (p *play) compare(t *testing.T, want, have *trail) {
	t.Helper()
	for _, where := range slices.Sorted(maps.Keys(want.lines)) {
		w, h := want.lines[where], have.lines[where]
		same := 0
		for same < min(len(w), len(h)) && w[same] == h[same] {
			same++
		}
		if same < max(len(w), len(h)) {
			t.Errorf("%s, seed %d, after %d lines that agree:\n%s\nbacktest: %s\nlive:     %s", where, p.seed, same,
				strings.Join(w[max(0, same-5):same], "\n"), lineAt(w, same), lineAt(h, same))
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(want.lines)), slices.Sorted(maps.Keys(have.lines)))
}

func lineAt(lines []string, n int) string {
	if n < len(lines) {
		return lines[n]
	}
	return "nothing more"
}

// traded trades live.
func (p *play) traded(t *testing.T) (live *trail, all []*series, from, to market.Time) {
	const history = 3 * time.Hour
	begin, err := market.TimeOf(time.Now())
	require.NoError(t, err)
	all = p.markets(t, begin.Add(-history), 180+p.late+p.minutes+1)
	to = begin.Add(time.Duration(p.late+p.minutes) * time.Minute)
	s := newStage(t, p.seed, world(all, history))
	s.kinds = append(shipped.Definitions(), fickleKind, leaverKind, trailerKind, slicerKind)
	mode := config.ModeLive
	if p.paper {
		mode = config.ModePaper
	}
	s.config, s.traffic.limits = fmt.Sprintf(liveHead, mode)+p.live+p.strategies, limits{value: 1e12}
	s.hears = cmp.Or(p.hears, s.hears)
	live = newTrail(to)
	if p.shut != nil {
		s.traffic.shut = func(path string) bool { return p.shut(s.ex.Clock().Now(), path) }
	}
	time.Sleep(time.Duration(p.late)*time.Minute + p.into)
	b := s.trade(live, p.slow)
	from = market.Interval1m.Floor(b.began) // the candle that is open then is the first to be traded on
	for minute := range p.minutes {
		killed := slices.Contains(p.kills, minute)
		if !killed && p.advice == nil {
			continue
		}
		time.Sleep(begin.Add(time.Duration(p.late+minute)*time.Minute + calmSecond*time.Second).Sub(s.ex.Clock().Now()))
		p.advise(b, minute)
		if killed {
			b.kill()
			s.observer.(*ear).deaf.Store(true)
			defer b.bury()
			b = s.trade(live, 0)
		}
	}
	time.Sleep(to.Sub(s.ex.Clock().Now()) - 2*time.Second)
	require.NoError(t, b.end())
	live.Ended(b.account)
	require.NoError(t, s.ex.Err())
	if !p.paper {
		s.AgreeOnFile()
	}
	p.sameCandles(s, all, from, to)
	require.Zero(t, s.replayed().Unchecked)
	if p.advice != nil {
		_, _, err := reader.CSV(t.Context(), p.exported, s.Folder, reader.Choice{Kinds: []string{"signal"}})
		require.NoError(t, err)
	}
	return live, all, from, to
}

// advise gives a bot the signals of a minute. In the last one a sale would wait for the end of its
// exit until after the end of the run.
func (p *play) advise(b *process, minute int) {
	if p.advice == nil || minute == p.minutes-1 || !b.listening.trades.Load() {
		return
	}
	for _, body := range p.advice(180 + p.late + minute) {
		require.Empty(b.stage.T, b.hears("%s", body).Refused)
	}
}

// trade starts a bot whose observer is the trail.
func (s *stage) trade(live *trail, slow time.Duration) *process {
	s.observer = &ear{trail: live}
	b, err := s.open()
	require.NoError(s.T, err)
	live.of(b.plan.Catalog, b.plan.Names())
	time.Sleep(slow)
	ctx := b.ctx()
	go func() { b.done <- b.trade(ctx) }()
	return b
}

// sameCandles requires that the exchange has told the series, whatever was traded there.
func (p *play) sameCandles(s *stage, all []*series, from, to market.Time) {
	for _, one := range all {
		told, err := s.Auditor.Candles(context.Background(), s.Units.MarketNamed(one.name), market.Interval1m, from, to,
			1440, nil)
		require.NoError(s.T, err)
		want := between(one.candles, max(from, to.Add(-1440*time.Minute)), to)
		require.Len(s.T, told, len(want))
		for i, c := range told {
			require.Equal(s.T, [5]int64{int64(want[i].Start), int64(want[i].Open), int64(want[i].High),
				int64(want[i].Low), int64(want[i].Close)},
				[5]int64{int64(c.Start), int64(c.Open), int64(c.High), int64(c.Low), int64(c.Close)}, one.name)
		}
	}
}

// stored is the candles of a market for a backtest, with 2 decimals of a price and 8 of a volume.
type stored struct {
	name, tick string
	candles    map[market.Interval][]market.Candle
}

func (s *series) stored(longer []market.Interval) stored {
	all := stored{name: s.name, tick: tickText(s.tick),
		candles: map[market.Interval][]market.Candle{market.Interval1m: s.candles}}
	for _, interval := range longer {
		all.candles[interval] = s.longer(interval)
	}
	return all
}

// tested trades in a backtest.
func (p *play) tested(t *testing.T, all []stored, from, to market.Time) *trail {
	want := newTrail(to)
	p.testedBy(t, all, from, to, want)
	return want
}

// named is an observer that is told the names of a run.
type named interface {
	backtest.Observer
	of(*market.Catalog, []string) *trail
}

// testedBy trades in a backtest before an observer, and returns the file of its candles.
func (p *play) testedBy(t *testing.T, all []stored, from, to market.Time, want named) (db string) {
	db = filepath.Join(memoryFolder(t), "candles.db")
	text := fmt.Sprintf(backtestHead, from.Millis(), to.Millis(), p.backtest, db)
	store, err := candles.Open(db)
	require.NoError(t, err)
	for _, s := range all {
		text += fmt.Sprintf(backtestMarket, s.name, s.tick)
		for interval, stored := range s.candles {
			_, err = store.Put(candles.WriteOptions{Market: s.name, Interval: interval}, stored, 2, 8, nil)
			require.NoError(t, err)
			require.NoError(t, clutter.Add(store, s.name, interval, interval.Floor(from),
				interval.End(interval.Floor(to-1)), 5000))
		}
	}
	require.NoError(t, store.Close())
	c, err := config.LoadBacktest(&config.Source{File: "backtest.toml", Text: text +
		strings.ReplaceAll(p.strategies, "FILE", filepath.Join(p.exported, "signals-model.csv"))})
	require.NoError(t, err)
	planned, err := plan.NewBacktest(c, append(shipped.Definitions(), fickleKind, leaverKind, trailerKind, slicerKind))
	require.NoError(t, err)
	lib, err := plan.OpenLibrary(c)
	require.NoError(t, err)
	defer lib.Close()
	require.NoError(t, planned.Finish(lib))
	want.of(planned.Run.Catalog, planned.Names())
	planned.Options.Observer = want
	_, err = backtest.Run(t.Context(), planned.Run, planned.Options)
	require.NoError(t, err)
	return db
}

// hush lets a play's bot see prices and books only in the last part of a minute, when it knows of
// every fill before: a strategy that acts on them decides on a price before it hears of the fill
// that the price has brought, and in a backtest after. A candle goes one way, so that its path
// shows no price between open and close that the bot did not see. The first two do not move: what
// is quoted on an open is quoted live at once and in the backtest at the next open. Nor does the
// last: there is no open after it at which a backtest could quote. Such a bot polls: a stream tells
// of each price at once.
func (p *play) hush() {
	p.wicks, p.hears = false, overPolls
	p.live = "[poll]\ntickers = \"1s\"\nbooks = \"1s\"\norders = \"1s\"\n"
	first, last := 180+p.late, 180+p.late+p.minutes-1
	p.still = func(minute int) bool { return minute == first || minute == first+1 || minute == last }
	p.shut = func(now market.Time, path string) bool {
		if second := now.Sub(market.Interval1m.Floor(now)); second >= (calmSecond-4)*time.Second &&
			second < (calmSecond+2)*time.Second {
			return false
		}
		return strings.HasPrefix(path, "/v2/ticker") || strings.HasSuffix(path, "/book")
	}
}
