package sim

import (
	"time"

	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// world is a venue with two markets over one quote asset, moved by chance.
type world struct {
	t         *rapid.T
	catalog   *market.Catalog
	config    Config
	fees      exchange.Fees
	venue     *Venue
	deposited []market.Money // by asset
	now       market.Time
	moved     []market.Candle // what moves the markets now; empty: something else than candles
	next      market.OrderID
	book      *ledger
}

// newWorld draws markets, settings and balances. plain leaves out what moves fills off the path and
// orders off their time.
func newWorld(t *rapid.T, plain bool) *world {
	w := &world{t: t, catalog: &market.Catalog{}}
	quoteDigits := rapid.SampledFrom([]uint8{0, 2, 6, 8}).Draw(t, "quote digits")
	w.asset("EUR", quoteDigits)
	w.asset("BTC", rapid.SampledFrom([]uint8{0, 3, 8}).Draw(t, "btc digits"))
	w.asset("ETH", 8)
	for _, name := range [...]string{"BTC-EUR", "ETH-EUR"} {
		m := &market.Market{Name: name, PriceDigits: 2, VolumeDigits: 2,
			Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 8, MaxOpenOrders: 20}}
		if err := w.catalog.AddMarket(m); err != nil {
			t.Fatal(err)
		}
	}
	w.settings(plain)
	w.config.Fees = func(*market.Market) exchange.Fees { return w.fees }
	w.book = newLedger(w)
	w.venue = New(w.catalog, w.config, w.book.hear)
	w.deposited = make([]market.Money, 4)
	for asset := market.AssetID(1); asset <= 3; asset++ {
		digits := w.catalog.Asset(asset).Digits
		w.deposited[asset] = market.Money(rapid.Int64Range(0, 3000).Draw(t, "deposit") * market.Pow10(digits))
		if err := w.venue.Deposit(asset, w.deposited[asset]); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) asset(symbol string, digits uint8) {
	if _, err := w.catalog.AddAsset(symbol, digits); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) settings(plain bool) {
	t := w.t
	w.config.Path = Path(rapid.IntRange(0, int(Optimistic)).Draw(t, "path"))
	w.config.LimitFill = LimitFill(rapid.IntRange(0, 1).Draw(t, "limit fill"))
	w.config.LimitGap = LimitGap(rapid.IntRange(0, 1).Draw(t, "limit gap"))
	w.config.FeeRounding = exchange.FeeRounding(rapid.IntRange(0, 2).Draw(t, "rounding"))
	w.config.Latency = rapid.SampledFrom([]time.Duration{0, 0, time.Second, 20 * time.Second, 70 * time.Second}).Draw(t,
		"latency")
	w.fees.Maker = market.Rate(rapid.Int64Range(-10_000, 300_000).Draw(t, "maker"))
	w.fees.Taker = market.Rate(rapid.Int64Range(0, 300_000).Draw(t, "taker"))
	w.config.MissProbability = rapid.SampledFrom([]market.Rate{0, 0, 50_000_000}).Draw(t, "missed touches")
	if rapid.Bool().Draw(t, "cap") {
		w.config.VolumeShare = market.Rate(rapid.Int64Range(1, 100_000_000).Draw(t, "share"))
	}
	if plain {
		return
	}
	w.config.HalfSpread = market.Rate(rapid.Int64Range(0, 2_000_000).Draw(t, "half spread"))
	w.config.Slippage = market.Rate(rapid.Int64Range(0, 2_000_000).Draw(t, "slippage"))
	w.config.PlacementLimit = market.Rate(rapid.SampledFrom([]int64{0, 5_000_000}).Draw(t, "protection"))
}

// live gives commands and moves the markets some times; after each movement everything has to be
// right.
func (w *world) live(move func()) {
	move()
	for range rapid.IntRange(1, 12).Draw(w.t, "movements") {
		for range rapid.IntRange(0, 4).Draw(w.t, "commands") {
			w.command()
		}
		move()
		check(w.t, w.venue)
		w.book.settle()
	}
}

// candles moves one or both markets by a candle.
func (w *world) candles() {
	w.moved = w.moved[:0]
	which := rapid.IntRange(1, 3).Draw(w.t, "markets")
	start := market.Interval1m.StartOf(market.Interval1m.Index(w.now + market.Time(time.Minute) - 1))
	for id := market.ID(1); id <= 2; id++ {
		if which&int(id) == 0 {
			continue
		}
		c := market.Candle{Open: w.price("open"), Close: w.price("close"), Start: start, Market: id,
			Interval: market.Interval1m}
		c.High = max(c.Open, c.Close) + market.Price(rapid.IntRange(0, 5).Draw(w.t, "above"))
		c.Low = min(c.Open, c.Close) - market.Price(rapid.IntRange(0, 5).Draw(w.t, "below"))
		c.Volume = market.Volume(rapid.Int64Range(0, 5000).Draw(w.t, "volume"))
		w.moved = append(w.moved, c)
	}
	for i := range w.moved {
		low, high := w.venue.QuietRange(w.moved[i].Market)
		w.book.calm[w.moved[i].Market] = low < w.moved[i].Low && w.moved[i].High < high
	}
	w.advance(&market.Event{At: w.moved[0].End(), Kind: market.KindCandles, Candles: w.moved})
	w.book.calm = [3]bool{}
}

// anything moves a market by candle, ticker, trade or status.
func (w *world) anything() {
	id := market.ID(rapid.IntRange(1, 2).Draw(w.t, "market"))
	at := w.now.Add(time.Duration(rapid.IntRange(0, 30).Draw(w.t, "seconds")) * time.Second)
	switch rapid.IntRange(0, 5).Draw(w.t, "movement") {
	case 0:
		p := w.price("last")
		w.moved = w.moved[:0]
		w.advance(&market.Event{At: at, Kind: market.KindTicker, Market: id,
			Ticker: &market.Ticker{Market: id, Last: p, Bid: p - 1, Ask: p + 2}})
	case 1:
		w.moved = w.moved[:0]
		w.advance(&market.Event{At: at, Kind: market.KindTrade, Market: id,
			Trade: &market.Trade{Market: id, Price: w.price("trade")}})
	case 2:
		w.moved = w.moved[:0]
		status := market.MarketStatus(rapid.IntRange(int(market.Trading), int(market.CancelOnly)).Draw(w.t, "status"))
		w.advance(&market.Event{At: at, Kind: market.KindMarketStatus, Market: id, Status: status,
			Price: w.price("opening")})
	default:
		w.candles()
	}
}

func (w *world) advance(ev *market.Event) {
	w.now = ev.At
	if err := w.venue.Advance(ev); err != nil {
		w.t.Fatal(err)
	}
}

// price is one of few, so that orders and candles meet.
func (w *world) price(label string) market.Price {
	return market.Price(rapid.Int64Range(90, 110).Draw(w.t, label))
}

// command places, updates or cancels something.
func (w *world) command() {
	w.give(market.Command{At: w.now}, w.now)
}

// react answers a fill at once, as a strategy does or as a bracket, in the fill's own market. The
// markets of a group walk a leg one after the other: the clock of events never runs back, so the
// fill itself may be earlier than its event.
func (w *world) react(at market.Time, f *market.Fill) {
	if rapid.IntRange(0, 2).Draw(w.t, "reaction") != 0 {
		return
	}
	c := market.Command{At: at, Attached: rapid.Bool().Draw(w.t, "attached")}
	c.Order.Market = f.Market
	w.give(c, f.Time)
}

// give hands over some command. Nothing may come of it before the moment decided.
func (w *world) give(c market.Command, decided market.Time) {
	switch rapid.IntRange(0, 5).Draw(w.t, "command") {
	case 0:
		c.Kind = market.CommandCancel
		c.Order.ID = market.OrderID(rapid.Int64Range(1, int64(w.next)+1).Draw(w.t, "cancelled"))
	case 1:
		c.Kind = market.CommandUpdate
		c.Order.ID = market.OrderID(rapid.Int64Range(1, int64(w.next)+1).Draw(w.t, "updated"))
		w.changes(&c)
	default:
		c.Kind = market.CommandPlace
		w.order(&c.Order, c.Order.Market)
	}
	w.book.note(&c, decided)
	w.venue.Do(&c)
}

func (w *world) changes(c *market.Command) {
	c.Changed = market.Change(rapid.SampledFrom([]market.Change{
		market.ChangePrice, market.ChangeAmount, market.ChangeAmountRemaining, market.ChangeTriggerAmount,
		market.ChangePostOnly,
		market.ChangeAmountQuote, market.ChangePrice | market.ChangeAmount, market.ChangeTimeInForce,
	}).Draw(w.t, "changed"))
	m := w.catalog.Market(1)
	c.Order.Price, c.Order.TriggerAmount = w.price("new price"), w.price("new trigger")
	c.Order.Amount = w.amount(m)
	c.Order.AmountRemaining, c.Order.AmountQuote = c.Order.Amount, w.money(m)
	c.Order.TimeInForce = market.TimeInForce(rapid.IntRange(1, 3).Draw(w.t, "new tif"))
	c.Order.PostOnly = rapid.Bool().Draw(w.t, "new post-only")
}

// order draws an order, in any market where own is 0.
func (w *world) order(o *market.Order, own market.ID) {
	t := w.t
	w.next++
	if own == 0 {
		own = market.ID(rapid.IntRange(1, 2).Draw(t, "market"))
	}
	m := w.catalog.Market(own)
	o.ID, o.Market = w.next, m.ID
	o.Side = market.Side(rapid.IntRange(1, 2).Draw(t, "side"))
	o.Type = market.OrderType(rapid.IntRange(1, 6).Draw(t, "type"))
	o.TimeInForce = rapid.SampledFrom([]market.TimeInForce{market.GTC, market.GTC, market.IOC, market.FOK}).Draw(t,
		"tif")
	o.SelfTradePrevention = market.SelfTradePrevention(rapid.IntRange(1, 4).Draw(t, "stp"))
	o.Amount = w.amount(m)
	if o.Type.HasPrice() {
		o.Price, o.PostOnly = w.price("price"), rapid.IntRange(0, 4).Draw(t, "post-only") == 0
	} else if rapid.Bool().Draw(t, "by quote") {
		o.Amount, o.AmountQuote = 0, w.money(m)
	}
	if o.Type.HasTrigger() {
		o.TriggerAmount = w.price("trigger")
		o.TriggerReference = market.TriggerReference(rapid.IntRange(1, 4).Draw(t, "reference"))
	}
}

// amount has an odd number of units, so that rounding has something to do.
func (w *world) amount(m *market.Market) market.Qty {
	return market.Qty(rapid.Int64Range(1, 50*market.Pow10(m.AmountDigits)).Draw(w.t, "amount"))
}

func (w *world) money(m *market.Market) market.Money {
	return market.Money(rapid.Int64Range(1, 100*market.Pow10(m.QuoteDigits)).Draw(w.t, "money"))
}
