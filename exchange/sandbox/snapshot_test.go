package sandbox

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

func TestAListInPartsIsTheListAtOnce(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rows, want := new(snapshot[string]), []string{}
		for i, size := range rapid.SliceOfN(rapid.IntRange(1, 3000), 0, 300).Draw(r, "sizes") {
			row := strings.Repeat(string(rune('a'+i%26)), size)
			*rows.add() = row
			want = append(want, row)
		}
		next := rows.list(func(dst []byte, row *string) []byte { return append(dst, *row...) })
		c := &api.Call{More: next}
		if rapid.Bool().Draw(r, "gathered") {
			c.Gather()
		}
		for more := c.More != nil; more; {
			var part []byte
			part, more = next(nil)
			require.Less(r, len(part), partSize+slabRows*3001)
			c.Out = append(c.Out, part...)
		}
		require.Equal(r, "["+strings.Join(want, ",")+"]", string(c.Out))
	})
}

// naiveOpen writes the open orders of a call's account as of now, all at once. The caller holds the
// lock.
func naiveOpen(ex *Exchange, c *api.Call) string {
	whole := &api.Call{Out: []byte{'['}, Now: c.Now}
	for _, m := range ex.catalog.Markets() {
		for r := ex.accounts.caller(c).recordsOf(m.ID).open.newest; r != nil; r = r.links[byState].older {
			ex.appendListed(whole, r, nil)
		}
	}
	return string(append(whole.Out, ']'))
}

// openNow carries out GET /ordersOpen of alice, up to the end of its handler, and returns the naive
// answer of the same instant.
func (r *rig) openNow() (c *api.Call, want string) {
	e, _ := route(http.MethodGet, "/ordersOpen")
	c = &api.Call{Endpoint: e, Account: 1, Args: make(api.Arguments, len(e.Params))}
	r.ex.mu.Lock()
	defer r.ex.mu.Unlock()
	c.Now = max(r.ex.clock.Now(), r.ex.reached)
	r.ex.advance(c.Now)
	require.Nil(r.t, r.ex.getOrdersOpen(c))
	return c, naiveOpen(r.ex, c)
}

// manyOpen makes an exchange without limits in which alice has open orders.
func manyOpen(t testing.TB, orders int) *rig {
	r := newRig(t, func(c *Config) {
		c.Budget = api.Budget{PerKey: -1, PerIP: -1}
		c.Markets[0].MaxOpenOrders = 0
		c.Accounts[0].Balances["EUR"] = "1000000000000"
	})
	(&standing{r: r}).place(orders)
	return r
}

func TestOpenOrdersAreListedAsAtOnceWhateverTheyAre(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := &audit{stage: stageOf(t, r, rapid.Bool().Draw(r, "house"))}
		s.delaySomeOrders()
		for range 15 {
			s.act(r)
			c, want := s.openNow()
			require.Equal(r, want, s.send("alice", "GET", "/ordersOpen", "").ok(t).body)
			s.act(r) // after the snapshot
			c.Gather()
			require.Equal(r, want, string(c.Out))
		}
	})
}

// TestOpenOrdersAreThoseOfOneInstant lists the open orders again and again while four clients
// trade. Each list is, byte for byte, what is written at once at the instant of the request,
// however late its parts are made.
func TestOpenOrdersAreThoseOfOneInstant(t *testing.T) {
	r := manyOpen(t, 400)
	base := "http://" + r.listen()
	failures := make(chan error, 4)
	var crowd sync.WaitGroup
	for i := range cap(failures) {
		crowd.Go(func() {
			c := &trader{r: r, name: [...]string{"alice", "bob"}[i%2], base: base,
				client: &http.Client{Timeout: patience, Transport: &http.Transport{}},
				chance: rand.New(rand.NewPCG(uint64(i), 9))}
			defer c.client.CloseIdleConnections()
			for range 50 {
				if err := c.step(); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	for range 30 {
		c, want := r.openNow()
		got := ""
		for more := true; more; {
			var part []byte
			runtime.Gosched() // others act between two parts
			part, more = c.More(nil)
			got += string(part)
		}
		require.Equal(t, want, got)
	}
	crowd.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
}

func TestALongListGoesOutInPartsAndAShortOneWithItsLength(t *testing.T) {
	r := manyOpen(t, 20)
	c := &trader{r: r, name: "alice", base: "http://" + r.listen(), client: &http.Client{Timeout: patience}}
	defer c.client.CloseIdleConnections()
	for _, placed := range []int{20, 1000} {
		(&standing{r: r, placed: 20}).place(placed - 20)
		request := r.request("alice", "GET", "/ordersOpen", "")
		request.URL.Scheme, request.URL.Host, request.RequestURI = "http", strings.TrimPrefix(c.base, "http://"), ""
		answer, err := c.client.Do(request)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		_, want := r.openNow()
		require.Equal(t, want, string(body))
		if placed == 20 {
			require.EqualValues(t, len(want), answer.ContentLength)
		} else {
			require.Equal(t, []string{"chunked"}, answer.TransferEncoding)
		}
	}
}

func TestAllCancelledOrdersAreListedHoweverMany(t *testing.T) {
	r := manyOpen(t, 2000)
	r.send("alice", "POST", "/order", `{"market":"ETH-EUR","side":"buy","orderType":"limit","operatorId":1,`+
		`"amount":"1","price":"100"}`).ok(t)
	want := []string{}
	for _, m := range r.ex.catalog.Markets() {
		for o := r.ex.accounts[0].recordsOf(m.ID).open.oldest; o != nil; o = o.links[byState].newer {
			want = append(want, fmt.Sprintf(`{"orderId":"%s","operatorId":7,"market":"%s"}`, r.ex.orderOf(o).ExchangeID,
				m.Name))
		}
	}
	require.Len(t, want, 2001)
	got := r.send("alice", "DELETE", "/orders?operatorId=7", "").ok(t)
	require.Equal(t, "["+strings.Join(want, ",")+"]", got.body)
	require.Equal(t, "[]", r.send("alice", "GET", "/ordersOpen", "").body)
}

// stuck is a ResponseWriter of a client that stops reading: Write says so and waits until the
// connection breaks.
type stuck struct {
	discard
	waits, broken chan struct{}
	writes        int
}

func (s *stuck) Write(p []byte) (int, error) {
	s.writes++
	s.waits <- struct{}{}
	<-s.broken
	return 0, errors.New("the connection is broken")
}

func TestAReaderThatStopsKeepsNobodyWaiting(t *testing.T) {
	r := manyOpen(t, 1000)
	w := &stuck{discard: discard{header: http.Header{}}, waits: make(chan struct{}, 1), broken: make(chan struct{})}
	request := r.request("alice", "GET", "/ordersOpen", "")
	var reader sync.WaitGroup
	reader.Go(func() { r.ex.ServeHTTP(w, request) })
	<-w.waits
	// the answer is on its way, and everything else goes on
	(&standing{r: r, placed: 1000}).place(10)
	r.send("bob", "POST", "/order", `{"market":"BTC-EUR","side":"sell","orderType":"market","operatorId":1,`+
		`"amount":"0.01"}`).ok(t)
	require.Contains(t, r.send("alice", "DELETE", "/orders?operatorId=1", "").ok(t).body, `"orderId"`)
	require.Equal(t, "[]", r.send("alice", "GET", "/ordersOpen", "").body)
	close(w.broken)
	reader.Wait()
	require.Equal(t, 1, w.writes, "nothing more is made for a client that has gone")
}

// TestListingOpenOrdersTakesLittleMemory lists open orders and counts what that allocates. Told to
// place more, it places so many and lists them ten times; the process keeps none of it:
//
//	go test -run ListingOpenOrders -v ./exchange/sandbox -orders 100000
func TestListingOpenOrdersTakesLittleMemory(t *testing.T) {
	if raced {
		t.Skip("the race detector takes memory of its own")
	}
	count, lists := 5000, 1
	if *manyOrders > 0 {
		count, lists = *manyOrders, 10
		defer PaceCollector()()
	}
	r := manyOpen(t, count)
	request := r.request("alice", "GET", "/ordersOpen", "")
	kept := alive()
	before, known := resident(t)
	var from, to runtime.MemStats
	runtime.ReadMemStats(&from)
	for range lists {
		w := &byteCounter{discard: discard{header: http.Header{}}}
		r.ex.ServeHTTP(w, request)
		require.Greater(t, w.bytes, 500*count)
		require.Less(t, w.most, 2*partSize)
	}
	runtime.ReadMemStats(&to)
	allocated := to.TotalAlloc - from.TotalAlloc
	require.Less(t, allocated, uint64(1e6+300*lists*count), "a copy of each order, and one part of the text")
	t.Logf("%d open orders: %d bytes allocated for each that is listed", count, allocated/uint64(lists*count))
	require.Less(t, float64(alive()), float64(kept)+2e6)
	if after, _ := resident(t); known && *manyOrders > 0 {
		t.Logf("resident before %d MB, after %d lists %d MB", before/1e6, lists, after/1e6)
		require.Less(t, after-before, int64(100e6))
	}
}

// byteCounter is a ResponseWriter that counts bytes and keeps nothing.
type byteCounter struct {
	discard
	bytes, most int
}

func (c *byteCounter) Write(p []byte) (int, error) {
	c.bytes, c.most = c.bytes+len(p), max(c.most, len(p))
	return len(p), nil
}
