package runner

import "github.com/prometheus/client_golang/prometheus"

// blockedAge is a gauge that is there while a strategy blocks: how long it has.
type blockedAge struct {
	watch *watch
	about *prometheus.Desc
}

func newBlockedAge(w *watch) *blockedAge {
	return &blockedAge{watch: w, about: prometheus.NewDesc(namespace+"_callback_blocked_seconds",
		"How long a strategy has been in a callback that does not return.", []string{"strategy", "callback"}, nil)}
}

// Describe sends what the gauge is.
func (b *blockedAge) Describe(to chan<- *prometheus.Desc) { to <- b.about }

// Collect sends the strategy that blocks, if one does.
func (b *blockedAge) Collect(to chan<- prometheus.Metric) {
	if blocked := b.watch.blockage(); blocked != nil {
		to <- prometheus.MustNewConstMetric(b.about, prometheus.GaugeValue, b.watch.now().Sub(blocked.Since).Seconds(),
			blocked.Strategy, blocked.Callback)
	}
}
