// Package poll makes a stream of market events out of an exchange that has to be asked: tickers,
// order books, closed candles and the status and rules of markets. It never trades and never
// decides what an event means. Start at Feed.Run; candles.go says what "closed, in order, exactly
// once" takes.
package poll

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Config is what a Feed asks for, and how often. Zero durations take the default that stands behind
// each.
type Config struct {
	Data    exchange.MarketData
	Catalog *market.Catalog // its units; the feed reads nothing else of it
	Log     zerolog.Logger

	Tickers []market.ID // markets whose price, bid and ask are wanted
	Books   []market.ID // markets whose book is wanted
	Depth   int         // levels of each side; 0: 50
	Series  []Series    // closed candles

	TickerEvery  market.Duration // a second
	BookEvery    market.Duration // two seconds
	RulesEvery   market.Duration // 30 s
	Settle       market.Duration // from a candle's close to the question; 2 s
	Grace        market.Duration // how long a group of candles waits for one that could not be got; 20 s
	MaxCandleAge market.Duration // older ones are marked late; 0: twice their interval
	// without a ticker for so long, Stale is called, and without an answer to anything else the log
	// says so; 10 s
	StaleAfter market.Duration
	Stale      func(silent market.Duration) // nil: nobody is told
}

// Series is one row of candles that a strategy receives.
type Series struct {
	Market   market.ID
	Interval market.Interval
	// start of the last candle that was delivered; the next one follows it. 0: begin with the one
	// that is open now
	Last market.Time
}

// Feed asks an exchange for what Config names and tells it as events.
//
// Queue: the channel that Events returns. Candles and rules wait for room. Tickers and books do
// not: one that finds no room is dropped, for the next is newer.
type Feed struct {
	Config
	out  chan market.Event
	poke chan struct{}
	rows []row
}

// New returns a feed.
func New(c Config) *Feed {
	for _, d := range [...]struct {
		field     *market.Duration
		otherwise market.Duration
	}{{&c.TickerEvery, time.Second}, {&c.BookEvery, 2 * time.Second}, {&c.RulesEvery, 30 * time.Second}, {&c.Settle,
		2 * time.Second}, {&c.Grace, 20 * time.Second}, {&c.StaleAfter, 10 * time.Second}} {
		if *d.field == 0 {
			*d.field = d.otherwise
		}
	}
	if c.Depth == 0 {
		c.Depth = 50
	}
	f := &Feed{Config: c, out: make(chan market.Event, 256), poke: make(chan struct{}, 1)}
	for _, s := range c.Series {
		f.rows = append(f.rows, row{Series: s,
			silence: f.silence("candles " + c.Catalog.Market(s.Market).Name + " " + s.Interval.String())})
	}
	return f
}

// Events returns the channel of events. What they point to is the receiver's own.
func (f *Feed) Events() <-chan market.Event { return f.out }

// AskRules lets status and rules of the markets be asked for at once: an order was refused because
// of them.
func (f *Feed) AskRules() {
	select {
	case f.poke <- struct{}{}:
	default: // it is about to happen
	}
}

// Run asks until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	var asking sync.WaitGroup
	if len(f.Tickers) > 0 {
		priced := make(chan struct{})
		asking.Go(func() { f.every(ctx, "tickers", f.TickerEvery, nil, first(f.tickers(), priced)) })
		select {
		case <-priced: // what is decided on a book needs a price to be held against
		case <-ctx.Done():
		}
	}
	for _, id := range f.Books {
		asking.Go(func() { f.every(ctx, "book "+f.Catalog.Market(id).Name, f.BookEvery, nil, f.book(id)) })
	}
	if len(f.rows) > 0 {
		asking.Go(func() { f.candles(ctx) })
	}
	asking.Go(func() { f.every(ctx, "markets", f.RulesEvery, f.poke, f.rules()) })
	asking.Wait()
}

// first closes done when ask has returned for the first time, with an answer or without.
func first(ask func(context.Context) error, done chan<- struct{}) func(context.Context) error {
	return func(ctx context.Context) error {
		err := ask(ctx)
		if done != nil {
			close(done)
			done = nil
		}
		return err
	}
}

// every calls ask at once and then again and again, a tenth of the period earlier or later so that
// many feeds do not beat in time, and whenever poke says so. What fails is tried again with the
// next round.
func (f *Feed) every(ctx context.Context, what string, period market.Duration, poke <-chan struct{},
	ask func(context.Context) error) {
	quiet := f.silence(what)
	for ctx.Err() == nil {
		err := ask(ctx)
		quiet.note(ctx, f.Data.Now(), err)
		wait := period - period/20 + market.Duration(rand.Int64N(int64(period/10)+1))
		select {
		case <-time.After(wait):
		case <-poke:
		case <-ctx.Done():
		}
	}
}

// tickers tells the wanted markets' tickers, each round all of them: a price that stands is news
// too.
func (f *Feed) tickers() func(context.Context) error {
	var prices, books []market.Ticker
	heard, stale := f.Data.Now(), false
	return func(ctx context.Context) (err error) {
		asked := f.Data.Now() // an answer that took long is as old as its question
		if prices, err = f.whole(f.Data.TickerPrices(ctx, prices[:0])); err == nil {
			books, err = f.whole(f.Data.TickerBooks(ctx, books[:0]))
		}
		if err == nil && !f.priced(prices) && !f.priced(books) {
			err = errNoPrices
		}
		now := f.Data.Now()
		if err != nil {
			if silent := now.Sub(heard); silent > f.StaleAfter && !stale && f.Stale != nil {
				stale = true
				f.Stale(silent)
			}
			return err
		}
		heard, stale = now, false
		for i := range prices {
			if !slices.Contains(f.Tickers, prices[i].Market) {
				continue
			}
			t := prices[i]
			if at := slices.IndexFunc(books, func(b market.Ticker) bool { return b.Market == t.Market }); at >= 0 {
				t.Bid, t.BidSize, t.Ask, t.AskSize = books[at].Bid, books[at].BidSize, books[at].Ask, books[at].AskSize
			}
			f.offer(market.Event{At: asked, Kind: market.KindTicker, Market: t.Market, Ticker: &t})
		}
		return nil
	}
}

// errNoPrices is an answer that says nothing: it counts as none.
var errNoPrices = errors.New("the exchange's tickers have no price of any market that is traded")

// priced reports whether a wanted market has a price, a bid or an ask.
func (f *Feed) priced(tickers []market.Ticker) bool {
	return slices.ContainsFunc(tickers, func(t market.Ticker) bool {
		return t.Last+t.Bid+t.Ask != 0 &&
			slices.Contains(f.Tickers, t.Market)
	})
}

// whole takes tickers that are there although others do not fit their units.
func (f *Feed) whole(tickers []market.Ticker, err error) ([]market.Ticker, error) {
	if errors.Is(err, exchange.ErrUnits) {
		err = nil
	}
	return tickers, err
}

// book tells one market's book when it has changed.
func (f *Feed) book(id market.ID) func(context.Context) error {
	m, nonce := f.Catalog.Market(id), int64(-1)
	return func(ctx context.Context) error {
		var book market.OrderBook
		asked := f.Data.Now()
		if err := f.Data.Book(ctx, m, f.Depth, &book); err != nil {
			return err
		}
		if book.Nonce != nonce {
			nonce = book.Nonce
			f.offer(market.Event{At: asked, Kind: market.KindBook, Market: id, Book: &book})
		}
		return nil
	}
}

// rules tells status and rules of markets that have changed since the last time, the first time
// all.
func (f *Feed) rules() func(context.Context) error {
	known := map[market.ID]market.Market{}
	return func(ctx context.Context) error {
		markets, err := f.Data.Rules(ctx)
		if errors.Is(err, exchange.ErrUnits) {
			f.Log.Error().Err(err).Msg("a market's rules have changed beyond what this bot can hold; start it again")
		} else if err != nil {
			return err
		}
		for i := range markets {
			m := markets[i]
			if known[m.ID] == m {
				continue
			}
			known[m.ID] = m
			f.send(ctx, market.Event{At: f.Data.Now(), Kind: market.KindMarketStatus, Market: m.ID, Status: m.Status,
				Rules: &m})
		}
		return nil
	}
}

// offer hands over an event if there is room.
func (f *Feed) offer(ev market.Event) {
	select {
	case f.out <- ev:
	default:
	}
}

// send waits for room.
func (f *Feed) send(ctx context.Context, ev market.Event) {
	select {
	case f.out <- ev:
	case <-ctx.Done():
	}
}
