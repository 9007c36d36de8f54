package rest

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
)

// purse is a Budget of functions.
type purse struct {
	acquire func(lane Lane, weight int, payer Payer) error
	observe func(h http.Header, status int, body []byte)
}

func (p *purse) Begin(_ context.Context, lane Lane, _ string, weight int, payer Payer) (func(http.Header, int, []byte),
	error) {
	if p.acquire != nil {
		if err := p.acquire(lane, weight, payer); err != nil {
			return nil, err
		}
	}
	return func(h http.Header, status int, body []byte) {
		if p.observe != nil && h != nil {
			p.observe(h, status, body)
		}
	}, nil
}

// bookPurse is a Budget that notes what it hears.
type bookPurse struct {
	notes []string
	open  int
}

func (p *bookPurse) Begin(_ context.Context, lane Lane, endpoint string, _ int,
	payer Payer) (func(http.Header, int, []byte), error) {
	p.open++
	return func(_ http.Header, status int, _ []byte) {
		p.open--
		p.notes = append(p.notes,
			strings.Join([]string{lane.String(), endpoint, http.StatusText(status), payer.String()}, " "))
	}, nil
}

func TestEndpointsCostWhatTheExchangeCharges(t *testing.T) {
	r := newRig(t, nil)
	for _, call := range tour(r) {
		r.clock.Advance(time.Minute) // a budget that is whole
		spent := 0
		r.config.Budget = &purse{acquire: func(_ Lane, weight int, _ Payer) error { spent += weight; return nil }}
		key, ip := r.points(PaidByKey), r.points(PaidByIP)
		require.NoError(t, call.do(), call.name)
		charged := key - r.points(PaidByKey) - 1 + ip - r.points(PaidByIP) - 1 // the questions cost 1 themselves
		require.Equal(t, charged, spent, call.name)
	}
}

// points asks how many points the key, or the address, has left.
func (r *rig) points(of Payer) (left int) {
	held := r.config.Budget
	defer func() { r.config.Budget = held }()
	r.config.Budget = &purse{observe: func(h http.Header, _ int,
		_ []byte) {
		left = atoi(h.Get("Service-Ratelimit-Remaining"))
	}}
	if of == PaidByKey {
		_, err := r.Account(r.t.Context())
		require.NoError(r.t, err)
		return left
	}
	_, err := r.Time(r.t.Context())
	require.NoError(r.t, err)
	return left
}

func atoi(text string) (n int) {
	for _, ch := range text {
		n = n*10 + int(ch-'0')
	}
	return n
}

func TestWeightsMayBeOverridden(t *testing.T) {
	weights := map[string]Weight{"GET /{market}/book": {One: 7}, "GET /ordersOpen": {One: 1, All: 25}}
	r := newRig(t, func(_ *sandbox.Config, c *Config) { c.Weights = weights })
	var seen []int
	r.config.Budget = &purse{acquire: func(_ Lane, weight int,
		_ Payer) error {
		seen = append(seen, weight)
		return nil
	}}
	_, err := r.OrdersOpen(t.Context(), nil)
	require.NoError(t, err)
	_, err = r.OrdersOpen(t.Context(), r.btc)
	require.NoError(t, err)
	require.Equal(t, []int{25, 1}, seen)
	_, err = New(Config{BaseURL: "https://x.test", Weights: map[string]Weight{"GET /books": {}}})
	require.ErrorContains(t, err, "GET /books")
}

func TestBudgetsHearWhichRequestWasAnswered(t *testing.T) {
	book := &bookPurse{}
	r := newRig(t, func(_ *sandbox.Config, c *Config) { c.Budget, c.Tries = book, 1 })
	book.notes = nil
	_, err := r.Time(t.Context())
	require.NoError(t, err)
	command := r.limit(1, "0.5", "29000.1")
	_, err = r.Send(t.Context(), r.intent(command))
	require.Error(t, err)
	r.wire.before = func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }
	_, err = r.Account(t.Context())
	require.Error(t, err)
	require.Equal(t, []string{"reconcile GET /time OK ip", "order POST /order Bad Request key",
		"reconcile GET /account  key"}, book.notes)
	require.Zero(t, book.open)
}

func TestMarketDataMaySpendTheKeysPoints(t *testing.T) {
	r := newRig(t, func(_ *sandbox.Config, c *Config) { c.SignPublic = true })
	_, err := r.TickerPrice(t.Context(), r.btc)
	require.NoError(t, err)
	require.NoError(t, r.Sync(t.Context()))
	require.NotEmpty(t, r.wire.sent[0].Header.Get("Service-Access-Signature"))
	require.Empty(t, r.wire.sent[1].Header.Get("Service-Access-Signature"),
		"a wrong clock must be able to ask for the time")
}
