package orders

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// catalogOf has markets in EUR, with prices of so many digits.
func catalogOf(t *testing.T, digits uint8, bases ...string) *market.Catalog {
	c := &market.Catalog{}
	for _, symbol := range append([]string{"EUR"}, bases...) {
		_, err := c.AddAsset(symbol, 2)
		require.NoError(t, err)
	}
	for _, base := range bases {
		require.NoError(t, c.AddMarket(&market.Market{Name: base + "-EUR", PriceDigits: digits}))
	}
	return c
}

// The markets of a run are found by their names, not by the numbers that they had for the bot.
func TestAnOrderIsTakenOutOfTheMarketOfItsName(t *testing.T) {
	l := &Log{Catalog: catalogOf(t, 2, "BTC"), Orders: []*Life{{ID: 1, Market: 1, Side: market.Buy,
		Rests: []Rest{{From: 10, Price: 100, Amount: 5}}}}}
	book := func(id market.ID) *market.Event {
		return &market.Event{At: 20, Kind: market.KindBook, Market: id, Book: &market.OrderBook{Market: id, Time: 20,
			Bids: []market.Level{{Price: 100, Amount: 7}, {Price: 99, Amount: 3}},
			Asks: []market.Level{{Price: 101, Amount: 2}}}}
	}
	cleaned := func(l *Log, c *market.Catalog) market.Qty {
		id := c.MarketNamed("BTC-EUR").ID
		return l.Others(c).Clean(book(id)).Book.Bids[0].Amount
	}
	require.Equal(t, market.Qty(2), cleaned(l, catalogOf(t, 2, "ETH", "BTC")), "its own 5 of 7 are gone")
	require.Equal(t, market.Qty(7), cleaned(l, catalogOf(t, 3, "ETH", "BTC")), "a market in other units stays")
	paper := *l
	paper.Paper = true
	require.Equal(t, market.Qty(7), cleaned(&paper, catalogOf(t, 2, "BTC")), "paper orders met no recorded market")
	eth := catalogOf(t, 2, "ETH")
	require.Equal(t, market.Qty(7), l.Others(eth).Clean(book(1)).Book.Bids[0].Amount, "another market stays")
}
