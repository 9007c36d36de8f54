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
	for b := s.NewBatch(); ; {
		last++
		o := ownOrder(last)
		b.Journal(market.Time(last), intentOf(o))
		f := fillOf(o, 1, 100, market.Time(last))
		o.State, o.FilledAmount, o.AmountRemaining = state.Filled, 100, 0
		b.Order(o)
		b.Event(&market.Event{At: market.Time(last), Kind: market.KindFill, Fills: []market.Fill{f}})
		if err := s.Commit(b); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, last); err != nil {
			return err
		}
	}
}

// killAfter runs the writer for a while, from its start or from its first acknowledgement on, kills
// it with SIGKILL and returns the last order that it acknowledged.
func killAfter(t *testing.T, path string, fromFirst bool, after time.Duration) (last int64) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killedWriter+"="+path)
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
