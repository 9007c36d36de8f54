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
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/boltfile"
	"github.com/tidemark-trading/tidemark/state/candles"
)

func TestOnlyOneProcessHoldsTheFile(t *testing.T) {
	s := botStore(t)
	before := time.Now()
	_, err := Open(s.path)
	require.ErrorIs(t, err, boltfile.ErrLocked)
	require.ErrorContains(t, err, "a running bot holds it")
	require.Less(t, time.Since(before), 3*time.Minute)
	_, err = Read(s.path)
	require.ErrorIs(t, err, boltfile.ErrLocked)
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
	require.ErrorIs(t, err, boltfile.ErrNotFound)
	require.NoError(t, s.db.Close())
	s, err = Open(s.path) // for the cleanup
	require.ErrorIs(t, err, boltfile.ErrLocked)
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
	require.ErrorIs(t, err, boltfile.ErrCorrupt)
	require.ErrorContains(t, err, "a candle store, not a state file")
	text := filepath.Join(dir, "text.db")
	require.NoError(t, os.WriteFile(text, make([]byte, 20000), 0o600))
	_, err = Open(text)
	require.ErrorIs(t, err, boltfile.ErrCorrupt)
	_, err = Open(dir)
	require.ErrorContains(t, err, "is a folder")
}

func TestAnOlderFileIsBroughtUpToDateAndANewerRefused(t *testing.T) {
	s := botStore(t)
	live(t, s, s.NewBatch(), 1)
	require.NoError(t, s.Close())
	later := schema{format: 8, oldest: 8, migrations: map[uint32]func(*bbolt.Tx) error{
		6: func(tx *bbolt.Tx) error { return tx.DeleteBucket(bucketHalts) },
		7: func(tx *bbolt.Tx) error { return errors.New("half way") },
	}}
	_, err := openFile(t.Context(), s.path, false, later)
	require.ErrorContains(t, err, "from format 7: half way")
	require.FileExists(t, s.path+".format6")
	s, err = Open(s.path)
	require.NoError(t, err, "a migration that fails changes nothing")
	require.NoError(t, s.Close())

	later.migrations[7] = func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(bucketHalts)
		return errors.Join(err, tx.Bucket(bucketHalts).Put([]byte("x"), nil))
	}
	_, err = openFile(t.Context(), s.path, true, later)
	require.ErrorContains(t, err, "start the bot once", "reading changes nothing")
	migrated, err := openFile(t.Context(), s.path, false, later)
	require.NoError(t, err)
	row, err := migrated.Order(1)
	require.NoError(t, err)
	require.Equal(t, state.Filled, row.State)
	require.NoError(t, migrated.Close())
	_, err = Open(s.path)
	require.ErrorIs(t, err, boltfile.ErrNewer)
	require.ErrorContains(t, err, "update the program")

	delete(later.migrations, 6)
	_, err = openFile(t.Context(), s.path+".format6", false, later)
	require.ErrorContains(t, err, "no way from format 6 to 8")
}
