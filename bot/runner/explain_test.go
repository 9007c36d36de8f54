package runner

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy"
)

var rewrite = flag.Bool("update-story", false, "write testdata/story.txt anew; a person reads the difference")

// buyerKind buys once, off the tick and with more decimals than the market takes, and asks with
// every ticker for what it may not have.
var buyerKind = scripted("buyer", func() onTicker {
	var bought bool
	return func(d *strategy.Desk, t market.Ticker) {
		if !bought {
			_, err := d.In(t.Market).Buy(strategy.Amount(1_234_567), strategy.At(t.Last+100_37))
			bought = err == nil
		}
		_, _ = d.In(t.Market).Buy(strategy.Amount(10_000_000), strategy.At(t.Last-500_00)) // beyond max_order_value
	}
})

// buyers is a stage on which buyerKind buys, at an exchange that settles fees later. It polls: the
// texts name the numbers of records.
func buyers(t *testing.T) *stage {
	s := newStage(t, 7, func(c *sandbox.Config) { c.Rules.SettleAfter = 3 * time.Second })
	s.hears = overPolls
	s.kinds = append(s.kinds, buyerKind)
	s.config = strings.NewReplacer("strategies.restless", "strategies.buyer", `"restless"`, `"buyer"`,
		"params.seed = 7\n", "").Replace(s.config)
	return s
}

// told is what a command prints about a stopped bot, with the ids that are new in each run by their
// names.
func (s *stage) told(names map[string]string, args ...string) string {
	out := s.asked(args...)
	for id, name := range names {
		out = strings.ReplaceAll(out, id, name)
	}
	return out
}

func TestTheStoryOfAnOrderIsToldFromTheEventToTheFee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := buyers(t)
		p := s.start()
		time.Sleep(20 * time.Second)
		require.NoError(t, p.end())
		var told operator.Story
		require.NoError(t, json.Unmarshal([]byte(s.told(nil, "explain", "1", "--json")), &told))
		names := map[string]string{told.Order.ClientOrderID: "CLIENT", told.Order.OrderID: "ORDER"}
		for _, f := range told.Fills {
			names[f.(map[string]any)["fillId"].(string)] = "FILL"
		}
		story := s.told(names, "explain", "1")
		s.golden("story.txt", story)
		for _, name := range []string{told.Order.ClientOrderID, told.Order.OrderID, told.Order.ClientOrderID[:9],
			strings.ToUpper(told.Order.OrderID[:13])} {
			require.Equal(t, story, s.told(names, "explain", name), "by %s", name)
		}
		require.Len(t, told.Fills, 1)
		require.NotContains(t, story, bottest.BotKey)
		require.NotContains(t, story, bottest.BotSecret)
	})
}

// crowdKind buys a hundredth of the market of each candle, and asks for more than it may.
var crowdKind = strategy.Define("crowd", "buys at each candle",
	func(struct{}) strategy.Needs { return strategy.Needs{} },
	func(struct{}, strategy.Setup) (strategy.Strategy, error) { return crowd{}, nil })

type crowd struct{ strategy.Base }

func (crowd) OnCandle(d *strategy.Desk, c market.Candle) {
	_, _ = d.In(c.Market).Buy(strategy.Amount(1_000_000), strategy.Tag("a crowd buys"))
	_, _ = d.In(c.Market).Buy(strategy.Amount(100_000_000)) // beyond max_order_value
}

// Candles of two markets that close at one instant are one event: an order, and a refusal, name the
// candles of their own market.
func TestAnOrderNamesTheCandlesOfItsOwnMarket(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := balancers(t, 3)
		s.hears = overPolls
		s.kinds = append(s.kinds, crowdKind)
		s.config = strings.NewReplacer("strategies.balancer", "strategies.crowd", `"balancer"`, `"crowd"`,
			"params.seed = 3\n", "").Replace(s.config)
		p := s.start()
		time.Sleep(3 * time.Minute)
		require.NoError(t, p.end())
		seen := map[string]int{}
		for number := 1; number <= 4; number++ {
			var told operator.Story
			story := s.told(nil, "explain", fmt.Sprint(number))
			require.NoError(t, json.Unmarshal([]byte(s.told(nil, "explain", fmt.Sprint(number), "--json")), &told))
			require.NotEmpty(t, told.Order.Tag)
			require.Contains(t, story, "\ntag: "+told.Order.Tag+"\n")
			require.Contains(t, story, "event     candles "+told.Order.Market+" of 2000-01-01", story)
			seen[told.Order.Market]++
		}
		require.Equal(t, map[string]int{"BTC-EUR": 2, "ETH-EUR": 2}, seen)
		refused := s.told(nil, "explain", "--refused")
		require.Regexp(t, `in BTC-EUR: .*; on candles BTC-EUR of 2000`, refused)
		require.Regexp(t, `in ETH-EUR: .*; on candles ETH-EUR of 2000`, refused)
	})
}

// golden compares what is told with a file of testdata.
func (s *stage) golden(name, told string) {
	path := filepath.Join("testdata", name)
	if *rewrite {
		require.NoError(s.T, os.WriteFile(path, []byte(told), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(s.T, err)
	require.Equal(s.T, string(want), told)
}

func TestWhatWasRefusedIsToldWithItsValuesAndCountedNotRepeated(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := buyers(t)
		s.config = strings.Replace(s.config, "strategies.buyer", "strategies.idle", 1)
		s.config += "[strategies.buyer]\nkind = \"buyer\"\nmarkets = [\"BTC-EUR\"]\ninterval = \"1m\"\nallocation = " +
			"\"5000\"\noperator_id = 8\n"
		s.config = strings.Replace(s.config, "kind = \"buyer\"", "kind = \"idler\"", 1)
		s.kinds = append(s.kinds, idlerKind)
		p := s.start()
		time.Sleep(10*time.Minute + 30*time.Second)
		counted := make(chan []journal.Refusal, 1)
		require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) { counted <- p.journal.counted() }))
		list := <-counted
		require.Len(t, list, 1)
		require.InDelta(t, 180, list[0].Count, 100, "since the last entry at seven or eight minutes")
		require.NoError(t, p.end())
		var entries, times int64
		require.NoError(t, s.Stored().EntriesBack(0, func(e *journal.Entry) error {
			entries++
			times += e.Record.(*journal.Refusal).Count
			return nil
		}, journal.EntryRefusal))
		require.EqualValues(t, 5, entries,
			"at once, after a minute, after about two more, after about four more, and at the end")
		require.Greater(t, times, int64(600), "all of them are counted")
		const clock = `2000-01-01 \d\d:\d\d:\d\d\.\d{3}`
		require.Regexp(t, `^buyer: 1 order and 0 changes sent since 1999-12-31 23:59:\d\d\.\d{3} UTC
  max_order_value, by the gate: place 6\d\d times, `+clock+` to `+clock+`
    buy limit 0\.1 @ \d+ in BTC-EUR: \d+\.?\d?, limit 700; on ticker BTC-EUR of `+clock+`, number \d+ of the recording
idle: 0 orders and 0 changes sent since 1999-12-31 23:59:\d\d\.\d{3} UTC
  nothing was refused: it did not ask for anything
$`, s.told(nil, "explain", "--refused", "--since", "11m"))
		var told operator.Refused
		require.NoError(t, json.Unmarshal([]byte(s.told(nil, "explain", "--refused", "idle", "--json")), &told))
		require.Equal(t, []operator.RefusedBy{{Strategy: "idle", Refused: []operator.RefusedKind{}}}, told.Strategies)
	})
}

// idlerKind asks for nothing.
var idlerKind = scripted("idler", always(func(*strategy.Desk, market.Ticker) {}))
