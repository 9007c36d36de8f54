package sandbox

import (
	"net/http"
	"time"
)

// Server returns an HTTP server for the exchange. Its limits keep a client that sends slowly, reads slowly or sends nothing from
// holding a connection for long, and headers from filling the memory: 16 KiB of them, 10 s for a request to arrive, 30 s for an answer to be
// taken, two minutes of silence between requests. The address, and the listening, are the caller's.
func (ex *Exchange) Server() *http.Server {
	return &http.Server{
		Handler: ex, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10,
	}
}
