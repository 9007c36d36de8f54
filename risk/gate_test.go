package risk_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

func TestTheGateRoundsNeverAgainstTheStrategysWord(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	exact := market.Order{Market: 1, Strategy: 1, OrderState: market.OrderState{TimeInForce: market.GTC}}
	rows := []struct {
		name       string
		have, want market.Order
	}{
		{"a buy pays no more than it said",
			market.Order{Type: market.TypeLimit, Side: buy,
				OrderState: market.OrderState{Amount: btc, Price: 99_99}},
			market.Order{OrderState: market.OrderState{Amount: btc, Price: 99_95}}},
		{"a sell gets no less", market.Order{Type: market.TypeLimit, Side: market.Sell,
			OrderState: market.OrderState{Amount: btc, Price: 110_01}},
			market.Order{OrderState: market.OrderState{Amount: btc, Price: 110_05}}},
		{"a stop that sells fires no later", market.Order{Type: market.TypeStopLoss, Side: market.Sell,
			OrderState: market.OrderState{Amount: btc, TriggerAmount: 90_01}},
			market.Order{OrderState: market.OrderState{Amount: btc, TriggerAmount: 90_05}}},
		{"a stop that buys fires no later",
			market.Order{Type: market.TypeStopLoss, Side: buy,
				OrderState: market.OrderState{Amount: btc, TriggerAmount: 110_04}},
			market.Order{OrderState: market.OrderState{Amount: btc, TriggerAmount: 110_00}}},
		{"a take-profit that sells fires no later", market.Order{Type: market.TypeTakeProfit, Side: market.Sell,
			OrderState: market.OrderState{Amount: btc, TriggerAmount: 110_04}},
			market.Order{OrderState: market.OrderState{Amount: btc, TriggerAmount: 110_00}}},
		{"a take-profit that buys fires no later",
			market.Order{Type: market.TypeTakeProfit, Side: buy,
				OrderState: market.OrderState{Amount: btc, TriggerAmount: 90_01}},
			market.Order{OrderState: market.OrderState{Amount: btc, TriggerAmount: 90_05}}},
		{"an amount is no larger",
			market.Order{Type: market.TypeMarket, Side: buy,
				OrderState: market.OrderState{Amount: btc + 9_999}},
			market.Order{OrderState: market.OrderState{Amount: btc}}},
		{"limit and trigger at once", market.Order{Type: market.TypeStopLossLimit, Side: market.Sell,
			OrderState: market.OrderState{Amount: btc, Price: 89_99, TriggerAmount: 90_01}},
			market.Order{OrderState: market.OrderState{Amount: btc, Price: 90_00, TriggerAmount: 90_05}}},
		{"exits of a bracket", market.Order{Type: market.TypeMarket, Side: buy,
			OrderState: market.OrderState{Amount: btc}, Bracket: market.Bracket{Stop: 90_01, Target: 110_01}},
			market.Order{OrderState: market.OrderState{Amount: btc},
				Bracket: market.Bracket{Stop: 90_05, Target: 110_05}}},
	}
	for _, row := range rows {
		want := exact
		want.Type, want.Side, want.Amount, want.AmountRemaining, want.Price = row.have.Type, row.have.Side,
			row.want.Amount, row.want.Amount, row.want.Price
		want.TriggerAmount, want.Bracket = row.want.TriggerAmount, row.want.Bracket
		require.Equal(t, want, b.passes(place(row.have)).Order, row.name)
	}
}

func TestQuoteAmountsAreRoundedDown(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	b.m.NotionalDecimals = 1
	o := b.passes(place(market.Order{Type: market.TypeMarket, Side: buy,
		OrderState: market.OrderState{AmountQuote: 9_99}})).Order
	require.Equal(t, market.Money(9_90), o.AmountQuote)
	require.Equal(t, market.Money(9_90), o.AmountQuoteRemaining)
}

// A sale in a market where the strategy has nothing has one reason, whatever its size is over.
func TestASaleOfNothingHasItsReason(t *testing.T) {
	r := newExitsRig(t, exchange.Spread{})
	for _, amount := range [...]market.Qty{0, btc} { // as a share of the position, and as an amount
		require.Equal(t, "refused: nothing_to_sell: the strategy has no position in the market",
			r.ask(market.Order{Type: market.TypeMarket, Side: market.Sell,
				OrderState: market.OrderState{Amount: amount}}))
	}
	b := newBench(t, risk.Limits{}, risk.AccountLimits{}) // its account has 10 BTC in no position
	b.passes(atMarket(market.Sell, btc))
	b.fills(b.sent(atMarket(buy, btc)), 100*at1)
	b.refused(atMarket(market.Sell, 9_999), risk.ReasonTooSmall) // there is something, but less than the minimum
}

func TestWhatRoundingLeavesNothingOfIsTooSmall(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	b.refused(limit(buy, 9_999, 100*at1), risk.ReasonTooSmall)
	// something is left: the exchange's own rule
	require.Equal(t, exchange.CodeMinQuote, b.refused(limit(buy, 10_000, 100*at1), risk.ReasonExchange).Code)
}

func TestNoRoundingPassesNumbersAsTheyAre(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	c, _ := newMarket(t)
	b.gate = risk.New(c, risk.Config{Strategies: make([]risk.Limits, 2), NoRounding: true, Fees: zeroFees})
	require.Equal(t, exchange.CodeTick, b.refused(limit(buy, btc, 100_01), risk.ReasonExchange).Code)
	require.Equal(t, exchange.CodeDecimals, b.refused(limit(buy, btc+1, 100_00), risk.ReasonExchange).Code)
}

func TestTheExchangesRefusalComesWithItsCode(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	for range 2 {
		b.refused(limit(buy, 200*btc, 100*at1), risk.ReasonExchange)
	}
	refusal := b.refused(atMarket(market.Sell, 11*btc), risk.ReasonExchange)
	require.Equal(t, exchange.CodeInsufficientBalance, refusal.Code)
	require.Equal(t, "refused: the exchange would answer 216: "+refusal.Message+" (needs 11 BTC, has 10 BTC)",
		refusal.Error())
	b.refused(limit(buy, 2000*btc, 100*at1), risk.ReasonExchange)
	b.refused(limit(buy, 1, 100*at1), risk.ReasonTooSmall)
	require.Equal(t, []risk.Count{{Reason: "exchange 216", N: 3}, {Reason: "exchange 210", N: 1},
		{Reason: "too_small", N: 1}}, b.gate.Refused(1))
	require.Empty(t, b.gate.Refused(2))
}

func TestMarketsNobodyKnowsAreRefused(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	for _, id := range []market.ID{2, 65535} {
		c := limit(buy, btc, 100*at1)
		c.Order.Market = id
		b.refused(c, risk.ReasonUnknownMarket)
	}
	c := limit(buy, btc, 100*at1)
	c.Order.Market = 0
	b.refused(c, risk.ReasonUnknownMarket)
}

func TestCancelsAlwaysPass(t *testing.T) {
	b := newBench(t, risk.Limits{OrdersPerMinute: 1, ReduceOnly: true}, risk.AccountLimits{})
	b.gate.Halt(1)
	for id := range market.OrderID(5) {
		b.passes(market.Command{Kind: market.CommandCancel, Order: market.Order{ID: id, Market: 1}})
	}
	require.Empty(t, b.gate.Refused(1))
}

func TestUpdatesAreCheckedByTheirDifference(t *testing.T) {
	b := newBench(t, risk.Limits{MaxPosition: 500 * eur, MaxOrderValue: 400 * eur},
		risk.AccountLimits{MaxExposure: 1600 * eur})
	first := b.sent(limit(buy, 2*btc, 90*at1))
	amount := func(q market.Qty) market.Command {
		return update(first.ID, market.ChangeAmount, market.OrderState{Amount: q})
	}
	b.passes(amount(4 * btc))
	b.refused(amount(5*btc), risk.ReasonMaxOrderValue)
	b.sent(limit(buy, 2*btc, 90*at1))
	b.passes(amount(3 * btc)) // 2 + 2 + 1 more
	b.refused(amount(3*btc+10_000), risk.ReasonMaxPosition)
	b.passes(amount(btc))
	require.Equal(t, market.Money(360*eur), b.hold(first.ID, 4*btc)) // what it will hold, whole
}

// hold is what the gate says an order will hold with another amount.
func (b *bench) hold(id market.OrderID, amount market.Qty) market.Money {
	b.t.Helper()
	o := b.account.Own(id)
	free := risk.New(b.account.Catalog(), risk.Config{Strategies: make([]risk.Limits, 2)})
	c := update(o.ID, market.ChangeAmount, market.OrderState{Amount: amount})
	c.Order.Strategy = o.Strategy
	approved, err := free.Check(b.account, &c)
	require.NoError(b.t, err)
	return approved.Hold()
}

func TestAnUpdateMayUseWhatItsOrderHolds(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	o := b.sent(limit(market.Sell, 9*btc, 110*at1))
	b.passes(update(o.ID, market.ChangeAmount, market.OrderState{Amount: 10 * btc}))
	refusal := b.refused(update(o.ID, market.ChangeAmount, market.OrderState{Amount: 10*btc + 10_000}),
		risk.ReasonExchange)
	require.Equal(t, exchange.CodeInsufficientBalance, refusal.Code)
}

func TestAnUpdateThatAddsIsAnOpeningOrder(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	o := b.sent(limit(buy, 2*btc, 90*at1))
	stop := b.sent(place(market.Order{Type: market.TypeStopLoss, Side: buy,
		OrderState: market.OrderState{AmountQuote: 100 * eur, TriggerAmount: 120 * at1}}))
	b.gate = risk.New(b.account.Catalog(), risk.Config{Strategies: []risk.Limits{{ReduceOnly: true}}})
	b.refused(update(o.ID, market.ChangeAmount, market.OrderState{Amount: 3 * btc}), risk.ReasonReduceOnly)
	b.refused(update(stop.ID, market.ChangeAmountQuote, market.OrderState{AmountQuote: 101 * eur}),
		risk.ReasonReduceOnly)
	b.passes(update(o.ID, market.ChangeAmount, market.OrderState{Amount: btc}))
	b.passes(update(o.ID, market.ChangePrice, market.OrderState{Price: 80 * at1}))
	b.passes(update(stop.ID, market.ChangeAmountQuote, market.OrderState{AmountQuote: 99 * eur}))
}

func TestAnUpdateThatAddsNothingIsNotStoppedByTheOrdersValue(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	stop := b.sent(trigger(market.TypeStopLoss, market.Sell, 2*btc, 90*at1))
	b.gate = risk.New(b.account.Catalog(), risk.Config{Strategies: []risk.Limits{{MaxOrderValue: 190 * eur}}})
	// a stop may always trail
	b.passes(update(stop.ID, market.ChangeTriggerAmount, market.OrderState{TriggerAmount: 99 * at1}))
	b.refused(trigger(market.TypeStopLoss, market.Sell, 2*btc, 99*at1), risk.ReasonMaxOrderValue)
}

func TestUpdatesAreRoundedLikeOrders(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	bid := b.sent(limit(buy, 2*btc, 90*at1))
	ask := b.sent(limit(market.Sell, 2*btc, 110*at1))
	require.Equal(t, market.Price(90_95),
		b.passes(update(bid.ID, market.ChangePrice, market.OrderState{Price: 90_99})).Order.Price)
	require.Equal(t, market.Price(111_05),
		b.passes(update(ask.ID, market.ChangePrice, market.OrderState{Price: 111_01})).Order.Price)
	require.Equal(t, market.Qty(3*btc),
		b.passes(update(bid.ID, market.ChangeAmount, market.OrderState{Amount: 3*btc + 9_999})).Order.Amount)
}

func TestUpdatesNeedAnOwnOrderWithNothingInFlight(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	other := limit(buy, btc, 90*at1)
	other.Order.Strategy = 2
	foreign := b.sent(other)
	b.refused(update(foreign.ID, market.ChangePrice, market.OrderState{Price: 80 * at1}), risk.ReasonNoSuchOrder)
	b.refused(update(99, market.ChangePrice, market.OrderState{Price: 80 * at1}), risk.ReasonNoSuchOrder)
	o := b.sent(limit(buy, btc, 90*at1))
	b.account.SendUpdate(o, o.OnHold)
	b.refused(update(o.ID, market.ChangePrice, market.OrderState{Price: 80 * at1}), risk.ReasonInFlight)
}

func TestExitsOfABracketAreAskedOnlyForTheExchangesRules(t *testing.T) {
	b := newBench(t, risk.Limits{MaxOpenOrders: 1, MaxOrderValue: 10 * eur, PriceCollar: 1, OrdersPerMinute: 1,
		ReduceOnly: true}, risk.AccountLimits{MaxExposure: 1})
	b.gate.Halt(1)
	for range 3 {
		b.sent(attached(trigger(market.TypeStopLoss, market.Sell, btc, 90*at1)))
	}
	o := b.sent(attached(limit(market.Sell, btc, 50*at1)))
	b.passes(attached(update(o.ID, market.ChangeAmount, market.OrderState{Amount: 2 * btc})))
	require.Equal(t, exchange.CodeInsufficientBalance,
		b.refused(attached(limit(market.Sell, 9*btc, 50*at1)), risk.ReasonExchange).Code)
	b.gate.Resume(1)
	b.refused(limit(market.Sell, btc/20, 110*at1), risk.ReasonMaxOpenOrders) // the minute is not used up
}

func TestGroupAndOperatorAreGivenWhereTheExchangeTakesThem(t *testing.T) {
	b := newBench(t, risk.Limits{OperatorID: 77, CodGroupID: 5}, risk.AccountLimits{})
	require.Equal(t, uint16(5), b.passes(limit(buy, btc, 90*at1)).Order.CodGroupID)
	require.Equal(t, uint16(5), b.passes(trigger(market.TypeStopLoss, market.Sell, btc, 90*at1)).Order.CodGroupID)
	o := b.passes(atMarket(buy, btc)).Order
	require.Zero(t, o.CodGroupID) // a market order never rests
	exit := trigger(market.TypeStopLoss, market.Sell, btc, 90*at1)
	exit.Attached = true
	require.Zero(t, b.passes(exit).Order.CodGroupID, "the exit of a bracket is to outlive a dead bot")
	require.Equal(t, int64(77), o.OperatorID)
	own := limit(buy, btc, 90*at1)
	own.Order.CodGroupID = 9
	require.Equal(t, uint16(9), b.passes(own).Order.CodGroupID)
}

func TestARefusalIsValidUntilTheNextAsk(t *testing.T) {
	b := newBench(t, risk.Limits{}, risk.AccountLimits{})
	ask := func(c market.Command) error {
		c.Order.Strategy = 1
		_, err := b.gate.Check(b.account, &c)
		return err
	}
	first := ask(limit(buy, 1, 100*at1))
	require.EqualError(t, first, "refused: too_small: nothing is left of the amount after rounding to 0.0001; "+
		"the minimum is 0.0001, or 5 in quote")
	second := ask(limit(buy, 200*btc, 100*at1))
	require.Same(t, first, second) // reused: copy what is needed longer
	small, large := limit(buy, 1, 100*at1), limit(buy, 200*btc, 100*at1)
	small.Order.Strategy, large.Order.Strategy = 1, 1
	allocs := testing.AllocsPerRun(100, func() {
		s := small
		if _, err := b.gate.Check(b.account, &s); err == nil {
			t.Fatal("passed")
		}
	})
	require.LessOrEqual(t, allocs, 1.0) // the command itself, which the gate's answer keeps
}

func TestRefusalsSayValueAndLimit(t *testing.T) {
	require.Equal(t, "refused: max_position (3, limit 2)",
		(&risk.Refusal{Reason: risk.ReasonMaxPosition, Have: 3, Limit: 2}).Error())
	require.Equal(t, "refused: halted", (&risk.Refusal{Reason: risk.ReasonHalted}).Error())
	require.Equal(t, "reason(200)", risk.Reason(200).String())
	for r := risk.ReasonExchange; r <= risk.ReasonDrawdown; r++ {
		require.NotEmpty(t, r.String())
		require.NotContains(t, r.String(), "(")
	}
}

// A Close is checked before the exits that hold its base are cancelled.
func TestACloseIsCheckedWithoutTheBalanceAndCountsAsAnOrder(t *testing.T) {
	b := newBench(t, risk.Limits{OrdersPerMinute: 1, ReduceOnly: true, MaxOrderValue: eur}, risk.AccountLimits{})
	sale := func(amount market.Qty) *market.Command {
		c := place(market.Order{Market: 1, Strategy: 1, Side: market.Sell, Type: market.TypeMarket,
			OrderState: market.OrderState{Amount: amount, TimeInForce: market.GTC}})
		c.At = b.now
		return &c
	}
	var why *risk.Refusal
	require.ErrorAs(t, b.gate.CheckClose(b.account, sale(10_000), false), &why)
	require.Equal(t, exchange.CodeMinQuote, why.Code)
	require.True(t, why.Dust())
	require.ErrorAs(t, b.gate.CheckClose(b.account, sale(9_999), false), &why)
	require.True(t, why.Dust())
	b.gate.Halt(1)
	require.NoError(t, b.gate.CheckClose(b.account, sale(99*btc), false), "more than is free, of a halted strategy")
	require.ErrorAs(t, b.gate.CheckClose(b.account, sale(btc), false), &why)
	require.Equal(t, risk.ReasonOrdersPerMinute, why.Reason)
	b.now += 60 * second
	require.NoError(t, b.gate.CheckClose(b.account, sale(9_999), true), "dust, of a Close of all")
	b.now += 60 * second
	b.m.Status = market.Auction
	require.ErrorAs(t, b.gate.CheckClose(b.account, sale(btc), true), &why)
	require.Equal(t, exchange.CodeAuction, why.Code)
	b.gate.WarmUp(1, 1, 0, 0)
	require.ErrorAs(t, b.gate.CheckClose(b.account, sale(btc), true), &why)
	require.Equal(t, risk.ReasonWarmUp, why.Reason)
}
