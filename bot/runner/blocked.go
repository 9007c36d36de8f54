package runner

import "github.com/prometheus/client_golang/prometheus"

// blockedAge is a gauge of how long a strategy has blocked. It exists only while one does.
type blockedAge struct {
	watch *watch
	desc  *prometheus.Desc
}

func newBlockedAge(w *watch) *blockedAge {
	return &blockedAge{watch: w, desc: prometheus.NewDesc(namespace+"_callback_blocked_seconds",
		"How long a strategy has been in a callback that does not return.", []string{"strategy", "callback"}, nil)}
}

// Describe sends the description of the gauge.
func (b *blockedAge) Describe(to chan<- *prometheus.Desc) { to <- b.desc }

// Collect sends the strategy that blocks, if one does.
func (b *blockedAge) Collect(to chan<- prometheus.Metric) {
	if blocked := b.watch.blockage(); blocked != nil {
		to <- prometheus.MustNewConstMetric(b.desc, prometheus.GaugeValue, b.watch.now().Sub(blocked.Since).Seconds(),
			blocked.Strategy, blocked.Callback)
	}
}
