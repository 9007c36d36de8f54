package journal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// Order returns an own order by its number. Every method that returns one order wraps ErrNotFound
// if there is none.
func (s *Store) Order(id market.OrderID) (row OrderRow, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		row, err = s.orderAt(tx, orderKey(id), strconv.FormatInt(int64(id), 10))
		return err
	})
	return row, err
}

// OrderByClientID returns an own order by its clientOrderId.
func (s *Store) OrderByClientID(id uuid.UUID) (row OrderRow, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		row, err = s.orderAt(tx, clientIDsOf(tx).get(id), id.String())
		return err
	})
	return row, err
}

func (s *Store) orderAt(tx *bbolt.Tx, key []byte, asked string) (OrderRow, error) {
	var value []byte
	if key != nil {
		key = part(key, partRow, nil)
		value = tx.Bucket(bucketOrders).Get(key)
	}
	if value == nil {
		return OrderRow{}, fmt.Errorf("order %s: %w in %s", asked, bolt.ErrNotFound, s.path)
	}
	row, err := readOrder(s.names, key, value)
	return row, s.wrap(err)
}

func (s *Store) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

// OpenOrders returns the own orders that have not ended, by number.
func (s *Store) OpenOrders() (rows []OrderRow, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		return bolt.ForEach(tx.Bucket(bucketOpen), func(key, _ []byte) error {
			row, err := s.orderAt(tx, key, bolt.FormatKey(key))
			if errors.Is(err, bolt.ErrNotFound) {
				err = fmt.Errorf("%s: %w: the list of open orders names order %s, which is not there", s.path,
					bolt.ErrCorrupt, bolt.FormatKey(key))
			}
			rows = append(rows, row)
			return err
		})
	})
	return rows, err
}

// Orders calls visit with every own order from a number on, in order, until visit returns an error,
// which Orders returns. As in all visits, visit must not call the store.
func (s *Store) Orders(from market.OrderID, visit func(*OrderRow) error) error {
	return s.walk(bucketOrders, orderKey(from), func(key, value []byte) error {
		if !isRow(key) {
			return nil
		}
		row, err := readOrder(s.names, key, value)
		if err != nil {
			return s.wrap(err)
		}
		return visit(&row)
	})
}

// Fills calls visit with every fill in [from, to), where 0 is no bound, by time, until visit
// returns an error, which Fills returns.
func (s *Store) Fills(from, to market.Time, visit func(*FillRow) error) error {
	errStop := errors.New("end of the range")
	var first []byte
	if from != 0 {
		first = appendTime(nil, from)
	}
	err := s.walk(bucketFills, first, func(key, value []byte) error {
		if to != 0 && len(key) >= 8 && timeOfKey(key) >= to {
			return errStop
		}
		row, err := readFill(s.names, key, value)
		if err != nil {
			return s.wrap(err)
		}
		return visit(&row)
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// FillsBack calls visit with every fill, the latest first, until visit returns false.
func (s *Store) FillsBack(visit func(*FillRow) (more bool)) error {
	return s.db.View(func(tx *bbolt.Tx) error {
		release := bolt.NewReleaser(tx)
		defer release.Flush()
		cursor := bolt.NewCursor(tx.Bucket(bucketFills))
		for key, value := cursor.Last(); key != nil; key, value = cursor.Prev() {
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

// FillsOf returns the fills of an own order, by fill id.
func (s *Store) FillsOf(id market.OrderID) (rows []FillRow, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		rows, err = fillsOf(tx, s.names, id)
		return s.wrap(err)
	})
	return rows, err
}

func fillsOf(tx *bbolt.Tx, n *codec.Names, id market.OrderID) (rows []FillRow, err error) {
	prefix := part(orderKey(id), partFill, nil)
	cursor := bolt.NewCursor(tx.Bucket(bucketOrders))
	for key, at := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, at = cursor.Next() {
		full := append(append(bytes.Clone(at), key[:8]...), key[9:]...)
		row, err := readFill(n, full, tx.Bucket(bucketFills).Get(full))
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Positions returns the present and former positions of each strategy, by strategy and market name.
func (s *Store) Positions() (rows []PositionRow, err error) {
	return collect(s, bucketPositions, readPosition)
}

// Halts returns the halts in force, by scope.
func (s *Store) Halts() ([]HaltRow, error) { return collect(s, bucketHalts, readHalt) }

// Runs returns the starts of the bot, the first one first.
func (s *Store) Runs() ([]RunRow, error) { return collect(s, bucketRuns, readRun) }

// Kept returns the seals, verdicts and promotions of any age, in the order of the journal.
func (s *Store) Kept() ([]KeptRow, error) { return collect(s, bucketKept, readKept) }

// Blob returns a copy of the bytes stored under a name, nil for none.
func (s *Store) Blob(name string) ([]byte, error) { return s.get(bucketBlobs, name) }

// Blobs returns copies of all bytes stored under names that begin with a prefix, by the rest of the
// name.
func (s *Store) Blobs(prefix string) (blobs map[string][]byte, err error) {
	blobs = map[string][]byte{}
	err = s.db.View(func(tx *bbolt.Tx) error {
		cursor := bolt.NewCursor(tx.Bucket(bucketBlobs))
		for name, row := cursor.Seek([]byte(prefix)); bytes.HasPrefix(name, []byte(prefix)); name, row = cursor.Next() {
			body, err := openRow(name, row)
			if err != nil {
				return fmt.Errorf("%s: %s %q: %w", s.path, bucketBlobs, name, err)
			}
			blobs[string(name[len(prefix):])] = append([]byte{}, body...)
		}
		return nil
	})
	return blobs, err
}

// Cursor returns a copy of the position of a feed, nil for none.
func (s *Store) Cursor(name string) ([]byte, error) { return s.get(bucketCursors, name) }

func (s *Store) get(bucket []byte, name string) (value []byte, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		row := tx.Bucket(bucket).Get([]byte(name))
		if row == nil {
			return nil
		}
		body, err := openRow([]byte(name), row)
		value = append([]byte{}, body...)
		if err != nil {
			return fmt.Errorf("%s: %s %q: %w", s.path, bucket, name, err)
		}
		return nil
	})
	return value, err
}

// Story returns every journal entry about an own order, in order: intents, sends, outcomes,
// reports, fills, refusals, differences.
func (s *Store) Story(id market.OrderID) (entries []Entry, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		numbers, err := storyOf(tx.Bucket(bucketOrders), id)
		if err != nil {
			return s.wrap(err)
		}
		journal := s.entriesOf(tx)
		for _, number := range numbers {
			value, err := journal.get(number)
			if err != nil {
				return s.wrap(err)
			}
			entry, err := s.readEntry(key64(number), value)
			if err != nil {
				return err
			}
			entries = append(entries, entry)
		}
		return nil
	})
	return entries, err
}

// Entry returns the entry with a number; the error wraps bolt.ErrNotFound where it is not there, or
// no more.
func (s *Store) Entry(number uint64) (entry Entry, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		value, err := s.entriesOf(tx).get(number)
		switch {
		case err != nil:
			return s.wrap(err)
		case value == nil:
			return fmt.Errorf("entry %d: %w in %s", number, bolt.ErrNotFound, s.path)
		}
		entry, err = s.readEntry(key64(number), value)
		return err
	})
	return entry, err
}

// Entries calls visit with the journal's entries from a number on until visit returns an error,
// which Entries returns.
func (s *Store) Entries(from uint64, visit func(*Entry) error) error {
	return s.db.View(func(tx *bbolt.Tx) error {
		journal := s.entriesOf(tx)
		journal.damaged = func(_, _ []byte, err error) error { return s.wrap(err) }
		return journal.forward(s.reading, from, func(key, value []byte) error {
			entry, err := s.readEntry(key, value)
			if err != nil {
				return err
			}
			return visit(&entry)
		})
	})
}

// EntriesBack calls visit with the journal's entries of some kinds, the latest first, until visit
// returns an error, which EntriesBack returns, or an entry of any kind is older than since.
func (s *Store) EntriesBack(since market.Time, visit func(*Entry) error, kinds ...EntryKind) error {
	errStop := errors.New("older than wanted")
	err := s.db.View(func(tx *bbolt.Tx) error {
		journal := s.entriesOf(tx)
		journal.damaged = func(_, _ []byte, err error) error { return s.wrap(err) }
		return journal.back(s.reading, func(key, value []byte) error {
			if len(value) <= entryHead || timeOfKey(value[sha256.Size:]) < since {
				return errStop
			}
			if !slices.Contains(kinds, EntryKind(value[entryHead])) {
				return nil
			}
			entry, err := s.readEntry(key, value)
			if err != nil {
				return err
			}
			return visit(&entry)
		})
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// LastEntries returns the last n entries of the journal, the oldest first.
func (s *Store) LastEntries(n int) (entries []Entry, err error) {
	last, err := s.LastNumber()
	if err != nil || last == 0 {
		return nil, err
	}
	err = s.Entries(max(last, uint64(n))-uint64(n)+1, func(e *Entry) error {
		entries = append(entries, *e)
		return nil
	})
	return entries, err
}

// LastNumber is the number of the journal's last entry, 0 for an empty journal.
func (s *Store) LastNumber() (number uint64, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		h, err := headOf(tx)
		number = h.number
		return s.wrap(err)
	})
	return number, err
}

// collect decodes all rows of a bucket.
func collect[T any](s *Store, bucket []byte, read func(n *codec.Names, key, value []byte) (T, error)) (rows []T,
	err error) {
	err = s.walk(bucket, nil, func(key, value []byte) error {
		row, err := read(s.names, key, value)
		rows = append(rows, row)
		return s.wrap(err)
	})
	return rows, err
}
