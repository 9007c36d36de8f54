package market_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

func TestAValueOutlivesTheProcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value, err := market.Product(rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b"), 0)
		require.NoError(t, err)
		text, err := market.AppendSaved(nil, 3, value)
		require.NoError(t, err)
		var again market.Value
		require.NoError(t, market.ParseSaved(text, 3, &again))
		require.Equal(t, value, again)
	})
}

func TestWhatHasNoTextCannotBeSaved(t *testing.T) {
	dst, err := market.AppendSaved([]byte("x"), 1, math.NaN())
	require.ErrorContains(t, err, "save: json: unsupported value")
	require.Equal(t, "x", string(dst))
}

func TestUnitsOfAMarketThatIsGoneAreNoError(t *testing.T) {
	var c market.Catalog
	for _, symbol := range []string{"BTC", "EUR"} {
		_, err := c.AddAsset(symbol, 2)
		require.NoError(t, err)
	}
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 1}
	require.NoError(t, c.AddMarket(m))
	require.NoError(t, c.CheckUnits(map[string]market.Units{"BTC-EUR": m.Units(), "LTC-EUR": {Price: 9}}))
	require.EqualError(t, c.CheckUnits(map[string]market.Units{"BTC-EUR": {Price: 2, Amount: 2, Quote: 2}}),
		"market BTC-EUR was saved with decimals of price 2, amount 2, quote 2 and now has 1, 2, 2")
}

func TestAnIndexYieldsWhatIsInIt(t *testing.T) {
	var x market.Index[int]
	for id := range market.OrderID(100) {
		n := int(id)
		x.Put(id+1, &n)
	}
	for id := market.OrderID(1); id <= 100; id += 2 {
		x.Delete(id)
	}
	found := map[market.OrderID]int{}
	for id, what := range x.All {
		found[id] = *what
	}
	require.Len(t, found, 50)
	for id, what := range found {
		require.Equal(t, int(id)-1, what)
		require.Zero(t, id%2)
	}
	for range x.All {
		break // it may be left early
	}
}

func TestASavedPartOfAnOlderVersionIsReadAndOfANewerRefused(t *testing.T) {
	text, err := market.AppendSaved(nil, 2, map[string]int{"a": 1})
	require.NoError(t, err)
	var now struct{ A, B int }
	require.NoError(t, market.ParseSaved(text, 3, &now))
	require.Equal(t, 1, now.A)
	require.Zero(t, now.B)
	require.ErrorContains(t, market.ParseSaved(text, 1, &now), "saved in version 2, this program knows versions 1 to 1")
	none, err := market.AppendSaved(nil, 0, nil)
	require.NoError(t, err)
	require.ErrorContains(t, market.ParseSaved(none, 3, &now), "saved in version 0")
}
