package market_test

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// btcEUR returns a catalog with one market: prices of one decimal, amounts of eight, euros of two.
func btcEUR() (*market.Catalog, *market.Market) {
	cat := &market.Catalog{}
	cat.AddAsset("EUR", 2)
	cat.AddAsset("BTC", 8)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 1,
		Rules: market.Rules{TickSize: 10, QuantityDecimals: 8, NotionalDecimals: 2}}
	cat.AddMarket(m)
	return cat, m
}

func ExamplePrice() {
	_, m := btcEUR()
	price, err := m.ParsePrice("30123.7")
	fmt.Println(price, m.FormatPrice(price), err)
	fmt.Println(m.FormatPrice(market.FloorTo(price, m.TickSize)), m.FormatPrice(market.CeilTo(price, m.TickSize)))
	// Output:
	// 301237 30123.7 <nil>
	// 30123 30124
}

func ExampleQty() {
	_, m := btcEUR()
	amount, _ := m.ParseQty("0.00012345")
	fmt.Println(m.FormatQty(market.FloorDigits(amount, m.AmountDigits, 6)))
	_, err := m.ParseQty("0.000000001")
	fmt.Println(err)
	// Output:
	// 0.000123
	// "0.000000001" with 8 decimals: 0.000000001 has more than 8 decimals: not exact
}

func ExampleMoney() {
	_, m := btcEUR()
	total, err := market.Add(market.Money(903), market.Money(97))
	fmt.Println(m.FormatMoney(total), err)
	// Output: 10 <nil>
}

func ExampleVolume() {
	fmt.Println(market.FormatFixed(int64(market.Volume(123_4500)), 4))
	// Output: 123.45
}

// A fee of 0.25 % on 6.8976 EUR, rounded up to cents.
func ExampleRate() {
	const taker = market.Rate(250_000)
	fee, _ := market.ValueOf(68_976).MulRate(taker) // four decimals, and now eight more
	cents, _ := fee.CeilMoney(4 + market.RateDigits - 2)
	fmt.Println(fee.Format(4+market.RateDigits), cents)
	// Output: 0.017244 2
}

// The cost of a position is split exactly: what one part rounds off stays in the rest.
func ExampleValue() {
	cost := market.ValueOf(1000)
	third := cost.Part(1, 3)
	rest, _ := cost.Sub(third)
	fmt.Println(third, rest)
	// Output: 333 667
}

func ExampleSide() {
	side, err := market.ParseSide("buy")
	fmt.Println(side, side.Opposite(), err)
	// Output: buy sell <nil>
}

func ExampleOrderType() {
	fmt.Println(market.TypeStopLossLimit, market.TypeStopLossLimit.HasPrice(), market.TypeStopLossLimit.HasTrigger())
	// Output: stopLossLimit true true
}

func ExampleStatus() {
	_, err := market.ParseStatus("melted")
	fmt.Println(market.StatusExpired.Terminal(), market.StatusAwaitingTrigger.Open())
	fmt.Println(err)
	// Output:
	// true true
	// status "melted" is not one of [new awaitingTrigger partiallyFilled filled canceled expired unresolved]
}

func ExampleTimeInForce() {
	fmt.Println(market.GTC, market.IOC, market.FOK)
	// Output: GTC IOC FOK
}

func ExampleSelfTradePrevention() {
	mode, _ := market.ParseSelfTradePrevention("cancelOldest")
	fmt.Println(mode == market.CancelOldest)
	// Output: true
}

func ExampleTriggerType() {
	fmt.Println(market.TriggerPrice)
	// Output: price
}

func ExampleTriggerReference() {
	fmt.Println(market.LastTrade, market.BestBid, market.BestAsk, market.MidPrice)
	// Output: lastTrade bestBid bestAsk midPrice
}

func ExampleRestatementReason() {
	fmt.Printf("%q %q\n", market.CancelPostOnly, market.RestatementReason(0))
	// Output: "cancelPostOnly" ""
}

func ExampleMarketStatus() {
	fmt.Println(market.Trading, market.CancelOnly)
	// Output: trading cancelOnly
}

func ExampleExecutionType() {
	fmt.Println(market.ExecTriggered, market.ExecUnknown)
	// Output: triggered unknown
}

func ExampleTime() {
	at, err := market.TimeOfMillis(1702354762111)
	fmt.Println(at, at.Day(), err)
	_, err = market.TimeOfMillis(market.MaxMillis)
	fmt.Println(err)
	// Output:
	// 2023-12-12T04:19:22.111Z 19703 <nil>
	// time 8640000000000000 ms: overflow
}

func ExampleInterval() {
	at, _ := market.TimeOfMillis(1702354762111)
	for _, i := range []market.Interval{market.Interval4h, market.Interval1W, market.Interval1M} {
		start := i.Floor(at)
		fmt.Println(i, start, i.End(start))
	}
	// Output:
	// 4h 2023-12-12T04:00:00Z 2023-12-12T08:00:00Z
	// 1W 2023-12-11T00:00:00Z 2023-12-18T00:00:00Z
	// 1M 2023-12-01T00:00:00Z 2024-01-01T00:00:00Z
}

func ExampleCatalog() {
	cat, m := btcEUR()
	fmt.Println(cat.MarketNamed("BTC-EUR") == m, cat.Asset(m.Quote).Symbol, cat.MarketNamed("ETH-EUR") == nil)
	// Output: true EUR true
}

func ExampleAsset() {
	cat, _ := btcEUR()
	for _, asset := range cat.Assets() {
		fmt.Println(asset.ID, asset.Symbol, asset.Digits)
	}
	// Output:
	// 1 EUR 2
	// 2 BTC 8
}

func ExampleMarket() {
	_, m := btcEUR()
	value, _ := m.Value(300_005, 20_000) // 30000.5 × 0.0002
	cents, _ := value.CeilMoney(m.MoneyDrop())
	fmt.Println(m.FormatValue(value), m.FormatMoney(cents))
	// Output: 6.0001 6.01
}

func ExampleByClose() {
	hour := market.Interval1h.StartOf(473_000)
	for group := range market.ByClose([]market.Candle{
		{Market: 1, Interval: market.Interval1h, Start: hour},
		{Market: 2, Interval: market.Interval30m, Start: hour.Add(1800e9)},
		{Market: 1, Interval: market.Interval1h, Start: hour.Add(3600e9)},
	}) {
		fmt.Println(group[0].End(), len(group))
	}
	// Output:
	// 2023-12-17T09:00:00Z 2
	// 2023-12-17T10:00:00Z 1
}

func ExampleCandle() {
	c := market.Candle{Open: 100, High: 103, Low: 99, Close: 102, Start: market.Interval1h.StartOf(473_000),
		Interval: market.Interval1h}
	fmt.Println(c.Start, c.End(), c.Check())
	c.Low = 104
	fmt.Println(c.Check())
	// Output:
	// 2023-12-17T08:00:00Z 2023-12-17T09:00:00Z <nil>
	// high 103 is below low 104
}

func ExampleTicker() {
	t := market.Ticker{Market: 1, Last: 101, Bid: 100, Ask: 0}
	fmt.Println(t.Bid, t.Ask == 0) // nobody asks
	// Output: 100 true
}

func ExampleOrderBook() {
	b := market.OrderBook{Bids: []market.Level{{Price: 100, Amount: 5}, {Price: 99, Amount: 7}},
		Asks: []market.Level{{Price: 101, Amount: 2}}}
	fmt.Println(b.Bids[0].Price, b.Asks[0].Price)
	// Output: 100 101
}

func ExampleTrade() {
	t := market.Trade{Market: 1, Price: 100, Amount: 3, Side: market.Sell}
	fmt.Println("somebody hit the bid:", t.Side, t.Amount, "@", t.Price)
	// Output: somebody hit the bid: sell 3 @ 100
}

func ExampleOrder() {
	_, m := btcEUR()
	o := market.Order{ID: 1, Market: m.ID, Side: market.Buy, Type: market.TypeMarket,
		OrderState: market.OrderState{Status: market.StatusFilled, AmountQuote: 500}}
	fmt.Println(o.ByQuote(), o.Done(), m.FormatMoney(o.AmountQuote))
	// Output: true true 5
}

func ExampleBracket() {
	b := market.Bracket{Stop: 95, Target: 110}
	fmt.Println(b.Keep == market.KeepStop) // the stop rests at the venue unless asked otherwise
	// Output: true
}

func ExampleWatch() {
	w := market.Watch{Below: 95, Above: 110}
	last := market.Price(111)
	fmt.Println(last <= w.Below, last >= w.Above)
	// Output: false true
}

func ExampleFill() {
	f := market.Fill{Order: 1, Side: market.Buy, Price: 100, Amount: 2, Taker: true}
	fmt.Println(f.Settled) // the fee is still to come
	// Output: false
}

func ExampleReport() {
	o := market.Order{ID: 7,
		OrderState: market.OrderState{Status: market.StatusPartiallyFilled, Amount: 10, AmountRemaining: 4,
			FilledAmount: 6}}
	r := market.ReportOf(&o, market.ExecTrade)
	fmt.Println(r.Order, r.Exec, r.Status, r.FilledAmount+r.AmountRemaining == r.Amount)
	// Output: 7 trade partiallyFilled true
}

func ExamplePosition() {
	p := market.Position{Amount: 20_000, Cost: market.ValueOf(60_001_000)}
	average, _ := p.Cost.FloorQuo(int64(p.Amount), 0)
	fmt.Println(average)
	// Output: 3000
}

func ExampleEvent() {
	candles := []market.Candle{{Close: 101, Market: 1, Interval: market.Interval1m}}
	e := market.Event{At: candles[0].End(), Kind: market.KindCandles, Market: 1, Candles: candles}
	fmt.Println(e.At, e.Kind)
	// Output: 1970-01-01T00:01:00Z candles
}

func ExampleCommand() {
	c := market.Command{Kind: market.CommandUpdate, Changed: market.ChangePrice | market.ChangePostOnly,
		Order: market.Order{ID: 7, OrderState: market.OrderState{Price: 99, PostOnly: true}}}
	fmt.Println(c.Kind, c.Changed.Has(market.ChangePrice), c.Changed.Has(market.ChangeAmount))
	// Output: update true false
}

func ExampleClientOrderID() {
	run := uuid.MustParse("6ba7b810-9dad-41d1-80b4-00c04fd430c8")
	first, again, second := market.ClientOrderID(run, 1), market.ClientOrderID(run, 1), market.ClientOrderID(run, 2)
	fmt.Println(first == again, first == second)
	// Output: true false
}
