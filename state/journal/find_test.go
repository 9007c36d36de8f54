package journal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

func TestAnOrderIsFoundByTheBeginningOfAnIDThatNoOtherHas(t *testing.T) {
	s := botStore(t)
	b := s.NewBatch()
	s.db.NoSync = true
	const orders = listOrders + 40 // some in a list, some behind it
	for id := market.OrderID(1); id <= orders; id++ {
		o := ownOrder(id)
		o.ExchangeID, o.State = exchangeID(id), state.Canceled
		b.Order(o)
	}
	require.NoError(t, s.Commit(b))
	for _, id := range []market.OrderID{1, listOrders - 1, listOrders + 1, orders} {
		name := market.ClientOrderID(testRun, id).String()
		for _, text := range []string{name[:9], name[:20], strings.ToUpper(name[:18]),
			strings.ReplaceAll(name, "-", "")[:17], exchangeID(id).String()} {
			row, err := s.FindOrder(text)
			require.NoError(t, err, text)
			require.Equal(t, id, row.ID, text)
		}
	}
	_, err := s.FindOrder("0900")
	require.ErrorContains(t, err, "order 0900: orders 1, 2, 3, 4, 5 and others begin with that; write more of it")
	_, err = s.FindOrder("09000000-0000-0000-0000-0000000002")
	require.ErrorContains(t, err, "and others begin with that")
	for _, text := range []string{"abc", "xyz0", "", strings.Repeat("0", 33), "ffff"} {
		_, err = s.FindOrder(text)
		require.Error(t, err, text)
	}
	row, err := s.FindOrder("12")
	require.NoError(t, err)
	require.EqualValues(t, 12, row.ID, "a number is a number first")
}
