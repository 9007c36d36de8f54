// Package rounds compares a running bot with its backtest again and again: bot gap --every. It
// prints a line a round, keeps the figures for Prometheus, and raises an alert where live is far
// from the backtest. It never reads a state folder itself. Start at Rounds.
package rounds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
)

// Options say what is compared, how often, and who hears of it.
type Options struct {
	Every   time.Duration
	Compare func(context.Context) (*gap.Comparison, error)
	Out     io.Writer     // a line a round
	Bot     string        // its name in alerts
	Limit   int64         // a tracking error of so many bps is an alert; 0: no alert
	Alerts  *alert.Sender // nil: no alert is sent
}

// Rounds is a comparison that is made again and again.
type Rounds struct {
	Options
	figures *figures
	far     map[string]bool // strategies of which an alert said that they are far from their backtest
}

// New makes rounds, of which none has begun.
func New(o Options) *Rounds {
	return &Rounds{Options: o, figures: newFigures(), far: map[string]bool{}}
}

// Run compares at once, and then each time Every has passed since a round began, until ctx ends. A
// round that fails is said, and the next one comes.
func (r *Rounds) Run(ctx context.Context) error {
	ticker := time.NewTicker(r.Every)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := r.round(ctx); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// round compares once. Its error is that of Out.
func (r *Rounds) round(ctx context.Context) error {
	began := time.Now().UTC().Format(time.DateTime)
	report, err := r.Compare(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err == nil && report.Short != "" {
		err = errors.New(report.Short)
	}
	if err != nil {
		r.figures.rounds.WithLabelValues("failed").Inc()
		_, err = fmt.Fprintf(r.Out, "%s no comparison: %s\n", began, err)
		return err
	}
	r.figures.take(report)
	since := report.From.Std().UTC().Format(time.DateTime)
	var texts []string
	for i := range report.Strategies {
		b := &report.Strategies[i]
		text := Text(b)
		texts = append(texts, b.Name+" "+text)
		r.check(b, text, since, report.Run)
	}
	_, err = fmt.Fprintf(r.Out, "%s since %s: %s\n", began, since, strings.Join(texts, "; "))
	return err
}

// check raises an alert where a strategy is far from its backtest, once until it is half as near.
func (r *Rounds) check(b *gap.Bridge, text, since string, run uuid.UUID) {
	limit, far := float64(r.Limit), math.Abs(b.TrackingBPS(b.Gap))
	switch {
	case limit > 0 && far >= limit && !r.far[b.Name]:
		r.far[b.Name] = true
		r.Alerts.Tell(alert.Alert{Kind: alert.Tracking, At: time.Now().UTC(), Bot: r.Bot, Run: run.String(),
			Text: fmt.Sprintf("%s is away from its backtest since %s: %s", b.Name, since, text)})
	case far < limit/2:
		r.far[b.Name] = false
	}
}

// Text is the tracking error of a strategy in words: live less backtest in bps of the money that it
// began with, and its parts of a tenth of a bps at least.
func Text(b *gap.Bridge) string {
	if b.Equity.Units <= 0 {
		return "had no money"
	}
	text := fmt.Sprintf("%+.1f bps", b.TrackingBPS(b.Gap))
	var parts []string
	for _, p := range partsOf(b) {
		if math.Abs(p.bps) >= 0.05 {
			parts = append(parts, fmt.Sprintf("%s %+.1f", p.name, p.bps))
		}
	}
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}

// part is the change by a fact, in bps of the money.
type part struct {
	name string
	bps  float64
}

// partsOf are the parts of a tracking error, which add up to it.
func partsOf(b *gap.Bridge) (all []part) {
	for i := range b.Terms {
		all = append(all, part{b.Terms[i].Fact, b.TrackingBPS(b.Terms[i].Step)})
	}
	return append(all, part{"unexplained", b.TrackingBPS(b.Unexplained)})
}

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
