package journal

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// How full pages become. The journal grows only at its end. Orders and fills do too, but the parts
// of an order come a little later.
const (
	journalFill = 0.95
	ordersFill  = 0.9
)

// Commit writes a batch in one synced transaction and empties it. On an error nothing was written
// and the batch is unchanged, so it can be committed again when the disk has space; only an error
// that wraps ErrUnresolved leaves this open.
func (s *Store) Commit(b *Batch) error {
	if err := errors.Join(s.unresolved, b.fault()); err != nil {
		return err
	}
	if len(b.ops) == 0 {
		return nil
	}
	var before head
	var trimmed Trimmed
	left := s.block
	s.block = nil // a commit that fails has perhaps begun to change it
	err := s.db.Update(func(tx *bbolt.Tx) (err error) {
		before, err = headOf(tx)
		if err != nil {
			return err
		}
		c := committer{tx: tx, head: before, Batch: b, packer: &s.packer}
		if err = c.run(); err == nil && b.before != 0 {
			trimmed, left, err = c.trim(left)
		}
		return err
	})
	if err != nil {
		return s.failed(before, err)
	}
	if s.block = left; b.before != 0 {
		s.trimmed = trimmed
	}
	b.Reset()
	if s.commits++; s.commits%releaseEvery == 0 {
		return s.release()
	}
	return nil
}

// releaseEvery is the number of commits after which the pages that they touched are released.
const releaseEvery = 64

// release gives back the mapped pages of the file. Without it every touched page, in the end the
// whole file, would count as memory of this process. A page that is needed again comes from the
// cache of the system.
func (s *Store) release() error {
	return s.db.View(func(tx *bbolt.Tx) error {
		pages := bolt.NewReleaser(tx)
		pages.All()
		return nil
	})
}

// failed checks whether a failed commit reached the file all the same: its last step is one write
// and a sync.
func (s *Store) failed(before head, err error) error {
	err = fmt.Errorf("commit to %s: %w", s.path, err)
	check := s.db.View(func(tx *bbolt.Tx) error {
		after, err := headOf(tx)
		if err == nil && after != before {
			return ErrUnresolved
		}
		return err
	})
	if check != nil {
		s.unresolved = errors.Join(err, check, ErrUnresolved)
		return s.unresolved
	}
	return err
}

// committer writes one batch.
type committer struct {
	*Batch
	tx     *bbolt.Tx
	head   head
	packer *packer
	packed bool          // it has made a segment
	table  *bbolt.Bucket // of orders
	known  []byte        // the highest number of an order in the table before, as a key
	grown  bool          // the table has a new order
	ids    clientIDs
	listed []byte // the last order in a list before, as a key
	told   []told
	pruned market.OrderID // the highest number of an order that Prune removed
	books  *booker        // nil: this commit has no booking yet
}

func (c *committer) run() error {
	c.table = c.tx.Bucket(bucketOrders)
	c.table.FillPercent = ordersFill
	c.ids = clientIDsOf(c.tx)
	c.listed = bytes.Clone(c.ids.lastListed())
	from, err := cutOf(c.tx)
	if err != nil {
		return err
	}
	c.pruned = from.orders
	before := c.head.number
	if last, _ := bolt.NewCursor(c.table).Last(); len(last) >= 8 {
		c.known = bytes.Clone(last[:8])
	}
	journal := c.tx.Bucket(bucketJournal)
	journal.FillPercent = journalFill
	for i := range c.ops {
		if err := c.apply(journal, &c.ops[i]); err != nil {
			return err
		}
	}
	if err := c.tell(); err != nil {
		return err
	}
	if c.grown {
		if err := c.ids.makeList(); err != nil {
			return err
		}
	}
	if err := c.pack(from, before); err != nil {
		return err
	}
	return putHead(c.tx, c.head)
}

func (c *committer) apply(journal *bbolt.Bucket, o *op) error {
	switch o.do {
	case opEntry:
		return c.entry(journal, o)
	case opOrder:
		return c.order(o)
	case opFill:
		return c.fill(o)
	case opPosition:
		return putRow(c.tx.Bucket(bucketPositions), c.slice(o.key), c.slice(o.value))
	case opBlob:
		return putRow(c.tx.Bucket(bucketBlobs), c.slice(o.key), c.slice(o.value))
	case opRemoveBlob:
		return c.tx.Bucket(bucketBlobs).Delete(c.slice(o.key))
	case opCursor:
		return putRow(c.tx.Bucket(bucketCursors), c.slice(o.key), c.slice(o.value))
	case opHalt:
		return putRow(c.tx.Bucket(bucketHalts), c.slice(o.key), c.slice(o.value))
	case opResume:
		return c.tx.Bucket(bucketHalts).Delete(c.slice(o.key))
	case opRun:
		return c.numbered(bucketRuns, o)
	case opKept:
		return c.numbered(bucketKept, o)
	case opEquity:
		return addEquity(c.tx, c.enc.Names, &c.samples[o.from])
	case opTransfer:
		moved := c.moved[o.from] // a commit may be tried again
		return c.book(&moved)
	}
	panic(fmt.Sprintf("batch: operation %d", o.do))
}

// numbered writes a row whose key is the number of its entry, which was the last one.
func (c *committer) numbered(bucket []byte, o *op) error {
	key := key64(c.head.number)
	return putRow(c.tx.Bucket(bucket), key, sealRow(bytes.Clone(c.slice(o.value)), key, 0))
}

// putRow writes a row unless it is stored already.
func putRow(bucket *bbolt.Bucket, key, value []byte) error {
	if have := bucket.Get(key); have != nil && bytes.Equal(have, value) {
		return nil
	}
	return bucket.Put(key, value)
}

func (c *committer) entry(journal *bbolt.Bucket, o *op) error {
	stored := c.head.seal(c.slice(o.value))
	key := key64(c.head.number)
	if err := journal.Put(key, stored); err != nil {
		return err
	}
	if c.head.number%checkpointEvery == 0 {
		// bbolt keeps the value until the transaction ends
		if err := c.tx.Bucket(bucketCheckpoints).Put(key, bytes.Clone(c.head.hash[:])); err != nil {
			return err
		}
	}
	for _, id := range c.orders[o.from:o.to] {
		c.told = append(c.told, told{id, c.head.number})
	}
	return nil
}

// order writes a row and its index entries.
func (c *committer) order(o *op) error {
	key, id := c.slice(o.key), c.slice(o.key)[:8]
	client, exchange, name := splitIndex(c.slice(o.index))
	have := c.table.Get(key)
	if orderOfKey(id) <= c.pruned && have == nil {
		return fmt.Errorf("order %d: bot state compact or bot.keep removed an order of this number", orderOfKey(id))
	}
	if err := c.ids.claim(id, client, have, c.listed); err != nil {
		return err
	}
	if exchange != uuid.Nil {
		if err := claim(c.tx.Bucket(bucketExchangeIDs), exchange, exchangeKey(exchange, string(name)), id); err != nil {
			return err
		}
	}
	if err := c.listOpen(id, o.open, have != nil); err != nil {
		return err
	}
	value := c.slice(o.value)
	if have != nil && bytes.Equal(have, value) {
		return nil
	}
	c.grown = c.grown || have == nil
	return c.table.Put(key, value)
}

// listOpen keeps the list of open orders. known says that the order has a row already.
func (c *committer) listOpen(id []byte, is, known bool) error {
	open := c.tx.Bucket(bucketOpen)
	was := known && has(open, id) // Get would not see an empty value that this transaction put
	switch {
	case is && !was:
		return open.Put(id, nil)
	case was && !is:
		return open.Delete(id)
	}
	return nil
}

// claim adds an order to the index of exchange ids. An exchange id is unique in a market: another
// order with the same id is an error.
func claim(index *bbolt.Bucket, id uuid.UUID, by, order []byte) error {
	have := index.Get(by)
	if have == nil {
		index.FillPercent = bbolt.DefaultFillPercent
		if last, _ := bolt.NewCursor(index).Last(); bytes.Compare(by, last) > 0 {
			index.FillPercent = journalFill // this exchange's ids rise
		}
		return index.Put(by, order)
	}
	if !bytes.Equal(have, order) {
		return fmt.Errorf("order %d: exchange id %s belongs to order %d: an exchange that begins anew gives its ids "+
			"again; begin anew with another bot.state", orderOfKey(order), id, orderOfKey(have))
	}
	return nil
}

// fill writes a fill that is new, or whose fee is settled now.
func (c *committer) fill(o *op) error {
	key, fills := c.slice(o.key), c.tx.Bucket(bucketFills)
	fills.FillPercent = ordersFill
	if at := c.table.Get(c.slice(o.index)); at != nil {
		known := append(bytes.Clone(at), key[8:]...)
		have, err := readFill(c.enc.Names, known, fills.Get(known))
		if err != nil {
			return err
		}
		now, err := readFill(c.enc.Names, key, c.slice(o.value))
		if err != nil || have.Settled || !now.Settled {
			return err
		}
		now.Time = have.Time // the key holds the time; a settled fee may come with another
		if err := fills.Put(known, c.encodeFill(known, &now.Fill)); err != nil {
			return err
		}
		fee := feeBooked(&now.Fill)
		return c.book(&fee)
	}
	if err := c.table.Put(c.slice(o.index), key[:8]); err != nil {
		return err
	}
	if err := fills.Put(key, c.slice(o.value)); err != nil {
		return err
	}
	return c.bookFill(key, c.slice(o.value))
}

// bookFill books a new row of the table of fills.
func (c *committer) bookFill(key, value []byte) error {
	f, err := readFill(c.enc.Names, key, value)
	if err != nil {
		return err
	}
	tag, err := tagOf(c.enc.Names, c.table, key[8:16])
	if err != nil {
		return err
	}
	return c.book(&Booking{Kind: BookedFill, Fill: f.Fill, StrategyName: f.StrategyName, Tag: tag})
}

func (c *committer) encodeFill(key []byte, f *market.Fill) []byte {
	e := recordEncoder{Encoder: codec.Encoder{Names: c.enc.Names}}
	e.Byte(recordVersion)
	e.fill(f)
	return sealRow(e.Buf, key, 0)
}
