package runner

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tidemark-trading/tidemark/bot/host"
)

// metricsServer serves metrics and health.
type metricsServer struct {
	listener net.Listener
	server   *http.Server
	serving  sync.WaitGroup
}

// newMetricsServer listens and starts to serve.
func newMetricsServer(w *watch) (*metricsServer, error) {
	config := &w.r.plan.Config.Metrics
	listener, err := net.Listen("tcp", config.Listen)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w; choose another address with --set metrics.listen=127.0.0.1:0", err)
	}
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", promhttp.HandlerFor(w.metrics.registry, promhttp.HandlerOpts{}))
	routes.HandleFunc("GET /healthz",
		func(rw http.ResponseWriter, _ *http.Request) { answerHealth(rw, w.healthy(), w.concern()) })
	routes.HandleFunc("GET /readyz", func(rw http.ResponseWriter, _ *http.Request) { answerHealth(rw, w.ready(), "") })
	s := &metricsServer{listener: listener, server: &http.Server{
		Handler: host.NewGuard(routes, config.Listen, config.Hosts), ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14,
	}}
	s.serving.Go(func() { _ = s.server.Serve(listener) }) // it ends with close
	return s, nil
}

// answerHealth writes "ok" and a concern, or the error.
func answerHealth(w http.ResponseWriter, err error, concern string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, err)
		return
	}
	_, _ = io.WriteString(w, "ok"+concern+"\n")
}

// close stops serving. On a nil server it does nothing.
func (s *metricsServer) close() {
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
