package stream

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// tickerStage is a feed of the ticker of BTC-EUR in a bubble; a test plays the stream.
type tickerStage struct {
	t   *testing.T
	f   *Feed
	out chan market.Event

	mu    sync.Mutex    // guards everything below
	now   market.Ticker // of the exchange, by REST
	asked int
	stale int
}

// onTickers plays a story in a bubble of its own time.
func onTickers(t *testing.T, story func(s *tickerStage)) {
	synctest.Test(t, func(t *testing.T) {
		s := &tickerStage{t: t, now: market.Ticker{Market: 1, Last: 100_00, Bid: 99_00, BidSize: 1, Ask: 101_00,
			AskSize: 2}, out: make(chan market.Event, 1024)}
		data := &fakeData{pricesFn: func() []market.Ticker {
			time.Sleep(100 * time.Millisecond)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.asked++
			return []market.Ticker{{Market: 1, Last: s.now.Last}}
		}, topsFn: func() []market.Ticker { return []market.Ticker{s.shows()} }}
		s.f = NewFeed(FeedConfig{On: closedConnection(t), Data: data, Catalog: newCatalog(t), Log: zerolog.Nop(),
			Out: s.out, Tickers: []market.ID{1}, Stale: func(market.Duration) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.stale++
			}})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { s.f.Run(ctx) })
		story(s)
		cancel()
		running.Wait()
	})
}

// shows is what the exchange shows now.
func (s *tickerStage) shows() market.Ticker {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// change changes what the exchange shows.
func (s *tickerStage) change(how func(now *market.Ticker)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how(&s.now)
}

// questions is how many questions were asked since the last call, and how often prices were stale.
func (s *tickerStage) questions() (asked, stale int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, s.asked = s.asked, 0
	return asked, s.stale
}

// tell plays an event.
func (s *tickerStage) tell(members string) {
	require.NoError(s.t, s.f.tickers.onEvent(fmt.Appendf(nil, `{"event":"ticker","market":"BTC-EUR",%s}`, members)))
}

// heard returns the events since the last call.
func (s *tickerStage) heard() (all []market.Ticker) {
	synctest.Wait()
	for {
		select {
		case ev := <-s.out:
			all = append(all, *ev.Ticker)
		default:
			return all
		}
	}
}

func TestAStreamOfTickersBeginsWithAQuestion(t *testing.T) {
	onTickers(t, func(s *tickerStage) {
		synctest.Wait()
		time.Sleep(500 * time.Millisecond)
		s.heard() // polled, while the stream is not open
		s.f.tickers.onOpened()
		time.Sleep(50 * time.Millisecond) // the question is on its way
		s.change(func(now *market.Ticker) { now.Bid, now.Last = 98_00, 100_50 })
		s.tell(`"bestBid":"97","bestBidSize":"3"`) // later than what the answer will show
		require.Empty(t, s.heard(), "the last price is not known yet")
		time.Sleep(time.Second)
		want := s.shows()
		want.Bid, want.BidSize = 97_00, 3_00
		require.Equal(t, want, s.heard()[0])
		s.tell(`"lastPrice":"102.5"`)
		want.Last = 102_50
		require.Equal(t, []market.Ticker{want}, s.heard())
	})
}

func TestUnchangedTickersComeAgainAsLongAsTheyAreProven(t *testing.T) {
	onTickers(t, func(s *tickerStage) {
		s.f.tickers.onOpened()
		time.Sleep(time.Minute)
		require.InDelta(t, 60, len(s.heard()), 3, "one a second, as polls send")
		asked, stale := s.questions()
		require.InDelta(t, 7, asked, 2, "a silent market is asked for each ten seconds")
		require.Zero(t, stale)
		for range 120 {
			time.Sleep(500 * time.Millisecond)
			s.tell(`"lastPrice":"100"`)
		}
		asked, _ = s.questions()
		require.LessOrEqual(t, asked, 2, "a market that moves is compared once a minute")
		require.Zero(t, s.f.Differences())
	})
}

func TestTickersArePolledWhileTheStreamIsNotOpen(t *testing.T) {
	onTickers(t, func(s *tickerStage) {
		time.Sleep(10 * time.Second)
		require.InDelta(t, 10, len(s.heard()), 2)
		s.f.tickers.onOpened()
		time.Sleep(time.Second)
		s.f.tickers.channel.Closed()
		s.heard()
		s.change(func(now *market.Ticker) { now.Last = 90_00 })
		time.Sleep(3 * time.Second)
		all := s.heard()
		require.NotEmpty(t, all)
		require.Equal(t, market.Price(90_00), all[len(all)-1].Last)
	})
}

func TestATickerThatTheStreamDoesNotTellIsFound(t *testing.T) {
	onTickers(t, func(s *tickerStage) {
		s.f.tickers.onOpened()
		time.Sleep(5 * time.Second)
		require.Equal(t, market.Price(100_00), s.heard()[0].Last)
		s.change(func(now *market.Ticker) { now.Last = 90_00 }) // and no event
		time.Sleep(12 * time.Second)
		all := s.heard()
		require.Equal(t, market.Price(90_00), all[len(all)-1].Last)
		require.EqualValues(t, 1, s.f.Differences())
		s.change(func(now *market.Ticker) { now.Bid, now.BidSize = 0, 0 }) // no event tells of an empty side
		time.Sleep(30 * time.Second)
		all = s.heard()
		require.Zero(t, all[len(all)-1].Bid)
		require.EqualValues(t, 1, s.f.Differences())
	})
}

// The bid is of an event, the ask of an older answer. The event that is on its way has both.
func TestSidesOfDifferentAgesAreNotSentWhileTheyCross(t *testing.T) {
	onTickers(t, func(s *tickerStage) {
		time.Sleep(500 * time.Millisecond)
		s.heard()
		s.f.tickers.onOpened()
		time.Sleep(50 * time.Millisecond)
		s.tell(`"bestBid":"102","bestBidSize":"3"`)
		time.Sleep(100 * time.Millisecond) // the answer has an ask of 101
		require.Empty(t, s.heard())
		s.tell(`"bestBid":"102","bestBidSize":"3","bestAsk":"103","bestAskSize":"4"`)
		require.Equal(t, []market.Ticker{{Market: 1, Last: 100_00, Bid: 102_00, BidSize: 3_00, Ask: 103_00,
			AskSize: 4_00}},
			s.heard())
	})
}
