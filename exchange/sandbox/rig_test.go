package sandbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

// rigStart is when a rig's exchange opens: 2026-01-05, a Monday, at 12:00:15 UTC.
var rigStart = market.Time(time.Date(2026, 1, 5, 12, 0, 15, 0, time.UTC).UnixNano())

// rig is an exchange under test with two clients, alice and bob. Every answer that goes through it
// must fit the description of the API.
type rig struct {
	t  testing.TB
	ex *Exchange
}

// newRig makes an exchange on a manual clock with three markets and two accounts, each with one key
// that may do everything; change may alter the config before.
func newRig(t testing.TB, change ...func(*Config)) *rig {
	t.Helper()
	config := rigConfig()
	for _, alter := range change {
		alter(&config)
	}
	ex, err := New(config)
	require.NoError(t, err)
	r := &rig{t: t, ex: ex}
	r.ex.onPanic = func(value any) { t.Errorf("panic in a handler: %v\n%s", value, debug.Stack()) }
	return r
}

func rigConfig() Config {
	return Config{
		Clock: ManualClock(rigStart),
		Assets: []Asset{
			{Symbol: "EUR", Name: "Euro", Decimals: 2, Networks: []string{"SEPA"}, WithdrawalMin: "5"},
			{Symbol: "BTC", Name: "Bitcoin", Decimals: 8, WithdrawalFee: "0.00001", WithdrawalMin: "0.0001",
				Confirmations: 2},
			{Symbol: "ETH", Name: "Ethereum", Decimals: 8, WithdrawalFee: "0.0001", WithdrawalMin: "0.001",
				Confirmations: 32},
			{Symbol: "ADA", Name: "Cardano", Decimals: 6, WithdrawalFee: "0.5", WithdrawalMin: "2", Confirmations: 10},
		},
		Markets: []Market{
			rigMarket("BTC-EUR", "30000", 2, "0.01", 8, "0.0001", "A"),
			rigMarket("ETH-EUR", "2000", 2, "0.01", 8, "0.001", "A"),
			rigMarket("ADA-EUR", "0.5", 5, "0.00001", 6, "1", "B"),
		},
		Accounts: []Account{rigAccount("alice"), rigAccount("bob")},
		Tiers:    []Tier{{Volume: "0", Fees: map[string]exchange.Fees{"": {Maker: 150_000, Taker: 250_000}}}},
		Seed:     1,
	}
}

// rigMarket is a market whose price stands still and which has no house: its book is what the
// accounts make it.
func rigMarket(name, fixed string, priceDigits uint8, tick string, quantityDecimals uint8, least,
	category string) Market {
	return Market{Name: name, Source: prices.Fixed(fixed), PriceDigits: priceDigits, TickSize: tick,
		QuantityDecimals: quantityDecimals, NotionalDecimals: 2, MinOrderInBase: least, MinOrderInQuote: "5",
		MaxOrderInBase: "1000000000", MaxOrderInQuote: "1000000000", MaxOpenOrders: 100, FeeCategory: category}
}

func rigAccount(name string) Account {
	return Account{Name: name, Balances: map[string]string{"EUR": "10000000", "BTC": "1000", "ETH": "10000",
		"ADA": "10000000"},
		Keys: []api.Key{{Key: rigKey(name), Secret: "secret of " + name, Read: true, Trade: true, Withdraw: true}}}
}

// rigKey returns the API key of an account of the rig.
func rigKey(account string) string {
	return (account + strings.Repeat("0", api.KeyLength))[:api.KeyLength]
}

// get asks without credentials. The path is without /v2.
func (r *rig) get(path string) answer { return r.do(r.request("", http.MethodGet, path, "")) }

// send asks as an account, signed with its first key.
func (r *rig) send(account, method, path, body string) answer {
	return r.do(r.request(account, method, path, body))
}

// request makes a request as the specification asks, signed unless account is "".
func (r *rig) request(account, method, path, body string) *http.Request {
	request := httptest.NewRequest(method, api.Version+path, strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	if account != "" {
		r.sign(request, account, body)
	}
	return request
}

// sign sets the headers of an account's first key, with the body as signed.
func (r *rig) sign(request *http.Request, account, body string) {
	stamp := strconv.FormatInt(r.ex.clock.Now().Millis(), 10)
	request.Header.Set("Service-Access-Key", rigKey(account))
	request.Header.Set("Service-Access-Timestamp", stamp)
	request.Header.Set("Service-Access-Signature",
		signature("secret of "+account, stamp, request.Method, request.RequestURI, body))
}

// signature makes a signature by the words of specification 5.
func signature(secret, stamp, method, path, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + method + path + body))
	return hex.EncodeToString(mac.Sum(nil))
}

// do lets the exchange answer a request, and holds the answer against the description of the API.
func (r *rig) do(request *http.Request) answer {
	r.t.Helper()
	recorder := httptest.NewRecorder()
	r.ex.ServeHTTP(recorder, request)
	a := answer{status: recorder.Code, header: http.Header{}, body: recorder.Body.String()}
	for name, values := range recorder.Header() {
		a.header[http.CanonicalHeaderKey(name)] = values // as a client reads them
	}
	if strings.HasPrefix(request.URL.Path, api.Version) {
		conforms(r.t, request.Method, request.URL.Path, a.status, a.body)
	}
	return a
}

// pass moves the exchange's clock.
func (r *rig) pass(d market.Duration) { r.ex.clock.Advance(d) }

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// ok requires success.
func (a answer) ok(t testing.TB) answer {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	return a
}

// refused requires a refusal with that status and code.
func (a answer) refused(t testing.TB, status, code int) answer {
	t.Helper()
	refusal := exchange.ParseError(a.status, []byte(a.body))
	require.Equal(t, code, refusal.Code, a.body)
	require.Equal(t, status, a.status, a.body)
	return a
}

// says requires words in the body.
func (a answer) says(t testing.TB, words string) answer {
	t.Helper()
	require.Contains(t, a.body, words)
	return a
}

// json reads the body of a success.
func (a answer) json(t testing.TB, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(a.ok(t).body), v), a.body)
}

// remaining returns the weight points that the answer says are left.
func (a answer) remaining(t testing.TB) int {
	t.Helper()
	n, err := strconv.Atoi(a.header.Get("Service-Ratelimit-Remaining"))
	require.NoError(t, err)
	return n
}

// httptestGet makes a request to a path that is not under /v2.
func httptestGet(path string) *http.Request { return httptest.NewRequest(http.MethodGet, path, nil) }

// fixture reads a recorded payload, or skips the test where the folder of recordings is not beside
// the project.
func fixture(t testing.TB, name string) string {
	t.Helper()
	folder := filepath.Join("..", "..", "..", "shared", "spec", "fixtures")
	text, err := os.ReadFile(filepath.Join(folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no recording %s: %s is not there", name, folder)
	}
	require.NoError(t, err)
	return string(text)
}
