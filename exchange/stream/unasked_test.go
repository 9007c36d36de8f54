package stream

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
)

// flood is a server before an exchange: it carries a socket, and says frames of its own between
// those of the exchange, as fast as they are read.
type flood struct {
	to     string
	frame  func(i int) string
	frames int
	begin  chan struct{} // closed: it says them

	mu      sync.Mutex // guards everything below
	sockets int
	said    int
}

func (f *flood) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	here, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer here.CloseNow()
	there, _, err := websocket.Dial(r.Context(), f.to+"/v2/", nil)
	if err != nil {
		return
	}
	defer there.CloseNow()
	there.SetReadLimit(maxFrame)
	f.mu.Lock()
	f.sockets++
	f.mu.Unlock()
	ctx, cancel := context.WithCancel(r.Context())
	var work sync.WaitGroup
	carry := func(from, to *websocket.Conn) {
		defer cancel()
		for {
			_, frame, err := from.Read(ctx)
			if err != nil || to.Write(ctx, websocket.MessageText, frame) != nil {
				return
			}
		}
	}
	work.Go(func() { carry(here, there) })
	work.Go(func() { carry(there, here) })
	work.Go(func() {
		select {
		case <-f.begin:
		case <-ctx.Done():
		}
		for i := range f.frames {
			if here.Write(ctx, websocket.MessageText, []byte(f.frame(i))) != nil {
				return
			}
			f.mu.Lock()
			f.said++
			f.mu.Unlock()
		}
	})
	work.Wait()
}

// counts are the sockets that were opened, and the frames that were said.
func (f *flood) counts() (sockets, said int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sockets, f.said
}

// lines is a log in memory. It is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// floods are frames of errors, and how many kinds of them there are; 0: the first ends the socket.
var floods = map[string]struct {
	frame func(i int) string
	kinds int
}{
	"without a request": {func(int) string { return `{"errorCode":102,"error":"Invalid JSON."}` }, 1},
	"of requests that were never made": {func(i int) string {
		return fmt.Sprintf(`{"action":"privateCreateOrder","requestId":%d,"errorCode":203,"error":"x."}`, i+1_000_000)
	}, 1},
	"of requests that were answered": {func(int) string {
		return `{"action":"authenticate","requestId":1,"errorCode":304,"error":"x."}`
	}, 1},
	"unknown action": {func(int) string {
		return `{"action":"nonsense","errorCode":110,"error":"Invalid endpoint."}`
	}, 1},
	"each with another code": {func(i int) string {
		return fmt.Sprintf(`{"errorCode":%d,"error":"%s"}`, i+1, strings.Repeat("x", 5000))
	}, unaskedCodes + 1},
	"no JSON": {func(int) string { return "<html>" }, 0},
}

// Thousands of error frames are a line a kind, no memory, and no other connection; what is sent
// meanwhile is answered.
func TestAFloodOfErrorFramesHoldsUpNoOrder(t *testing.T) {
	for name, c := range floods {
		t.Run(name, func(t *testing.T) {
			d, log := newDesk(t, false), &lines{}
			f := &flood{to: d.url, frame: c.frame, frames: 20_000, begin: make(chan struct{})}
			if testing.Short() {
				f.frames = 3_000
			}
			server := httptest.NewServer(f)
			t.Cleanup(server.Close)
			on := d.overSocket(t, server.URL, zerolog.New(log))
			m, err := d.client.Rules(t.Context())
			require.NoError(t, err)
			before := inUse()
			close(f.begin)
			for number := market.OrderID(1); number <= 100; number++ {
				o := market.Order{ID: number, OperatorID: 7, Market: m[0].ID, Side: market.Buy, Type: market.TypeLimit,
					ClientOrderID: market.ClientOrderID(uuid.UUID{3}, number)}
				o.Price = 20_000 * market.Price(market.Pow10(m[0].PriceDigits))
				o.Amount = market.Qty(market.Pow10(m[0].AmountDigits)) / 1000
				o.TimeInForce, o.SelfTradePrevention = market.GTC, market.CancelNewest
				record, how := d.send(t, &market.Command{Kind: market.CommandPlace, Order: o})
				if c.kinds > 0 {
					require.Equal(t, fmt.Sprint(exchange.Accepted, nil), how)
					require.True(t, record.BySocket)
				}
			}
			bottest.Await(t, func() bool {
				sockets, said := f.counts()
				return said == f.frames || c.kinds == 0 && sockets > 2
			})
			if c.kinds == 0 {
				return // each next socket is opened after a longer pause
			}
			_, err = on.Ask(t.Context(), &Message{Action: "getTime"})
			require.NoError(t, err, "all frames before its reply have been read")
			require.Equal(t, c.kinds, strings.Count(log.String(), "the exchange refuses something on the stream"))
			require.Less(t, len(log.String()), 40_000)
			require.Less(t, inUse(), before+16<<20)
			sockets, _ := f.counts()
			require.Equal(t, 1, sockets)
			require.True(t, on.Authenticated())
		})
	}
}

func inUse() uint64 {
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return now.HeapAlloc
}

// What goes on for an hour is one line a minute of each kind, and none is left out of the counts.
func TestRefusalsOnAStreamAreALineAMinuteOfEachCodeWithTheirNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u unasked
		out := &lines{}
		log := zerolog.New(out)
		began := time.Now()
		for time.Since(began) < 10*time.Minute {
			u.note(&log, &exchange.Error{Code: 102, Message: "Invalid JSON."})
			u.note(&log, &exchange.Error{Code: 110, Message: strings.Repeat("é", 1<<16)})
			u.due(&log)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		u.due(&log)
		u.due(&log)
		text := strings.TrimSpace(out.String())
		require.Equal(t, 2*11, strings.Count(text, "\n")+1)
		require.Equal(t, 2*1, strings.Count(text, `"times":1,`))
		require.Equal(t, 2*9, strings.Count(text, `"times":60,`))
		require.Equal(t, 2*1, strings.Count(text, `"times":59,`))
		require.Less(t, len(text), 2*11*400)
	})
}
