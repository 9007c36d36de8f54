package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// The durations of a connection by default.
const (
	pingEvery    = 15 * time.Second
	missedPongs  = 2
	dialWithin   = 10 * time.Second
	answerWithin = 10 * time.Second
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
	banPause     = time.Minute     // after a handshake that was refused with a ban
	steady       = 1 * time.Minute // a connection that lasts so long begins the pauses anew
)

// maxFrame is the longest frame that is read, in bytes.
const maxFrame = 16 << 20

// Config configures a Connection. The zero value of a field stands for the default that its comment
// names.
type Config struct {
	// BaseURL is that of the REST API: the socket has the same origin.
	BaseURL string
	Key     rest.Secret // none: public channels and actions only
	Secret  rest.Secret // of Key
	Window  market.Duration
	Now     func() market.Time // the exchange's time
	// Sync measures the exchange's time anew, where it refused the time of a message (code 304);
	// nil: nothing does.
	Sync func(context.Context) error
	// Budget is asked before each message; nil: none. Replies do not name the points that are left.
	Budget    rest.Budget
	Transport http.RoundTripper // of the handshake; nil: one of its own
	Log       zerolog.Logger

	PingEvery market.Duration // 15 s; two pongs that do not come within it end a connection
}

// Connection is a WebSocket that is opened again whenever it ends: authenticated where there is a
// key, with a subscription to each registered channel. It is safe for concurrent use.
type Connection struct {
	config   Config
	url      string
	channels []*Channel
	client   *http.Client
	unasked  unasked

	mu      sync.Mutex // guards everything below
	session *session   // nil: there is no connection now

	connections, messages atomic.Int64
}

// New returns a connection that is not open yet. An error names the wrong setting.
func New(config Config) (*Connection, error) {
	origin, err := rest.Origin(config.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("stream: %w", err)
	}
	config.PingEvery = cmp.Or(config.PingEvery, pingEvery)
	config.Window = cmp.Or(config.Window, 10*time.Second)
	if config.Transport == nil {
		config.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: dialWithin}
	}
	refuseRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Connection{config: config, url: origin + "/v2/",
		client: &http.Client{Transport: config.Transport, CheckRedirect: refuseRedirect}}, nil
}

// Subscribe registers a channel, which has its figures. Call it before Run.
func (c *Connection) Subscribe(ch *Channel) {
	ch.born = time.Now()
	ch.pace.quiet = cmp.Or(ch.Quiet, defaultQuiet)
	c.channels = append(c.channels, ch)
}

// Channels are the registered channels.
func (c *Connection) Channels() []*Channel { return c.channels }

// Connected reports whether the socket is open.
func (c *Connection) Connected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session != nil
}

// Connections is how many times a socket was opened.
func (c *Connection) Connections() int64 { return c.connections.Load() }

// Messages is how many frames have been read.
func (c *Connection) Messages() int64 { return c.messages.Load() }

// Reset ends the present socket, because of a reason for the log; Run opens the next one. Any
// goroutine may call it, a handler of a channel too.
func (c *Connection) Reset(reason error) {
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	if s != nil {
		s.end(reason)
	}
}

// Run keeps the connection open until ctx ends.
func (c *Connection) Run(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		began := time.Now()
		err := c.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) >= steady {
			pause = firstPause
		}
		wait := pause/2 + rand.N(pause/2+1)
		pause = min(2*pause, longestPause)
		if refused := (*refusedError)(nil); errors.As(err, &refused) {
			wait += refused.wait
		}
		c.config.Log.Warn().Err(err).Stringer("again_in", wait.Round(time.Millisecond)).
			Msg("the stream from the exchange has ended")
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// refusedError is the refusal of a handshake, with the time to wait: that of a ban, which the
// exchange's code 105 names, or a Retry-After.
type refusedError struct {
	error
	wait time.Duration
}

func (e *refusedError) Unwrap() error { return e.error }

// refused is the refusal that an answer to a handshake is.
func refused(answer *http.Response, err error) error {
	body, _ := io.ReadAll(io.LimitReader(answer.Body, 1024)) // as much as there is
	if said := exchange.ParseError(answer.StatusCode, body); said.Code == exchange.CodeBanned {
		return &refusedError{fmt.Errorf("too many handshakes: %w: %w", said, err), banPause}
	}
	after, _ := rest.RetryAfter(answer.Header)
	return &refusedError{err, after}
}

// once opens a socket and reads it to its end.
func (c *Connection) once(ctx context.Context) error {
	on, err := c.dial(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s := &session{Connection: c, on: on, ctx: ctx, end: cancel, waiting: map[int64]func([]byte, error){}}
	c.enter(s)
	c.config.Log.Info().Str("url", c.url).Msg("the stream from the exchange is open")
	err = s.run()
	c.enter(nil)
	s.abandon(fmt.Errorf("%w: %w", ErrBroken, err))
	for _, ch := range c.channels {
		ch.close()
	}
	return err
}

// Check opens a socket of its own, authenticates it where there is a key, and closes it.
func (c *Connection) Check(ctx context.Context) error {
	on, err := c.dial(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s := &session{Connection: c, on: on, ctx: ctx, end: cancel, waiting: map[int64]func([]byte, error){}}
	var reading sync.WaitGroup
	reading.Go(func() { s.abandon(fmt.Errorf("%w: %w", ErrBroken, s.read())) })
	defer reading.Wait()
	defer on.CloseNow()
	defer cancel(nil)
	if c.config.Key.IsZero() {
		return nil
	}
	return s.signIn()
}

// enter notes the present session; nil: there is none.
func (c *Connection) enter(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session = s; s != nil {
		c.connections.Add(1)
	}
}

// dial opens a socket.
func (c *Connection) dial(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	on, answer, err := websocket.Dial(ctx, c.url, &websocket.DialOptions{HTTPClient: c.client})
	switch {
	case err != nil && answer != nil && answer.StatusCode >= http.StatusBadRequest && answer.Body != nil:
		return nil, fmt.Errorf("open %s: %w", c.url, refused(answer, err))
	case err != nil:
		return nil, fmt.Errorf("open %s: %w", c.url, err)
	}
	on.SetReadLimit(maxFrame)
	return on, nil
}

// Message is a request over the socket (websocket-facts 2 and 8).
type Message struct {
	Action  string
	Members []byte // its parameters, a JSON object; nil: none
	Private bool   // it needs a connection that is authenticated
	// Lane, Endpoint and Weight are for Config.Budget; Lane 0: it is not asked.
	Lane     rest.Lane
	Endpoint string // the twin over REST: "POST /order"
	Weight   int
}

// Ask sends a message and returns its reply: the member response, which the caller may keep. An
// error wraps
//
//   - exchange.ErrNotSent: the message certainly did not leave this process.
//   - exchange.Error: the exchange refused it. Status is the one that REST answers.
//   - ErrBroken: the connection ended before the reply.
//   - context.Cause(ctx): ctx ended before the reply.
//
// After the last two the outcome is unknown.
func (c *Connection) Ask(ctx context.Context, m *Message) ([]byte, error) {
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	if s == nil {
		return nil, fmt.Errorf("%s: %w: %w", m.Action, exchange.ErrNotSent, ErrClosed)
	}
	frame, err := s.ask(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Action, err)
	}
	return frame, nil
}

// Authenticated reports whether the socket is open and may carry private messages.
func (c *Connection) Authenticated() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session != nil && c.session.authenticated.Load()
}
