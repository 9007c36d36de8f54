package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAGroupEndsWhenItsTimerExpires(t *testing.T) {
	f := newFloor(t, nil)
	f.wait(500 * time.Millisecond)
	resting := f.place(f.alice, "buy limit amount=1 price=100 codGroupId=3")
	waiting := f.place(f.alice, "sell stopLoss amount=1 triggerAmount=50 codGroupId=3")
	elsewhere := f.order(f.alice, "POST /order",
		"market=ETH-EUR operatorId=7 side=buy orderType=limit amount=1 price=100 codGroupId=3")
	others := []told{f.place(f.alice, "buy limit amount=1 price=100"),
		f.place(f.alice, "buy limit amount=1 price=100 codGroupId=4")}
	bobs := f.place(f.bob, "buy limit amount=1 price=100 codGroupId=3")
	require.JSONEq(t, `{"codGroupId":3,"timeOfExpirySeconds":1767225611}`,
		f.ok(f.alice, "POST /cancelOrdersAfter", "codGroupId=3 expiryAfterSeconds=10"), "up to a whole second")

	f.now = started.Add(11*time.Second - 1)
	require.Equal(t, "new", f.statusOf(f.alice, resting.OrderID))
	f.now++
	require.Equal(t, "canceled cancelOnDisconnect", f.statusOf(f.alice, resting.OrderID))
	require.Equal(t, "canceled cancelOnDisconnect", f.statusOf(f.alice, waiting.OrderID))
	require.Empty(t, f.list(f.alice, "GET /ordersOpen", "market=ETH-EUR"), elsewhere.OrderID)
	require.Equal(t, ids(f.list(f.alice, "GET /ordersOpen", "market=BTC-EUR")),
		[]string{others[1].OrderID, others[0].OrderID})
	require.Equal(t, "new", f.statusOf(f.bob, bobs.OrderID))

	again := f.place(f.alice, "buy limit amount=1 price=100 codGroupId=3")
	f.wait(time.Hour)
	require.Equal(t, "new", f.statusOf(f.alice, again.OrderID), "a timer expires once")
}

func TestATimerIsSetAnewOrStopped(t *testing.T) {
	f := newFloor(t, nil)
	order := f.place(f.alice, "buy limit amount=1 price=100 codGroupId=3")
	f.ok(f.alice, "POST /cancelOrdersAfter", "codGroupId=3 expiryAfterSeconds=10")
	f.wait(9 * time.Second)
	f.ok(f.alice, "POST /cancelOrdersAfter", "codGroupId=3 expiryAfterSeconds=300")
	f.wait(299 * time.Second)
	require.JSONEq(t, `{"codGroupId":3,"timeOfExpirySeconds":0}`,
		f.ok(f.alice, "POST /cancelOrdersAfter", "codGroupId=3 expiryAfterSeconds=0"))
	f.wait(time.Hour)
	require.Equal(t, "new", f.statusOf(f.alice, order.OrderID))
	require.Equal(t, never, f.disconnects.due())
}

func TestGroupsWithATimerAreLimited(t *testing.T) {
	f := newFloor(t, nil)
	f.ok(f.alice, "POST /cancelOrdersAfter", "codGroupId=3 expiryAfterSeconds=10")
	f.refused(f.alice, "POST /cancelOrdersAfter", "codGroupId=4 expiryAfterSeconds=10", 205,
		"codGroupId parameter is invalid.")
	f.ok(f.bob, "POST /cancelOrdersAfter", "codGroupId=4 expiryAfterSeconds=10")
	f.ok(f.alice, "POST /cancelOrdersAfter", "codGroupId=4 expiryAfterSeconds=0")
	f.config.Rules.GroupsPerAccount = 2
	f.ok(f.alice, "POST /cancelOrdersAfter", "codGroupId=4 expiryAfterSeconds=20")
	f.refused(f.alice, "POST /cancelOrdersAfter", "codGroupId=5 expiryAfterSeconds=10", 205,
		"codGroupId parameter is invalid.")
	f.wait(10 * time.Second)
	f.ok(f.alice, "POST /cancelOrdersAfter", "codGroupId=5 expiryAfterSeconds=10") // 3 Has expired
}

func TestTimersExpireInTheirOrder(t *testing.T) {
	f := newFloor(t, nil)
	late := f.place(f.alice, "buy limit amount=1 price=100 codGroupId=1")
	early := f.place(f.bob, "buy limit amount=1 price=100 codGroupId=1")
	f.ok(f.alice, "POST /cancelOrdersAfter", "codGroupId=1 expiryAfterSeconds=20")
	f.ok(f.bob, "POST /cancelOrdersAfter", "codGroupId=1 expiryAfterSeconds=10")
	f.wait(15 * time.Second)
	require.Equal(t, "canceled cancelOnDisconnect", f.statusOf(f.bob, early.OrderID))
	require.Equal(t, "new", f.statusOf(f.alice, late.OrderID))
	require.Equal(t, started.Add(20*time.Second), f.disconnects.due())
}
