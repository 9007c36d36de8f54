package journal

import "go.etcd.io/bbolt"

// copier writes rows into a new file, a limited number of bytes in each transaction.
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

// put writes a row. The keys of a bucket must come in order, so that pages become full.
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

// end runs last in the final transaction and commits it.
func (c *copier) end(last func(tx *bbolt.Tx) error) error {
	if err := c.begin(); err != nil {
		return err
	}
	if err := last(c.tx); err != nil {
		return err
	}
	return c.commit()
}

// drop rolls back a transaction that an error left open.
func (c *copier) drop() {
	if c.tx != nil {
		_ = c.tx.Rollback()
		c.tx = nil
	}
}
