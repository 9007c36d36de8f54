package journal

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

func TestEveryOrderIsFoundByItsClientOrderID(t *testing.T) {
	const orders = listOrders*(joinLists+12) + 7
	s := botStore(t)
	s.db.NoSync = true
	b := s.NewBatch()
	for id := market.OrderID(1); id <= orders; id++ {
		if id == 5 {
			continue
		}
		b.Order(ownOrder(id))
		if id%97 == 0 {
			require.NoError(t, s.Commit(b))
		}
	}
	require.NoError(t, s.Commit(b))
	b.Order(ownOrder(5)) // after those behind it were folded
	require.NoError(t, s.Commit(b))
	b.Order(ownOrder(5))
	require.NoError(t, s.Commit(b))
	for id := market.OrderID(1); id <= orders; id += 1 + id%41 {
		row, err := s.OrderByClientID(market.ClientOrderID(testRun, id))
		require.NoError(t, err)
		require.Equal(t, id, row.ID)
	}
	row, err := s.OrderByClientID(market.ClientOrderID(testRun, 5))
	require.NoError(t, err)
	require.EqualValues(t, 5, row.ID)
	_, err = s.OrderByClientID(market.ClientOrderID(testRun, orders+1))
	require.ErrorIs(t, err, bolt.ErrNotFound)
	lists := 0
	require.NoError(t, s.walk(bucketClientIDs, nil, func(_, _ []byte) error { lists++; return nil }))
	require.Less(t, lists, 20)
	report := requireSound(t, s)
	require.EqualValues(t, orders, report.Orders)
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error { return clientIDsOf(tx).merge() }))
}

func TestAnOrderKeepsItsClientOrderID(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	b.Order(ownOrder(1))
	require.NoError(t, s.Commit(b))
	other := ownOrder(1)
	other.ClientOrderID = ownOrder(2).ClientOrderID
	b.Order(other)
	require.ErrorContains(t, s.Commit(b), "differs from the stored one")
	b.Reset()
	twin := ownOrder(2) // an id used twice is found by looking at everything
	twin.ClientOrderID = ownOrder(1).ClientOrderID
	b.Order(twin)
	require.NoError(t, s.Commit(b))
	report, err := s.Check()
	require.NoError(t, err)
	require.Len(t, report.Flaws, 1)
	require.Contains(t, report.Flaws[0].String(), "order 2: it is not found by its client order id")
}
