package journal

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// adopting is a store in which grid hands over a position and an order to trend.
func adopting(t *testing.T) (*Store, *Adoption) {
	s := botStore(t)
	b := s.NewBatch()
	live(t, s, b, 1)
	live(t, s, b, 2)
	waits := ownOrder(3)
	b.Journal(5000, intentOf(waits))
	b.Order(waits)
	require.NoError(t, s.Commit(b))
	r := &Adoption{By: "user ann", From: "grid", To: "trend", Until: 5000, Memory: true, Orders: []market.OrderID{3},
		Positions: []AdoptedPosition{{Market: 1, Asset: 1, Amount: 200, Cost: market.ValueOf(1 << 60),
			Worth: Worth{Known: true, Value: 77}}},
		Money: []AdoptedMoney{{Asset: 2, Money: 1234, Worth: Worth{Known: true, Value: 1234}}, {Asset: 1}}}
	waits.Strategy = 2
	b.Order(waits)
	b.Position(1, 1, &market.Position{Realised: market.ValueOf(9)})
	b.Position(2, 1, &market.Position{Amount: 200, Cost: market.ValueOf(1 << 60), Opened: 1})
	b.Adoption(6000, r)
	require.NoError(t, s.Commit(b))
	return s, r
}

// rowsBooked are the bookings with strategies by name alone.
func rowsBooked(t *testing.T, s *Store) []Booking {
	all := bookingsOf(t, s)
	for i := range all {
		all[i].Fill.Strategy = 0
	}
	return all
}

func TestAnAdoptionIsInJournalBookingsAndStories(t *testing.T) {
	s, want := adopting(t)
	requireSound(t, s)
	last, err := s.LastEntries(1)
	require.NoError(t, err)
	require.Equal(t, want, last[0].Record)
	require.Contains(t, s.Describe(&last[0]).String(), "by=user ann from=grid to=trend")
	kept, err := s.Kept()
	require.NoError(t, err)
	require.Equal(t, want, kept[0].Record)
	story, err := s.Story(3)
	require.NoError(t, err)
	require.Equal(t, want, story[len(story)-1].Record)
	rows := want.bookings()
	require.Len(t, rows, 3)
	booked := rowsBooked(t, s)
	for i := range rows {
		rows[i].Entry, rows[i].Number = last[0].Number, uint64(len(booked)-len(rows)+i+1)
	}
	require.Equal(t, rows, booked[len(booked)-3:])
	require.NoError(t, s.Close())
}

// The ended orders behind a position stay where it has been handed over; bookings and entry stay
// whatever is removed.
func TestAnAdoptedPositionKeepsItsOrders(t *testing.T) {
	for _, amount := range []market.Qty{200, 0} {
		s, want := adopting(t)
		b := s.NewBatch()
		b.Position(2, 1, &market.Position{Amount: amount, Opened: 1})
		require.NoError(t, s.Commit(b))
		path := filepath.Join(t.TempDir(), "bot.db")
		removed, err := s.Prune(path, 1<<60)
		require.NoError(t, err)
		pruned, err := Open(path)
		require.NoError(t, err)
		requireSound(t, pruned)
		_, err = pruned.Order(2)
		if amount != 0 {
			require.NoError(t, err, "it is behind the position")
		} else {
			require.Error(t, err)
			require.Positive(t, removed.Orders)
		}
		require.Equal(t, rowsBooked(t, s), rowsBooked(t, pruned))
		kept, err := pruned.Kept()
		require.NoError(t, err)
		require.Equal(t, want, kept[0].Record)
		require.NoError(t, pruned.Close())
		require.NoError(t, s.Close())
	}
}

func TestABookingThatIsNoPartOfItsAdoptionIsAFlaw(t *testing.T) {
	for says, damage := range map[string]func(s *Store, table *bbolt.Bucket, last []byte) error{
		"the bookings lack a part of its adoption": func(_ *Store, table *bbolt.Bucket, last []byte) error {
			return table.Delete(last)
		},
		"it is not that part of the adoption": func(s *Store, table *bbolt.Bucket, last []byte) error {
			e := recordEncoder{}
			e.Names = s.names
			e.booking(&Booking{Kind: BookedAdoption, Entry: 14, StrategyName: "grid", To: "else", At: 5000, Asset: 1})
			return table.Put(last, packedBookings(s.packer.squeezer, last, 1, e.Buf))
		},
	} {
		s, _ := adopting(t)
		require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
			table := tx.Bucket(bucketBookings)
			last, _ := table.Cursor().Last()
			return damage(s, table, append([]byte(nil), last...))
		}))
		report, err := s.Check()
		require.NoError(t, err)
		require.NotEmpty(t, report.Flaws)
		require.Contains(t, report.Flaws[0].String()+report.Flaws[len(report.Flaws)-1].String(), says)
		require.NoError(t, s.Close())
	}
}

// A bot that trims goes on over an adoption: its entry goes with the others, its bookings stay.
func TestAnAdoptionIsTrimmedAndStaysBooked(t *testing.T) {
	s, want := adopting(t)
	b := s.NewBatch()
	for at := range market.Time(3 * segmentEntries) {
		b.Journal(7000+at, &Timer{Strategy: "trend"})
	}
	require.NoError(t, s.Commit(b))
	booked := rowsBooked(t, s)
	o := ownOrder(3)
	o.Strategy, o.State, o.Status = 2, state.Canceled, market.StatusCanceled
	b.Order(o)
	require.NoError(t, s.Commit(b))
	removed := int64(0)
	for more := true; more; {
		done := trimStep(t, s, 1<<60)
		require.NoError(t, done.Damaged)
		more, removed = done.More, removed+done.Entries
	}
	require.NotZero(t, removed)
	requireSound(t, s)
	require.Equal(t, booked, rowsBooked(t, s))
	kept, err := s.Kept()
	require.NoError(t, err)
	require.Equal(t, want, kept[0].Record)
}
