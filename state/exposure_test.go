package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// newMarkets is an account of two strategies in BTC-EUR, ETH-EUR, BTC-USD and ETH-BTC.
func newMarkets(t *testing.T) (a *Account, byName func(string) *market.Market) {
	c := &market.Catalog{}
	for i, symbol := range []string{"BTC", "ETH", "EUR", "USD"} {
		_, err := c.AddAsset(symbol, []uint8{8, 8, 2, 2}[i])
		require.NoError(t, err)
	}
	for _, name := range []string{"BTC-EUR", "ETH-EUR", "BTC-USD", "ETH-BTC"} {
		require.NoError(t, c.AddMarket(&market.Market{Name: name, PriceDigits: 2, Status: market.Trading,
			Rules: market.Rules{TickSize: 1, QuantityDecimals: 8}}))
	}
	return NewAccount(c, 2, []bool{false, true}), c.MarketNamed
}

func TestTheExposureOfAnAssetIsOverAllStrategiesInTheMarketsOfACurrency(t *testing.T) {
	a, byName := newMarkets(t)
	bitcoin, ether := byName("BTC-EUR"), byName("ETH-EUR")
	exposure := func(asset market.AssetID) market.Money {
		sum, err := a.AssetExposure(asset, bitcoin.Quote)
		require.NoError(t, err)
		return sum
	}
	apply := func(ev market.Event) {
		_, err := a.Apply(&ev)
		require.NoError(t, err)
	}
	for s := range market.StrategyID(3) {
		for _, asset := range a.Catalog().Assets() {
			apply(market.Event{Kind: market.KindTransfer, Owner: s, Asset: asset.ID, Money: 1_000_000_000})
		}
	}
	require.Zero(t, exposure(bitcoin.Base)) // no price yet
	for name, price := range map[string]market.Price{"BTC-EUR": 100 * at1, "ETH-EUR": 7 * at1, "BTC-USD": 120 * at1,
		"ETH-BTC": 5} {
		apply(market.Event{Kind: market.KindTrade, Trade: &market.Trade{Market: byName(name).ID, Price: price}})
	}
	// 30 BTC at 100 and 30 ETH at 7: BTC-USD and ETH-BTC are not quoted in the currency
	require.Equal(t, market.Money(3000*eur), exposure(bitcoin.Base))
	require.Equal(t, market.Money(210*eur), exposure(ether.Base))
	require.Zero(t, exposure(bitcoin.Quote))

	send := func(id market.OrderID, s market.StrategyID, m *market.Market, side market.Side, hold market.Money) *Order {
		return a.Send(&market.Order{ID: id, Strategy: s, Market: m.ID, Type: market.TypeLimit, Side: side,
			OrderState: market.OrderState{Amount: btc, Price: at1}}, hold)
	}
	first := send(1, 1, bitcoin, market.Buy, 40*eur)
	send(2, 2, bitcoin, market.Buy, 30*eur)
	send(3, 2, bitcoin, market.Sell, 5*btc) // of base: it is among the positions
	send(4, 2, byName("BTC-USD"), market.Buy, 20*eur)
	send(5, 1, ether, market.Buy, 10*eur)
	require.Equal(t, market.Money(3070*eur), exposure(bitcoin.Base))
	require.Equal(t, market.Money(220*eur), exposure(ether.Base))
	a.SendUpdate(first, 90*eur) // its worst case until the answer
	require.Equal(t, market.Money(3120*eur), exposure(bitcoin.Base))
	a.TakeBack(first)
	a.Without(first, func() { require.Equal(t, market.Money(3030*eur), exposure(bitcoin.Base)) })
	a.Drop(2, 1)
	require.Equal(t, market.Money(3040*eur), exposure(bitcoin.Base))
	require.NoError(t, a.Check())
}

func TestAnExposureThatNoMoneyCanHoldIsAnError(t *testing.T) {
	a, byName := newMarkets(t)
	m := byName("BTC-EUR")
	_, err := a.Apply(&market.Event{Kind: market.KindTransfer, Asset: m.Base, Money: 1 << 62})
	require.NoError(t, err)
	_, err = a.Apply(&market.Event{Kind: market.KindTrade, Trade: &market.Trade{Market: m.ID, Price: 1 << 62}})
	require.NoError(t, err)
	_, err = a.AssetExposure(m.Base, m.Quote)
	require.ErrorIs(t, err, market.ErrOverflow)
}
