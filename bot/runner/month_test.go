package runner

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// A month of longer days, with a state file in memory:
//
//	TMPDIR=/dev/shm go test ./bot/runner -run MonthOfABot -day 30m -v -timeout 1h
var day = flag.Duration("day", 16*time.Second,
	"how long a day of TestAMonthOfABotIsBounded is, in the exchange's time")

// The settings of the month: what stays, and how much of it.
const (
	keptDays  = 3
	keptLogs  = 2
	keptBytes = 1 << 20 // of the recording, and of a log that is not packed
	// The loop remembers the latest 100,000 fills, with their orders, in so many bytes each.
	rememberedFills = 100_000
	rememberedFill  = 150
)

// month is what a bot takes at the end of a day, in bytes.
type month struct {
	file, logs, recording, alive int64
	orders, bookings             int64
}

// TestAMonthOfABotIsBounded lets the busy bot trade for 30 days, which are as short as a flag says.
// It keeps three days of its state file, two packed logs and a MB of its recording. What all of it
// takes after ten days is what it takes in the end, but for the bookings, which stay for good, and
// for the latest fills in memory. The short days of the default fill neither log nor recording.
func TestAMonthOfABotIsBounded(t *testing.T) {
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
		logs := t.TempDir()
		file, err := console.OpenLogFile(filepath.Join(logs, "bot.log"), keptBytes>>20, keptLogs)
		require.NoError(t, err)
		p := &process{stage: s, wire: &wire{traffic: s.traffic, quiet: true}, done: make(chan error, 1)}
		made := s.plan(p.wire)
		made.Config.Bot.Keep, made.Config.Bot.RecordMB = config.Span(keptDays**day), keptBytes>>20
		p.runner, err = openRunner(context.Background(), made, zerolog.New(file).Level(zerolog.DebugLevel), s.options())
		require.NoError(t, err)
		go func() { p.done <- p.trade(p.ctx()) }()
		var tenth, last month
		for n := range 30 {
			time.Sleep(*day)
			if n+1 == 10 {
				tenth = p.month(logs)
			}
		}
		last = p.month(logs)
		require.NoError(t, p.end())
		require.NoError(t, file.Close())
		t.Logf("days of %s: after 10 %+v, after 30 %+v", *day, tenth, last)
		require.Greater(t, last.bookings, tenth.bookings+20)
		require.Less(t, last.orders, 2*tenth.orders, "orders that the state file has")
		booked := last.bookings - tenth.bookings
		require.LessOrEqual(t, last.file, tenth.file*5/4+60*booked+2*256<<10, "bbolt takes 256 KB at a time")
		require.LessOrEqual(t, last.logs, int64(keptBytes+keptLogs*keptBytes/4+keptBytes/16))
		require.LessOrEqual(t, last.recording, int64(keptBytes+keptBytes/16))
		require.Less(t, last.alive-tenth.alive,
			tenth.alive/20+(last.file-tenth.file)/100+rememberedFill*min(booked, rememberedFills))
	})
}

// month measures the bot.
func (p *process) month(logs string) (m month) {
	report, _ := fileNow(p.stage.T, p.store)
	m.orders, m.bookings = report.Orders, report.Bookings
	info, err := os.Stat(filepath.Join(p.stage.Folder, statedir.StateFile))
	require.NoError(p.stage.T, err)
	m.file, m.logs = info.Size(), bytesIn(p.stage.T, logs)
	m.recording, m.alive = bytesIn(p.stage.T, filepath.Join(p.stage.Folder, statedir.RecordingFolder)), aliveNow()
	return m
}

// bytesIn is the size of all files in a folder.
func bytesIn(t testing.TB, dir string) (sum int64) {
	require.NoError(t, filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	}))
	return sum
}
