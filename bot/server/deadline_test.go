package server

import (
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// noon is when the tests begin. Time passes by sweeps alone.
var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// connected returns the server's end of a connection, with its listener, and the client's.
func connected(t *testing.T) (*listener, *conn, net.Conn) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := newListener(inner)
	t.Cleanup(func() { l.Close() })
	l.sweep(noon)
	client, err := net.Dial("tcp", inner.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	c, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return l, c.(*conn), client
}

func TestAReadEndsWithTheSweepAfterItsDeadline(t *testing.T) {
	l, c, client := connected(t)
	require.NoError(t, c.SetReadDeadline(noon.Add(10*time.Second)))
	ended := make(chan error)
	read := func() { _, err := c.Read(make([]byte, 1)); ended <- err }
	go read()
	l.sweep(noon.Add(9 * time.Second))
	_, err := client.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, <-ended, "its time is not over")
	go read()
	l.sweep(noon.Add(10 * time.Second))
	require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
	go read()
	require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded, "and stays over")
	for _, later := range []time.Time{noon.Add(time.Minute), {}} {
		require.NoError(t, c.SetReadDeadline(later))
		go read()
		_, err = client.Write([]byte("x"))
		require.NoError(t, err)
		require.NoError(t, <-ended, "a later one counts from now on")
	}
}

func TestADeadlineInThePastEndsAReadAtOnce(t *testing.T) {
	_, c, client := connected(t)
	ended := make(chan error)
	read := func() { _, err := c.Read(make([]byte, 1)); ended <- err }
	for _, past := range []time.Time{longAgo(), noon.Add(-time.Second), noon} {
		require.NoError(t, c.SetReadDeadline(noon.Add(time.Hour)))
		go read()
		require.NoError(t, c.SetReadDeadline(past)) // as net/http ends the read that waits for a client to go
		require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
		require.NoError(t, c.SetReadDeadline(time.Time{}))
		go read()
		_, err := client.Write([]byte("x"))
		require.NoError(t, err)
		require.NoError(t, <-ended)
	}
}

func TestAWriteToAClientThatDoesNotReadEndsWithASweep(t *testing.T) {
	l, c, client := connected(t)
	require.NoError(t, c.SetDeadline(noon.Add(30*time.Second)))
	ended := make(chan error)
	go func() {
		for {
			if _, err := c.Write(make([]byte, 1<<20)); err != nil { // once the buffers of the system are full
				ended <- err
				return
			}
		}
	}()
	l.sweep(noon.Add(29 * time.Second))
	l.sweep(noon.Add(31 * time.Second))
	require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
	require.NoError(t, client.Close())
}

// TestTheServerOfAnExchangeCutsSlowClientsOff has a real http.Server on a swept listener: a client
// whose request does not arrive is cut off, and no connection is remembered for longer than it
// lasts.
func TestTheServerOfAnExchangeCutsSlowClientsOff(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := newListener(inner)
	taken := make(chan struct{})
	var connections sync.WaitGroup
	states := func(c net.Conn, state http.ConnState) {
		l.forget(c, state)
		switch state {
		case http.StateNew:
			connections.Add(1)
		case http.StateClosed, http.StateHijacked:
			connections.Done()
		}
	}
	server := &http.Server{ReadHeaderTimeout: time.Hour, ConnState: states,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/take" {
				c, _, err := http.NewResponseController(w).Hijack()
				require.NoError(t, err)
				require.NotNil(t, c.(interface{ NetConn() net.Conn }).NetConn().(*net.TCPConn))
				require.NoError(t, c.Close())
				close(taken)
			}
		})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	address := "http://" + inner.Addr().String()
	answer, err := http.Get(address)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	_, err = http.Post(address+"/take", "", nil)
	require.Error(t, err)
	<-taken
	slow, err := net.Dial("tcp", inner.Addr().String())
	require.NoError(t, err)
	_, err = slow.Write([]byte("GET / HTTP/1.1\r\nX-Slow: "))
	require.NoError(t, err)
	cut := make(chan struct{})
	go func() { _, _ = io.ReadAll(slow); close(cut) }() // the server hangs up, whatever it says before
	for over := false; !over; {                         // until the server waits for more, no time of its is over
		l.sweep(time.Now().Add(2 * time.Hour))
		select {
		case <-cut:
			over = true
		default:
			runtime.Gosched()
		}
	}
	http.DefaultClient.CloseIdleConnections()
	require.NoError(t, server.Shutdown(t.Context()))
	require.ErrorIs(t, <-served, http.ErrServerClosed)
	connections.Wait()
	require.Empty(t, l.open)
}
