package market_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// newCatalog returns a catalog with EUR (2 decimals) and BTC (8).
func newCatalog(t require.TestingT) *market.Catalog {
	cat := &market.Catalog{}
	_, err := cat.AddAsset("EUR", 2)
	require.NoError(t, err)
	_, err = cat.AddAsset("BTC", 8)
	require.NoError(t, err)
	return cat
}

func TestMarketTakesItsUnitsFromItsAssets(t *testing.T) {
	cat := newCatalog(t)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 1, VolumeDigits: 4}
	require.NoError(t, cat.AddMarket(m))
	want := market.Market{ID: 1, Name: "BTC-EUR", Base: 2, Quote: 1, PriceDigits: 1, AmountDigits: 8, QuoteDigits: 2,
		VolumeDigits: 4, ValueDigits: 9, Status: market.Trading}
	require.Equal(t, want, *m)
	require.Same(t, m, cat.Market(1))
	require.Same(t, m, cat.MarketNamed("BTC-EUR"))
	require.Equal(t, []*market.Market{m}, cat.Markets())
	require.Equal(t, uint8(7), m.MoneyDrop())
}

func TestStatusThatIsSetStays(t *testing.T) {
	cat := newCatalog(t)
	m := &market.Market{Name: "BTC-EUR", Status: market.Auction}
	require.NoError(t, cat.AddMarket(m))
	require.Equal(t, market.Auction, m.Status)
}

func TestAssetIsAddedOnce(t *testing.T) {
	cat := newCatalog(t)
	again, err := cat.AddAsset("BTC", 8)
	require.NoError(t, err)
	require.Same(t, cat.AssetNamed("BTC"), again)
	require.Same(t, cat.Asset(2), again)
	require.Len(t, cat.Assets(), 2)
	_, err = cat.AddAsset("BTC", 6)
	require.ErrorContains(t, err, "BTC has 8 decimals already, not 6")
}

func TestCatalogRefusesAssetsWithoutNameOrWithTooManyDecimals(t *testing.T) {
	cat := &market.Catalog{}
	for _, asset := range []market.Asset{{Symbol: "", Digits: 2}, {Symbol: "WEI", Digits: 19},
		{Symbol: "WEI", Digits: 255}} {
		_, err := cat.AddAsset(asset.Symbol, asset.Digits)
		require.Error(t, err)
	}
	require.Empty(t, cat.Assets())
	require.Nil(t, cat.AssetNamed("WEI"))
}

func TestCatalogSaysWhyAMarketCannotBeAdded(t *testing.T) {
	cat := newCatalog(t)
	for symbol, digits := range map[string]uint8{"WEI": 18, "ONE": 0} {
		_, err := cat.AddAsset(symbol, digits)
		require.NoError(t, err)
	}
	require.NoError(t, cat.AddMarket(&market.Market{Name: "BTC-EUR"}))
	cases := []struct {
		m    market.Market
		want string
	}{
		{market.Market{Name: "BTC-EUR"}, "there already"},
		{market.Market{Name: "ETH-EUR"}, "add its assets first"},
		{market.Market{Name: "BTC-USD"}, "add its assets first"},
		{market.Market{Name: "BTCEUR"}, "BASE-QUOTE"},
		{market.Market{Name: "BTC-EUR-X"}, "BASE-QUOTE"},
		{market.Market{Name: "-EUR"}, "BASE-QUOTE"},
		{market.Market{Name: "BTC-"}, "BASE-QUOTE"},
		{market.Market{Name: ""}, "BASE-QUOTE"},
		{market.Market{Name: "BTC-ONE", PriceDigits: 11}, "too many"}, // a balance of ONE would not fit its Value
		{market.Market{Name: "WEI-BTC", PriceDigits: 11}, "too many"},
		{market.Market{Name: "BTC-WEI", PriceDigits: 19}, "too many"},
		{market.Market{Name: "BTC-WEI", VolumeDigits: 19}, "too many"},
		{market.Market{Name: "BTC-WEI", PriceDigits: 250}, "too many"},
	}
	for _, c := range cases {
		require.ErrorContains(t, cat.AddMarket(&c.m), c.want, c.m.Name)
	}
	require.Len(t, cat.Markets(), 1)
	require.Nil(t, cat.MarketNamed("ETH-EUR"))
}

func TestCatalogPanicsOnIdsItDidNotGive(t *testing.T) {
	cat := newCatalog(t)
	require.Panics(t, func() { cat.Market(0) })
	require.Panics(t, func() { cat.Market(1) })
	require.Panics(t, func() { cat.Asset(0) })
	require.Panics(t, func() { cat.Asset(3) })
}

func TestValueAndMoneyOfAnyMarketShareOneUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cat := &market.Catalog{}
		_, err := cat.AddAsset("Q", drawDigits(t, "quote"))
		require.NoError(t, err)
		_, err = cat.AddAsset("B", drawDigits(t, "base"))
		require.NoError(t, err)
		m := &market.Market{Name: "B-Q", PriceDigits: drawDigits(t, "price")}
		if cat.AddMarket(m) != nil {
			return
		}
		money := rapid.Int64().Draw(t, "money")
		require.Equal(t, new(big.Int).Mul(big.NewInt(money), bigPow10(m.MoneyDrop())).String(),
			m.MoneyValue(market.Money(money)).String())
		price, amount := rapid.Int64().Draw(t, "p"), rapid.Int64().Draw(t, "q")
		want := new(big.Int).Mul(big.NewInt(price), big.NewInt(amount))
		want.Mul(want, bigPow10(m.ValueDigits-m.PriceDigits-m.AmountDigits))
		value, err := m.Value(market.Price(price), market.Qty(amount))
		requireValue(t, want, value, err)
	})
}

func TestMarketReadsAndWritesItsUnits(t *testing.T) {
	cat := newCatalog(t)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 1}
	require.NoError(t, cat.AddMarket(m))
	price, err := m.ParsePrice("30000.5")
	require.NoError(t, err)
	amount, err := m.ParseQty("0.0002")
	require.NoError(t, err)
	money, err := m.ParseMoney("9.03")
	require.NoError(t, err)
	require.Equal(t, []int64{300005, 20000, 903}, []int64{int64(price), int64(amount), int64(money)})
	require.Equal(t, []string{"30000.5", "0.0002", "9.03"},
		[]string{m.FormatPrice(price), m.FormatQty(amount), m.FormatMoney(money)})
	value, err := m.Value(price, amount)
	require.NoError(t, err)
	require.Equal(t, "6.0001", m.FormatValue(value))
	require.Equal(t, 30000.5, m.Float(price))
	_, err = m.ParsePrice("0.05")
	require.ErrorIs(t, err, market.ErrInexact)
	_, err = m.Value(math.MaxInt64, math.MaxInt64)
	require.NoError(t, err) // 126 bits
}

func TestNamesSplitAtTheirOnlyDash(t *testing.T) {
	base, quote, err := market.SplitName("SHIB-EUR")
	require.NoError(t, err)
	require.Equal(t, "SHIB", base)
	require.Equal(t, "EUR", quote)
}
