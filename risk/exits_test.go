package risk_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// exitsRig is a market at 100 EUR with a tick of 0.05, a minimum of 5 EUR and 0.0001 BTC, and fees
// of 0.25 %.
type exitsRig struct {
	m       *market.Market
	account *state.Account
	gate    *risk.Gate
}

func newExitsRig(t *testing.T, spread exchange.Spread) *exitsRig {
	c := &market.Catalog{}
	_, err := c.AddAsset("EUR", 2)
	require.NoError(t, err)
	_, err = c.AddAsset("BTC", 8)
	require.NoError(t, err)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2,
		Rules: market.Rules{TickSize: 5, QuantityDecimals: 8, NotionalDecimals: 2, MinOrderInBase: 10_000,
			MinOrderInQuote: 500,
			MaxOrderInBase:  50 * btc, MaxOrderInQuote: 6_000_00}}
	require.NoError(t, c.AddMarket(m))
	r := &exitsRig{m: m, account: state.NewAccount(c, 1, nil)}
	r.gate = risk.New(c, risk.Config{Strategies: make([]risk.Limits, 2), Spread: spread,
		Fees: func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} }})
	for _, ev := range []market.Event{
		{Kind: market.KindTransfer, At: 1, Asset: 1, Money: 1_000_000_00},
		{Kind: market.KindTrade, At: 1, Trade: &market.Trade{Market: 1, Price: 100_00, Amount: btc}},
	} {
		_, err = r.account.Apply(&ev)
		require.NoError(t, err)
	}
	return r
}

// ask returns what the gate says of an order, "" where it passes.
func (r *exitsRig) ask(o market.Order) string {
	o.Market, o.Strategy, o.TimeInForce = 1, 1, market.GTC
	if o.Side == 0 {
		o.Side = market.Buy
	}
	_, err := r.gate.Check(r.account, &market.Command{Kind: market.CommandPlace, At: 2, Order: o})
	if err != nil {
		return err.Error()
	}
	return ""
}

func exits(stop, target market.Price) market.Bracket {
	return market.Bracket{Stop: stop, Target: target}
}

func TestExitsAreCheckedWithTheirEntryAtItsWorstPrice(t *testing.T) {
	const fiveNineteen = 5_190_000 // BTC for 5.19 EUR at 100
	keep := market.Bracket{Stop: 90_00, Target: 110_00, Keep: market.KeepTarget}
	for _, c := range []struct {
		name string
		ask  market.Order
		want string
	}{
		{"a sound bracket", market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: btc},
			Bracket: exits(90_00, 110_00)}, ""},
		{"5.19 EUR with a stop 10 % below",
			market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: fiveNineteen},
				Bracket: exits(90_00, 110_00)}, "refused: stop: 4.67 EUR is below the minimum of 5"},
		{"the same where the target rests first",
			market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: fiveNineteen},
				Bracket: keep}, "refused: stop: 4.67 EUR is below the minimum of 5"},
		{"the same with a target alone",
			market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: fiveNineteen},
				Bracket: exits(0, 110_00)}, ""},
		{"a limit entry below the minimum at its stop",
			market.Order{Type: market.TypeLimit, OrderState: market.OrderState{Amount: fiveNineteen, Price: 97_00},
				Bracket: exits(90_00, 0)}, "refused: stop: 4.67 EUR is below the minimum of 5"},
		{"by amountQuote, the fee taken from it",
			market.Order{Type: market.TypeMarket, OrderState: market.OrderState{AmountQuote: 5_56},
				Bracket: exits(90_00, 0)}, "refused: stop: 4.99 EUR is below the minimum of 5"},
		{"by amountQuote, enough",
			market.Order{Type: market.TypeMarket, OrderState: market.OrderState{AmountQuote: 5_58},
				Bracket: exits(90_00, 0)}, ""},
		{"a target worth more than the largest order",
			market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: 50 * btc},
				Bracket: exits(90_00, 130_00)}, "refused: target: 6500 EUR is above the maximum of 6000"},
		{"a negative stop", market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: btc},
			Bracket: exits(-1, 110_00)}, "refused: stop: -0.01 is not above 0"},
		{"a stop below zero", market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: btc},
			Bracket: exits(-1_00, 110_00)}, "refused: stop: -1 is not above 0"},
		{"a target below zero", market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: btc},
			Bracket: exits(90_00, -1_00)}, "refused: target: -1 is not above 0"},
		{"a target beyond any price", market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: btc},
			Bracket: exits(90_00, 1<<62)},
			"refused: target: 46116860184273879.05 is above the highest price of any market"},
		{"a stop at the price", market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: btc},
			Bracket: exits(100_00, 110_00)}, "refused: stop: 100 is not below 100, the price of the entry"},
		{"a stop that the tick brings to the price",
			market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: btc},
				Bracket: exits(99_96, 110_00)}, "refused: stop: 100 is not below 100, the price of the entry"},
		{"a target at the price", market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: btc},
			Bracket: exits(90_00, 100_00)}, "refused: target: 100 is not above 100, the worst price of the entry"},
		{"the two in each other's place",
			market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: btc},
				Bracket: exits(110_00, 90_00)}, "refused: stop: 110 is not below 100, the price of the entry"},
		{"a stop above a limit below the market",
			market.Order{Type: market.TypeLimit, OrderState: market.OrderState{Amount: btc, Price: 80_00},
				Bracket: exits(85_00, 110_00)}, "refused: stop: 85 is not below 80, the price of the entry"},
		{"a target between a limit and the market",
			market.Order{Type: market.TypeLimit, OrderState: market.OrderState{Amount: btc, Price: 80_00},
				Bracket: exits(70_00, 90_00)}, ""},
		{"a stop below a limit through the market, above the market",
			market.Order{Type: market.TypeLimit, OrderState: market.OrderState{Amount: btc, Price: 105_00},
				Bracket: exits(102_00, 120_00)}, "refused: stop: 102 is not below 100, the price of the entry"},
		{"a target below the worst price of such a limit",
			market.Order{Type: market.TypeLimit, OrderState: market.OrderState{Amount: btc, Price: 105_00},
				Bracket: exits(90_00, 104_00)}, "refused: target: 104 is not above 105, the worst price of the entry"},
		{"a stop entry, its exits around the trigger",
			market.Order{Type: market.TypeStopLoss, OrderState: market.OrderState{Amount: btc, TriggerAmount: 120_00},
				Bracket: exits(110_00, 130_00)}, ""},
		{"a stop entry, its stop above the trigger",
			market.Order{Type: market.TypeStopLoss, OrderState: market.OrderState{Amount: btc, TriggerAmount: 120_00},
				Bracket: exits(121_00, 130_00)}, "refused: stop: 121 is not below 120, the price of the entry"},
		{"a stop entry, its target below the trigger",
			market.Order{Type: market.TypeStopLoss, OrderState: market.OrderState{Amount: btc, TriggerAmount: 120_00},
				Bracket: exits(110_00, 115_00)}, "refused: target: 115 is not above 120, the worst price of the entry"},
		{"a stop-limit entry pays its limit at worst",
			market.Order{Type: market.TypeStopLossLimit,
				OrderState: market.OrderState{Amount: btc, TriggerAmount: 120_00, Price: 125_00}, Bracket: exits(110_00,
					124_00)}, "refused: target: 124 is not above 125, the worst price of the entry"},
		{"a take-profit entry below the market",
			market.Order{Type: market.TypeTakeProfit, OrderState: market.OrderState{Amount: btc, TriggerAmount: 80_00},
				Bracket: exits(85_00, 95_00)}, "refused: stop: 85 is not below 80, the price of the entry"},
		{"a sell with exits", market.Order{Type: market.TypeLimit, Side: market.Sell,
			OrderState: market.OrderState{Amount: btc, Price: 120_00}, Bracket: exits(90_00, 0)},
			"refused: nothing_to_sell: the strategy has no position in the market"},
		{"no exits at all", market.Order{Type: market.TypeMarket, OrderState: market.OrderState{Amount: fiveNineteen},
			Bracket: market.Bracket{Keep: market.KeepTarget}}, ""},
	} {
		require.Equal(t, c.want, newExitsRig(t, exchange.Spread{}).ask(c.ask), c.name)
	}
}

func TestAMarketEntryIsHeldAgainstTheTouchAndTheSpread(t *testing.T) {
	entry := market.Order{Type: market.TypeMarket,
		OrderState: market.OrderState{Amount: btc}, Bracket: exits(90_00, 101_00)}
	require.Empty(t, newExitsRig(t, exchange.Spread{}).ask(entry))
	require.Equal(t, "refused: target: 101 is not above 102, the worst price of the entry",
		newExitsRig(t, exchange.Spread{Half: 1_000_000, Slippage: 990_000}).ask(entry))
	r := newExitsRig(t, exchange.Spread{})
	_, err := r.account.Apply(&market.Event{Kind: market.KindTicker, At: 2,
		Ticker: &market.Ticker{Market: 1, Last: 100_00, Bid: 99_00, Ask: 101_00}})
	require.NoError(t, err)
	require.Equal(t, "refused: target: 101 is not above 101, the worst price of the entry", r.ask(entry))
}

func TestARefusedLevelSaysItsValuesAndIsCounted(t *testing.T) {
	r := newExitsRig(t, exchange.Spread{})
	_, err := r.gate.Check(r.account,
		&market.Command{Kind: market.CommandPlace, At: 2, Order: market.Order{Market: 1, Strategy: 1, Side: market.Buy,
			Type: market.TypeMarket, OrderState: market.OrderState{TimeInForce: market.GTC,
				Amount: 5_190_000}, Bracket: exits(90_00, 0)}})
	var why *risk.Refusal
	require.True(t, errors.As(err, &why))
	have, limit := why.Values(r.m, nil)
	require.Equal(t, []string{"stop", "4.67 EUR", "5", "4.67 EUR is below the minimum of 5"},
		[]string{why.Word(), have, limit, why.Words(r.m, nil)})
	require.Equal(t, []risk.Count{{Reason: "stop", N: 1}}, r.gate.Refused(1))
}

// Levels that move are held against the market, and against nothing else where they stay.
func TestMovedLevelsMayPassTheEntryAndNeverTheMarket(t *testing.T) {
	stands := exits(90_00, 110_00)
	for _, c := range []struct {
		name   string
		x      risk.Exits
		levels market.Bracket
		want   string
	}{
		{"trailed to just below the market", risk.Exits{Amount: btc}, exits(99_95, 110_00), ""},
		{"to the market", risk.Exits{Amount: btc}, exits(100_00, 110_00),
			"refused: stop: 100 is not below 100, the latest price"},
		{"a target at the market", risk.Exits{Amount: btc}, exits(90_00, 100_00),
			"refused: target: 100 is not above 100, the latest price"},
		{"a level that stays is not held against it", risk.Exits{Amount: btc, Current: exits(101_00, 99_00)},
			exits(101_00, 120_00), ""},
		{"too little at the new stop", risk.Exits{Amount: 5_190_000}, exits(80_00, 110_00),
			"refused: stop: 4.15 EUR is below the minimum of 5"},
		{"the stop is left out", risk.Exits{Amount: btc}, exits(0, 120_00), ""},
		{"both are left out", risk.Exits{Amount: btc}, exits(0, 0),
			"refused: stop: neither stop nor target is left; Cancel ends the bracket"},
		{"a stop above the target", risk.Exits{Amount: btc, Passed: true}, exits(120_00, 115_00),
			"refused: stop: 120 is not below the target 115"},
	} {
		r := newExitsRig(t, exchange.Spread{})
		x := c.x
		x.Strategy, x.Market, x.Levels = 1, 1, c.levels
		if x.Current == (market.Bracket{}) {
			x.Current = stands
		}
		got := ""
		if err := r.gate.CheckExits(r.account, &x); err != nil {
			got = err.Error()
		}
		require.Equal(t, c.want, got, c.name)
	}
}
