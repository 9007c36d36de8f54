//go:build unix

package profit

import (
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// 100,000 orders in a state file, of which half close a position, and a curve of three years: each
// question reads the bookings anew. bookings is the floor: it only reads them.
func BenchmarkBooksOf100000Orders(b *testing.B) {
	s := newShelf(b)
	chance := rand.New(rand.NewPCG(1, 1))
	s.trade(chance, 100_000, 1_600_000_000_000_000_000)
	store, err := journal.Open(filepath.Join(b.TempDir(), "bot.db"))
	require.NoError(b, err)
	b.Cleanup(func() { _ = store.Close() })
	require.NoError(b, store.Bind(s.catalog, []string{"grid", "trend"}))
	batch := store.NewBatch()
	batch.Start(1, &journal.Start{Currency: "EUR"})
	for i := range s.bookings {
		row := &s.bookings[i]
		row.Fill.Strategy = market.StrategyID(1 + len(row.StrategyName)%4%2)
		batch.Fill(&row.Fill)
		if i%20_000 == 0 || i == len(s.bookings)-1 {
			require.NoError(b, store.Commit(batch))
		}
	}
	for at := market.Time(0); at < 3*365*24*hour; at += hour / 4 {
		batch.Equity(journal.EquitySample{At: s.bookings[0].Fill.Time + at, Equity: market.Money(chance.Int64N(1e8)),
			Exposure: market.Money(chance.Int64N(1e8))})
		if at%(5000*hour) == 0 || at+hour/4 == 3*365*24*hour {
			require.NoError(b, store.Commit(batch))
		}
	}
	for name, ask := range map[string]func() error{
		"bookings": func() error { return store.Bookings(0, func(*journal.Booking) error { return nil }) },
		"trades":   func() error { _, err := Trades(store, &Query{}, 0); return err },
		"profit": func() error {
			_, err := Profit(store, &Query{By: ByDay, Zone: "Europe/Berlin"}, func(market.ID) market.Price { return 1 },
				0)
			return err
		},
		"equity": func() error { _, err := Equity(store, &Query{}, 0); return err },
	} {
		b.Run(name, func(b *testing.B) {
			began := processorTime()
			for b.Loop() {
				if err := ask(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processorTime()-began).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

func processorTime() time.Duration {
	var use syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
