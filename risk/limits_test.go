package risk_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

func TestMaxOpenOrdersCountsTheStrategysOrders(t *testing.T) {
	b := newBench(t, risk.Limits{MaxOpenOrders: 2}, risk.AccountLimits{})
	other := limit(buy, btc, 10*at1)
	other.Order.Strategy = 2
	b.sent(other) // of another strategy: not counted
	b.sent(limit(buy, btc, 10*at1))
	o := b.sent(limit(buy, btc, 10*at1))
	refusal := b.refused(limit(buy, btc, 10*at1), risk.ReasonMaxOpenOrders)
	require.Equal(t, [2]int64{3, 2}, [2]int64{refusal.Have, refusal.Limit})
	b.passes(update(o.ID, market.ChangePrice, market.OrderState{Price: 11 * at1})) // an update opens none
}

func TestMaxOrderValueIsInclusive(t *testing.T) {
	b := newBench(t, risk.Limits{MaxOrderValue: 200 * eur}, risk.AccountLimits{})
	quote := func(money market.Money) market.Command {
		return place(market.Order{Type: market.TypeMarket, Side: buy,
			OrderState: market.OrderState{AmountQuote: money}})
	}
	rows := []struct{ inside, outside market.Command }{
		{limit(buy, 2*btc, 100*at1), limit(buy, 2*btc+10_000, 100*at1)},
		{limit(market.Sell, 2*btc, 100*at1), limit(market.Sell, 2*btc, 100*at1+5)},
		{atMarket(buy, 2*btc), atMarket(buy, 2*btc+10_000)}, // valued at the latest price
		{quote(200 * eur), quote(200*eur + 1)},
		// valued at its trigger
		{trigger(market.TypeStopLoss, market.Sell, 2*btc, 100*at1),
			trigger(market.TypeStopLoss, market.Sell, 2*btc, 100*at1+5)},
	}
	for i, row := range rows {
		b.passes(row.inside)
		refusal := b.refused(row.outside, risk.ReasonMaxOrderValue)
		require.Equal(t, int64(200*eur), refusal.Limit, "row %d", i)
		require.Greater(t, refusal.Have, refusal.Limit, "row %d", i)
	}
}

func TestMaxPositionCountsWhatIsHeldAndWhatMayBeBought(t *testing.T) {
	b := newBench(t, risk.Limits{MaxPosition: 500 * eur}, risk.AccountLimits{})
	b.passes(limit(buy, 5*btc, 100*at1))
	b.refused(limit(buy, 5*btc+10_000, 100*at1), risk.ReasonMaxPosition)
	b.filled(atMarket(buy, 2*btc), 100*at1)
	b.sent(limit(buy, btc, 99*at1)) // valued at the latest price, which is higher
	b.passes(atMarket(buy, 2*btc))
	b.refused(atMarket(buy, 2*btc+10_000), risk.ReasonMaxPosition)
	b.passes(atMarket(market.Sell, 9*btc)) // a sell makes no position
	byQuote := func(money market.Money) market.Command {
		return place(market.Order{Type: market.TypeMarket, Side: buy,
			OrderState: market.OrderState{AmountQuote: money}})
	}
	b.passes(byQuote(200 * eur))
	b.refused(byQuote(200*eur+1), risk.ReasonMaxPosition)
}

func TestMaxExposureCountsHoldsAndPositions(t *testing.T) {
	// 1000 EUR worth of base are there already
	b := newBench(t, risk.Limits{}, risk.AccountLimits{MaxExposure: 1500 * eur})
	b.sent(limit(buy, 3*btc, 100*at1))
	b.passes(limit(buy, 2*btc, 100*at1))
	refusal := b.refused(limit(buy, 2*btc+10_000, 100*at1), risk.ReasonMaxExposure)
	require.Equal(t, [2]int64{1500*eur + 1, 1500 * eur}, [2]int64{refusal.Have, refusal.Limit})
	b.passes(limit(market.Sell, 9*btc, 100*at1+5))
}

// A fall in price of an order, or a smaller one, takes exposure away: it passes also where there is
// too much already.
func TestMaxExposureLetsABuyShrink(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{MaxExposure: 1500 * eur})
	o := b.sent(limit(buy, 4*btc, 100*at1))
	b.step(market.Event{Kind: market.KindTicker, At: b.now, Market: 1,
		Ticker: &market.Ticker{Market: 1, Last: 200 * at1}})
	b.passes(update(o.ID, market.ChangeAmount, market.OrderState{Amount: 3 * btc}))
	b.passes(update(o.ID, market.ChangePrice, market.OrderState{Price: 99 * at1}))
	b.refused(update(o.ID, market.ChangeAmount, market.OrderState{Amount: 4*btc + 10_000}), risk.ReasonMaxExposure)
}

func TestPriceCollarIsOneSided(t *testing.T) {
	b := newBench(t, risk.Limits{PriceCollar: 5_000_000}, risk.AccountLimits{}) // 5 %
	b.passes(limit(buy, btc, 105*at1))
	refusal := b.refused(limit(buy, btc, 105*at1+5), risk.ReasonPriceCollar)
	require.Equal(t, [2]int64{105*at1 + 5, 105 * at1}, [2]int64{refusal.Have, refusal.Limit})
	b.passes(limit(market.Sell, btc, 95*at1))
	b.refused(limit(market.Sell, btc, 95*at1-5), risk.ReasonPriceCollar)
	b.passes(limit(buy, btc, 10*at1)) // far away on the own side harms nobody
	b.passes(limit(market.Sell, btc, 900*at1))
	b.passes(atMarket(buy, btc))
}

// Prices that cannot be true are not delivered, and the market is doubted until the next one that
// can be.
func TestNothingIsPricedByAMarketThatIsDoubted(t *testing.T) {
	for _, believed := range []market.Event{
		{Kind: market.KindTicker, Market: 1, Ticker: &market.Ticker{Market: 1, Last: 100 * at1}},
		{Kind: market.KindTicker, Market: 1, Ticker: &market.Ticker{Market: 1, Bid: 99 * at1, Ask: 101 * at1}},
		{Kind: market.KindBook, Market: 1,
			Book: &market.OrderBook{Market: 1, Asks: []market.Level{{Price: 100 * at1, Amount: btc}}}},
		{Kind: market.KindTrade, Market: 1, Trade: &market.Trade{Market: 1, Price: 100 * at1}},
	} {
		b := newBench(t, risk.Limits{PriceCollar: 5_000_000}, risk.AccountLimits{})
		b.passes(limit(buy, btc, 100*at1))
		b.account.MarkUnreliable(1)
		refusal := b.refused(limit(buy, btc, 100*at1), risk.ReasonPriceCollar)
		require.EqualError(t, refusal, "refused: price_collar: the latest prices of the market cannot be true")
		b.refused(limit(market.Sell, btc, 100*at1), risk.ReasonPriceCollar)
		refusal = b.refused(atMarket(buy, btc), risk.ReasonStale)
		require.EqualError(t, refusal, "refused: stale: the latest prices of the market cannot be true")
		b.refused(trigger(market.TypeStopLoss, buy, btc, 110*at1), risk.ReasonStale)
		b.passes(atMarket(market.Sell, btc)) // it reduces what is held
		b.passes(trigger(market.TypeStopLoss, market.Sell, btc, 50*at1))
		// it is measured from its own trigger
		b.passes(place(market.Order{Type: market.TypeStopLossLimit, Side: market.Sell,
			OrderState: market.OrderState{Amount: btc, TriggerAmount: 80 * at1, Price: 79 * at1}}))
		believed.At = b.now
		b.step(believed)
		b.passes(limit(buy, btc, 100*at1))
		b.passes(atMarket(buy, btc))
	}
}

// A stop limit far below the market is through nothing: when it gets there, the market is at its
// trigger.
func TestPriceCollarMeasuresAWaitingTriggerFromItself(t *testing.T) {
	b := newBench(t, risk.Limits{PriceCollar: 5_000_000}, risk.AccountLimits{})
	stop := func(price market.Price) market.Command {
		return place(market.Order{Type: market.TypeStopLossLimit, Side: market.Sell,
			OrderState: market.OrderState{Amount: btc, TriggerAmount: 80 * at1, Price: price}})
	}
	b.passes(stop(76 * at1))
	refusal := b.refused(stop(76*at1-5), risk.ReasonPriceCollar)
	require.Equal(t, int64(76*at1), refusal.Limit)
}

func TestPriceCollarLooksAtTheBookWhereThereIsOne(t *testing.T) {
	b := newBench(t, risk.Limits{PriceCollar: 5_000_000}, risk.AccountLimits{})
	b.step(market.Event{Kind: market.KindTicker, At: b.now, Market: 1,
		Ticker: &market.Ticker{Market: 1, Last: 100 * at1, Bid: 80 * at1, Ask: 120 * at1}})
	b.passes(limit(buy, btc, 126*at1))
	b.refused(limit(buy, btc, 126*at1+5), risk.ReasonPriceCollar)
	b.passes(limit(market.Sell, btc, 76*at1))
	b.refused(limit(market.Sell, btc, 76*at1-5), risk.ReasonPriceCollar)
	b.step(market.Event{Kind: market.KindBook, At: b.now, Market: 1,
		Book: &market.OrderBook{Market: 1, Asks: []market.Level{{Price: 200 * at1, Amount: btc}}}})
	b.passes(limit(buy, btc, 210*at1))
	b.refused(limit(market.Sell, btc, 95*at1-5), risk.ReasonPriceCollar) // no bid: the latest price
}

func TestSelfCrossLooksAtRestingOrdersOnly(t *testing.T) {
	for i := range 4 {
		allowed, alone := i%2 == 1, i/2 == 1
		b := newBench(t, risk.Limits{}, risk.AccountLimits{AllowSelfCross: allowed})
		if !alone {
			b.sent(trigger(market.TypeStopLoss, market.Sell, btc, 50*at1)) // waits: it does not rest
		}
		b.passes(atMarket(buy, btc))
		sell := limit(market.Sell, btc, 100*at1)
		sell.Order.Strategy = 2 // of another strategy: the exchange would see one account
		b.sent(sell)
		b.passes(limit(buy, btc, 100*at1-5))
		b.passes(trigger(market.TypeTakeProfit, buy, btc, 90*at1))
		for _, crossing := range []market.Command{limit(buy, btc, 100*at1), atMarket(buy, btc)} {
			if allowed {
				b.passes(crossing)
				continue
			}
			refusal := b.refused(crossing, risk.ReasonSelfCross)
			require.Equal(t, [2]int64{100 * at1, 100 * at1}, [2]int64{refusal.Have, refusal.Limit})
		}
	}
}

func TestOrdersPerMinuteSlidesWithTime(t *testing.T) {
	b := newBench(t, risk.Limits{OrdersPerMinute: 3}, risk.AccountLimits{})
	start := b.now
	for i := range 3 {
		b.now = start + market.Time(i)*10*second
		b.passes(limit(buy, btc, 10*at1))
	}
	b.now = start + 60*second - 1
	refusal := b.refused(limit(market.Sell, btc, 200*at1), risk.ReasonOrdersPerMinute) // sells are counted like buys
	require.Equal(t, [2]int64{3, 3}, [2]int64{refusal.Have, refusal.Limit})
	b.now = start + 60*second
	b.passes(limit(buy, btc, 10*at1)) // the first is a minute old
	b.refused(limit(buy, btc, 10*at1), risk.ReasonOrdersPerMinute)
	b.now = start + 70*second
	o := b.sent(limit(buy, btc, 10*at1)) // the second too
	b.refused(update(o.ID, market.ChangePrice, market.OrderState{Price: 9 * at1}), risk.ReasonOrdersPerMinute)
	b.passes(market.Command{Kind: market.CommandCancel, Order: market.Order{ID: o.ID}})
}

func TestRefusedOrdersDoNotUseUpTheMinute(t *testing.T) {
	b := newBench(t, risk.Limits{OrdersPerMinute: 1, MaxOrderValue: 50 * eur}, risk.AccountLimits{})
	for range 3 {
		b.refused(limit(buy, btc, 100*at1), risk.ReasonMaxOrderValue)
	}
	b.passes(limit(buy, btc/2, 100*at1))
}

func TestReduceOnlyRefusesBuysAlone(t *testing.T) {
	b := newBench(t, risk.Limits{ReduceOnly: true}, risk.AccountLimits{})
	b.refused(limit(buy, btc, 10*at1), risk.ReasonReduceOnly)
	b.passes(limit(market.Sell, btc, 110*at1))
}

// A limit that lets nothing be opened lets no open buy come nearer either; it may go away, and
// shrink.
func TestWhatMayNotOpenMayNotBeMovedTowardsAFill(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{MaxDailyLoss: 100 * eur})
	rests := b.sent(limit(buy, 2*btc, 10*at1))
	waits := b.sent(trigger(market.TypeStopLoss, buy, btc, 200*at1))
	exit := b.sent(limit(market.Sell, btc, 200*at1))
	b.price(80 * at1)
	for _, c := range []market.Command{
		update(rests.ID, market.ChangePrice, market.OrderState{Price: 10*at1 + 5}),
		update(rests.ID, market.ChangeAmount, market.OrderState{Amount: 2*btc + 10_000}),
		update(rests.ID, market.ChangePrice|market.ChangeAmount, market.OrderState{Price: 11 * at1, Amount: btc}),
		update(waits.ID, market.ChangeTriggerAmount, market.OrderState{TriggerAmount: 190 * at1}),
	} {
		b.refused(c, risk.ReasonDailyLoss)
	}
	for _, c := range []market.Command{
		update(rests.ID, market.ChangePrice, market.OrderState{Price: 9 * at1}),
		update(rests.ID, market.ChangeAmount, market.OrderState{Amount: btc}),
		update(exit.ID, market.ChangePrice, market.OrderState{Price: 81 * at1}),
	} {
		b.passes(c)
	}
}

func TestOldPricesRefuseBuysAlone(t *testing.T) {
	b := newBench(t, risk.Limits{MaxDataAge: time.Minute}, risk.AccountLimits{})
	b.now += 60 * second
	b.passes(limit(buy, btc, 10*at1))
	b.now++
	refusal := b.refused(limit(buy, btc, 10*at1), risk.ReasonStale)
	require.Equal(t, [2]int64{60*second + 1, 60 * second}, [2]int64{refusal.Have, refusal.Limit})
	b.passes(limit(market.Sell, btc, 110*at1))
}

func TestACandleThatComesLateRefusesBuysUntilAFreshPrice(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	b.step(market.Event{Kind: market.KindCandles, Candles: []market.Candle{{Market: 1, Close: 100 * at1, Late: true}}})
	b.refused(limit(buy, btc, 10*at1), risk.ReasonStale)
	b.passes(limit(market.Sell, btc, 110*at1))
	b.price(100 * at1)
	b.passes(limit(buy, btc, 10*at1))
}

func TestLossesInARowCoolDown(t *testing.T) {
	b := newBench(t, risk.Limits{CoolDownLosses: 2, CoolDown: time.Hour}, risk.AccountLimits{})
	round := func(sellAt market.Price) {
		b.filled(atMarket(buy, btc), 100*at1)
		b.filled(atMarket(market.Sell, btc), sellAt)
	}
	round(90 * at1)
	round(110 * at1) // a gain ends the row
	round(90 * at1)
	b.passes(limit(buy, btc, 10*at1))
	b.filled(atMarket(buy, btc), 100*at1)
	b.now += 30 * second // the cool-down counts from the loss, not from the ask before it
	sale := b.now
	b.filled(atMarket(market.Sell, btc), 100*at1-5)
	b.refused(limit(buy, btc, 10*at1), risk.ReasonCoolDown)
	b.passes(limit(market.Sell, btc, 110*at1))
	b.now = sale + 3600*second - 1
	refusal := b.refused(limit(buy, btc, 10*at1), risk.ReasonCoolDown)
	require.Equal(t, [2]int64{1, 3600 * second}, [2]int64{refusal.Have, refusal.Limit})
	b.now++
	b.passes(limit(buy, btc, 10*at1))
	round(90 * at1) // the row began anew
	b.passes(limit(buy, btc, 10*at1))
}

func TestTheDailyLossEndsWithTheUTCDay(t *testing.T) {
	day := market.Time(24 * time.Hour)
	b := newBench(t, risk.Limits{}, risk.AccountLimits{MaxDailyLoss: 100 * eur})
	b.price(90*at1 + 5) // 10 BTC have lost 99.50
	b.passes(limit(buy, btc, 10*at1))
	b.price(90 * at1)
	refusal := b.refused(limit(buy, btc, 10*at1), risk.ReasonDailyLoss)
	require.Equal(t, [2]int64{100 * eur, 100 * eur}, [2]int64{refusal.Have, refusal.Limit})
	b.passes(limit(market.Sell, btc, 200*at1))
	b.price(99 * at1)
	b.refused(limit(buy, btc, 10*at1), risk.ReasonDailyLoss) // used up is used up
	b.now = day - 1
	b.price(99 * at1)
	b.refused(limit(buy, btc, 10*at1), risk.ReasonDailyLoss)
	b.now = day
	b.price(95 * at1)
	b.passes(limit(buy, btc, 10*at1))
	b.price(89 * at1) // what the night took counts for the new day
	b.refused(limit(buy, btc, 10*at1), risk.ReasonDailyLoss)
}

func TestTheDrawdownLatches(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{MaxDrawdown: 1_000_000}) // 1 % of the high-water mark
	b.price(200 * at1)                                                          // 12 000 EUR: 1 % is 120
	b.price(188*at1 + 5)
	b.passes(limit(buy, btc, 10*at1))
	b.price(188 * at1)
	refusal := b.refused(limit(buy, btc, 10*at1), risk.ReasonDrawdown)
	require.Equal(t, [2]int64{1_000_000, 1_000_000}, [2]int64{refusal.Have, refusal.Limit})
	b.price(300 * at1)
	b.now += market.Time(48 * time.Hour)
	b.price(300 * at1)
	b.refused(limit(buy, btc, 10*at1), risk.ReasonDrawdown)
	b.passes(limit(market.Sell, btc, 400*at1))
}

func TestAWithdrawalIsNoLossAndADepositNoGain(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{MaxDailyLoss: 100 * eur, MaxDrawdown: 2_000_000})
	b.step(market.Event{Kind: market.KindTransfer, Asset: b.m.Quote, Money: -5000 * eur})
	b.passes(limit(buy, btc, 10*at1))
	b.step(market.Event{Kind: market.KindTransfer, Asset: b.m.Quote, Money: 5000 * eur})
	b.price(90 * at1)
	b.refused(limit(buy, btc, 10*at1), risk.ReasonDailyLoss)
}

func TestAResumeForgivesTheDrawdown(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{MaxDrawdown: 1_000_000})
	b.price(200 * at1)
	b.price(188 * at1) // 11 880 EUR
	b.refused(limit(buy, btc, 10*at1), risk.ReasonDrawdown)
	b.gate.Halt(1)
	b.gate.Resume(1)
	b.passes(limit(buy, btc, 10*at1))
	b.price(180 * at1)
	b.passes(limit(buy, btc, 10*at1))
	b.price(176 * at1) // 1 % of 11 880 is 118.80: it counts from where it was resumed
	b.refused(limit(buy, btc, 10*at1), risk.ReasonDrawdown)
}

func TestHaltAndWarmUpHoldAllButCancels(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	o := b.sent(limit(buy, btc, 10*at1))
	all := []market.Command{limit(buy, btc, 10*at1), atMarket(market.Sell, btc),
		update(o.ID, market.ChangePrice, market.OrderState{Price: 9 * at1})}
	b.gate.WarmUp(1, 1, 12, market.Interval1d)
	for _, c := range all {
		b.refused(c, risk.ReasonWarmUp)
	}
	b.gate.Halt(1) // weighs more
	require.True(t, b.gate.Halted(1))
	require.False(t, b.gate.Halted(2))
	for _, c := range all {
		b.refused(c, risk.ReasonHalted)
	}
	b.passes(market.Command{Kind: market.CommandCancel, Order: market.Order{ID: o.ID}})
	b.gate.Warm(1, 1)
	b.gate.Resume(1)
	for _, c := range all {
		b.passes(c)
	}
}

func TestUnlimitedNamesEveryLimitThatIsNotSet(t *testing.T) {
	require.Equal(t, []string{"max_open_orders", "orders_per_minute", "cool_down", "max_order_value", "price_collar",
		"max_position", "max_data_age"}, risk.Limits{}.Unlimited())
	require.Equal(t, []string{"max_exposure", "max_daily_loss", "max_drawdown"}, risk.AccountLimits{}.Unlimited())
	set := risk.Limits{MaxOpenOrders: 1, MaxOrderValue: 1, PriceCollar: 1, OrdersPerMinute: 1, CoolDown: 1,
		MaxDataAge: 1}
	require.Equal(t, []string{"max_position"}, set.Unlimited())
	require.Empty(t, risk.AccountLimits{MaxExposure: 1, MaxDailyLoss: 1, MaxDrawdown: 1}.Unlimited())
}

// Open buys and positions count by market and by strategy; dust does not.
func TestMaxPositionsCountsMarkets(t *testing.T) {
	c, first := newMarket(t)
	for _, symbol := range []string{"ETH", "LTC"} {
		_, err := c.AddAsset(symbol, 8)
		require.NoError(t, err)
		m := *first
		m.Name = symbol + "-EUR"
		require.NoError(t, c.AddMarket(&m))
	}
	limits := risk.Limits{MaxPositions: 2}
	b := &bench{t: t, m: first, account: state.NewAccount(c, 2, nil), now: 1000 * second,
		gate: risk.New(c, risk.Config{Account: risk.AccountLimits{Currency: first.Quote},
			Strategies: []risk.Limits{limits, {}}, Fees: zeroFees})}
	b.step(market.Event{Kind: market.KindTransfer, Asset: first.Quote, Money: 10_000 * eur})
	for m := range market.ID(3) {
		b.step(market.Event{Kind: market.KindTrade, Trade: &market.Trade{Market: m + 1, Price: 100 * at1}})
	}
	in := func(m market.ID, c market.Command) market.Command {
		c.Order.Market = m
		return c
	}
	elsewhere := in(3, limit(buy, btc, 90*at1))
	elsewhere.Order.Strategy = 2
	b.sent(elsewhere) // of another strategy: not counted
	b.fills(b.sent(in(1, atMarket(buy, btc))), 100*at1)
	open := b.sent(in(2, limit(buy, btc, 90*at1)))
	refusal := b.refused(in(3, limit(buy, btc, 90*at1)), risk.ReasonMaxPositions)
	require.EqualError(t, refusal, "refused: max_positions (3, limit 2)")
	require.Equal(t, "it would have positions in 3 markets, limit 2", refusal.Words(first, nil))
	use := b.useOf("max_positions")
	require.Equal(t, []int64{2, 2}, []int64{use.Used, use.Limit})
	require.True(t, use.Reached)
	b.passes(in(1, limit(buy, btc, 90*at1))) // more of what is there
	b.passes(in(2, limit(buy, btc, 80*at1)))
	b.passes(update(open.ID, market.ChangeAmount, market.OrderState{Amount: 2 * btc}))
	b.fills(b.sent(in(1, atMarket(market.Sell, btc-1))), 100*at1) // dust is left
	require.EqualValues(t, 1, b.useOf("max_positions").Used)
	b.fills(b.sent(in(3, atMarket(buy, btc))), 100*at1)
	b.refused(in(1, limit(buy, btc, 90*at1)), risk.ReasonMaxPositions)
}
