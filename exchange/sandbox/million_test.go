package sandbox

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

var manyOrders = flag.Int("orders", 0,
	"how many open orders the tests of a million open orders place; 0: so few that what a million needs can be "+
		"reckoned of them")

// TestAMillionOpenOrdersFitInAGigabyte places open orders with everything that an order can have, a
// client id and a group, and reckons from what is alive after a collection. Told to place a
// million, which takes a minute, it collects as often as `bot exchange` does and asks the system
// what the process took:
//
//	go test -run FitInAGigabyte -v ./exchange/sandbox -orders 1000000
func TestAMillionOpenOrdersFitInAGigabyte(t *testing.T) {
	count := *manyOrders
	if testing.Short() && count == 0 {
		t.Skip("twenty thousand orders take a second, and ten under the race detector")
	}
	if count == 0 {
		count = 20_000
	} else {
		defer PaceCollector()() // as bot exchange does
	}
	r := newRig(t, func(c *Config) {
		c.Budget = api.Budget{PerKey: -1, PerIP: -1}
		c.Markets[0].MaxOpenOrders = 0
		c.Accounts[0].Balances["EUR"] = "1000000000000"
	})
	before := alive()
	(&standing{r: r}).place(count)
	each := float64(alive()-before) / float64(count)
	open, _ := r.ex.Unfinished()
	require.Equal(t, count, open)
	require.LessOrEqual(t, each, 1000.0, "bytes an order")
	t.Logf("%d open orders: %.0f bytes alive for each", count, each)
	runtime.KeepAlive(r)
	if most, err := mostResident(); err != nil {
		t.Log("what the process took is not known: ", err)
	} else {
		t.Logf("the process had at most %d MB in memory", most/1e6)
		require.True(t, *manyOrders == 0 || most <= max(1e9, 1000*int64(count)), "%d bytes", most)
	}
}

// standing places orders that no other order meets.
type standing struct {
	r      *rig
	placed int
}

func (l *standing) place(count int) {
	for range count {
		l.placed++
		body := fmt.Sprintf(`{"market":"BTC-EUR","side":"buy","orderType":"limit","operatorId":1,"amount":"0.001","price":"%d.%02d","codGroupId":%d,"clientOrderId":"00000000-0000-4000-8000-%012x","responseRequired":false}`,
			10_000+l.placed%7000, l.placed%100, 1+l.placed%1000, l.placed)
		request := l.r.request("alice", http.MethodPost, "/order", body)
		answer := httptest.NewRecorder()
		l.r.ex.ServeHTTP(answer, request)
		require.Equal(l.r.t, http.StatusOK, answer.Code, "%s", answer.Body)
	}
}

// mostResident is the most memory that this process ever had at once, in bytes, where the system
// tells it.
func mostResident() (int64, error) { return statusBytes("VmHWM:") }

// resident is the memory that this process has, where the system tells it.
func resident(t *testing.T) (bytes int64, known bool) {
	bytes, err := statusBytes("VmRSS:")
	if err != nil {
		t.Log("the memory of the process is not known: ", err)
	}
	return bytes, err == nil
}

// statusBytes reads a line of /proc/self/status, in bytes.
func statusBytes(name string) (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if field := strings.Fields(line); len(field) > 1 && field[0] == name {
			kilobytes, err := strconv.ParseInt(field[1], 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, errors.New("/proc/self/status does not tell it")
}
