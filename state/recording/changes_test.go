package recording

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// nextBook changes a book as markets do, and now and then into what no market shows: sides without
// order, equal prices, other units, negative amounts, empty sides.
func nextBook(b *market.OrderBook, random *rand.Rand) {
	b.Nonce += random.Int64N(5) - 1
	b.Time += market.Time(random.Int64N(1e9) - 10)
	for side, levels := range [...]*[]market.Level{&b.Bids, &b.Asks} {
		sign := market.Price(2*side - 1)
		for range random.IntN(4) {
			price := market.Price(50_000) + sign*market.Price(10*random.IntN(40))
			amount := market.Qty(random.Int64N(900) * 1000)
			switch random.IntN(40) {
			case 0:
				price += 3
			case 1:
				amount += 7
			case 2:
				amount = -amount
			case 3:
				*levels = nil
			case 4:
				*levels = append(*levels, market.Level{Price: price, Amount: amount})
				continue
			}
			*levels = slices.DeleteFunc(*levels, func(l market.Level) bool { return l.Price == price })
			if random.IntN(3) > 0 {
				*levels = append(*levels, market.Level{Price: price, Amount: amount})
			}
		}
		if random.IntN(10) > 0 {
			slices.SortStableFunc(*levels, func(a, b market.Level) int { return int((a.Price - b.Price) * sign) })
		}
		*levels = (*levels)[:min(len(*levels), 12)]
	}
	b.Synthetic = random.IntN(50) == 0
}

func nextTicker(t *market.Ticker, random *rand.Rand) {
	for _, price := range [...]*market.Price{&t.Last, &t.Bid, &t.Ask} {
		if random.IntN(3) == 0 {
			*price += market.Price(random.Int64N(21) - 10)
		}
	}
	for _, size := range [...]*market.Qty{&t.BidSize, &t.AskSize} {
		if random.IntN(3) == 0 {
			*size = market.Qty(random.Int64N(1e9))
		}
	}
	t.Synthetic = random.IntN(20) == 0
}

// The naive twin of a change is the event itself.
func TestBooksAndTickersReadAsTheyWereWritten(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 21))
		var events []market.Event
		books, tickers := [3]market.OrderBook{}, [3]market.Ticker{}
		for range 400 {
			id := market.ID(1 + random.IntN(2))
			ev := market.Event{Market: id, At: market.Time(len(events))}
			if random.IntN(2) == 0 {
				nextBook(&books[id], random)
				books[id].Market = id
				ev.Kind, ev.Book = market.KindBook, &books[id]
			} else {
				nextTicker(&tickers[id], random)
				tickers[id].Market = id
				ev.Kind, ev.Ticker = market.KindTicker, &tickers[id]
			}
			events = append(events, owned(&ev))
		}
		dir := t.TempDir()
		w, err := Open(dir, Options{Catalog: bothMarkets(t)})
		require.NoError(t, err)
		for i := range events {
			_, err := w.Append(&events[i])
			require.NoError(t, err)
			if random.IntN(100) == 0 {
				require.NoError(t, w.Flush())
			}
		}
		require.NoError(t, w.Close())
		have, _, lost := replayed(t, dir, 0)
		require.Empty(t, lost)
		for i := range events {
			events[i], have[i] = bare(events[i]), bare(have[i])
		}
		requireEvents(t, events, have)
	}
}

// bare is an event whose empty sides are nil.
func bare(ev market.Event) market.Event {
	if ev.Book != nil {
		for _, side := range [...]*[]market.Level{&ev.Book.Bids, &ev.Book.Asks} {
			if len(*side) == 0 {
				*side = nil
			}
		}
	}
	return ev
}

// A book of a catalog with more decimals than the recording's has the same prices.
func TestAChangedBookIsReadInFinerUnits(t *testing.T) {
	var e eventEncoder
	e.Names = codec.NewNames(bothMarkets(t), nil)
	book := market.OrderBook{Market: 1, Bids: []market.Level{{Price: 500, Amount: 7}}}
	events := []market.Event{{Kind: market.KindBook, Book: &book}}
	e.record(&Record{Kind: KindInput, Input: market.Input{Kind: market.InputEvent, Event: &events[0]}}, 0)
	book.Bids = []market.Level{{Price: 510, Amount: 8}, {Price: 500, Amount: 9}}
	e.record(&Record{Kind: KindInput, Input: market.Input{Kind: market.InputEvent, Event: &events[0]}}, 0)
	require.NoError(t, e.Err())

	finer := &market.Catalog{}
	for _, symbol := range [...]string{"BTC", "EUR"} {
		_, err := finer.AddAsset(symbol, 8)
		require.NoError(t, err)
	}
	require.NoError(t, finer.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 4}))
	var d eventDecoder
	raw := e.streams
	raw[records] = e.Buf
	d.open(codec.NewNames(finer, nil), raw)
	for _, want := range [...][]market.Level{{{Price: 50_000, Amount: 7}}, {{Price: 51_000, Amount: 8},
		{Price: 50_000, Amount: 9}}} {
		r, err := d.next(0)
		require.NoError(t, err)
		require.Equal(t, want, r.Input.Event.Book.Bids)
	}
}

// A reader that seeks reads what one from the beginning reads from that time on.
func TestAReaderSeeksByTime(t *testing.T) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 22))
	events := marketDay(9_000, random)
	w, err := Open(dir, Options{Catalog: bothMarkets(t), Limit: 4 << 20})
	require.NoError(t, err)
	for i := range events {
		_, err := w.Append(&events[i])
		require.NoError(t, err)
		if i%700 == 0 {
			require.NoError(t, w.Flush())
		}
	}
	require.NoError(t, w.Close())
	r, err := Read(dir, bothMarkets(t), twoNames, 0)
	require.NoError(t, err)
	defer r.Close()
	for range 50 {
		at := events[random.IntN(len(events))].At + market.Time(random.Int64N(3)-1)
		want := slices.IndexFunc(events, func(ev market.Event) bool { return ev.At >= at })
		require.NoError(t, r.Seek(at))
		for i := want; i < min(want+5, len(events)); i++ {
			number, rec, err := r.Next()
			require.NoError(t, err)
			require.EqualValues(t, i+1, number)
			require.Equal(t, events[i], owned(rec.Input.Event))
		}
	}
	require.NoError(t, r.Seek(events[len(events)-1].At+1))
	_, _, err = r.Next()
	require.ErrorIs(t, err, io.EOF)
}

// The heads say the same of the blocks as the whole files do, damaged or torn.
func TestAnIndexIsThatOfTheWholeFiles(t *testing.T) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 23))
	events := marketDay(6_000, random)
	for from := 0; from < len(events); from += 1000 {
		recorded(t, dir, Options{}, events[from:from+1000])
	}
	segments, err := listSegments(dir)
	require.NoError(t, err)
	whole, err := os.ReadFile(segments[0].path)
	require.NoError(t, err)
	blocks, err := Index(dir)
	require.NoError(t, err)
	require.Greater(t, len(blocks), 2)
	for range 40 {
		data := slices.Clone(whole)
		if b := &blocks[random.IntN(len(blocks))]; random.IntN(2) == 0 {
			data[b.at+random.Int64N(12)] ^= 1 << random.IntN(8) // its mark, its sum, its length
		}
		data = data[:len(data)-random.IntN(3)*7]
		require.NoError(t, os.WriteFile(segments[0].path, data, 0o600))
		have, err := Index(dir)
		if errors.Is(err, bolt.ErrNewer) {
			continue
		}
		require.NoError(t, err)
		naive, err := appendWhole(nil, segments[0].path, 0)
		require.NoError(t, err)
		for i := range naive {
			require.Contains(t, have, naive[i])
		}
	}
	_, err = Index(dir + "none")
	require.ErrorIs(t, err, bolt.ErrNotFound)
}
