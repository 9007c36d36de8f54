package journal

import "go.etcd.io/bbolt"

// copier writes into a new file, a bounded number of bytes a transaction.
type copier struct {
	db    *bbolt.DB
	tx    *bbolt.Tx
	bytes int
}

func (c *copier) begin() (err error) {
	if c.tx != nil {
		return nil
	}
	if c.tx, err = c.db.Begin(true); err != nil {
		return err
	}
	for _, name := range buckets {
		if _, err := c.tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return nil
}

// put writes a key. Keys of a bucket come in order, so that pages can be full.
func (c *copier) put(bucket, key, value []byte) error {
	if err := c.begin(); err != nil {
		return err
	}
	into := c.tx.Bucket(bucket)
	into.FillPercent = journalFill
	if err := into.Put(key, value); err != nil {
		return err
	}
	if c.bytes += len(key) + len(value); c.bytes < compactTx {
		return nil
	}
	return c.commit()
}

func (c *copier) commit() error {
	tx := c.tx
	c.tx, c.bytes = nil, 0
	return tx.Commit()
}

// end writes what comes last.
func (c *copier) end(last func(tx *bbolt.Tx) error) error {
	if err := c.begin(); err != nil {
		return err
	}
	if err := last(c.tx); err != nil {
		return err
	}
	return c.commit()
}

// drop ends a transaction that an error left open.
func (c *copier) drop() {
	if c.tx != nil {
		_ = c.tx.Rollback()
		c.tx = nil
	}
}
