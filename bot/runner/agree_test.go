package runner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// The tests of this file and its neighbours hold the live bot and the backtest against each other:
// the same made-up candles, replayed by an exchange in process along the path on which a backtest
// walks them, and in a backtest. Every command, every fill and every order at its end is the same,
// with all fields but the unlike, and so are positions, profits and balances. Many seeds of each:
//
//	go test ./bot/runner -run 'TheSameLive|TheSameAs' -live-seeds 50 -timeout 2h

// section is a strategy in a config.
func section(name, kind, markets, interval, rest string) string {
	return "[strategies." + name + "]\nkind = \"" + kind + "\"\nmarkets = [" + markets + "]\ninterval = \"" + interval +
		"\"\noperator_id = 7\n" + rest + "\n"
}

const (
	bitcoin = `"BTC-EUR"`
	ether   = `"ETH-EUR"`
	both    = `"BTC-EUR", "ETH-EUR"`
)

// agreement is a strategy that is compared.
type agreement struct {
	name string
	play
}

// agreements are the shipped strategies, each by itself and with few candles between its decisions,
// one that tries everything, one that leaves by Close, one whose exits follow, and one that trades
// by tactics.
var agreements = []agreement{
	{"smacross", play{alike: true, strategies: section("s", "smacross", both, "1m",
		`params = { fast = 3, slow = 8, share = "0.5" }`)}},
	{"breakout", play{round: true,
		strategies: section("s", "breakout", both, "1m",
			`params = { channel = 5, atr = 5, stop_atr = 1.5, target_atr = 2.0, share = "0.4", risk = "0" }`)}},
	{"breakout of 5m", play{longer: []market.Interval{market.Interval5m},
		strategies: section("s", "breakout", bitcoin, "5m",
			`params = { channel = 2, atr = 2, stop_atr = 1.0, target_atr = 1.0, share = "0.9" }`)}},
	{"rsirevert", play{strategies: section("s", "rsirevert", both, "1m",
		`params = { period = 5, low = 40.0, high = 60.0, offset_bps = "5", target_bps = "10", expire = 3 }`)}},
	{"grid", play{strategies: section("s", "grid", both, "1m",
		`params = { levels = 3, spacing_bps = "12", recentre_bps = "30", money = "200" }`)}},
	{"dca", play{alike: true,
		strategies: section("s", "dca", both, "1m", `params = { money = "25.55", every_candles = 1 }`)}},
	{"dca by the clock", play{alike: true, strategies: section("s", "dca", bitcoin, "1m",
		`params = { money = "25.55", every = "5m" }`)}},
	{"maker on tickers", play{quiet: true,
		strategies: section("s", "maker", both, "1m",
			`params = { book = false, half_spread_bps = "4", skew_bps = "2", move_bps = "3", money = "100", max_money = "500" }`)}},
	{"maker on books", play{quiet: true, backtest: "synthetic_book = true",
		strategies: section("s", "maker", bitcoin, "1m",
			`params = { half_spread_bps = "4", skew_bps = "2", move_bps = "3", money = "100", max_money = "500" }`)}},
	{"trendfilter", play{alike: true, strategies: section("s", "trendfilter", both, "1m",
		`params = { fast = 1, slow = 3, days = 0, size = "40% cash" }`)}},
	{"rotation", play{strategies: section("s", "rotation", both, "1m",
		`params = { top = 1, candles = 3, every = "5m" }`)}},
	{"bandrevert", play{strategies: section("s", "bandrevert", both, "1m",
		`params = { closes = 4, width = 0.5, gain = "0%", atr = 3, stop_atr = 2.0 }`)}},
	{"accumulate", play{strategies: section("s", "accumulate", both, "1m",
		`params = { money = "150", every = "5m", candles = 3, move = "1s", take = "2m3s", beyond = "8bps" }`)}},
	{"accumulate that does not move", play{alike: true, strategies: section("s", "accumulate", both, "1m",
		`params = { money = "150", every = "5m", candles = 3, move = "9m", take = "3m", beyond = "20bps" }`)}},
	{"rules", play{longer: []market.Interval{market.Interval5m}, strategies: section("s", "rules", both, "1m",
		`rules.entry = 'close("5m") > close("5m")[1] or close < close[1]'`+"\n"+
			`rules.exit = 'close("5m") < close("5m")[1] and bars_since_entry > 1 or close < highest_since_entry - 2 * atr(2)'`+
			"\n"+`rules.size = "40% cash"`+"\n"+`rules.cooldown = 1`+"\n"+`rules.raise = 'low - atr(2)'`)}},
	{"rules that rest", play{strategies: section("s", "rules", both, "1m",
		`rules.entry = 'close < sma(3)'`+"\n"+`rules.at = 'close - 0.3 * atr(2)'`+"\n"+`rules.exit_after = 4`+"\n"+
			`rules.stop = "1%"`+"\n"+`rules.exit = 'profit > 0.05 or close > entry_price + 2 * atr(2)'`+"\n"+
			`rules.size = "up to 1% risk"`)}},
	{"rules that read", play{longer: []market.Interval{market.Interval5m},
		strategies: section("s", "rules", bitcoin, "1m",
			`rules.entry = 'close("ETH-EUR") > close("ETH-EUR")[1] and close("5m", "ETH-EUR") > 1'`+"\n"+
				`rules.exit = 'close("ETH-EUR") < close("ETH-EUR")[1] or close("5m", "ETH-EUR") < close("5m", "ETH-EUR")[1]'`+
				"\n"+`rules.size = "40% cash"`)}},
	{"follow", play{weather: calm, advice: advice(4), strategies: section("s", "follow", both, "1m",
		`params = { size = "40% cash", stop = "2%" }`) + modelSection}},
	{"rules that read a signal", play{weather: calm, advice: advice(5), strategies: section("s", "rules", both, "1m",
		`rules.signals = "model"`+"\n"+`rules.entry = 'model.value > 0.4 and model.age < 4'`+"\n"+
			`rules.exit = 'model.value < 0.6 or bars_since_entry > 6'`+"\n"+`rules.size = "40% cash"`) + modelSection}},
	{"rules on a signal", play{weather: calm, advice: advice(6), longer: []market.Interval{market.Interval5m},
		strategies: section("s", "rules", both, "1m", `rules.on = "model"`+"\n"+
			`rules.entry = 'model.value > 0.3 and close("5m") > 0'`+"\n"+`rules.exit_after = 9`+"\n"+
			`rules.exit = 'model.value < 0.5 and close > 0'`+"\n"+`rules.size = "40% cash"`) + modelSection}},
	{"slicer", play{strategies: section("s", "slicer", both, "1m", "params.seed = 9")}},
	{"fickle", play{strategies: fickleSection("s", bitcoin, 1) + "params.closes = true\n"}},
	{"leaver", play{strategies: section("s", "leaver", both, "1m", "params.seed = 3")}},
	{"trailer", play{strategies: section("s", "trailer", both, "1m", "params.seed = 5")}},
}

// modelSection is the source of advice.
const modelSection = "[signals.model]\nfile = \"FILE\"\nlive = \"stdin\"\nmax_age = \"9m\"\n"

// calm is weather in which every third minute stands still. A size inside any other candle comes
// from the price of the moment live, and in a backtest from the close before it.
var calm = weather{still: func(minute int) bool { return minute%3 == 1 }}

// advice is made-up signals of still minutes, one at most in each, so that what follows from it has
// ended before the next, as in a backtest: numbers and positions of one market or of all,
// actions, targets.
func advice(seed uint64) func(minute int) []string {
	return func(minute int) (bodies []string) {
		if !calm.still(minute) {
			return nil
		}
		chance := rand.New(rand.NewPCG(seed, uint64(minute)))
		if chance.IntN(4) > 0 {
			on := []string{`"market":"BTC-EUR",`, `"market":"ETH-EUR",`, ``}[chance.IntN(3)]
			bodies = append(bodies, fmt.Sprintf([]string{`{%s"position":"long","value":%v}`, `{%s"position":"flat","value":%v}`,
				`{%s"action":"sell","value":%v,"text":"so, \"it\" says\n"}`, `{%s"action":"buy","value":%v}`,
				`{%s"target":"25%%","value":%v}`}[chance.IntN(5)], on, chance.Float64()))
		}
		return bodies
	}
}

// eachAgreement plays every agreement with every seed. with sets up the n-th; then looks at what it
// did live.
func eachAgreement(t *testing.T, minutes int, with func(int, *agreement), then func(*testing.T, *agreement, *trail)) {
	minutes = shortened(t, minutes)
	for n, a := range agreements {
		t.Run(a.name, func(t *testing.T) {
			if testing.Short() && a.alike {
				t.Skip("-short: it sends only orders that others send too")
			}
			for seed := range *liveSeeds {
				a.seed, a.wicks, a.minutes, a.into = uint64(seed+1), true, minutes, 10*time.Second
				if with != nil {
					with(n, &a)
				}
				if a.paper && testing.Short() && a.name != "fickle" {
					t.Skip("-short: fickle alone")
				}
				if a.paper && a.quiet {
					t.Skip("paper brings price and fill in one ticker: " +
						"a strategy of tickers decides before the fill, in a backtest after it")
				}
				live := a.agree(t)
				if then != nil {
					then(t, &a, live)
				}
			}
		})
	}
}

// shortened returns how many minutes a play has: all from two seeds on, else half, with -short a
// quarter.
func shortened(t *testing.T, minutes int) int {
	short := minutes / 2
	switch {
	case *liveSeeds > 1:
		return minutes
	case testing.Short():
		short = minutes / 4
	}
	t.Logf("one seed: %d minutes instead of %d", short, minutes)
	return short
}

func TestEachStrategyTradesTheSameLiveAndInABacktest(t *testing.T) {
	bottest.Unraced(t)
	eachAgreement(t, 60, func(_ int, a *agreement) {
		if a.longer != nil {
			a.minutes = 60 // or it trades nothing
		}
	}, func(t *testing.T, a *agreement, live *trail) {
		if a.seed == 1 { // later ones may show nothing
			require.Positive(t, live.counts["fill"])
		}
	})
}

// A strategy that comes later than these has to be compared too.
func TestEveryShippedStrategyIsAmongTheAgreements(t *testing.T) {
	for _, kind := range shipped.Definitions() {
		require.True(t, slices.ContainsFunc(agreements,
			func(a agreement) bool { return strings.Contains(a.strategies, `kind = "`+kind.Name+`"`) }), kind.Name)
	}
}

// Some have money of their own, some share, two trade both markets; all decide at the same closes.
func TestSeveralStrategiesOnSeveralMarketsTradeTheSameLiveAndInABacktest(t *testing.T) {
	bottest.Unraced(t)
	sections := section("trend", "smacross", both, "1m",
		`allocation = "3000"`+"\n"+`cod_group_id = 3`+"\n"+`params = { fast = 3, slow = 8, share = "0.5" }`) +
		section("also", "smacross", `"ETH-EUR", "BTC-EUR"`, "1m", `params = { fast = 2, slow = 5, share = "0.3" }`) +
		section("break", "breakout", ether, "1m",
			`allocation = "3000"`+"\n"+`params = { channel = 5, atr = 5, stop_atr = 1.5, target_atr = 2.0, share = "0.8" }`) +
		section("weak", "rsirevert", bitcoin, "1m",
			`params = { period = 5, low = 40.0, high = 60.0, offset_bps = "5", target_bps = "10", expire = 3, share = "0.3" }`) +
		section("ladder", "grid", bitcoin, "1m",
			`params = { levels = 3, spacing_bps = "12", recentre_bps = "30", money = "200" }`) +
		section("saver", "dca", both, "5m", `params = { money = "25.55", every_candles = 1 }`)
	for seed := range *liveSeeds {
		p := play{weather: weather{seed: uint64(seed + 1), wicks: true}, minutes: shortened(t, 80),
			into: 10 * time.Second, strategies: sections, longer: []market.Interval{market.Interval5m}}
		live := p.agree(t)
		require.Positive(t, live.counts["fill"])
	}
}

// Orders of every type with every condition, brackets, changes and Closes, by chance. With seed 23
// a bracket swaps after an exit that had expired.
func TestWhateverIsOrderedComesToTheSameLiveAndInABacktest(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	plays := 2**liveSeeds + 1
	if testing.Short() {
		plays = 1
	}
	for n := range plays {
		seed := n - 1
		if n == 0 {
			seed = 23
		}
		closes := ""
		if n%2 == 1 {
			closes = "params.closes = true\n"
		}
		p := play{weather: weather{seed: uint64(seed + 100), wicks: true}, minutes: shortened(t, 120),
			into: 10 * time.Second,
			strategies: fickleSection("one", bitcoin, uint64(seed)) + closes +
				fickleSection("two", ether, uint64(seed+1000)) + closes}
		p.agree(t)
	}
}

// A bot that starts in the middle of the candles does what the backtest does from the candle on
// that is open then, also where it starts while one closes, or takes so long to start that one
// closes meanwhile.
func TestABotThatStartsAnywhereTradesTheSameAsTheBacktestFromThere(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	starts := []struct {
		late       int
		into, slow time.Duration
	}{{0, 0, 0}, {7, 45 * time.Second, 0}, {13, 59_960 * time.Millisecond, 0}, {20, 50 * time.Second, 15 * time.Second}}
	rounds := 1 // each strategy has one of the starts, from two seeds on all four
	if *liveSeeds > 1 {
		rounds = len(starts)
	}
	for round := range rounds {
		eachAgreement(t, 24, func(n int, a *agreement) {
			start := starts[(n+round)%len(starts)]
			a.seed += 30
			a.late, a.into, a.slow = start.late, start.into, start.slow
		}, nil)
	}
}

// Prices, candles and own orders come over a socket, and orders leave over it. From two seeds on
// all strategies are played.
func TestTheSameLiveOverAStreamAndInABacktest(t *testing.T) {
	t.Parallel()
	for i := range agreements {
		a := agreements[i]
		if *liveSeeds == 1 && a.name != "fickle" && (a.name != "breakout" || testing.Short()) {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			for seed := range *liveSeeds {
				a.seed, a.wicks, a.minutes, a.into = uint64(seed+130), true, shortened(t, 40), 10*time.Second
				a.hears = overOrders
				a.agree(t)
			}
		})
	}
}

// What it has saved and the history that it sees again make it the bot that it was.
func TestABotThatIsKilledAndStartsAgainTradesTheSameAsOneThatNeverStopped(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	eachAgreement(t, 30, func(_ int, a *agreement) {
		a.seed += 60
		a.late, a.kills = 3, []int{2, 3}
		if a.minutes > 10 {
			a.kills = []int{4, 9, 10}
		}
	}, nil)
}

func TestPaperTradesTheSameAsABacktest(t *testing.T) {
	bottest.Unraced(t)
	eachAgreement(t, 40, func(_ int, a *agreement) {
		a.seed += 90
		a.paper = true
	}, nil)
}
