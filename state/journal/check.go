package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// CheckReport counts the rows that Check read and lists the flaws that it found.
type CheckReport struct {
	Entries, Orders, Open, Fills, Runs, Halts int64
	Cut                                       uint64 // the last entry that Prune removed; 0: none
	Bookings                                  int64
	Awaited                                   int64 // open orders whose fills do not add up to filledAmount yet
	Flaws                                     []Flaw
}

// Flaw is something wrong in a state file.
type Flaw struct {
	Place string // "journal entry 12", "order 3", "fill …"
	What  string
}

// String names the place and the flaw.
func (f Flaw) String() string { return f.Place + ": " + f.What }

// Check reads the whole store: the chain of the journal with its checkpoints, every row of every
// table, the indexes against the tables in both directions, the bookings against the journal, and
// the fills of each ended order against its filledAmount. The error is nil if everything was read,
// whatever flaws were found. Check skips database pages that hold none of this.
func (s *Store) Check() (CheckReport, error) {
	c := checker{store: s, filled: map[market.OrderID]market.Qty{}, claimed: map[uuid.UUID]market.OrderID{},
		journalled: journalled{fills: map[fillName]market.Fill{}, moved: map[uint64]*Transfer{},
			given: map[uint64][]Booking{}}}
	err := s.db.View(func(tx *bbolt.Tx) error {
		c.tx, c.entries = tx, s.entriesOf(tx)
		var err error
		c.from, err = cutOf(tx)
		c.note("meta", err)
		c.report.Cut = c.from.number
		for _, part := range []struct {
			name  string
			check func()
		}{
			{"journal", c.journal}, {"parts of orders", c.parts}, {"fills", c.fills}, {"orders", c.orders},
			{"open orders", c.open}, {"client order ids", c.clientIDs}, {"exchange order ids", c.exchangeIDs},
			{"bookings", c.bookings}, {"small tables", c.small}, {"meta", c.meta},
		} {
			c.guard(part.name, part.check)
			if c.ended != nil {
				return c.ended
			}
		}
		return nil
	})
	return c.report, err
}

type checker struct {
	store   *Store
	tx      *bbolt.Tx
	entries *entries
	from    cut
	report  CheckReport
	ended   error // the context has ended: the rest is not read
	stories int64 // pairs of a journal entry and an order in it
	indexed int64 // fills in the index by id
	filled  map[market.OrderID]market.Qty
	claimed map[uuid.UUID]market.OrderID // fill id → order

	journalled journalled
}

// guard records a page that cannot be read as a flaw of the part that needed it.
func (c *checker) guard(name string, check func()) {
	var err error
	func() {
		defer bolt.CatchCorrupt(c.store.path, &err, debug.SetPanicOnFault(true))
		check()
	}()
	c.note(name, err)
}

func (c *checker) note(place string, err error) {
	if err != nil {
		c.report.Flaws = append(c.report.Flaws, Flaw{place, err.Error()})
	}
}

func (c *checker) flaw(place, format string, args ...any) {
	c.report.Flaws = append(c.report.Flaws, Flaw{place, fmt.Sprintf(format, args...)})
}

// each visits the rows of a bucket and releases their pages.
func (c *checker) each(bucket []byte, visit func(key, value []byte)) {
	err := walkUntil(c.store.reading, c.tx.Bucket(bucket), nil, func(key, value []byte) error {
		visit(key, value)
		return nil
	})
	if err != nil {
		c.ended = err
	}
}

// has reports whether a bucket has a key, even one with an empty value.
func has(bucket *bbolt.Bucket, key []byte) bool {
	found, _ := bolt.NewCursor(bucket).Seek(key)
	return bytes.Equal(found, key)
}

// parts checks the keys of orders other than their rows.
func (c *checker) parts() {
	var stories int64
	c.each(bucketOrders, func(key, value []byte) {
		switch {
		case isRow(key):
		case len(key) == 17 && key[8] == partStory:
			numbers, err := appendStory(nil, key, value)
			stories += int64(len(numbers))
			c.note("stories", err)
		case len(key) == 25 && key[8] == partFill:
			c.indexed++
		default:
			c.flaw("orders", "key %s is not a part of an order", bolt.FormatKey(key))
		}
	})
	if stories != c.stories {
		c.flaw("stories", "%d journal entries are in the stories of orders, %d should be", stories, c.stories)
	}
}

func (c *checker) fills() {
	ids := c.tx.Bucket(bucketOrders)
	c.each(bucketFills, func(key, value []byte) {
		c.report.Fills++
		f, err := readFill(c.store.names, key, value)
		if err != nil {
			c.note("fills", err)
			return
		}
		place := fmt.Sprintf("fill %s of order %d", f.ID, f.Order)
		if at := ids.Get(part(key[8:16], partFill, key[16:])); !bytes.Equal(at, key[:8]) {
			c.flaw(place, "it is not found by its id")
		}
		if other := c.claimed[f.ID]; other != 0 {
			c.claim(place, &f, other)
		}
		c.claimed[f.ID] = f.Order
		c.filled[f.Order] += f.Amount
	})
	if c.indexed != c.report.Fills {
		c.flaw("fills", "%d are stored, %d are found by their id", c.report.Fills, c.indexed)
	}
}

// claim judges a fill id that two orders have. Orders in two markets, or the two sides of one
// trade, may share it.
func (c *checker) claim(place string, f *FillRow, other market.OrderID) {
	key := part(orderKey(other), partRow, nil)
	if o, err := readOrder(c.store.names, key, c.tx.Bucket(bucketOrders).Get(key)); err == nil &&
		o.Market == f.Market && o.Side == f.Side {
		c.flaw(place, "order %d has a fill of that id in the same market", other)
	}
}

func (c *checker) orders() {
	var open int64
	c.each(bucketOrders, func(key, value []byte) {
		if !isRow(key) {
			return
		}
		c.report.Orders++
		o, err := readOrder(c.store.names, key, value)
		if err != nil {
			c.note("orders", err)
			return
		}
		if !o.State.Terminal() {
			open++
		}
		c.order(key[:8], &o)
		delete(c.filled, o.ID)
	})
	for id := range c.filled {
		c.flaw(fmt.Sprintf("order %d", id), "it has fills and is not in the table of orders")
	}
	c.report.Open = open
}

func (c *checker) order(key []byte, o *OrderRow) {
	place := fmt.Sprintf("order %d", o.ID)
	if o.ClientOrderID != uuid.Nil && !bytes.Equal(clientIDsOf(c.tx).get(o.ClientOrderID), key) {
		c.flaw(place, "it is not found by its client order id %s", o.ClientOrderID)
	}
	by := exchangeKey(o.ExchangeID, c.store.names.Catalog().Market(o.Market).Name)
	if o.ExchangeID != uuid.Nil && !bytes.Equal(c.tx.Bucket(bucketExchangeIDs).Get(by), key) {
		c.flaw(place, "it is not found by its exchange id %s", o.ExchangeID)
	}
	if open := has(c.tx.Bucket(bucketOpen), key); open == o.State.Terminal() {
		c.flaw(place, "it is %s, and the list of open orders says otherwise", o.State)
	}
	switch filled := c.filled[o.ID]; {
	case filled == o.FilledAmount:
	case o.State.Terminal():
		m := c.store.names.Catalog().Market(o.Market)
		c.flaw(place, "its fills add up to %s, its filledAmount is %s", m.FormatQty(filled),
			m.FormatQty(o.FilledAmount))
	default:
		c.report.Awaited++
	}
}

// empty checks that a key has no value.
func (c *checker) empty(name string, key, value []byte) {
	if len(value) > 0 {
		c.flaw(fmt.Sprintf("%s %s", name, bolt.FormatKey(key)), "it has %d bytes, and should have none", len(value))
	}
}

// open checks the index of open orders: each key must name an order.
func (c *checker) open() {
	c.index(bucketOpen, func(key, value []byte) []byte {
		c.empty("open", key, value)
		return key
	})
}

// clientIDs checks the lists. The check of the orders has seen that the lists have the id of each
// order.
func (c *checker) clientIDs() {
	rows := c.tx.Bucket(bucketOrders)
	c.each(bucketClientIDs, func(key, value []byte) {
		place := fmt.Sprintf("clientIDs %s", bolt.FormatKey(key))
		list, err := openRow(key, value)
		c.note(place, err)
		if err != nil {
			return
		}
		for entry := range slices.Chunk(list, idEntry) {
			row := rows.Get(part(entry[16:], partRow, nil))
			if row == nil && orderOfKey(entry[16:]) <= c.from.orders {
				continue // Trim leaves the lists as they are
			}
			if id := clientIDOf(row); !bytes.Equal(entry[:16], id[:]) {
				c.flaw(place, "order %s has another id than %s", bolt.FormatKey(entry[16:]),
					bolt.FormatKey(entry[:16]))
			}
		}
	})
}

func (c *checker) exchangeIDs() {
	c.index(bucketExchangeIDs, func(_, value []byte) []byte { return value })
}

func (c *checker) index(bucket []byte, order func(key, value []byte) []byte) {
	rows := c.tx.Bucket(bucketOrders)
	c.each(bucket, func(key, value []byte) {
		id, place := order(key, value), fmt.Sprintf("%s %s", bucket, bolt.FormatKey(key))
		row := rows.Get(part(id, partRow, nil))
		if row == nil {
			c.flaw(place, "there is no order %s", bolt.FormatKey(id))
			return
		}
		o, err := readOrder(c.store.names, part(id, partRow, nil), row)
		if err == nil && bytes.Equal(bucket, bucketExchangeIDs) && !bytes.HasPrefix(key, o.ExchangeID[:]) {
			c.flaw(place, "order %d has another id", o.ID)
		}
	})
}

// small reads the tables that no other table refers to.
func (c *checker) small() {
	n := c.store.names
	c.each(bucketPositions, func(key, value []byte) {
		_, err := readPosition(n, key, value)
		c.note("positions", err)
	})
	c.each(bucketEquity, func(key, value []byte) {
		_, err := readEquity(n, key, value)
		c.note("equity", err)
	})
	c.each(bucketHalts, func(key, value []byte) {
		c.report.Halts++
		_, err := readHalt(n, key, value)
		c.note("halts", err)
	})
	c.each(bucketRuns, func(key, value []byte) {
		c.report.Runs++
		_, err := readRun(n, key, value)
		c.note("runs", err)
		if c.lacks(key) {
			c.flaw(fmt.Sprintf("run %s", bolt.FormatKey(key)), "the journal lacks its start")
		}
	})
	c.kept()
	for _, bucket := range [][]byte{bucketBlobs, bucketCursors, bucketUnits} {
		c.each(bucket, func(key, value []byte) {
			_, err := openRow(key, value)
			c.note(fmt.Sprintf("%s %q", bucket, key), err)
		})
	}
}

// lacks reports whether the journal should have the entry that the key of a row names, and lacks
// it.
func (c *checker) lacks(key []byte) bool {
	return len(key) == 8 && !c.entries.has(binary.BigEndian.Uint64(key)) &&
		bytes.Compare(key, key64(c.from.number)) > 0
}

// kept checks that each row says the same as its journal entry, where Prune left the entry.
func (c *checker) kept() {
	c.each(bucketKept, func(key, value []byte) {
		row, err := readKept(c.store.names, key, value)
		if c.note("kept", err); err != nil {
			return
		}
		place := fmt.Sprintf("kept %d", row.Number)
		if c.lacks(key) {
			c.flaw(place, "the journal lacks its entry")
			return
		}
		entry, err := c.entries.get(row.Number)
		if err != nil || entry == nil {
			return // pruned, or noted by the check of the journal
		}
		if body, _ := openRow(key, value); !bytes.Equal(body, entry[sha256.Size:]) {
			c.flaw(place, "it is not the journal entry of that number")
		}
	})
}

// meta checks the keys of meta. Opening the file and the check of the journal read the values.
func (c *checker) meta() {
	c.each(bolt.BucketMeta, func(key, _ []byte) {
		if !bytes.Equal(key, bolt.KeyFormat) && !bytes.Equal(key, keyHead) && !bytes.Equal(key, keyCut) {
			c.flaw(fmt.Sprintf("meta %q", key), "this program does not write it")
		}
	})
}
