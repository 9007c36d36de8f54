package stream

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

// TestMain runs the tests. A goroutine that outlives them fails them.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func machineTime() market.Time { return market.Time(time.Now().UnixNano()) }

// rig is a simulated exchange with a client and a connection to it.
type rig struct {
	t      *testing.T
	ex     *sandbox.Exchange
	url    string
	client *rest.Client
	on     *Connection
	events chan string
}

func newRig(t *testing.T, change func(*sandbox.Config)) *rig {
	config := sandbox.Default()
	if change != nil {
		change(&config)
	}
	ex, err := sandbox.New(config)
	require.NoError(t, err)
	server := httptest.NewServer(ex)
	t.Cleanup(func() {
		require.NoError(t, ex.Close())
		server.Close()
	})
	key := config.Accounts[0].Keys[0]
	client, err := rest.New(rest.Config{BaseURL: server.URL, Key: rest.NewSecret(key.Key),
		Secret: rest.NewSecret(key.Secret)})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	catalog, _, err := client.Catalog(t.Context())
	require.NoError(t, err)
	client.Use(catalog)
	on, err := New(Config{BaseURL: server.URL, Key: rest.NewSecret(key.Key), Secret: rest.NewSecret(key.Secret),
		Now: machineTime, Log: zerolog.Nop()})
	require.NoError(t, err)
	return &rig{t: t, ex: ex, url: server.URL, client: client, on: on, events: make(chan string, 64)}
}

// run runs the connection until the test ends.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan struct{})
	go func() { r.on.Run(ctx); close(done) }()
	r.t.Cleanup(func() { cancel(); <-done })
}

// say notes what happened.
func (r *rig) say(what string) func() { return func() { r.events <- what } }

// hear waits for the next that happens.
func (r *rig) hear() string {
	r.t.Helper()
	select {
	case what := <-r.events:
		return what
	case <-time.After(time.Minute):
		r.t.Fatal("nothing happens")
		return ""
	}
}

func TestAConnectionOpensItsChannelsAndCarriesRequests(t *testing.T) {
	r := newRig(t, nil)
	r.on.Subscribe(&Channel{Name: "trades", Topics: []Topic{{Markets: []string{"BTC-EUR"}}}, Opened: r.say("open")})
	r.on.Subscribe(&Channel{Name: "account", Private: true, Topics: []Topic{{}}, Opened: r.say("account")})
	_, err := r.on.Ask(t.Context(), &Message{Action: "getTime"})
	require.ErrorIs(t, err, exchange.ErrNotSent)
	require.ErrorIs(t, err, ErrClosed)
	r.run()
	require.Equal(t, "open", r.hear())
	require.Equal(t, "account", r.hear())
	response, err := r.on.Ask(t.Context(), &Message{Action: "getTime"})
	require.NoError(t, err)
	var answer struct{ Time int64 }
	require.NoError(t, json.Unmarshal(response, &answer))
	require.NotZero(t, answer.Time)
	_, err = r.on.Ask(t.Context(), &Message{Action: "getBook", Members: []byte(`{"market":"NO-EUR"}`)})
	require.ErrorIs(t, err, exchange.ErrCode(exchange.CodeInvalid, "market"))
	require.Equal(t, exchange.Rejected, exchange.OutcomeOf(err))
	require.True(t, r.on.Authenticated())
}

func TestAConnectionThatEndsIsOpenedAgain(t *testing.T) {
	r := newRig(t, nil)
	r.on.Subscribe(&Channel{Name: "trades", Topics: []Topic{{Markets: []string{"BTC-EUR"}}}, Opened: r.say("open"),
		Closed: r.say("closed")})
	r.run()
	require.Equal(t, "open", r.hear())
	r.on.Reset(ErrSilent)
	require.Equal(t, "closed", r.hear())
	require.Equal(t, "open", r.hear())
	require.EqualValues(t, 2, r.on.Connections())
}

// Only the exchange's own ban holds a connection up for a minute; a page of a proxy, as long as it
// says.
func TestARefusedHandshakeIsTriedAgainWhenItsAnswerAllows(t *testing.T) {
	for _, row := range []struct {
		status      int
		body, after string
		wait        time.Duration
	}{
		{429, `{"errorCode":105,"error":"banned"}`, "", time.Minute},
		{403, `{"errorCode":105,"error":"banned"}`, "", time.Minute},
		{429, "<html>", "", 0},
		{429, "<html>", "20", 20 * time.Second},
		{503, "<html>", "3", 3 * time.Second},
		{403, "", "", 0},
	} {
		w := httptest.NewRecorder()
		if row.after != "" {
			w.Header().Set("Retry-After", row.after)
		}
		w.WriteHeader(row.status)
		_, _ = w.WriteString(row.body)
		var refusal *refusedError
		require.ErrorAs(t, refused(w.Result(), errors.New("no socket")), &refusal)
		require.Equal(t, row.wait, refusal.wait, "%v", row)
	}
}
