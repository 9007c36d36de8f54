package runner

import (
	"fmt"
	"io"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tidemark-trading/tidemark/bot/host"
)

// serveMetrics serves metrics and health.
func serveMetrics(w *watch) (*host.Server, error) {
	config := &w.r.plan.Config.Metrics
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", promhttp.HandlerFor(w.metrics.registry, promhttp.HandlerOpts{}))
	routes.HandleFunc("GET /healthz",
		func(rw http.ResponseWriter, _ *http.Request) { answerHealth(rw, w.healthy(), w.concern()) })
	routes.HandleFunc("GET /readyz", func(rw http.ResponseWriter, _ *http.Request) { answerHealth(rw, w.ready(), "") })
	server, err := host.Serve(config.Listen, config.Hosts, routes)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w; choose another address with --set metrics.listen=127.0.0.1:0", err)
	}
	return server, nil
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
