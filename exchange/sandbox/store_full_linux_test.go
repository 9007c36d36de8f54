package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"golang.org/x/sys/unix"
)

func TestAFullDiskKeepsWhatWasAnsweredAndNothingElse(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("a full disk needs the right to mount one: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(disk, 0)) })
	r := newRig(t, stateful(filepath.Join(disk, "exchange.db")), func(c *Config) {
		c.Budget = api.Budget{PerKey: -1, PerIP: -1}
		for i := range c.Markets {
			c.Markets[i].MaxOpenOrders = 0
		}
	})
	place := func() answer {
		return r.send("alice", "POST", "/order",
			`{"market":"BTC-EUR","operatorId":1,"side":"buy","orderType":"limit","amount":"0.001","price":"9000"}`)
	}
	open, last := 0, place()
	for ; last.status == 200 && open < 100_000; last = place() {
		open++
	}
	last.refused(t, 500, 101)
	r.send("alice", "GET", "/balance", "").refused(t, 503, 111)
	require.ErrorContains(t, r.ex.Err(), "no space left on device")
	require.Error(t, r.ex.Close())
	text, err := os.ReadFile(r.ex.config.State)
	require.NoError(t, err)
	elsewhere := filepath.Join(t.TempDir(), "exchange.db")
	require.NoError(t, os.WriteFile(elsewhere, text, 0o600))
	require.NoError(t, r.reopen(func(c *Config) { c.State, c.Budget = elsewhere, api.Budget{PerKey: -1} }))
	r.send("alice", "GET", "/balance?symbol=EUR", "").says(t,
		fmt.Sprintf(`"inOrder":"%d.%02d"`, open*903/100, open*903%100))
	require.NoError(t, r.ex.Close())
}
