package market_test

import (
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

func TestClientOrderIDIsTheSameForTheSameOrderOnly(t *testing.T) {
	run, other := uuid.UUID{1}, uuid.UUID{2}
	seen := map[uuid.UUID]bool{}
	for _, r := range []uuid.UUID{run, other} {
		for _, id := range []market.OrderID{0, 1, 2, 255, 256, 1 << 32, math.MaxInt64} {
			client := market.ClientOrderID(r, id)
			require.Equal(t, client, market.ClientOrderID(r, id))
			require.Equal(t, uuid.Version(5), client.Version())
			require.Equal(t, uuid.RFC4122, client.Variant())
			require.False(t, seen[client], "order %d", id)
			seen[client] = true
		}
	}
}

// The ids of stored runs must stay what they were.
func TestClientOrderIDIsPinned(t *testing.T) {
	run := uuid.MustParse("6ba7b810-9dad-41d1-80b4-00c04fd430c8")
	require.Equal(t, uuid.NewSHA1(run, []byte{0, 0, 0, 0, 0, 0, 1, 2}), market.ClientOrderID(run, 258))
	rapid.Check(t, func(t *rapid.T) {
		run := uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "run"))
		id := rapid.Int64().Draw(t, "id")
		name := binary.BigEndian.AppendUint64(nil, uint64(id))
		require.Equal(t, uuid.NewSHA1(run, name), market.ClientOrderID(run, market.OrderID(id)))
	})
}

// TestReportOfLeavesNothingOut fills every field of an order and requires that each field of the
// report that the order has too is filled with the same.
func TestReportOfLeavesNothingOut(t *testing.T) {
	var order market.Order
	fill(reflect.ValueOf(&order).Elem())
	report := market.ReportOf(&order, market.ExecTrade)
	require.Equal(t, market.ExecTrade, report.Exec)
	require.Equal(t, order.ID, report.Order)
	have, want := reflect.ValueOf(report), reflect.ValueOf(order)
	for _, f := range reflect.VisibleFields(have.Type()) {
		if field := want.FieldByName(f.Name); field.IsValid() {
			require.Equal(t, field.Interface(), have.FieldByIndex(f.Index).Interface(), f.Name)
			require.False(t, have.FieldByIndex(f.Index).IsZero(), f.Name)
		}
	}
}

// fill sets every settable field of a struct to something that is not zero.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		switch field := v.Field(i); {
		case !field.CanSet():
		case field.CanInt():
			field.SetInt(int64(i + 1))
		case field.CanUint():
			field.SetUint(uint64(i + 1))
		case field.Kind() == reflect.Bool:
			field.SetBool(true)
		case field.Type() == reflect.TypeFor[market.Value]():
			field.Set(reflect.ValueOf(market.ValueOf(int64(i + 1))))
		case v.Type().Field(i).Anonymous:
			fill(field)
		case field.Type() == reflect.TypeFor[uuid.UUID]():
			field.Set(reflect.ValueOf(uuid.UUID{byte(i + 1)}))
		}
	}
}

func TestOrderIsByQuoteWhereAmountQuoteIsSet(t *testing.T) {
	require.True(t, (&market.Order{OrderState: market.OrderState{AmountQuote: 1}}).ByQuote())
	require.False(t, (&market.Order{OrderState: market.OrderState{Amount: 1}}).ByQuote())
}

func TestCandleCheckNamesWhatIsImpossible(t *testing.T) {
	good := market.Candle{Open: 5, High: 9, Low: 4, Close: 6, Volume: 1, Start: market.Interval1h.StartOf(7), Market: 1,
		Interval: market.Interval1h}
	require.NoError(t, good.Check())
	require.Equal(t, market.Interval1h.StartOf(8), good.End())
	cases := []struct {
		spoil func(*market.Candle)
		want  string
	}{
		{func(c *market.Candle) { c.Low = 0 }, "low 0 is not positive"},
		{func(c *market.Candle) { c.High = 3 }, "high 3 is below low 4"},
		{func(c *market.Candle) { c.Open = 10 }, "open 10 lies outside"},
		{func(c *market.Candle) { c.Open = 3 }, "open 3 lies outside"},
		{func(c *market.Candle) { c.Close = 10 }, "close 10 lies outside"},
		{func(c *market.Candle) { c.Close = 3 }, "close 3 lies outside"},
		{func(c *market.Candle) { c.Volume = -1 }, "volume -1 is negative"},
		{func(c *market.Candle) { c.Interval = 0 }, "interval 0"},
		{func(c *market.Candle) { c.Interval = market.Interval1M + 1 }, "interval 14"},
		{func(c *market.Candle) { c.Start++ }, "is no start of a 1h candle"},
	}
	for _, c := range cases {
		bad := good
		c.spoil(&bad)
		require.ErrorContains(t, bad.Check(), c.want)
	}
	flat := market.Candle{Open: 4, High: 4, Low: 4, Close: 4, Interval: market.Interval1m}
	require.NoError(t, flat.Check()) // nothing moved, nothing was traded
}

func TestCandleHoldsNoPointer(t *testing.T) {
	candle := reflect.TypeFor[market.Candle]()
	for i := range candle.NumField() {
		kind := candle.Field(i).Type.Kind()
		require.True(t, kind == reflect.Bool || kind >= reflect.Int && kind <= reflect.Uint64, candle.Field(i).Name)
	}
}
