package stream

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// FeedConfig says what a Feed follows. A zero duration takes the default in its comment.
type FeedConfig struct {
	On      *Connection
	Data    exchange.MarketData // over REST: what was before a subscription, snapshots, and proofs
	Catalog *market.Catalog     // for names and units
	Log     zerolog.Logger
	Out     chan<- market.Event // for the events, whose data belongs to the receiver

	Tickers []market.ID // markets with ticker events
	Books   []market.ID // markets with book events
	Depth   int         // levels of each side; 0: 50
	Series  []Series    // closed candles: Candles serves them
	Trades  []market.ID // markets with trade events; they need …
	// … TradeData; nil where there are none.
	TradeData exchange.TradeData

	// TickerEvery is the time after which an unchanged ticker is sent again, and between two
	// questions over REST while the stream is not open; a second.
	TickerEvery market.Duration
	// BookEvery is the time between two questions for a book over REST while the stream is not
	// open; two seconds.
	BookEvery market.Duration
	// CheckEvery is the time between two comparisons with REST, of all tickers and of each book; a
	// minute.
	CheckEvery market.Duration
	// StaleAfter is the time without a ticker after which Stale is called; 10 s.
	StaleAfter market.Duration
	Stale      func(silent market.Duration) // may be nil
}

// Series is the candles of one market and interval.
type Series struct {
	Market   market.ID
	Interval market.Interval
}

// Feed follows the public channels of a connection and sends market events, as poll.Feed does.
// While the stream is not open it asks over REST, as often as poll.Feed.
//
// Queue: while the receiver is slow, a ticker or a book waits as one event with its newest state;
// trades wait in order, up to maxTrades, of which the oldest are dropped and counted.
type Feed struct {
	FeedConfig
	known   names
	tickers *tickers
	books   *books
	candles *candles
	trades  *trades
	unfit   map[market.ID]bool // markets with numbers that do not fit; of the reading goroutine

	queue queue[queued]

	gaps, differences atomic.Int64
}

// queued is an event that waits to be sent: make makes it of the newest state.
type queued interface {
	// make returns the event, or false where there is none any more. It is called once for each
	// time in the queue.
	make() (market.Event, bool)
}

// NewFeed returns a feed and registers its channels on the connection.
func NewFeed(c FeedConfig) *Feed {
	c.Depth = cmp.Or(c.Depth, 50)
	c.TickerEvery = cmp.Or(c.TickerEvery, time.Second)
	c.BookEvery = cmp.Or(c.BookEvery, 2*time.Second)
	c.CheckEvery = cmp.Or(c.CheckEvery, time.Minute)
	c.StaleAfter = cmp.Or(c.StaleAfter, 10*time.Second)
	f := &Feed{FeedConfig: c, known: names{}, unfit: map[market.ID]bool{}, queue: newQueue[queued]()}
	for _, m := range c.Catalog.Markets() {
		f.known[m.Name] = m
	}
	f.tickers, f.books, f.candles, f.trades = newTickers(f), newBooks(f), newCandles(f), newTrades(f)
	return f
}

// Run follows the channels until ctx ends. The connection runs elsewhere.
func (f *Feed) Run(ctx context.Context) {
	var beside sync.WaitGroup
	beside.Go(func() { f.send(ctx) })
	if len(f.Tickers) > 0 {
		beside.Go(func() { f.tickers.run(ctx) })
		<-f.tickers.priced // the gate checks orders against a price, so prices come before books
	}
	for _, b := range f.books.of {
		beside.Go(func() { b.run(ctx) })
	}
	if len(f.Trades) > 0 {
		beside.Go(func() { f.trades.run(ctx) })
	}
	beside.Wait()
}

// Gaps is how many times events of a book were missing.
func (f *Feed) Gaps() int64 { return f.gaps.Load() }

// Differences is how many answers over REST have differed from what the stream had told.
func (f *Feed) Differences() int64 { return f.differences.Load() }

// put lets an event wait to be sent.
func (f *Feed) put(one queued) { f.queue.put(one, math.MaxInt) }

// send sends the events of the queue until ctx ends.
func (f *Feed) send(ctx context.Context) {
	f.queue.run(ctx, func(one queued) {
		if ev, any := one.make(); any {
			hand(ctx, f.Out, ev)
		}
	})
}

// judge is what an event that cannot be read means: numbers that do not fit a market's units
// concern that market alone, and are logged once; anything else ends the connection.
func (f *Feed) judge(m *market.Market, err error) error {
	if err == nil || m == nil || errors.Is(err, wire.ErrMalformed) {
		return err
	}
	if !f.unfit[m.ID] {
		f.unfit[m.ID] = true
		f.Log.Error().Err(err).Str("market", m.Name).
			Msg("a market's numbers do not fit what this bot knows of it; its stream is not used")
	}
	return nil
}

// namesOf are the names of markets.
func (f *Feed) namesOf(ids []market.ID) (list []string) {
	for _, id := range ids {
		list = append(list, f.Catalog.Market(id).Name)
	}
	return list
}

// differed counts a difference between the stream and an answer over REST.
func (f *Feed) differed(m *market.Market, what string) {
	f.differences.Add(1)
	f.Log.Warn().Str("market", m.Name).Str("of", what).
		Msg("the exchange's answer differs from what its stream has told; the answer counts")
}
