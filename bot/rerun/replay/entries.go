package replay

import (
	"errors"
	"iter"
	"strings"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// written are the commands of a bot, in the order of its journal.
type written interface {
	// skipTo skips what stands before an entry, 0: all, and counts the commands.
	skipTo(first uint64) (commands int, err error)
	// turn is a commit of a run: the entries after a number, up to another. done is false where the
	// commit never came to pass: the journal ends before, or another run follows.
	turn(run uuid.UUID, from, to uint64) (t turn, done bool, err error)
	close()
}

// turn is the part of a commit that a replay uses.
type turn struct {
	commands []Command
	whole    bool              // no entry was taken out of the journal (bot state compact --keep)
	missed   int               // commands of earlier turns, which were not asked for
	warmups  map[string][]byte // by WarmupSums
}

// entries walks the journal once, in its order: a written.
type entries struct {
	next    func() (journal.Entry, error, bool)
	end     func()
	catalog *market.Catalog // the units of the journal
	first   uint64          // the first one that there is: older ones were taken out
	peeked  journal.Entry   // the next one
	waiting bool            // peeked holds one
}

func readEntries(store *journal.Store) *entries {
	e := &entries{catalog: store.Catalog()}
	e.next, e.end = iter.Pull2(func(yield func(journal.Entry, error) bool) {
		enough := errors.New("enough")
		err := store.Entries(0, func(entry *journal.Entry) error {
			if !yield(*entry, nil) {
				return enough
			}
			return nil
		})
		if err != nil && !errors.Is(err, enough) {
			yield(journal.Entry{}, err)
		}
	})
	return e
}

// peek is the next entry; nil: there is none.
func (e *entries) peek() (*journal.Entry, error) {
	if e.waiting {
		return &e.peeked, nil
	}
	entry, err, more := e.next()
	if err != nil || !more {
		return nil, err
	}
	e.peeked, e.waiting = entry, true
	return &e.peeked, nil
}

// skipTo is of written.
func (e *entries) skipTo(first uint64) (commands int, err error) {
	for {
		entry, err := e.peek()
		if err != nil || entry == nil || first != 0 && entry.Number >= first {
			return commands, err
		}
		if entry.Kind == journal.EntryIntent {
			commands++
		}
		e.waiting = false
	}
}

// turn is of written.
func (e *entries) turn(run uuid.UUID, from, to uint64) (t turn, done bool, err error) {
	t.warmups = map[string][]byte{}
	for at := from; ; at++ {
		t.whole = at == to
		entry, err := e.peek()
		if err != nil || t.whole {
			return t, true, err
		}
		if entry == nil {
			return t, false, nil
		}
		if entry.Number > to {
			return t, true, nil
		}
		switch r := entry.Record.(type) {
		case *journal.Start:
			if r.Run != run {
				return t, false, nil
			}
		case *journal.Intent:
			t.commands = append(t.commands, CommandOf(entry.Number, r, e.catalog))
		case *journal.Cursor:
			if strings.HasPrefix(r.Name, warmupPrefix) {
				t.warmups[r.Name] = r.Value
			}
		}
		e.waiting = false
	}
}

// close is of written.
func (e *entries) close() { e.end() }
