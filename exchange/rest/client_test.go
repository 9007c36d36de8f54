package rest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

func TestKeysNeverTravelInClear(t *testing.T) {
	cases := []struct{ url, origin, refused string }{
		{"https://api.example.com/v2", "https://api.example.com", ""},
		{"https://api.example.com", "https://api.example.com", ""},
		{"https://api.example.com:8443/v2/", "https://api.example.com:8443", ""},
		{"http://127.0.0.1:8080", "http://127.0.0.1:8080", ""},
		{"http://localhost:8080/v2", "http://localhost:8080", ""},
		{"http://[::1]:8080", "http://[::1]:8080", ""},
		{"http://api.example.com/v2", "", "use https://api.example.com"},
		{"http://10.0.0.5:8080", "", "use https://10.0.0.5:8080"},
		{"http://127.0.0.1.example.com", "", "use https://"},
		{"http://localhost.example.com", "", "use https://"},
		{"https://user:word@api.example.com", "", "password"},
		{"https://api.example.com/other/v2", "", "/v2 and nothing"},
		{"https://api.example.com/v2?x=1", "", "/v2 and nothing"},
		{"api.example.com", "", "should look like"},
		{"ftp://api.example.com", "", "should look like"},
		{"", "", "should look like"},
		{"https://word:pass^@\x7f", "", "cannot be read"},
	}
	for _, c := range cases {
		client, err := New(Config{BaseURL: c.url})
		if c.refused != "" {
			require.ErrorContains(t, err, c.refused, c.url)
			require.NotContains(t, err.Error(), "word:")
			continue
		}
		require.NoError(t, err, c.url)
		require.Equal(t, c.origin, client.origin)
		client.Close()
	}
}

func TestSettingsThatCannotBeRightAreNamed(t *testing.T) {
	secret := NewSecret("x")
	cases := []struct {
		want   string
		config Config
	}{
		{"only one of them", Config{Key: secret}},
		{"only one of them", Config{Secret: secret}},
		{"prefix", Config{Prefix: "Ser vice"}},
		{"window", Config{Window: 99 * time.Millisecond}},
		{"window", Config{Window: time.Minute + 1}},
		{"margin", Config{Window: time.Second, Margin: time.Second}},
		{"negative", Config{Weights: map[string]Weight{"GET /time": {One: -1}}}},
	}
	for _, c := range cases {
		c.config.BaseURL = "https://x.test"
		_, err := New(c.config)
		require.ErrorContains(t, err, c.want)
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	const text = "s3cr3t-and-k3y"
	secret := NewSecret(" " + text + "\n")
	require.Equal(t, text, secret.Reveal())
	holder := struct {
		Public Secret
		hidden Secret
		Ptr    *Secret
	}{secret, secret, &secret}
	client, err := New(Config{BaseURL: "https://x.test", Key: secret, Secret: secret})
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		for _, what := range []any{secret, &secret, holder, &holder, client.config, client, []Secret{secret},
			map[string]Secret{"a": secret}} {
			printed := fmt.Sprintf(verb, what)
			require.NotContains(t, printed, text)
			require.NotContains(t, strings.ToLower(printed), fmt.Sprintf("%x", text))
		}
	}
	encoded, err := json.Marshal(holder)
	require.NoError(t, err)
	require.NotContains(t, string(encoded), text)
	require.Contains(t, string(encoded), redacted)
	var read Secret
	require.NoError(t, read.UnmarshalText([]byte(text)))
	require.Equal(t, text, read.Reveal())
	require.True(t, NewSecret(" \n").IsZero())
	require.Empty(t, Secret{}.String()+Secret{}.Reveal())
}

func TestPrivateEndpointsNeedAKey(t *testing.T) {
	r := newRig(t, nil)
	public, err := New(Config{BaseURL: "https://x.test", Transport: r.wire, Now: r.config.Now})
	require.NoError(t, err)
	_, err = public.Account(t.Context())
	require.ErrorIs(t, err, ErrNoKey)
	require.Empty(t, r.wire.sent)
	_, err = public.Markets(t.Context(), "")
	require.NoError(t, err)
	_, err = public.TickerPrices(t.Context(), nil)
	require.ErrorIs(t, err, ErrNoCatalog)
}

func TestHeadersCarryThePrefix(t *testing.T) {
	r := newRig(t, func(theirs *sandbox.Config, ours *Config) {
		theirs.Prefixes, ours.Prefix = []string{"Brand"}, "brand"
	})
	_, err := r.Account(t.Context())
	require.NoError(t, err)
	sent := r.wire.sent[0].Header
	require.Equal(t, rigKey, sent.Get("Brand-Access-Key"))
	require.Equal(t, "application/json", sent.Get("Content-Type"))
}

func TestClientSpeaksOverRealConnections(t *testing.T) {
	clock := sandbox.ManualClock(rigStart)
	ex, err := sandbox.New(rigExchange(clock))
	require.NoError(t, err)
	server := httptest.NewServer(ex)
	defer server.Close()
	client, err := New(Config{BaseURL: server.URL, Key: NewSecret(rigKey), Secret: NewSecret(rigSecret)})
	require.NoError(t, err)
	defer client.Close()
	require.NoError(t, client.Sync(t.Context()))
	_, err = client.Balances(t.Context(), "")
	require.NoError(t, err)
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	visited := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visited++
		http.Redirect(w, r, "/v2/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	client, err := New(Config{BaseURL: server.URL, Key: NewSecret(rigKey), Secret: NewSecret(rigSecret)})
	require.NoError(t, err)
	defer client.Close()
	_, err = client.Account(t.Context())
	require.ErrorContains(t, err, "307")
	require.Equal(t, 1, visited)
}

func TestTransportDoesNotRepeatWrites(t *testing.T) {
	clock := sandbox.ManualClock(rigStart)
	ex, err := sandbox.New(rigExchange(clock))
	require.NoError(t, err)
	var posts atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ex.ServeHTTP(w, r)
		if r.Method != http.MethodGet {
			posts.Add(1)
			panic(http.ErrAbortHandler) // the work is done, the connection breaks before the answer
		}
	}))
	defer server.Close()
	client, err := New(Config{BaseURL: server.URL, Key: NewSecret(rigKey), Secret: NewSecret(rigSecret)})
	require.NoError(t, err)
	defer client.Close()
	require.NoError(t, client.Sync(t.Context())) // leaves a connection that may have grown stale
	_, err = client.CancelOrdersAfter(t.Context(), 9, time.Minute)
	require.Equal(t, exchange.Unknown, exchange.OutcomeOf(err), "%v", err)
	_, err = client.CancelOrders(t.Context(), nil, 77)
	require.Equal(t, exchange.Unknown, exchange.OutcomeOf(err), "%v", err)
	require.EqualValues(t, 2, posts.Load())
}

// What the client itself does between an answer with a price and an order on its way; the goal of
// the whole bot is 0.25 of a round trip.
func BenchmarkTickToRequestAgainstALoopbackRoundTrip(b *testing.B) {
	r := newRig(b, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, orderBody)
	}))
	defer server.Close()
	text := []byte(`[{"market":"BTC-EUR","price":"30000"},{"market":"ADA-EUR","price":"0.5"}]`)
	command, tickers := r.limit(market.Buy, "0.5", "29000"), make([]market.Ticker, 0, 8)
	command.Order.ID = 1
	ratio(b, "roundtrip", func() {
		answer, err := http.Post(server.URL+"/v2/order", "application/json", strings.NewReader(orderBody))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}, func() {
		var err error
		if tickers, err = appendTickers(tickers[:0], text, r.catalog.Load().named); err != nil {
			b.Fatal(err)
		}
		intent, err := r.Prepare(command)
		if err != nil {
			b.Fatal(err)
		}
		sent := request{at: postOrder, path: intent.Path, body: intent.Body, timestamp: intent.Timestamp,
			window: intent.Window}
		if _, err = r.build(b.Context(), &sent, true); err != nil {
			b.Fatal(err)
		}
	})
}
