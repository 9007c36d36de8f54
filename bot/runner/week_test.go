package runner

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// A week with the default plan takes ten minutes with a state file in memory:
//
//	TMPDIR=/dev/shm go test ./bot/runner -run MemoryOfABot -simulate 168h -ticker 1s -v -timeout 3h
var (
	simulateFor = flag.Duration("simulate", 105*time.Minute,
		"how long the bot of TestTheMemoryOfABotStaysFlat trades, in the exchange's time")
	ticker = flag.Duration("ticker", 10*time.Second, "period of its tickers")
)

// TestTheMemoryOfABotStaysFlat lets a bot place, move and cancel orders without end, before an
// exchange that remembers little. What the heap has to keep after the seventh part of the time is
// what it has to keep in the end, but for what bbolt notes of each page that a growing state file
// takes: some 30 bytes.
func TestTheMemoryOfABotStaysFlat(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, func(c *sandbox.Config) {
			c.Tiers = nil // no fees, or its money would not last the week
			c.Retention, c.Budget = sandbox.Retention{Orders: 50, Trades: 50, Candles: 10,
				Transactions: 50}, api.Budget{PerKey: -1, PerIP: -1}
		})
		s.everySet = []config.Override{{Path: []string{"poll", "tickers"}, Text: ticker.String()},
			{Path: []string{"risk", "max_daily_loss"}, Text: "0"}}
		p := &process{stage: s, wire: &wire{traffic: s.traffic, quiet: true}, done: make(chan error, 1)}
		var err error
		p.runner, err = openRunner(context.Background(), s.plan(p.wire), zerolog.New(io.Discard), s.options())
		require.NoError(t, err)
		go func() { p.done <- p.trade(p.ctx()) }()
		var alive, file [7]int64 // bytes, after each part of the time
		for part := range alive {
			time.Sleep(*simulateFor / time.Duration(len(alive)))
			info, err := os.Stat(filepath.Join(s.Folder, statedir.StateFile))
			require.NoError(t, err)
			alive[part], file[part] = aliveNow(), info.Size()
		}
		require.NoError(t, p.end())
		report, err := s.Stored().Check()
		require.NoError(t, err)
		t.Logf("%d orders, %d fills in %s; after each seventh of it alive %d bytes, state file %d bytes", report.Orders,
			report.Fills, *simulateFor, alive, file)
		require.Greater(t, int(report.Orders), 100)
		require.Less(t, alive[6]-alive[0], alive[0]/20+(file[6]-file[0])/100)
	})
}

// aliveNow is what the heap has to keep.
func aliveNow() int64 {
	runtime.GC()
	runtime.GC() // what pools held at the first
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
