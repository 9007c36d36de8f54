package recording

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// manyMarkets is a catalog of markets in euro.
func manyMarkets(t testing.TB, n int) *market.Catalog {
	c := &market.Catalog{}
	_, err := c.AddAsset("EUR", 2)
	require.NoError(t, err)
	for i := range n {
		base := fmt.Sprintf("A%02d", i)
		_, err := c.AddAsset(base, 8)
		require.NoError(t, err)
		require.NoError(t, c.AddMarket(&market.Market{Name: base + "-EUR", PriceDigits: 4, VolumeDigits: 8,
			Rules: market.Rules{TickSize: 1}}))
	}
	return c
}

// town is markets whose prices walk. busy is the part of seconds in which a market's ticker moves;
// then price, bid, ask and both sizes are new.
type town struct {
	random *rand.Rand
	busy   float64
	at     market.Time
	now    []market.Ticker
	open   []market.Candle
}

func newTown(markets int, busy float64) *town {
	tn := &town{random: rand.New(rand.NewPCG(1, 30)), busy: busy, at: 1_700_000_040_000_000_000}
	for i := range markets {
		tn.now = append(tn.now, market.Ticker{Market: market.ID(i + 1), Last: market.Price(10_000 + 1_700*i)})
	}
	return tn
}

// second calls record with the tickers of the next second and, at each minute, the candles of all
// markets, as the feed of the default plan does.
func (tn *town) second(record func(*market.Event)) {
	tn.at += market.Time(time.Second) + market.Time(tn.random.Int64N(1e8)-5e7)
	for i := range tn.now {
		t := &tn.now[i]
		if tn.random.Float64() < tn.busy {
			t.Last += market.Price(tn.random.Int64N(5) - 2)
			t.Bid, t.Ask = t.Last-market.Price(tn.random.Int64N(2)), t.Last+market.Price(1+tn.random.Int64N(2))
			t.BidSize, t.AskSize = market.Qty(tn.random.Int64N(2e8)), market.Qty(tn.random.Int64N(2e8))
		}
		record(&market.Event{Kind: market.KindTicker, At: tn.at, Market: t.Market, Ticker: t})
	}
}

func (tn *town) minute(record func(*market.Event)) {
	tn.open = tn.open[:0]
	for i := range tn.now {
		p := tn.now[i].Last
		tn.open = append(tn.open, market.Candle{Market: tn.now[i].Market, Interval: market.Interval1m,
			Start: market.Interval1m.Floor(tn.at) - 60e9, Open: p - p/5000, High: p + p/3000, Low: p - p/3000, Close: p,
			Volume: market.Volume(tn.random.Int64N(5e9))})
	}
	record(&market.Event{Kind: market.KindCandles, At: tn.at, Candles: tn.open})
}

// apart lets the blocks be compressed beside the clock of a benchmark: what is left is the cost of
// the loop's goroutine.
func apart(b *testing.B) func(func()) {
	return func(work func()) {
		b.StopTimer()
		work()
		b.StartTimer()
	}
}

// BenchmarkLoop is what a record costs the goroutine of the loop, compression apart. The floor
// copies the same event into memory. The goals are 2 µs a ticker or candle, and 20 ns a level of a
// book.
//
//	go test -run '^$' -bench 'Loop|Disk' ./state/recording
func BenchmarkLoop(b *testing.B) {
	b.Run("ticker/floor", func(b *testing.B) {
		tickers := newTown(50, 1).now
		kept := make([]market.Ticker, 4096)
		for i := 0; b.Loop(); i++ {
			kept[i%len(kept)] = tickers[i%len(tickers)]
		}
	})
	b.Run("ticker", func(b *testing.B) { benchEvents(b, seconds(newTown(50, 1), 200)) })
	b.Run("candle/floor", func(b *testing.B) {
		tn := newTown(50, 1)
		tn.minute(func(*market.Event) {})
		kept := make([]market.Candle, 4096)
		for i := 0; b.Loop(); i++ {
			kept[i%len(kept)] = tn.open[i%len(tn.open)]
		}
	})
	b.Run("candle", func(b *testing.B) {
		tn, events := newTown(50, 1), []market.Event(nil)
		tn.minute(func(ev *market.Event) {
			for i := range ev.Candles {
				events = append(events, market.Event{Kind: market.KindCandles, At: ev.At, Candles: ev.Candles[i : i+1]})
			}
		})
		benchEvents(b, events)
	})
	b.Run("level/floor", func(b *testing.B) {
		books := booksOf(newMaker(1), 500)
		kept := make([]market.Level, 0, 200)
		for i := 0; b.Loop(); i++ {
			book := books[i%len(books)].Book
			kept = append(append(kept[:0], book.Bids...), book.Asks...)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/level")
	})
	b.Run("level", func(b *testing.B) {
		benchEvents(b, booksOf(newMaker(1), 500))
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/level")
	})
}

func seconds(tn *town, n int) (events []market.Event) {
	for range n {
		tn.second(func(ev *market.Event) { events = append(events, owned(ev)) })
	}
	return events
}

func benchEvents(b *testing.B, events []market.Event) {
	w, err := Open(b.TempDir(), Options{Catalog: manyMarkets(b, 50), Aside: apart(b)})
	require.NoError(b, err)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := w.Append(&events[i%len(events)]); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	require.NoError(b, w.Close())
}

// maker is a book of 50 levels a side, polled each two seconds. In between come 40 orders as in the
// benchmark of the exchange: 60 % limit orders, 30 % cancels, 10 % market orders. Amounts are
// multiples of lot up to 1, of 8 decimals.
type maker struct {
	random  *rand.Rand
	lot     market.Qty
	orders  []makerOrder
	book    market.OrderBook
	changed int // levels of the latest step
}

type makerOrder struct {
	side   int
	price  market.Price
	amount market.Qty
}

func newMaker(lot market.Qty) *maker {
	m := &maker{random: rand.New(rand.NewPCG(1, 31)), lot: lot, book: market.OrderBook{Market: 1,
		Time: 1_700_000_000_000_000_000}}
	for side := range 2 {
		for i := range market.Price(150) {
			m.orders = append(m.orders, makerOrder{side, 5_000_000 + market.Price(2*side-1)*100*(i+1), m.amount()})
		}
	}
	for range 100 {
		m.step()
	}
	return m
}

func (m *maker) amount() market.Qty {
	return m.lot * market.Qty(1+m.random.Int64N(100_000_000/int64(m.lot)))
}

// step makes the next book.
func (m *maker) step() {
	b, was := &m.book, owned(&market.Event{Book: &m.book}).Book
	b.Nonce += 1 + m.random.Int64N(20)
	b.Time += market.Time(2_000_000_000 + 1_000_000*m.random.Int64N(100))
	for range 40 {
		switch chance := m.random.IntN(10); {
		case chance < 6:
			side := m.random.IntN(2)
			price := m.best(1-side) + market.Price(2*side-1)*100*market.Price(1+m.random.ExpFloat64()*15)
			m.orders = append(m.orders, makerOrder{side, price, m.amount()})
		case chance < 9:
			m.remove(m.random.IntN(len(m.orders)))
		default:
			m.take(m.random.IntN(2), 3*m.amount())
		}
	}
	b.Bids, b.Asks = m.side(0), m.side(1)
	m.changed = changesOf(was.Bids, b.Bids) + changesOf(was.Asks, b.Asks)
}

func (m *maker) best(side int) (best market.Price) {
	for _, o := range m.orders {
		if o.side == side && (best == 0 || (o.price < best) == (side == 1)) {
			best = o.price
		}
	}
	return best
}

func (m *maker) remove(i int) {
	m.orders[i] = m.orders[len(m.orders)-1]
	m.orders = m.orders[:len(m.orders)-1]
}

// take fills the best orders of a side.
func (m *maker) take(side int, amount market.Qty) {
	for amount > 0 {
		price := m.best(side)
		i := slices.IndexFunc(m.orders, func(o makerOrder) bool { return o.side == side && o.price == price })
		part := min(amount, m.orders[i].amount)
		if m.orders[i].amount -= part; m.orders[i].amount == 0 {
			m.remove(i)
		}
		amount -= part
	}
}

// side is the best 50 levels of a side.
func (m *maker) side(side int) (levels []market.Level) {
	sums := map[market.Price]market.Qty{}
	for _, o := range m.orders {
		if o.side == side {
			sums[o.price] += o.amount
		}
	}
	prices := slices.Sorted(maps.Keys(sums))
	if side == 0 {
		slices.Reverse(prices)
	}
	for _, price := range prices[:min(50, len(prices))] {
		levels = append(levels, market.Level{Price: price, Amount: sums[price]})
	}
	return levels
}

// changesOf counts the levels that a side has otherwise than before, and those that are gone.
func changesOf(was, is []market.Level) (n int) {
	before := map[market.Price]market.Qty{}
	for _, l := range was {
		before[l.Price] = l.Amount
	}
	for _, l := range is {
		if amount, had := before[l.Price]; !had || amount != l.Amount {
			n++
		}
		delete(before, l.Price)
	}
	return n + len(before)
}

func booksOf(m *maker, n int) (events []market.Event) {
	for range n {
		m.step()
		events = append(events, owned(&market.Event{Kind: market.KindBook, At: m.book.Time, Market: 1, Book: &m.book}))
	}
	return events
}

// BenchmarkDisk is what a recording takes on the disk. A day of 50 markets at the default plan
// without books, 4.3 million tickers and 72,000 candles, should take at most 40 MB; a changed level
// of a book 2 bytes. The floor is the entropy of what is drawn: prices, sizes, amounts.
func BenchmarkDisk(b *testing.B) {
	for _, busy := range [...]float64{0.1, 0.5, 1} {
		b.Run(fmt.Sprintf("day of 50 markets, %.0f%% of tickers move", 100*busy), func(b *testing.B) {
			for b.Loop() {
				const seconds = 3600
				dir, tn := b.TempDir(), newTown(50, busy)
				w, err := Open(dir, Options{Catalog: manyMarkets(b, 50)})
				require.NoError(b, err)
				record := func(ev *market.Event) {
					_, err := w.Append(ev)
					require.NoError(b, err)
				}
				for i := range seconds {
					if tn.second(record); i%60 == 59 { // a bot flushes each minute
						tn.minute(record)
						require.NoError(b, w.Flush())
					}
				}
				require.NoError(b, w.Close())
				x, err := Describe(dir)
				require.NoError(b, err)
				bits := busy * (2.3 + 1 + 1 + 2*27.6) // of price, bid, ask, sizes
				b.ReportMetric(float64(x.Bytes)*86400/seconds/1e6, "MB/day")
				b.ReportMetric(bits/8*50*86400/1e6, "MB/day-floor")
			}
		})
	}
	for _, c := range [...]struct {
		name    string
		lot     market.Qty
		flushes int // books from one to the next
	}{{"lots", 100_000, 30}, {"lots, one block", 100_000, 1 << 30}, {"ragged amounts", 1, 30}} {
		b.Run("changed level, "+c.name, func(b *testing.B) { benchLevels(b, c.lot, c.flushes) })
	}
}

func benchLevels(b *testing.B, lot market.Qty, flushes int) {
	m := newMaker(lot)
	books, changed := []market.Event(nil), 0
	for range 1800 {
		m.step()
		changed += m.changed
		at := m.book.Time + market.Time(m.random.Int64N(1e8))
		books = append(books, owned(&market.Event{Kind: market.KindBook, At: at, Market: 1, Book: &m.book}))
	}
	for b.Loop() {
		dir := b.TempDir()
		w, err := Open(dir, Options{Catalog: manyMarkets(b, 1)})
		require.NoError(b, err)
		for i := range books {
			_, err := w.Append(&books[i])
			require.NoError(b, err)
			if i%flushes == flushes-1 {
				require.NoError(b, w.Flush())
			}
		}
		require.NoError(b, w.Close())
		x, err := Describe(dir)
		require.NoError(b, err)
		b.ReportMetric(float64(x.Bytes)/float64(changed), "B/level")
		b.ReportMetric(float64(changed)/float64(len(books)), "changes/book")
	}
}
