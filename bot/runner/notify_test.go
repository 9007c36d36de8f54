package runner

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// tardy is a context that has ended and has not yet called those who wait for that: a run may be
// over before it does.
type tardy struct{ context.Context }

func (tardy) AfterFunc(func()) (stop func() bool) { return func() bool { return true } }

func TestSystemdIsToldOfAStopThatIsFasterThanItsNews(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "notify")
	ear, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	require.NoError(t, err)
	defer ear.Close()
	ended, end := context.WithCancel(t.Context())
	end()
	w := &watch{r: &runner{books: books{plan: &plan.Live{Access: plan.Access{Config: &config.Run{}}}}},
		notify: &notifier{socket: socket}}
	w.onStop(tardy{ended})
	w.awaitNotify()
	require.NoError(t, ear.SetReadDeadline(time.Now().Add(bottest.Patience)))
	buffer := make([]byte, 256)
	n, err := ear.Read(buffer)
	require.NoError(t, err)
	require.Equal(t, "STOPPING=1\nEXTEND_TIMEOUT_USEC=15000000", string(buffer[:n]))
}
