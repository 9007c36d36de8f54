package journal

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// readExcerpt reads all entries of an excerpt.
func readExcerpt(text []byte) (x Excerpt, list []Entry, err error) {
	x, err = ReadExcerpt(bytes.NewReader(text), func(_ *market.Catalog, e *Entry) error {
		list = append(list, *e)
		return nil
	})
	return x, list, err
}

// An excerpt says the same as the journal, from any entry on, before and after a Prune.
func TestAnExcerptReadsLikeTheJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.db")
	filled(t, path)
	s, err := Read(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	pruned := filepath.Join(t.TempDir(), "bot.db")
	_, err = s.Prune(pruned, 6000+100*100)
	require.NoError(t, err)
	other, err := Read(pruned)
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	for _, store := range []*Store{s, other} {
		var all []Entry
		require.NoError(t, store.Entries(0, func(e *Entry) error {
			all = append(all, *e)
			return nil
		}))
		for _, from := range []uint64{0, 1, 7, 256, 257, uint64(all[len(all)-1].Number)} {
			var text bytes.Buffer
			wrote, err := store.WriteExcerpt(&text, from)
			require.NoError(t, err)
			x, list, err := readExcerpt(text.Bytes())
			require.NoError(t, err)
			require.Equal(t, wrote, x)
			require.LessOrEqual(t, from, x.From)
			require.Equal(t, all[len(all)-len(list):], list)
			require.Equal(t, x.From, list[0].Number)
			require.Equal(t, x.To, list[len(list)-1].Number)
		}
	}
}

// A changed byte is found: the excerpt is refused, or says the same.
func TestADamagedExcerptIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bot.db")
	filled(t, path)
	s, err := Read(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var whole bytes.Buffer
	_, err = s.WriteExcerpt(&whole, 1)
	require.NoError(t, err)
	_, want, err := readExcerpt(whole.Bytes())
	require.NoError(t, err)

	chance := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		text := bytes.Clone(whole.Bytes())
		if chance.IntN(4) == 0 {
			text = text[:chance.IntN(len(text))]
		} else {
			text[chance.IntN(len(text))] ^= 1 << chance.IntN(8)
		}
		_, list, err := readExcerpt(text)
		if err == nil {
			require.Equal(t, want, list)
		}
	}
	_, err = s.WriteExcerpt(&whole, 1000)
	require.ErrorContains(t, err, "the journal ends with entry")
	text := bytes.Clone(whole.Bytes())
	text[3] = '2'
	_, _, err = readExcerpt(text)
	require.ErrorIs(t, err, bolt.ErrNewer)
	_, _, err = readExcerpt([]byte("nothing"))
	require.ErrorIs(t, err, bolt.ErrCorrupt)
}
