package alert

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/tidemark-trading/tidemark/bot/config"
)

// beatEvery is the time between two pings of a heartbeat.
const beatEvery = time.Minute

// Heartbeat pings a watchdog service in the form of healthchecks.io: /start when a run begins, the
// URL itself each minute, /fail with the reason when a run fails. The service tells a person when
// the pings stay away. The URL is a secret. On a nil Heartbeat its methods do nothing.
//
// Queue: only the latest ping. An older one says nothing more.
type Heartbeat struct {
	place Receiver // for its URL, its client and its errors
	last  time.Time
	pings chan ping // of size 1
}

// ping is one request to the service.
type ping struct{ path, body string }

// NewHeartbeat checks the heartbeat of a config. It is nil where the config has none.
func NewHeartbeat(c *config.AlertsSection, getenv func(string) string) (*Heartbeat, error) {
	path := []string{"alerts"}
	keys := config.Secrets{Getenv: getenv}
	words, err := keys.Read(path, "heartbeat", c.Heartbeat, c.HeartbeatFile, c.HeartbeatEnv)
	if err != nil || words == (config.Secret{}) {
		return nil, err
	}
	if err := checkURL(words.Text); err != nil {
		return nil, config.At(config.Join(path, "heartbeat"), err)
	}
	return &Heartbeat{place: Receiver{Name: "heartbeat", url: words.Text, pace: pace{answer: 10 * time.Second,
		first: time.Second, longest: 10 * time.Second, total: beatEvery / 2}}, pings: make(chan ping, 1)}, nil
}

// begin says that a run begins.
func (h *Heartbeat) begin() { h.put(ping{path: "start"}) }

// beat says that the loop has turned, if the last ping is a minute old. Only one goroutine may call
// it.
func (h *Heartbeat) beat(now time.Time) {
	if h == nil || now.Sub(h.last) < beatEvery {
		return
	}
	h.last = now
	h.put(ping{})
}

// fail says why a run has failed.
func (h *Heartbeat) fail(why string) { h.put(ping{path: "fail", body: why}) }

// put replaces the ping that waits. It never waits itself.
func (h *Heartbeat) put(next ping) {
	if h == nil {
		return
	}
	for {
		select {
		case h.pings <- next:
			return
		default:
		}
		select {
		case <-h.pings:
		default: // the worker has just taken it
		}
	}
}

// work sends the pings until end is closed and none waits, or ctx ends.
func (h *Heartbeat) work(ctx context.Context, end <-chan struct{}) {
	h.place.http = h.place.client()
	defer h.place.http.CloseIdleConnections()
	for ctx.Err() == nil {
		select {
		case next := <-h.pings:
			h.send(ctx, next)
			continue
		default:
		}
		select {
		case next := <-h.pings:
			h.send(ctx, next)
		case <-end:
			if len(h.pings) == 0 {
				return
			}
		case <-ctx.Done():
		}
	}
}

// send sends a ping, again after a failure that may pass.
func (h *Heartbeat) send(ctx context.Context, one ping) {
	p := &h.place
	err := p.pace.insist(ctx, func() error { return h.try(ctx, one) })
	if err != nil {
		p.log.Warn().Str("reason", p.scrub(err)).Msg("the watchdog service did not take a heartbeat")
	}
}

// try makes one attempt.
func (h *Heartbeat) try(ctx context.Context, one ping) error {
	address, err := url.Parse(h.place.url)
	if err != nil {
		return backoff.Permanent(err)
	}
	if one.path != "" {
		address = address.JoinPath(one.path)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), strings.NewReader(one.body))
	if err != nil {
		return backoff.Permanent(err)
	}
	request.Header.Set("Content-Type", "text/plain; charset=utf-8")
	return h.place.exchange(request)
}
