package rest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

// roundTripper is a RoundTripper over a handler in process. It may be told to spoil requests and
// answers.
type roundTripper struct {
	handler http.Handler
	before  func(*http.Request) (*http.Response, error) // in place of the handler, where it returns anything
	after   func(*http.Request, *http.Response) (*http.Response, error)
	sent    []*http.Request
	bodies  []string // of sent
}

func (w *roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body.Close()
	}
	w.sent, w.bodies = append(w.sent, r), append(w.bodies, string(body))
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if w.before != nil {
		if answer, err := w.before(r); answer != nil || err != nil {
			return answer, err
		}
	}
	served := r.Clone(r.Context())
	served.Body, served.RequestURI, served.RemoteAddr = io.NopCloser(bytes.NewReader(body)), r.URL.RequestURI(),
		"192.0.2.1:1234"
	recorder := httptest.NewRecorder()
	w.handler.ServeHTTP(recorder, served)
	answer := recorder.Result()
	for name, values := range recorder.Header() {
		delete(answer.Header, name)
		answer.Header[http.CanonicalHeaderKey(name)] = values // as over a connection
	}
	if w.after != nil {
		return w.after(r, answer)
	}
	return answer, nil
}

// count returns how many requests of a method and path, without its query, have been sent.
func (w *roundTripper) count(method, path string) (n int) {
	for _, r := range w.sent {
		if r.Method == method && r.URL.Path == version+path {
			n++
		}
	}
	return n
}

// rig is a client before an exchange in process, whose clock is moved by hand.
type rig struct {
	*Client
	t     testing.TB
	wire  *roundTripper
	ex    *sandbox.Exchange
	clock *sandbox.Clock
	btc   *market.Market
	next  market.OrderID
	run   uuid.UUID
}

const (
	rigStart  = market.Time(1772452800) * market.Time(time.Second) // 2026-03-02 12:00 UTC
	rigSecret = "the-secret-that-must-not-be-seen"
)

var rigKey = strings.Repeat("k3y-of-alice-", 5)[:64]

// rigExchange is BTC-EUR at 30000 without a house: the book is what the accounts make it.
func rigExchange(clock *sandbox.Clock) sandbox.Config {
	member := func(name, key, secret string) sandbox.Account {
		return sandbox.Account{Name: name, Balances: map[string]string{"EUR": "1000000", "BTC": "100"},
			Keys: []api.Key{{Key: key, Secret: secret, Read: true, Trade: true, Withdraw: true}}}
	}
	return sandbox.Config{
		Assets: []sandbox.Asset{{Symbol: "EUR", Decimals: 2},
			{Symbol: "BTC", Name: "Bitcoin", Decimals: 8, WithdrawalFee: "0.0001", WithdrawalMin: "0.001",
				Confirmations: 2}, {Symbol: "ADA", Decimals: 6}},
		Markets: []sandbox.Market{
			{Name: "BTC-EUR", PriceDigits: 2, TickSize: "0.50", QuantityDecimals: 8, NotionalDecimals: 2,
				MinOrderInBase: "0.0001", MinOrderInQuote: "5", MaxOpenOrders: 100, FeeCategory: "A",
				Source: prices.Fixed("30000")},
			{Name: "ADA-EUR", PriceDigits: 5, TickSize: "0.00001", QuantityDecimals: 6, NotionalDecimals: 2,
				MinOrderInBase: "1", MinOrderInQuote: "5", MaxOpenOrders: 100, FeeCategory: "B",
				Source: prices.Synthetic{Price: "0.5"}, Liquidity: sandbox.Liquidity{Levels: 20, HalfSpread: 50_000,
					Size: "500"}},
		},
		Accounts: []sandbox.Account{member("alice", rigKey, rigSecret),
			member("bob", strings.Repeat("b", 64), "secret of bob")},
		Tiers:   []sandbox.Tier{{Volume: "0", Fees: map[string]exchange.Fees{"": {Maker: 150_000, Taker: 250_000}}}},
		Clock:   clock,
		Seed:    1,
		History: 4 * time.Hour,
	}
}

// newRig returns a rig; change may alter both configs.
func newRig(t testing.TB, change func(*sandbox.Config, *Config)) *rig {
	r := &rig{t: t, clock: sandbox.ManualClock(rigStart), run: uuid.UUID{7}, wire: &roundTripper{}}
	theirs := rigExchange(r.clock)
	ours := Config{BaseURL: "https://exchange.test/v2", Key: NewSecret(rigKey), Secret: NewSecret(rigSecret),
		Transport: r.wire,
		Now:       func() time.Time { return r.clock.Now().Std() }}
	if change != nil {
		change(&theirs, &ours)
	}
	var err error
	r.ex, err = sandbox.New(theirs)
	require.NoError(t, err)
	r.wire.handler = r.ex
	r.Client, err = New(ours)
	require.NoError(t, err)
	cat, leftOut, err := r.Catalog(t.Context())
	require.NoError(t, err)
	require.Empty(t, leftOut)
	r.Use(cat)
	r.btc = cat.MarketNamed("BTC-EUR")
	r.wire.sent, r.wire.bodies = nil, nil
	return r
}

// bob returns a second client, of another account.
func (r *rig) bob() *rig {
	other := *r
	config := r.config
	config.Key, config.Secret = NewSecret(strings.Repeat("b", 64)), NewSecret("secret of bob")
	var err error
	other.Client, err = New(config)
	require.NoError(r.t, err)
	other.Use(r.catalog.Load().cat)
	other.run = uuid.UUID{8}
	return &other
}

// limit is a command to place a limit order in BTC-EUR.
func (r *rig) limit(side market.Side, amount, price string) *market.Command {
	r.next++
	return &market.Command{Kind: market.CommandPlace,
		Order: market.Order{ID: r.next, ClientOrderID: market.ClientOrderID(r.run, r.next), OperatorID: 77,
			Market: r.btc.ID, Side: side,
			Type: market.TypeLimit, OrderState: market.OrderState{Amount: r.qty(amount), Price: r.price(price),
				TimeInForce: market.GTC, SelfTradePrevention: market.CancelNewest}}}
}

func (r *rig) qty(text string) market.Qty {
	q, err := r.btc.ParseQty(text)
	require.NoError(r.t, err)
	return q
}

func (r *rig) price(text string) market.Price {
	p, err := r.btc.ParsePrice(text)
	require.NoError(r.t, err)
	return p
}

// intent prepares a command now.
func (r *rig) intent(c *market.Command) *exchange.Intent {
	r.t.Helper()
	intent, err := r.Prepare(c)
	require.NoError(r.t, err)
	return &intent
}

// send prepares and sends a command, which must be accepted.
func (r *rig) send(c *market.Command) exchange.WireOrder {
	r.t.Helper()
	answer, err := r.Send(context.Background(), r.intent(c))
	require.NoError(r.t, err)
	return answer
}

// answered makes an answer by hand.
func answered(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}
