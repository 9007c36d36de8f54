package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// farID is an order that no price of a randomCandle reaches.
const farID = market.OrderID(1)

// TestAnOrderMeetsAnOpenAloneAsBesideOthers gives two venues the same commands and candles. In one,
// an order rests far away: openAlone and fillWhole are not for it, and each order goes the way that
// all orders can go.
func TestAnOrderMeetsAnOpenAloneAsBesideOthers(t *testing.T) {
	alone, together, whole, parts, rejected := 0, 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		one, other := newOpener(t), &opener{}
		*other = *one
		one.open(t, true)
		other.open(t, false)
		for range rapid.IntRange(1, 12).Draw(t, "candles") {
			for range rapid.SampledFrom([]int{0, 1, 1, 1, 1, 2, 3}).Draw(t, "commands") {
				c := one.draw(t)
				one.venue.Do(&c)
				other.venue.Do(&c)
			}
			c := randomCandle(t, one.now)
			c.Volume = market.Volume(rapid.SampledFrom([]int64{10, 70, 90, 100_000}).Draw(t, "volume"))
			if waiting := one.venue.waiting; !slices.ContainsFunc(waiting, notAtMarket) {
				alone, together = alone+min(1, len(waiting)), together+min(1, len(waiting)/2)
			}
			one.now = one.now.Add(time.Minute)
			ev := market.Event{At: one.now, Kind: market.KindCandles, Candles: []market.Candle{c}}
			mine, theirs := one.venue.Advance(&ev), other.venue.Advance(&ev)
			require.Equal(t, fmt.Sprint(theirs), fmt.Sprint(mine))
			require.Equal(t, other.heard, one.heard)
			require.Equal(t, other.venue.Ambiguous(), one.venue.Ambiguous())
			require.Equal(t, other.venue.books[1].last, one.venue.books[1].last)
			for asset := market.AssetID(1); asset <= 2; asset++ {
				mine, theirs := one.venue.Balance(asset), other.venue.Balance(asset)
				require.Equal(t, theirs.Available(), mine.Available())
			}
			if one.venue.err == nil {
				check(t, one.venue)
			}
		}
		whole, parts, rejected = whole+one.whole, parts+one.parts, rejected+one.rejected
	})
	if testing.Short() { // too few cases to have each kind in every run
		return
	}
	require.Positive(t, alone, "no order was alone")
	require.Positive(t, together, "no orders met an open together")
	require.Positive(t, whole, "no order was filled whole")
	require.Positive(t, parts, "no order was filled in parts")
	require.Positive(t, rejected, "no order was rejected")
}

// notAtMarket reports whether a command is not a new order at market.
func notAtMarket(a *arrival) bool {
	return a.kind != market.CommandPlace || a.placed.Type != market.TypeMarket
}

// opener is a venue with the reports that it has sent.
type opener struct {
	config Config
	cash   [2]market.Money
	venue  *Venue
	now    market.Time
	next   market.OrderID
	react  int64
	heard  []string

	whole, parts, rejected int
	exits                  market.OrderID
}

func newOpener(t *rapid.T) *opener {
	rate := func(name string, of ...market.Rate) market.Rate { return rapid.SampledFrom(of).Draw(t, name) }
	p := &opener{next: farID, react: rapid.Int64Range(1, 5).Draw(t, "react")}
	p.config = Config{Path: Path(rapid.IntRange(0, int(Optimistic)).Draw(t, "path")),
		FeeRounding: exchange.FeeRounding(rapid.IntRange(0, int(exchange.RoundNearest)).Draw(t, "rounding")),
		HalfSpread:  rate("spread", 0, 0, 500_000), Slippage: rate("slippage", 0, 0, 300_000),
		VolumeShare: rate("volume", 0, 0, 10_000_000, 90_000_000),
		Latency:     market.Duration(rapid.SampledFrom([]time.Duration{0, 0, 30 * time.Second}).Draw(t, "latency"))}
	fees := exchange.Fees{Maker: rate("maker", -100_000, 0, 150_000, 400_000),
		Taker: rate("taker", -100_000, 0, 250_000)}
	p.config.Fees = func(*market.Market) exchange.Fees { return fees }
	money := []int64{0, 1000, 50_000, 1_000_000, 1<<62 + 1<<61}
	for i := range p.cash {
		p.cash[i] = market.Money(rapid.SampledFrom(money).Draw(t, "balance"))
	}
	return p
}

// open opens the venue and places the far order, which one of two venues cancels.
func (p *opener) open(t *rapid.T, cancel bool) {
	catalog := &market.Catalog{}
	for _, symbol := range [...]string{"EUR", "BTC"} {
		must(catalog.AddAsset(symbol, 2))
	}
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "BTC-EUR", Rules: market.Rules{QuantityDecimals: 2}}))
	p.venue = New(catalog, p.config, p.hear)
	require.NoError(t, p.venue.Deposit(1, 200))
	far := market.Command{Kind: market.CommandPlace, Order: market.Order{ID: farID, Market: 1, Side: market.Buy,
		Type: market.TypeLimit, OrderState: market.OrderState{TimeInForce: market.GTC, Price: 1, Amount: 100}}}
	p.venue.Do(&far)
	ev := market.Event{Kind: market.KindCandles, Candles: []market.Candle{{Open: 100, High: 100, Low: 100, Close: 100,
		Market: 1, Interval: market.Interval1m, Start: p.now.Add(time.Minute)}}}
	require.NoError(t, p.venue.Advance(&ev))
	require.NotNil(t, p.venue.Order(farID))
	hold := p.venue.Balance(1).Held
	if cancel {
		require.True(t, p.venue.Cancel(farID, 0, market.CancelOnAdminRequest))
		hold = 0
	}
	require.NoError(t, p.venue.Deposit(1, p.cash[0]-200+hold))
	require.NoError(t, p.venue.Deposit(2, p.cash[1]))
	p.now, p.heard = p.now.Add(2*time.Minute), nil
}

// draw draws a command.
func (p *opener) draw(t *rapid.T) market.Command {
	price := market.Price(rapid.Int64Range(80, 120).Draw(t, "price"))
	c := market.Command{At: p.now, Kind: market.CommandPlace}
	if p.next > farID && rapid.IntRange(0, 9).Draw(t, "cancel") == 0 {
		c.Kind = market.CommandCancel
		c.Order = market.Order{Market: 1, ID: market.OrderID(rapid.Int64Range(2, int64(p.next)).Draw(t, "order"))}
		return c
	}
	p.next++
	c.Order = randomOrder(t, p.next, price)
	if c.Order.Type != market.TypeMarket && rapid.Bool().Draw(t, "at market") {
		c.Order.Type, c.Order.Price, c.Order.TriggerAmount, c.Order.TriggerReference = market.TypeMarket, 0, 0, 0
	}
	if c.Order.Type == market.TypeMarket && rapid.IntRange(0, 4).Draw(t, "by quote") == 0 {
		c.Order.AmountQuote, c.Order.Amount = market.Money(c.Order.Amount), 0
	}
	return c
}

// hear keeps a report, and answers some fills with an order that acts at once, as a bracket does.
func (p *opener) hear(ev *market.Event) {
	if ev.Report == nil {
		return
	}
	p.heard = append(p.heard, fmt.Sprintf("%s %+v %+v", ev.At, *ev.Report, ev.Fills))
	switch {
	case ev.Report.Exec == market.ExecRejected:
		p.rejected++
	case len(ev.Fills) > 0 && ev.Report.Status == market.StatusFilled:
		p.whole++
	case len(ev.Fills) > 0:
		p.parts++
	}
	if len(ev.Fills) == 0 || int64(ev.Report.Order)%p.react != 0 || ev.Report.Order > 1000 {
		return
	}
	p.exits++
	stop := market.Command{Kind: market.CommandPlace, Attached: true, At: ev.At}
	stop.Order = market.Order{ID: 1000 + p.exits, Market: 1, Side: market.Sell, Type: market.TypeStopLoss,
		TriggerReference: market.LastTrade, OrderState: market.OrderState{TimeInForce: market.GTC,
			Amount: ev.Fills[0].Amount, TriggerAmount: ev.Fills[0].Price - market.Price(ev.Report.Order%7) + 2}}
	p.venue.Do(&stop)
}
