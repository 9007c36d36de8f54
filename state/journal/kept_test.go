package journal

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/bolt"
)

// Seals, verdicts and promotions outlive the entries around them; the chain stays whole.
func TestPruneKeepsSealsVerdictsAndPromotions(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	live(t, s, b, 1)
	sealed(b)
	require.NoError(t, s.Commit(b))
	live(t, s, b, 2)
	want, err := s.Kept()
	require.NoError(t, err)
	require.Len(t, want, 4)
	require.Equal(t, "ann", want[0].Record.(*Seal).By)
	require.True(t, want[3].Record.(*Verdict).Broken)

	path := filepath.Join(t.TempDir(), "bot.db")
	removed, err := s.Prune(path, 1<<60)
	require.NoError(t, err)
	require.Positive(t, removed.Entries)
	for _, rewrite := range []func(*Store, string) error{(*Store).Backup, func(s *Store, path string) error {
		_, err := s.Prune(path, 1<<60)
		return err
	}} {
		pruned, err := Open(path)
		require.NoError(t, err)
		requireSound(t, pruned)
		have, err := pruned.Kept()
		require.NoError(t, err)
		require.Equal(t, want, have)
		path = filepath.Join(t.TempDir(), "bot.db")
		require.NoError(t, rewrite(pruned, path))
		require.NoError(t, pruned.Close())
	}
}

// A row of the table that is not its journal entry is a flaw, whether it is damaged or swapped.
func TestCheckFindsAKeptRowThatIsNotItsEntry(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	sealed(b)
	require.NoError(t, s.Commit(b))
	rows, err := s.Kept()
	require.NoError(t, err)
	first, last := key64(rows[0].Number), key64(rows[3].Number)
	for _, damage := range []struct {
		says string
		do   func(kept *bbolt.Bucket) error
	}{
		{"checksum", func(kept *bbolt.Bucket) error { return flipIn(kept, first, 9) }},
		{"not the journal entry", func(kept *bbolt.Bucket) error {
			body, _ := openRow(last, kept.Get(last))
			return kept.Put(first, sealRow(append([]byte(nil), body...), first, 0))
		}},
		{"the journal lacks its entry", func(kept *bbolt.Bucket) error {
			body, _ := openRow(last, kept.Get(last))
			return kept.Put(key64(99), sealRow(append([]byte(nil), body...), key64(99), 0))
		}},
	} {
		errUndo := s.db.Update(func(tx *bbolt.Tx) error {
			require.NoError(t, damage.do(tx.Bucket(bucketKept)))
			c := checker{store: s, tx: tx, entries: s.entriesOf(tx)}
			c.kept()
			require.NotEmpty(t, c.report.Flaws)
			require.Contains(t, c.report.Flaws[0].String(), damage.says)
			return bolt.ErrCorrupt // nothing is kept of it
		})
		require.ErrorIs(t, errUndo, bolt.ErrCorrupt)
	}
	requireSound(t, s)
}
