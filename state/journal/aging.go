package journal

import (
	"math"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// aging decides which orders Prune and Trim remove.
type aging struct {
	tx     *bbolt.Tx
	names  *codec.Names
	before market.Time
	last   uint64                 // the journal is removed up to this entry
	held   map[string]market.Time // key of an open position whose orders stay → when it was opened
}

// findHeld finds the open positions, whose orders stay. The orders behind an adopted position are
// those of the strategy that had it before, too.
func (a *aging) findHeld() error {
	a.held = map[string]market.Time{}
	err := bolt.ForEach(a.tx.Bucket(bucketPositions), func(key, value []byte) error {
		row, err := readPosition(a.names, key, value)
		if err == nil && row.Amount != 0 {
			a.held[string(key)] = row.Opened
		}
		return err
	})
	if err != nil {
		return err
	}
	cursor := bolt.NewCursor(a.tx.Bucket(bucketKept))
	for key, value := cursor.Last(); key != nil; key, value = cursor.Prev() {
		row, err := readKept(a.names, key, value)
		if err != nil {
			return err
		}
		if adopted, is := row.Record.(*Adoption); is {
			a.holdBefore(adopted)
		}
	}
	return nil
}

// holdBefore holds the positions of an adoption under the name that they had before.
func (a *aging) holdBefore(r *Adoption) {
	for i := range r.Positions {
		name := a.names.Catalog().Market(r.Positions[i].Market).Name
		since, held := a.held[string(positionKey(r.To, name))]
		before, known := a.held[string(positionKey(r.From, name))]
		if held && (!known || since < before) {
			a.held[string(positionKey(r.From, name))] = since
		}
	}
}

// finished reports whether an order can be removed.
func (a *aging) finished(o *OrderRow) (bool, error) {
	if !o.State.Terminal() || o.Updated >= a.before {
		return false, nil
	}
	if last, err := lastEntry(a.tx, o.ID); err != nil || last > a.last {
		return false, err
	}
	name := a.names.Catalog().Market(o.Market).Name
	since, held := a.held[string(positionKey(o.StrategyName, name))]
	if held && o.Updated >= since {
		return false, nil
	}
	fills, err := fillsOf(a.tx, a.names, o.ID)
	needed := func(f FillRow) bool { return !f.Settled || held && f.Time >= since }
	return err == nil && !slices.ContainsFunc(fills, needed), err
}

// has reports whether there is an order of a number.
func (a *aging) has(id market.OrderID) bool {
	return a.tx.Bucket(bucketOrders).Get(part(orderKey(id), partRow, nil)) != nil
}

// lastEntry returns the number of the last entry about an order, 0 for none.
func lastEntry(tx *bbolt.Tx, id market.OrderID) (uint64, error) {
	key, value := lastStory(tx.Bucket(bucketOrders), orderKey(id), math.MaxUint64)
	if key == nil {
		return 0, nil
	}
	numbers, err := appendStory(nil, key, value)
	if err != nil {
		return 0, err
	}
	return numbers[len(numbers)-1], nil
}
