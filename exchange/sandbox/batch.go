package sandbox

import (
	"runtime/debug"
	"sync"

	"go.etcd.io/bbolt"
)

// batch is the changes of several requests that one commit writes to the file. Their answers wait
// for the commit, and so do the answers of requests that have seen these changes: a client never
// gets an answer that a kill could undo.
type batch struct {
	done bool
	err  error // that of the store
}

// batches are the commits of a store, one at a time. While one is on its way to the disk the lock
// of the exchange is free: the requests of that time change the state in memory and gather in the
// next batch.
//
// Ordering invariant: everything that is marked belongs to the open batch, everything that is
// written and not marked to flight or to an earlier one.
type batches struct {
	open   *batch // gathers; nil: nothing waits to be written
	flight *batch // is being committed; nil: none
	landed sync.Cond
}

// settle returns when a batch is in the file, or cannot get there. The caller holds the lock, which
// is let go of meanwhile.
func (s *store) settle(b *batch) error {
	for !b.done {
		if s.flight != nil {
			s.landed.Wait()
			continue
		}
		s.commit() // of the first batch that waits, which is this one
	}
	return b.err
}

// commit brings the open batch into the file. The caller holds the lock; it is free while the disk
// works.
func (s *store) commit() {
	b := s.open
	s.open, s.flight = nil, b
	err := s.ex.venue.Err() // a half-done step of a stopped venue is not saved
	if err == nil && s.err == nil {
		var tx *bbolt.Tx
		if tx, err = s.begin(); err == nil {
			s.ex.mu.Unlock()
			err = finish(tx)
			s.ex.mu.Lock()
		}
	}
	s.stop(err)
	b.done, b.err = true, s.err
	s.flight = nil
	s.landed.Broadcast()
}

// begin writes the marks into a transaction and clears them.
func (s *store) begin() (tx *bbolt.Tx, err error) {
	defer catchCorrupt(&err, debug.SetPanicOnFault(true))
	if tx, err = s.db.Begin(true); err != nil {
		return nil, err
	}
	written := false
	defer func() {
		if !written {
			_ = tx.Rollback() // also in a panic, which would leave the file locked
		}
	}()
	if err = s.write(tx); err != nil {
		return nil, err
	}
	written = true
	s.saved = s.ex.reached
	s.rowCounts.clear()
	return tx, nil
}

// finish commits a transaction.
func finish(tx *bbolt.Tx) (err error) {
	defer catchCorrupt(&err, debug.SetPanicOnFault(true))
	defer func() { _ = tx.Rollback() }() // after a panic; does nothing after a commit
	return tx.Commit()
}
