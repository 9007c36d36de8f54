package bottest

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// cabled is a transport whose sockets are cables.
type cabled struct {
	http.Handler
	pass Pass
	last *Cable
}

func (c *cabled) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	answer, c.last = DialCable(c.Handler, r, c.pass, func() {})
	return answer, nil
}

// echo says each message twice.
func echo(w http.ResponseWriter, r *http.Request) {
	on, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer on.CloseNow()
	on.SetReadLimit(1 << 20)
	for {
		kind, text, err := on.Read(context.Background())
		if err != nil {
			return
		}
		if on.Write(context.Background(), kind, append(text, text...)) != nil {
			return
		}
	}
}

func TestFramesOfACableArriveAsPassHasThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cabled{Handler: http.HandlerFunc(echo), pass: func(fromServer bool, text []byte) ([]byte, time.Duration) {
			switch {
			case string(text) == "lost":
				return nil, 0
			case fromServer:
				return bytes.ReplaceAll(text, []byte("a"), []byte("bc")), time.Second
			}
			return text, 2 * time.Second
		}}
		on, _, err := websocket.Dial(t.Context(), "wss://exchange.test/v2/", &websocket.DialOptions{
			HTTPClient: &http.Client{Transport: c}, CompressionMode: websocket.CompressionContextTakeover})
		require.NoError(t, err)
		on.SetReadLimit(1 << 20)
		for _, text := range []string{"a", "b", strings.Repeat("a", 100), strings.Repeat("x", 70_000)} {
			began := time.Now()
			require.NoError(t, on.Write(t.Context(), websocket.MessageText, []byte("lost")))
			require.NoError(t, on.Write(t.Context(), websocket.MessageText, []byte(text)))
			_, told, err := on.Read(t.Context())
			require.NoError(t, err)
			require.Equal(t, 3*time.Second, time.Since(began))
			require.Equal(t, strings.ReplaceAll(text+text, "a", "bc"), string(told))
		}
		c.last.Cut()
		_, _, err = on.Read(t.Context())
		require.Error(t, err)
		require.Error(t, on.Write(t.Context(), websocket.MessageText, nil))
		on.CloseNow()
	})
}

func TestACableThatOneSideClosesEndsForTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cabled{Handler: http.HandlerFunc(echo),
			pass: func(_ bool, text []byte) ([]byte, time.Duration) { return text, time.Millisecond }}
		on, _, err := websocket.Dial(t.Context(), "wss://exchange.test/v2/",
			&websocket.DialOptions{HTTPClient: &http.Client{Transport: c}})
		require.NoError(t, err)
		require.NoError(t, on.Close(websocket.StatusNormalClosure, ""))
		synctest.Wait() // the handler has returned, or the bubble would not end
	})
}

func TestAHandshakeThatIsRefusedIsAnAnswer(t *testing.T) {
	c := &cabled{Handler: http.NotFoundHandler()}
	_, answer, err := websocket.Dial(t.Context(), "wss://exchange.test/v2/",
		&websocket.DialOptions{HTTPClient: &http.Client{Transport: c}})
	require.Error(t, err)
	require.Equal(t, http.StatusNotFound, answer.StatusCode)
}
