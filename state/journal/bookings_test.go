package journal

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
)

func bookingsOf(t testing.TB, s *Store) (all []Booking) {
	require.NoError(t, s.Bookings(0, func(b *Booking) error {
		all = append(all, *b)
		return nil
	}))
	return all
}

// randomBookings commits orders with fills, some with fees that come later, and transfers. It
// returns what should be booked.
func randomBookings(t *testing.T, s *Store, chance *rand.Rand) (want []Booking) {
	b, entry := s.NewBatch(), uint64(0)
	var waiting []market.Fill
	add := func(w Booking) {
		w.Number, w.Entry = uint64(len(want)+1), entry
		want = append(want, w)
	}
	for id := market.OrderID(1); id <= 200; id++ {
		o := ownOrder(id)
		o.Tag = []string{"entry", "", "stop"}[chance.IntN(3)]
		b.Order(o)
		ev := market.Event{At: market.Time(id) * 1000, Kind: market.KindFill}
		var rows []Booking
		for n := range byte(chance.IntN(6)) {
			f := fillOf(o, n+1, market.Qty(chance.Int64N(1<<40)), ev.At+market.Time(n))
			if f.Settled = chance.IntN(3) > 0; !f.Settled {
				f.Fee, f.FeeCurrency = market.Value{}, 0
				waiting = append(waiting, f)
			}
			ev.Fills = append(ev.Fills, f)
			rows = append(rows, Booking{Kind: BookedFill, Fill: f, StrategyName: "grid", Tag: o.Tag})
		}
		for len(waiting) > 0 && chance.IntN(2) == 0 {
			f := waiting[0]
			f.Settled, f.Fee, f.FeeCurrency = true, market.ValueOf(chance.Int64()), 3
			ev.Fills, waiting = append(ev.Fills, f), waiting[1:]
			booked := market.Fill{Market: f.Market, ID: f.ID, Order: f.Order, FeeCurrency: 3, Fee: f.Fee, Settled: true}
			rows = append(rows, Booking{Kind: BookedFee, Fill: booked})
		}
		if len(ev.Fills) > 0 {
			if chance.IntN(4) == 0 { // a fill that is known is told again
				ev.Fills = append(ev.Fills, ev.Fills[0])
			}
			entry++
			b.Event(&ev)
		}
		for i := range rows {
			add(rows[i])
		}
		if chance.IntN(3) == 0 {
			entry++
			moved := market.Event{At: ev.At, Kind: market.KindTransfer, Asset: 3, Money: market.Money(chance.Int64()),
				Owner: 2}
			b.Transfer(&moved, Worth{Known: true, Value: moved.Money, Equity: 7})
			add(Booking{Kind: BookedTransfer, StrategyName: "trend", At: ev.At, Asset: 3, Money: moved.Money,
				Worth: Worth{Known: true, Value: moved.Money, Equity: 7}})
		}
		if chance.IntN(3) == 0 {
			require.NoError(t, s.Commit(b))
		}
	}
	require.NoError(t, s.Commit(b))
	return want
}

// The twin of the table is a list of what happened. Opened again or pruned, it says the same.
func TestBookingsAreAListThatNothingPrunes(t *testing.T) {
	for range 3 {
		seed := rand.Uint64()
		chance := rand.New(rand.NewPCG(seed, 7))
		note := fmt.Sprintf("seed %d", seed)
		s := botStore(t)
		s.db.NoSync = true
		want := randomBookings(t, s, chance)
		require.Equal(t, want, bookingsOf(t, s), note)
		var young []Booking
		require.NoError(t, s.Bookings(200, func(b *Booking) error { young = append(young, *b); return nil }))
		require.Equal(t, want[199:], young, note)

		pruned := filepath.Join(t.TempDir(), "pruned.db")
		_, err := s.Prune(pruned, 1000*1000)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		for _, path := range []string{s.path, pruned} {
			opened, err := Open(path)
			require.NoError(t, err)
			require.NoError(t, opened.Bind(twoMarkets(t), twoStrategies))
			require.Equal(t, want, bookingsOf(t, opened), note)
			report, err := opened.Check()
			require.NoError(t, err)
			require.EqualValues(t, len(want), report.Bookings)
			for _, flaw := range report.Flaws { // the orders of this test do not add up
				require.NotContains(t, flaw.String(), "booking")
			}
			require.NoError(t, opened.Close())
		}
	}
}

func TestABookingThatTheJournalContradictsIsAFlaw(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(k *booker, s *Store) error
	}{
		{"the bookings lack it", func(k *booker, _ *Store) error { return k.table.Delete(key64(2)) }},
		{"is booked twice", func(k *booker, s *Store) error {
			return k.write(s.names)(&Booking{Kind: BookedFill, Entry: 9, Fill: fillOf(ownOrder(1), 1, 50, 1003)})
		}},
		{"the journal lacks fill", func(k *booker, s *Store) error {
			return k.write(s.names)(&Booking{Kind: BookedFill, Entry: 9, Fill: fillOf(ownOrder(1), 9, 50, 1003)})
		}},
		{"it settles the fee of no fill", func(k *booker, s *Store) error {
			return k.write(s.names)(&Booking{Kind: BookedFee, Entry: 9, Fill: fillOf(ownOrder(1), 1, 50, 1003)})
		}},
		{"it is not the transfer of journal entry 1", func(k *booker, s *Store) error {
			return k.write(s.names)(&Booking{Kind: BookedTransfer, Entry: 1, Asset: 3, Money: 5})
		}},
		{"the bookings have another one", func(k *booker, s *Store) error {
			k.last, k.alone = 0, 0
			return k.write(s.names)(&Booking{Kind: BookedFill, Entry: 4, Fill: fillOf(ownOrder(1), 1, 51, 1003)})
		}},
	} {
		s := botStore(t)
		live(t, s, s.NewBatch(), 1)
		requireSound(t, s)
		require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
			k, err := bookerOf(tx, s.packer.squeezer, nil)
			require.NoError(t, err)
			return c.change(k, s)
		}))
		report, err := s.Check()
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(report.Flaws), c.want)
	}
}

// A booking keeps less than 60 bytes of the file: the pages of 20,000 fills with ids of chance.
func TestABookingTakesLessThanSixtyBytes(t *testing.T) {
	s := botStore(t)
	s.db.NoSync = true
	const rows = 20_000
	chance := rand.New(rand.NewPCG(1, 7))
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
		k, err := bookerOf(tx, s.packer.squeezer, nil)
		require.NoError(t, err)
		write := k.write(s.names)
		at := market.Time(1_700_000_000_000_000_000)
		for i := range rows {
			at += market.Time(chance.Int64N(60_000_000_000))
			f := fillOf(ownOrder(market.OrderID(i/2+1)), 0, market.Qty(chance.Int64N(1e8)), at)
			for j := range f.ID {
				f.ID[j] = byte(chance.Uint32())
			}
			f.Price, f.Fee = market.Price(5_000_000+chance.Int64N(100_000)), market.ValueOf(chance.Int64N(1e10))
			b := Booking{Kind: BookedFill, Entry: uint64(5 * i), Fill: f, StrategyName: "grid", Tag: "signal"}
			if err := write(&b); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
		stats := tx.Bucket(bucketBookings).Stats()
		pages := stats.LeafPageN + stats.LeafOverflowN + stats.BranchPageN
		each := float64(pages*tx.DB().Info().PageSize) / rows
		t.Logf("%.1f bytes a booking", each)
		require.Less(t, each, 60.0)
		return nil
	}))
}
