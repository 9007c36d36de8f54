package state

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// crowd drives an account with many open orders, of three strategies in three markets, beside a
// plain list of them.
type crowd struct {
	*Account
	t     testing.TB
	names []string
	time  market.Time
	id    market.OrderID
	fill  uint64
	list  []*Order // the open orders, by id
	gone  []*Order // refusals that were inferred
}

func newCrowd(t testing.TB) *crowd {
	c := &market.Catalog{}
	for _, symbol := range []string{"BTC", "ETH", "ADA", "EUR"} {
		_, err := c.AddAsset(symbol, 2)
		require.NoError(t, err)
	}
	for _, symbol := range []string{"BTC", "ETH", "ADA"} {
		require.NoError(t, c.AddMarket(&market.Market{Name: symbol + "-EUR", PriceDigits: 2, Status: market.Trading,
			Rules: market.Rules{TickSize: 1, QuantityDecimals: 2}}))
	}
	d := &crowd{Account: NewAccount(c, 3, nil), t: t, names: []string{"one", "two", "three"}}
	for _, asset := range c.Assets() {
		d.apply(&market.Event{Kind: market.KindTransfer, Asset: asset.ID, Money: 1e15})
	}
	return d
}

func (d *crowd) apply(ev *market.Event) Applied {
	applied, err := d.Apply(ev)
	require.NoError(d.t, err)
	return applied
}

// tell reports an order as it stands, after change.
func (d *crowd) tell(o *Order, exec market.ExecutionType, status market.Status, change func(r *market.Report),
	fills ...market.Fill) {
	d.time++
	r := market.ReportOf(&o.Order, exec)
	r.Updated, r.OnHold = d.time, 0
	if status != 0 {
		r.Status = status
	}
	if change != nil {
		change(&r)
	}
	d.apply(&market.Event{Kind: market.KindReport, At: d.time, Report: &r, Fills: fills})
	if o.State.Terminal() {
		d.list = slices.DeleteFunc(d.list, func(x *Order) bool { return x == o })
	}
}

// open adds an order to the list, at its place.
func (d *crowd) open(o *Order) {
	d.list = append(d.list, o)
	slices.SortFunc(d.list, func(x, y *Order) int { return int(x.ID - y.ID) })
}

func (d *crowd) pick(rt *rapid.T, fits func(o *Order) bool) *Order {
	var from []*Order
	for _, o := range d.list {
		if fits == nil || fits(o) {
			from = append(from, o)
		}
	}
	if len(from) == 0 {
		rt.Skip("no such order")
	}
	return from[rapid.IntRange(0, len(from)-1).Draw(rt, "order")]
}

func idle(o *Order) bool { return o.InFlight == 0 }

func answered(o *Order) bool { return o.Reported && o.State != Unknown }

// waits reports whether an order waits for its trigger.
func waits(o *Order) bool { return o.Type.HasTrigger() && !o.Triggered }

// status is what the exchange shows of an order that it has.
func status(o *Order) market.Status {
	switch {
	case o.FilledAmount > 0:
		return market.StatusPartiallyFilled
	case waits(o):
		return market.StatusAwaitingTrigger
	}
	return market.StatusNew
}

func (d *crowd) place(rt *rapid.T) {
	d.id++
	o := market.Order{ID: d.id, Strategy: market.StrategyID(rapid.IntRange(1, 3).Draw(rt, "strategy")),
		Market: market.ID(rapid.IntRange(1, 3).Draw(rt, "market")), ClientOrderID: uuid.UUID{15: byte(d.id),
			14: byte(d.id >> 8)},
		Side: rapid.SampledFrom([]market.Side{market.Buy, market.Sell}).Draw(rt, "side"),
		Type: rapid.SampledFrom([]market.OrderType{market.TypeMarket, market.TypeLimit, market.TypeLimit,
			market.TypeStopLoss, market.TypeTakeProfitLimit}).Draw(rt, "type")}
	o.Amount = market.Qty(rapid.IntRange(1, 1000).Draw(rt, "amount"))
	if o.Type.HasPrice() {
		o.Price = market.Price(rapid.IntRange(1, 9).Draw(rt, "price"))
	} else if rapid.Bool().Draw(rt, "by quote") {
		o.Amount, o.AmountQuote = 0, 100
	}
	if o.Type.HasTrigger() {
		o.TriggerAmount = 5
	}
	d.open(d.Send(&o, 0))
}

func (d *crowd) answer(rt *rapid.T) {
	o := d.pick(rt, func(o *Order) bool { return o.State != PartiallyFilled })
	d.tell(o, market.ExecNew, status(o), nil)
}

func (d *crowd) trigger(rt *rapid.T) {
	o := d.pick(rt, func(o *Order) bool { return answered(o) && waits(o) })
	d.tell(o, market.ExecTriggered, market.StatusNew, func(r *market.Report) { r.Triggered = true })
}

func (d *crowd) update(rt *rapid.T) {
	o := d.pick(rt, func(o *Order) bool { return idle(o) && answered(o) && o.Type.HasPrice() })
	d.SendUpdate(o, 0)
	price := market.Price(rapid.IntRange(1, 9).Draw(rt, "price"))
	more := market.Qty(rapid.IntRange(0, 50).Draw(rt, "more"))
	switch rapid.IntRange(0, 3).Draw(rt, "answer") {
	case 0:
		d.tell(o, market.ExecRejected, 0, func(r *market.Report) { r.Command = market.CommandUpdate })
	case 1: // it stays in flight
	default:
		d.tell(o, market.ExecUpdated, status(o), func(r *market.Report) {
			r.Price, r.Amount, r.AmountRemaining = price, r.Amount+more, r.AmountRemaining+more
		})
	}
}

func (d *crowd) trade(rt *rapid.T) {
	o := d.pick(rt, func(o *Order) bool { return answered(o) && !waits(o) && !o.ByQuote() && o.AmountRemaining > 0 })
	amount := market.Qty(rapid.IntRange(1, int(o.AmountRemaining)).Draw(rt, "amount"))
	d.fill++
	f := market.Fill{Order: o.ID, Market: o.Market, Strategy: o.Strategy, Side: o.Side, Settled: true, Price: 5,
		Amount: amount}
	binary.BigEndian.PutUint64(f.ID[:], d.fill)
	to := market.StatusPartiallyFilled
	if amount == o.AmountRemaining {
		to = market.StatusFilled
	}
	d.tell(o, market.ExecTrade, to, func(r *market.Report) {
		r.FilledAmount, r.AmountRemaining = r.FilledAmount+amount, r.AmountRemaining-amount
	}, f)
}

func (d *crowd) cancel(rt *rapid.T) {
	o := d.pick(rt, func(o *Order) bool { return idle(o) && answered(o) })
	d.SendCancel(o)
	switch rapid.IntRange(0, 3).Draw(rt, "answer") {
	case 0:
		d.tell(o, market.ExecRejected, 0, func(r *market.Report) { r.Command = market.CommandCancel })
	case 1: // it stays in flight
	default:
		d.tell(o, market.ExecCanceled, market.StatusCanceled, nil)
	}
}

// lose ends an order whose place was never answered; appear shows that it is there all the same.
func (d *crowd) lose(rt *rapid.T) {
	o := d.pick(rt, func(o *Order) bool { return o.State == Sent })
	for _, exec := range [...]market.ExecutionType{market.ExecUnknown, market.ExecRejected} {
		d.tell(o, exec, 0, func(r *market.Report) { r.Command = market.CommandPlace })
	}
	if d.gone = append(d.gone, o); len(d.gone) > maxAbsent {
		d.gone = d.gone[1:]
	}
}

func (d *crowd) appear(rt *rapid.T) {
	if len(d.gone) == 0 {
		rt.Skip("none is gone")
	}
	at := rapid.IntRange(0, len(d.gone)-1).Draw(rt, "order")
	o := d.gone[at]
	d.gone = slices.Delete(d.gone, at, at+1)
	if rapid.Bool().Draw(rt, "by a report") {
		d.tell(o, market.ExecNew, status(o), nil)
	} else {
		d.Reopen(o)
	}
	d.open(o)
}

// reopen opens an order again that the account has forgotten.
func (d *crowd) reopen(rt *rapid.T) {
	o := d.pick(rt, func(o *Order) bool { return answered(o) && o.FilledAmount == 0 })
	kept := Order{Order: o.Order, State: Canceled, Reported: true}
	d.tell(o, market.ExecCanceled, market.StatusCanceled, nil)
	again := EndedOrder(kept, nil)
	d.Reopen(again)
	d.open(again)
}

func (d *crowd) drop(rt *rapid.T) {
	s, from := market.StrategyID(rapid.IntRange(1, 3).Draw(rt, "strategy")), d.id-market.OrderID(rapid.IntRange(0, 3).
		Draw(rt, "last"))
	dropped := func(o *Order) bool { return o.Strategy == s && o.ID >= from }
	if slices.ContainsFunc(d.list, func(o *Order) bool { return dropped(o) && o.State != Sent }) {
		rt.Skip("the exchange has it")
	}
	d.list = slices.DeleteFunc(d.list, dropped)
	d.Drop(s, from)
}

// without takes an order out for a while, as if it had ended.
func (d *crowd) without(rt *rapid.T) {
	o, list := d.pick(rt, nil), d.list
	d.Without(o, func() {
		d.list = slices.DeleteFunc(slices.Clone(list), func(x *Order) bool { return x == o })
		d.compareLists()
	})
	d.list = list
}

func (d *crowd) restart(rt *rapid.T) {
	text := wholeText(d.t, d.Account, d.names)
	again := NewAccount(d.Catalog(), 3, nil)
	require.NoError(d.t, restoreText(again, text, d.names))
	d.Account = again
	for _, orders := range [...][]*Order{d.list, d.gone} {
		for i, o := range orders {
			orders[i] = again.Known(o.ID)
			require.NotNil(d.t, orders[i])
		}
	}
}

// price moves a market; pay brings money from outside. Check compares the equity.
func (d *crowd) price(rt *rapid.T) {
	d.time++
	m, price := market.ID(rapid.IntRange(1, 3).Draw(rt, "market")), market.Price(rapid.IntRange(1, 9).Draw(rt, "price"))
	switch rapid.IntRange(0, 3).Draw(rt, "kind") {
	case 0:
		d.apply(&market.Event{Kind: market.KindTicker, At: d.time, Ticker: &market.Ticker{Market: m, Last: price}})
	case 1:
		d.apply(&market.Event{Kind: market.KindTrade, At: d.time, Trade: &market.Trade{Market: m, Price: price}})
	case 2:
		d.apply(&market.Event{Kind: market.KindCandles, At: d.time,
			Candles: []market.Candle{{Market: m, Close: price}}})
	case 3:
		text, err := d.SavePrices(nil)
		require.NoError(d.t, err)
		require.NoError(d.t, d.RestorePrices(text))
	}
}

func (d *crowd) pay(rt *rapid.T) {
	asset := market.AssetID(rapid.IntRange(1, 4).Draw(rt, "asset"))
	d.apply(&market.Event{Kind: market.KindTransfer, Asset: asset, Money: market.Money(rapid.IntRange(-50, 50).
		Draw(rt, "money"))})
}

// compare asks the account and looks through the list.
func (d *crowd) compare(*rapid.T) {
	require.NoError(d.t, d.Check())
	d.compareLists()
}

func (d *crowd) compareLists() {
	for s := market.StrategyID(0); s <= 3; s++ {
		for m := market.ID(0); m <= 3; m++ {
			var want, have []market.OrderID
			facts := map[string]int64{}
			for _, o := range d.list {
				if s != 0 && o.Strategy != s || m != 0 && o.Market != m {
					continue
				}
				want = append(want, o.ID)
				facts["open"]++
				if o.InFlight != 0 {
					facts["in flight"]++
				}
				if o.Type != market.TypeMarket {
					facts["counted"]++
				}
				price, side := int64(o.Price), o.Side.String()
				if o.Side == market.Buy && o.AmountQuote != 0 {
					facts["by quote"]++
				} else if o.Side == market.Buy {
					facts["buys"] += int64(o.AmountRemaining)
				}
				if best := facts[side]; price != 0 && !waits(o) &&
					(best == 0 || (price > best) == (o.Side == market.Buy)) {
					facts[side] = price
				}
			}
			for _, o := range d.Open(nil, s, m) {
				have = append(have, o.ID)
			}
			require.Equal(d.t, want, have, "strategy %d market %d", s, m)
			d.compareFacts(s, m, facts)
		}
	}
}

func (d *crowd) compareFacts(s market.StrategyID, m market.ID, facts map[string]int64) {
	where := fmt.Sprintf("strategy %d market %d", s, m)
	if s == 0 && m != 0 {
		require.Equal(d.t, []int64{facts["counted"], facts["buy"], facts["sell"]},
			[]int64{int64(d.OpenIn(m)), int64(d.BestOwn(m, market.Buy)), int64(d.BestOwn(m, market.Sell))}, where)
	} else if s != 0 && m == 0 {
		require.Equal(d.t, []int64{facts["open"], facts["in flight"]},
			[]int64{int64(d.OpenBy(s)), int64(d.InFlightBy(s))}, where)
	} else if s != 0 && m != 0 {
		base, byQuote, err := d.OpenBuys(s, m)
		require.NoError(d.t, err)
		require.Equal(d.t, []int64{facts["buys"], facts["by quote"]}, []int64{int64(base), int64(byQuote)}, where)
	}
}

func TestOpenOrdersAreThoseOfAPlainList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newCrowd(t)
		rt.Repeat(map[string]func(*rapid.T){
			"": d.compare, "place": d.place, "place 2": d.place, "place 3": d.place, "answer": d.answer,
			"answer 2": d.answer, "trigger": d.trigger, "update": d.update, "update 2": d.update, "trade": d.trade,
			"cancel": d.cancel, "lose": d.lose, "appear": d.appear, "reopen": d.reopen, "drop": d.drop,
			"restart": d.restart, "price": d.price, "pay": d.pay, "without": d.without,
		})
	})
}

// A market maker moves two quotes for ever: what it leaves behind does not grow.
func TestTheBestPricesOfMovedOrdersTakeNoMoreMemory(t *testing.T) {
	d := newCrowd(t)
	for i := range market.OrderID(100) {
		d.Send(&market.Order{ID: i + 1, Strategy: 1, Market: 1, Type: market.TypeLimit, Side: market.Sell,
			OrderState: market.OrderState{Amount: 1, Price: 1000 + market.Price(i)}}, 0)
	}
	moved := d.Own(100)
	for i := range 10_000 {
		d.tell(moved, market.ExecUpdated, market.StatusNew,
			func(r *market.Report) { r.Price = 1001 + market.Price(i%3) })
		require.LessOrEqual(t, len(d.openIn[1].asks.entries), 2*100+33)
	}
	require.Equal(t, market.Price(1000), d.BestOwn(1, market.Sell))
	require.NoError(t, d.Check())
}

func TestOpenBuysThatNoAmountHoldsAreAnError(t *testing.T) {
	d := newCrowd(t)
	for i := range market.OrderID(3) {
		d.Send(&market.Order{ID: i + 1, Strategy: 1, Market: 1, Type: market.TypeLimit, Side: market.Buy,
			OrderState: market.OrderState{Amount: 1<<62 - 1 + market.Qty(i), Price: 1}}, 0)
	}
	_, _, err := d.OpenBuys(1, 1)
	require.ErrorIs(t, err, market.ErrOverflow)
	d.Drop(1, 3)
	base, _, err := d.OpenBuys(1, 1)
	require.NoError(t, err)
	require.Equal(t, market.Qty(1<<63-1), base)
}
