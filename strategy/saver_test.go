package strategy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// setupOf is a setup of markets with these names, whose IDs follow their order.
func setupOf(t *testing.T, names ...string) strategy.Setup {
	var c market.Catalog
	for _, name := range names {
		base, quote, err := market.SplitName(name)
		require.NoError(t, err)
		for _, symbol := range []string{base, quote} {
			_, err := c.AddAsset(symbol, 2)
			require.NoError(t, err)
		}
		require.NoError(t, c.AddMarket(&market.Market{Name: name, PriceDigits: 2}))
	}
	return strategy.Setup{Markets: c.Markets(), Interval: market.Interval1h}
}

// pricesOf keeps a price of each market, its ID times 100.
func pricesOf(s strategy.Setup) strategy.PerMarket[market.Price] {
	return strategy.Each(s, func(m market.Market) market.Price { return market.Price(m.ID) * 100 })
}

func TestWhatIsKnownOfAMarketFollowsItsName(t *testing.T) {
	old := pricesOf(setupOf(t, "BTC-EUR", "ADA-EUR"))
	text, err := old.Save()
	require.NoError(t, err)
	require.Equal(t, `{"version":1,"state":{"ADA-EUR":200,"BTC-EUR":100}}`, string(text))
	found := pricesOf(setupOf(t, "ETH-EUR", "SOL-EUR", "ADA-EUR", "BTC-EUR"))
	require.NoError(t, found.Load(text))
	require.Equal(t, []market.Price{100, 200, 200, 100}, []market.Price{*found.In(1), *found.In(2), *found.In(3),
		*found.In(4)})
}

func TestWhatCannotBeLoadedSaysWhy(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":1,"state":{"ADA-EUR":200}}`:   "market ADA-EUR was traded and is not any more",
		`{"version":1,"state":{"BTC-EUR":"200"}}`: "market BTC-EUR: json: cannot unmarshal string",
		`{"version":2,"state":{"BTC-EUR":200}}`:   "saved in version 2",
		`{"version":1}`:                           "saved without a state",
		`{"version":1,"state":{}} {}`:             "goes on behind its end",
		``:                                        "saved text of 0 bytes: EOF",
	} {
		prices := pricesOf(setupOf(t, "BTC-EUR"))
		require.ErrorContains(t, prices.Load([]byte(text)), want)
	}
}
