package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// TestMoneyThatBuysMoreThanThereIsOfACoinStopsNothing is a coin of tiny price: what a balance would
// buy of it is beyond int64, but not what is offered.
func TestMoneyThatBuysMoreThanThereIsOfACoinStopsNothing(t *testing.T) {
	catalog := &market.Catalog{}
	_, err := catalog.AddAsset("SHIB", 8)
	require.NoError(t, err)
	_, err = catalog.AddAsset("EUR", 2)
	require.NoError(t, err)
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "SHIB-EUR", PriceDigits: 10,
		Rules: market.Rules{QuantityDecimals: 2, NotionalDecimals: 2, TickSize: 1}}))
	shib, eur := catalog.AssetNamed("SHIB").ID, catalog.AssetNamed("EUR").ID
	v := New(catalog, Config{Book: true}, func(*market.Event) {})
	rich := v.OpenAccount(nil)
	require.NoError(t, v.Transfer(0, shib, 1e16))
	require.NoError(t, v.Transfer(rich, eur, 100_000_00))

	orders := []market.Order{
		{ID: 1, Side: market.Sell, Type: market.TypeLimit, OrderState: market.OrderState{Amount: 1e15, Price: 100}},
		{ID: 2, Side: market.Buy, Type: market.TypeMarket, OrderState: market.OrderState{AmountQuote: 5_000_00}},
		{ID: 3, Side: market.Sell, Type: market.TypeLimit, OrderState: market.OrderState{Amount: 1e15, Price: 100}},
		{ID: 4, Side: market.Buy, Type: market.TypeMarket, OrderState: market.OrderState{Amount: 1e15}},
	}
	for i := range orders {
		o := &orders[i]
		o.Market, o.TimeInForce, o.SelfTradePrevention = 1, market.GTC, market.DecrementAndCancel
		account := AccountID(0)
		if o.Side == market.Buy {
			account = rich
		}
		refused, err := v.Submit(account, market.Time(i), &market.Command{Kind: market.CommandPlace, Order: *o})
		require.NoError(t, err, "order %d", o.ID)
		require.Nil(t, refused, "order %d", o.ID)
	}
	require.Equal(t, Balance{Total: 2e15}, v.BalanceOf(rich, shib))
	require.Equal(t, Balance{Total: 100_000_00 - 2*10}, v.BalanceOf(rich, eur))
}

// What is left of an amountQuote and buys nothing more fills the order: once, and as nothing else.
func TestDustOfAnAmountQuoteFillsTheOrderOnce(t *testing.T) {
	catalog := &market.Catalog{}
	for _, symbol := range [...]string{"EUR", "ADA"} {
		_, err := catalog.AddAsset(symbol, 2)
		require.NoError(t, err)
	}
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "ADA-EUR", PriceDigits: 2,
		Rules: market.Rules{QuantityDecimals: 0, NotionalDecimals: 2}}))
	var told []market.Status
	v := New(catalog, Config{Book: true}, func(ev *market.Event) {
		if ev.Report.Order == 3 {
			told = append(told, ev.Report.Status)
		}
	})
	other := v.OpenAccount(nil)
	require.NoError(t, v.Transfer(0, 2, 10_00))
	require.NoError(t, v.Transfer(other, 1, 10_00))
	for _, o := range []market.Order{
		{ID: 1, Side: market.Sell, Type: market.TypeLimit, OrderState: market.OrderState{Amount: 2_00, Price: 3_00}},
		{ID: 2, Side: market.Sell, Type: market.TypeLimit, OrderState: market.OrderState{Amount: 2_00, Price: 5_00}},
		// two at 3; the 4 EUR that are left do not buy one at 5
		{ID: 3, Side: market.Buy, Type: market.TypeMarket, OrderState: market.OrderState{AmountQuote: 10_00}},
	} {
		o.Market, o.TimeInForce, o.SelfTradePrevention = 1, market.GTC, market.CancelOldest
		account := AccountID(0)
		if o.Side == market.Buy {
			account = other
		}
		refused, err := v.Submit(account, 1, &market.Command{Kind: market.CommandPlace, Order: o})
		require.NoError(t, err)
		require.Nil(t, refused)
	}
	require.Equal(t, []market.Status{market.StatusPartiallyFilled, market.StatusFilled}, told)
	require.Equal(t, Balance{Total: 4_00}, v.BalanceOf(other, 1))
}

// A balance that is as large as a number can be takes no more base: the orders that would bring it
// end, and nothing else does.
func TestABalanceThatCanCountNoMoreEndsTheOrderAndNotTheExchange(t *testing.T) {
	catalog := &market.Catalog{}
	for _, symbol := range [...]string{"EUR", "BTC"} {
		_, err := catalog.AddAsset(symbol, 2)
		require.NoError(t, err)
	}
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2,
		Rules: market.Rules{QuantityDecimals: 2, NotionalDecimals: 2}}))
	v := New(catalog, Config{Book: true, Liquidity: func(*market.Market) Liquidity { return Liquidity{Levels: 1} }},
		func(*market.Event) {})
	other := v.OpenAccount(nil)
	require.NoError(t, v.Transfer(0, 2, 1<<63-1-100)) // room for one coin
	require.NoError(t, v.Transfer(0, 1, 1000_00))
	require.NoError(t, v.Transfer(other, 2, 10_00))
	place := func(a AccountID, o market.Order) {
		o.Market, o.TimeInForce, o.SelfTradePrevention = 1, market.GTC, market.CancelOldest
		refused, err := v.Submit(a, 1, &market.Command{Kind: market.CommandPlace, Order: o})
		require.NoError(t, err)
		require.Nil(t, refused)
	}
	place(0, market.Order{ID: 1, Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{Amount: 5_00, Price: 10_00}})
	place(other, market.Order{ID: 2, Side: market.Sell, Type: market.TypeMarket,
		OrderState: market.OrderState{Amount: 2_00}})
	require.Equal(t, market.Money(1<<63-1), v.BalanceOf(0, 2).Total, "one coin")
	require.NoError(t, v.Advance(&market.Event{At: 2, Kind: market.KindTrade,
		Trade: &market.Trade{Market: 1, Price: 20_00}}))
	require.NoError(t, v.Advance(&market.Event{At: 3, Kind: market.KindTrade,
		Trade: &market.Trade{Market: 1, Price: 5_00}}))
	require.Nil(t, v.Order(1), "it has ended")
	require.NoError(t, v.Err())
}
