package strategy_test

import (
	"errors"
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

func TestWhatIsKnownOfAMarketFollowsItsName(t *testing.T) {
	text, err := strategy.SaveMarkets(setupOf(t, "BTC-EUR", "ADA-EUR"),
		func(m market.ID) market.Price { return market.Price(m) * 100 })
	require.NoError(t, err)
	require.Equal(t, `{"version":1,"state":{"ADA-EUR":200,"BTC-EUR":100}}`, string(text))
	found := map[market.ID]market.Price{}
	to := func(m market.ID, p market.Price) error { found[m] = p; return nil }
	require.NoError(t, strategy.LoadMarkets(setupOf(t, "ETH-EUR", "ADA-EUR", "BTC-EUR"), text, to))
	require.Equal(t, map[market.ID]market.Price{2: 200, 3: 100}, found)
}

func TestWhatCannotBeLoadedSaysWhy(t *testing.T) {
	fine := func(market.ID, market.Price) error { return nil }
	fails := func(market.ID, market.Price) error { return errors.New("too many rungs") }
	setup := setupOf(t, "BTC-EUR")
	for _, c := range []struct {
		text string
		to   func(market.ID, market.Price) error
		want string
	}{
		{`{"version":1,"state":{"ADA-EUR":200}}`, fine, "market ADA-EUR was traded and is not any more"},
		{`{"version":1,"state":{"BTC-EUR":200}}`, fails, "market BTC-EUR: too many rungs"},
		{`{"version":1,"state":{"BTC-EUR":"200"}}`, fine, "cannot unmarshal string"},
		{`{"version":2,"state":{"BTC-EUR":200}}`, fine, "saved in version 2"},
		{`{"version":1}`, fine, "saved without a state"},
		{`{"version":1,"state":{}} {}`, fine, "goes on behind its end"},
		{``, fine, "saved text of 0 bytes: EOF"},
	} {
		require.ErrorContains(t, strategy.LoadMarkets(setup, []byte(c.text), c.to), c.want)
	}
}
