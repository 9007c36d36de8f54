package sandbox

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOrdersAreListedLatestFirstBetweenTheirBounds(t *testing.T) {
	f := newFloor(t, nil)
	var made []string // latest first
	for range 5 {
		made = slices.Insert(made, 0, f.place(f.alice, "buy limit amount=1 price=100").OrderID)
		f.place(f.bob, "buy limit amount=1 price=99") // in between, and nobody's business
		f.wait(time.Second)
	}
	from := started.Millis()
	cases := []struct {
		bounds string
		want   []string
	}{
		{"", made},
		{"limit=2", made[:2]},
		{fmt.Sprintf("start=%d", from+2000), made[:3]},
		{fmt.Sprintf("start=%d", from+2001), made[:2]},
		{fmt.Sprintf("end=%d", from+1000), made[3:]},
		{fmt.Sprintf("end=%d", from+999), made[4:]},
		{fmt.Sprintf("start=%d end=%d", from+1000, from+3000), made[1:4]},
		{fmt.Sprintf("start=%d end=%d limit=1", from+1000, from+3000), made[1:2]},
		{"orderIdFrom=" + made[3], made[:4]},
		{"orderIdTo=" + made[3], made[3:]},
		{"orderIdFrom=" + made[3] + " orderIdTo=" + made[1], made[1:4]},
		{"orderIdFrom=" + made[1] + " orderIdTo=" + made[3], []string{}},
		{"orderIdTo=00000000-0000-0001-0100-000000000004", made[3:]}, // bob's: a place like any other
		{"orderIdFrom=00000000-0000-0001-0100-0000000000ff", []string{}},
	}
	for _, c := range cases {
		require.Equal(t, c.want, ids(f.list(f.alice, "GET /orders", "market=BTC-EUR "+c.bounds)), c.bounds)
	}
}

func TestOpenOrdersAreListedByMarketOrBase(t *testing.T) {
	f := newFloor(t, nil)
	btc := f.place(f.alice, "buy limit amount=2 price=100").OrderID
	eth := f.order(f.alice, "POST /order",
		"market=ETH-EUR operatorId=7 side=buy orderType=limit amount=1 price=100").OrderID
	f.place(f.bob, "sell limit amount=1 price=100")
	for parameters, want := range map[string][]string{
		"": {btc, eth}, "market=BTC-EUR": {btc}, "base=ETH": {eth}, "market=BTC-EUR base=ETH": {},
		"market=ETH-EUR base=ETH": {eth}, "base=EUR": {},
	} {
		open := f.list(f.alice, "GET /ordersOpen", parameters)
		require.Equal(t, want, ids(open), parameters)
		for _, o := range open {
			require.Equal(t, []toldTrade{}, o.Fills, "even of an order with a fill")
		}
	}
}

func TestTradesAreListedLatestFirstBetweenTheirBounds(t *testing.T) {
	f := newFloor(t, nil)
	f.place(f.alice, "buy limit amount=5 price=100 clientOrderId="+client(1))
	for range 4 {
		f.place(f.bob, "sell limit amount=1 price=100")
		f.wait(time.Second)
	}
	all := read[[]toldTrade](f, f.ok(f.alice, "GET /trades", "market=BTC-EUR"))
	require.Equal(t, toldTrade{ID: "00000000-0000-0001-0000-000000000004",
		OrderID: "00000000-0000-0001-0100-000000000001", ClientOrderID: text(client(1)),
		Timestamp: started.Millis() +
			3000, Market: "BTC-EUR", Side: "buy", Amount: "1", Price: "100", Fee: text("0.15"),
		FeeCurrency: text("EUR"), Settled: true}, all[0])
	from := started.Millis()
	for bounds, want := range map[string][]toldTrade{
		"": all, "limit=1": all[:1], fmt.Sprintf("start=%d end=%d", from+1000, from+2000): all[1:3], "tradeIdFrom=" +
			all[1].ID: all[:2], "tradeIdTo=" + all[1].ID: all[1:],
		"tradeIdFrom=" + all[2].ID + " tradeIdTo=" + all[2].ID: all[2:3],
	} {
		require.Equal(t, want, read[[]toldTrade](f, f.ok(f.alice, "GET /trades", "market=BTC-EUR "+bounds)), bounds)
	}
	bobs := read[[]toldTrade](f, f.ok(f.bob, "GET /trades", "market=BTC-EUR"))
	require.Equal(t, all[0].ID, bobs[0].ID, "one trade has one name")
	require.Equal(t, "sell", bobs[0].Side)
	require.True(t, bobs[0].Taker)
	require.Nil(t, bobs[0].ClientOrderID)
	require.Equal(t, "[]", f.ok(f.alice, "GET /trades", "market=ETH-EUR"))
}
