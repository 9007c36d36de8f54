package sandbox

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

func TestTradesComeNewestFirstAndWithinTheirBounds(t *testing.T) {
	h := newHall(t, nil, scripted(50000, 50001, 50002, 50003, 50004))
	h.pass(10 * time.Second)
	require.Equal(t, `[{"id":"00000000-0000-0002-0000-000000000005","timestamp":1772452804000,"amount":"1","price":"0.50004","side":"sell"}]`, h.ok("/ADA-EUR/trades?limit=1"))
	id := func(n int) string { return tradeID(2, uint64(n)).String() }
	for query, want := range map[string][]string{
		"":                                      {id(5), id(4), id(3), id(2), id(1)},
		"limit=2":                               {id(5), id(4)},
		"start=1772452801000&end=1772452803000": {id(4), id(3), id(2)}, // both inclusive
		"start=1772452801001":                   {id(5), id(4), id(3)},
		"end=1772452800999":                     {id(1)},
		"start=0&end=0":                         nil,
		"start=8640000000000000":                nil,
		"end=8640000000000000&limit=1":          {id(5)},
		"tradeIdFrom=" + id(4):                  {id(5), id(4)},
		"tradeIdTo=" + id(2):                    {id(2), id(1)},
		"tradeIdFrom=" + id(2) + "&tradeIdTo=" + id(4) + "&end=1772452802000": {id(3), id(2)},
		"tradeIdFrom=" + id(999): nil, // not made yet
	} {
		for _, path := range []string{"/ADA-EUR/trades?", "/report/ADA-EUR/trades?"} {
			var have []string
			for _, row := range h.rows(path + query) {
				name, found := row["id"]
				if !found {
					name = row["tradeId"]
				}
				have = append(have, name.(string))
			}
			require.Equal(t, want, have, query)
		}
	}
}

func TestTradesOfMoreThanADayAreRefused(t *testing.T) {
	h := newHall(t, nil, nil)
	for query, want := range map[string]string{
		"start=1000&end=86401000":                      "",
		"start=1000&end=86401001":                      "end parameter is invalid.",
		"start=1000&end=999":                           "end parameter is invalid.",
		"tradeIdFrom=x":                                "tradeIdFrom parameter is invalid.",
		"tradeIdTo=" + tradeID(1, 1).String():          "tradeIdTo parameter is invalid.", // of BTC-EUR
		"tradeIdFrom=x&tradeIdTo=x&start=2000&end=999": "end parameter is invalid.",
	} {
		for _, path := range []string{"/ADA-EUR/trades?", "/report/ADA-EUR/trades?"} {
			answer, refused := h.get(path + query)
			if want == "" {
				require.Nil(t, refused)
				require.Equal(t, "[]", answer)
				continue
			}
			require.NotNil(t, refused, query)
			require.Equal(t, [2]any{exchange.CodeInvalid, want}, [2]any{refused.Code, refused.Message})
		}
	}
}

func TestCandlesComeNewestFirstWithoutEmptyIntervals(t *testing.T) {
	h := newHall(t, nil, scripted(50000, 52000, 49000))
	require.Equal(t, "[]", h.ok("/ADA-EUR/candles?interval=1m"))
	h.pass(time.Minute)
	first := `[1772452800000,"0.5","0.52","0.49","0.49","3"]`
	require.Equal(t, "["+first+"]", h.ok("/ADA-EUR/candles?interval=1m"))
	require.Equal(t, "["+first+"]", h.ok("/ADA-EUR/candles?interval=12h"))
	require.Equal(t, `[[1772409600000,"0.5","0.52","0.49","0.49","3"]]`, h.ok("/ADA-EUR/candles?interval=1W"))
	require.Equal(t, `[[1772323200000,"0.5","0.52","0.49","0.49","3"]]`, h.ok("/ADA-EUR/candles?interval=1M"))
	h.pass(2 * time.Minute) // nobody trades in the second minute
	h.print(h.venue.NextTradeID(2), &market.Trade{Market: 2, Price: 51000, Amount: 500_000, Side: market.Buy,
		Time: h.clock.Now()})
	second := `[1772452980000,"0.51","0.51","0.51","0.51","0.5"]`
	require.Equal(t, "["+second+","+first+"]", h.ok("/ADA-EUR/candles?interval=1m"))
	require.Equal(t, "["+second+"]", h.ok("/ADA-EUR/candles?interval=1m&limit=1"))
	require.Equal(t, "["+first+"]", h.ok("/ADA-EUR/candles?interval=1m&start=1772452800000&end=1772452980000"),
		"start inclusive, end exclusive")
	require.Equal(t, "["+second+"]", h.ok("/ADA-EUR/candles?interval=1m&start=1772452800001"))
	require.Equal(t, "[]", h.ok("/ADA-EUR/candles?interval=1m&start=8640000000000000"))
	require.Equal(t, `[[1772452800000,"0.5","0.52","0.49","0.51","3.5"]]`, h.ok("/ADA-EUR/candles?interval=5m"))
	_, refused := h.get("/ADA-EUR/candles?interval=2m")
	require.Equal(t, exchange.CodeInvalid, refused.Code)
}

func TestThePriceIsNullUntilSomebodyTrades(t *testing.T) {
	h := newHall(t, prices.Fixed("95000.50"), nil)
	h.pass(0)
	require.Equal(t, `[{"market":"BTC-EUR","price":"95000.5"},{"market":"ADA-EUR","price":null}]`,
		h.ok("/ticker/price"))
	h.pass(25 * time.Hour)
	require.Equal(t, `{"market":"BTC-EUR","price":"95000.5"}`, h.ok("/ticker/price?market=BTC-EUR"),
		"a fixed price stands")
}

func TestTheTickerOfADayForgetsWhatIsOlder(t *testing.T) {
	h := newHall(t, nil, scripted(50000, 52000, 49000, 51000))
	nulls := `"open":null,"openTimestamp":null,"high":null,"low":null,"last":null,"closeTimestamp":null,"bid":null,"bidSize":null,"ask":null,"askSize":null,"volume":null,"volumeQuote":null}`
	require.Equal(t, `{"market":"ADA-EUR","startTimestamp":1772366400000,"timestamp":1772452800000,`+nulls,
		h.ok("/ticker/24h?market=ADA-EUR"))
	h.pass(time.Hour)
	require.Equal(t, `{"market":"ADA-EUR","startTimestamp":1772370000000,"timestamp":1772456400000,"open":"0.5","openTimestamp":1772452800000,"high":"0.52","low":"0.49",`+
		`"last":"0.51","closeTimestamp":1772452803000,"bid":null,"bidSize":null,"ask":null,"askSize":null,"volume":"4","volumeQuote":"2.02"}`, h.ok("/ticker/24h?market=ADA-EUR"))

	h.pass(23*time.Hour + 2500*time.Millisecond) // 24 h ago, two and a half seconds of the candle's minute had passed
	rest := h.one("/ticker/24h?market=ADA-EUR")
	require.Equal(t, []any{"0.51", 1772452803000.0, "0.51", "0.51", "1", "0.51"},
		[]any{rest["open"], rest["openTimestamp"], rest["high"], rest["low"], rest["volume"],
			rest["volumeQuote"]}, "to the trade, while the tape remembers it")
	h.pass(time.Second)
	require.True(t, strings.HasSuffix(h.ok("/ticker/24h?market=ADA-EUR"), nulls))
	require.Len(t, h.rows("/ticker/24h"), 2)
}

func TestReportsNameOrdersAndCurrencies(t *testing.T) {
	h := newHall(t, prices.Fixed("95000"), scripted(50000))
	h.pass(0)
	h.place(1, market.Buy, 1_00000000, 94952_50)
	h.place(1, market.Buy, 2_00000000, 94952_50)
	h.place(1, market.Buy, 3_00000000, 94900_00)
	report := h.one("/report/BTC-EUR/book?depth=4")
	bids := report["bids"].([]any)
	require.Len(t, bids, 4)
	require.EqualValues(t, 3, bids[0].(map[string]any)["numOrders"], "the house and two")
	require.Equal(t, map[string]any{"side": "BUYI", "price": "94900", "quantity": "3", "numOrders": 1.0}, bids[3])
	require.Equal(t, []any{"BTC", "Bitcoin", "EUR", "BTC", "2026-03-02T12:00:00.000000Z"},
		[]any{report["assetCode"], report["assetName"], report["priceCurrency"], report["quantityCurrency"],
			report["publicationTimestamp"]})
	trades := h.rows("/report/ADA-EUR/trades")
	require.Equal(t, []any{"0.5", "1", "EUR", "ADA", "2026-03-02T12:00:00.000000Z"},
		[]any{trades[0]["price"], trades[0]["quantity"], trades[0]["priceCurrency"], trades[0]["quantityCurrency"],
			trades[0]["transactTimestamp"]})
}
