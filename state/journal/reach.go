package journal

import (
	"encoding/binary"
	"errors"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// Reach is the size of a state file, and how far back its journal goes without a gap.
type Reach struct {
	Bytes int64       // of the file
	First uint64      // number of the oldest entry that Prune and Trim left whole; 0: there is none
	Since market.Time // its time
}

// Reach reads the size of the file and the first entry after the cut. Any goroutine may call it; it
// reads a few pages.
func (s *Store) Reach() (r Reach, err error) {
	errFound := errors.New("the first entry")
	err = s.db.View(func(tx *bbolt.Tx) error {
		r.Bytes = tx.Size()
		from, err := cutOf(tx)
		if err != nil {
			return s.wrap(err)
		}
		return s.wrap(s.entriesOf(tx).forward(s.reading, from.number+1, func(key, stored []byte) error {
			if len(key) != 8 || len(stored) < entryHead {
				return bolt.ErrCorrupt
			}
			r.First, r.Since = binary.BigEndian.Uint64(key), timeOfKey(stored[entryHead-8:])
			return errFound
		}))
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return r, err
}
