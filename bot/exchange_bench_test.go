package bot_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// outsideOrder is far from the price and ends at once: neither book nor balance changes from one
// request to the next.
const outsideOrder = `{"market":"BTC-EUR","side":"buy","orderType":"limit","operatorId":1,"amount":"0.01",` +
	`"price":"1000","timeInForce":"IOC"}`

// bareHandler is the floor as a process of its own: a net/http server that reads the same bodies
// and answers as much. It prints its URL.
func bareHandler() {
	record := bytes.Repeat([]byte{' '}, 700)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	fmt.Printf("{\"base_url\":\"http://%s/v2\"}\n", listener.Addr())
	must(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(record)
	})))
}

// BenchmarkOrderFromAnotherProcess sends signed orders to `bot exchange`, which is a process of its
// own, and the same requests to a bare handler, which is another one. Client, connections and
// requests are the same; the two are asked in turn, in blocks of half a thousand. A rate is that of
// the median block, p99 the time that the slowest hundredth of all requests took at least.
//
//	go test -run '^$' -bench OrderFromAnotherProcess -benchtime 4s ./bot
func BenchmarkOrderFromAnotherProcess(b *testing.B) {
	path, err := exec.LookPath("barehandler")
	require.NoError(b, err, "testscript.Main puts it on the path")
	bare := serveAs(b, bottest.Child(path))
	exchange := serve(b, nil, "--set", "budget.per_key=0", "--set", "budget.per_ip=0")
	for _, clients := range []int{1, 16} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			floor, ours := newOutside(b, clients, bare, exchange), newOutside(b, clients, exchange, exchange)
			floor.block(false)
			ours.block(false)
			ratios := []float64{}
			for pair := 0; b.Loop(); pair++ {
				first, second := floor, ours
				if pair%2 == 1 {
					first, second = ours, floor
				}
				first.block(true)
				second.block(true)
				ratios = append(ratios, ours.rates[pair]/floor.rates[pair])
			}
			b.ReportMetric(0, "ns/op") // of both together
			b.ReportMetric(floor.rate(), "bare-req/s")
			b.ReportMetric(ours.rate(), "signed-req/s")
			b.ReportMetric(median(ratios), "signed/bare")
			b.ReportMetric(floor.p99(), "bare-p99-µs")
			b.ReportMetric(ours.p99(), "signed-p99-µs")
		})
	}
}

// outside is a number of clients of one server.
type outside struct {
	b            *testing.B
	url          string
	key, secret  string
	client       *http.Client
	clients      int
	rates, waits []float64 // of blocks, requests a second; of requests, µs
}

// newOutside makes clients of a server that sign with the key of an exchange.
func newOutside(b *testing.B, clients int, of, signs *served) *outside {
	key := signs.facts.Accounts[0].Keys[0]
	o := &outside{b: b, url: of.facts.BaseURL + "/order", key: key.Key, secret: key.Secret, clients: clients,
		client: &http.Client{Timeout: bottest.Patience, Transport: &http.Transport{MaxIdleConnsPerHost: clients}}}
	b.Cleanup(o.client.CloseIdleConnections)
	return o
}

// block sends half a thousand orders, and notes how long that took if it counts.
func (o *outside) block(counts bool) {
	const requests = 500
	waits := make([][]float64, o.clients)
	var crowd sync.WaitGroup
	began := time.Now()
	for i := range waits {
		crowd.Go(func() {
			for range requests / o.clients {
				at := time.Now()
				if err := o.send(); err != nil {
					o.b.Error(err)
					return
				}
				waits[i] = append(waits[i], float64(time.Since(at).Nanoseconds())/1e3)
			}
		})
	}
	crowd.Wait()
	if counts {
		all := slices.Concat(waits...)
		o.rates = append(o.rates, float64(len(all))/time.Since(began).Seconds())
		o.waits = append(o.waits, all...)
	}
}

// send sends one signed order and reads the answer.
func (o *outside) send() error {
	request, err := http.NewRequest(http.MethodPost, o.url, strings.NewReader(outsideOrder))
	if err != nil {
		return err
	}
	stamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
	mac := hmac.New(sha256.New, []byte(o.secret))
	_, _ = io.WriteString(mac, stamp+http.MethodPost+request.URL.Path+outsideOrder)
	request.Header = http.Header{"Content-Type": {"application/json"}, "Service-Access-Key": {o.key},
		"Service-Access-Timestamp": {stamp}, "Service-Access-Signature": {hex.EncodeToString(mac.Sum(nil))}}
	answer, err := o.client.Do(request)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("HTTP %d: %s", answer.StatusCode, body)
	}
	return err
}

func (o *outside) rate() float64 { return median(o.rates) }

func (o *outside) p99() float64 {
	slices.Sort(o.waits)
	return o.waits[len(o.waits)*99/100]
}

// median returns the middle of some values.
func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}
