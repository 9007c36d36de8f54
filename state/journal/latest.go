package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// Wanted says which entries of the journal Latest returns. Fields that are 0 or empty ask for
// everything.
type Wanted struct {
	Before   uint64      // entries with smaller numbers
	Since    market.Time // entries of this time and later ones
	Until    market.Time // entries before this time
	Kinds    []EntryKind
	Strategy string
	Market   string
	Order    market.OrderID
	Most     int // entries that are returned
	Looks    int // entries that are looked at, also those that are not wanted
}

// Named is an entry with the names of what it is about.
type Named struct {
	Entry
	Strategy string // empty: none, or not known
	Market   string
	Order    market.OrderID // 0: none
}

// Latest returns the wanted entries, the latest first. older is what Wanted.Before is to be to go
// on from there; 0: there are no older ones. It is one read transaction: any goroutine may call it,
// and a commit does not wait for it.
func (s *Store) Latest(w *Wanted) (entries []Named, older uint64, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		l := latest{store: s, want: w, tx: tx, journal: s.entriesOf(tx), orders: map[market.OrderID]OrderRow{}}
		l.journal.damaged = func(_, _ []byte, err error) error { return s.wrap(err) }
		err := l.read()
		entries, older = l.found, l.older
		return err
	})
	return entries, older, err
}

// latest is one call of Latest.
type latest struct {
	store   *Store
	want    *Wanted
	tx      *bbolt.Tx
	journal *entries
	orders  map[market.OrderID]OrderRow // that were looked up
	looked  int
	found   []Named
	older   uint64
}

// errEnough ends the walk of a latest.
var errEnough = errors.New("enough entries")

func (l *latest) read() error {
	if l.want.Order != 0 {
		return l.story()
	}
	before := l.want.Before
	if l.want.Until != 0 {
		end, err := l.numberAt(l.want.Until)
		if err != nil {
			return err
		}
		if before == 0 || end < before {
			before = end
		}
	}
	err := l.journal.backFrom(l.store.reading, before, l.visit)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// story reads the entries of one order, by the list of their numbers.
func (l *latest) story() error {
	numbers, err := storyOf(l.tx.Bucket(bucketOrders), l.want.Order)
	if err != nil {
		return l.store.wrap(err)
	}
	for _, number := range slices.Backward(numbers) {
		if l.want.Before != 0 && number >= l.want.Before {
			continue
		}
		value, err := l.journal.get(number)
		if err != nil {
			return l.store.wrap(err)
		}
		if value == nil {
			continue // pruned
		}
		if err := l.visit(key64(number), value); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// visit takes an entry if it is wanted.
func (l *latest) visit(key, value []byte) error {
	if len(key) != 8 || len(value) <= entryHead {
		return l.store.wrap(bolt.ErrCorrupt)
	}
	number, at := binary.BigEndian.Uint64(key), timeOfKey(value[sha256.Size:])
	if l.want.Since != 0 && at < l.want.Since {
		return errEnough
	}
	if l.looked == l.want.Looks || len(l.found) == l.want.Most {
		l.older = number + 1
		return errEnough
	}
	l.looked++
	w, kind := l.want, EntryKind(value[entryHead])
	if w.Until != 0 && at >= w.Until || len(w.Kinds) > 0 && !slices.Contains(w.Kinds, kind) {
		return nil
	}
	entry, err := l.store.readEntry(key, value)
	if err != nil {
		return err
	}
	named := l.name(entry)
	if (w.Strategy == "" || named.Strategy == w.Strategy) && (w.Market == "" || named.Market == w.Market) {
		l.found = append(l.found, named)
	}
	return nil
}

// numberAt is the number of the first entry of a time or later. Times of entries never fall.
func (l *latest) numberAt(at market.Time) (uint64, error) {
	head, err := headOf(l.tx)
	if err != nil {
		return 0, l.store.wrap(err)
	}
	low, high := uint64(1), head.number+1
	for low < high {
		middle := low + (high-low)/2
		value, err := l.journal.get(middle)
		if err != nil {
			return 0, l.store.wrap(err)
		}
		if len(value) <= entryHead || timeOfKey(value[sha256.Size:]) < at { // a missing entry was pruned: it is old
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

// name adds the names of what an entry is about.
func (l *latest) name(e Entry) Named {
	n := Named{Entry: e}
	var in market.ID
	switch r := e.Record.(type) {
	case *Intent:
		n.Strategy, n.Order, in = r.Strategy, r.Command.Order.ID, r.Command.Order.Market
	case *SentCommand:
		n.Order = r.Order
	case *AnswerEntry:
		n.Order = r.Order
	case *ReportEntry:
		n.Order, in = r.Order, r.Market
	case *Fills:
		if len(r.Fills) > 0 {
			n.Order, in = r.Fills[0].Order, r.Fills[0].Market
		}
	case *Transfer:
		n.Strategy, in = r.Strategy, r.Market
	case *Timer:
		n.Strategy = r.Strategy
	case *Refusal:
		n.Strategy, n.Order, in = r.Strategy, r.Command.Order.ID, r.Command.Order.Market
	case *Difference:
		n.Order = r.Order
	case *Act:
		n.Strategy, n.Order = r.Strategy, r.Order
	case *Adoption:
		n.Strategy = r.To
	case *Signal:
		if n.Market = r.Market; len(r.Heard) > 0 {
			n.Strategy = r.Heard[0]
		}
	default:
		n.Strategy = strategyOf(e.Record)
	}
	if in != 0 {
		n.Market = l.store.names.Catalog().Market(in).Name
	}
	if n.Order != 0 && (n.Strategy == "" || n.Market == "") {
		l.addOrder(&n)
	}
	return n
}

// strategyOf is the strategy in the scope of a record; empty: there is none.
func strategyOf(record Payload) string {
	scope := ""
	switch r := record.(type) {
	case *Halt:
		scope = r.Scope
	case *Resume:
		scope = r.Scope
	case *Seal:
		scope = r.Scope
	case *Verdict:
		scope = r.Scope
	}
	name, _ := strings.CutPrefix(scope, "strategy ")
	if name == scope {
		return ""
	}
	return name
}

// addOrder adds the names of an order that has a row.
func (l *latest) addOrder(n *Named) {
	row, known := l.orders[n.Order]
	if !known {
		row, _ = l.store.orderAt(l.tx, orderKey(n.Order), "") // one without a row has no names
		l.orders[n.Order] = row
	}
	if n.Strategy == "" {
		n.Strategy = row.StrategyName
	}
	if n.Market == "" && row.Market != 0 {
		n.Market = l.store.names.Catalog().Market(row.Market).Name
	}
}

// backFrom is back from the entry before a number on; 0: from the last one.
func (e *entries) backFrom(ctx context.Context, before uint64, visit func(key, value []byte) error) error {
	if before == 0 {
		return e.back(ctx, visit)
	}
	w, first := e.walk(ctx, true), key64(before)
	if w.key, w.value = w.alone.Seek(first); w.key != nil {
		w.key, w.value = w.alone.Prev()
	} else {
		w.key, w.value = w.alone.Last()
	}
	if before > 1 {
		if w.last, w.row = w.segments.Seek(key64(before - 1)); w.last == nil {
			w.last, w.row = w.segments.Last()
		} else if binary.BigEndian.Uint64(w.last) >= before-1+segmentEntries {
			w.last, w.row = w.segments.Prev() // that segment begins at before, or later
		}
	}
	return w.run(0, func(key, value []byte) error {
		if bytes.Compare(key, first) >= 0 {
			return nil
		}
		return visit(key, value)
	})
}
