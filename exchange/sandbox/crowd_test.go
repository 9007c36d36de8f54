package sandbox

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// listen serves a rig's exchange on a loopback port and returns its address.
func (r *rig) listen() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(r.t, err)
	server := r.ex.Server()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	r.t.Cleanup(func() {
		require.NoError(r.t, server.Close())
		require.ErrorIs(r.t, <-served, http.ErrServerClosed)
	})
	return listener.Addr().String()
}

// trader is one client over the network.
type trader struct {
	r      *rig
	name   string
	base   string
	client *http.Client
	chance *rand.Rand
	orders []string
}

// call sends a signed request and returns status and body.
func (c *trader) call(method, path, body string) (int, []byte, error) {
	request, err := http.NewRequest(method, c.base+api.Version+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.RequestURI = api.Version + path // what is signed
	request.Header.Set("Content-Type", "application/json")
	c.r.sign(request, c.name, body)
	request.RequestURI = ""
	answer, err := c.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}

// step does one thing by chance. Every answer is a success or a refusal of the exchange's own.
func (c *trader) step() error {
	method, path, body := c.draw()
	status, text, err := c.call(method, path, body)
	if err != nil {
		return err
	}
	var answer struct {
		OrderID   string `json:"orderId"`
		ErrorCode int    `json:"errorCode"`
	}
	switch {
	case status == http.StatusOK && method == "POST":
		if err := json.Unmarshal(text, &answer); err != nil || answer.OrderID == "" {
			return fmt.Errorf("%s %s: %s", method, path, text)
		}
		c.orders = append(c.orders, answer.OrderID)
	case status == http.StatusOK:
	case json.Unmarshal(text, &answer) != nil || answer.ErrorCode == 0 || status >= 500:
		return fmt.Errorf("%s %s: HTTP %d: %s", method, path, status, text)
	}
	return nil
}

// draw chooses a request.
func (c *trader) draw() (method, path, body string) {
	place := c.chance.IntN(100)
	price := 30_000 + c.chance.IntN(41) - 20
	side := [...]string{"buy", "sell"}[c.chance.IntN(2)]
	switch {
	case place < 45 || len(c.orders) == 0:
		preventions := market.Words[market.SelfTradePrevention]()
		stp := preventions[c.chance.IntN(len(preventions))]
		return "POST", "/order",
			fmt.Sprintf(`{"market":"BTC-EUR","side":"%s","orderType":"limit","operatorId":1,"amount":"0.0%d","price":"%d","selfTradePrevention":"%s"}`, side, 1+c.chance.IntN(9), price, stp)
	case place < 50:
		return "POST", "/order",
			fmt.Sprintf(`{"market":"BTC-EUR","side":"%s","orderType":"market","operatorId":1,"amount":"0.02"}`, side)
	case place < 60:
		return "PUT", "/order", fmt.Sprintf(`{"market":"BTC-EUR","orderId":"%s","operatorId":1,"price":"%d"}`, c.some(),
			price)
	case place < 75:
		return "DELETE", "/order?market=BTC-EUR&operatorId=1&orderId=" + c.some(), ""
	}
	reads := [...]string{"/order?market=BTC-EUR&orderId=" + c.some(), "/ordersOpen?market=BTC-EUR", "/balance",
		"/trades?market=BTC-EUR", "/BTC-EUR/book", "/ticker/24h", "/BTC-EUR/candles?interval=1m"}
	return "GET", reads[c.chance.IntN(len(reads))], ""
}

func (c *trader) some() string { return c.orders[c.chance.IntN(len(c.orders))] }

// crowded makes an exchange of many accounts without a house, so that what one gives another one
// gets.
func crowded(t testing.TB, accounts int) *rig {
	return newRig(t, func(c *Config) {
		c.Budget = api.Budget{PerKey: -1, PerIP: -1}
		c.Accounts = nil
		for i := range accounts {
			c.Accounts = append(c.Accounts, rigAccount(fmt.Sprintf("client%02d", i)))
		}
		for i := range c.Markets {
			c.Markets[i].Source, c.Markets[i].Liquidity = nil, Liquidity{}
		}
	})
}

// total is what all accounts have of an asset.
func (r *rig) total(symbol string) (held market.Money) {
	for _, a := range r.ex.accounts {
		held += r.ex.venue.BalanceOf(a.id, r.ex.catalog.AssetNamed(symbol).ID).Total
	}
	return held
}

// fees is what all trades in one market have cost the accounts, exactly.
func (r *rig) fees(m *market.Market) (fees market.Value, trades int) {
	for _, a := range r.ex.accounts {
		rows := a.recordsOf(m.ID)
		for i := range rows.trades {
			sum, err := fees.Add(rows.trades[i].Fee)
			require.NoError(r.t, err)
			fees = sum
		}
		trades += len(rows.trades)
	}
	return fees, trades
}

func TestThirtyTwoClientsAtOnceLeaveBalancedBooks(t *testing.T) {
	const clients = 32
	steps := 60
	if testing.Short() {
		steps = 15
	}
	r := crowded(t, clients)
	base := "http://" + r.listen()
	before := map[string]market.Money{}
	for _, asset := range r.ex.catalog.Assets() {
		before[asset.Symbol] = r.total(asset.Symbol)
	}
	var crowd sync.WaitGroup
	failures := make(chan error, clients)
	for i := range clients {
		crowd.Go(func() {
			c := &trader{r: r, name: fmt.Sprintf("client%02d", i), base: base,
				client: &http.Client{Timeout: patience,
					Transport: &http.Transport{}}, chance: rand.New(rand.NewPCG(uint64(i), 7))}
			defer c.client.CloseIdleConnections()
			for range steps {
				if err := c.step(); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	crowd.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
	require.NoError(t, r.ex.Err())
	r.balanced(before)
}

// balanced requires that nothing but fees has left the accounts, to the last unit, and that every
// hold belongs to an open order.
func (r *rig) balanced(before map[string]market.Money) {
	for _, a := range r.ex.accounts {
		held := map[market.AssetID]market.Money{}
		for _, m := range r.ex.catalog.Markets() {
			for o := a.recordsOf(m.ID).open.oldest; o != nil; o = o.links[byState].newer {
				order := r.ex.orderOf(o)
				held[order.OnHoldCurrency] += order.OnHold
			}
		}
		for _, asset := range r.ex.catalog.Assets() {
			balance := r.ex.venue.BalanceOf(a.id, asset.ID)
			require.Equal(r.t, held[asset.ID], balance.Held, "%s of %s", asset.Symbol, a.name)
			require.GreaterOrEqual(r.t, balance.Total, balance.Held)
		}
	}
	m := r.ex.catalog.Market(1)
	fees, trades := r.fees(m)
	require.Greater(r.t, trades, 50, "the clients have to meet")
	paid, err := fees.ExactMoney(m.MoneyDrop())
	require.NoError(r.t, err)
	before["EUR"] -= paid
	for symbol, had := range before {
		require.Equal(r.t, had, r.total(symbol), symbol)
	}
}

// raise lifts the limit of open files of the process as far as it goes and returns it.
func raise(t *testing.T) int {
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	limit.Cur = limit.Max
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	return int(min(limit.Cur, 1<<20))
}

var idlers = flag.Int("idle", 1000,
	"how many connections TestIdleAndSlowClientsDoNotKeepOthersWaiting leaves open, where the system lets it")

// Ten thousand of them:
//
//	go test -run IdleAndSlow -v ./exchange/sandbox -idle 10000
func TestIdleAndSlowClientsDoNotKeepOthersWaiting(t *testing.T) {
	r := newRig(t)
	address := r.listen()
	idle := min(*idlers, (raise(t)-500)/2) // both ends are in this process
	t.Logf("%d idle connections", idle)
	open := func(first string) {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		_, err = c.Write([]byte(first))
		require.NoError(t, err)
	}
	for i := range idle {
		first := ""
		if i%2 == 1 {
			first = "GET /v2/time HTTP/1.1\r\nHost: slow\r\nX-Slow: " // and never goes on
		}
		open(first)
	}
	client := &http.Client{Timeout: patience}
	defer client.CloseIdleConnections()
	for range 20 {
		answer, err := client.Get("http://" + address + "/v2/time")
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode)
	}
}

// serveWith serves a rig on loopback, with a server that may be changed before, until the test
// ends.
func serveWith(t *testing.T, change func(*http.Server)) (address string) {
	server := newRig(t).ex.Server()
	change(server)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	return listener.Addr().String()
}

func TestASlowClientIsCutOff(t *testing.T) {
	address := serveWith(t, func(s *http.Server) {
		require.LessOrEqual(t, s.ReadHeaderTimeout, 10*time.Second)
		s.ReadHeaderTimeout = 50 * time.Millisecond
	})
	slow, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer slow.Close()
	_, err = slow.Write([]byte("GET /v2/time HTTP/1.1\r\nX-Slow: "))
	require.NoError(t, err)
	require.NoError(t, slow.SetReadDeadline(time.Now().Add(patience)))
	_, err = io.ReadAll(slow)
	require.NoError(t, err, "the exchange hangs up, whatever it says before")
}

func TestHugeHeadersAreRefused(t *testing.T) {
	// the machine may be slow
	address := serveWith(t, func(s *http.Server) { s.ReadHeaderTimeout, s.ReadTimeout, s.WriteTimeout = 0, 0, 0 })
	huge, err := http.NewRequest("GET", "http://"+address+"/v2/time", nil)
	require.NoError(t, err)
	huge.Header.Set("X-Huge", strings.Repeat("x", 64<<10))
	answer, err := http.DefaultClient.Do(huge)
	if err == nil { // some of the answer may be lost where the server hangs up while we still write
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, answer.StatusCode)
	}
	answer, err = http.Get("http://" + address + "/v2/time")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
}
