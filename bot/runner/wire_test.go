package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// traffic is everything that has come to the exchange, over all lives of the bot.
type traffic struct {
	t        *testing.T
	ex       *sandbox.Exchange
	handlers sync.WaitGroup

	mu     sync.Mutex
	writes map[string]bool        // what was sent: method, path, body and timestamp
	placed map[string]bool        // clientOrderIds that were
	count  int                    // of writes
	down   bool                   // nothing comes through
	barred bool                   // the exchange does not know the bot's key any more
	shut   func(path string) bool // what the bot asks for and does not get; nil: nothing
	gauge
	sockets sockets
	// hook is called for each write that is about to reach the exchange (before), and for each that
	// has (not before).
	hook func(r *http.Request, before bool)
}

func newTraffic(t *testing.T, ex *sandbox.Exchange, seed uint64) *traffic {
	return &traffic{t: t, ex: ex, writes: map[string]bool{}, placed: map[string]bool{},
		sockets: sockets{open: map[*bottest.Cable]*wire{}, chance: rand.New(rand.NewPCG(seed, 22))},
		gauge:   gauge{limits: stageLimits, exits: map[string]bool{}, told: newTold()}}
}

// wire is the transport of one life of the bot: a RoundTripper over the exchange's handler.
type wire struct {
	*traffic
	quiet bool // not the bot's
	life  sync.Mutex
	dead  bool
	store *journal.Store
}

// trip is how long a request of the bot is on its way.
const trip = 15 * time.Millisecond

var errWire = errors.New("read tcp 192.0.2.1:443: connection reset by peer")

// watch lets every write be looked up in the state file before it goes out.
func (w *wire) watch(store *journal.Store) {
	w.life.Lock()
	defer w.life.Unlock()
	w.store = store
}

// die ends the life; false where it has ended before.
func (w *wire) die() bool {
	w.life.Lock()
	defer w.life.Unlock()
	was := w.dead
	w.dead = true
	if !was {
		w.sockets.cut(func(_ *bottest.Cable, of *wire) bool { return of == w })
		w.mu.Lock()
		defer w.mu.Unlock()
		w.told.end()
	}
	return !was
}

func (w *wire) alive() (*journal.Store, bool) {
	w.life.Lock()
	defer w.life.Unlock()
	return w.store, !w.dead
}

// RoundTrip lets the exchange answer. The request goes on when the client has gone.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body.Close()
	}
	store, alive := w.alive()
	if !alive || (w.isDown() || w.shut != nil && w.shut(r.URL.Path)) && !w.quiet {
		return nil, errWire
	}
	if bottest.IsHandshake(r) {
		return w.handshake(r)
	}
	isWrite := r.Method != http.MethodGet && r.URL.Path == "/v2/order" && !w.quiet
	var p *passage
	if isWrite {
		p = w.leave(r.Method, body)
		w.examine(r, body, store, p)
		w.call(r, true)
		if _, alive = w.alive(); !alive {
			return nil, errWire
		}
	}
	if isWrite && w.isBarred() {
		return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{},
				Body:    io.NopCloser(strings.NewReader(`{"errorCode":305,"error":"No active API key found."}`)),
				Request: r},
			nil
	}
	type outcome struct {
		answer *http.Response
		err    error
	}
	done := make(chan outcome, 1)
	w.handlers.Add(1)
	go func() {
		defer w.handlers.Done()
		if !w.quiet {
			time.Sleep(trip) // the way there; the way back costs nothing
		}
		answer, err := w.serve(r, body)
		if isWrite {
			w.carriedOut(p)
			w.call(r, false)
		} else if err == nil && !w.quiet {
			w.hearPrices(r.URL.Path, answer)
		}
		done <- outcome{answer, err}
	}()
	select {
	case o := <-done:
		if _, alive := w.alive(); !alive {
			return nil, errWire
		}
		if o.err == nil && !w.quiet {
			w.hearAnswer(r, o.answer)
		}
		return o.answer, o.err
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func (t *traffic) isDown() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.down
}

func (t *traffic) isBarred() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.barred
}

// bar lets the exchange forget the bot's key, or know it again.
func (t *traffic) bar(barred bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.barred = barred
}

// cut breaks the network, or mends it.
func (t *traffic) cut(down bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.down = down; down {
		t.sockets.cut(func(*bottest.Cable, *wire) bool { return true })
	}
}

func (t *traffic) call(r *http.Request, before bool) {
	t.mu.Lock()
	hook := t.hook
	t.mu.Unlock()
	if hook != nil {
		hook(r, before)
	}
}

// on sets the hook.
func (t *traffic) on(hook func(r *http.Request, before bool)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hook = hook
}

// served is an answer under way, as a connection would carry it.
type served struct {
	io.Reader
	broken bool // in the middle
}

func (s *served) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF && s.broken {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (s *served) Close() error { return nil }

// serve calls the handler. A handler that aborts has broken the connection.
func (t *traffic) serve(r *http.Request, body []byte) (answer *http.Response, err error) {
	// a copy: httptest.NewRequest parses, a twentieth of the work of all tests here
	request := r.Clone(context.Background())
	request.URL, request.RequestURI = &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery},
		r.URL.RequestURI()
	request.Host, request.RemoteAddr = "example.com", "192.0.2.1:1234"
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	recorder := httptest.NewRecorder()
	broken := false
	func() {
		defer func() {
			if p := recover(); p == http.ErrAbortHandler {
				broken = true
			} else if p != nil {
				panic(p)
			}
		}()
		t.ex.ServeHTTP(recorder, request)
	}()
	if broken && recorder.Body.Len() == 0 {
		return nil, errWire
	}
	answer = &http.Response{StatusCode: recorder.Code, Header: http.Header{}, Request: r,
		Body: &served{Reader: recorder.Body, broken: broken}}
	for name, values := range recorder.Header() {
		answer.Header[http.CanonicalHeaderKey(name)] = values // as over a connection
	}
	return answer, nil
}

// examine holds a write against what the bot must do: its intent is in the state file, to the byte,
// it was never sent before, and it is within the limits.
func (w *wire) examine(r *http.Request, body []byte, store *journal.Store, p *passage) {
	stamp := r.Header.Get("Service-Access-Timestamp")
	name := nameOf(r.URL, body)
	w.mu.Lock()
	w.count++
	identity := r.Method + " " + r.URL.RequestURI() + " " + string(body) + " " + stamp
	// the loop and the second Ctrl-C may cancel an order in one millisecond
	if w.writes[identity] && !switchedOff(store, name) {
		w.t.Errorf("sent twice: %s", identity)
	}
	w.writes[identity] = true
	if r.Method == http.MethodPost {
		if w.placed[name] {
			w.t.Errorf("placed twice: %s", identity)
		}
		w.placed[name] = true
	}
	w.sentWrite(p)
	w.mu.Unlock()
	if !intended(store, name, r, body, stamp) && !switchedOff(store, name) {
		if _, alive := w.alive(); alive {
			w.t.Errorf("%s left before its intent was in the state file", identity)
		}
	}
}

// switchedOff reports whether the log of the kill switch has a cancel of an order.
func switchedOff(store *journal.Store, name string) bool {
	lines, err := killswitch.Read(filepath.Join(filepath.Dir(store.Path()), killswitch.LogFile))
	return err == nil && slices.ContainsFunc(lines, func(l killswitch.Line) bool {
		return l.Kind == killswitch.KindCancel && l.Client.String() == name
	})
}

// nameOf is the clientOrderId of a write.
func nameOf(u *url.URL, body []byte) string {
	var w write
	if len(body) == 0 {
		return u.Query().Get("clientOrderId")
	}
	_ = json.Unmarshal(body, &w)
	return w.ClientOrderID
}

// intended reports whether the state file has the intent of a write.
func intended(store *journal.Store, name string, r *http.Request, body []byte, stamp string) bool {
	return intendedAs(store, name, func(i *journal.Intent) bool {
		return i.Method == r.Method && bytes.Equal(i.Body, body) && strconv.FormatInt(i.Timestamp, 10) == stamp
	})
}

// intendedAs reports whether the state file has such an intent for an order.
func intendedAs(store *journal.Store, name string, such func(*journal.Intent) bool) bool {
	id, err := uuid.Parse(name)
	if err != nil {
		return false
	}
	row, err := store.OrderByClientID(id)
	if err != nil {
		return false
	}
	found := errors.New("found")
	return errors.Is(store.EntriesBack(0, func(e *journal.Entry) error { // it is among the latest
		if intent := e.Record.(*journal.Intent); intent.Command.Order.ID == row.ID && such(intent) {
			return found
		}
		return nil
	}, journal.EntryIntent), found)
}

// commandOf is the command that a write stands for.
func commandOf(r *http.Request) market.CommandKind {
	switch r.Method {
	case http.MethodPost:
		return market.CommandPlace
	case http.MethodPut:
		return market.CommandUpdate
	}
	return market.CommandCancel
}
