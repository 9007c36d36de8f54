package bot

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOrdersAreCountedAsAPersonWouldSayIt(t *testing.T) {
	require.Equal(t, "0 orders", ordersText(0))
	require.Equal(t, "1 order", ordersText(1))
	require.Equal(t, "12 orders", ordersText(12))
}
