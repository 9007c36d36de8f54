package door

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/state/signals"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The secrets of the tests. The key is of the bytes 1 to 32.
const (
	madePath = "b2f9c0d4e7a1835f6e0d9c8b7a6f5e4d"
	madeKey  = "whsec_AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="
)

// madeNow is the time of the tests.
var madeNow = time.Unix(1_709_294_400, 0)

// ear hears signals as a bot does: an id or a body counts once.
type ear struct {
	mu    sync.Mutex
	heard []signals.Arrival
	known map[string]int64
	calls int
	err   error         // of each call
	hold  chan struct{} // a call waits for it, or for the end of its context
}

// Hear is of signals.Ear.
func (e *ear) Hear(ctx context.Context, a signals.Arrival) (signals.Heard, error) {
	if e.hold != nil {
		select {
		case <-e.hold:
		case <-ctx.Done():
			return signals.Heard{}, ctx.Err()
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := cmp.Or(e.err, ctx.Err()); err != nil {
		return signals.Heard{}, err
	}
	e.calls++
	key := a.ID
	if key == "" {
		key = fmt.Sprint(a.Hash)
	}
	if first, is := e.known[key]; is {
		return signals.Heard{Number: first, Again: true}, nil
	}
	e.heard = append(e.heard, a)
	number := int64(len(e.heard))
	if e.known == nil {
		e.known = map[string]int64{}
	}
	e.known[key] = number
	return signals.Heard{Number: number, Refused: a.Wrong}, nil
}

// all are the signals that were heard, in words.
func (e *ear) all() (words []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.heard {
		text := a.Market
		if a.Signal.Action != 0 {
			text += " " + a.Signal.Action.String()
		}
		if a.Signal.Stance != 0 {
			text += " " + a.Signal.Stance.String()
		}
		if a.Signal.HasValue {
			text += fmt.Sprint(" ", a.Signal.Value)
		}
		if a.Wrong != "" {
			text = "wrong: " + a.Wrong
		}
		words = append(words, strings.TrimSpace(text))
	}
	return words
}

// made is a door with two sources: tv has a path, model signs.
type made struct {
	*testing.T
	*Server
	ear *ear
	log *lockedBuffer
	now time.Time
}

func makeDoor(t *testing.T, change func(*Config)) *made {
	m := &made{T: t, ear: &ear{}, log: &lockedBuffer{}, now: madeNow}
	key, err := ParseKey(madeKey)
	require.NoError(t, err)
	c := Config{Ear: m.ear, Now: func() time.Time { return m.now }, Log: zerolog.New(m.log), Sources: []Source{
		{Name: "tv", Secret: host.Fixed(Secret{Path: madePath}), Sender: signals.NewSender("tv", signals.Options{})},
		{Name: "model", Secret: host.Fixed(Secret{Key: key}), Sender: signals.NewSender("model", signals.Options{})}}}
	if change != nil {
		change(&c)
	}
	m.Server = New(c)
	t.Cleanup(func() {
		for _, secret := range []string{madePath, madeKey, strings.TrimPrefix(madeKey, keyPrefix)} {
			require.NotContains(t, m.log.String(), secret)
		}
	})
	return m
}

// lockedBuffer is a buffer of several goroutines.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write is of io.Writer.
func (b *lockedBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

// String is what was written.
func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// post sends a body from an address.
func (m *made) post(path, body string, change ...func(*http.Request)) (status int, answer string, head http.Header) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.RemoteAddr = "192.0.2.7:4711"
	for _, one := range change {
		one(r)
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String()), w.Header()
}

// from makes a request come from an address.
func from(address string) func(*http.Request) {
	return func(r *http.Request) { r.RemoteAddr = address + ":4711" }
}

// signed adds the headers of Standard Webhooks.
func signed(id, stamp, signatures string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("webhook-id", id)
		r.Header.Set("webhook-timestamp", stamp)
		r.Header.Set("webhook-signature", signatures)
	}
}
