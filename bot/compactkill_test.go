package bot_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// makeHistory leaves a state file of many orders, a minute apart, of which every 40th is open.
func makeHistory(t *testing.T, dir string, orders market.OrderID) {
	require.NoError(t, makeState(dir))
	store, err := journal.Open(filepath.Join(dir, "bot.db"))
	require.NoError(t, err)
	require.NoError(t, store.Bind(store.Catalog(), []string{"trend"}))
	b, run := store.NewBatch(), uuid.UUID{15: 8}
	for id := market.OrderID(3); id <= orders; id++ {
		addTrade(b, run, id)
		if id == orders {
			b.Position(1, 1, &market.Position{}) // nothing is held that they made
		}
		if id%100 == 0 || id == orders {
			require.NoError(t, store.Commit(b))
		}
	}
	require.NoError(t, store.Close())
}

// addTrade adds an order to sell, and but for every 40th its fill.
func addTrade(b *journal.Batch, run uuid.UUID, id market.OrderID) {
	at := market.Time(1_700_000_000_000_000_000).Add(time.Duration(id) * time.Minute)
	o := &state.Order{State: state.Sent, InFlight: market.CommandPlace,
		Order: market.Order{ID: id, ClientOrderID: market.ClientOrderID(run, id), Market: 1, Strategy: 1,
			Side: market.Sell, Type: market.TypeLimit, OrderState: market.OrderState{TimeInForce: market.GTC,
				Price: 5_000_000, Amount: 10, AmountRemaining: 10}}}
	b.Journal(at, &journal.Intent{Command: market.Command{Kind: market.CommandPlace, At: at, Order: o.Order},
		Method: "POST", Path: "/v2/order", Body: []byte(`{"side":"sell"}`), Timestamp: at.Millis(), WindowMS: 10000})
	b.Order(o)
	if id%40 == 0 {
		return
	}
	o.State, o.Status, o.InFlight, o.FilledAmount, o.AmountRemaining, o.Updated = state.Filled, market.StatusFilled, 0,
		10, 0, at
	o.ExchangeID = uuid.UUID{1: byte(id >> 8), 2: byte(id), 15: 1}
	report := market.ReportOf(&o.Order, market.ExecTrade)
	b.Event(&market.Event{At: at + 1, Kind: market.KindReport, Report: &report,
		Fills: []market.Fill{{ID: uuid.UUID{1: byte(id >> 8), 2: byte(id), 15: 2}, Order: id, Market: 1, Strategy: 1,
			Side: market.Sell, Settled: true, FeeCurrency: 2, Price: 5_000_000, Amount: 10, Time: at + 1}}})
	b.Order(o)
}

// rowsOf are the rows of all tables of a state file, which must be sound.
func rowsOf(t *testing.T, path, when string) map[string]int {
	store, err := journal.Read(path)
	require.NoError(t, err, when)
	defer store.Close()
	report, err := store.Check()
	require.NoError(t, err, when)
	require.Empty(t, report.Flaws, when)
	rows := map[string]int{}
	for _, table := range journal.ExportTables() {
		var text bytes.Buffer
		_, err := store.Export(&text, table)
		require.NoError(t, err, when)
		for line := range strings.Lines(text.String()) {
			rows[table+" "+line]++
		}
	}
	return rows
}

// compaction is a state folder in which bot state compact is killed.
type compaction struct {
	t                 *testing.T
	dir               string
	old, cut, archive version
}

// version is a file, and what it tells.
type version struct {
	image []byte
	rows  map[string]int
}

func versionOf(t *testing.T, path string) version {
	image, err := os.ReadFile(path)
	require.NoError(t, err)
	return version{image, rowsOf(t, path, "whole")}
}

// is reports whether a file tells the same.
func (v *version) is(t *testing.T, path, when string) bool {
	image, err := os.ReadFile(path)
	require.NoError(t, err, when)
	return bytes.Equal(v.image, image) || maps.Equal(v.rows, rowsOf(t, path, when))
}

// fresh puts the file as it was into a folder of its own.
func (c *compaction) fresh() string {
	dir := c.t.TempDir()
	require.NoError(c.t, os.WriteFile(filepath.Join(dir, "bot.db"), c.old.image, 0o600))
	return dir
}

func (c *compaction) run(dir string, after time.Duration, archive string) (ended bool) {
	return killed(c.t, dir, after, "state", "compact", "--state", ".", "--keep", "5h", "--archive", archive)
}

// look wants one of both files whole, and nothing to be in neither.
func (c *compaction) look(dir, when string) (compacted, archived bool) {
	t := c.t
	if compacted = !c.old.is(t, filepath.Join(dir, "bot.db"), when); compacted {
		require.True(t, c.cut.is(t, filepath.Join(dir, "bot.db"), when), when)
	}
	if _, err := os.Stat(filepath.Join(dir, "all.db")); err == nil {
		archived = true
		require.True(t, c.archive.is(t, filepath.Join(dir, "all.db"), when), when)
	}
	require.True(t, archived || !compacted, "%s: what was taken out is in the archive before", when)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		known := slices.Contains([]string{"bot.db", "all.db"}, e.Name()) || strings.HasPrefix(e.Name(), ".") &&
			strings.HasSuffix(e.Name(), ".tmp")
		require.True(t, known, "%s: %s", when, e.Name())
	}
	return compacted, archived
}

// goesOn commits to the file what a bot would, and compacts it again to the end.
func (c *compaction) goesOn(dir string, next market.OrderID, when string) {
	t := c.t
	store, err := journal.Open(filepath.Join(dir, "bot.db"))
	require.NoError(t, err, when)
	require.NoError(t, store.Bind(store.Catalog(), []string{"trend"}), when)
	b := store.NewBatch()
	addTrade(b, uuid.UUID{15: 9}, next)
	require.NoError(t, store.Commit(b), when)
	require.NoError(t, store.Close())
	require.True(t, c.run(dir, time.Hour, "again.db"), when)
	rowsOf(t, filepath.Join(dir, "bot.db"), when)
	rowsOf(t, filepath.Join(dir, "again.db"), when)
}

func TestACompactionThatIsKilledLeavesTheOldFileOrTheNew(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	orders, times := market.OrderID(1000), 16
	if testing.Short() {
		orders, times = 500, 6
	}
	c := &compaction{t: t, dir: t.TempDir()}
	makeHistory(t, c.dir, orders)
	c.old = versionOf(t, filepath.Join(c.dir, "bot.db"))
	began := time.Now()
	require.True(t, c.run(c.dir, time.Hour, "all.db"))
	whole := time.Since(began)
	c.cut, c.archive = versionOf(t, filepath.Join(c.dir, "bot.db")), versionOf(t, filepath.Join(c.dir, "all.db"))
	require.Less(t, len(c.cut.rows), len(c.old.rows)*3/4)
	for row := range c.old.rows {
		require.Positive(t, c.archive.rows[row], "what is taken out is in the archive: %s", row)
	}
	require.Len(t, c.archive.rows, len(c.old.rows))

	seed := uint64(time.Now().UnixNano())
	random, found := rand.New(rand.NewPCG(seed, 0)), map[string]int{}
	for n := range times {
		after, dir := time.Duration(random.Int64N(int64(whole*5/4))), c.fresh()
		when := fmt.Sprintf("seed %d, kill %d after %s", seed, n, after)
		c.run(dir, after, "all.db")
		compacted, archived := c.look(dir, when)
		found[fmt.Sprintf("archived %t, compacted %t", archived, compacted)]++
		if n%6 == 0 {
			c.goesOn(dir, orders+1, when)
		}
	}
	t.Logf("%s whole; %v", whole, found)
}
