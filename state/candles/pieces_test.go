package candles

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
)

// parted is a store of two markets with gaps, several chunks, and a record of an exchange.
func parted(t *testing.T) *Store {
	s, err := Open(filepath.Join(t.TempDir(), "candles.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for i, name := range []string{"BTC-EUR", "ETH-EUR", "BTC-USD"} {
		var list []market.Candle
		for at := range int64(9000) {
			if at%100 == int64(i) {
				continue
			}
			price := market.Price(7_000 + at%977)
			list = append(list, market.Candle{Open: price, High: price + 3, Low: price - 2, Close: price + 1, Volume: 5,
				Start: market.Interval1h.StartOf(438_288 + at)})
		}
		_, err = s.Put(WriteOptions{Market: name, Interval: market.Interval1h}, list, 2, 4,
			[]Range{{list[0].Start, list[200].Start}})
		require.NoError(t, err)
	}
	_, _, err = s.AddListing(&Listing{At: market.Interval1h.StartOf(440_000), Exchange: "e",
		Markets: []Listed{{Market: "BTC-EUR", Status: "trading"}}})
	require.NoError(t, err)
	return s
}

// taken are pieces with their contents.
func taken(t *testing.T, s *Store, markets []string) (pieces []Piece, contents [][]byte) {
	require.NoError(t, s.Pieces(markets, func(p Piece, record []byte) error {
		p.Key = slices.Clone(p.Key)
		pieces, contents = append(pieces, p), append(contents, slices.Clone(record))
		return s.Record(p, func(again []byte) error {
			require.Equal(t, record, again)
			return nil
		})
	}))
	return pieces, contents
}

func TestAStoreOfAllPiecesIsTheSame(t *testing.T) {
	s := parted(t)
	for _, markets := range [][]string{nil, {"BTC-EUR"}} {
		pieces, contents := taken(t, s, markets)
		path := filepath.Join(t.TempDir(), "copy.db")
		require.NoError(t, Assemble(path, pieces, func(i int) ([]byte, error) { return contents[i], nil }))
		c, err := Read(path)
		require.NoError(t, err)
		for _, name := range []string{"BTC-EUR", "ETH-EUR", "BTC-USD"} {
			if markets != nil && name != markets[0] {
				_, err := c.Span(name, market.Interval1h)
				require.ErrorIs(t, err, ErrNoData)
				continue
			}
			want, err := s.Series(name, market.Interval1h)
			require.NoError(t, err)
			got, err := c.Series(name, market.Interval1h)
			require.NoError(t, err)
			require.Equal(t, want, got)
			hash, err := s.DataHash(name, market.Interval1h, 0, 0)
			require.NoError(t, err)
			same, err := c.DataHash(name, market.Interval1h, 0, 0)
			require.NoError(t, err)
			require.Equal(t, hash, same)
		}
		names, err := c.Markets()
		require.NoError(t, err)
		require.Len(t, names, 3-2*len(markets))
		listed, err := c.ListingRange()
		require.NoError(t, err)
		require.EqualValues(t, 1, listed.Days)
		report, err := c.Verify()
		require.NoError(t, err)
		require.Empty(t, report.Problems)
		require.NoError(t, c.Close())
	}
}

func TestAStoreThatCannotBeAssembledIsNotThere(t *testing.T) {
	s := parted(t)
	pieces, contents := taken(t, s, nil)
	path := filepath.Join(t.TempDir(), "copy.db")
	cut := errors.New("the wire is cut")
	err := Assemble(path, pieces, func(i int) ([]byte, error) {
		if i == len(pieces)-1 {
			return nil, cut
		}
		return contents[i], nil
	})
	require.ErrorIs(t, err, cut)
	content := func(int) ([]byte, error) { return []byte("x"), nil }
	for _, p := range []Piece{{Table: "meta", Key: []byte("format")}, {Table: "candles", Key: []byte("k")},
		{Table: "candles", Series: "../x 1h", Key: []byte("k")}, {Table: "markets", Series: "x", Key: []byte("k")}} {
		require.Error(t, Assemble(path, []Piece{p}, content), "%v", p)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, left)
	err = s.Record(Piece{Table: "candles", Series: strings.Repeat("x", 9), Key: []byte("k")}, nil)
	require.ErrorIs(t, err, ErrNoData)
	require.ErrorIs(t, s.Record(Piece{Table: "no", Key: []byte("k")}, nil), ErrNoData)
	require.ErrorIs(t, s.Pieces(nil, func(Piece, []byte) error { return bbolt.ErrTxClosed }), bbolt.ErrTxClosed)
}
