package journal

import (
	"context"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/bolt"
)

// contextEvery is the number of keys between two checks of the context in a long walk.
const contextEvery = 256

// walkUntil calls visit with a bucket's keys from first on, in order, until visit returns an error,
// which walkUntil returns, or ctx ends. It releases the pages that it read.
func walkUntil(ctx context.Context, b *bbolt.Bucket, first []byte, visit func(key, value []byte) error) error {
	release := bolt.NewReleaser(b.Tx())
	defer release.Flush()
	c, n := bolt.NewCursor(b), 0
	for key, value := c.Seek(first); key != nil; key, value = c.Next() {
		if n++; n%contextEvery == 0 && ctx.Err() != nil {
			return fmt.Errorf("read the state file: %w", ctx.Err())
		}
		if err := visit(key, value); err != nil {
			return err
		}
		release.Consumed(value)
	}
	return nil
}

// walk calls walkUntil in a transaction of its own, with the context of the store.
func (s *Store) walk(bucket, first []byte, visit func(key, value []byte) error) error {
	return s.db.View(func(tx *bbolt.Tx) error { return walkUntil(s.reading, tx.Bucket(bucket), first, visit) })
}
