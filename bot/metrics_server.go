package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metricsSection is the port of metrics and health, which is closed by default.
type metricsSection struct {
	Listen     string   `toml:"listen"`      // host:port of /metrics, /healthz and /readyz; empty: none
	Public     bool     `toml:"public"`      // let other machines reach it: whoever does learns what is traded
	Hosts      []string `toml:"hosts"`       // names beside this machine's own by which it is asked
	StaleAfter span     `toml:"stale_after"` // without any answer of the exchange for so long, /readyz fails
}

// check looks at the section.
func (s *metricsSection) check() error {
	if s.Listen == "" {
		return nil
	}
	path := []string{"metrics", "listen"}
	host, port, err := net.SplitHostPort(s.Listen)
	switch {
	case err != nil || port == "":
		return at(path, fmt.Errorf("%q is no address; want host:port, like 127.0.0.1:9090", clip(s.Listen)))
	case !s.Public && !loopbackHost(host):
		return at(path, fmt.Errorf("%s can be reached by other machines, which would learn what is traded; want 127.0.0.1, or set metrics.public = true", s.Listen))
	case s.StaleAfter <= 0:
		return at([]string{"metrics", "stale_after"}, errors.New("want a time, like \"30s\""))
	}
	return checkHosts([]string{"metrics", "hosts"}, s.Hosts)
}

// metricsServer serves metrics and health.
type metricsServer struct {
	listener net.Listener
	server   *http.Server
	serving  sync.WaitGroup
}

// newMetricsServer begins to serve.
func newMetricsServer(w *watch) (*metricsServer, error) {
	config := &w.r.plan.Metrics
	listener, err := net.Listen("tcp", config.Listen)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w; choose another address with --set metrics.listen=127.0.0.1:0", err)
	}
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", promhttp.HandlerFor(w.metrics.registry, promhttp.HandlerOpts{}))
	routes.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) { answerHealth(rw, w.healthy(), w.concern()) })
	routes.HandleFunc("GET /readyz", func(rw http.ResponseWriter, _ *http.Request) { answerHealth(rw, w.ready(), "") })
	s := &metricsServer{listener: listener, server: &http.Server{
		Handler: guardHosts(routes, config.Listen, config.Hosts), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14,
		ErrorLog: log.New(io.Discard, "", 0),
	}}
	s.serving.Go(func() { _ = s.server.Serve(listener) }) // it ends with close
	return s, nil
}

// answerHealth says that all is well, perhaps with a concern, or what is not.
func answerHealth(w http.ResponseWriter, err error, concern string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, err)
		return
	}
	_, _ = io.WriteString(w, "ok"+concern+"\n")
}

// close stops serving. A nil one has never begun.
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
