package runner

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/bot/version"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy"
)

// metrics are the bot's figures for Prometheus. Their labels are names of config and program: their
// number is bounded.
type metrics struct {
	registry *prometheus.Registry
	watch    *watch

	counts                                    map[string]*prometheus.CounterVec // by their names in counted
	stale                                     prometheus.Counter
	commits                                   prometheus.Histogram
	steps                                     *prometheus.HistogramVec
	equity, exposure, drawdown, open, foreign prometheus.Gauge
	evidence, broken                          prometheus.Gauge // of the seal
	bareNow, bareGroups                       prometheus.Gauge
	halted, bareFor                           *prometheus.GaugeVec
}

// counted are the metrics that watch.count counts.
var counted = [...]struct {
	name, help string
	labels     []string
}{
	{"orders_total", "Commands that were sent, by what became of them.", []string{"command", "outcome"}},
	{"orders_ended_total", "Own orders that are done, by their last state.", []string{"state"}},
	{"refusals_total", "Orders that the gate refused.", []string{"strategy", "reason"}},
	{"fills_total", "Fills of own orders.", []string{"strategy", "market", "side"}},
	{"differences_total", "What was found to differ from the exchange's books.", []string{"kind"}},
	{"invalid_answers_total",
		"Answers about own orders that cannot be true and were not booked, by the rule that they break.",
		[]string{"rule"}},
	{"bans_total", "Bans by the exchange.", []string{"budget"}},
	{"unprotected_total", "Positions that could not have an exit at the exchange.", []string{"strategy", "cause"}},
	{"callbacks_blocked_total", "Callbacks of strategies that took longer than a second.",
		[]string{"strategy", "callback"}},
	{"signals_total", "Signals from outside, by source and by what became of them.", []string{"source", "outcome"}},
	{"reloads_total", "Reloads of the settings, by what became of them.", []string{"outcome"}},
}

// count counts something of the table counted, where there are metrics. Any goroutine may call it.
func (w *watch) count(name string, n int64, labels ...string) {
	if w != nil && w.metrics != nil {
		w.metrics.counts[name].WithLabelValues(labels...).Add(float64(n))
	}
}

// namespace is the prefix of every metric.
const namespace = "tidemark"

// shortTimes are histogram buckets of 1 µs to 17 s.
func shortTimes() []float64 { return prometheus.ExponentialBuckets(1e-6, 4, 13) }

// newMetrics registers the metrics that need no running bot.
func newMetrics(w *watch) *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), watch: w, counts: map[string]*prometheus.CounterVec{}}
	m.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, c := range counted {
		m.counts[c.name] = prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: c.name,
			Help: c.help}, c.labels)
		m.registry.MustRegister(m.counts[c.name])
	}
	m.stale = prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: "stale_total",
		Help: "How often prices stopped coming."})
	m.commits = prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: "journal_commit_seconds",
		Help: "Time of a durable commit of the journal.", Buckets: shortTimes()})
	m.steps = prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: "step_seconds",
		Help: "Time of a step of the engine, by kind of event.", Buckets: shortTimes()}, []string{"event"})
	currency := prometheus.Labels{"currency": w.r.plan.Config.Account.Currency}
	m.equity = m.gauge("equity", "Value of what the strategies have, without unallocated money.", currency)
	m.exposure = m.gauge("exposure", "Value of positions and open buys.", currency)
	m.drawdown = m.gauge("drawdown_ratio", "How far the equity is below its highest, 0 to 1.", nil)
	m.evidence = m.gauge("seal_evidence", "Evidence against the sealed promise, an alarm at 20; 0: nothing is sealed.",
		nil)
	m.broken = m.gauge("seal_broken", "1 where the sealed promise is broken.", nil)
	m.open = m.gauge("open_orders", "Own open orders.", nil)
	m.foreign = m.gauge("foreign_orders", "Open orders on the account that the bot did not place.", nil)
	m.bareNow = m.gauge("unprotected_positions",
		"Positions that have no exit at the exchange now, or one that is too small.", nil)
	m.bareFor = prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: "unprotected_seconds",
		Help: "Time without an exit over all positions, since the state file began."}, []string{"cause"})
	m.bareGroups = m.gauge("not_guarded_groups",
		"Cancel-on-disconnect groups whose orders outlive the bot, should it die.", nil)
	m.halted = prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: "strategy_halted",
		Help: "1 where a strategy is halted."}, []string{"strategy"})
	m.registry.MustRegister(m.stale, m.commits, m.steps, m.halted, m.bareFor)
	m.function("build_info", "What runs.", prometheus.Labels{"version": version.Of(debug.ReadBuildInfo()),
		"go": runtime.Version()}, func() float64 { return 1 })
	m.function("loop_age_seconds", "Time since the loop last ran.", nil,
		func() float64 { return m.age(w.turned.Load()) })
	m.registry.MustRegister(newBlockedAge(w))
	return m
}

// attach registers the metrics that read parts of a runner.
func (m *metrics) attach(r *runner) {
	m.function("queue_events", "Events of the feeds that wait for the loop.", nil,
		func() float64 { return float64(len(r.events())) })
	m.attachState(r)
	m.attachStreams(r.streams)
	m.attachOrders(r)
	for feed, name := range feedNames {
		if feed == feedBooks && !slices.ContainsFunc(r.needs, func(n strategy.Needs) bool { return n.Book }) {
			continue // no strategy needs books, and their age would only grow
		}
		m.function("poll_age_seconds", "Time since the last answer to a feed.", prometheus.Labels{"feed": name},
			func() float64 { return m.age(m.watch.answered[feed].Load()) })
	}
	m.function("clock_offset_seconds", "How far the exchange's clock is ahead of this machine's.", nil,
		func() float64 { return r.client.Offset().Seconds() })
	for name, s := range r.listening.all() {
		m.function("signal_age_seconds", "Time since the latest signal of a source, or since the bot began.",
			prometheus.Labels{"source": name},
			func() float64 { return r.trading.Now().Sub(market.Time(s.came.Load())).Seconds() })
	}
	for _, payer := range [...]rest.Payer{rest.PaidByKey, rest.PaidByIP} {
		budget := prometheus.Labels{"budget": payer.String()}
		m.function("weight_left", "Weight points that are left in this minute.", budget, func() float64 {
			points, _ := r.weights.Left(payer)
			return float64(points)
		})
		m.function("banned", "1 while the exchange answers nothing.", budget,
			func() float64 { return truth(r.weights.BannedUntil(payer) != 0) })
	}
}

// attachState registers the metrics of the state file.
func (m *metrics) attachState(r *runner) {
	figure := func(of func(reach *journal.Reach) float64) func() float64 {
		return func() float64 {
			reach, err := r.store.Reach()
			if err != nil || reach.First == 0 {
				return math.NaN()
			}
			return of(&reach)
		}
	}
	m.function("state_bytes", "Size of the state file.", nil,
		figure(func(reach *journal.Reach) float64 { return float64(reach.Bytes) }))
	m.function("journal_begin_timestamp_seconds", "Time of the oldest journal entry that bot.keep has left.", nil,
		figure(func(reach *journal.Reach) float64 { return float64(reach.Since.Millis()) / 1000 }))
}

// attachStreams registers the metrics of the stream, where there is one.
func (m *metrics) attachStreams(s *streams) {
	if s == nil {
		return
	}
	m.function("stream_connected", "1 while the stream from the exchange is open.", nil,
		func() float64 { return truth(s.on.Connected()) })
	m.total("stream_connections_total", "How often the stream was opened.", nil, s.on.Connections)
	m.total("stream_gaps_total", "How often events of a book were missing.", nil, s.feed.Gaps)
	m.total("stream_differences_total", "Answers over REST that differed from what the stream had told.", nil,
		s.feed.Differences)
	for _, ch := range s.on.Channels() {
		of := prometheus.Labels{"channel": ch.Name}
		m.total("stream_messages_total", "Events of the stream.", of, ch.Events)
		m.function("stream_age_seconds", "Time since the latest event of a channel.", of, func() float64 {
			age, known := ch.Age()
			if !known {
				return math.NaN()
			}
			return age.Seconds()
		})
		if ch.Name != "ticker" && ch.Name != "candles" { // whose events have no time
			m.function("stream_lag_seconds", "Age of a channel's latest event when it came.", of,
				func() float64 { return ch.Lag().Seconds() })
		}
	}
}

// attachOrders registers the metrics of orders over the stream, where they go there.
func (m *metrics) attachOrders(r *runner) {
	if r.orders == nil {
		return
	}
	m.function("stream_orders_connected", "1 while orders go over the stream.", nil,
		func() float64 { return truth(r.orders.on.Authenticated()) })
	m.total("stream_orders_connections_total", "How often the connection of orders was opened.", nil,
		r.orders.on.Connections)
	m.total("stream_orders_total", "Writes by their way to the exchange.", prometheus.Labels{"by": "stream"},
		r.orders.BySocket)
	m.total("stream_orders_total", "Writes by their way to the exchange.", prometheus.Labels{"by": "http"},
		r.orders.ByHTTP)
}

// sample updates the account's gauges, in the loop's goroutine.
func (m *metrics) sample(w *watch) {
	r := w.r
	currency := r.plan.Currency
	if equity, err := r.account.Equity(currency.ID); err == nil {
		w.peak = max(w.peak, w.standing.HighWater, equity)
		m.equity.Set(floatOf(equity, currency.Digits))
		if stand, followed := r.gate.Standing(); followed { // a resume may have reset it
			m.drawdown.Set(floatOf(market.Money(stand.Drawdown()), market.RateDigits))
		} else if w.peak > 0 {
			m.drawdown.Set(float64(w.peak-equity) / float64(w.peak))
		}
	}
	if exposure, err := r.account.Exposure(currency.ID); err == nil {
		m.exposure.Set(floatOf(exposure, currency.Digits))
	}
	open := 0
	for i, name := range r.plan.Names() {
		open += r.account.OpenBy(market.StrategyID(i + 1))
		m.halted.WithLabelValues(name).Set(truth(w.halted[i+1]))
	}
	m.open.Set(float64(open))
	m.bareNow.Set(float64(len(r.engine.Brackets().Bare())))
	m.bareGroups.Set(float64(len(r.loop.NotGuarded())))
	for _, c := range r.engine.Brackets().UnprotectedBy() {
		m.bareFor.WithLabelValues(c.Cause.String()).Set(time.Duration(c.Time).Seconds())
	}
	m.foreign.Set(float64(r.loop.Foreign()))
	total, broken, _ := r.journal.seal.Evidence()
	m.evidence.Set(total)
	m.broken.Set(truth(broken))
}

func (m *metrics) gauge(name, help string, labels prometheus.Labels) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: labels})
	m.registry.MustRegister(g)
	return g
}

func (m *metrics) function(name, help string, labels prometheus.Labels, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help,
		ConstLabels: labels}, value))
}

func (m *metrics) total(name, help string, labels prometheus.Labels, value func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: namespace, Name: name,
		Help: help, ConstLabels: labels}, func() float64 { return float64(value()) }))
}

// age is the time since a moment of the watch in seconds; NaN: it has not come.
func (m *metrics) age(at int64) float64 {
	if at == 0 {
		return math.NaN()
	}
	return time.Duration(m.watch.since() - at).Seconds()
}

func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func floatOf(money market.Money, digits uint8) float64 {
	return float64(money) / float64(market.Pow10(digits))
}

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
