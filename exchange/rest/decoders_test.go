package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// deskMarket is BTC-EUR with the given decimals of a price.
func deskMarket(t testing.TB, priceDigits uint8) (*market.Market, *market.Catalog) {
	cat := &market.Catalog{}
	for _, a := range []market.Asset{{Symbol: "EUR", Digits: 2}, {Symbol: "BTC", Digits: 8}} {
		_, err := cat.AddAsset(a.Symbol, a.Digits)
		require.NoError(t, err)
	}
	m := &market.Market{Name: "BTC-EUR", PriceDigits: priceDigits, VolumeDigits: 8}
	require.NoError(t, cat.AddMarket(m))
	return m, cat
}

func TestRecordedMarketDataIsRead(t *testing.T) {
	m, cat := deskMarket(t, 2)
	var book market.OrderBook
	require.NoError(t, parseBook(fixture(t, "book.json"), m, &book))
	require.Equal(t, market.Level{Price: 96126_00, Amount: 9108410}, book.Bids[0])
	require.Len(t, book.Asks, 4)
	require.Equal(t, market.Time(1756937151736524329), book.Time)
	require.EqualValues(t, 95790989, book.Nonce)

	candles, err := appendCandles(nil, fixture(t, "candles_1m_2025.json"), m, market.Interval1m)
	require.NoError(t, err)
	require.Len(t, candles, 4)
	require.Equal(t, market.Candle{Market: 1, Interval: market.Interval1m, Start: 1756937160000_000000, Open: 96143_00,
		High: 96162_00, Low: 96137_00, Close: 96162_00, Volume: 20349611}, candles[1])

	trades, err := appendPublicTrades(nil, fixture(t, "trades_public.json"), m)
	require.NoError(t, err)
	require.Equal(t, PublicTrade{Trade: market.Trade{Market: 1, Price: 96144_00, Amount: 2444460, Side: market.Buy,
		Time: 1756937198825_000000},
		ID: uuid.MustParse("00000000-0000-0431-0000-000002986190")}, trades[0])

	for _, name := range []string{"ticker_price.json", "ticker_book.json"} {
		tickers, err := appendTickers(nil, fixture(t, name), newDirectory(cat).named)
		require.NoError(t, err)
		require.Empty(t, tickers, "no market of theirs is in the catalog")
	}
	at, err := parseTime(fixture(t, "time.json"))
	require.NoError(t, err)
	require.Equal(t, market.Time(1791028462976364819), at)
}

func TestRecordedListsAreRead(t *testing.T) {
	_, cat := deskMarket(t, 2)
	list, err := readOrders(fixture(t, "orders_list_2023.json"), cat)
	require.NoError(t, err)
	require.Len(t, list.Records, 3)
	require.Empty(t, list.Unread)
	for name, read := range map[string]func([]byte) (int, error){
		"markets_list_2025.json":       countOf[Market],
		"markets_single_2025.json":     countOf[Market],
		"assets.json":                  countOf[Asset],
		"ticker_24h.json":              countOf[Ticker24h],
		"balance_2023.json":            countOf[Balance],
		"deposit_history_2025.json":    countOf[Transfer],
		"withdrawal_history_2025.json": countOf[Transfer],
		"report_trades_docs.json":      countOf[ReportTrade],
		"report_book_docs.json":        countOf[BookReport],
		"account_2025.json":            countOf[Account],
		"account_docs.json":            countOf[Account],
		"account_fees_docs.json":       countOf[Rates],
		"account_history_docs.json":    countOf[History],
		"orders_cancel_docs.json":      countOf[Cancelled],
	} {
		n, err := read(fixture(t, name))
		require.NoError(t, err, name)
		require.Positive(t, n, name)
	}
}

func countOf[T any](body []byte) (int, error) {
	list, err := decodeList[T](body)
	return len(list), err
}

func TestNumbersMayBeWrittenInManyWays(t *testing.T) {
	m, cat := deskMarket(t, 2)
	for _, price := range []string{`"75000"`, `"7.5E+4"`, `75000`, `7.5e4`, `"75000.00000000"`, `"+75000"`, `"75000."`,
		`"0075000.0"`, `"\u0037\u0035000"`} {
		tickers, err := appendTickers(nil,
			[]byte(`{"price":`+price+`,"market":"BTC-EUR","extra":{"deep":[1,{"x":null}]}}`), newDirectory(cat).named)
		require.NoError(t, err, price)
		require.Equal(t, []market.Ticker{{Market: 1, Last: 75000_00}}, tickers)
		var book market.OrderBook
		require.NoError(t, parseBook(
			[]byte(` { "market" : "BTC-EUR" , "bids" : [ [ `+price+` , "1" , "more" ] ,["1","0.5"]], "asks":null,"nonce":"5"} `), m, &book), price)
		require.Equal(t, []market.Level{{Price: 75000_00, Amount: 1_00000000}, {Price: 1_00, Amount: 50000000}},
			book.Bids)
		require.EqualValues(t, 5, book.Nonce)
	}
	candles, err := appendCandles(nil,
		[]byte(`[["1538784000000","4999","5012","4999","5012.0","0.45"],[1538784060000,4999,5012,4999,5012,1e-8,"more"]]`), m, market.Interval1m)
	require.NoError(t, err)
	require.Equal(t, market.Time(1538784000000_000000), candles[0].Start)
	require.Equal(t, market.Volume(1), candles[1].Volume)
}

func TestEmptySidesAndMissingPricesAreZero(t *testing.T) {
	_, cat := deskMarket(t, 2)
	tickers, err := appendTickers(nil,
		[]byte(`[{"market":"BTC-EUR","price":null,"bid":null,"bidSize":null},{"market":"GONE-EUR","price":"what?"}]`),
		newDirectory(cat).named)
	require.NoError(t, err)
	require.Equal(t, []market.Ticker{{Market: 1}}, tickers)
}

func TestMarketThatOutgrowsItsUnitsLeavesTheOthers(t *testing.T) {
	_, cat := deskMarket(t, 2)
	require.NoError(t, cat.AddMarket(&market.Market{Name: "EUR-BTC", PriceDigits: 8}))
	tickers, err := appendTickers(nil,
		[]byte(`[{"market":"BTC-EUR","price":"1.001"},{"market":"EUR-BTC","price":"0.00001"}]`),
		newDirectory(cat).named)
	require.ErrorIs(t, err, exchange.ErrUnits)
	require.ErrorIs(t, err, market.ErrInexact)
	require.ErrorContains(t, err, "BTC-EUR")
	require.Equal(t, []market.Ticker{{Market: 2, Last: 1000}}, tickers)
}

func TestBrokenAnswersAreErrorsThatNameThePlace(t *testing.T) {
	m, cat := deskMarket(t, 2)
	cases := []struct{ body, want string }{
		{``, "malformed"}, {`null`, "malformed"}, {`[]`, "malformed"}, {`{"market":"BTC-EUR"`,
			"malformed"}, {`{"market":"BTC-EUR"}x`, "malformed"},
		{`{"market":"BTC-EUR",}`, "malformed"}, {`{,"market":"BTC-EUR"}`, "malformed"}, {`{"market" "BTC-EUR"}`,
			"malformed"},
		{`{"nonce":1}`, "market is missing"}, {`{"market":"ETH-EUR"}`, "ETH-EUR"},
		{`{"market":"BTC-EUR","bids":[["1"]]}`, "malformed"}, {`{"market":"BTC-EUR","bids":[[]]}`,
			"malformed"}, {`{"market":"BTC-EUR","bids":["1","2"]}`, "malformed"},
		{`{"market":"BTC-EUR","bids":[["1.001","2"]]}`, "bids: "}, {`{"market":"BTC-EUR","asks":[["-1","2"]]}`,
			"asks: -1 is negative"},
		{`{"market":"BTC-EUR","asks":[["99999999999999999999","2"]]}`,
			"overflow"}, {`{"market":"BTC-EUR","asks":[["x","2"]]}`, "asks: "},
		{`{"market":"BTC-EUR","asks":[[null,"2"]]}`, "null"}, {`{"market":"BTC-EUR","nonce":1.5}`,
			"nonce"}, {`{"market":"BTC-EUR","timestamp":-1}`, "timestamp"},
		{`{"market":"BTC-EUR","timestamp":9223372036854775808}`,
			"timestamp"}, {`{"market":"BTC-EUR","bids":[["1","2"],]}`, "malformed"},
	}
	for _, c := range cases {
		var book market.OrderBook
		require.ErrorContains(t, parseBook([]byte(c.body), m, &book), c.want, c.body)
	}
	for _, body := range []string{`[{"id":"x"}]`, `[{"side":"both"}]`, `[{"timestamp":9e99}]`, `[{"price":[]}]`, `{}`} {
		_, err := appendPublicTrades(nil, []byte(body), m)
		require.Error(t, err, body)
	}
	for _, body := range []string{`[{"market":"ETH-EUR"}]`, `[{"settled":true,"feeCurrency":"GOLD","fee":"1"}]`,
		`[{"fee":"x"}]`, `[{"orderId":null}]`} {
		_, err := appendTrades(nil, []byte(body), m, cat)
		require.Error(t, err, body)
	}
}

func TestFeeOfATradeFollowsItsSettlement(t *testing.T) {
	m, cat := deskMarket(t, 2)
	cases := []struct {
		more    string
		settled bool
		fee     string
	}{
		{`"settled":false`, false, "0"}, {`"settled":true,"fee":"0.5","feeCurrency":"EUR"`, true,
			"0.5"}, {`"fee":"-0.25"`, true, "-0.25"},
		{`"settled":false,"fee":"1"`, false, "0"}, {`"fee":null`, false, "0"}, {`"fee":"1234567890123.0000000001"`,
			true, "1234567890123.0000000001"},
	}
	for _, c := range cases {
		trades, err := appendTrades(nil,
			[]byte(`[{"side":"buy","amount":"1","operatorId":-9223372036854775808,"clientOrderId":null,`+c.more+`}]`),
			m, cat)
		require.NoError(t, err, c.more)
		require.Equal(t, c.settled, trades[0].Settled, c.more)
		require.Equal(t, c.fee, m.FormatValue(trades[0].Fee), c.more)
	}
}

func TestDecodersAllocateNothingIntoUsedBuffers(t *testing.T) {
	m, cat := deskMarket(t, 2)
	book, candles, trades, tickers := bookText(50), candleText(50), tradeText(50),
		[]byte(`[{"market":"BTC-EUR","price":"96144","bid":"96143.5","bidSize":"0.25","ask":"96145","askSize":"75000"}]`)
	named := newDirectory(cat).named
	var into market.OrderBook
	rows, own, quotes := make([]market.Candle, 0, 64), make([]PublicTrade, 0, 64), make([]market.Ticker, 0, 64)
	decoders := map[string]func() error{
		"book": func() error { return parseBook(book, m, &into) },
		"candles": func() (err error) {
			rows,
				err = appendCandles(rows[:0], candles, m, market.Interval1m)
			return err
		},
		"trades":  func() (err error) { own, err = appendPublicTrades(own[:0], trades, m); return err },
		"tickers": func() (err error) { quotes, err = appendTickers(quotes[:0], tickers, named); return err },
	}
	for name, decode := range decoders {
		require.NoError(t, decode(), name)
		require.Zero(t, testing.AllocsPerRun(20, func() { _ = decode() }), name)
	}
}

// bookText is a book of that many levels on each side, written as the exchange does.
func bookText(levels int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	out := []byte(`{"market":"BTC-EUR","nonce":95790989,"bids":[`)
	side := func(price, step int64) {
		for i := range levels {
			if i > 0 {
				out = append(out, ',')
			}
			out = market.AppendFixed(append(out, `["`...), price, 2)
			out = market.AppendFixed(append(out, `","`...), random.Int64N(2_00000000)+1, 8)
			out = append(out, `"]`...)
			price += step * (1 + random.Int64N(300))
		}
	}
	side(96126_00, -1)
	out = append(out, `],"asks":[`...)
	side(96136_00, 1)
	return append(out, `],"timestamp":1756937151736524329}`...)
}

// candleText is that many candles, newest first.
func candleText(rows int) []byte {
	random := rand.New(rand.NewPCG(3, 4))
	out, price := []byte{'['}, int64(96000_00)
	for i := range rows {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(append(out, '['), 1756937220000-int64(i)*60000, 10)
		for _, value := range [...]int64{price, price + 2000, price - 2000, price + 500} {
			out = market.AppendFixed(append(out, `,"`...), value, 2)
			out = append(out, '"')
		}
		out = market.AppendFixed(append(out, `,"`...), random.Int64N(2_00000000), 8)
		out = append(out, `"]`...)
		price += random.Int64N(2001) - 1000
	}
	return append(out, ']')
}

func tradeText(rows int) []byte {
	out := []byte{'['}
	for i := range rows {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, `{"id":"00000000-0000-0431-0000-%012x","timestamp":%d,"amount":"0.0%d","price":"96144.5","side":"sell"}`, i, 1756937198825-i, i+1)
	}
	return append(out, ']')
}

// ratio runs floor and what in turn and reports how many times the floor what takes, each at its
// fastest: others use the machine too.
func ratio(b *testing.B, name string, floor, what func()) {
	b.ReportAllocs()
	const batch = 8
	below, above := time.Hour, time.Hour
	for b.Loop() {
		start := time.Now()
		for range batch {
			floor()
		}
		middle := time.Now()
		for range batch {
			what()
		}
		below, above = min(below, middle.Sub(start)), min(above, time.Since(middle))
	}
	b.ReportMetric(above.Seconds()/below.Seconds(), "x_"+name)
	b.ReportMetric(float64(above.Nanoseconds())/batch, "ns/what")
	b.ReportMetric(float64(below.Nanoseconds())/batch, "ns/floor")
}

// digits is the least that a reader of numbers does: look at each byte, and add up the digits of
// each number.
func digits(text []byte) (sum uint64) {
	var n uint64
	for _, ch := range text {
		if d := ch - '0'; d <= 9 {
			n = n*10 + uint64(d)
			continue
		}
		sum, n = sum+n, 0
	}
	return sum
}

// The goal is 0.7 of the byte loop's speed, at most 1.43 times its time.
func BenchmarkBookAgainstAByteLoop(b *testing.B) {
	m, _ := deskMarket(b, 2)
	text := bookText(1000)
	var book market.OrderBook
	var sum uint64
	ratio(b, "loop", func() { sum += digits(text) }, func() {
		if err := parseBook(text, m, &book); err != nil {
			b.Fatal(err)
		}
	})
	require.Len(b, book.Asks, 1000)
	require.NotZero(b, sum)
}

// The goal is a tenth of encoding/json's time.
func BenchmarkCandlesAgainstEncodingJSON(b *testing.B) {
	m, _ := deskMarket(b, 2)
	text := candleText(1440)
	var rows []market.Candle
	ratio(b, "json", func() {
		var any [][]any
		if err := json.Unmarshal(text, &any); err != nil {
			b.Fatal(err)
		}
	}, func() {
		var err error
		if rows, err = appendCandles(rows[:0], text, m, market.Interval1m); err != nil {
			b.Fatal(err)
		}
	})
	require.Len(b, rows, 1440)
}

func BenchmarkOrderRecordAgainstItsValidity(b *testing.B) {
	_, cat := deskMarket(b, 2)
	text := orderText(cat)
	ratio(b, "valid", func() { json.Valid(text) }, func() {
		if _, _, err := exchange.ParseOrder(text, cat); err != nil {
			b.Fatal(err)
		}
	})
}

func orderText(cat *market.Catalog) []byte {
	o := market.Order{ExchangeID: uuid.UUID{1}, ClientOrderID: uuid.UUID{2}, OperatorID: 77, Market: 1,
		Side: market.Buy, Type: market.TypeLimit, Created: 1702354762111222000,
		OrderState: market.OrderState{Status: market.StatusNew, TimeInForce: market.GTC,
			SelfTradePrevention: market.CancelNewest, Price: 29000_50, Amount: 50000000, AmountRemaining: 50000000,
			OnHold: 1453651, Updated: 1702354762111222000}}
	return bytes.Clone(exchange.AppendOrder(nil, cat, &o, nil))
}
