package door

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/state/signals"
)

// The times of a connection. TradingView hangs up after three seconds.
const (
	readTime = 2 * time.Second
	idleTime = 30 * time.Second
	hearTime = 2500 * time.Millisecond // until an answer says that the bot does not
	endTime  = time.Second             // for the answers under way when the door ends
	maxHead  = 8 << 10
)

// The paths of signals: the second one is followed by a secret.
const (
	signedPath = "/signal"
	secretPath = "/signal/"
)

// Config says who may send signals, and who hears them.
type Config struct {
	Sources []Source
	Ear     signals.Ear
	Proxied bool           // a proxy that does TLS says in headers who asks
	Allow   []netip.Prefix // that may send; empty: all
	// Certificate is nil where the connections are plain: on the loopback, or behind a proxy.
	Certificate *host.Certificate
	Clients     *Clients         // nil: no certificates of senders
	Now         func() time.Time // of this machine; nil: time.Now
	Log         zerolog.Logger
}

// Source is a source of signals at the door.
type Source struct {
	Name   string
	Secret *host.Fresh[Secret]
	Sender *signals.Sender
}

// Secret proves who sends. It has a Path or a Key.
type Secret struct {
	Path string // the secret in the path
	Key  []byte // of signatures
}

// Clients are the certificates of senders that cannot sign.
type Clients struct {
	Roots   *x509.CertPool
	Subject string // common name or mail address of the sender's certificate; empty: any
}

// Server is the door over HTTP.
type Server struct {
	Config
	sources []*source
	tries   host.Tries
	open    connections
}

// source is a Source and how much it has sent.
type source struct {
	Source
	mu   sync.Mutex // Sender and rate belong to one goroutine at a time
	rate rate
}

// New returns a server.
func New(c Config) *Server {
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Server{Config: c, open: connections{held: map[net.Conn]*connection{}}}
	for _, one := range c.Sources {
		s.sources = append(s.sources, &source{Source: one})
	}
	return s
}

// Serve answers on a listener until ctx ends.
func (s *Server) Serve(ctx context.Context, on net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: readTime, ReadTimeout: readTime, WriteTimeout: 2 * hearTime,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHead, ConnState: s.open.state,
		ErrorLog: log.New(host.QuietLog{Log: s.Log}, "", 0), Protocols: &http.Protocols{}}
	server.Protocols.SetHTTP1(true)
	if s.Certificate != nil {
		if server.TLSConfig = s.Certificate.TLS(); s.Clients != nil {
			server.TLSConfig.ClientCAs, server.TLSConfig.ClientAuth = s.Clients.Roots, tls.VerifyClientCertIfGiven
		}
	}
	if err := host.ServeUntil(ctx, server, on, endTime); err != nil {
		return fmt.Errorf("door of signals: %w", err)
	}
	return nil
}

// refusal is an answer that is no signal.
type refusal struct {
	status int
	says   string // to the sender; empty: nothing
	after  time.Duration
}

// ServeHTTP takes a signal.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	heard, no := s.take(w, r)
	switch {
	case no == nil:
		says := map[string]any{"signal": heard.Number}
		if heard.Note != "" {
			says["note"] = heard.Note
		}
		answer(w, http.StatusOK, says)
		return
	case no.status == http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	case no.after > 0:
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(no.after.Seconds()))))
	}
	if no.says == "" {
		no.says = strings.ToLower(http.StatusText(no.status))
	}
	answer(w, no.status, map[string]string{"error": no.says})
}

func answer(w http.ResponseWriter, status int, value any) {
	text, _ := json.Marshal(value)
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// take takes a signal.
func (s *Server) take(w http.ResponseWriter, r *http.Request) (heard signals.Heard, no *refusal) {
	if r.Method != http.MethodPost {
		return heard, &refusal{status: http.StatusMethodNotAllowed}
	}
	from := host.AddressOf(r, s.Proxied)
	if !s.allows(from) {
		return heard, s.wrong(r, http.StatusNotFound, "its address is not in signals.door.allow")
	}
	var of *source
	var signed *signature
	var body []byte
	switch given, secret := strings.CutPrefix(r.URL.Path, secretPath); {
	case secret:
		if of = s.withPath(given); of == nil {
			return heard, s.wrong(r, http.StatusNotFound, "the secret in its path is wrong")
		}
		if why := s.Clients.lacks(r.TLS); why != "" {
			return heard, s.wrong(r, http.StatusNotFound, why)
		}
	case r.URL.Path == signedPath:
		var err error
		if signed, err = signatureOf(r.Header, s.Now()); err != nil {
			return heard, s.wrong(r, http.StatusUnauthorized, err.Error())
		}
		if body, no = readBody(w, r); no != nil {
			return heard, no
		}
		if of = s.withKey(signed, body); of == nil {
			return heard, s.wrong(r, http.StatusUnauthorized, "no source has the secret of its signature")
		}
	default:
		return heard, s.wrong(r, http.StatusNotFound, "it asks for another path than "+signedPath)
	}
	if wait := of.take(s.Now()); wait > 0 {
		return heard, &refusal{http.StatusTooManyRequests, fmt.Sprintf("more than %d signals a minute", perMinute),
			wait}
	}
	if signed == nil {
		if body, no = readBody(w, r); no != nil {
			return heard, no
		}
	}
	a := of.read(body)
	a.Address, a.Proof = from.String(), signals.ProofPath
	switch {
	case signed != nil:
		signed.prove(&a)
	case s.Clients != nil:
		a.Proof = signals.ProofCertificate
	}
	return s.hear(r.Context(), a)
}

// hear gives an arrival to the bot. It goes on where the sender hangs up: the signal counts.
func (s *Server) hear(ctx context.Context, a signals.Arrival) (signals.Heard, *refusal) {
	hearing, cancel := context.WithTimeout(context.WithoutCancel(ctx), hearTime)
	defer cancel()
	heard, err := s.Ear.Hear(hearing, a)
	switch {
	case err != nil:
		s.Log.Warn().Err(err).Str("source", a.Source).Msg("a signal is not kept; its sender is told to send it again")
		return heard, &refusal{http.StatusServiceUnavailable, "the bot does not hear signals now; send it again",
			time.Second}
	case heard.Refused != "" && !json.Valid(a.Body):
		return heard, &refusal{status: http.StatusBadRequest, says: heard.Refused}
	case heard.Refused != "":
		return heard, &refusal{status: http.StatusUnprocessableEntity, says: heard.Refused}
	}
	return heard, nil
}

// wrong refuses a request without a secret. An address of many wrong ones is told to wait, and the
// log says no more about it.
func (s *Server) wrong(r *http.Request, status int, why string) *refusal {
	from := host.AddressOf(r, s.Proxied)
	if closed, _ := s.tries.Take(s.Now(), from, func() bool { return false }); closed {
		return &refusal{status: http.StatusTooManyRequests, after: host.TriesFor}
	}
	s.Log.Warn().Stringer("address", from).Int("status", status).Msg("a request at the door of signals: " + why)
	return &refusal{status: status}
}

func (s *Server) allows(from netip.Addr) bool {
	return len(s.Allow) == 0 || slices.ContainsFunc(s.Allow, func(p netip.Prefix) bool {
		return p.Contains(from.Unmap().WithZone(""))
	})
}

// withPath is the source with a secret path. How long it takes tells nothing about any.
func (s *Server) withPath(given string) *source {
	return s.only(func(secret *Secret) bool { return host.Same(given, secret.Path) && secret.Path != "" })
}

// withKey is the source whose key has signed a body.
func (s *Server) withKey(signed *signature, body []byte) *source {
	return s.only(func(secret *Secret) bool { return len(secret.Key) > 0 && signed.by(secret.Key, body) })
}

// only is the one source whose secret is meant; nil: there is none, or several have it.
func (s *Server) only(meant func(*Secret) bool) (of *source) {
	several := false
	for _, one := range s.sources {
		secret, changed, err := one.Secret.Latest()
		switch {
		case err != nil:
			s.Log.Error().Err(err).Str("source", one.Name).Msg("the changed secret of a source is not taken; the one " +
				"before holds")
		case changed:
			s.Log.Info().Str("source", one.Name).Msg("the secret of a source has changed")
		}
		if meant(&secret) {
			of, several = one, of != nil
		}
	}
	if several {
		s.Log.Error().Msg("two sources have one secret now: the door cannot tell them apart")
		return nil
	}
	return of
}

// lacks says what a connection lacks for a sender without a signature; empty: nothing.
func (c *Clients) lacks(on *tls.ConnectionState) string {
	switch {
	case c == nil:
		return ""
	case on == nil || len(on.VerifiedChains) == 0:
		return "it has no certificate of signals.door.client_ca"
	}
	leaf := on.VerifiedChains[0][0]
	if c.Subject != "" && leaf.Subject.CommonName != c.Subject && !slices.Contains(leaf.EmailAddresses, c.Subject) {
		return fmt.Sprintf("its certificate is of %.80q, not of signals.door.client_subject", leaf.Subject.CommonName)
	}
	return ""
}

// readBody reads a body of signals.MaxBody bytes at most.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, signals.MaxBody))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, &refusal{status: http.StatusRequestEntityTooLarge,
			says: fmt.Sprintf("a signal has at most %d bytes", signals.MaxBody)}
	case err != nil:
		return nil, &refusal{status: http.StatusBadRequest,
			says: "the body did not come whole within " + readTime.String()}
	}
	return body, nil
}

// take counts a request.
func (s *source) take(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rate.take(now)
}

// read reads a body.
func (s *source) read(body []byte) signals.Arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Sender.JSON(body)
}
