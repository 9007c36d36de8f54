package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/wire"
)

// session is one socket from its opening to its end.
type session struct {
	*Connection
	on            *websocket.Conn
	ctx           context.Context // until its end
	end           func(error)     // ends it, with the reason
	authenticated atomic.Bool
	signingIn     atomic.Int64 // requestId of authenticate

	mu      sync.Mutex // guards everything below
	last    int64      // requestId
	gone    error      // why no message may be sent any more; nil: one may
	waiting map[int64]func(reply []byte, err error)
}

// run opens the channels and reads until the connection ends; the error says why.
func (s *session) run() error {
	var beside sync.WaitGroup
	defer beside.Wait()
	stop := context.AfterFunc(s.ctx, func() { s.on.CloseNow() })
	defer stop()
	defer s.on.CloseNow()
	beside.Go(s.ping)
	beside.Go(s.open)
	beside.Go(s.listen)
	err := s.read()
	s.end(err) // the first reason counts
	return context.Cause(s.ctx)
}

// read reads frames until the connection ends.
func (s *session) read() error {
	var buffer bytes.Buffer
	for {
		_, from, err := s.on.Reader(context.Background()) // a context of its own would cost each frame a watch
		if err != nil {
			return err
		}
		buffer.Reset()
		if _, err := buffer.ReadFrom(from); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		s.messages.Add(1)
		if err := s.take(buffer.Bytes()); err != nil {
			return err
		}
	}
}

// ping pings the exchange. Two pongs in a row that do not come end the connection.
func (s *session) ping() {
	for missed := 0; missed < missedPongs; missed++ {
		if missed == 0 && !s.wait(s.config.PingEvery) {
			return
		}
		ctx, cancel := context.WithTimeout(s.ctx, s.config.PingEvery)
		if s.on.Ping(ctx) == nil {
			missed = -1
		}
		cancel()
	}
	s.end(fmt.Errorf("%d pings have no pong", missedPongs))
}

// wait waits, and reports whether the connection goes on.
func (s *session) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.ctx.Done():
		return false
	}
}

// listen tells channels of a silence that is not usual, and logs what the exchange has refused.
func (s *session) listen() {
	for s.wait(time.Second) {
		s.unasked.due(&s.config.Log)
		for _, ch := range s.channels {
			if !ch.open.Load() || ch.Silent == nil {
				continue
			}
			if silent, _ := ch.Age(); silent >= ch.pace.unusualAfter() {
				ch.pace.told(silent)
				ch.Silent(silent)
			}
		}
	}
}

// open subscribes to the public channels, authenticates, and subscribes to the private ones. What
// is refused is tried again after a while, and holds up nothing else.
func (s *session) open() {
	var trying sync.WaitGroup
	defer trying.Wait()
	subscribe := func(private bool) {
		for _, ch := range s.channels {
			if ch.Private == private {
				trying.Go(func() { s.persist("subscribe to "+ch.Name, func() error { return s.subscribe(ch) }) })
			}
		}
	}
	subscribe(false)
	if !s.config.Key.IsZero() && s.persist("authenticate", s.signIn) {
		s.authenticated.Store(true)
		subscribe(true)
	}
}

// persist calls try until it succeeds, and reports false where the connection ended before. No
// answer ends the connection: it may be silent for good.
func (s *session) persist(what string, try func() error) bool {
	for {
		err := try()
		switch {
		case err == nil:
			return true
		case s.ctx.Err() != nil:
			return false
		case errors.Is(err, context.DeadlineExceeded):
			s.end(fmt.Errorf("%s: %w", what, err))
			return false
		}
		s.config.Log.Error().Err(err).Msg("the exchange refused on the stream to " + what + "; it is tried again")
		if !s.wait(longestPause) {
			return false
		}
	}
}

// subscribe subscribes to a channel. It returns after the acknowledgement.
func (s *session) subscribe(ch *Channel) error {
	m := Message{Action: "subscribe", Members: ch.subscription(), Lane: rest.Reconcile, Weight: 1}
	ctx, cancel := context.WithTimeout(s.ctx, answerWithin)
	defer cancel()
	_, err := s.exchange(ctx, &m, func(err error) {
		if err == nil {
			ch.begin()
		}
	})
	return err
}

// signIn authenticates. After code 304 it does so once more, with the exchange's clock measured
// anew.
func (s *session) signIn() error {
	err := s.authenticate()
	var refused *exchange.Error
	if s.config.Sync == nil || !errors.As(err, &refused) || refused.Code != exchange.CodeOutOfWindow {
		return err
	}
	if failed := s.config.Sync(s.ctx); failed != nil {
		return err
	}
	return s.authenticate()
}

// authenticate signs a message with the exchange's time (websocket-facts 3).
func (s *session) authenticate() error {
	now := s.config.Now().Millis()
	signer := rest.NewSigner(s.config.Secret)
	signature := string(signer.AppendSignature(nil, now, http.MethodGet, "/v2/websocket", nil))
	w := wire.Writer{Dst: []byte{'{'}}
	w.Text("key", s.config.Key.Reveal())
	w.Text("signature", signature)
	w.Integer("timestamp", now)
	w.Integer("window", int64(s.config.Window/time.Millisecond))
	w.Close('}')
	ctx, cancel := context.WithTimeout(s.ctx, answerWithin)
	defer cancel()
	_, err := s.ask(ctx, &Message{Action: actionAuthenticate, Members: w.Dst, Lane: rest.Reconcile, Weight: 1})
	if err != nil {
		err = rest.NewScrubber(s.config.Key.Reveal(), s.config.Secret.Reveal(), signature).Error(err)
	}
	return err
}

// ask sends a message and waits for its reply.
func (s *session) ask(ctx context.Context, m *Message) ([]byte, error) {
	return s.exchange(ctx, m, nil)
}

// exchange is ask; the reading goroutine calls taken with the reply before it reads on.
func (s *session) exchange(ctx context.Context, m *Message, taken func(error)) (response []byte, err error) {
	if m.Private && !s.authenticated.Load() {
		return nil, fmt.Errorf("%w: %w", exchange.ErrNotSent, ErrClosed)
	}
	done, err := s.pay(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", exchange.ErrNotSent, err)
	}
	defer func() { done(banOf(err)) }()
	type reply struct {
		response []byte
		err      error
	}
	replied := make(chan reply, 1)
	id, err := s.expect(func(response []byte, err error) {
		if taken != nil {
			taken(err)
		}
		replied <- reply{bytes.Clone(response), err}
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", exchange.ErrNotSent, err)
	}
	if m.Action == actionAuthenticate {
		s.signingIn.Store(id)
	}
	if err := s.on.Write(ctx, websocket.MessageText, frameOf(m, id)); err != nil {
		s.end(err)
	}
	select {
	case r := <-replied:
		return r.response, r.err
	case <-ctx.Done():
		s.forget(id)
		return nil, context.Cause(ctx)
	}
}

// pay asks the budget.
func (s *session) pay(ctx context.Context, m *Message) (done func(http.Header, int, []byte), err error) {
	if m.Lane == 0 || s.config.Budget == nil {
		return func(http.Header, int, []byte) {}, nil
	}
	payer := rest.PaidByIP
	if s.authenticated.Load() {
		payer = rest.PaidByKey
	}
	return s.config.Budget.Begin(ctx, m.Lane, "", m.Weight, payer)
}

// banOf is what the budget learns of an error: that of a ban, or nothing.
func banOf(err error) (http.Header, int, []byte) {
	var refusal *exchange.Error
	if !errors.As(err, &refusal) || refusal.Code != exchange.CodeBanned {
		return nil, 0, nil
	}
	return http.Header{}, http.StatusTooManyRequests, exchange.AppendError(nil, refusal)
}

// frameOf is a message with its requestId.
func frameOf(m *Message, id int64) []byte {
	w := wire.Writer{Dst: make([]byte, 0, 64+len(m.Members))}
	w.Open('{')
	w.Text("action", m.Action)
	w.Integer("requestId", id)
	if len(m.Members) > 2 {
		w.Dst = append(append(w.Dst, ','), m.Members[1:]...)
	} else {
		w.Close('}')
	}
	return w.Dst
}

// expect notes a function for the reply to the next message, whose requestId it returns.
func (s *session) expect(taken func([]byte, error)) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil && s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx) // it is about to end
	}
	if s.gone != nil {
		return 0, s.gone
	}
	s.last++
	s.waiting[s.last] = taken
	return s.last, nil
}

// forget drops the function of a message. It returns nil where there is none.
func (s *session) forget(id int64) func([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.waiting[id]
	delete(s.waiting, id)
	return taken
}

// abandon answers all messages without a reply.
func (s *session) abandon(reason error) {
	s.mu.Lock()
	s.gone = reason
	waiting := s.waiting
	s.waiting = nil
	s.mu.Unlock()
	for _, taken := range waiting {
		taken(nil, reason)
	}
}

// take takes a frame to its place. An error ends the connection.
func (s *session) take(frame []byte) error {
	h, err := readHead(frame)
	if err != nil {
		return fmt.Errorf("a frame of %d bytes that is not the exchange's: %w", len(frame), err)
	}
	if name := channelOf(h.event); name != "" {
		for _, ch := range s.channels {
			if ch.Name != name {
				continue
			}
			if err := ch.take(frame); err != nil {
				return fmt.Errorf("an event of channel %s: %w", name, err)
			}
		}
		return nil
	}
	if h.id == 0 && h.signsIn { // of this one message it is not certain that the reply has its requestId
		h.id = s.signingIn.Load()
	}
	taken := s.forget(h.id)
	switch {
	case taken == nil && h.refusal != nil:
		s.unasked.note(&s.config.Log, h.refusal)
	case taken == nil:
	case h.refusal != nil:
		taken(nil, h.refusal)
	default:
		taken(h.response, nil)
	}
	return nil
}
