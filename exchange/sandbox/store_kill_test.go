package sandbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
)

// childState is the variable of the environment that makes TestAChildServesUntilItIsKilled serve:
// the state file's path.
const childState = "SANDBOX_TEST_STATE"

// childConfig is the exchange that is killed: prices that move every few ms, a house, no limits.
func childConfig(path string) Config {
	config := rigConfig()
	kept(path)(&config)
	config.Clock, config.Faults, config.Retention = NewClock(0, 1), nil, Retention{}
	config.Markets[0].Source = prices.Synthetic{Price: "95000", Volatility: 0.5, Step: 5 * time.Millisecond}
	config.Markets[1].Source = nil
	config.History = time.Minute
	return config
}

func TestAChildServesUntilItIsKilled(t *testing.T) {
	path := os.Getenv(childState)
	if path == "" {
		t.Skip("this is the process that TestAKillLosesNothingThatWasAnswered kills")
	}
	ex, err := New(childConfig(path))
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	fmt.Println("listening on", listener.Addr())
	go func() {
		for range time.Tick(20 * time.Millisecond) {
			ex.Advance()
		}
	}()
	require.NoError(t, ex.Server().Serve(listener))
}

// child is an exchange in a process of its own.
type child struct {
	*exec.Cmd
	address string
}

func startChild(t *testing.T, state string) *child {
	c := &child{Cmd: exec.Command(os.Args[0], "-test.run=^TestAChildServesUntilItIsKilled$")}
	c.Env, c.WaitDelay = append(os.Environ(), childState+"="+state), patience
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	defer time.AfterFunc(patience, func() { _ = c.Process.Kill() }).Stop()
	lines, said := bufio.NewScanner(out), ""
	for lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			c.address = address
			return c
		}
		said += lines.Text() + "\n"
	}
	t.Fatalf("the child did not come up: %s (%v)", said, c.Wait())
	return nil
}

// end kills the child as the system does when memory is short.
func (c *child) end(t *testing.T) {
	require.NoError(t, c.Process.Signal(syscall.SIGKILL))
	_ = c.Wait() // it says that it was killed
}

// witness is a client that remembers what it was told.
type witness struct {
	*rand.Rand
	account string
	number  int // of several of the account
	address string
	names   int
	orders  map[string]*testimony // by clientOrderId
	told    atomic.Int64          // orders, also to who looks on
	fills   map[string]string     // UUID → its clientOrderId
	arrived map[string]bool       // transactionIds of deposits
}

// testimony is what was told of an order.
type testimony struct {
	OrderID       string `json:"orderId"`
	ClientOrderID string `json:"clientOrderId"`
	Status        string `json:"status"`
	FilledAmount  string `json:"filledAmount"`
	OnHold        string `json:"onHold"`
	OnHoldAsset   string `json:"onHoldCurrency"`
	Fills         []struct {
		ID string `json:"id"`
	} `json:"fills"`
	gone bool // its cancel was answered
}

// ask sends a signed request, or one of the operator where the path begins with /admin, and reports
// whether it was answered.
func (w *witness) ask(method, path, body string) (status int, text []byte, answered bool) {
	admin := strings.HasPrefix(path, "/admin")
	if !admin {
		path = api.Version + path
	}
	request, err := http.NewRequest(method, "http://"+w.address+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if admin {
		request.Header.Set("Authorization", "Bearer token of the operator")
	} else {
		stamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
		request.Header.Set("Service-Access-Key", rigKey(w.account))
		request.Header.Set("Service-Access-Timestamp", stamp)
		request.Header.Set("Service-Access-Window", "60000")
		request.Header.Set("Service-Access-Signature", signature("secret of "+w.account, stamp, method, path, body))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, false
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	return response.StatusCode, text, err == nil
}

// live trades until the exchange is gone.
func (w *witness) live() {
	for {
		known := ""
		if w.names > 0 {
			known = w.name(1 + w.IntN(w.names))
		}
		answered := false
		switch draw := w.IntN(100); {
		case draw < 60 || known == "":
			w.names++
			side := [...]string{"buy", "sell"}[w.IntN(2)]
			answered = w.record(w.ask(http.MethodPost, "/order",
				fmt.Sprintf(`{"market":"BTC-EUR","operatorId":1,"side":%q,"orderType":"limit","amount":"0.%03d","price":"%d","clientOrderId":%q,"selfTradePrevention":"cancelOldest"}`,
					side, 1+w.IntN(90), 94_000+w.IntN(2000), w.name(w.names))))
		case draw < 75:
			answered = w.record(w.ask(http.MethodPut, "/order",
				fmt.Sprintf(`{"market":"BTC-EUR","operatorId":1,"price":"%d","clientOrderId":%q}`, 94_000+w.IntN(2000),
					known)))
		case draw < 90:
			var status int
			if status, _, answered = w.ask(http.MethodDelete, "/order?market=BTC-EUR&operatorId=1&clientOrderId="+known,
				""); answered && status == http.StatusOK {
				if o := w.orders[known]; o != nil { // nil: the answer to its place was lost in a kill, and told nothing
					o.gone = true
				}
			}
		case draw < 95:
			var text []byte
			if _, text, answered = w.ask(http.MethodPost, "/admin/deposit",
				fmt.Sprintf(`{"account":%q,"symbol":"EUR","amount":"12.34"}`, w.account)); answered {
				var told struct{ TransactionID string }
				_ = json.Unmarshal(text, &told) // what is missing is missed later
				w.arrived[told.TransactionID] = true
			}
		default:
			_, _, answered = w.ask(http.MethodPost, "/withdrawal",
				`{"symbol":"EUR","amount":"20","address":"DE89370400440532013000"}`)
		}
		if !answered {
			return
		}
	}
}

func (w *witness) name(n int) string {
	return fmt.Sprintf("00000000-0000-4000-8000-%s%02d%06d",
		map[string]string{"alice": "00a1", "bob": "00b0"}[w.account], w.number, n)
}

// record remembers an order that was told.
func (w *witness) record(status int, text []byte, answered bool) bool {
	var told testimony
	if answered && status == http.StatusOK && json.Unmarshal(text, &told) == nil {
		w.orders[told.ClientOrderID] = &told
		w.told.Add(1)
		for _, f := range told.Fills {
			w.fills[f.ID] = told.ClientOrderID
		}
	}
	return answered
}

// must asks for what has to be answered.
func (w *witness) must(t *testing.T, path string, into any) {
	status, text, answered := w.ask(http.MethodGet, path, "")
	for range 4 { // it is cut off where the machine stands still for too long
		if !answered {
			status, text, answered = w.ask(http.MethodGet, path, "")
		}
	}
	require.True(t, answered, path)
	require.Equal(t, http.StatusOK, status, "%s: %s", path, text)
	require.NoError(t, json.Unmarshal(text, into), "%s: %s", path, text)
}

// testify wants everything that the witness was told, and holds that agree with the orders.
func (w *witness) testify(t *testing.T) {
	there := map[string]bool{}
	for name, told := range w.orders {
		var now testimony
		w.must(t, "/order?market=BTC-EUR&clientOrderId="+name, &now)
		require.Equal(t, told.OrderID, now.OrderID)
		require.True(t, decimal.RequireFromString(now.FilledAmount).
			GreaterThanOrEqual(decimal.RequireFromString(told.FilledAmount)), "order %s: %+v, told %+v", name, now,
			told)
		if told.gone {
			require.Equal(t, "canceled", now.Status, name)
		}
		for _, f := range now.Fills {
			there[f.ID] = true
		}
	}
	for id := range w.fills {
		require.True(t, there[id], "fill %s", id)
	}
	for page, pages := 1, 1; page <= pages; page++ {
		var history struct {
			Items      []struct{ TransactionID string }
			TotalPages int
		}
		w.must(t, fmt.Sprint("/account/history?type=deposit&page=", page), &history)
		for _, one := range history.Items {
			there[one.TransactionID] = true
		}
		pages = history.TotalPages
	}
	for id := range w.arrived {
		require.True(t, there[id], "deposit %s", id)
	}
	// Prices move meanwhile: a balance is compared with open orders that are the same before and
	// after it.
	var before, after []testimony
	var balances []struct{ Symbol, InOrder string }
	for same := false; !same; same = reflect.DeepEqual(before, after) {
		before, after, balances = nil, nil, nil
		w.must(t, "/ordersOpen", &before)
		w.must(t, "/balance", &balances)
		w.must(t, "/ordersOpen", &after)
	}
	held := map[string]decimal.Decimal{}
	for _, o := range after {
		held[o.OnHoldAsset] = held[o.OnHoldAsset].Add(decimal.RequireFromString(o.OnHold))
	}
	for _, b := range balances {
		require.True(t, decimal.RequireFromString(b.InOrder).Equal(held[b.Symbol]),
			"%s of %s: %s in orders, which hold %s", b.Symbol, w.account, b.InOrder, held[b.Symbol])
	}
}

// requireBalanced wants every asset to be where it was brought.
func (w *witness) requireBalanced(t *testing.T) {
	var ledger struct {
		Assets []struct{ Symbol, Accounts, Liquidity, Transferred string }
	}
	w.must(t, "/admin/ledger", &ledger)
	require.Len(t, ledger.Assets, 4)
	for _, a := range ledger.Assets {
		require.True(t, decimal.RequireFromString(a.Accounts).Add(decimal.RequireFromString(a.Liquidity)).
			Equal(decimal.RequireFromString(a.Transferred)), "%+v", a)
	}
}

func TestAKillLosesNothingThatWasAnswered(t *testing.T) {
	kills := 4 * *seeds
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	state := filepath.Join(t.TempDir(), "exchange.db")
	var witnesses []*witness // sixteen at a time, so that commits have several orders
	for n := range 8 {
		witnesses = append(witnesses, &witness{account: "alice", number: n}, &witness{account: "bob", number: n})
	}
	for n, w := range witnesses {
		w.Rand, w.orders, w.fills, w.arrived = rand.New(rand.NewPCG(seed, uint64(n))), map[string]*testimony{},
			map[string]string{}, map[string]bool{}
	}
	orders := 0
	for n := range kills {
		c := startChild(t, state)
		for _, w := range witnesses {
			w.address = c.address
			w.testify(t)
		}
		witnesses[0].requireBalanced(t)
		var all sync.WaitGroup
		for _, w := range witnesses {
			all.Go(w.live)
		}
		time.Sleep(time.Duration(20+random.IntN(200)) * time.Millisecond)
		if n == kills-1 { // a slow machine may not have come so far before
			require.Eventually(t, func() bool {
				return slices.ContainsFunc(witnesses, func(w *witness) bool { return w.told.Load() > 0 })
			}, patience, time.Millisecond)
		}
		c.end(t)
		all.Wait()
	}
	c := startChild(t, state)
	for _, w := range witnesses {
		w.address = c.address
		w.testify(t)
		orders += len(w.orders)
	}
	witnesses[0].requireBalanced(t)
	c.end(t)
	t.Logf("seed %d: %d kills, %d orders", seed, kills, orders)
	require.Positive(t, orders)
}
