package sandbox

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// benchOrder is an order far from the price that ends at once, so that neither book nor balance changes from one request to the next.
const benchOrder = `{"market":"BTC-EUR","side":"buy","orderType":"limit","operatorId":1,"amount":"0.01","price":"1000","timeInForce":"IOC"}`

// BenchmarkSignedOrder places signed orders over a loopback connection. Its floor is BenchmarkBareHandler, in the same run:
//
//	go test ./exchange/sandbox -run xxx -bench 'SignedOrder|BareHandler' -count 5
func BenchmarkSignedOrder(b *testing.B) {
	r := newRig(b, func(c *Config) { c.Budget = Budget{PerKey: -1, PerIP: -1} })
	overLoopback(b, r.ex, r.request("alice", "POST", "/order", benchOrder).Header)
}

// BenchmarkBareHandler reads the same body of the same request, and answers as much as an order's record has.
func BenchmarkBareHandler(b *testing.B) {
	r := newRig(b)
	record := bytes.Repeat([]byte{' '}, 700)
	bare := http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		io.Copy(io.Discard, request.Body)
		w.Write(record)
	})
	overLoopback(b, bare, r.request("alice", "POST", "/order", benchOrder).Header)
}

// overLoopback sends the order b.N times through one connection and reports how long the slowest hundredth waited at least.
func overLoopback(b *testing.B, handler http.Handler, header http.Header) {
	server := httptest.NewServer(handler)
	defer server.Close()
	client, waits := server.Client(), make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		request, err := http.NewRequest("POST", server.URL+version+"/order", bytes.NewReader([]byte(benchOrder)))
		require.NoError(b, err)
		request.Header = header
		got, err := client.Do(request)
		require.NoError(b, err)
		body, err := io.ReadAll(got.Body)
		got.Body.Close()
		require.NoError(b, err)
		if got.StatusCode != http.StatusOK {
			b.Fatalf("%d %s", got.StatusCode, body)
		}
		waits = append(waits, time.Since(start))
	}
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkAdmission is what every signed request costs before its endpoint: route, body, signature, budget, parameters, and headers after it.
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
	e.do = probe("POST", 0).do
	body := bytes.NewReader([]byte(benchOrder))
	request := r.request("alice", "POST", "/order", benchOrder)
	request.Body = io.NopCloser(body)
	w := &discard{header: http.Header{}}
	return func() {
		body.Reset([]byte(benchOrder))
		v := r.ex.front.enter()
		v.endpoint, _ = route(request.Method, request.URL.Path[len(version):])
		v.endpoint = &e
		r.ex.serve(w, request, v, "")
		r.ex.front.leave(v)
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
	send := newRig(t, func(c *Config) { c.Budget.PerKey = -1 }).admission()
	send()
	require.LessOrEqual(t, testing.AllocsPerRun(200, send), 4.0)
}
