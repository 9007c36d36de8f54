package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

// Config says which bot a Server speaks for, and with whom.
type Config struct {
	Line
	Of  operator.Target
	Bot string // its name, at the head of a status
	Log zerolog.Logger
	Now func() time.Time // nil: time.Now
	// Pause waits, or returns the error of a context that ends before; nil: it waits by the
	// machine's clock.
	Pause func(ctx context.Context, wait time.Duration) error
}

// Server answers the messages of one Line, one after the other.
type Server struct {
	Config
	guests  guests
	seen    seen
	open    confirmations
	tooOld  map[string]time.Time // by chat: when it was last told so
	replies chan *Reply
}

const (
	// maxAge is the age at which a message is not carried out any more: it has waited while the
	// process or the network was down.
	maxAge = 2 * time.Minute
	// maxReplies bounds the replies that wait for the messenger. A full queue drops a new reply.
	maxReplies = 64
	// The waits after errors in a row: twice as long each time.
	firstWait, longestWait = time.Second, time.Minute
	// endTime is how long a messenger may take to return once the server is to end.
	endTime = 2 * time.Second
	// maxTries bounds the attempts to send a reply: the waits between them add up to ten minutes.
	maxTries = 15
	// defaultConfirm is the time for a confirmation where Line has none.
	defaultConfirm = time.Minute
)

// New returns a server.
func New(c Config) *Server {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Pause == nil {
		c.Pause = pause
	}
	c.Confirm = cmp.Or(c.Confirm, defaultConfirm)
	s := &Server{Config: c, tooOld: map[string]time.Time{}, replies: make(chan *Reply, maxReplies)}
	s.guests.line = &s.Line
	return s
}

// pause waits by the machine's clock.
func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Serve answers messages until ctx ends, or until the messenger has no more of them. Errors and
// panics of the messenger are logged; the server goes on after a pause. A messenger that does not
// return soon after the end of ctx is left behind.
func (s *Server) Serve(ctx context.Context) {
	over := make(chan struct{}, 2)
	var loops sync.WaitGroup
	loops.Go(func() { s.sendReplies(ctx); over <- struct{}{} })
	loops.Go(func() { s.receive(ctx); close(s.replies); over <- struct{}{} })
	for range cap(over) {
		select {
		case <-over:
			continue
		case <-ctx.Done():
		}
		select {
		case <-over:
		case <-time.After(endTime):
			s.Log.Warn().Str("line", s.Name).Msg("chat: the messenger does not end; it is left behind")
			return
		}
	}
}

// receive takes messages until ctx ends or none will come.
func (s *Server) receive(ctx context.Context) {
	failed := failures{server: s, doing: "receive messages"}
	for ctx.Err() == nil {
		m, err := s.next(ctx)
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			failed.over()
			err = guarded(func() error { s.take(ctx, &m); return nil })
			if err != nil {
				s.Log.Error().Err(err).Msg("chat: a message was given up")
			}
			continue
		}
		if failed.wait(ctx, err) != nil {
			return
		}
	}
}

func (s *Server) next(ctx context.Context) (m Message, err error) {
	err = guarded(func() (err error) {
		m, err = s.Messenger.Receive(ctx)
		return err
	})
	return m, err
}

// sendReplies sends the queued replies until the queue is closed and empty, or ctx ends.
func (s *Server) sendReplies(ctx context.Context) {
	for reply := range s.replies {
		failed := failures{server: s, doing: "send a reply"}
		for tries := 1; ctx.Err() == nil; tries++ {
			err := guarded(func() error { return s.Messenger.Send(ctx, reply) })
			if err == nil {
				break
			}
			if errors.Is(err, ErrRefused) || tries == maxTries {
				s.Log.Warn().Str("line", s.Name).Err(err).Msg("chat: a reply was not sent")
				break
			}
			if failed.wait(ctx, err) != nil {
				break
			}
		}
	}
}

// reply queues a reply. It never waits for the messenger.
func (s *Server) reply(r *Reply) {
	select {
	case s.replies <- r:
	default:
		s.Log.Warn().Str("line", s.Name).Msg("chat: a reply was dropped: too many wait for the messenger")
	}
}

// guarded calls f. A panic becomes an error, with its place.
func guarded(f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return f()
}

// failures are the errors in a row of one thing that the server does.
type failures struct {
	server *Server
	doing  string
	last   string
	waited time.Duration
}

// wait logs an error, unless it is the one before, and waits.
func (f *failures) wait(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.waited = min(max(2*f.waited, firstWait), longestWait)
	wait := f.waited
	var busy *BusyError
	if errors.As(err, &busy) {
		wait = max(busy.After, firstWait)
	}
	if text := err.Error(); text != f.last {
		f.last = text
		f.server.Log.Warn().Str("line", f.server.Name).Str("reason", text).Dur("again_in", wait).
			Msg("chat: cannot " + f.doing)
	}
	return f.server.Pause(ctx, wait)
}

// over ends the row of errors.
func (f *failures) over() {
	if f.waited > 0 {
		f.server.Log.Info().Str("line", f.server.Name).Msg("chat: the messenger answers again")
	}
	f.last, f.waited = "", 0
}

// Length is the length of a text as messengers count it: in units of UTF-16.
func Length(text string) (units int) {
	for _, r := range text {
		units += utf16.RuneLen(r)
	}
	return units
}

// Clip makes a text valid and cuts it to at most limit units of UTF-16, at the end of a line where
// one is near. The last line counts what is left out.
func Clip(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if Length(text) <= limit {
		return text
	}
	const note = "\n… and %d more characters"
	room := limit - len(fmt.Sprintf(note, utf8.RuneCountInString(text))) // a unit has at least a byte
	end, units := 0, 0
	for at, r := range text {
		if units += utf16.RuneLen(r); units > room {
			end = at
			break
		}
	}
	if line := strings.LastIndexByte(text[:end], '\n'); line > end/2 {
		end = line
	}
	return text[:end] + fmt.Sprintf(note, utf8.RuneCountInString(text[end:]))
}
