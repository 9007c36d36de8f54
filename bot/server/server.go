package server

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
)

// Times of the server; sandbox.Exchange.Server sets those of its connections.
const (
	tick     = time.Second     // between two checks of due events while no request comes
	farewell = 3 * time.Second // for requests that are being answered when the exchange is stopped
)

// Server is an exchange that listens.
type Server struct {
	ex       *sandbox.Exchange
	kept     string // state file; empty: none
	log      zerolog.Logger
	listener *listener
	Address  *net.TCPAddr
	server   *http.Server
}

// New begins to listen.
func New(ex *sandbox.Exchange, e *config.ServerSection, logger zerolog.Logger) (*Server, error) {
	inner, err := net.Listen("tcp", e.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program; stop that one, or choose another port: --listen "+
			"127.0.0.1:0 takes any that is free", e.Listen)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w; choose another address with --listen", e.Listen, err)
	}
	s := &Server{ex: ex, kept: e.State, log: logger, listener: newListener(inner), Address: inner.Addr().(*net.TCPAddr),
		server: ex.Server()}
	s.server.ConnState = s.listener.forget
	guard := host.NewGuard(ex, e.Listen, e.Hosts)
	guard.Kind, guard.Refusal = "application/json",
		`{"errorCode":110,"error":"This server does not answer for that host; name it in exchange.hosts."}`
	s.server.Handler = logRequests(guard, logger)
	if logger.GetLevel() > zerolog.DebugLevel {
		logger = zerolog.Nop()
	}
	s.server.ErrorLog = log.New(logger, "", 0)
	return s, nil
}

// Run serves until ctx ends, then stops in good order. left says what is saved and what is lost.
func (s *Server) Run(ctx context.Context) (left string, err error) {
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(s.listener) }()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	told := ""
	for {
		select {
		case now := <-ticker.C:
			s.listener.sweep(now)
			s.ex.Advance()
			if err := s.ex.Err(); err != nil && err.Error() != told {
				told = err.Error()
				s.log.Error().Err(err).Msg("a part of the exchange has stopped")
			}
		case err := <-served:
			return s.left(true), fmt.Errorf("serve: %w", err)
		case <-ctx.Done():
			calm := s.stop()
			<-served
			return s.left(calm), nil
		}
	}
}

// stop waits for the requests under way, then ends all connections. It reports whether all requests
// were answered.
func (s *Server) stop() bool {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if s.server.Shutdown(ctx) == nil {
		return true
	}
	_ = s.server.Close() // of connections that do not end: the caller cannot act on it
	return false
}

// left says what a stopped exchange leaves behind.
func (s *Server) left(calm bool) string {
	text := "Stopped."
	if !calm {
		text = fmt.Sprintf("Stopped; requests that were not done after %s were cut off.", farewell)
	}
	orders, transfers := s.ex.Unfinished()
	if s.kept != "" {
		return fmt.Sprintf("%s %s holds everything, also %d open orders and %d transfers on their way.", text, s.kept,
			orders, transfers)
	}
	return fmt.Sprintf("%s It was in memory only: %d open orders and %d transfers on their way are gone. --state FILE "+
		"keeps them.", text, orders, transfers)
}
