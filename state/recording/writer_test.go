package recording

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// marketDay makes n events of all kinds that are recorded, as a market would: prices move a little,
// events come every few milliseconds.
func marketDay(n int, random *rand.Rand) (events []market.Event) {
	at, price := market.Time(1_700_000_000_000_000_000), market.Price(6_000_000)
	for i := range n {
		at += market.Time(random.Int64N(int64(20 * time.Millisecond)))
		price += market.Price(random.Int64N(21) - 10)
		id := market.ID(1 + random.IntN(2))
		ev := market.Event{At: at, Market: id}
		switch kind := random.IntN(100); {
		case kind < 80:
			ev.Kind, ev.Ticker = market.KindTicker, &market.Ticker{Market: id, Last: price, Bid: price - 3,
				Ask: price + 4, BidSize: market.Qty(random.Int64N(1e8)), AskSize: market.Qty(random.Int64N(1e8))}
		case kind < 95:
			ev.Kind, ev.Trade = market.KindTrade, &market.Trade{Market: id, Price: price,
				Amount: market.Qty(random.Int64N(1e7)), Side: market.Sell, Time: at - 7}
		case kind < 97:
			ev.Kind, ev.Book = market.KindBook, &market.OrderBook{Market: id, Nonce: int64(i), Time: at}
			for l := range market.Price(10) {
				ev.Book.Bids = append(ev.Book.Bids,
					market.Level{Price: price - 1 - l, Amount: market.Qty(random.Int64N(1e9))})
				ev.Book.Asks = append(ev.Book.Asks,
					market.Level{Price: price + 1 + l, Amount: market.Qty(random.Int64N(1e9))})
			}
		case kind < 99:
			ev.Kind, ev.Market = market.KindCandles, 0
			ev.Candles = []market.Candle{{Market: 1, Interval: market.Interval1m, Start: at, Open: price,
				High: price + 9, Low: price - 9, Close: price + 1, Volume: 12345, Late: true},
				{Market: 2, Interval: market.Interval1h, Volume: 1}}
		default:
			ev.Kind, ev.Status, ev.Price = market.KindMarketStatus, market.Auction, price
		}
		events = append(events, ev)
	}
	return events
}

// recorded writes events into a folder and closes it.
func recorded(t testing.TB, dir string, o Options, events []market.Event) {
	if o.Catalog == nil {
		o.Catalog = bothMarkets(t)
	}
	r, err := Open(dir, o)
	require.NoError(t, err)
	next := r.Next()
	for i := range events {
		number, err := r.Append(&events[i])
		require.NoError(t, err)
		require.Equal(t, next+uint64(i), number)
	}
	require.NoError(t, r.Close())
}

// replayed reads a folder: the events, their numbers and what is said to be lost.
func replayed(t testing.TB, dir string, from uint64) (events []market.Event, numbers []uint64, lost []LostError) {
	r, err := Read(dir, bothMarkets(t), twoNames, from)
	require.NoError(t, err)
	defer r.Close()
	for {
		number, rec, err := r.Next()
		var gap *LostError
		switch {
		case err == io.EOF:
			return events, numbers, lost
		case errors.As(err, &gap):
			lost = append(lost, *gap)
		default:
			require.NoError(t, err)
			require.Equal(t, KindInput, rec.Kind)
			require.Equal(t, market.InputEvent, rec.Input.Kind)
			events, numbers = append(events, owned(rec.Input.Event)), append(numbers, number)
		}
	}
}

// owned is a copy of an event that shares nothing with it.
func owned(ev *market.Event) market.Event {
	c := *ev
	c.Candles = slices.Clone(ev.Candles)
	if ev.Ticker != nil {
		ticker := *ev.Ticker
		c.Ticker = &ticker
	}
	if ev.Trade != nil {
		trade := *ev.Trade
		c.Trade = &trade
	}
	if ev.Book != nil {
		book := *ev.Book
		book.Bids, book.Asks = slices.Clone(book.Bids), slices.Clone(book.Asks)
		c.Book = &book
	}
	if len(c.Candles) == 0 {
		c.Candles = nil
	}
	return c
}

// requireEvents compares without printing thousands of events.
func requireEvents(t testing.TB, want, have []market.Event) {
	t.Helper()
	require.Equal(t, len(want), len(have))
	for i := range want {
		require.Equal(t, want[i], have[i], "event %d", i)
	}
}

func TestARecordingReadsAsItWasWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "recording")
	events := marketDay(20_000, rand.New(rand.NewPCG(1, 1)))
	recorded(t, dir, Options{}, events[:9_000])
	recorded(t, dir, Options{}, nil)
	recorded(t, dir, Options{}, events[9_000:])
	have, numbers, lost := replayed(t, dir, 0)
	requireEvents(t, events, have)
	require.Empty(t, lost)
	require.EqualValues(t, 1, numbers[0])
	have, numbers, lost = replayed(t, dir, 15_001)
	requireEvents(t, events[15_000:], have)
	require.EqualValues(t, 15_001, numbers[0])
	require.Empty(t, lost)
	x, err := Describe(dir)
	require.NoError(t, err)
	require.Equal(t, Extent{First: 1, Last: 20_000, From: events[0].At, To: events[19_999].At, Bytes: x.Bytes,
		Segments: 1}, x)
	t.Logf("%.1f bytes an event", float64(x.Bytes)/20_000)
}

var tear = flag.Int("tear", 23,
	"TestATornEndIsCutOffWhereverItTears goes on by at most so many bytes from one tear to the next")

// At every byte:
//
//	go test ./state -run ATornEnd -tear 1
func TestATornEndIsCutOffWhereverItTears(t *testing.T) {
	dir := t.TempDir()
	events := marketDay(60, rand.New(rand.NewPCG(1, 2)))
	ends := []int64{0}
	r, err := Open(dir, Options{Catalog: bothMarkets(t)})
	require.NoError(t, err)
	for i := range events {
		_, err := r.Append(&events[i])
		require.NoError(t, err)
		if i%20 == 19 {
			require.NoError(t, r.Flush())
			ends = append(ends, r.packer.size())
		}
	}
	require.NoError(t, r.Close())
	path := r.packer.segments[0].path
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for cut := 0; cut < len(whole); cut += 1 + cut%*tear {
		for _, zeros := range []int{0, 5000} { // what a file system leaves of a file that was growing
			require.NoError(t, os.WriteFile(path, append(slices.Clone(whole[:cut]), make([]byte, zeros)...), 0o600))
			blocks, _ := slices.BinarySearch(ends, int64(cut)+1)
			blocks-- // how many ends lie at or before the cut, less the first
			if blocks > 0 {
				have, _, lost := replayed(t, dir, 0)
				require.Equal(t, 20*blocks, len(have))
				require.Empty(t, lost)
			}
			r, err := Open(dir, Options{Catalog: bothMarkets(t), Next: 100})
			require.NoError(t, err)
			number, err := r.Append(&events[0])
			require.NoError(t, err)
			require.EqualValues(t, 100, number)
			require.NoError(t, r.Close())
			have, _, lost := replayed(t, dir, 0)
			require.Equal(t, 20*blocks+1, len(have))
			if blocks > 0 {
				require.Equal(t, []LostError{{uint64(20*blocks + 1), 99}}, lost)
			}
			for _, s := range r.packer.segments {
				require.NoError(t, os.Remove(s.path))
			}
		}
	}
}

func TestADamagedBlockIsSteppedOverAndNamed(t *testing.T) {
	dir := t.TempDir()
	events := marketDay(12_000, rand.New(rand.NewPCG(1, 3)))
	recorded(t, dir, Options{}, events)
	segments, err := listSegments(dir)
	require.NoError(t, err)
	data, err := os.ReadFile(segments[0].path)
	require.NoError(t, err)
	data[len(data)/2] ^= 1
	require.NoError(t, os.WriteFile(segments[0].path, data, 0o600))
	have, numbers, lost := replayed(t, dir, 0)
	require.Len(t, lost, 1)
	require.Equal(t, 12_000, len(have)+int(lost[0].To-lost[0].From)+1)
	for i, number := range numbers {
		require.Equal(t, events[number-1], have[i])
	}
	require.ErrorContains(t, &lost[0], "the recording lacks events")
	recorded(t, dir, Options{}, events[:10]) // nothing of it is cut off
	more, numbers, _ := replayed(t, dir, 0)
	require.Equal(t, len(have)+10, len(more))
	require.EqualValues(t, 12_010, numbers[len(numbers)-1])
	segments, err = listSegments(dir)
	require.NoError(t, err)
	require.Len(t, segments, 2)
}

func TestTheOldestSegmentsAreDroppedWhenARecordingIsFull(t *testing.T) {
	dir := t.TempDir()
	const limit = 256 << 10
	events := marketDay(60_000, rand.New(rand.NewPCG(1, 4)))
	recorded(t, dir, Options{Limit: limit}, events)
	x, err := Describe(dir)
	require.NoError(t, err)
	require.LessOrEqual(t, x.Bytes, int64(limit))
	require.Greater(t, x.Bytes, int64(limit/2))
	require.Greater(t, x.First, uint64(1))
	require.EqualValues(t, 60_000, x.Last)
	have, numbers, lost := replayed(t, dir, 0)
	require.Equal(t, x.First, numbers[0])
	require.Empty(t, lost)
	requireEvents(t, events[x.First-1:], have)
}

func TestARecordThatCannotBeWrittenIsMissedByTheReader(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(dir, Options{Catalog: bothMarkets(t)})
	require.NoError(t, err)
	good := &market.Event{Kind: market.KindTicker, Ticker: &market.Ticker{Market: 1, Last: 7}}
	_, err = r.Append(good)
	require.NoError(t, err)
	_, err = r.Append(&market.Event{Kind: market.KindTicker, Ticker: &market.Ticker{Market: 9}})
	require.ErrorContains(t, err, "market 9 is not of this catalog")
	_, err = r.Write(&Record{Kind: KindInput, Input: market.Input{Kind: market.LastInput + 1}})
	require.ErrorContains(t, err, "cannot be recorded")
	number, err := r.Append(good)
	require.NoError(t, err)
	require.EqualValues(t, 4, number)
	require.NoError(t, r.Close())
	_, numbers, lost := replayed(t, dir, 0)
	require.Equal(t, []uint64{1, 4}, numbers)
	require.Equal(t, []LostError{{2, 3}}, lost)
	_, err = Read(t.TempDir(), bothMarkets(t), nil, 0)
	require.ErrorIs(t, err, bolt.ErrNotFound)
	none, err := Describe(filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	require.Zero(t, none)
}

// FuzzBlocksNeverPanic reads any bytes as a segment.
func FuzzBlocksNeverPanic(f *testing.F) {
	dir := f.TempDir()
	recorded(f, dir, Options{}, marketDay(50, rand.New(rand.NewPCG(1, 5))))
	segments, err := listSegments(dir)
	require.NoError(f, err)
	data, err := os.ReadFile(segments[0].path)
	require.NoError(f, err)
	f.Add(data, uint16(0), byte(0))
	var all eventEncoder
	all.Names = codec.NewNames(bothMarkets(f), twoNames)
	for _, r := range everyRecord(rand.New(rand.NewPCG(1, 6))) {
		all.record(&r, 0)
	}
	require.NoError(f, all.Err())
	f.Add(all.Buf, uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, data []byte, at uint16, flip byte) {
		if int(at) < len(data) {
			data[at] ^= flip
		}
		_, _, _ = scanBlocks(data)
		var d eventDecoder
		d.open(codec.NewNames(bothMarkets(t), twoNames), [streams][]byte{data, data, data, data, data})
		for d.Left() > 0 {
			if _, err := d.next(0); err != nil {
				require.True(t, errors.Is(err, bolt.ErrCorrupt) || errors.Is(err, bolt.ErrNewer), err)
				break
			}
		}
	})
}

// BenchmarkRecord appends events, compression included, and reads them again.
func BenchmarkRecord(b *testing.B) {
	events := marketDay(50_000, rand.New(rand.NewPCG(1, 6)))
	dir := b.TempDir()
	r, err := Open(dir, Options{Catalog: bothMarkets(b)})
	require.NoError(b, err)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Append(&events[i%len(events)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
	require.NoError(b, r.Close())
	x, err := Describe(dir)
	require.NoError(b, err)
	b.ReportMetric(float64(x.Bytes)/float64(i), "B/event")
}

// BenchmarkRead decodes events, unpacking included.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	recorded(b, dir, Options{}, marketDay(50_000, rand.New(rand.NewPCG(1, 6))))
	b.ReportAllocs()
	left := 0
	var r *Reader
	for b.Loop() {
		if left == 0 {
			var err error
			r, err = Read(dir, bothMarkets(b), nil, 0)
			require.NoError(b, err)
			left = 50_000
		}
		if _, _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
		left--
	}
}

// twoNames are the strategies.
var twoNames = []string{"one", "two"}

// bothMarkets is a catalog with prices of 2 and of 5 decimals.
func bothMarkets(t testing.TB) *market.Catalog {
	c := &market.Catalog{}
	for _, a := range []market.Asset{{Symbol: "BTC", Digits: 8}, {Symbol: "ETH", Digits: 6},
		{Symbol: "EUR", Digits: 2}} {
		_, err := c.AddAsset(a.Symbol, a.Digits)
		require.NoError(t, err)
	}
	require.NoError(t, c.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2, Rules: market.Rules{TickSize: 1}}))
	require.NoError(t, c.AddMarket(&market.Market{Name: "ETH-EUR", PriceDigits: 5, Rules: market.Rules{TickSize: 10}}))
	return c
}

// A writer whose blocks are compressed by another goroutine writes what one without it writes.
func TestBlocksCompressedAsideAreTheSame(t *testing.T) {
	events := marketDay(20_000, rand.New(rand.NewPCG(1, 12)))
	one, other := t.TempDir(), t.TempDir()
	recorded(t, one, Options{Limit: 256 << 10}, events)
	var aside sync.WaitGroup
	recorded(t, other, Options{Limit: 256 << 10, Aside: aside.Go}, events)
	aside.Wait()
	want, err := listSegments(one)
	require.NoError(t, err)
	have, err := listSegments(other)
	require.NoError(t, err)
	require.Equal(t, len(want), len(have))
	for i := range want {
		require.Equal(t, filepath.Base(want[i].path), filepath.Base(have[i].path))
		wanted, err := os.ReadFile(want[i].path)
		require.NoError(t, err)
		had, err := os.ReadFile(have[i].path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(wanted, had))
	}
}

// A block that could not be written is named by the next record, which is not lost.
func TestABlockThatCannotBeWrittenIsNamedLater(t *testing.T) {
	dir := t.TempDir()
	w, err := Open(dir, Options{Catalog: bothMarkets(t)})
	require.NoError(t, err)
	events := marketDay(30, rand.New(rand.NewPCG(1, 13)))
	_, err = w.Append(&events[0])
	require.NoError(t, err)
	require.NoError(t, w.Flush())
	require.NoError(t, w.packer.file.Close()) // the disk takes no more
	_, err = w.Append(&events[1])
	require.NoError(t, err)
	require.NoError(t, w.pack())
	w.packer.file = nil // it takes more again
	number, err := w.Write(&Record{Kind: KindStart, At: events[1].At})
	require.EqualValues(t, 3, number)
	require.NoError(t, err)
	require.ErrorContains(t, w.Flush(), "recording "+dir)
	require.NoError(t, w.Close())
}

// A false byte makes a block look like one of another version: its records are lost, and no more.
func TestABlockOfAFalseVersionIsSteppedOverAndNamed(t *testing.T) {
	dir := t.TempDir()
	recorded(t, dir, Options{}, marketDay(12_000, rand.New(rand.NewPCG(1, 3))))
	blocks, err := Index(dir)
	require.NoError(t, err)
	require.Greater(t, len(blocks), 2)
	segments, err := listSegments(dir)
	require.NoError(t, err)
	data, err := os.ReadFile(segments[0].path)
	require.NoError(t, err)
	require.Equal(t, "TMR1", string(data[blocks[1].at:][:4]))
	data[blocks[1].at+3] = '2'
	require.NoError(t, os.WriteFile(segments[0].path, data, 0o600))
	have, _, lost := replayed(t, dir, 0)
	require.Equal(t, []LostError{{From: blocks[1].First, To: blocks[1].Last}}, lost)
	require.Len(t, have, 12_000-int(blocks[1].Last-blocks[1].First)-1)
}
