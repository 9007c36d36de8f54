package stream

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// fakeData is an exchange's REST side. Its Book is bookFn, and so on; a nil one has no answer.
type fakeData struct {
	exchange.MarketData
	bookFn    func(depth int, into *market.OrderBook) error
	bookOf    func(m *market.Market, into *market.OrderBook) error
	pricesFn  func() []market.Ticker
	topsFn    func() []market.Ticker
	candlesFn func(s Series, start, end market.Time) ([]market.Candle, error)
	tradesFn  func(from, to market.Time) []exchange.PublicTrade
}

var errNoAnswer = errors.New("no answer")

func (f *fakeData) Now() market.Time { return machineTime() }

func (f *fakeData) Book(_ context.Context, m *market.Market, depth int, into *market.OrderBook) error {
	if f.bookOf != nil {
		return f.bookOf(m, into)
	}
	return f.bookFn(depth, into)
}

func (f *fakeData) TickerPrices(_ context.Context, dst []market.Ticker) ([]market.Ticker, error) {
	if f.pricesFn == nil {
		return dst, errNoAnswer
	}
	return append(dst, f.pricesFn()...), nil
}

func (f *fakeData) TickerBooks(_ context.Context, dst []market.Ticker) ([]market.Ticker, error) {
	return append(dst, f.topsFn()...), nil
}

func (f *fakeData) Candles(_ context.Context, m *market.Market, interval market.Interval, start, end market.Time, _ int,
	dst []market.Candle) ([]market.Candle, error) {
	got, err := f.candlesFn(Series{m.ID, interval}, start, end)
	return append(dst, got...), err
}

func (f *fakeData) TradesBetween(_ context.Context, _ *market.Market, from, to market.Time, _ int,
	dst []exchange.PublicTrade) ([]exchange.PublicTrade, error) {
	return append(dst, f.tradesFn(from, to)...), nil
}

func (f *fakeData) Rules(context.Context) ([]market.Market, error) { return nil, nil }

// newCatalog has BTC-EUR and ETH-EUR with two decimals everywhere.
func newCatalog(t testing.TB) *market.Catalog {
	cat := &market.Catalog{}
	for _, symbol := range [...]string{"EUR", "BTC", "ETH"} {
		_, err := cat.AddAsset(symbol, 2)
		require.NoError(t, err)
	}
	for _, name := range [...]string{"BTC-EUR", "ETH-EUR"} {
		require.NoError(t, cat.AddMarket(&market.Market{Name: name, PriceDigits: 2, VolumeDigits: 2}))
	}
	return cat
}

// closedConnection is a connection that is never opened: a test calls the handlers itself.
func closedConnection(t testing.TB) *Connection {
	on, err := New(Config{BaseURL: "http://127.0.0.1:1", Now: machineTime, Log: zerolog.Nop()})
	require.NoError(t, err)
	return on
}

// levelsOf is a full book of a market: levels of each side around a price of 5000.00.
func levelsOf(id market.ID, levels int) *market.OrderBook {
	b := &market.OrderBook{Market: id, Nonce: 1, Time: 1}
	for i := range levels {
		b.Bids = append(b.Bids, market.Level{Price: market.Price(5000_00 - 1 - i), Amount: 1_00})
		b.Asks = append(b.Asks, market.Level{Price: market.Price(5000_00 + 1 + i), Amount: 1_00})
	}
	return b
}

// theirs is the book of an exchange: prices and amounts, and what each state was.
type theirs struct {
	mu     sync.Mutex
	chance *rand.Rand
	sides  [2]map[int64]market.Qty // bids, asks
	mid    int64
	nonce  int64
	at     market.Time
	was    map[market.Time]market.OrderBook
	times  []market.Time // of the latest states
	depth  int           // levels that are compared
}

func newTheirs(seed uint64, depth int) *theirs {
	b := &theirs{chance: rand.New(rand.NewPCG(seed, 2)), mid: 500_00, nonce: 7, depth: depth,
		was: map[market.Time]market.OrderBook{}, sides: [2]map[int64]market.Qty{{}, {}}}
	for i := range int64(1500) {
		b.sides[0][b.mid-1-i], b.sides[1][b.mid+1+i] = 5, 5
	}
	return b
}

// change changes some levels, and returns the event.
func (b *theirs) change() (frame []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nonce++
	b.at = machineTime()
	b.mid += int64(b.chance.IntN(5) - 2)
	var texts [2]string
	set := func(side int, price int64, amount market.Qty) {
		if texts[side] != "" {
			texts[side] += ","
		}
		texts[side] += fmt.Sprintf(`["%d.%02d","%d.%02d"]`, price/100, price%100, amount/100, amount%100)
		if b.sides[side][price] = amount; amount == 0 {
			delete(b.sides[side], price)
		}
	}
	for _, side := range b.chance.Perm(2) {
		for price := b.mid - 2; price <= b.mid+2; price++ { // levels that the price has passed
			if _, there := b.sides[side][price]; there && (side == 0 && price >= b.mid || side == 1 && price <= b.mid) {
				set(side, price, 0)
			}
		}
		for range 1 + b.chance.IntN(8) {
			away := 1 + b.chance.Int64N(12)
			if b.chance.IntN(10) == 0 {
				away = 1 + b.chance.Int64N(2000)
			}
			price := b.mid - away
			if side == 1 {
				price = b.mid + away
			}
			if _, there := b.sides[side][price]; there && b.chance.IntN(3) > 0 {
				set(side, price, 0)
			} else {
				set(side, price, market.Qty(1+b.chance.IntN(900)))
			}
		}
	}
	b.was[b.at], b.times = b.snapshot(b.depth), append(b.times, b.at)
	if len(b.times) > 256 {
		delete(b.was, b.times[0])
		b.times = b.times[1:]
	}
	return fmt.Appendf(nil, `{"event":"book","market":"BTC-EUR","nonce":%d,"bids":[%s],"asks":[%s],"timestamp":%d}`,
		b.nonce, texts[0], texts[1], b.at)
}

// snapshot is the best levels, in a plain way. The caller holds the mutex.
func (b *theirs) snapshot(depth int) market.OrderBook {
	side := func(of map[int64]market.Qty, sign int64) (levels []market.Level) {
		for at, away := b.mid, int64(0); len(levels) < min(depth, len(of)); away++ {
			if amount, there := of[at-sign*away]; there {
				levels = append(levels, market.Level{Price: market.Price(at - sign*away), Amount: amount})
			}
		}
		return levels
	}
	return market.OrderBook{Market: 1, Nonce: b.nonce, Time: b.at, Bids: side(b.sides[0], 1),
		Asks: side(b.sides[1], -1)}
}

// answer is a snapshot as the exchange shows it, after a while and sometimes not.
func (b *theirs) answer(depth int, into *market.OrderBook) error {
	b.mu.Lock()
	before, after, fails := b.chance.IntN(300), b.chance.IntN(300), b.chance.IntN(10) == 0
	b.mu.Unlock()
	time.Sleep(time.Duration(before) * time.Millisecond)
	if b.mu.Lock(); fails {
		b.mu.Unlock()
		return errNoAnswer
	}
	*into = b.snapshot(depth)
	b.mu.Unlock()
	time.Sleep(time.Duration(after) * time.Millisecond)
	return nil
}

// A copy that is kept from deltas, with gaps, repetitions, ends of the stream and nonces that begin
// anew, is never anything that the exchange's book was not.
func TestABookKeptFromDeltasIsTheExchanges(t *testing.T) {
	events := 100_000
	if testing.Short() {
		events = 5_000
	}
	synctest.Test(t, func(t *testing.T) {
		const depth = 20
		b := newTheirs(1, depth)
		out := make(chan market.Event, 16)
		f := NewFeed(FeedConfig{On: closedConnection(t), Data: &fakeData{bookFn: b.answer}, Catalog: newCatalog(t),
			Log: zerolog.Nop(), Out: out, Books: []market.ID{1}, Depth: depth})
		ctx, cancel := context.WithCancel(t.Context())
		var beside sync.WaitGroup
		beside.Go(func() { f.Run(ctx) })
		heard := 0
		beside.Go(func() {
			for {
				select {
				case ev := <-out:
					heard++
					b.mu.Lock()
					want, known := b.was[ev.Book.Time]
					b.mu.Unlock()
					if !known || want.Nonce != ev.Book.Nonce || !slices.Equal(want.Bids, ev.Book.Bids) ||
						!slices.Equal(want.Asks, ev.Book.Asks) {
						t.Errorf("event %d: nonce %d was never %v %v", heard, ev.Book.Nonce, ev.Book.Bids, ev.Book.Asks)
						return
					}
				case <-ctx.Done():
					return
				}
			}
		})
		b.play(t, f, events)
		cancel()
		beside.Wait()
		require.Greater(t, heard, events*3/4, "the copy is stale most of the time")
		require.Greater(t, f.Gaps(), int64(events/400))
		require.Zero(t, f.Differences())
	})
}

// play lets the exchange's book change, and tells of it as a bad stream does.
func (b *theirs) play(t *testing.T, f *Feed, events int) {
	chance := rand.New(rand.NewPCG(3, 4))
	f.books.channel.Opened()
	for range events {
		time.Sleep(100 * time.Millisecond)
		frame := b.change()
		switch chance.IntN(1000) {
		case 0, 1, 2, 3, 4: // lost
			continue
		case 5:
			require.NoError(t, f.books.onEvent(frame))
		case 6:
			f.books.channel.Closed()
			time.Sleep(5 * time.Second)
			b.change()
			f.books.channel.Opened()
			continue
		case 7:
			b.mu.Lock()
			b.nonce = 0
			b.mu.Unlock()
		}
		require.NoError(t, f.books.onEvent(frame))
	}
}
