package verify_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine/verify"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// The example is a buy of 0.0011 BTC at 40,000 in a market that stands at 39,900 to 40,100, with a
// fee of 0.25 %.
const began = market.Time(1_700_000_000_000_000_000)

func example(t *testing.T) (*verify.Check, *verify.OwnOrder, *exchange.WireOrder) {
	catalog := &market.Catalog{}
	_, err := catalog.AddAsset("EUR", 2)
	require.NoError(t, err)
	_, err = catalog.AddAsset("BTC", 8)
	require.NoError(t, err)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2,
		TickSize: 1}}
	require.NoError(t, catalog.AddMarket(m))
	check := &verify.Check{Catalog: catalog, Market: m, Fees: exchange.Fees{Maker: 150_000, Taker: 250_000},
		Now:    began.Add(time.Minute),
		Prices: func(market.Time) verify.Prices { return verify.Prices{Low: 3_990_000, High: 4_010_000} },
		FillOf: func(id uuid.UUID) market.OrderID { return map[uuid.UUID]market.OrderID{{5}: 4, {8}: 3}[id] },
		OrderOf: func(id uuid.UUID) market.OrderID {
			return map[uuid.UUID]market.OrderID{{6}: 4}[id]
		}}
	own := market.Order{ID: 3, ClientOrderID: uuid.UUID{1}, Market: 1, Strategy: 1, Side: market.Buy,
		Type: market.TypeLimit, OrderState: market.OrderState{TimeInForce: market.GTC,
			SelfTradePrevention: market.DecrementAndCancel, Price: 4_000_000, Amount: 110_000,
			AmountRemaining: 110_000},
		Created: began}
	record := &exchange.WireOrder{Order: own}
	record.Order.ID, record.Order.ExchangeID, record.Order.Status = 0, uuid.UUID{2}, market.StatusFilled
	record.Order.FilledAmount, record.Order.AmountRemaining = 110_000, 0
	record.Order.FilledAmountQuote, record.Order.FeePaid = market.ValueOf(4_000_000*110_000), market.ValueOf(11*1e8)
	record.Order.Updated = began.Add(time.Second)
	record.Fills = []market.Fill{{ID: uuid.UUID{3}, Market: 1, Side: market.Buy, Taker: true, Settled: true,
		FeeCurrency: 1, Price: 4_000_000, Amount: 110_000,
		Fee: market.ValueOf(11 * 1e8), Time: began.Add(time.Second)}}
	return check, &verify.OwnOrder{Order: &own}, record
}

// million is 1,000,000 EUR at ten decimals.
var million = []market.Value{must(market.ValueOf(1e8).ScaleUp(8))}

func TestEachRuleHasAnAnswerThatBreaksIt(t *testing.T) {
	type told = exchange.WireOrder
	for name, c := range map[string]struct {
		rule verify.Rule // empty: the answer holds
		tell func(o *verify.OwnOrder, r *told)
	}{
		"as sent": {"", func(*verify.OwnOrder, *told) {}},
		"a fill of 0.5 for a buy of 0.0011": {verify.RuleFilled,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].Amount = 50_000_000 }},
		"price 0": {verify.RuleFillPrice,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].Price = 0 }},
		"ten times the limit of a buy": {verify.RuleFillPrice,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].Price *= 10 }},
		"a tick above the limit": {verify.RuleFillPrice,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].Price++ }},
		"a tenth of the market's price": {verify.RuleFillPrice,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].Price /= 10 }},
		"a fee of a million": {verify.RuleFillFee,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].Fee = million[0] }},
		"a rebate of a million": {verify.RuleFillFee,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].Fee = million[0].Neg() }},
		"a fee in BTC": {verify.RuleFillCurrency,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].FeeCurrency = 2 }},
		"a fill id of another order": {verify.RuleFillID,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].ID = uuid.UUID{5} }},
		"a fill without an id": {verify.RuleFillID,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].ID = uuid.Nil }},
		"a fill of another market": {verify.RuleFillMarket,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].Market = 2 }},
		"a fill that sells": {verify.RuleFillSide,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].Side = market.Sell }},
		"a fill of nothing": {verify.RuleFillAmount,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].Amount = 0 }},
		"a fill before the order": {verify.RuleFillTime,
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].Time = began.Add(-time.Hour) }},
		"a fill in the future": {"",
			func(_ *verify.OwnOrder, r *told) { r.Fills[0].Time = began.Add(time.Hour) }},
		"an orderId that another order has": {verify.RuleOrderID,
			func(_ *verify.OwnOrder, r *told) { r.Order.ExchangeID = uuid.UUID{6} }},
		"another orderId than before": {verify.RuleOrderID,
			func(o *verify.OwnOrder, _ *told) { o.ExchangeID = uuid.UUID{9} }},
		"another clientOrderId": {verify.RuleClientOrderID,
			func(_ *verify.OwnOrder, r *told) { r.Order.ClientOrderID = uuid.UUID{9} }},
		"another market": {verify.RuleMarket, func(_ *verify.OwnOrder, r *told) { r.Order.Market = 0 }},
		"a sell": {verify.RuleSide,
			func(_ *verify.OwnOrder, r *told) { r.Order.Side = market.Sell }},
		"a stop": {verify.RuleType,
			func(_ *verify.OwnOrder, r *told) { r.Order.Type = market.TypeStopLossLimit }},
		"another limit": {verify.RulePrice, func(_ *verify.OwnOrder, r *told) { r.Order.Price++ }},
		"another time in force": {verify.RuleTimeInForce,
			func(_ *verify.OwnOrder, r *told) { r.Order.TimeInForce = market.IOC }},
		"post-only": {verify.RulePostOnly,
			func(_ *verify.OwnOrder, r *told) { r.Order.PostOnly = true }},
		"another self-trade prevention": {verify.RuleSelfTrade,
			func(_ *verify.OwnOrder, r *told) { r.Order.SelfTradePrevention = market.CancelBoth }},
		"a larger amount": {verify.RuleAmount, func(_ *verify.OwnOrder, r *told) { r.Order.Amount++ }},
		"filled with something left": {verify.RuleStatus, func(_ *verify.OwnOrder, r *told) {
			r.Order.Amount, r.Order.RestatementReason = 110_001, 1
			r.Order.Amount = 109_999
		}},
		"open with nothing left": {verify.RuleStatus,
			func(_ *verify.OwnOrder, r *told) { r.Order.Status = market.StatusPartiallyFilled }},
		"waiting for a trigger that there is not": {verify.RuleStatus,
			func(_ *verify.OwnOrder, r *told) { r.Order.Status = market.StatusAwaitingTrigger }},
		"a value that the fills do not have": {verify.RuleFilledQuote,
			func(_ *verify.OwnOrder, r *told) { r.Order.FilledAmountQuote = million[0] }},
		"fees that the fills do not have": {verify.RuleFeePaid,
			func(_ *verify.OwnOrder, r *told) { r.Order.FeePaid = million[0] }},
		"the fee of the order in BTC": {verify.RuleFeeCurrency,
			func(_ *verify.OwnOrder, r *told) { r.Order.FeeCurrency = 2 }},
		"a hold in BTC": {verify.RuleHoldCurrency,
			func(_ *verify.OwnOrder, r *told) { r.Order.OnHoldCurrency = 2 }},
		"an update in the future": {"",
			func(_ *verify.OwnOrder, r *told) { r.Order.Updated = began.Add(time.Hour) }},
		"a fill that changes its price": {verify.RuleFillChanged,
			func(o *verify.OwnOrder, r *told) { o.Fills, o.Counted = r.Fills, 110_000; r.Fills = lower(r.Fills) }},
		"a fill that loses its fee": {"", func(o *verify.OwnOrder, r *told) {
			o.Fills, o.Counted = r.Fills,
				110_000
			r.Fills = unsettle(r.Fills)
		}},
		"a fee that comes late": {"",
			func(o *verify.OwnOrder, r *told) { o.Fills, o.Counted = unsettle(r.Fills), 110_000 }},
		"a late fee of a million": {verify.RuleFillFee, func(o *verify.OwnOrder, r *told) {
			o.Fills, o.Counted = unsettle(r.Fills), 110_000
			r.Fills[0].Fee = million[0]
		}},
		"a fill booked by an earlier process": {"",
			func(o *verify.OwnOrder, r *told) { o.Counted = 110_000; r.Fills[0].ID = uuid.UUID{8} }},
		"a fee as far as rounding goes": {"", func(_ *verify.OwnOrder, r *told) {
			r.Fills[0].Fee = market.ValueOf(111e7)
			r.Order.FeePaid = market.ValueOf(111e7)
		}},
		"more fills than steps": {verify.RuleFillCount, func(_ *verify.OwnOrder, r *told) {
			for i := range 110_001 {
				r.Fills = append(r.Fills, market.Fill{ID: uuid.UUID{9, byte(i), byte(i >> 8), byte(i >> 16)}, Market: 1,
					Side: market.Buy, Price: 4_000_000, Amount: 0, Time: began})
			}
		}},
		"canceled with less than was known": {verify.RuleFilled, func(o *verify.OwnOrder, r *told) {
			o.FilledAmount, o.Updated = 110_000, began
			r.Order.Status, r.Fills, r.Order.FilledAmount, r.Order.FilledAmountQuote,
				r.Order.FeePaid = market.StatusCanceled, nil, 0, market.Value{}, market.Value{}
		}},
		"a better price": {"", func(_ *verify.OwnOrder, r *told) {
			r.Fills[0].Price, r.Order.FilledAmountQuote = 3_995_000, market.ValueOf(3_995_000*110_000)
		}},
		"fields left out": {"", func(_ *verify.OwnOrder, r *told) {
			r.Order.TimeInForce, r.Order.SelfTradePrevention, r.Order.FeeCurrency, r.Order.OnHoldCurrency,
				r.Order.Type = 0, 0, 0, 0, 0
		}},
		"sums without end": {verify.RuleRange, func(_ *verify.OwnOrder, r *told) {
			r.Fills = append(r.Fills, market.Fill{ID: uuid.UUID{4}, Market: 1, Side: market.Buy, Price: 1,
				Amount: math.MaxInt64, Time: began})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			check, own, record := example(t)
			c.tell(own, record)
			verdict := check.Record(own, 0, record)
			if c.rule == "" {
				require.Empty(t, verdict.Broken)
				require.True(t, verdict.Holds())
				return
			}
			var rules []verify.Rule
			for _, b := range verdict.Broken {
				rules = append(rules, b.Rule)
			}
			require.Contains(t, rules, c.rule)
		})
	}
}

func lower(fills []market.Fill) []market.Fill {
	f := fills[0]
	f.Price--
	return []market.Fill{f}
}

func unsettle(fills []market.Fill) []market.Fill {
	f := fills[0]
	f.Settled, f.Fee, f.FeeCurrency = false, market.Value{}, 0
	return []market.Fill{f}
}

// open is the example order resting with nothing filled.
func open(r *exchange.WireOrder) {
	r.Order.Status, r.Order.FilledAmount, r.Order.AmountRemaining, r.Fills = market.StatusNew, 0, 110_000, nil
	r.Order.FilledAmountQuote, r.Order.FeePaid, r.Order.OnHold = market.Value{}, market.Value{}, 4411
}

func TestAnOpenOrderHoldsWhatItsRestCosts(t *testing.T) {
	for hold, holds := range map[market.Money]bool{4411: true, 4400: true, 4420: false, 4000: false, 0: false,
		-1: false, math.MaxInt64: false} {
		check, own, record := example(t)
		open(record)
		record.Order.OnHold = hold
		require.Equal(t, holds, len(check.Record(own, 0, record).Broken) == 0, "%d", hold)
	}
}

func TestFilledAmountAboveTheFillsIsAReasonToAsk(t *testing.T) {
	check, own, record := example(t)
	record.Fills = nil
	verdict := check.Record(own, 0, record)
	require.Empty(t, verdict.Broken)
	require.True(t, verdict.Short)
}

func TestTheTermsOfAChangeUnderWayAreBelieved(t *testing.T) {
	for name, c := range map[string]struct {
		kind  market.CommandKind
		blind bool
		price market.Price
		holds bool
	}{
		"the query shows the new price":                  {0, false, 4_005_000, true},
		"the query shows the old price":                  {0, false, 4_000_000, true},
		"the query shows a third price":                  {0, false, 4_003_000, false},
		"the answer shows the new price":                 {market.CommandUpdate, false, 4_005_000, true},
		"the answer shows the old price":                 {market.CommandUpdate, false, 4_000_000, false},
		"the query shows what a process that died asked": {0, true, 4_003_000, true},
	} {
		check, own, record := example(t)
		open(record)
		changed := *own.Order
		changed.Price = 4_005_000
		own.Change = &verify.PendingUpdate{Order: changed, Unknown: c.blind}
		record.Order.Price = c.price
		record.Order.OnHold, _ = exchange.Cost(check.Market, c.price, 110_000, 250_000)
		require.Equal(t, c.holds, len(check.Record(own, c.kind, record).Broken) == 0, name)
	}
}

func TestAMarketOrderStaysNearTheKnownPrices(t *testing.T) {
	for name, c := range map[string]struct {
		price market.Price
		blind bool
		holds bool
	}{
		"in the book": {4_000_000, false, true}, "a fifth away": {4_800_000, false, true}, "a third away": {5_300_000,
			false, false},
		"a third away, seen by nobody": {5_300_000, true, true}, "ten times": {40_000_000, true,
			false}, "a tenth": {400_000, true, false},
	} {
		check, own, record := example(t)
		own.Type, own.Price, record.Order.Type, record.Order.Price = market.TypeMarket, 0, market.TypeMarket, 0
		check.Prices = func(market.Time) verify.Prices {
			return verify.Prices{Low: 3_990_000, High: 4_010_000,
				Approximate: c.blind}
		}
		record.Fills[0].Price, record.Order.FilledAmountQuote = c.price, must(check.Market.Value(c.price, 110_000))
		record.Fills[0].Fee, record.Order.FeePaid = market.Value{}, market.Value{}
		require.Equal(t, c.holds, check.Record(own, 0, record).Broken == nil, "%s: %v", name,
			check.Record(own, 0, record).Broken)
	}
}

func TestABuyOverAQuoteAmountPaysForTheStepThatItDoesNotGet(t *testing.T) {
	for name, c := range map[string]struct {
		fee   int64 // in cents
		holds bool
	}{"rate": {11, true}, "rate and a step": {412, true}, "more than a step": {425, false}} {
		check, own, record := example(t)
		check.Market.QuantityDecimals = 4 // a step is worth 4 EUR
		own.Type, own.Price, own.Amount, own.AmountQuote = market.TypeMarket, 0, 0, 6100
		record.Order.Type, record.Order.Amount, record.Order.AmountQuote = market.TypeMarket, 0, 6100
		record.Fills[0].Fee = market.ValueOf(c.fee * 1e8)
		record.Order.FeePaid = record.Fills[0].Fee
		require.Equal(t, c.holds, check.Record(own, 0, record).Broken == nil, "%s: %v", name,
			check.Record(own, 0, record).Broken)
	}
}

// The market's decimals may have been fewer when the order was filled: its amount shows how many.
func TestFewerDecimalsThanTheMarketHasMayExplainAFee(t *testing.T) {
	for name, c := range map[string]struct {
		amount market.Qty
		fee    int64 // in cents
		holds  bool
	}{
		"rate and a step of 4 decimals": {110_000, 412, true}, "more than that": {110_000, 425, false},
		"an amount of 8 decimals":           {110_001, 412, false},
		"a whole coin has a step of a coin": {1_00000000, 40_100_00, true},
	} {
		check, own, record := example(t)
		own.Type, own.Price, own.Amount, own.AmountQuote = market.TypeMarket, 0, 0, 100_000_00
		o, f := &record.Order, &record.Fills[0]
		o.Type, o.Amount, o.AmountQuote, o.FilledAmount = market.TypeMarket, 0, own.AmountQuote, c.amount
		f.Amount, f.Fee = c.amount, market.ValueOf(c.fee*1e8)
		o.FilledAmountQuote, o.FeePaid = market.ValueOf(int64(f.Price)*int64(c.amount)), f.Fee
		require.NotEmpty(t, check.Record(own, 0, record).Broken, name)
		check.Coarse = true
		require.Equal(t, c.holds, check.Record(own, 0, record).Broken == nil, "%s: %v", name,
			check.Record(own, 0, record).Broken)
	}
}

// An event may show the hold of a later moment: of an order without a price, what was reserved
// stays held until it ends.
func TestAnEventFreesNothingOfWhatTheRestMayCost(t *testing.T) {
	check, own, record := example(t)
	for _, side := range []market.Side{market.Buy, market.Sell} {
		own.Order.Side, own.Order.Type, own.Order.Price, own.Order.OnHold = side, market.TypeMarket, 0, 44_11
		event := exchange.WireOrder{Order: *own.Order}
		o := &event.Order
		o.ID, o.ExchangeID, o.Status, o.OnHold, o.Updated = 0, record.Order.ExchangeID, market.StatusNew,
			0, began.Add(1)
		verdict := check.Event(own, &event)
		require.True(t, verdict.Holds(), "%+v", verdict)
		require.EqualValues(t, 44_11, o.OnHold, side)
		own.Order.Type, own.Order.Price = market.TypeLimit, 4_000_000
		o.Type, o.Price, o.OnHold = own.Order.Type, own.Order.Price, 1
		verdict = check.Event(own, &event)
		require.True(t, verdict.Holds(), "%+v", verdict)
		require.GreaterOrEqual(t, o.OnHold, market.Money(44_00), side)
		event.Order.Status = market.StatusCanceled
		verdict = check.Event(own, &event)
		require.True(t, verdict.Holds(), "%+v", verdict)
		require.Zero(t, o.OnHold, "an order that has ended holds nothing")
	}
}
