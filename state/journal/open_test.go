package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/candles"
)

func TestOnlyOneProcessHoldsTheFile(t *testing.T) {
	s := botStore(t)
	before := time.Now()
	_, err := Open(s.path)
	require.ErrorIs(t, err, bolt.ErrLocked)
	require.ErrorContains(t, err, "a running bot holds it")
	require.Less(t, time.Since(before), 3*time.Minute)
	_, err = Read(s.path)
	require.ErrorIs(t, err, bolt.ErrLocked)
	info, err := os.Stat(s.path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestAReaderLearnsMarketsFromTheFile(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	live(t, s, b, 1)
	require.NoError(t, s.Close())
	r, err := Read(s.path)
	require.NoError(t, err)
	defer r.Close()
	row, err := r.Order(1)
	require.NoError(t, err)
	require.Equal(t, "ETH-EUR", r.Catalog().Market(row.Market).Name)
	require.Equal(t, "50", r.Catalog().Market(row.Market).FormatPrice(row.Price))
	_, err = Read(filepath.Join(t.TempDir(), "none.db"))
	require.ErrorIs(t, err, bolt.ErrNotFound)
	require.NoError(t, s.db.Close())
	s, err = Open(s.path) // for the cleanup
	require.ErrorIs(t, err, bolt.ErrLocked)
	require.Nil(t, s)
}

func TestMarketsOfTheFileKeepTheirUnits(t *testing.T) {
	s := botStore(t)
	live(t, s, s.NewBatch(), 2)
	require.NoError(t, s.Close())
	s, err := Open(s.path)
	require.NoError(t, err)
	defer s.Close()
	coarse := &market.Catalog{}
	for _, a := range []market.Asset{{Symbol: "BTC", Digits: 8}, {Symbol: "EUR", Digits: 2}} {
		_, err := coarse.AddAsset(a.Symbol, a.Digits)
		require.NoError(t, err)
	}
	require.NoError(t, coarse.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 0,
		Rules: market.Rules{TickSize: 5}}))
	require.NoError(t, s.Bind(coarse, nil))
	m := coarse.MarketNamed("BTC-EUR")
	require.EqualValues(t, 2, m.PriceDigits)
	require.EqualValues(t, 500, m.TickSize)
	require.Equal(t, market.Halted, coarse.MarketNamed("ETH-EUR").Status, "only the file knows it")
	row, err := s.Order(2)
	require.NoError(t, err)
	require.EqualValues(t, 5_000_000, row.Price)

	other := &market.Catalog{}
	_, err = other.AddAsset("BTC", 7)
	require.NoError(t, err)
	require.ErrorContains(t, s.Bind(other, nil), "asset BTC has 7 decimals already, not 8")
}

func TestForeignFilesAreRefusedByName(t *testing.T) {
	dir := t.TempDir()
	stored := filepath.Join(dir, "candles.db")
	store, err := candles.Open(stored)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	_, err = Open(stored)
	require.ErrorIs(t, err, bolt.ErrCorrupt)
	require.ErrorContains(t, err, "a candle store, not a state file")
	text := filepath.Join(dir, "text.db")
	require.NoError(t, os.WriteFile(text, make([]byte, 20000), 0o600))
	_, err = Open(text)
	require.ErrorIs(t, err, bolt.ErrCorrupt)
	_, err = Open(dir)
	require.ErrorContains(t, err, "is a folder")
}

func TestAFileOfAnotherFormatIsRefusedWithTheCure(t *testing.T) {
	for value, says := range map[string]string{
		"\x00\x00\x00\x06":    "an older program wrote it; keep that program until its positions are closed",
		"\x00\x01\x00\x06":    "an older program wrote it",
		formatName + "2":      "format 2, this program reads 1; update the program",
		formatName + "0":      "its format is",
		formatName:            "its format is",
		"tidemark exchange 1": "its format is",
		"\x01":                "a candle store, not a state file",
	} {
		s := botStore(t)
		require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket(bolt.BucketMeta).Put(bolt.KeyFormat, []byte(value))
		}))
		require.NoError(t, s.Close())
		before, err := os.ReadFile(s.path)
		require.NoError(t, err)
		for _, readOnly := range []bool{true, false} {
			_, err := openFile(t.Context(), s.path, readOnly)
			require.ErrorContains(t, err, says, "%q", value)
			require.Equal(t, value == formatName+"2", errors.Is(err, bolt.ErrNewer))
		}
		after, err := os.ReadFile(s.path)
		require.NoError(t, err)
		require.Equal(t, before, after, "nothing is written to it")
	}
}
