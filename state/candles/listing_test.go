package candles

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/internal/filetest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// listed is the record of a day with n markets.
func listed(day int64, n int) *Listing {
	l := &Listing{At: DayStart(day) + 61e9, Exchange: "https://exchange.example"}
	for i := range n {
		l.Markets = append(l.Markets, Listed{Market: fmt.Sprintf("A%03d-EUR", i), Status: "trading", TickSize: "0.01",
			MinOrderInBase: "0.001", MinOrderInQuote: "5", MaxOrderInBase: "1000000", QuantityDecimals: 8,
			NotionalDecimals: 2, MaxOpenOrders: 100, FeeCategory: "A", Volume24h: fmt.Sprint(day, ".5"),
			VolumeQuote24h: fmt.Sprint(day*100, ".25"), Last: "200.01"})
	}
	return l
}

func openStore(t *testing.T) *Store {
	store, err := Open(filepath.Join(t.TempDir(), "candles.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func record(t *testing.T, s *Store, l *Listing) {
	kept, added, err := s.AddListing(l)
	require.NoError(t, err)
	require.True(t, added)
	require.Equal(t, l, kept)
}

func TestADayKeepsItsFirstRecord(t *testing.T) {
	s := openStore(t)
	none, err := s.ListingRange()
	require.NoError(t, err)
	require.Zero(t, none)
	first := listed(19_000, 3)
	record(t, s, first)
	later := listed(19_000, 2)
	later.At += 3600e9
	kept, added, err := s.AddListing(later)
	require.NoError(t, err)
	require.False(t, added)
	require.Equal(t, first, kept)
	record(t, s, listed(18_990, 0))
	record(t, s, listed(19_001, 400))

	var days []int64
	require.NoError(t, s.Listings(DayStart(18_991), DayStart(19_002), func(l *Listing) error {
		days = append(days, DayOf(l.At))
		return nil
	}))
	require.Equal(t, []int64{19_000, 19_001}, days)
	require.NoError(t, s.Listings(0, DayStart(19_000), func(l *Listing) error {
		require.Equal(t, listed(18_990, 0).At, l.At)
		return nil
	}))
	r, err := s.ListingRange()
	require.NoError(t, err)
	require.Equal(t, int64(3), r.Days)
	require.Equal(t, 400, r.Markets)
	require.Less(t, r.Bytes, int64(20_000), "400 markets of a day")
	report, err := s.Verify()
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.Equal(t, int64(3), report.Listings)
	require.Nil(t, listed(1, 2).Named("ETH-EUR"))
	require.True(t, listed(1, 2).Named("A001-EUR").Trading())
}

func TestADamagedRecordIsNamedAndALaterFormatIsRefusedInWords(t *testing.T) {
	s := openStore(t)
	record(t, s, listed(19_000, 3))
	change := func(how func(value []byte)) error {
		require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
			value, err := packListing(listed(19_000, 3))
			require.NoError(t, err)
			how(value)
			return tx.Bucket(bucketListings).Put(chunkKey(19_000), value)
		}))
		return s.Listings(0, 0, func(*Listing) error { return nil })
	}
	err := change(func(value []byte) { value[20] ^= 4 })
	require.ErrorIs(t, err, bolt.ErrCorrupt)
	require.ErrorContains(t, err, "markets of 2022-01-08: corrupt: the checksum of the record differs")
	report, err := s.Verify()
	require.NoError(t, err)
	require.Len(t, report.Problems, 1)
	err = change(func(value []byte) { value[1] = listingFormat + 1 })
	require.ErrorIs(t, err, bolt.ErrNewer)
	require.ErrorContains(t, err, "record format 2, this program reads 1; update the program")
	for _, older := range []byte{1, 2} {
		err = change(func(value []byte) { value[0] = older })
		require.ErrorContains(t, err, "an older program wrote the record; begin a new store")
	}
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
		value, err := packListing(listed(19_000, 3))
		require.NoError(t, err)
		return tx.Bucket(bucketListings).Put(chunkKey(19_001), value)
	}))
	require.ErrorContains(t, change(func([]byte) {}),
		"markets of 2022-01-09: corrupt: it was made at 2022-01-08T00:01:01Z")
}

// withFees is a record of an account that pays fees in each second market.
func withFees(l *Listing) *Listing {
	for i := range l.Markets {
		if i%2 == 0 {
			l.Markets[i].MakerFee, l.Markets[i].TakerFee = "-0.0001", "0.0025"
		}
	}
	return l
}

func TestRecordedMarketsReadAsBefore(t *testing.T) {
	path := filetest.Golden(t, *writeGolden, "listings-format1", func(path string) {
		s, err := Open(path)
		require.NoError(t, err)
		record(t, s, listed(19_000, 3))
		record(t, s, withFees(listed(19_001, 3)))
		require.NoError(t, s.Close())
	})
	s, err := Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var have []*Listing
	require.NoError(t, s.Listings(0, 0, func(l *Listing) error {
		have = append(have, l)
		return nil
	}))
	require.Equal(t, []*Listing{listed(19_000, 3), withFees(listed(19_001, 3))}, have)
	record(t, s, listed(19_002, 2)) // and it takes more
}

// TestAPowerCutLosesAtMostTheRecordOfItsDay cuts the power at each step of each commit.
func TestAPowerCutLosesAtMostTheRecordOfItsDay(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 7))
	folder := t.TempDir()
	path := filepath.Join(folder, "candles.db")
	s, err := Open(path)
	require.NoError(t, err)
	put(t, s, flat(3))
	for day := int64(0); day < 12; day++ {
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		record(t, s, listed(day, 1+chance.IntN(200)))
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, step := range []filetest.Step{filetest.Pages, filetest.Head, filetest.Done} {
			cut := filepath.Join(folder, fmt.Sprint(day, int(step)))
			require.NoError(t, os.WriteFile(cut, filetest.Cut(before, after, step, chance), 0o600))
			checkCut(t, cut, day, step)
		}
	}
	require.NoError(t, s.Close())
}

// checkCut requires that a store holds the records of all days before one, and of that perhaps.
func checkCut(t *testing.T, path string, day int64, step filetest.Step) {
	s, err := Open(path)
	require.NoError(t, err, "day %d, %s", day, step)
	defer func() { require.NoError(t, s.Close()) }()
	next := int64(0)
	require.NoError(t, s.Listings(0, 0, func(l *Listing) error {
		require.Equal(t, next, DayOf(l.At))
		next++
		return nil
	}))
	require.Contains(t, []int64{day, day + 1}, next, step)
	require.False(t, step == filetest.Done && next == day)
	report, err := s.Verify()
	require.NoError(t, err)
	require.Empty(t, report.Problems)
}

func FuzzListing(f *testing.F) {
	for _, l := range []*Listing{{}, listed(1, 1), listed(-400, 7), withFees(listed(3, 3))} {
		value, err := packListing(l)
		require.NoError(f, err)
		f.Add(value, "x")
	}
	f.Fuzz(func(t *testing.T, value []byte, text string) {
		if l, err := unpackListing(value); err == nil {
			again, err := packListing(l)
			require.NoError(t, err)
			same, err := unpackListing(again)
			require.NoError(t, err)
			require.Equal(t, l, same)
		} else {
			require.True(t, strings.Contains(err.Error(), "corrupt") || strings.Contains(err.Error(), "newer") ||
				strings.Contains(err.Error(), "older"), err)
		}
		d := listingDecoder{rest: value, all: string(value)}
		d.listing() // whatever the checksum says: no panic, no endless memory
		l := &Listing{At: market.Time(len(value)), Exchange: text, Markets: []Listed{{Market: text, Last: text}}}
		packed, err := packListing(l)
		require.NoError(t, err)
		same, err := unpackListing(packed)
		require.NoError(t, err)
		require.Equal(t, l, same)
	})
}
