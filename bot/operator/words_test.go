package operator

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOrdersAreCountedAsAPersonWouldSayIt(t *testing.T) {
	require.Equal(t, "0 orders", OrdersText(0))
	require.Equal(t, "1 order", OrdersText(1))
	require.Equal(t, "12 orders", OrdersText(12))
}

func TestAReportSaysWhatWasDoneThenWhatIsLeft(t *testing.T) {
	r := NewReport([]string{"maker", "trend"})
	r.Cancelled, r.Unchanged = 2, []string{"trend"}
	r.Protecting = []OrderRow{{Number: 7, Strategy: "trend", Market: "BTC-EUR", Side: "sell", Type: "stopLoss",
		Amount: "0.5", Trigger: "90000"}}
	require.Equal(t, "halted: maker, trend (halted before: trend); 2 orders cancelled\n"+
		"left to protect: 7 trend BTC-EUR sell stopLoss 0.5 when 90000\n", r.Words(PathHalt, &Request{}))
	require.Equal(t, "trading: maker, trend (not halted before: trend)\n"+
		"left to protect: 7 trend BTC-EUR sell stopLoss 0.5 when 90000\n", r.Words(PathResume, &Request{}))
	sold := NewReport([]string{"maker"})
	sold.Sold, sold.Unsold, sold.Trading = 1, []string{"dust"}, []string{"trend"}
	require.Equal(t, "halted: maker; 0 orders cancelled, 1 order to sell\nnot sold: dust\n"+
		"not halted, so they may place new orders: trend\n", sold.Words(PathFlatten, &Request{}))
	require.Equal(t, "order 7 is resolved as absent\n",
		NewReport(nil).Words(PathResolve, &Request{Order: "7", As: AsAbsent}))
	require.Equal(t, "1 order cancelled\n", (&ActResult{Cancelled: 1}).Words(PathCancel, &Request{}))
}
