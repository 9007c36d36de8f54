package host

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"
)

// ServeUntil serves on a listener until ctx ends, over TLS where the server has a TLSConfig. Then
// the answers under way get so much time.
func ServeUntil(ctx context.Context, server *http.Server, on net.Listener, within time.Duration) (err error) {
	over := make(chan struct{})
	unregister := context.AfterFunc(ctx, func() {
		defer close(over)
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
		defer cancel()
		if server.Shutdown(ending) != nil {
			_ = server.Close()
		}
	})
	if server.TLSConfig != nil {
		err = server.ServeTLS(on, "", "")
	} else {
		err = server.Serve(on)
	}
	if !unregister() {
		<-over // the answers under way
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
	}
	return err
}

// QuietLog writes what a server says about connections, as failed handshakes, at level debug:
// strangers could fill a log with it.
type QuietLog struct{ Log zerolog.Logger }

// Write writes a line.
func (q QuietLog) Write(line []byte) (int, error) {
	q.Log.Debug().Msg(strings.TrimSpace(string(line)))
	return len(line), nil
}
