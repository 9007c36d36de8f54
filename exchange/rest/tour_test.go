package rest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

// stop is one call of a tour.
type stop struct {
	name string
	do   func() error
}

// tour calls every method that the exchange answers, once with a market and once without where both
// can be. A stop calls one method of the client (TestThePageListsEveryMethodWithItsEndpoint).
func tour(r *rig) []stop {
	ctx, hour := r.t.Context(), market.Time(time.Hour)
	placed := r.limit(market.Buy, "0.25", "28000")
	command := func(kind market.CommandKind, changed market.Change) *market.Command {
		c := market.Command{Kind: kind, Order: placed.Order, Changed: changed}
		c.Order.Price = r.price("28500")
		return &c
	}
	ada := r.catalog.Load().cat.MarketNamed("ADA-EUR")
	return []stop{
		{"clock", func() error { return r.Sync(ctx) }},
		{"clock again", func() error { _, err := r.Remeasure(ctx); return err }},
		{"catalog", func() error { _, _, err := r.Catalog(ctx); return err }},
		{"rules", func() error { _, err := r.Rules(ctx); return err }},
		{"time", func() error { _, err := r.Time(ctx); return err }},
		{"markets", func() error { _, err := r.Markets(ctx, ""); return err }},
		{"market", func() error { _, err := r.Markets(ctx, "BTC-EUR"); return err }},
		{"assets", func() error { _, err := r.Assets(ctx, ""); return err }},
		{"asset", func() error { _, err := r.Assets(ctx, "EUR"); return err }},
		{"book", func() error { return r.Book(ctx, ada, 5, &market.OrderBook{}) }},
		{"public trades", func() error {
			_, err := r.PublicTrades(ctx, ada, Page{Limit: 3, Start: rigStart - hour, End: rigStart}, nil)
			return err
		}},
		{"trades between", func() error {
			_, err := r.TradesBetween(ctx, ada, rigStart-hour, rigStart, 3, nil)
			return err
		}},
		{"candles", func() error {
			_, err := r.Candles(ctx, ada, market.Interval1m, rigStart-hour, rigStart, 10, nil)
			return err
		}},
		{"ticker price", func() error { _, err := r.TickerPrice(ctx, ada); return err }},
		{"ticker prices", func() error { _, err := r.TickerPrices(ctx, nil); return err }},
		{"ticker book", func() error { _, err := r.TickerBook(ctx, ada); return err }},
		{"ticker books", func() error { _, err := r.TickerBooks(ctx, nil); return err }},
		{"ticker 24h", func() error { _, err := r.Tickers24h(ctx, "ADA-EUR"); return err }},
		{"tickers 24h", func() error { _, err := r.Tickers24h(ctx, ""); return err }},
		{"book report", func() error { _, err := r.BookReport(ctx, "ADA-EUR", 5); return err }},
		{"trades report", func() error { _, err := r.TradesReport(ctx, "ADA-EUR", Page{Limit: 3}); return err }},
		{"orders", func() error { _, err := r.Orders(ctx, r.btc, Page{}); return err }},
		{"open orders", func() error { _, err := r.OrdersOpen(ctx, r.btc); return err }},
		{"all open orders", func() error { _, err := r.OrdersOpen(ctx, nil); return err }},
		{"cancel of a market", func() error { _, err := r.CancelOrders(ctx, r.btc, 77); return err }},
		{"cancel of all", func() error { _, err := r.CancelOrders(ctx, nil, 77); return err }},
		{"cancel of a side", func() error { _, err := r.CancelSide(ctx, r.btc, market.Buy, 77); return err }},
		{"timer", func() error { _, err := r.CancelOrdersAfter(ctx, 9, time.Minute); return err }},
		{"timer of the port", func() error { return r.CancelAfter(ctx, 9, 0) }},
		{"place", func() error { _, err := r.Send(ctx, r.intent(placed)); return err }},
		{"update", func() error {
			_, err := r.Send(ctx, r.intent(command(market.CommandUpdate, market.ChangePrice)))
			return err
		}},
		{"order", func() error { _, err := r.Order(ctx, r.btc.ID, placed.Order.ClientOrderID, uuid.Nil); return err }},
		{"cancel", func() error { _, err := r.Send(ctx, r.intent(command(market.CommandCancel, 0))); return err }},
		{"end of an order", func() error {
			_,
				err := r.OrderUrgent(ctx, r.btc.ID, placed.Order.ClientOrderID, uuid.Nil)
			return err
		}},
		{"open orders of the port", func() error { _, err := r.OpenOrders(ctx); return err }},
		{"open orders in a market", func() error { _, err := r.OpenOrdersIn(ctx, r.btc.ID); return err }},
		{"trades", func() error { _, err := r.TradesPage(ctx, r.btc, Page{}, nil); return err }},
		{"trades of a day", func() error { _, err := r.DayTrades(ctx, r.btc, rigStart, nil); return err }},
		{"trades from a time on", func() error { _, err := r.TradesSince(ctx, r.btc, rigStart, nil); return err }},
		{"trades of the port", func() error { _, _, err := r.Trades(ctx, r.btc.ID, rigStart); return err }},
		{"account", func() error { _, err := r.Account(ctx); return err }},
		{"staked", func() error { _, err := r.StakingBalances(ctx); return err }},
		{"balances", func() error { _, err := r.Balances(ctx, ""); return err }},
		{"holdings", func() error { _, err := r.Holdings(ctx); return err }},
		{"movements", func() error { _, err := r.Movements(ctx, rigStart); return err }},
		{"right to withdraw", func() error { _, err := r.MayWithdraw(ctx); return err }},
		{"fees", func() error { _, err := r.Fees(ctx, "BTC-EUR", ""); return err }},
		{"history", func() error { _, err := r.AccountHistory(ctx, HistoryPage{MaxItems: 5}); return err }},
		{"deposit", func() error { _, err := r.Deposit(ctx, "BTC"); return err }},
		{"deposits", func() error { _, err := r.DepositHistory(ctx, "", Page{}); return err }},
		{"withdrawals", func() error { _, err := r.WithdrawalHistory(ctx, "BTC", Page{Limit: 5}); return err }},
	}
}

func TestCatalogIsThatOfTheExchange(t *testing.T) {
	r := newRig(t, nil)
	m := *r.btc
	require.Equal(t, market.Market{ID: 1, Name: "BTC-EUR", Base: 2, Quote: 1, PriceDigits: 2, AmountDigits: 8,
		QuoteDigits: 2, VolumeDigits: 8, ValueDigits: 10, Status: market.Trading,
		Rules: market.Rules{TickSize: 50, QuantityDecimals: 8, NotionalDecimals: 2, MinOrderInBase: 10_000,
			MinOrderInQuote: 500, MaxOrderInBase: 1_000_000_000_00000000, MaxOrderInQuote: 1_000_000_000_00,
			MaxOpenOrders: 100, FeeCategory: "A"}}, m)
}

func TestCatalogLeavesOutWhatItCannotRepresent(t *testing.T) {
	assets := []Asset{{Symbol: "EUR", Decimals: 2}, {Symbol: "BTC", Decimals: 6}, {Symbol: "WEI", Decimals: 18},
		{Symbol: "ODD", Decimals: 19}}
	cat, leftOut := BuildCatalog(assets, []Market{
		{Name: "BTC-EUR", Base: "BTC", Quote: "EUR", Status: "trading", TickSize: "1.00", QuantityDecimals: 8},
		{Name: "WEI-EUR", Base: "WEI", Quote: "EUR", Status: "melting", MinOrderInQuoteAsset: "5.00"},
		{Name: "ODD-EUR", Base: "ODD", Quote: "EUR", Status: "trading"},
		{Name: "NEW-EUR", Base: "NEW", Quote: "EUR", Status: "trading"},
		{Name: "EUR-BTC", Base: "EUR", Quote: "BTC", Status: "halted", TickSize: "1e-7",
			MinOrderInQuoteAsset: "0.000000001"},
	})
	require.Len(t, leftOut, 4)
	require.Len(t, cat.Markets(), 2)
	btc, wei := cat.MarketNamed("BTC-EUR"), cat.MarketNamed("WEI-EUR")
	require.EqualValues(t, 2, btc.PriceDigits, "as the tick is written")
	require.EqualValues(t, 8, btc.AmountDigits, "the finest of asset and market")
	require.Equal(t, market.Price(100), btc.TickSize)
	require.EqualValues(t, 2, wei.PriceDigits, "what room there is beside 18 decimals")
	require.Equal(t, market.Halted, wei.Status, "an unknown status lets nothing through")
}

func TestOrdersAreListedWithWhatCannotBeRead(t *testing.T) {
	r := newRig(t, nil)
	first := r.send(r.limit(market.Buy, "0.5", "29000")).Order
	second := r.send(r.limit(market.Buy, "0.25", "29500")).Order
	open, err := r.OrdersOpen(t.Context(), nil)
	require.NoError(t, err)
	first.ID, second.ID = 0, 0
	require.Equal(t, []exchange.WireOrder{{Order: second}, {Order: first}}, open.Records)

	r.wire.after = replaced(200,
		`[{"orderId":"a","market":"DOGE-EUR","side":"buy"}, {"orderId":"`+first.ExchangeID.String()+`","market":"BTC-EUR","side":"buy","price":"0.001"}]`)
	open, err = r.OrdersOpen(t.Context(), r.btc)
	require.NoError(t, err)
	require.Empty(t, open.Records)
	require.Len(t, open.Unread, 2)
	require.Equal(t, "DOGE-EUR", open.Unread[0].Market)
	require.ErrorIs(t, open.Unread[0].Reason, exchange.ErrUnknownMarket)
	require.Equal(t, first.ExchangeID.String(), open.Unread[1].OrderID)
	require.ErrorIs(t, open.Unread[1].Reason, market.ErrInexact)
}

func TestOrderIsFoundByEitherName(t *testing.T) {
	r := newRig(t, nil)
	placed := r.send(r.limit(market.Buy, "0.5", "29000")).Order
	r.bob().send(r.limit(market.Sell, "0.1", "29000"))
	byClient, err := r.Order(t.Context(), r.btc.ID, placed.ClientOrderID, uuid.Nil)
	require.NoError(t, err)
	byExchange, err := r.Order(t.Context(), r.btc.ID, uuid.Nil, placed.ExchangeID)
	require.NoError(t, err)
	require.Equal(t, byExchange, byClient)
	require.Equal(t, market.StatusPartiallyFilled, byClient.Order.Status)
	require.Len(t, byClient.Fills, 1)
	_, err = r.Order(t.Context(), r.btc.ID, uuid.UUID{9}, uuid.Nil)
	require.ErrorIs(t, err, exchange.ErrCode(exchange.CodeNotFound))
	_, err = r.Order(t.Context(), r.btc.ID, uuid.Nil, uuid.Nil)
	require.ErrorContains(t, err, "names the order")
}

func TestTradesAreThoseOfTheOrders(t *testing.T) {
	r := newRig(t, func(c *sandbox.Config, _ *Config) { c.Rules.SettleAfter = time.Second })
	r.bob().send(r.limit(market.Sell, "0.2", "30000"))
	answer := r.send(r.limit(market.Buy, "0.5", "30000"))
	trades, err := r.TradesPage(t.Context(), r.btc, Page{}, nil)
	require.NoError(t, err)
	require.Len(t, trades, 1)
	require.False(t, trades[0].Settled)
	require.Zero(t, trades[0].Fee)
	r.clock.Advance(2 * time.Second)
	trades, err = r.TradesPage(t.Context(), r.btc, Page{Limit: 1, Start: rigStart, End: r.Now()}, trades[:0])
	require.NoError(t, err)
	told, err := r.Order(t.Context(), r.btc.ID, answer.Order.ClientOrderID, uuid.Nil)
	require.NoError(t, err)
	require.Equal(t, told.Fills[0], trades[0].Fill)
	require.Equal(t, answer.Order.ExchangeID, trades[0].ExchangeID)
	require.Equal(t, answer.Order.ClientOrderID, trades[0].ClientOrderID)
	require.Equal(t, "15", r.btc.FormatValue(trades[0].Fee))
}

func TestMarketDataIsInTheCatalogsUnits(t *testing.T) {
	r := newRig(t, nil)
	r.send(r.limit(market.Buy, "0.5", "29000.5"))
	r.bob().send(r.limit(market.Sell, "0.25", "31000"))
	var book market.OrderBook
	require.NoError(t, r.Book(t.Context(), r.btc, 0, &book))
	require.Equal(t, []market.Level{{Price: 29000_50, Amount: 50000000}}, book.Bids)
	require.Equal(t, []market.Level{{Price: 31000_00, Amount: 25000000}}, book.Asks)
	require.Equal(t, rigStart, book.Time)
	best, err := r.TickerBook(t.Context(), r.btc)
	require.NoError(t, err)
	require.Equal(t, market.Ticker{Market: 1, Bid: 29000_50, BidSize: 50000000, Ask: 31000_00, AskSize: 25000000}, best)
	last, err := r.TickerPrice(t.Context(), r.btc)
	require.NoError(t, err)
	require.Equal(t, market.Price(30000_00), last)
	all, err := r.TickerPrices(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, market.Ticker{Market: 1, Last: last}, all[0])
}

func TestCandlesComeOldestFirstUpToTheirEnd(t *testing.T) {
	r := newRig(t, nil)
	ada := r.catalog.Load().cat.MarketNamed("ADA-EUR")
	start := rigStart.Add(-2 * time.Hour)
	candles, err := r.Candles(t.Context(), ada, market.Interval15m, start, rigStart, 0, nil)
	require.NoError(t, err)
	require.NotEmpty(t, candles)
	for i := range candles {
		require.NoError(t, candles[i].Check())
		require.True(t, candles[i].Start >= start && candles[i].Start < rigStart)
		require.True(t, i == 0 || candles[i-1].Start < candles[i].Start)
	}
	newest, err := r.Candles(t.Context(), ada, market.Interval15m, start, rigStart, 3, candles)
	require.NoError(t, err)
	require.Equal(t, candles[len(candles)-3:], newest[len(candles):])
	trades, err := r.PublicTrades(t.Context(), ada,
		Page{Limit: 1000, Start: candles[0].Start, End: candles[0].End() - 1}, nil)
	require.NoError(t, err)
	var volume market.Volume
	for _, trade := range trades {
		volume += market.Volume(trade.Amount)
	}
	require.Equal(t, candles[0].Volume, volume)
	require.Equal(t, candles[0].Open, trades[len(trades)-1].Price)
}

func TestTimerOfAGroupIsArmedAndStopped(t *testing.T) {
	r := newRig(t, nil)
	command := r.limit(market.Buy, "0.5", "29000")
	command.Order.CodGroupID = 9
	placed := r.send(command).Order
	expiry, err := r.CancelOrdersAfter(t.Context(), 9, 30*time.Second)
	require.NoError(t, err)
	require.Equal(t, rigStart.Add(30*time.Second), expiry)
	expiry, err = r.CancelOrdersAfter(t.Context(), 9, 0)
	require.NoError(t, err)
	require.Zero(t, expiry)
	_, err = r.CancelOrdersAfter(t.Context(), 9, 30*time.Second)
	require.NoError(t, err)
	r.clock.Advance(31 * time.Second)
	told, err := r.Order(t.Context(), r.btc.ID, placed.ClientOrderID, uuid.Nil)
	require.NoError(t, err)
	require.Equal(t, market.CancelOnDisconnect, told.Order.RestatementReason)
	_, err = r.CancelOrdersAfter(t.Context(), 9, 5*time.Second)
	require.Equal(t, exchange.Rejected, exchange.OutcomeOf(err))
}

func TestCancelOrdersNamesThemAll(t *testing.T) {
	r := newRig(t, nil)
	placed := r.send(r.limit(market.Buy, "0.5", "29000")).Order
	list, err := r.CancelOrders(t.Context(), r.btc, 77)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, placed.ExchangeID.String(), list[0].OrderID)
	list, err = r.CancelOrders(t.Context(), nil, 77)
	require.NoError(t, err)
	require.Empty(t, list)
}

func TestAWithdrawalStandsInTheHistory(t *testing.T) {
	r := newRig(t, nil)
	ask := request{at: postWithdrawal, path: version + "/withdrawal",
		// the client itself never asks for money
		body: []byte(`{"symbol":"BTC","amount":"1.5","address":"bc1qexample"}`)}
	require.NoError(t, r.write(t.Context(), ask, func([]byte) error { return nil }))
	list, err := r.WithdrawalHistory(t.Context(), "", Page{})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, "bc1qexample", list[0].Address)
	require.Equal(t, Number("1.4999"), list[0].Amount)
}

func TestAccountIsToldInFull(t *testing.T) {
	r := newRig(t, nil)
	r.bob().send(r.limit(market.Sell, "0.2", "30000"))
	r.send(r.limit(market.Buy, "0.5", "30000"))
	list, err := r.Balances(t.Context(), "")
	require.NoError(t, err)
	cat := r.catalog.Load().cat
	for _, b := range list {
		asset, available, inOrder, err := b.In(cat)
		require.NoError(t, err)
		switch cat.Asset(asset).Symbol {
		case "BTC":
			require.Equal(t, market.Money(100_20000000), available)
		case "EUR":
			require.Equal(t, market.Money(9022_50), inOrder)
			require.Equal(t, market.Money(1000000_00-6015_00-9022_50), available)
		}
	}
	one, err := r.Balances(t.Context(), "EUR")
	require.NoError(t, err)
	require.Len(t, one, 1)
	a, err := r.Account(t.Context())
	require.NoError(t, err)
	require.Equal(t, Number("0.0025"), a.Fees.Taker)
	fees, err := r.Fees(t.Context(), "", "EUR")
	require.NoError(t, err)
	require.Equal(t, Number("0.0015"), fees.Maker)
	history, err := r.AccountHistory(t.Context(), HistoryPage{Type: "buy"})
	require.NoError(t, err)
	require.Len(t, history.Items, 1)
	require.Equal(t, Number("0.2"), history.Items[0].ReceivedAmount)
	address, err := r.Deposit(t.Context(), "BTC")
	require.NoError(t, err)
	require.NotEmpty(t, address.Address)
	report, err := r.BookReport(t.Context(), "BTC-EUR", 1)
	require.NoError(t, err)
	require.Equal(t, []ReportLevel{{Side: "BUYI", Price: "30000", Quantity: "0.3", NumOrders: 1}}, report.Bids)
}
