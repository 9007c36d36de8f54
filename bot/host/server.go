package host

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server serves a handler to those who call it by a name of this machine, until Close.
type Server struct {
	listener net.Listener
	server   *http.Server
	serving  sync.WaitGroup
}

// Serve listens on an address and serves. hosts are further names.
func Serve(listen string, hosts []string, routes http.Handler) (*Server, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	s := &Server{listener: listener, server: &http.Server{
		Handler: NewGuard(routes, listen, hosts), ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14,
	}}
	s.serving.Go(func() { _ = s.server.Serve(listener) }) // it ends with Close
	return s, nil
}

// Address is where it listens.
func (s *Server) Address() net.Addr { return s.listener.Addr() }

// Close stops serving. On a nil server it does nothing.
func (s *Server) Close() {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close()
	}
	s.serving.Wait()
}
