package stream

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
)

// inMemory carries requests and sockets to an exchange in this process.
type inMemory struct {
	ex   *sandbox.Exchange
	work sync.WaitGroup
}

// RoundTrip implements http.RoundTripper.
func (t *inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(5 * time.Millisecond)
	t.work.Add(1)
	pass := func(_ bool, text []byte) ([]byte, time.Duration) { return text, 5 * time.Millisecond }
	if bottest.IsHandshake(r) {
		answer, _ := bottest.DialCable(t.ex, r, pass, t.work.Done)
		return answer, nil
	}
	defer t.work.Done()
	arriving := httptest.NewRequest(r.Method, r.URL.RequestURI(), nil)
	arriving.Header = r.Header.Clone()
	w := httptest.NewRecorder()
	t.ex.ServeHTTP(w, arriving)
	return w.Result(), nil
}

// stormsOfFeeds are faults that strike sockets for a minute, and what they must leave in the feed's
// counts.
var stormsOfFeeds = []struct {
	fault.Fault
	gaps, differs bool // some must have been seen
}{
	{Fault: fault.Fault{Kind: fault.SkipFrame, Channel: "book", Probability: 0.2}, gaps: true},
	{Fault: fault.Fault{Kind: fault.DuplicateFrame, Channel: "book", Probability: 0.2}, gaps: true},
	{Fault: fault.Fault{Kind: fault.SkipFrame, Channel: "ticker", Probability: 0.9}},
	{Fault: fault.Fault{Kind: fault.Mute, Channel: "book"}, differs: true},
	{Fault: fault.Fault{Kind: fault.Mute, Channel: "ticker"}, differs: true},
	{Fault: fault.Fault{Kind: fault.Mute, Channel: "candles"}},
	{Fault: fault.Fault{Kind: fault.Silence, Probability: 0.001}},
	{Fault: fault.Fault{Kind: fault.SwapFrames, Probability: 0.3}},
	{Fault: fault.Fault{Kind: fault.CutFrame, Probability: 0.002}},
	{Fault: fault.Fault{Kind: fault.DropSocket, Probability: 0.002}},
	{Fault: fault.Fault{Kind: fault.DelayFrame, Delay: 4 * time.Second, Probability: 0.01}},
	{Fault: fault.Fault{Kind: fault.RefuseSocket}},
	{Fault: fault.Fault{Kind: fault.NewNonces, After: 20 * time.Second}, gaps: true},
}

// After each of them, tickers and books are those of the exchange within a minute and a half.
func TestAFeedComesOutOfAStormTrue(t *testing.T) {
	for i, storm := range stormsOfFeeds {
		if testing.Short() && i%4 != 0 {
			continue
		}
		t.Run(storm.Kind.String()+" "+storm.Channel, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := playStorm(t, &storm.Fault)
				require.True(t, !storm.gaps || f.Gaps() > 0, "no gap was seen")
				require.True(t, !storm.differs || f.Differences() > 0, "no difference was seen")
			})
		})
	}
}

// latest is the latest event of each kind and market. It is safe for concurrent use.
type latest struct {
	mu      sync.Mutex // guards everything below
	tickers map[market.ID]market.Ticker
	books   map[market.ID]market.OrderBook
}

func (l *latest) take(ev *market.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ev.Ticker != nil {
		l.tickers[ev.Market] = *ev.Ticker
	} else {
		l.books[ev.Market] = *ev.Book
	}
}

func (l *latest) of(id market.ID) (market.Ticker, market.OrderBook) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tickers[id], l.books[id]
}

func playStorm(t *testing.T, one *fault.Fault) *Feed {
	config := sandbox.Default()
	config.Seed, config.Budget.PerKey, config.Budget.PerIP = 5, 1_000_000, 1_000_000
	if one.Until = time.Minute; one.Kind == fault.NewNonces {
		one.Until = 0
	}
	config.Faults = []fault.Fault{*one}
	ex, err := sandbox.New(config)
	require.NoError(t, err)
	way := &inMemory{ex: ex}
	client, err := rest.New(rest.Config{BaseURL: "https://exchange.test", Transport: way})
	require.NoError(t, err)
	require.NoError(t, client.Sync(t.Context()))
	cat, _, err := client.Catalog(t.Context())
	require.NoError(t, err)
	client.Use(cat)
	on, err := New(Config{BaseURL: "https://exchange.test", Transport: way, Now: client.Now, Log: zerolog.Nop()})
	require.NoError(t, err)
	out := make(chan market.Event, 64)
	f := NewFeed(FeedConfig{On: on, Data: client, Catalog: cat, Log: zerolog.Nop(), Out: out,
		Tickers: []market.ID{1, 2},
		Books:   []market.ID{1, 2}, Depth: 10, TickerEvery: time.Second, BookEvery: 2 * time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { on.Run(ctx) })
	running.Go(func() { f.Run(ctx) })
	now := &latest{tickers: map[market.ID]market.Ticker{}, books: map[market.ID]market.OrderBook{}}
	running.Go(func() {
		for {
			select {
			case ev := <-out:
				now.take(&ev)
			case <-ctx.Done():
				return
			}
		}
	})
	time.Sleep(150 * time.Second)
	checkAgainst(t, client, cat, now)
	require.True(t, on.Connected())
	cancel()
	running.Wait()
	way.work.Wait()
	require.NoError(t, ex.Close())
	return f
}

// checkAgainst requires that the latest events are what the exchange shows, at some moment within
// two seconds: prices move.
func checkAgainst(t *testing.T, client *rest.Client, cat *market.Catalog, heard *latest) {
	for id := market.ID(1); id <= 2; id++ {
		book, ticker := false, false
		for range 100 {
			var shown market.OrderBook
			require.NoError(t, client.Book(t.Context(), cat.Market(id), 10, &shown))
			top, err := client.TickerBook(t.Context(), cat.Market(id))
			require.NoError(t, err)
			top.Last, err = client.TickerPrice(t.Context(), cat.Market(id))
			require.NoError(t, err)
			synctest.Wait()
			shownTop, now := heard.of(id)
			if now.Nonce == shown.Nonce {
				require.Equal(t, shown.Bids, now.Bids)
				require.Equal(t, shown.Asks, now.Asks)
				book = true
			}
			ticker = ticker || top == shownTop
			time.Sleep(20 * time.Millisecond)
		}
		require.True(t, book, "the book of %s is not the exchange's", cat.Market(id).Name)
		require.True(t, ticker, "the ticker of %s is not the exchange's", cat.Market(id).Name)
	}
}
