package operator

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOrdersAreCountedAsAPersonWouldSayIt(t *testing.T) {
	require.Equal(t, "0 orders", CountOrders(0))
	require.Equal(t, "1 order", CountOrders(1))
	require.Equal(t, "12 orders", CountOrders(12))
}
