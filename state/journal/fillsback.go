package journal

import (
	"bytes"
	"fmt"

	"github.com/tidemark-trading/tidemark/state/boltfile"
	"go.etcd.io/bbolt"
)

// FillsBack calls visit with every fill, the latest first, until it returns false.
func (s *Store) FillsBack(visit func(*FillRow) (more bool)) error {
	return s.view(func(tx *bbolt.Tx) error {
		release := boltfile.NewReleaser(tx)
		defer release.Flush()
		cursor := tx.Bucket(bucketFills).Cursor()
		var after []byte
		for key, value := cursor.Last(); key != nil; key, value = cursor.Prev() {
			if after != nil && bytes.Compare(key, after) >= 0 { // a damaged tree would be walked without end
				return fmt.Errorf("%s: %s: keys do not fall: %w", s.path, bucketFills, boltfile.ErrCorrupt)
			}
			after = append(after[:0], key...)
			row, err := readFill(s.names, key, value)
			if err != nil {
				return s.wrap(err)
			}
			if !visit(&row) {
				return nil
			}
			release.Consumed(value)
		}
		return nil
	})
}
