package rest

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

// spoilt lets a GET fail a number of times and counts the attempts.
func (w *roundTripper) spoilt(times int, how func(*http.Request) (*http.Response, error)) {
	w.before = func(r *http.Request) (*http.Response, error) {
		if times--; times >= 0 {
			return how(r)
		}
		return nil, nil
	}
}

func TestQuestionsAreAskedAgainUntilAnswered(t *testing.T) {
	cases := []struct {
		name string
		how  func(*http.Request) (*http.Response, error)
	}{
		{"broken connection", func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }},
		{"truncated", func(*http.Request) (*http.Response, error) { return answered(200, `[{"symbol":"EU`), nil }},
		{"not JSON", func(*http.Request) (*http.Response, error) { return answered(200, "<html>"), nil }},
		{"500", func(*http.Request) (*http.Response, error) { return answered(500, ""), nil }},
		{"a proxy's limit", func(*http.Request) (*http.Response, error) { return answered(429, "<html>"), nil }},
		{"a proxy's refusal", func(*http.Request) (*http.Response, error) { return answered(403, ""), nil }},
		{"overloaded", func(*http.Request) (*http.Response, error) {
			return answered(503, `{"errorCode":107,"error":"overloaded"}`), nil
		}},
	}
	for _, c := range cases {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.wire.spoilt(3, c.how)
			_, err := r.Balances(t.Context(), "")
			require.NoError(t, err, c.name)
			require.Equal(t, 4, r.wire.count("GET", "/balance"), c.name)
		})
	}
}

func TestPausesGrowAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(_ *sandbox.Config, c *Config) { c.Tries = 5 })
		r.wire.spoilt(100, func(*http.Request) (*http.Response, error) { return answered(502, "Bad Gateway"), nil })
		start := time.Now()
		_, err := r.Account(t.Context())
		require.ErrorContains(t, err, "GET /account: ")
		require.Equal(t, 5, r.wire.count("GET", "/account"))
		require.InDelta(t, 7.5, time.Since(start).Seconds(), 3.75) // ½ + 1 + 2 + 4 s, each up to half more or less
	})
}

func TestRefusedQuestionsAreNotAskedAgain(t *testing.T) {
	r := newRig(t, nil)
	for _, answer := range []string{`{"errorCode":205,"error":"x"}`, `{"errorCode":311,"error":"x"}`} {
		before := len(r.wire.sent)
		r.wire.before = func(*http.Request) (*http.Response, error) { return answered(400, answer), nil }
		_, err := r.Account(t.Context())
		require.Error(t, err)
		require.Len(t, r.wire.sent, before+1)
	}
	r.wire.before = func(*http.Request) (*http.Response, error) {
		return answered(503, `{"errorCode":431,"error":"not trading"}`), nil
	}
	before := len(r.wire.sent)
	require.ErrorIs(t, r.Book(t.Context(), r.btc, 1, &market.OrderBook{}), exchange.ErrCode(exchange.CodeNotTrading))
	require.Len(t, r.wire.sent, before+1)
}

func TestBanIsNotAskedThrough(t *testing.T) {
	r := newRig(t, func(c *sandbox.Config, _ *Config) { c.Budget.PerKey = 12 })
	for range 2 {
		_, err := r.Balances(t.Context(), "")
		require.NoError(t, err)
	}
	_, err := r.Balances(t.Context(), "")
	require.ErrorIs(t, err, exchange.ErrCode(exchange.CodeBanned))
	require.Equal(t, 3, r.wire.count("GET", "/balance"))
}

func TestEndedContextStopsAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(_ *sandbox.Config, c *Config) { c.Tries = 1000 })
		r.wire.spoilt(1000, func(*http.Request) (*http.Response, error) { return answered(500, ""), nil })
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		start := time.Now()
		_, err := r.Account(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "HTTP 500", "what went wrong before is told too")
		require.Equal(t, 20*time.Second, time.Since(start))
	})
}

func TestHangingExchangeIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(_ *sandbox.Config, c *Config) { c.Tries = 2 })
		r.wire.before = func(sent *http.Request) (*http.Response, error) {
			<-sent.Context().Done()
			return nil, sent.Context().Err()
		}
		start := time.Now()
		_, err := r.Account(t.Context())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, r.wire.sent, 2)
		require.InDelta(t, 30.5, time.Since(start).Seconds(), 0.5) // twice 15 s and a pause
	})
}
