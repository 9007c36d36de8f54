package sandbox

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpenOrdersAndTransfersUnderWayAreUnfinished(t *testing.T) {
	r := newRig(t)
	count := func() [2]int {
		orders, transfers := r.ex.Unfinished()
		return [2]int{orders, transfers}
	}
	require.Equal(t, [2]int{0, 0}, count())
	for _, price := range []string{"100", "101"} {
		r.send("alice", http.MethodPost, "/order",
			`{"market":"BTC-EUR","side":"buy","orderType":"limit","amount":"1","price":"`+price+`","operatorId":1}`).
			ok(t)
	}
	r.send("bob", http.MethodPost, "/order",
		`{"market":"BTC-EUR","side":"sell","orderType":"limit","amount":"1","price":"101","operatorId":1}`).ok(t)
	r.send("bob", http.MethodPost, "/withdrawal",
		`{"symbol":"BTC","amount":"1","address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}`).ok(t)
	require.Equal(t, [2]int{1, 1}, count())
	r.pass(day)
	r.send("alice", http.MethodDelete, "/orders?operatorId=1", "").ok(t)
	require.Equal(t, [2]int{0, 0}, count())
}
