package sandbox

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

// dealer lets two accounts of a rig trade, without HTTP and without a socket.
type dealer struct {
	*rig
	post *api.Endpoint
}

// newDealer has an exchange on the machine's clock. A large order of alice rests at 30000.
func newDealer(b *testing.B, change ...func(*Config)) *dealer {
	r := newRig(b, append(change, func(c *Config) {
		c.Clock, c.Budget = NewClock(0, 1), api.Budget{PerKey: -1, PerIP: -1}
	})...)
	t := &dealer{rig: r, post: r.ex.door.Table.Named("POST /order")}
	t.place(1, `{"market":"BTC-EUR","side":"sell","orderType":"limit","operatorId":1,"amount":"900","price":"30000"}`)
	return t
}

// place places an order of an account.
func (t *dealer) place(account int, order string) {
	c := &api.Call{Account: account, Endpoint: t.post}
	require.Nil(t.t, t.ex.door.Decode(c, "", "", []byte(order)))
	require.Nil(t.t, t.ex.callEndpoint(c))
}

// trade makes one trade: bob takes a little from alice's order.
func (t *dealer) trade() {
	t.place(2, `{"market":"BTC-EUR","side":"buy","orderType":"market","operatorId":1,"amount":"0.0002"}`)
}

// audience is many clients of one server that read all that they get.
type audience struct {
	b    *testing.B
	left atomic.Int64 // frames until done
	done chan struct{}
}

// newAudience connects clients, each with a subscription message that is answered, or with none.
func newAudience(b *testing.B, url string, clients int, subscription string) *audience {
	c := &audience{b: b, done: make(chan struct{}, 1)}
	for range clients {
		on := dialBench(b, url)
		if subscription != "" {
			require.NoError(b, on.Write(b.Context(), websocket.MessageText, []byte(subscription)))
			_, text, err := on.Read(b.Context())
			require.NoError(b, err)
			require.Contains(b, string(text), "subscribed")
		}
		go func() {
			for {
				_, frame, err := on.Reader(context.Background())
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, frame)
				if c.left.Add(-1) == 0 {
					c.done <- struct{}{}
				}
			}
		}()
	}
	return c
}

func dialBench(b *testing.B, url string) *websocket.Conn {
	on, _, err := websocket.Dial(b.Context(), "ws"+strings.TrimPrefix(url, "http")+"/v2/", nil)
	require.NoError(b, err)
	b.Cleanup(func() { on.CloseNow() })
	return on
}

// hear waits until the clients have read so many frames together, while work sends them. It returns
// the CPU time of both.
func (c *audience) hear(frames int, work func()) time.Duration {
	c.left.Store(int64(frames))
	began := cpuTime(c.b)
	work()
	<-c.done
	return cpuTime(c.b) - began
}

func cpuTime(tb testing.TB) time.Duration {
	var usage syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// bare is a server that does nothing but send frames to all its sockets, one after the other.
type bare struct {
	arrived chan struct{} // a socket is one of sockets
	mu      sync.Mutex    // guards sockets
	sockets []*websocket.Conn
}

func (s *bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	on, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.sockets = append(s.sockets, on)
	s.mu.Unlock()
	s.arrived <- struct{}{}
	_, _, _ = on.Read(context.Background()) // until the client goes
}

func (s *bare) send(frame []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, on := range s.sockets {
		_ = on.Write(context.Background(), websocket.MessageText, frame)
	}
}

// BenchmarkSocketBroadcast makes trades that 100 sockets hear of, in two frames each, beside a bare
// broadcast of the same frames over the same library. Both have clients of the same kind; the
// figures are frames for a second of CPU time, those of the clients included. "burst" makes many
// trades at a time, "each" waits until all clients have heard of a trade.
func BenchmarkSocketBroadcast(b *testing.B) {
	const sockets, frames = 100, 2
	for _, run := range []struct {
		name   string
		trades int
	}{{"each", 1}, {"burst", 50}} {
		b.Run(run.name, func(b *testing.B) {
			t := newDealer(b)
			server := httptest.NewServer(t.ex)
			defer server.Close()
			defer t.ex.streams.hub.Close()
			floor := &bare{arrived: make(chan struct{}, sockets)}
			other := httptest.NewServer(floor)
			defer other.Close()
			ours := newAudience(b, server.URL, sockets, `{"action":"subscribe","channels":[`+
				`{"name":"trades","markets":["BTC-EUR"]},{"name":"ticker","markets":["BTC-EUR"]}]}`)
			theirs := newAudience(b, other.URL, sockets, "")
			for range sockets {
				<-floor.arrived
			}
			trade := []byte(`{"event":"trade","timestamp":1790000000123,"timestampNs":1790000000123456000,` +
				`"market":"BTC-EUR","id":"00000000-0000-0002-0000-00000000002a","amount":"0.0002",` +
				`"price":"30000","side":"buy"}`)
			ticker := []byte(`{"event":"ticker","market":"BTC-EUR","bestAsk":"30000","bestAskSize":"899.9998"}`)
			var bareTook, took time.Duration
			for b.Loop() {
				took += ours.hear(run.trades*frames*sockets, func() {
					for range run.trades {
						t.trade()
					}
				})
				bareTook += theirs.hear(run.trades*frames*sockets, func() {
					for range run.trades {
						floor.send(trade)
						floor.send(ticker)
					}
				})
			}
			sent := float64(b.N * run.trades * frames * sockets)
			b.ReportMetric(0, "ns/op") // the time of both together says nothing
			b.ReportMetric(sent/bareTook.Seconds(), "bare-frames/s")
			b.ReportMetric(sent/took.Seconds(), "socket-frames/s")
			b.ReportMetric(float64(bareTook)/float64(took), "socket/bare")
		})
	}
}

// BenchmarkSocketLatency measures the time from a matched trade to the frame at a client that
// listens to it, beside an echo over the same library: what one message to a server and back takes.
// The trade's time is its timestampNs. "memory" is an exchange without a state file, "tmpfs" and
// "disk" keep one there; sync-µs is one page written and synced on that disk.
func BenchmarkSocketLatency(b *testing.B) {
	for _, where := range []string{"memory", "tmpfs", "disk"} {
		b.Run(where, func(b *testing.B) {
			folder := b.TempDir()
			if where == "tmpfs" {
				var err error
				if folder, err = os.MkdirTemp("/dev/shm", "exchange"); err != nil {
					b.Skip("there is no tmpfs: ", err)
				}
				defer os.RemoveAll(folder)
			}
			var change []func(*Config)
			if where != "memory" {
				change = append(change, stateful(filepath.Join(folder, "exchange.db")))
			}
			t := newDealer(b, change...)
			server := httptest.NewServer(t.ex)
			defer server.Close()
			hears := dialBench(b, server.URL)
			require.NoError(b, hears.Write(b.Context(), websocket.MessageText,
				[]byte(`{"action":"subscribe","channels":[{"name":"trades","markets":["BTC-EUR"]}]}`)))
			_, _, err := hears.Read(b.Context())
			require.NoError(b, err)
			echo := newEcho(b)
			page := newPage(b, folder)
			var waits, echoes, syncs []time.Duration
			for b.Loop() {
				echoes = append(echoes, echo())
				if where == "disk" {
					syncs = append(syncs, page())
				}
				heard := make(chan time.Duration)
				go func() {
					_, text, err := hears.Read(b.Context())
					now := time.Now().UnixNano()
					require.NoError(b, err)
					heard <- time.Duration(now - stampOf(b, string(text)))
				}()
				t.trade()
				waits = append(waits, <-heard)
			}
			b.ReportMetric(0, "ns/op")
			reportWaits(b, "echo", echoes)
			reportWaits(b, "frame", waits)
			b.ReportMetric(percentile(waits, 50)/percentile(echoes, 50), "frame/echo-p50")
			b.ReportMetric(percentile(waits, 99)/percentile(echoes, 99), "frame/echo-p99")
			if where == "disk" {
				b.ReportMetric(percentile(syncs, 50), "sync-p50-µs")
				b.ReportMetric(percentile(syncs, 99), "sync-p99-µs")
			}
			hears.CloseNow()
			require.NoError(b, t.ex.Close())
		})
	}
}

// stampOf reads the timestampNs of an event.
func stampOf(b *testing.B, event string) (ns int64) {
	_, rest, _ := strings.Cut(event, `"timestampNs":`)
	_, err := fmt.Sscan(rest[:19], &ns)
	require.NoError(b, err)
	return ns
}

// newEcho returns a function that sends a trade's frame to a server that sends it back, and returns
// how long that took.
func newEcho(b *testing.B) func() time.Duration {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		on, err := websocket.Accept(w, r, nil)
		for err == nil {
			var text []byte
			if _, text, err = on.Read(r.Context()); err == nil {
				err = on.Write(r.Context(), websocket.MessageText, text)
			}
		}
	}))
	b.Cleanup(server.Close)
	on := dialBench(b, server.URL)
	frame := []byte(strings.Repeat("x", 220))
	return func() time.Duration {
		began := time.Now()
		require.NoError(b, on.Write(b.Context(), websocket.MessageText, frame))
		_, _, err := on.Read(b.Context())
		require.NoError(b, err)
		return time.Since(began)
	}
}

// newPage returns a function that writes one page and syncs it.
func newPage(b *testing.B, folder string) func() time.Duration {
	file, err := os.Create(filepath.Join(folder, "page"))
	require.NoError(b, err)
	b.Cleanup(func() { file.Close() })
	page := make([]byte, 4096)
	return func() time.Duration {
		began := time.Now()
		_, err := file.WriteAt(page, 0)
		require.NoError(b, err)
		require.NoError(b, file.Sync())
		return time.Since(began)
	}
}

// percentile is in µs; it sorts the list.
func percentile(list []time.Duration, p int) float64 {
	slices.Sort(list)
	return float64(list[len(list)*p/100].Nanoseconds()) / 1000
}

func reportWaits(b *testing.B, name string, list []time.Duration) {
	b.ReportMetric(percentile(list, 50), name+"-p50-µs")
	b.ReportMetric(percentile(list, 99), name+"-p99-µs")
}

// BenchmarkSocketBesideAStuckOne measures the time from a trade to its frame at each of ten
// sockets, in an exchange where an eleventh does not read, beside one without it.
func BenchmarkSocketBesideAStuckOne(b *testing.B) {
	const sockets = 10
	everything := `{"action":"subscribe","channels":[{"name":"trades","markets":["BTC-EUR"]},` +
		`{"name":"ticker","markets":["BTC-EUR"]},{"name":"book","markets":["BTC-EUR"]}]}`
	var trades [2]func() time.Duration
	for i := range trades {
		t := newDealer(b)
		server := httptest.NewServer(t.ex)
		defer server.Close()
		defer t.ex.streams.hub.Close()
		newAudience(b, server.URL, 1, everything)
		all := newAudience(b, server.URL, sockets,
			`{"action":"subscribe","channels":[{"name":"trades","markets":["BTC-EUR"]}]}`)
		if i == 1 {
			stuck := dialBench(b, server.URL)
			require.NoError(b, stuck.Write(b.Context(), websocket.MessageText, []byte(everything)))
		}
		trades[i] = func() time.Duration {
			began := time.Now()
			all.left.Store(sockets)
			t.trade()
			<-all.done
			return time.Since(began)
		}
	}
	var alone, beside []time.Duration
	for b.Loop() {
		alone = append(alone, trades[0]())
		beside = append(beside, trades[1]())
	}
	b.ReportMetric(0, "ns/op")
	reportWaits(b, "alone", alone)
	reportWaits(b, "beside", beside)
	b.ReportMetric(percentile(beside, 99)/percentile(alone, 99), "beside/alone-p99")
}
