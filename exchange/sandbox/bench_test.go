package sandbox

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

// benchOrder is an order far from the price that ends at once, so that neither book nor balance
// changes from one request to the next.
const benchOrder = `{"market":"BTC-EUR","side":"buy","orderType":"limit","operatorId":1,"amount":"0.01","price":"1000","timeInForce":"IOC"}`

// BenchmarkSignedOrder places signed orders over loopback connections, beside a bare handler that
// reads the same body of the same request and answers as much. The two are asked in turn, so that
// both see the same machine; p99 is what the slowest hundredth waited at least.
func BenchmarkSignedOrder(b *testing.B) {
	r := newRig(b, func(c *Config) { c.Budget = api.Budget{PerKey: -1, PerIP: -1} })
	header := r.request("alice", "POST", "/order", benchOrder).Header
	record := bytes.Repeat([]byte{' '}, 700)
	bare := newLoad(b, header, http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		io.Copy(io.Discard, request.Body)
		w.Write(record)
	}))
	ours := newLoad(b, header, r.ex)
	for b.Loop() {
		bare.send()
		ours.send()
	}
	b.ReportMetric(0, "ns/op") // the time of both together says nothing
	bare.report("bare")
	ours.report("signed")
	b.ReportMetric(float64(bare.total)/float64(ours.total), "signed/bare")
}

// load is one client of one server.
type load struct {
	b      *testing.B
	client *http.Client
	url    string
	header http.Header
	waits  []time.Duration
	total  time.Duration
}

func newLoad(b *testing.B, header http.Header, handler http.Handler) *load {
	server := httptest.NewServer(handler)
	b.Cleanup(server.Close)
	return &load{b: b, client: server.Client(), url: server.URL + api.Version + "/order", header: header}
}

// send sends one order.
func (l *load) send() {
	start := time.Now()
	request, err := http.NewRequest("POST", l.url, strings.NewReader(benchOrder))
	require.NoError(l.b, err)
	request.Header = l.header
	got, err := l.client.Do(request)
	require.NoError(l.b, err)
	body, err := io.ReadAll(got.Body)
	got.Body.Close()
	require.NoError(l.b, err)
	if got.StatusCode != http.StatusOK {
		l.b.Fatalf("%d %s", got.StatusCode, body)
	}
	wait := time.Since(start)
	l.waits = append(l.waits, wait)
	l.total += wait
}

// report tells requests per second and p99.
func (l *load) report(name string) {
	slices.Sort(l.waits)
	l.b.ReportMetric(float64(len(l.waits))/l.total.Seconds(), name+"-req/s")
	l.b.ReportMetric(float64(l.waits[len(l.waits)*99/100].Microseconds()), name+"-p99-µs")
}

// BenchmarkAdmission is what every signed request costs before its endpoint: route, body,
// signature, budget, parameters, and headers after it.
func BenchmarkAdmission(b *testing.B) {
	r := newRig(b, func(c *Config) { c.Budget.PerKey = -1 })
	send := r.admission()
	b.ReportAllocs()
	for b.Loop() {
		send()
	}
}

// admission returns a function that sends one signed order through everything but its endpoint.
func (r *rig) admission() func() {
	order, _ := route("POST", "/order")
	e := *order
	e.Do = probe("POST", 0).Do
	body := bytes.NewReader([]byte(benchOrder))
	request := r.request("alice", "POST", "/order", benchOrder)
	request.Body = io.NopCloser(body)
	w := &discard{header: http.Header{}}
	return func() {
		body.Reset([]byte(benchOrder))
		v := r.ex.door.NewRequest()
		v.Endpoint, _ = route(request.Method, request.URL.Path[len(api.Version):])
		v.Endpoint = &e
		r.ex.serve(w, request, v, "")
		r.ex.door.Release(v)
		if w.status != 0 {
			r.t.Fatalf("HTTP %d", w.status)
		}
	}
}

// discard is a ResponseWriter that keeps nothing.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

func TestAdmissionAllocatesTheTextOfTheBodyAndTheHeadersOnly(t *testing.T) {
	if raced {
		t.Skip("sync.Pool throws things away by chance under the race detector: allocations cannot be counted")
	}
	send := newRig(t, func(c *Config) { c.Budget.PerKey = -1 }).admission()
	send()
	require.LessOrEqual(t, testing.AllocsPerRun(200, send), 4.0)
}
