package exchange_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// price is an update to another price.
func price(p market.Price) *market.Command {
	to := setting(market.ChangePrice, market.OrderState{Price: p})
	to.Order.ID = 1
	return to
}

func setting(set market.Change, to market.OrderState) *market.Command {
	return &market.Command{Kind: market.CommandUpdate, Changed: set, Order: market.Order{OrderState: to}}
}

func TestUpdatesAreRefusedWithTheExchangesCode(t *testing.T) {
	stop, fired := typed(market.TypeStopLoss), typed(market.TypeStopLossLimit)
	fired.Triggered = true
	partly := limit()
	partly.FilledAmount, partly.AmountRemaining = 6e7, 4e7
	byQuote := quoted(typed(market.TypeStopLoss), 50_00)
	cases := []struct {
		name   string
		old    market.Order
		update *market.Command
		code   int
	}{
		{"nothing changed", limit(), setting(0, market.OrderState{}), 232},
		{"a market order", typed(market.TypeMarket), price(99_00), 234},
		{"an order that is done", with(limit(), func(o *market.Order) { o.Status = market.StatusFilled }), price(99_00),
			240},
		{"amount and amountRemaining", limit(), setting(market.ChangeAmount|market.ChangeAmountRemaining,
			market.OrderState{Amount: 2e8, AmountRemaining: 2e8}), 236},
		{"amount and amountQuote", stop,
			setting(market.ChangeAmount|market.ChangeAmountQuote,
				market.OrderState{Amount: 2e8, AmountQuote: 60_00}), 236},
		{"from amount to amountQuote", stop, setting(market.ChangeAmountQuote, market.OrderState{AmountQuote: 60_00}),
			239},
		{"from amountQuote to amount", byQuote, setting(market.ChangeAmount, market.OrderState{Amount: 1e8}), 239},
		{"amountQuote after the trigger", with(byQuote, func(o *market.Order) { o.Triggered = true }),
			setting(market.ChangeAmountQuote, market.OrderState{AmountQuote: 60_00}), 202},
		{"the trigger of a limit order", limit(),
			setting(market.ChangeTriggerAmount, market.OrderState{TriggerAmount: 99_00}), 202},
		{"the trigger after it has fired", fired,
			setting(market.ChangeTriggerAmount, market.OrderState{TriggerAmount: 99_00}), 202},
		{"timeInForce after the trigger", fired,
			setting(market.ChangeTimeInForce, market.OrderState{TimeInForce: market.IOC}), 202},
		{"the price of a stop", stop, price(99_00), 202},
		{"post-only of a stop", stop, setting(market.ChangePostOnly, market.OrderState{PostOnly: true}), 202},
		{"an amount that is filled already", partly, setting(market.ChangeAmount, market.OrderState{Amount: 6e7}), 205},
		{"an amount below what is filled", partly, setting(market.ChangeAmount, market.OrderState{Amount: 5e7}), 205},
		{"nothing remaining", partly, setting(market.ChangeAmountRemaining, market.OrderState{}), 205},
		{"no amount", limit(), setting(market.ChangeAmount, market.OrderState{}), 203},
		{"a price between ticks", limit(), price(99_99), 422},
		{"a trigger between ticks", stop, setting(market.ChangeTriggerAmount, market.OrderState{TriggerAmount: 99_99}),
			422},
		{"a fourth decimal of amount", limit(), setting(market.ChangeAmount, market.OrderState{Amount: 1.0001e8}), 429},
		{"a rest below the smallest base", partly, setting(market.ChangeAmount, market.OrderState{Amount: 6.1e7 - 1e5}),
			212},
		{"a rest below the smallest value", partly, setting(market.ChangeAmount, market.OrderState{Amount: 6.4e7}),
			217},
		{"more than the largest base", limit(), setting(market.ChangeAmount, market.OrderState{Amount: 51e8}), 210},
		{"a price above that of any market", sized(limit(), 1e6), price(100_000_000_000_50), 211},
		{"more than the balance", limit(), price(3_000_00), 216},
	}
	for _, c := range cases {
		facts := exchange.Facts{Reference: 100_00, Available: 2_000_00}
		if c.code == 210 || c.code == 211 {
			facts = plenty()
		}
		changed := market.Order{}
		require.Equal(t, c.code, code(exchange.CheckUpdate(ruled(t), &c.old, c.update, &facts, &changed)), c.name)
	}
}

// What an update leaves behind: amount and amountRemaining move together, everything else stays.
func TestUpdatesChangeWhatTheyName(t *testing.T) {
	partly := limit()
	partly.FilledAmount, partly.AmountRemaining, partly.Created = 6e7, 4e7, 7
	byQuote := quoted(typed(market.TypeStopLoss), 50_00)
	cases := []struct {
		name   string
		old    market.Order
		update *market.Command
		want   func(*market.Order)
	}{
		{"amount", partly, setting(market.ChangeAmount, market.OrderState{Amount: 2e8}),
			func(o *market.Order) { o.Amount, o.AmountRemaining, o.OnHold = 2e8, 1.4e8, 140_00 }},
		{"amountRemaining", partly, setting(market.ChangeAmountRemaining, market.OrderState{AmountRemaining: 2e8}),
			func(o *market.Order) { o.Amount, o.AmountRemaining, o.OnHold = 2.6e8, 2e8, 200_00 }},
		{"price", partly, price(50_00), func(o *market.Order) { o.Price, o.OnHold = 50_00, 20_00 }},
		{"amountQuote", byQuote, setting(market.ChangeAmountQuote, market.OrderState{AmountQuote: 70_00}),
			func(o *market.Order) { o.AmountQuote, o.AmountQuoteRemaining, o.OnHold = 70_00, 70_00, 70_00 }},
		{"trigger", byQuote, setting(market.ChangeTriggerAmount, market.OrderState{TriggerAmount: 120_00}),
			func(o *market.Order) { o.TriggerAmount, o.OnHold = 120_00, 50_00 }},
		{"timeInForce", limit(), setting(market.ChangeTimeInForce, market.OrderState{TimeInForce: market.IOC}),
			func(o *market.Order) { o.TimeInForce, o.OnHold = market.IOC, 100_00 }},
		{"postOnly", limit(), setting(market.ChangePostOnly, market.OrderState{PostOnly: true}),
			func(o *market.Order) { o.PostOnly, o.OnHold = true, 100_00 }},
		{"selfTradePrevention", limit(),
			setting(market.ChangeSelfTradePrevention,
				market.OrderState{SelfTradePrevention: market.CancelBoth}),
			func(o *market.Order) { o.SelfTradePrevention, o.OnHold = market.CancelBoth, 100_00 }},
	}
	for _, c := range cases {
		facts, changed := plenty(), market.Order{}
		require.Nil(t, exchange.CheckUpdate(ruled(t), &c.old, c.update, &facts, &changed), c.name)
		want := c.old
		c.want(&want)
		require.Equal(t, want, changed, c.name)
	}
}
