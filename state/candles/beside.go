package candles

import (
	"bytes"
	"errors"
	"math"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/bolt"
)

// bucketBeside has series that are being written, and series that were replaced and not deleted
// yet: nothing in it counts. Programs that do not know it take no notice of it.
var (
	bucketBeside   = []byte("beside")   // series key → bucket of chunks
	bucketReplaced = []byte("replaced") // the same
)

// batchBytes is the number of bytes of chunks that one of many transactions writes or deletes.
// bbolt keeps all pages of a transaction in memory.
const batchBytes = 2 << 20

// commitBeside writes the merged series beside the stored one, in many transactions, and puts it in
// its place in one. Before that one nothing has changed, after it everything: also if the process
// or the machine dies. What is left over then is deleted by the next opening for writing.
func (s *Store) commitBeside(w *chunkWriter, complete []Range) error {
	b := &besideWriter{chunkWriter: w, numbers: sortedKeys(w.loader.spool.chunks),
		batch: make([]byte, 0, batchBytes+batchBytes/8)}
	err := s.sweep()
	for !b.done && err == nil {
		err = s.updateBatch(b.writeBatch)
	}
	if err == nil {
		err = s.updateBatch(func(tx *bbolt.Tx) error {
			if err := b.swap(tx); err != nil {
				return err
			}
			return w.finish(tx, complete)
		})
	}
	return errors.Join(err, s.sweep())
}

// updateBatch is Update that gives back the pages of the file that it touched.
func (s *Store) updateBatch(write func(tx *bbolt.Tx) error) error {
	if err := s.db.Update(write); err != nil {
		return err
	}
	if s.committed != nil {
		s.committed()
	}
	return s.db.View(func(tx *bbolt.Tx) error {
		pages := bolt.NewReleaser(tx)
		pages.All()
		return nil
	})
}

// besideWriter walks over stored and loaded chunks together.
type besideWriter struct {
	*chunkWriter
	numbers []int64 // of the loaded chunks that are not written yet
	last    []byte  // key of the last written chunk
	batch   []byte  // values of a transaction
	done    bool
}

// writeBatch writes the next chunks.
func (b *besideWriter) writeBatch(tx *bbolt.Tx) error {
	key := seriesKey(b.options.Market, b.options.Interval)
	beside, err := tx.CreateBucketIfNotExists(bucketBeside)
	if err != nil {
		return err
	}
	into, err := beside.CreateBucketIfNotExists(key)
	if err != nil {
		return err
	}
	next := func() ([]byte, []byte) { return nil, nil }
	var stored, value []byte
	if series := tx.Bucket(bucketCandles).Bucket(key); series != nil {
		cursor := bolt.NewCursor(series)
		next = cursor.Next
		if stored, value = cursor.First(); b.last != nil {
			stored, value = cursor.SeekAfter(b.last)
		}
	}
	for b.batch = b.batch[:0]; len(b.batch) < batchBytes; {
		taken, merged, err := b.nextChunk(stored, value)
		if err != nil {
			return err
		}
		if taken == nil {
			b.done = true
			return nil
		}
		if bytes.Equal(taken, stored) {
			stored, value = next()
		}
		at := len(b.batch)
		b.batch = append(b.batch, merged...)
		if err := into.Put(taken, b.batch[at:len(b.batch):len(b.batch)]); err != nil {
			return err
		}
		b.last = taken
	}
	return nil
}

// nextChunk returns the key and the value of the next chunk, of a series whose next stored chunk is
// given; nil at the end.
func (b *besideWriter) nextChunk(stored, value []byte) (key, merged []byte, err error) {
	number, loaded := int64(math.MaxInt64), int64(math.MaxInt64)
	if stored != nil {
		if number, err = chunkNumber(stored); err != nil {
			return nil, nil, err
		}
	}
	if len(b.numbers) > 0 {
		loaded = b.numbers[0]
	}
	if number < loaded {
		return chunkKey(number), value, nil
	}
	if len(b.numbers) == 0 {
		return nil, nil, nil
	}
	if number > loaded {
		value = nil
	}
	b.numbers = b.numbers[1:]
	merged, err = b.merge(loaded, value, b.loader.spool.chunks[loaded])
	return chunkKey(loaded), merged, err
}

// swap puts the written series in the place of the stored one.
func (b *besideWriter) swap(tx *bbolt.Tx) error {
	key, series := seriesKey(b.options.Market, b.options.Interval), tx.Bucket(bucketCandles)
	if series.Bucket(key) != nil {
		replaced, err := tx.CreateBucket(bucketReplaced)
		if err != nil {
			return err
		}
		if err := series.MoveBucket(key, replaced); err != nil {
			return err
		}
	}
	if err := tx.Bucket(bucketBeside).MoveBucket(key, series); err != nil {
		return err
	}
	return tx.DeleteBucket(bucketBeside)
}

// sweep deletes what a large write left over: of its own end, or of a process that died in it.
func (s *Store) sweep() error {
	for _, name := range [...][]byte{bucketBeside, bucketReplaced} {
		for left := true; left; {
			err := s.db.View(func(tx *bbolt.Tx) error {
				left = tx.Bucket(name) != nil
				return nil
			})
			if err == nil && left {
				err = s.updateBatch(func(tx *bbolt.Tx) error { return deleteBatch(tx, name) })
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteBatch deletes chunks of the series in a bucket, and in the end the bucket.
func deleteBatch(tx *bbolt.Tx, name []byte) error {
	deleted := 0
	all := tx.Bucket(name)
	err := bolt.ForEachBucket(all, func(key []byte) error {
		cursor := bolt.NewCursor(all.Bucket(key))
		for chunk, value := cursor.First(); chunk != nil && deleted < batchBytes; {
			deleted += len(value)
			chunk = bytes.Clone(chunk)
			if err := cursor.Delete(); err != nil {
				return err
			}
			chunk, value = cursor.SeekAfter(chunk)
		}
		return nil
	})
	if err != nil || deleted >= batchBytes {
		return err
	}
	return tx.DeleteBucket(name)
}
