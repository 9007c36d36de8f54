package bot

import "github.com/prometheus/client_golang/prometheus"

// blockedAge is a gauge that is there while a strategy blocks: how long it has.
type blockedAge struct{ watch *watch }

// Describe sends nothing: what is blocked is not known before.
func (*blockedAge) Describe(chan<- *prometheus.Desc) {}

// Collect sends the strategy that blocks.
func (b *blockedAge) Collect(to chan<- prometheus.Metric) {
	blocked := b.watch.r.dog.blockage()
	if blocked == nil {
		return
	}
	about := prometheus.NewDesc(namespace+"_callback_blocked_seconds", "How long a strategy has been in a callback that does not return.", []string{"strategy", "callback"}, nil)
	to <- prometheus.MustNewConstMetric(about, prometheus.GaugeValue, b.watch.now().Sub(blocked.Since).Seconds(), blocked.Strategy, blocked.Callback)
}
