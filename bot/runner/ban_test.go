package runner

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// warden is a transport before an exchange that bans the bot, or says so. Its lock guards it.
type warden struct {
	next http.RoundTripper
	mu   sync.Mutex
	as   string         // how it keeps the bot away; "": it does not
	ends map[string]int // by order: cancels that came
}

// How a warden keeps the bot away.
const (
	byReset = "reset" // the points of the minute are spent and come back in years
	byBan   = "ban"   // 429 to everything, until a date in years
)

func (w *warden) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	as := w.as
	if r.Method == http.MethodDelete {
		w.ends[r.URL.Query().Get("clientOrderId")]++
	}
	w.mu.Unlock()
	if as == byBan && r.Header.Get("Service-Access-Key") != "" {
		return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{}, Request: r,
			Body: io.NopCloser(strings.NewReader(
				`{"errorCode":105,"error":"Your IP or API key has been banned for not respecting the rate limit. The ban expires at 1898640000000."}`))}, nil
	}
	a, err := w.next.RoundTrip(r)
	if err == nil && as == byReset {
		a.Header.Set("Service-Ratelimit-Remaining", "0")
		a.Header.Set("Service-Ratelimit-Resetat", "1898640000000")
	}
	return a, err
}

// becomes changes how the bot is kept away, and forgets the cancels so far.
func (w *warden) becomes(as string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.as, w.ends = as, map[string]int{}
}

// tried is how often the cancel of each order came.
func (w *warden) tried() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ends
}

// An exchange says that the budget comes back, or that a ban ends, in years. The stop tries each
// cancel all the same, and ends in time.
func TestAStopTriesItsCancelsOnceInSpiteOfABan(t *testing.T) {
	for _, as := range []string{byReset, byBan} {
		t.Run(as, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, 1, nil)
				s.traffic.gauge = gauge{exits: map[string]bool{}, told: newTold()}
				s.config, s.kinds = strings.NewReplacer(`kind = "restless"`, `kind = "ladder"`, "params.seed = 1\n", "",
					`stop_within = "20m"`, `stop_within = "75s"`).Replace(s.config), append(s.kinds, ladderKind)
				w := &warden{ends: map[string]int{}}
				s.wrap = func(next http.RoundTripper) http.RoundTripper {
					w.next = next
					return w
				}
				p := s.start()
				time.Sleep(time.Minute)
				open := s.OpenAtTheExchange()
				require.Len(t, open, 4)
				w.becomes(as)
				time.Sleep(30 * time.Second) // now the bot knows
				began := time.Now()
				failed := p.end()
				require.Less(t, time.Since(began), 80*time.Second, "stop_within")
				for i := range open {
					name := open[i].Order.ClientOrderID.String()
					require.Positive(t, w.tried()[name], "the cancel of each order is tried")
					if as == byBan {
						require.Equal(t, 1, w.tried()[name], "once: more of them would only lengthen the ban")
						require.ErrorContains(t, failed, name)
					}
				}
				if as == byReset {
					require.ErrorContains(t, failed, "no list of the exchange has confirmed it")
					s.onlyExits(p)
				}
				require.Contains(t, s.log.String(), "2030-03-02 00:00:00 UTC, which is not believed")
			})
		})
	}
}
