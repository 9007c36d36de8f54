package sim

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// edge is a venue whose accounts have next to all that an int64 can count. It keeps their balances
// in 128 bits beside the venue's.
type edge struct {
	t        *rapid.T
	venue    *Venue
	catalog  *market.Catalog
	accounts int
	owned    [3][3]market.Value // by account and asset, quote assets at the market's value decimals
	fills    int
	owner    map[market.OrderID]AccountID
	at       market.Time
	next     market.OrderID
}

func newEdge(t *rapid.T, config Config, accounts int) *edge {
	e := &edge{t: t, catalog: &market.Catalog{}, accounts: accounts, owner: map[market.OrderID]AccountID{}}
	digits := rapid.SampledFrom([]struct{ base, quote, price uint8 }{{8, 2, 2}, {8, 2, 10}, {0, 0, 0}, {10, 2, 10},
		{18, 8, 6}, {2, 8, 2}}).Draw(t, "digits")
	must(e.catalog.AddAsset("BTC", digits.base))
	must(e.catalog.AddAsset("EUR", digits.quote))
	m := &market.Market{Name: "BTC-EUR", PriceDigits: digits.price,
		Rules: market.Rules{QuantityDecimals: digits.base, NotionalDecimals: digits.quote, TickSize: 1}}
	require.NoError(t, e.catalog.AddMarket(m))
	fees := exchange.Fees{Maker: market.Rate(rapid.Int64Range(-100_000, 300_000).Draw(t, "maker")),
		Taker: market.Rate(rapid.Int64Range(0, 300_000).Draw(t, "taker"))}
	config.Fees = func(*market.Market) exchange.Fees { return fees }
	config.FeeRounding = exchange.FeeRounding(rapid.IntRange(0, 2).Draw(t, "rounding"))
	e.venue = New(e.catalog, config, e.hear)
	for a := 1; a < accounts; a++ {
		e.venue.OpenAccount(config.Fees)
	}
	for a := range accounts {
		for asset := market.AssetID(1); asset <= 2; asset++ {
			e.transfer(AccountID(a), asset, e.much("balance"))
		}
	}
	return e
}

// much draws a number of any size, often one near the largest.
func (e *edge) much(what string) market.Money {
	n := rapid.Int64Range(1, math.MaxInt64).Draw(e.t, what)
	switch rapid.IntRange(0, 3).Draw(e.t, what+" is") {
	case 0:
		return market.Money(math.MaxInt64 - n%1000)
	case 1:
		return market.Money(1 + n%1000)
	case 2:
		return market.Money(1 + n>>uint(n%60))
	}
	return market.Money(n)
}

// price draws one that an order may have: up to half of what can be counted.
func (e *edge) price(what string) market.Price { return 1 + market.Price(e.much(what))/2 }

func (e *edge) transfer(a AccountID, asset market.AssetID, money market.Money) {
	before := e.venue.BalanceOf(a, asset)
	if err := e.venue.Transfer(a, asset, money); err != nil {
		require.Equal(e.t, before, e.venue.BalanceOf(a, asset), "a transfer that is refused changes nothing")
		return
	}
	e.book(a, asset, market.ValueOf(int64(money)))
}

// book adds to what an account owns; of the quote asset in its own units.
func (e *edge) book(a AccountID, asset market.AssetID, money market.Value) {
	if asset == 2 {
		money = must(money.ScaleUp(e.catalog.Market(1).MoneyDrop()))
	}
	e.owned[a][asset] = must(e.owned[a][asset].Add(money))
}

func (e *edge) hear(ev *market.Event) {
	if ev.Report == nil || ev.Report.Exec == market.ExecRejected {
		return
	}
	for i := range ev.Fills {
		f := &ev.Fills[i]
		a := e.owner[f.Order]
		gross := must(e.catalog.Market(1).Value(f.Price, f.Amount))
		amount := market.ValueOf(int64(f.Amount))
		if f.Side == market.Buy {
			gross = gross.Neg()
		} else {
			amount = amount.Neg()
		}
		e.owned[a][1] = must(e.owned[a][1].Add(amount))
		e.owned[a][2] = must(e.owned[a][2].Add(must(gross.Sub(f.Fee))))
		e.fills++
	}
}

// check holds every balance against what the fills and transfers make it: one that has wrapped, or
// was moved by half a trade, differs.
func (e *edge) check() {
	for a := range e.accounts {
		for asset := market.AssetID(1); asset <= 2; asset++ {
			have, want := e.venue.BalanceOf(AccountID(a), asset), e.owned[a][asset]
			total := market.ValueOf(int64(have.Total))
			if asset == 2 {
				total = must(total.ScaleUp(e.catalog.Market(1).MoneyDrop()))
			}
			require.Equal(e.t, want, total, "account %d, asset %d", a, asset)
			require.GreaterOrEqual(e.t, have.Total, market.Money(0))
			require.GreaterOrEqual(e.t, have.Held, market.Money(0))
			require.GreaterOrEqual(e.t, have.Total, have.Held)
		}
	}
}

// command draws an order, an update or a cancel.
func (e *edge) command() *market.Command {
	o := market.Order{
		Market: 1, Side: market.Side(rapid.IntRange(1, 2).Draw(e.t, "side")),
		Type: market.OrderType(rapid.IntRange(int(market.TypeMarket), int(market.TypeTakeProfitLimit)).Draw(e.t,
			"type")),
		OrderState: market.OrderState{TimeInForce: rapid.SampledFrom([]market.TimeInForce{market.GTC, market.GTC,
			market.IOC, market.FOK}).Draw(e.t, "tif"),
			SelfTradePrevention: rapid.SampledFrom([]market.SelfTradePrevention{market.DecrementAndCancel,
				market.CancelOldest, market.CancelNewest, market.CancelBoth}).Draw(e.t, "stp")},
	}
	c := &market.Command{Kind: market.CommandPlace, At: e.at, Order: o}
	if kind := rapid.IntRange(0, 9).Draw(e.t, "kind"); kind > 6 && e.next > 0 {
		c.Order.ID = market.OrderID(rapid.Int64Range(1, int64(e.next)).Draw(e.t, "id"))
		c.Kind = market.CommandCancel
		if kind > 7 {
			c.Kind, c.Changed = market.CommandUpdate, market.ChangeAmountRemaining
			c.Order.AmountRemaining = market.Qty(e.much("new amount"))
		}
		return c
	}
	e.next++
	c.Order.ID = e.next
	if c.Order.Amount = market.Qty(e.much("amount")); !o.Type.HasPrice() && rapid.Bool().Draw(e.t, "by quote") {
		c.Order.Amount, c.Order.AmountQuote = 0, e.much("amountQuote")
	}
	if o.Type.HasPrice() {
		c.Order.Price = e.price("price")
	}
	if o.Type.HasTrigger() {
		c.Order.TriggerAmount, c.Order.TriggerType, c.Order.TriggerReference = e.price("trigger"), market.TriggerPrice,
			market.LastTrade
	}
	return c
}

// A book whose accounts own all that can be counted refuses, or ends orders; it never wraps, and
// never stands still.
func TestABookAtTheEndOfItsNumbersGoesOn(t *testing.T) {
	var fills, rounds int
	rapid.Check(t, func(t *rapid.T) {
		levels := rapid.IntRange(0, 2).Draw(t, "levels")
		e := newEdge(t, Config{Book: true,
			Liquidity: func(*market.Market) Liquidity { return Liquidity{Levels: levels} }}, 3)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			e.at++
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				e.transfer(AccountID(rapid.IntRange(0, 2).Draw(t, "account")),
					market.AssetID(rapid.IntRange(1, 2).
						Draw(t, "asset")), e.much("transfer")*market.Money(1-2*rapid.IntRange(0, 1).Draw(t, "sign")))
			case 1:
				require.NoError(t, e.venue.Advance(&market.Event{At: e.at, Kind: market.KindTrade,
					Trade: &market.Trade{Market: 1, Price: e.price("traded")}}))
			case 2:
				for _, status := range []market.MarketStatus{market.Auction, market.AuctionMatching, market.Trading} {
					e.perform()
					require.NoError(t, e.venue.Advance(&market.Event{At: e.at, Kind: market.KindMarketStatus, Market: 1,
						Status: status}))
				}
			default:
				e.perform()
			}
			e.check()
		}
		bid, ask := e.venue.Best(1)
		require.False(t, bid.Price != 0 && ask.Price != 0 && bid.Price >= ask.Price && levels == 0,
			"the book is crossed: %d, %d", bid.Price, ask.Price)
		fills, rounds = fills+e.fills, rounds+1
	})
	if rounds >= 100 { // few rounds may bring few fills
		require.Greater(t, fills, rounds/4, "hardly anything was traded")
	}
}

// perform lets an account give a command.
func (e *edge) perform() {
	c := e.command()
	a := AccountID(rapid.IntRange(0, e.accounts-1).Draw(e.t, "account"))
	if c.Kind == market.CommandPlace {
		e.owner[c.Order.ID] = a
	} else {
		a = e.owner[c.Order.ID]
	}
	_, err := e.venue.Submit(a, e.at, c)
	require.NoError(e.t, err)
}

// A backtest at the end of its numbers ends with an error that says so; what it has booked until
// then is right.
func TestAPathAtTheEndOfItsNumbersEndsWithAnError(t *testing.T) {
	var ended, rounds int
	rapid.Check(t, func(t *rapid.T) {
		rounds++
		e := newEdge(t, Config{HalfSpread: market.Rate(rapid.Int64Range(0, 100_000).Draw(t, "spread"))}, 1)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			e.at = e.at.Add(time.Minute)
			for range rapid.IntRange(0, 3).Draw(t, "commands") {
				e.venue.Do(e.command())
			}
			a, b, c, d := e.price("a"), e.price("b"), e.price("c"), e.price("d")
			candle := market.Candle{Market: 1, Interval: market.Interval1m, Start: e.at, Open: a, Close: b,
				High: max(a, b, c, d), Low: min(a, b, c, d), Volume: 1}
			err := e.venue.Advance(&market.Event{At: candle.End(), Kind: market.KindCandles,
				Candles: []market.Candle{candle}})
			e.check()
			if err != nil {
				require.ErrorIs(t, err, market.ErrOverflow)
				require.Regexp(t, `^order \d+: `, err.Error())
				ended++
				break
			}
		}
	})
	if rounds >= 100 { // few rounds may not come there
		require.Positive(t, ended, "no run came to the end of its numbers")
	}
}
