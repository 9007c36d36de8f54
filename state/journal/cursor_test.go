package journal

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// What a command does with the file ends with the command.
func TestLongWalksEndWithTheContextOfTheOpening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.db")
	day := aDay(t, 1000)
	require.NoError(t, day.Backup(path))
	ctx, cancel := context.WithCancel(t.Context())
	s, err := ReadUntil(ctx, path)
	require.NoError(t, err)
	cancel()
	for name, walk := range map[string]func() error{
		"check":        func() error { _, err := s.Check(); return err },
		"orders":       func() error { return s.Orders(0, func(*OrderRow) error { return nil }) },
		"entries":      func() error { return s.Entries(1, func(*Entry) error { return nil }) },
		"entries back": func() error { return s.EntriesBack(0, func(*Entry) error { return nil }) },
		"fills":        func() error { return s.Fills(0, 0, func(*FillRow) error { return nil }) },
	} {
		err := walk()
		require.ErrorIs(t, err, context.Canceled, name)
		require.NotErrorIs(t, err, bolt.ErrCorrupt, name)
	}
	require.NoError(t, s.Close())
	_, err = ReadUntil(ctx, path)
	require.ErrorIs(t, err, context.Canceled)
	_, err = OpenUntil(ctx, path)
	require.ErrorIs(t, err, context.Canceled)
	ends, err := Open(path)
	require.NoError(t, err, "an opening that was given up leaves nothing behind")
	require.NoError(t, ends.Close())
}

func TestAWalkEndsAtTheHighestNumber(t *testing.T) {
	s := botStore(t)
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketOrders).Put(part(orderKey(market.OrderID(-1)), partRow, nil), []byte("row"))
	}))
	require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
		seen := 0
		clientIDsOf(tx).recent(func(_, _ []byte) bool { seen++; return true })
		require.Equal(t, 1, seen)
		return nil
	}))
}
