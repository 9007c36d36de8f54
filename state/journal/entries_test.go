package journal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// twin is the journal as a list, and the stories as lists.
type twin struct {
	entries []Entry
	stories map[market.OrderID][]uint64
}

// add adds a random entry to the twin and to a batch.
func (w *twin) add(b *Batch, chance *rand.Rand) {
	// times come in order, mostly
	at := market.Time(len(w.entries)*1000 + chance.IntN(3000) - chance.IntN(2)*1_000_000)
	id := market.OrderID(chance.IntN(4)) // 0: none
	var record Payload
	switch chance.IntN(4) {
	case 0:
		record = &AnswerEntry{Order: id, Command: market.CommandPlace, Answer: AnswerUnknown,
			Message: fmt.Sprint(chance.Uint64())}
	case 1:
		record = &Fills{}
		for range chance.IntN(3) {
			f := fillOf(ownOrder(1), byte(chance.IntN(256)), 1, at)
			f.Order = market.OrderID(1 + chance.IntN(5))
			record.(*Fills).Fills = append(record.(*Fills).Fills, f)
		}
	case 2:
		record = &SentCommand{Order: id, Command: market.CommandPlace}
	default:
		record = &Halt{Scope: "account", Reason: fmt.Sprint(make([]byte, chance.IntN(200)))}
	}
	number := uint64(len(w.entries) + 1)
	w.entries = append(w.entries, Entry{Number: number, At: at, Kind: record.entryKind(), Record: record})
	for _, id := range ordersOf(nil, 0, record) {
		w.stories[id] = append(w.stories[id], number)
	}
	b.Journal(at, record)
}

// The twin of a journal with segments is a list: every way to read it tells the same, after random
// commits.
func TestAJournalWithSegmentsReadsLikeAList(t *testing.T) {
	seed := rand.Uint64()
	chance := rand.New(rand.NewPCG(seed, 2))
	for range 6 {
		s, w := botStore(t), twin{stories: map[market.OrderID][]uint64{}}
		s.db.NoSync = true
		b := s.NewBatch()
		for range chance.IntN(30) {
			for range chance.IntN(1 << chance.IntN(9)) {
				w.add(b, chance)
			}
			require.NoError(t, s.Commit(b))
		}
		w.require(t, s, chance, fmt.Sprintf("seed %d", seed))
		requireSound(t, s)
		s = again(t, s)
		w.require(t, s, chance, fmt.Sprintf("seed %d, opened again", seed))
		requireSound(t, s)
	}
}

// require compares the journal with the twin.
func (w *twin) require(t *testing.T, s *Store, chance *rand.Rand, when string) {
	var hashes []Entry
	read := func(visit func(func(*Entry) error) error) (list []Entry) {
		require.NoError(t, visit(func(e *Entry) error {
			list = append(list, *e)
			return nil
		}))
		hashes = slices.Clone(list)
		for i := range list {
			list[i].Hash = [32]byte{}
		}
		return list
	}
	all := read(func(visit func(*Entry) error) error { return s.Entries(0, visit) })
	require.Len(t, all, len(w.entries), when)
	for i := range all {
		require.Equal(t, w.entries[i], all[i], when)
	}
	byNumber := hashes
	from := uint64(chance.IntN(len(w.entries) + 2))
	some := read(func(visit func(*Entry) error) error { return s.Entries(from, visit) })
	require.Len(t, some, len(w.entries)-min(len(w.entries), max(0, int(from)-1)), when)
	var kinds []EntryKind
	for kind := range entryKinds {
		kinds = append(kinds, kind)
	}
	back := read(func(visit func(*Entry) error) error { return s.EntriesBack(-1<<60, visit, kinds...) })
	slices.Reverse(back)
	require.Equal(t, all, back, when)
	for id, numbers := range w.stories {
		story, err := s.Story(id)
		require.NoError(t, err)
		require.Len(t, story, len(numbers), when)
		for i, number := range numbers {
			require.Equal(t, byNumber[number-1], story[i], when)
		}
	}
}

// segmentsOf counts the segments of a store.
func segmentsOf(t *testing.T, s *Store) (n int) {
	require.NoError(t, s.walk(bucketSegments, nil, func(_, _ []byte) error {
		n++
		return nil
	}))
	return n
}

// A damaged entry stays alone, with the others of its segment: what is read of them does not
// change, and later segments are made.
func TestASegmentIsNotMadeOfDamagedEntries(t *testing.T) {
	s := botStore(t)
	s.db.NoSync = true
	b := s.NewBatch()
	for at := range market.Time(200) {
		b.Journal(at, &Timer{Strategy: "grid"})
	}
	require.NoError(t, s.Commit(b))
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error { return flipIn(tx.Bucket(bucketJournal), key64(9), 45) }))
	for at := range market.Time(2 * segmentEntries) {
		b.Journal(200+at, &Timer{Strategy: "grid"})
		require.NoError(t, s.Commit(b))
	}
	require.Equal(t, 1, segmentsOf(t, s))
	left := 0
	require.NoError(t, s.Entries(0, func(*Entry) error { left++; return nil }))
	require.Equal(t, 200+2*segmentEntries, left)
	report, err := s.Check()
	require.NoError(t, err)
	require.Len(t, report.Flaws, 1)
	require.Contains(t, report.Flaws[0].String(), "journal entry 9: its hash does not fit")
}

// FuzzSegmentsNeverPanic reads any bytes as the content of a segment.
func FuzzSegmentsNeverPanic(f *testing.F) {
	squeezer, err := newSqueezer()
	require.NoError(f, err)
	p, links := packer{squeezer: squeezer}, head{}
	e := recordEncoder{Encoder: codec.Encoder{Names: codec.NewNames(&market.Catalog{}, nil)}}
	at := uint64(0)
	for n := range market.Time(segmentEntries) {
		e.Cut(0)
		e.Buf = appendTime(append(e.Buf, make([]byte, entryFront)...), n*n)
		e.record(&Timer{Strategy: "grid"})
		at = p.add(links.seal(e.Buf), at)
	}
	key := key64(segmentEntries)
	row := p.row(key, make([]byte, 32), links.hash[:])
	var g segment
	require.NoError(f, g.read(key, row, squeezer))
	f.Add(p.raw, true)
	f.Add(row[segmentHead:len(row)-4], false)
	f.Fuzz(func(t *testing.T, content []byte, raw bool) {
		if raw {
			content = squeezer.in.EncodeAll(content, nil)
		}
		var g segment
		row := sealRow(append(make([]byte, 0, 100), append(row[:segmentHead:segmentHead], content...)...), key, 0)
		if err := g.read(key, row, squeezer); err == nil {
			require.Equal(t, links.hash[:], row[33:65])
			require.Len(t, g.entry(segmentEntries), int(g.ends[segmentEntries]-g.ends[segmentEntries-1]-8))
		} else {
			require.ErrorIs(t, err, bolt.ErrCorrupt)
		}
	})
}
