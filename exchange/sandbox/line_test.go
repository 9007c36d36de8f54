package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/market"
)

const lineToken = "open sesame"

// line is a rig behind a real server on loopback, with the admin interface open. Every request has
// a connection of its own: a client library repeats a GET by itself where a connection that it has
// used before breaks.
type line struct {
	*rig
	server *httptest.Server
	client *http.Client
	waits  sync.WaitGroup // requests in the background
}

func newLine(t testing.TB, change ...func(*Config)) *line {
	r := newRig(t, append([]func(*Config){func(c *Config) { c.Admin = lineToken }}, change...)...)
	server := httptest.NewServer(r.ex)
	t.Cleanup(server.Close)
	t.Cleanup(func() { balanced(t, r.ex) })
	l := &line{rig: r, server: server, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	t.Cleanup(l.waits.Wait)
	return l
}

// faulty makes a line with a script of faults.
func faulty(t testing.TB, faults ...fault.Fault) *line {
	return newLine(t, func(c *Config) { c.Faults = faults })
}

// ask sends a request of an account, signed unless that is "".
func (l *line) ask(account, method, path, body string) (answer, error) {
	request, err := http.NewRequest(method, l.server.URL+api.Version+path, strings.NewReader(body))
	require.NoError(l.t, err)
	request.Header.Set("Content-Type", "application/json")
	if account != "" {
		stamp := strconv.FormatInt(l.ex.clock.Now().Millis(), 10)
		request.Header.Set("Service-Access-Key", rigKey(account))
		request.Header.Set("Service-Access-Timestamp", stamp)
		request.Header.Set("Service-Access-Signature", signature("secret of "+account, stamp, method, api.Version+path,
			body))
	}
	return l.exchange(request)
}

func (l *line) exchange(request *http.Request) (answer, error) {
	got, err := l.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	return answer{status: got.StatusCode, header: got.Header, body: string(text)}, err
}

// hear is ask where there must be an answer.
func (l *line) hear(account, method, path, body string) answer {
	l.t.Helper()
	a, err := l.ask(account, method, path, body)
	require.NoError(l.t, err)
	return a
}

// buy is the body of an order of alice's that rests.
const buy = `{"market":"BTC-EUR","side":"buy","orderType":"limit","amount":"0.01","price":"50000","operatorId":1}`

// place sends buy.
func (l *line) place() (answer, error) { return l.ask("alice", "POST", "/order", buy) }

// orders counts the open orders of an account, past the server: no fault is asked about that.
func (l *line) orders(account string) int {
	l.ex.mu.Lock()
	defer l.ex.mu.Unlock()
	count := 0
	for _, have := range l.ex.accounts.named(account).orders {
		if have != nil {
			count += have.open.length
		}
	}
	return count
}

// admin sends a request of the operator.
func (l *line) admin(method, path, body string) answer {
	l.t.Helper()
	request, err := http.NewRequest(method, l.server.URL+"/admin"+path, strings.NewReader(body))
	require.NoError(l.t, err)
	request.Header.Set("Authorization", "Bearer "+lineToken)
	request.Header.Set("Content-Type", "application/json")
	a, err := l.exchange(request)
	require.NoError(l.t, err)
	if e := (&Exchange{}).bind(adminEndpoints).Exact(method, path); e != nil {
		fitsAdmin(l.t, e, a)
	}
	return a
}

// fired returns how often each fault of the script has struck.
func (l *line) fired() []int {
	l.t.Helper()
	var report fault.ScriptReport
	l.admin("GET", "/faults", "").json(l.t, &report)
	var counts []int
	for _, f := range report.Faults {
		counts = append(counts, f.Fired)
	}
	return counts
}

// adminDescribed is the description of the admin interface, made once for all tests.
var adminDescribed = sync.OnceValue(func() *description {
	return readDescription((&Exchange{}).bind(adminEndpoints).DescribeAdmin(adminRoot))
})

// fitsAdmin requires that an answer is one that the description of the admin interface promises.
func fitsAdmin(t testing.TB, e *api.Endpoint, a answer) {
	t.Helper()
	name := e.Answer
	if a.status != http.StatusOK {
		name = "Error"
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(a.body))
	require.NoError(t, err, a.body)
	require.NoError(t, adminDescribed().schema(t, "/components/schemas/"+name).Validate(value), a.body)
}

// balanced requires that the money of an exchange adds up: the balances and what the house has are
// what was transferred in.
func balanced(t testing.TB, ex *Exchange) {
	t.Helper()
	c := &api.Call{}
	ex.mu.Lock()
	defer ex.mu.Unlock()
	ex.bank.adminLedger(c)
	var ledger struct {
		Assets []struct{ Symbol, Accounts, Liquidity, Transferred string }
	}
	require.NoError(t, json.Unmarshal(c.Out, &ledger))
	for i, v := range ex.bank.assetsBySymbol {
		sum, row := sumOf(ex.bank.liquidity, v.ID), ledger.Assets[i]
		for _, a := range ex.accounts {
			balance := ex.venue.BalanceOf(a.id, v.ID)
			require.True(t, balance.Held >= 0 && balance.Held <= balance.Total, "%s of %s: %+v", v.Symbol, a.name,
				balance)
			sum, _ = sum.Add(market.ValueOf(int64(balance.Total)))
		}
		require.Equal(t, row.Transferred, sum.Format(v.Digits), fmt.Sprintf("%+v", row))
	}
}

// told is what the tests read of an order record.
type told struct {
	OrderID             string      `json:"orderId"`
	ClientOrderID       *string     `json:"clientOrderId"`
	Market              string      `json:"market"`
	Created, Updated    int64       `json:",omitempty"`
	Status, OrderType   string      `json:",omitempty"`
	Amount              string      `json:"amount"`
	AmountRemaining     string      `json:"amountRemaining"`
	AmountQuote         string      `json:"amountQuote"`
	Price               string      `json:"price"`
	OnHold              string      `json:"onHold"`
	TriggerAmount       string      `json:"triggerAmount"`
	TriggerType         string      `json:"triggerType"`
	TriggerReference    string      `json:"triggerReference"`
	FilledAmount        string      `json:"filledAmount"`
	FeePaid             string      `json:"feePaid"`
	Fills               []toldTrade `json:"fills"`
	SelfTradePrevention string      `json:"selfTradePrevention"`
	Visible             bool        `json:"visible"`
	TimeInForce         string      `json:"timeInForce"`
	PostOnly            bool        `json:"postOnly"`
	OperatorID          int64       `json:"operatorId"`
	RestatementReason   string      `json:"restatementReason"`
	CodGroupID          int         `json:"codGroupId"`
}

// toldTrade is what the tests read of a fill or a trade.
type toldTrade struct {
	ID            string  `json:"id"`
	OrderID       string  `json:"orderId"`
	ClientOrderID *string `json:"clientOrderId"`
	Timestamp     int64   `json:"timestamp"`
	Market        string  `json:"market"`
	Side          string  `json:"side"`
	Amount        string  `json:"amount"`
	Price         string  `json:"price"`
	Taker         bool    `json:"taker"`
	Fee           *string `json:"fee"`
	FeeCurrency   *string `json:"feeCurrency"`
	Settled       bool    `json:"settled"`
}
