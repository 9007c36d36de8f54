package state

import (
	"math"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// desk is an account under test with the shorthands of these tests. Prices have 2 decimals, BTC 8,
// EUR 2.
type desk struct {
	*Account
	t    testing.TB
	m    *market.Market
	time market.Time
	id   market.OrderID
	fill byte
}

func newDesk(t testing.TB, strategies int, own []bool) *desk {
	c := &market.Catalog{}
	_, err := c.AddAsset("BTC", 8)
	require.NoError(t, err)
	_, err = c.AddAsset("EUR", 2)
	require.NoError(t, err)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, Status: market.Trading,
		Rules: market.Rules{TickSize: 1, QuantityDecimals: 8}}
	require.NoError(t, c.AddMarket(m))
	return &desk{Account: NewAccount(c, strategies, own), t: t, m: m}
}

// apply folds an event and checks the account afterwards.
func (d *desk) apply(ev market.Event) Applied {
	d.t.Helper()
	applied, err := d.Apply(&ev)
	require.NoError(d.t, err)
	require.NoError(d.t, d.Check())
	return applied
}

func (d *desk) deposit(owner market.StrategyID, asset market.AssetID, money market.Money) {
	d.apply(market.Event{Kind: market.KindTransfer, Owner: owner, Asset: asset, Money: money})
}

func (d *desk) sendFor(s market.StrategyID, kind market.OrderType, side market.Side, amount market.Qty,
	price market.Price, hold market.Money) *Order {
	d.id++
	o := d.Send(&market.Order{ID: d.id, Strategy: s, Market: d.m.ID, Type: kind, Side: side,
		OrderState: market.OrderState{Amount: amount, Price: price}}, hold)
	require.NoError(d.t, d.Check())
	return o
}

func (d *desk) send(side market.Side, amount market.Qty, price market.Price, hold market.Money) *Order {
	return d.sendFor(1, market.TypeLimit, side, amount, price, hold)
}

// report makes a report of an order as it stands, of a later time.
func (d *desk) report(o *Order, exec market.ExecutionType, status market.Status) *market.Report {
	d.time++
	r := market.ReportOf(&o.Order, exec)
	r.Status, r.Updated = status, d.time
	return &r
}

func (d *desk) tell(r *market.Report, fills ...market.Fill) Applied {
	d.t.Helper()
	return d.apply(market.Event{Kind: market.KindReport, At: d.time, Report: r, Fills: fills})
}

func (d *desk) fillOf(o *Order, amount market.Qty, price market.Price, fee int64) market.Fill {
	d.fill++
	return market.Fill{ID: uuid.UUID{15: d.fill}, Order: o.ID, Market: o.Market, Strategy: o.Strategy, Side: o.Side,
		Settled: true,
		Price:   price, Amount: amount, Fee: market.ValueOf(fee), Time: d.time}
}

// trade tells of one fill as the venue does: fill and report together.
func (d *desk) trade(o *Order, amount market.Qty, price market.Price, fee int64, hold market.Money) Applied {
	d.t.Helper()
	status := market.StatusPartiallyFilled
	if amount == o.AmountRemaining {
		status = market.StatusFilled
	}
	r := d.report(o, market.ExecTrade, status)
	r.FilledAmount, r.AmountRemaining, r.OnHold = o.FilledAmount+amount, o.AmountRemaining-amount, hold
	return d.tell(r, d.fillOf(o, amount, price, fee))
}

func (d *desk) totals(s market.StrategyID) [2]Balance {
	allocation := d.balances[s]
	return [2]Balance{allocation[d.m.Base], allocation[d.m.Quote]}
}

const (
	btc = 100_000_000 // units of Qty
	eur = 100         // units of Money
	at1 = 100         // units of Price
	val = 10_000_000_000
)

func TestADepositIsTheOwnersAlone(t *testing.T) {
	d := newDesk(t, 3, []bool{false, true, false, false})
	eurID := d.m.Quote
	d.deposit(1, eurID, 100*eur)
	d.deposit(2, eurID, 30*eur)
	d.deposit(0, eurID, 5*eur) // the pool of all that have no allocation
	for s, want := range map[market.StrategyID]market.Money{1: 100 * eur, 2: 35 * eur, 3: 35 * eur} {
		available, held := d.Balance(s, eurID)
		require.Equal(t, want, available, "strategy %d", s)
		require.Zero(t, held)
	}
	require.Equal(t, Balance{Total: 135 * eur}, d.Total(eurID))
}

func TestAWithdrawalTakesNoPosition(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.apply(market.Event{Kind: market.KindTransfer, Owner: 1, Asset: d.m.Base, Money: 2 * btc, Market: d.m.ID,
		Price: 50 * at1, At: 7})
	want := market.Position{Amount: 2 * btc, Cost: market.ValueOf(100 * val), Opened: 7}
	require.Equal(t, want, d.Position(1, d.m.ID))
	require.Equal(t, market.Price(50*at1), d.Last(d.m.ID)) // the first price that is known
	d.apply(market.Event{Kind: market.KindTransfer, Owner: 1, Asset: d.m.Base, Money: -btc, Market: d.m.ID,
		Price: 60 * at1})
	require.Equal(t, want, d.Position(1, d.m.ID))
	require.Equal(t, market.Money(btc), d.Total(d.m.Base).Total)
	require.Equal(t, market.Price(50*at1), d.Last(d.m.ID))
}

func TestBaseThatGoesWithoutAPriceLeavesThePosition(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.apply(market.Event{Kind: market.KindTransfer, Owner: 1, Asset: d.m.Base, Money: 3 * btc, Market: d.m.ID,
		Price: 50 * at1, At: 7})
	d.apply(market.Event{Kind: market.KindTransfer, Owner: 1, Asset: d.m.Base, Money: -btc, Market: d.m.ID})
	require.Equal(t, market.Position{Amount: 2 * btc, Cost: market.ValueOf(100 * val), Opened: 7},
		d.Position(1, d.m.ID))
	d.apply(market.Event{Kind: market.KindTransfer, Owner: 1, Asset: d.m.Base, Money: -2 * btc, Market: d.m.ID})
	require.Equal(t, market.Position{Opened: 7}, d.Position(1, d.m.ID))
	require.Zero(t, d.Total(d.m.Base).Total)
}

func TestASentOrderHoldsItsReserveUntilItIsDone(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 100*eur)
	o := d.send(market.Buy, btc, 40*at1, 41*eur)
	require.Equal(t, [2]Balance{{}, {Total: 100 * eur, Held: 41 * eur}}, d.totals(1))
	require.Equal(t, [2]int{1, 1}, [2]int{d.OpenIn(1), d.OpenBy(1)})
	r := d.report(o, market.ExecNew, market.StatusNew)
	r.OnHold = 40 * eur
	d.tell(r)
	require.Equal(t, market.Money(40*eur), d.Total(d.m.Quote).Held)
	applied := d.tell(d.report(o, market.ExecCanceled, market.StatusCanceled))
	require.True(t, applied.Ended)
	require.Equal(t, Canceled, applied.Order.State)
	require.Equal(t, [2]Balance{{}, {Total: 100 * eur}}, d.totals(1))
	require.Equal(t, [2]int{0, 0}, [2]int{d.OpenIn(1), d.OpenBy(1)})
	require.Nil(t, d.Own(o.ID))
}

func TestMarketOrdersDoNotCountAgainstTheExchangesLimit(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.sendFor(1, market.TypeMarket, market.Buy, btc, 0, 0)
	require.Equal(t, [2]int{0, 1}, [2]int{d.OpenIn(1), d.OpenBy(1)})
}

func TestAnUpdateHoldsTheLargerOfBothUntilItsAnswer(t *testing.T) {
	cases := []struct {
		name       string
		hold, want market.Money // asked for, and held while in flight
		answer     market.ExecutionType
		after      market.Money
	}{
		{"more, accepted", 60 * eur, 60 * eur, market.ExecUpdated, 60 * eur},
		{"more, refused", 60 * eur, 60 * eur, market.ExecRejected, 40 * eur},
		{"less, accepted", 10 * eur, 40 * eur, market.ExecUpdated, 10 * eur},
		{"less, refused", 10 * eur, 40 * eur, market.ExecRejected, 40 * eur},
		{"more, unknown", 60 * eur, 60 * eur, market.ExecUnknown, 60 * eur}, // nobody knows: the worst case stays
	}
	for _, c := range cases {
		d := newDesk(t, 1, nil)
		d.deposit(1, d.m.Quote, 100*eur)
		o := d.send(market.Buy, btc, 40*at1, 40*eur)
		d.tell(d.report(o, market.ExecNew, market.StatusNew))
		d.SendUpdate(o, c.hold)
		require.NoError(t, d.Check())
		require.Equal(t, c.want, d.Total(d.m.Quote).Held, c.name)
		r := d.report(o, c.answer, market.StatusNew)
		r.OnHold, r.Command = c.after, market.CommandUpdate
		d.tell(r)
		require.Equal(t, c.after, d.Total(d.m.Quote).Held, c.name)
		require.Equal(t, c.answer == market.ExecUnknown, o.InFlight == market.CommandUpdate, c.name)
	}
}

func TestAFillDuringAnUpdateKeepsTheExtraReserve(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 100*eur)
	o := d.send(market.Buy, btc, 40*at1, 40*eur)
	d.tell(d.report(o, market.ExecNew, market.StatusNew))
	d.SendUpdate(o, 60*eur)
	d.trade(o, btc/4, 40*at1, 0, 30*eur)
	require.Equal(t, market.Money(50*eur), d.Total(d.m.Quote).Held) // 30 for what remains, 20 for the update
	d.TakeBack(o)
	require.NoError(t, d.Check())
	require.Equal(t, market.Money(30*eur), d.Total(d.m.Quote).Held)
	require.Zero(t, o.InFlight)
}

func TestDropTakesBackWhatAStrategySentFromAnOrderOn(t *testing.T) {
	d := newDesk(t, 2, []bool{false, true, true})
	d.deposit(1, d.m.Quote, 100*eur)
	d.deposit(2, d.m.Quote, 100*eur)
	first := d.sendFor(1, market.TypeLimit, market.Buy, btc, 10*at1, 10*eur)
	other := d.sendFor(2, market.TypeLimit, market.Buy, btc, 10*at1, 10*eur)
	second := d.sendFor(1, market.TypeLimit, market.Buy, btc, 20*at1, 20*eur)
	third := d.sendFor(1, market.TypeMarket, market.Buy, btc, 0, 30*eur)
	d.Drop(1, second.ID)
	require.NoError(t, d.Check())
	require.Equal(t, []*market.Order{&first.Order, &other.Order}, d.Open(nil, 0, 0))
	require.Equal(t, market.Money(10*eur), d.totals(1)[1].Held)
	require.Nil(t, d.Order(third.ID))
}

func TestPartialClosesSplitTheCostAndTheLastTakesTheRemainder(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 1000*eur)
	buy := d.send(market.Buy, 3, 100*at1, 500*eur)
	d.trade(buy, 3, 100*at1, 1, 0) // 3 units cost 30_000 + 1: a third cannot be kept exactly
	require.Equal(t, market.ValueOf(30_001), d.Position(1, 1).Cost)
	sell := d.send(market.Sell, 3, 100*at1, 3)
	var costs []market.Value
	for range 3 {
		d.trade(sell, 1, 100*at1, 0, market.Money(sell.AmountRemaining-1))
		costs = append(costs, d.Position(1, 1).Cost)
	}
	require.Equal(t, []market.Value{market.ValueOf(20_001), market.ValueOf(10_001), {}}, costs)
	require.Equal(t, market.ValueOf(-1), d.Position(1, 1).Realised) // nothing lost but the fee
}

func TestWhatASellTakesBeyondThePositionIsNoProfit(t *testing.T) {
	d := newDesk(t, 2, nil)
	d.deposit(0, d.m.Quote, 1000*eur)
	d.deposit(0, d.m.Base, 10*btc) // of the pool: nobody's position
	buy := d.send(market.Buy, btc, 100*at1, 100*eur)
	d.trade(buy, btc, 100*at1, 0, 0)
	sell := d.send(market.Sell, 4*btc, 200*at1, 4*btc)
	d.trade(sell, 4*btc, 200*at1, 8*val, 0) // a quarter of the fee belongs to what was ours
	p := d.Position(1, 1)
	require.Equal(t, market.ValueOf(98*val), p.Realised)
	require.Equal(t, market.ValueOf(8*val), p.Fees)
	require.Zero(t, p.Amount)
	more := d.send(market.Sell, btc, 200*at1, btc)
	d.trade(more, btc, 200*at1, 0, 0)
	require.Equal(t, market.ValueOf(98*val), d.Position(1, 1).Realised)
}

func TestQuoteFinerThanTheAssetIsRoundedAgainstUs(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 100*eur)
	d.deposit(1, d.m.Base, btc)
	buy := d.send(market.Buy, 1, 100*at1, 1) // a satoshi at 100: 10^-6 EUR
	d.trade(buy, 1, 100*at1, 0, 0)
	require.Equal(t, market.Money(100*eur-1), d.Total(d.m.Quote).Total)
	sell := d.send(market.Sell, 1, 100*at1, 1)
	d.trade(sell, 1, 100*at1, 0, 0)
	require.Equal(t, market.Money(100*eur-1), d.Total(d.m.Quote).Total)
}

func TestArithmeticThatLeavesItsRangeChangesNothing(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, math.MaxInt64-5)
	d.deposit(1, d.m.Base, math.MaxInt64-5)
	before, o := d.totals(1), d.send(market.Buy, 100, 1, 0)
	transfer := func(asset market.AssetID, m market.ID) market.Event {
		return market.Event{Kind: market.KindTransfer, Owner: 1, Asset: asset, Money: 6, Market: m, Price: 1}
	}
	fill := d.fillOf(o, 6, 1, 0)
	cases := map[string]market.Event{
		"deposit of quote": transfer(d.m.Quote, 0),
		"deposit of base":  transfer(d.m.Base, d.m.ID),
		"base of a fill":   {Kind: market.KindFill, Fills: []market.Fill{fill}},
		"fill with a report": {Kind: market.KindReport, Report: d.report(o, market.ExecTrade, market.StatusFilled),
			Fills: []market.Fill{fill}},
		"price times amount": {Kind: market.KindFill,
			Fills: []market.Fill{d.fillOf(o, math.MaxInt64, math.MaxInt64, 0)}},
		"fee that is no gift": {Kind: market.KindFill, Fills: []market.Fill{d.fillOf(o, 1, 1, math.MinInt64)}},
	}
	for name, ev := range cases {
		_, err := d.Apply(&ev)
		require.ErrorIs(t, err, market.ErrOverflow, name)
		require.NoError(t, d.Check(), name)
		require.Equal(t, before, d.totals(1), name)
		require.Equal(t, market.Position{}, d.Position(1, d.m.ID), name)
		require.Equal(t, Sent, o.State, name)
	}
}

func TestAFeeThatLeavesItsRangeIsNotHalfTaken(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, math.MaxInt64-eur)
	o := d.send(market.Buy, btc, 1, 0)
	fill := d.fillOf(o, btc, 1, 0)
	fill.Settled = false
	d.apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{fill}})
	before, position := d.totals(1), d.Position(1, 1)
	fill.Settled = true
	huge, err := market.ValueOf(math.MinInt64).ScaleUp(8)
	require.NoError(t, err)
	fill.Fee = huge // a rebate larger than the balance can take
	for range 2 {   // and the second time too: it is still waited for
		ev := market.Event{Kind: market.KindFill, Fills: []market.Fill{fill}}
		_, err := d.Apply(&ev)
		require.ErrorIs(t, err, market.ErrOverflow)
		require.Equal(t, before, d.totals(1))
		require.Equal(t, position, d.Position(1, 1))
	}
}

func TestEquityAndExposureFollowTheLatestPrice(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 1000*eur)
	d.deposit(1, d.m.Base, 3)
	equity, err := d.Equity(d.m.Quote)
	require.NoError(t, err)
	require.Equal(t, market.Money(1000*eur), equity) // before the first price base counts nothing
	d.apply(market.Event{Kind: market.KindCandles, At: 5,
		Candles: []market.Candle{{Market: 1, Close: 50_000_000 * at1, Late: true}}})
	at, late := d.PriceArrived(1)
	require.Equal(t, market.Time(5), at)
	require.True(t, late)
	d.send(market.Buy, btc, 10*at1, 10*eur)
	equity, err = d.Equity(d.m.Quote)
	require.NoError(t, err)
	require.Equal(t, market.Money(1000*eur+150), equity)
	exposure, err := d.Exposure(d.m.Quote)
	require.NoError(t, err)
	require.Equal(t, market.Money(10*eur+150), exposure)
	d.apply(market.Event{Kind: market.KindTicker, At: 6, Ticker: &market.Ticker{Market: 1, Bid: 1}})
	require.Equal(t, market.Price(50_000_000*at1), d.Last(1)) // a ticker without a last price tells none
	d.apply(market.Event{Kind: market.KindTrade, At: 7, Trade: &market.Trade{Market: 1, Price: 100}})
	require.Equal(t, market.Price(100), d.Last(1))
}

func TestCheckFindsEveryContradiction(t *testing.T) {
	wrong := map[string]func(d *desk, o *Order){
		"its open orders 10":   func(d *desk, o *Order) { o.OnHold = 10 },
		"by side and has":      func(d *desk, _ *Order) { d.openIn[1].holds[market.Buy]++ },
		"has 3000 and holds":   func(d *desk, _ *Order) { d.allocations[0][d.m.Quote].Total = 3000 },
		"counts 2 open orders": func(d *desk, _ *Order) { d.openIn[1].count++ },
		"strategy 1 counts 0":  func(d *desk, _ *Order) { d.openOf[1].count-- },
		"still open":           func(_ *desk, o *Order) { o.State = Filled },
		"not known":            func(d *desk, o *Order) { d.orders.Delete(o.ID) },
		"are not amount":       func(_ *desk, o *Order) { o.AmountRemaining-- },
		"stands behind order": func(d *desk,
			_ *Order) {
			d.openOf[1].lists = append(d.openOf[1].lists, &d.seats[1][1])
		},
		"lists [] as open":  func(d *desk, o *Order) { d.seats[1][1].remove(o) },
		"1 in flight":       func(_ *desk, o *Order) { o.InFlight = 0 },
		"1 buys over quote": func(d *desk, _ *Order) { d.seats[1][1].byQuote++ },
		"base in buys":      func(d *desk, _ *Order) { d.seats[1][1].buying.add(1) },
		"best bid":          func(d *desk, o *Order) { d.openIn[1].leaveBest(o) },
		"best ask":          func(d *desk, o *Order) { d.openIn[1].asks.add(o) },
		"with cost":         func(d *desk, _ *Order) { d.seats[1][1].position.Cost = market.ValueOf(1) },
		"amount -1":         func(d *desk, _ *Order) { d.seats[1][1].position.Amount = -1 },
	}
	for want, spoil := range wrong {
		d := newDesk(t, 1, nil)
		d.deposit(1, d.m.Quote, 100*eur)
		o := d.send(market.Buy, btc, 40*at1, 40*eur)
		spoil(d, o)
		require.ErrorContains(t, d.Check(), want)
	}
}
