package rounds

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
)

// figures are those of the latest comparison, for Prometheus.
type figures struct {
	registry        *prometheus.Registry
	tracking, parts *prometheus.GaugeVec
	until           prometheus.Gauge
	rounds          *prometheus.CounterVec
}

func newFigures() *figures {
	gauge := func(name, help string) prometheus.GaugeOpts {
		return prometheus.GaugeOpts{Namespace: "tidemark", Subsystem: "gap", Name: name, Help: help}
	}
	f := &figures{registry: prometheus.NewRegistry(), tracking: prometheus.NewGaugeVec(gauge("tracking_bps",
		"Live profit less the backtest's, in bps of the money at the beginning."), []string{"strategy"}),
		parts: prometheus.NewGaugeVec(gauge("part_bps", "What a kind of fact adds to it."),
			[]string{"strategy", "part"}),
		until: prometheus.NewGauge(gauge("until_timestamp_seconds", "Up to when the latest comparison goes.")),
		rounds: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "tidemark", Subsystem: "gap",
			Name: "rounds_total", Help: "Rounds, by whether they compared."}, []string{"outcome"})}
	f.registry.MustRegister(f.tracking, f.parts, f.until, f.rounds)
	return f
}

// take shows the figures of a report. A strategy that had no money has none.
func (f *figures) take(r *gap.Comparison) {
	f.tracking.Reset()
	f.parts.Reset()
	for i := range r.Strategies {
		b := &r.Strategies[i]
		if b.Equity.Units <= 0 {
			continue
		}
		f.tracking.WithLabelValues(b.Name).Set(b.TrackingBPS(b.Gap))
		for _, p := range partsOf(b) {
			f.parts.WithLabelValues(b.Name, p.name).Set(p.bps)
		}
	}
	f.until.Set(float64(r.To.Millis()) / 1000)
	f.rounds.WithLabelValues("compared").Inc()
}

// Handler serves the figures.
func (r *Rounds) Handler() http.Handler {
	routes := http.NewServeMux()
	routes.Handle("GET /metrics", promhttp.HandlerFor(r.figures.registry, promhttp.HandlerOpts{}))
	return routes
}
