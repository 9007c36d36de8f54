package journal

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// killedWriter names the file that this test's binary, run as a child, commits to until it is
// killed.
const killedWriter = "TIDEMARK_TEST_KILLED_WRITER"

// writerTrims, if it is set, lets the writer take a step with each commit to remove what is older
// than the latest keptByWriter orders. It acknowledges nothing until a block is gone.
const (
	writerTrims  = "TIDEMARK_TEST_WRITER_TRIMS"
	keptByWriter = 200
)

// TestMain runs the tests, or in a child process the writer that a test kills. A goroutine that
// outlives the tests fails them.
func TestMain(m *testing.M) {
	if path := os.Getenv(killedWriter); path != "" {
		if err := writeUntilKilled(path, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// writeUntilKilled goes on where the file ends, and acknowledges each order whose commit has
// returned.
func writeUntilKilled(path string, out io.Writer) error {
	s, err := Open(path)
	if err != nil {
		return err
	}
	c := &market.Catalog{}
	for _, a := range []market.Asset{{Symbol: "BTC", Digits: 8}, {Symbol: "ETH", Digits: 6},
		{Symbol: "EUR", Digits: 2}} {
		if _, err := c.AddAsset(a.Symbol, a.Digits); err != nil {
			return err
		}
	}
	for _, name := range []string{"BTC-EUR", "ETH-EUR"} {
		if err := c.AddMarket(&market.Market{Name: name, PriceDigits: 2}); err != nil {
			return err
		}
	}
	if err := s.Bind(c, twoStrategies); err != nil {
		return err
	}
	last := market.OrderID(0)
	if err := s.Orders(0, func(o *OrderRow) error { last = o.ID; return nil }); err != nil {
		return err
	}
	trims, removed := os.Getenv(writerTrims) != "", false
	for b := s.NewBatch(); ; {
		last++
		writeOrder(b, last)
		if trims {
			b.Trim(market.Time(last - keptByWriter))
		}
		if err := s.Commit(b); err != nil {
			return err
		}
		if removed = removed || s.Trimmed().Entries > 0; trims && !removed {
			continue
		}
		if _, err := fmt.Fprintln(out, last); err != nil {
			return err
		}
	}
}

// writeOrder notes the whole life of an order, in two entries.
func writeOrder(b *Batch, id market.OrderID) {
	o := ownOrder(id)
	b.Journal(market.Time(id), intentOf(o))
	f := fillOf(o, 1, 100, market.Time(id))
	o.State, o.FilledAmount, o.AmountRemaining = state.Filled, 100, 0
	b.Order(o)
	b.Event(&market.Event{At: market.Time(id), Kind: market.KindFill, Fills: []market.Fill{f}})
}

// killAfter runs the writer for a while, from its start or from its first acknowledgement on, kills
// it with SIGKILL and returns the last order that it acknowledged.
func killAfter(t *testing.T, path string, fromFirst bool, after time.Duration, env ...string) (last int64) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), killedWriter+"="+path), env...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr, cmd.WaitDelay = os.Stderr, time.Minute
	require.NoError(t, cmd.Start())
	defer time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() }).Stop() // where the first line does not come
	kill := func() { time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) }
	if !fromFirst {
		kill()
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if fromFirst && last == 0 {
			kill()
		}
		if last, err = strconv.ParseInt(lines.Text(), 10, 64); err != nil {
			break // half a line
		}
	}
	require.Error(t, cmd.Wait())
	return last
}

func TestCommitsSurviveAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.db")
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	var orders int64
	for n := range 12 {
		after := time.Duration(random.Int64N(int64(150 * time.Millisecond)))
		when := fmt.Sprintf("seed %d, kill %d after %s", seed, n, after)
		acknowledged := killAfter(t, path, n%2 == 1, after)
		s, err := Open(path)
		require.NoError(t, err, when)
		report, err := s.Check()
		require.NoError(t, err, when)
		require.Empty(t, report.Flaws, when)
		require.GreaterOrEqual(t, report.Orders, max(orders, acknowledged), when)
		require.Equal(t, report.Orders*2, report.Entries, when)
		require.Equal(t, report.Orders, report.Fills, when)
		orders = report.Orders
		require.NoError(t, s.Close())
	}
	require.Positive(t, orders)
}

// TestTrimsSurviveAKill kills a writer whose every commit takes a step to remove a block of a long
// journal. The bookings of all orders stay, those of removed ones too.
func TestTrimsSurviveAKill(t *testing.T) {
	const before = 4000 // orders in the file, of two entries each
	s := botStore(t)
	path := s.Path()
	s.db.NoSync = true
	b := s.NewBatch()
	for id := market.OrderID(1); id <= before; id++ {
		writeOrder(b, id)
	}
	require.NoError(t, s.Commit(b))
	for range 4 { // the entries are packed some at a time
		for range segmentEntries {
			b.Journal(before, &Timer{})
		}
		require.NoError(t, s.Commit(b))
	}
	require.NoError(t, s.Close())
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	var last Reach
	for n := range 8 {
		after := time.Duration(random.Int64N(int64(50 * time.Millisecond)))
		when := fmt.Sprintf("seed %d, kill %d after %s", seed, n, after)
		acknowledged := killAfter(t, path, n%2 == 1, after, writerTrims+"=1")
		s, err := Open(path)
		require.NoError(t, err, when)
		report, err := s.Check()
		require.NoError(t, err, when)
		require.Empty(t, report.Flaws, when)
		require.GreaterOrEqual(t, report.Bookings, max(before, acknowledged), when)
		reach, err := s.Reach()
		require.NoError(t, err, when)
		require.GreaterOrEqual(t, reach.First, last.First, when)
		if n%2 == 1 {
			require.Greater(t, reach.First, uint64(1), when)
		}
		last = reach
		require.NoError(t, s.Close())
	}
}
