package bot

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// kill ends a bot once its holdings name its two orders as the exchange has confirmed them.
func (p *switchPlay) kill(bot *exec.Cmd) *killswitch.Holdings {
	var h *killswitch.Holdings
	bottest.Await(p.T, func() (named bool) {
		h, _ = killswitch.ReadHoldings(p.Folder)
		return h != nil && len(h.Orders) == 2 && h.Orders[0].Order != uuid.Nil && h.Orders[1].Order != uuid.Nil
	}, "both orders are in the holdings", bot.Stderr)
	require.NoError(p.T, bot.Process.Kill())
	_ = bot.Wait()
	return h
}

// The exchange lists no order, and has two that it had confirmed: the switch asks for each.
func TestTheKillSwitchAsksForAConfirmedOrderThatAListLacks(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	p := newSwitchPlay(t, "holder", "30s", "")
	p.kill(p.begin())
	p.cancelsBoth(func() bool { return true })
}

// cancelsBoth lets the switch cancel two orders, while the exchange lists none as long as hides
// says so.
func (p *switchPlay) cancelsBoth(hides func() bool) {
	front := func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
		if !strings.HasSuffix(r.URL.Path, "/ordersOpen") || !hides() {
			serve(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("[]"))
	}
	p.front.Store(&front)
	code, out := p.turn("", "")
	p.front.Store(nil)
	require.Zero(p.T, code, out)
	require.Contains(p.T, out, "2 orders cancelled")
	require.Empty(p.T, p.openOrders())
}

// The exchange lists no order before the end of the last write's window. The switch believes only a
// list that it asked for later: also where the answer to an earlier list comes after that end.
func TestTheKillSwitchBelievesNoListThatIsLate(t *testing.T) {
	bottest.Unraced(t)
	for name, slow := range map[string]bool{"the list is empty": false, "its answer is late too": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newSwitchPlay(t, "holder", "30s", "")
			h := p.kill(p.begin())
			h.Orders = nil // what the switch knows of them is their run
			require.NoError(t, h.Write(p.Folder))
			file, window := filepath.Join(p.Folder, statedir.StateFile), time.Second+time.Duration(killswitch.Margin)
			first := sync.OnceValue(func() time.Time { // of the switch's lists; the bot's last write was then
				now := time.Now()
				require.NoError(t, os.Chtimes(file, now, now))
				return now
			})
			p.cancelsBoth(func() bool {
				hides := time.Since(first()) <= window
				if hides && slow {
					time.Sleep(time.Until(first().Add(window + time.Second/2)))
				}
				return hides
			})
		})
	}
}
