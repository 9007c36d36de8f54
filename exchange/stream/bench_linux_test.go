package stream

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// deltaOf is an event that changes 20 levels of that book: most near the best, some deep, a quarter
// of them ends or returns.
func deltaOf(name string, nonce int64, chance *rand.Rand) []byte {
	var sides [2][]string
	for i := range 20 {
		away := 1 + chance.IntN(30)
		if i%5 == 0 {
			away = 1 + chance.IntN(900)
		}
		if i%2 == 0 {
			away = -away
		}
		amount := fmt.Sprintf("%d.50", 1+chance.IntN(40))
		if chance.IntN(4) == 0 {
			amount = "0"
		}
		price := 5000_00 + away
		sides[i%2] = append(sides[i%2], fmt.Sprintf(`["%d.%02d","%s"]`, price/100, price%100, amount))
	}
	return fmt.Appendf(nil, `{"event":"book","market":"%s","nonce":%d,"bids":[%s],"asks":[%s],"timestamp":%d}`, name,
		nonce, strings.Join(sides[0], ","), strings.Join(sides[1], ","), nonce)
}

// deltas are events of BTC-EUR for a copy, with the copy and its catalog.
func deltas(t testing.TB) (frames [][]byte, known names, book *bookCopy) {
	chance := rand.New(rand.NewPCG(1, 1))
	for nonce := range int64(64) {
		frames = append(frames, deltaOf("BTC-EUR", nonce+2, chance))
	}
	known, book = names{}, &bookCopy{}
	for _, m := range newCatalog(t).Markets() {
		known[m.Name] = m
	}
	book.load(levelsOf(1, snapshotDepth), snapshotDepth)
	return frames, known, book
}

func TestADeltaAllocatesNothing(t *testing.T) {
	frames, known, book := deltas(t)
	var d delta
	fold := func() {
		for _, frame := range frames {
			_, err := readDelta(frame, known, &d)
			require.NoError(t, err)
			book.apply(&d)
		}
	}
	fold() // the slices grow
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for _, frame := range frames {
			_, _ = readDelta(frame, known, &d)
			book.apply(&d)
		}
	}))
}

// BenchmarkDelta folds a delta of 20 levels into a copy of 1,000 levels a side, from its bytes. The
// goal is 2 µs. The floor reads the same bytes and keeps nothing.
func BenchmarkDelta(b *testing.B) {
	frames, known, book := deltas(b)
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			s := wire.NewScanner(frames[i%len(frames)])
			s.Discard()
		}
	})
	b.Run("fold", func(b *testing.B) {
		var d delta
		b.ReportAllocs()
		for i := range b.N {
			if _, err := readDelta(frames[i%len(frames)], known, &d); err != nil {
				b.Fatal(err)
			}
			book.apply(&d)
		}
	})
}

// The load of BenchmarkListening: markets with a ticker, of which some have a book, and changes of
// each a second.
const (
	listenTickers = 200
	listenBooks   = 20
	listenChanges = 10
)

// speaker is a server that acknowledges subscriptions and says frames.
type speaker struct {
	say chan [][]byte
}

func (s *speaker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	on, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer on.CloseNow()
	ctx, cancel := context.WithCancel(r.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for {
			select {
			case frames := <-s.say:
				for _, frame := range frames {
					_ = on.Write(ctx, websocket.MessageText, frame)
				}
			case <-ctx.Done():
				return
			}
		}
	})
	defer writing.Wait()
	defer cancel()
	for {
		_, frame, err := on.Read(ctx)
		if err != nil {
			return
		}
		if h, err := readHead(frame); err == nil {
			_ = on.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"event":"subscribed","requestId":%d,`+
				`"subscriptions":{}}`, h.id))
		}
	}
}

// manyMarkets is a catalog of so many markets, M001-EUR and so on.
func manyMarkets(b *testing.B, count int) *market.Catalog {
	cat := &market.Catalog{}
	_, err := cat.AddAsset("EUR", 2)
	require.NoError(b, err)
	for i := range count {
		symbol := fmt.Sprintf("M%03d", i+1)
		_, err := cat.AddAsset(symbol, 2)
		require.NoError(b, err)
		require.NoError(b, cat.AddMarket(&market.Market{Name: symbol + "-EUR", PriceDigits: 2, VolumeDigits: 2}))
	}
	return cat
}

// secondOf is the frames of a second.
func secondOf(second int64, chance *rand.Rand) (frames [][]byte) {
	for change := range int64(listenChanges) {
		for i := range listenTickers {
			frames = append(frames, fmt.Appendf(nil, `{"event":"ticker","market":"M%03d-EUR","bestBid":"%d.5",`+
				`"bestBidSize":"0.5"}`, i+1, 4000+chance.IntN(900)))
			if i < listenBooks {
				frames = append(frames, deltaOf(fmt.Sprintf("M%03d-EUR", i+1), second*listenChanges+change+2, chance))
			}
		}
	}
	return frames
}

func processTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkListening hears seconds of 200 tickers and 20 books of 1,000 levels a side at 10 changes
// a second, over TCP. cpu-ms is the time of all processors for such a second, the server's
// included: the goal is 100, a tenth of a core. The floor only reads the same frames. heap-KB is by
// how much memory has grown since the first second.
func BenchmarkListening(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		said := &speaker{say: make(chan [][]byte)}
		server := httptest.NewServer(said)
		defer server.Close()
		on, _, err := websocket.Dial(b.Context(), server.URL+"/v2/", nil)
		require.NoError(b, err)
		defer on.CloseNow()
		listen(b, said, func(frames int) {
			for range frames {
				_, _, err := on.Read(context.Background())
				require.NoError(b, err)
			}
		})
	})
	b.Run("feed", func(b *testing.B) {
		said := &speaker{say: make(chan [][]byte)}
		server := httptest.NewServer(said)
		defer server.Close()
		on, err := New(Config{BaseURL: server.URL, Now: machineTime, Log: zerolog.Nop()})
		require.NoError(b, err)
		out := make(chan market.Event, 4*listenTickers)
		config := FeedConfig{On: on, Catalog: manyMarkets(b, listenTickers), Log: zerolog.Nop(), Out: out, Depth: 50,
			Data: &fakeData{bookOf: func(m *market.Market, into *market.OrderBook) error {
				*into = *levelsOf(m.ID, snapshotDepth)
				return nil
			}}, CheckEvery: time.Hour}
		for i := range listenTickers {
			config.Tickers = append(config.Tickers, market.ID(i+1))
		}
		config.Books = config.Tickers[:listenBooks]
		f := NewFeed(config)
		ctx, cancel := context.WithCancel(b.Context())
		var running sync.WaitGroup
		running.Go(func() { on.Run(ctx) })
		running.Go(func() { f.Run(ctx) })
		running.Go(func() {
			for {
				select {
				case <-out:
				case <-ctx.Done():
					return
				}
			}
		})
		defer running.Wait()
		defer cancel()
		for !f.allSynced() {
			time.Sleep(time.Millisecond)
		}
		heard := int64(0)
		listen(b, said, func(frames int) {
			heard += int64(frames)
			for f.tickers.channel.Events()+f.books.channel.Events() < heard {
				time.Sleep(time.Millisecond)
			}
		})
		require.Zero(b, f.Gaps())
	})
}

// allSynced reports whether all books have a snapshot.
func (f *Feed) allSynced() bool {
	for _, one := range f.books.of {
		one.mu.Lock()
		synced := one.opened && one.synced
		one.mu.Unlock()
		if !synced {
			return false
		}
	}
	return true
}

// listen says b.N seconds of frames and lets them be heard.
func listen(b *testing.B, said *speaker, hear func(frames int)) {
	chance, used, grown := rand.New(rand.NewPCG(1, 2)), time.Duration(0), uint64(0)
	for second := range b.N {
		frames := secondOf(int64(second), chance)
		if second == 1 {
			grown = heapInUse()
		}
		before := processTime()
		said.say <- frames
		hear(len(frames))
		used += processTime() - before
	}
	b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms")
	if b.N > 1 {
		b.ReportMetric((float64(heapInUse())-float64(grown))/1024, "heap-KB")
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
