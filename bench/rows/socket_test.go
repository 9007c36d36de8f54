package rows

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/stream"
	"github.com/tidemark-trading/tidemark/exchange/wire"
)

// liveSocket measures ticker's bytes → order → its answer, over a socket and over HTTP, at a server
// on loopback that refuses each order at once. The floors are an echo of the same bytes over the
// same WebSocket library, and a bare POST of them. Client and server are one process: the CPU of
// both sides is in all figures.
func (t *table) liveSocket() {
	const rounds = 2000
	server := httptest.NewServer(http.HandlerFunc(refuseAll))
	defer server.Close()
	overSocket, overHTTP := newPipe(t.b), newPipe(t.b)
	ctx, cancel := context.WithCancel(context.Background())
	ended := overSocket.dial(ctx, server.URL)
	defer func() { cancel(); <-ended }()
	overHTTP.over = toServer{strings.TrimPrefix(server.URL, "http://")}
	echo, _, err := websocket.Dial(ctx, server.URL+"/echo", nil)
	require.NoError(t.b, err)
	defer echo.CloseNow()
	body := overSocket.body
	took := t.least(func() {
		for range rounds {
			require.NoError(t.b, echo.Write(ctx, websocket.MessageText, body))
			_, _, err := echo.Read(ctx)
			require.NoError(t.b, err)
		}
	}, func() {
		for range rounds {
			answer, err := http.Post(server.URL+"/v2/order", "application/json", bytes.NewReader(body))
			require.NoError(t.b, err)
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	}, func() {
		for range rounds {
			overSocket.tick()
		}
	}, func() {
		for range rounds {
			overHTTP.tick()
		}
	})
	for i := range took {
		took[i] /= rounds
	}
	t.compare("ticker's bytes → order → answer, over a socket", "echo", took[0], took[2], "ns", 2)
	t.compare("the same, signed, over HTTP", "POST", took[1], took[3], "ns", 2)
	t.compare("over a socket against over HTTP", "HTTP", took[3], took[2], "ns", 0.75)
}

// dial sends the orders of a pipe over a socket from now on.
func (p *pipe) dial(ctx context.Context, url string) (ended chan struct{}) {
	on, err := stream.New(stream.Config{BaseURL: url, Key: rest.NewSecret(strings.Repeat("k", 64)),
		Secret: rest.NewSecret(strings.Repeat("s", 128)), Now: p.client.Now, Log: zerolog.Nop()})
	require.NoError(p.b, err)
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		on.Run(ctx)
	}()
	require.Eventually(p.b, on.Authenticated, time.Minute, time.Millisecond)
	p.trading = p.client.Over(on)
	return ended
}

// toServer sends requests to a server, whatever host they name.
type toServer struct{ host string }

// RoundTrip implements http.RoundTripper.
func (s toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := r.Clone(r.Context())
	sent.URL.Scheme, sent.URL.Host = "http", s.host
	return http.DefaultTransport.RoundTrip(sent)
}

// refuseAll echoes the messages of a socket to /echo, accepts the credentials of any other, and
// refuses every order.
func refuseAll(w http.ResponseWriter, r *http.Request) {
	refusal := exchange.AppendError(nil, exchange.ErrCode(exchange.CodeInsufficientBalance))
	if r.Header.Get("Upgrade") == "" {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(refusal)
		return
	}
	on, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer on.CloseNow()
	for {
		_, text, err := on.Read(r.Context())
		if err != nil {
			return
		}
		if r.URL.Path != "/echo" {
			text = replyTo(text, refusal)
		}
		if on.Write(r.Context(), websocket.MessageText, text) != nil {
			return
		}
	}
}

// replyTo is the reply to a message.
func replyTo(text, refusal []byte) []byte {
	var action, id []byte
	s := wire.NewScanner(text)
	for s.Object(); s.Member() && (action == nil || id == nil); {
		switch string(s.Name()) {
		case "action":
			action = s.Token()
		case "requestId":
			id = s.Token()
		default:
			s.Discard()
		}
	}
	w := wire.Writer{Dst: make([]byte, 0, 256)}
	w.Open('{')
	if string(action) == "authenticate" {
		w.Text("event", string(action))
		w.Boolean("authenticated", true)
	} else {
		w.Text("action", string(action))
	}
	w.Key("requestId")
	w.Dst = append(w.Dst, id...)
	if string(action) == "authenticate" {
		return append(w.Dst, '}')
	}
	return append(append(w.Dst, ','), refusal[1:]...)
}

// BenchmarkOrderOverSocket prints the rows of liveSocket alone.
func BenchmarkOrderOverSocket(b *testing.B) {
	if testing.Short() {
		b.Skip("BenchmarkTable measures the same rows")
	}
	t := &table{b: b}
	for b.Loop() {
		t.text.Reset()
		t.liveSocket()
	}
	b.Log(t.text.String())
}
