package runner

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// busyBot is a bot with five strategies that do something with nearly every ticker.
func busyBot() string {
	var b strings.Builder
	b.WriteString(`
[exchange]
base_url = "https://exchange.test/v2"
key_env = "KEY"
secret_env = "SECRET"
[risk]
max_open_orders = 6
max_order_value = "700"
max_position = "2500"
max_exposure = "12000"
max_data_age = "30s"
orders_per_minute = 40
`)
	for i := range 5 {
		fmt.Fprintf(&b, `
[strategies.busy%d]
kind = "restless"
markets = ["BTC-EUR"]
interval = "1m"
allocation = "4000"
operator_id = %d
params.seed = %d
`, i+1, i+1, i+1)
	}
	return b.String()
}

var busy = flag.Duration("busy", 8*time.Minute,
	"how long the bot of TestTheFileOfABusyBotGrowsSlowly trades, in the exchange's time")

// TestTheFileOfABusyBotGrowsSlowly measures the growth of a state file in the second half of the
// time, in which five strategies place, move and cancel an order a second. What stands where in the
// file:
//
//	go test ./bot/runner -run FileOfABusyBot -busy 2h -v
func TestTheFileOfABusyBotGrowsSlowly(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, func(c *sandbox.Config) {
			c.Tiers = nil // no fees, or the money would not last
			c.Retention, c.Budget = sandbox.Retention{Orders: 50, Trades: 50, Candles: 10,
				Transactions: 50}, api.Budget{PerKey: -1, PerIP: -1}
		})
		s.config = busyBot()
		s.everySet = []config.Override{{Path: []string{"poll", "tickers"}, Text: "2s"},
			{Path: []string{"risk", "max_daily_loss"}, Text: "0"}}
		p := &process{stage: s, wire: &wire{traffic: s.traffic, quiet: true}, done: make(chan error, 1)}
		var err error
		p.runner, err = openRunner(context.Background(), s.plan(p.wire), zerolog.New(io.Discard), s.options())
		require.NoError(t, err)
		go func() { p.done <- p.trade(p.ctx()) }()
		time.Sleep(*busy / 2)
		before, size := fileNow(t, p.store)
		time.Sleep(*busy / 2)
		after, grown := fileNow(t, p.store)
		require.NoError(t, p.end())
		orders, bytes := after.Orders-before.Orders, grown-size
		path := filepath.Join(s.Folder, statedir.StateFile)
		info, err := os.Stat(path)
		require.NoError(t, err)
		t.Logf("%d orders, %d fills, %d entries and a file of %d bytes in %s; in the second half %d orders and %d "+
			"bytes: %d bytes an order, %d MB a day", after.Orders, after.Fills, after.Entries, info.Size(), *busy,
			orders, bytes, bytes/orders, bytes*int64(48*time.Hour / *busy)>>20)
		require.Greater(t, orders, int64(100))
		require.Less(t, bytes, orders*1000, "an order took 2300 bytes before entries were packed")
		tableOf(t, path)
	})
}

// fileNow returns the content of a state file and its size without the room that is not used yet.
func fileNow(t *testing.T, s *journal.Store) (journal.CheckReport, int64) {
	path := filepath.Join(t.TempDir(), "now.db")
	require.NoError(t, s.Backup(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	report, err := s.Check()
	require.NoError(t, err)
	require.Empty(t, report.Flaws)
	return report, info.Size()
}

// tableOf logs the bytes of each table of a file.
func tableOf(t *testing.T, path string) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.View(func(tx *bbolt.Tx) error {
		t.Logf("%-12s %8s %9s %9s %9s", "table", "rows", "bytes", "in pages", "pages")
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			s := b.Stats()
			pages := s.BranchPageN + s.BranchOverflowN + s.LeafPageN + s.LeafOverflowN
			t.Logf("%-12s %8d %9d %9d %9d", name, s.KeyN, s.LeafInuse, s.BranchAlloc+s.LeafAlloc, pages)
			return nil
		})
	}))
}

// TestTheFileOfABotThatKeepsLittleStopsGrowing lets the busy bot keep an eighth of the time that it
// trades: what it trims is not missed, neither by its books nor by the chain of its journal.
func TestTheFileOfABotThatKeepsLittleStopsGrowing(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, func(c *sandbox.Config) {
			c.Tiers = nil // no fees, or the money would not last
			c.Budget = api.Budget{PerKey: -1, PerIP: -1}
			c.Retention = sandbox.Retention{Orders: 1e6, Trades: 1e6, Candles: 10, Transactions: 1e6}
		})
		s.config = busyBot()
		s.everySet = []config.Override{{Path: []string{"poll", "tickers"}, Text: "2s"},
			{Path: []string{"risk", "max_daily_loss"}, Text: "0"}}
		s.Trimmed = true
		var sizes [8]int64
		for life := range 2 {
			p := &process{stage: s, wire: &wire{traffic: s.traffic, quiet: true}, done: make(chan error, 1)}
			made := s.plan(p.wire)
			made.Config.Bot.Keep = config.Span(*busy / 8) // less than a config may have
			var err error
			p.runner, err = openRunner(context.Background(), made, zerolog.New(io.Discard), s.options())
			require.NoError(t, err)
			go func() { p.done <- p.trade(p.ctx()) }()
			for part := range 4 {
				time.Sleep(*busy / 4)
				_, sizes[4*life+part] = fileNow(t, p.store)
			}
			if life == 0 {
				p.kill()
				continue
			}
			require.NoError(t, p.end())
			s.AgreeOnFile()
		}
		t.Logf("a quarter of %s: %d bytes", *busy, sizes)
		report, err := s.Stored().Check()
		require.NoError(t, err)
		require.Empty(t, report.Flaws)
		require.NotZero(t, report.Cut)
		require.Less(t, sizes[7], 2*sizes[1])
	})
}
