package bottest

import (
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// crossedOrders are the orders that changed hands between strategies. Each cross has an entry, two
// orders of two strategies, and one fill for each: of one amount and price, with roundings that add
// up to nothing.
func (s *Books) crossedOrders(store *journal.Store) map[market.OrderID]bool {
	t, orders := s.T, map[market.OrderID]bool{}
	for _, entry := range s.entries(store, journal.EntryCross) {
		x := entry.Record.(*journal.Cross)
		sell, buy := &x.Sell.Fill, &x.Buy.Fill
		require.Equal(t, [2]market.Side{market.Sell, market.Buy}, [2]market.Side{sell.Side, buy.Side})
		require.Equal(t, [2]int64{int64(sell.Price), int64(sell.Amount)}, [2]int64{int64(buy.Price),
			int64(buy.Amount)})
		require.Equal(t, sell.Fee.Neg(), buy.Fee)
		owners := [2]string{}
		for i, leg := range x.Legs() {
			id := leg.Fill.Order
			row, err := store.Order(id)
			require.NoError(t, err)
			owners[i] = row.StrategyName
			require.False(t, orders[id], "order %d crossed twice", id)
			orders[id] = true
			fills, err := store.FillsOf(id)
			require.NoError(t, err)
			require.Len(t, fills, 1)
			require.Equal(t, leg.Fill, fills[0].Fill)
		}
		require.NotEqual(t, owners[0], owners[1])
	}
	require.NoError(t, store.Fills(0, 0, func(f *journal.FillRow) error {
		require.Equal(t, orders[f.Order], f.Crossed, "fill %s of order %d", f.ID, f.Order)
		return nil
	}))
	return orders
}

// crossed are the crossed fills in a market, as trades of their owners.
func (f *folding) crossed(store *journal.Store, m *market.Market) (trades []exchange.Trade) {
	require.NoError(f.T, store.Bookings(0, func(b *journal.Booking) error {
		if b.Fill.Crossed && store.Catalog().Market(b.Fill.Market).Name == m.Name {
			trades = append(trades, exchange.Trade{Fill: b.Fill})
			f.owners[b.Fill.ID] = owner{b.Fill.Order, b.StrategyName, b.Number}
		}
		return nil
	}))
	return trades
}
