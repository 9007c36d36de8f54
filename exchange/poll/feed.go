package poll

import (
	"cmp"
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

// Config says what a Feed polls, and how often. A zero duration takes the default in its comment.
type Config struct {
	Data    exchange.MarketData
	Catalog *market.Catalog // for names and units
	Log     zerolog.Logger

	Tickers []market.ID // markets with ticker events
	Books   []market.ID // markets with book events
	Depth   int         // levels of each side; 0: 50
	Series  []Series    // closed candles
	Trades  []market.ID // markets with trade events; they need …
	// … TradeData; nil where there are none.
	TradeData exchange.TradeData

	TickerEvery  market.Duration // a second
	BookEvery    market.Duration // two seconds
	TradesEvery  market.Duration // ten seconds
	RulesEvery   market.Duration // 30 s
	Settle       market.Duration // from a candle's close to its query; 2 s
	Grace        market.Duration // how long a group of candles waits for a missing one; 20 s
	MaxCandleAge market.Duration // older candles are marked late; 0: twice their interval

	// Final reports whether the candle of a series that begins at a time changes no more, although
	// Settle is not over; nil: it may change. News receives when more may be final.
	Final func(m market.ID, interval market.Interval, start market.Time) bool
	News  <-chan struct{}

	// Out gets the events; nil: a channel that the feed makes.
	Out chan market.Event

	// StaleAfter is the time without a ticker after which Stale is called, and without any other
	// answer after which a warning is logged; 10 s.
	StaleAfter market.Duration
	Stale      func(silent market.Duration) // may be nil
}

// Series is the candles of one market and interval.
type Series struct {
	Market   market.ID
	Interval market.Interval
	Last     market.Time // start of the last candle delivered; 0: begin with the candle that is open now
}

// Feed polls an exchange as Config says and sends the answers as events.
//
// Queue: the channel that Events returns. Candles, trades and rules wait for room. A ticker or book
// that finds no room is dropped, because the next one is newer.
type Feed struct {
	Config
	poke    chan struct{}
	rows    []row
	remarks remarks // about answers to History
}

// New returns a feed.
func New(c Config) *Feed {
	for _, d := range [...]struct {
		field     *market.Duration
		otherwise market.Duration
	}{
		{&c.TickerEvery, time.Second}, {&c.BookEvery, 2 * time.Second}, {&c.TradesEvery,
			10 * time.Second}, {&c.RulesEvery, 30 * time.Second},
		{&c.Settle, 2 * time.Second}, {&c.Grace, 20 * time.Second}, {&c.StaleAfter, 10 * time.Second},
	} {
		*d.field = cmp.Or(*d.field, d.otherwise)
	}
	c.Depth = cmp.Or(c.Depth, 50)
	if c.Out == nil {
		c.Out = make(chan market.Event, max(256, 4*len(c.Tickers)))
	}
	f := &Feed{Config: c, poke: make(chan struct{}, 1)}
	for _, s := range c.Series {
		f.rows = append(f.rows, row{Series: s, seen: s.Last,
			silence: f.silence("candles " + c.Catalog.Market(s.Market).Name + " " + s.Interval.String())})
	}
	return f
}

// Events returns the channel of events. The receiver owns the data that they point to.
func (f *Feed) Events() <-chan market.Event { return f.Out }

// AskRules polls status and rules of the markets at once. Call it after a refusal because of them.
func (f *Feed) AskRules() {
	select {
	case f.poke <- struct{}{}:
	default: // a poll is due already
	}
}

// Run polls until ctx ends.
func (f *Feed) Run(ctx context.Context) {
	var asking sync.WaitGroup
	if len(f.Tickers) > 0 {
		priced := make(chan struct{})
		asking.Go(func() { f.every(ctx, "tickers", f.TickerEvery, nil, first(f.tickers(), priced)) })
		select {
		case <-priced: // the gate checks orders against a price, so prices come before books
		case <-ctx.Done():
		}
	}
	for _, id := range f.Books {
		asking.Go(func() { f.every(ctx, "book "+f.Catalog.Market(id).Name, f.BookEvery, nil, f.book(id)) })
	}
	for _, id := range f.Trades {
		asking.Go(func() {
			f.every(ctx, "trades "+f.Catalog.Market(id).Name, f.TradesEvery, nil, f.trades(id))
		})
	}
	if len(f.rows) > 0 {
		asking.Go(func() { f.candles(ctx) })
	}
	asking.Go(func() { f.every(ctx, "markets", f.RulesEvery, f.poke, f.rules()) })
	asking.Wait()
}

// first closes done when poll has returned for the first time, with an answer or without.
func first(poll func(context.Context) error, done chan<- struct{}) func(context.Context) error {
	return func(ctx context.Context) error {
		err := poll(ctx)
		if done != nil {
			close(done)
			done = nil
		}
		return err
	}
}

// every calls poll at once, then once a period, and on each poke. The period varies by a twentieth,
// so that many feeds do not run in step. A failed poll is repeated with the next round.
func (f *Feed) every(ctx context.Context, what string, period market.Duration, poke <-chan struct{},
	poll func(context.Context) error) {
	quiet := f.silence(what)
	for ctx.Err() == nil {
		err := poll(ctx)
		quiet.note(ctx, f.Data.Now(), err)
		wait := period - period/20 + market.Duration(rand.Int64N(int64(period/10)+1))
		select {
		case <-time.After(wait):
		case <-poke:
		case <-ctx.Done():
		}
	}
}

// tickers sends the tickers of all wanted markets in each round: an unchanged price is an event,
// too.
func (f *Feed) tickers() func(context.Context) error {
	var prices, books []market.Ticker
	heard, stale := f.Data.Now(), false
	return func(ctx context.Context) (err error) {
		asked := f.Data.Now() // the age of an answer counts from the query
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

// errNoPrices stands for an answer without prices, which counts as no answer.
var errNoPrices = errors.New("the exchange's tickers have no price of any market that is traded")

// priced reports whether a wanted market has a price, a bid or an ask.
func (f *Feed) priced(tickers []market.Ticker) bool {
	return slices.ContainsFunc(tickers, func(t market.Ticker) bool {
		return t.Last+t.Bid+t.Ask != 0 && slices.Contains(f.Tickers, t.Market)
	})
}

// whole ignores exchange.ErrUnits: the tickers of all other markets are there.
func (f *Feed) whole(tickers []market.Ticker, err error) ([]market.Ticker, error) {
	if errors.Is(err, exchange.ErrUnits) {
		err = nil
	}
	return tickers, err
}

// book sends one market's book when it has changed.
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

// rules sends status and rules of the markets that have changed, in the first round of all.
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

// offer sends an event, or drops it where the channel is full.
func (f *Feed) offer(ev market.Event) {
	select {
	case f.Out <- ev:
	default:
	}
}

// send sends an event and waits for room.
func (f *Feed) send(ctx context.Context, ev market.Event) {
	select {
	case f.Out <- ev:
	case <-ctx.Done():
	}
}
