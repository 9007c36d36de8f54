package state

import (
	"bytes"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// moved is one line of the twin's list: what a fill did, or a deposit.
type moved struct {
	strategy market.StrategyID
	side     market.Side // 0: a deposit of quote
	amount   int64
	price    int64
	fee      int64
}

// twin knows nothing but the list of what happened, and adds it up anew each time with big
// integers.
type twin struct {
	lines []moved
	held  map[market.OrderID]int64 // by open order
	quote map[market.OrderID]bool  // it holds quote
	price int64                    // the latest; 0: none
}

func product(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }

// cash is what a line changed in quote, exactly, in units of Value.
func (l moved) cash() *big.Int {
	gross := product(l.amount, l.price)
	if l.side == market.Buy {
		return gross.Add(gross, big.NewInt(l.fee)).Neg(gross)
	}
	return gross.Sub(gross, big.NewInt(l.fee))
}

// totals are the balances: quote rounded down fill by fill.
func (w *twin) totals() (base, quote int64) {
	for _, l := range w.lines {
		if l.side == 0 {
			quote += l.amount
			continue
		}
		quote += new(big.Int).Div(l.cash(), big.NewInt(1e8)).Int64() // Euclidean: down
		if l.side == market.Buy {
			base += l.amount
		} else {
			base -= l.amount
		}
	}
	return base, quote
}

func (w *twin) holds() (base, quote int64) {
	for id, hold := range w.held {
		if w.quote[id] {
			quote += hold
		} else {
			base += hold
		}
	}
	return base, quote
}

// position is the strategy's, from the first line on, by its definition.
func (w *twin) position(s market.StrategyID) (amount int64, cost, realised, fees *big.Int) {
	cost, realised, fees = new(big.Int), new(big.Int), new(big.Int)
	for _, l := range w.lines {
		if l.strategy != s || l.side == 0 {
			continue
		}
		fees.Add(fees, big.NewInt(l.fee))
		if l.side == market.Buy {
			amount += l.amount
			cost.Sub(cost, l.cash())
			continue
		}
		sold := min(l.amount, amount)
		if sold == 0 {
			continue
		}
		share := new(big.Int).Mul(cost, big.NewInt(sold))
		share.Quo(share, big.NewInt(amount))
		gain := new(big.Int).Mul(l.cash(), big.NewInt(sold))
		gain.Quo(gain, big.NewInt(l.amount)).Sub(gain, share)
		realised.Add(realised, gain)
		cost.Sub(cost, share)
		amount -= sold
	}
	return amount, cost, realised, fees
}

// machine drives account and twin with the same legal events.
type machine struct {
	*desk
	twin
	open    []*Order
	settled map[market.OrderID]exchange.Settlement
	own     []bool
	saved   []byte // when it last said that it had changed
	// savedOrders are the texts of its orders, brought up to date as it says what has changed.
	savedOrders map[market.OrderID][]byte
}

func (m *machine) pick(rt *rapid.T) *Order {
	if len(m.open) == 0 {
		rt.Skip("no open order")
	}
	return rapid.SampledFrom(m.open).Draw(rt, "order")
}

func (m *machine) hold(o *Order, hold market.Money) {
	m.held[o.ID] = int64(hold)
	m.quote[o.ID] = o.Side == market.Buy
}

func (m *machine) drop(o *Order) {
	delete(m.held, o.ID)
	for i := range m.open {
		if m.open[i] == o {
			m.open = append(m.open[:i], m.open[i+1:]...)
			return
		}
	}
}

func (m *machine) place(rt *rapid.T) {
	side := rapid.SampledFrom([]market.Side{market.Buy, market.Sell}).Draw(rt, "side")
	s := market.StrategyID(rapid.IntRange(1, 2).Draw(rt, "strategy"))
	price := market.Price(rapid.Int64Range(1, 1e6).Draw(rt, "price"))
	amount := market.Qty(rapid.Int64Range(1, 1e10).Draw(rt, "amount"))
	hold := m.worst(&market.Order{Type: market.TypeLimit, Side: side,
		OrderState: market.OrderState{AmountRemaining: amount, Price: price}})
	available, _ := m.Balance(s, exchange.HoldAsset(m.m, side))
	if hold > available {
		rt.Skip("too dear")
	}
	o := m.sendFor(s, market.TypeLimit, side, amount, price, hold)
	m.open = append(m.open, o)
	m.hold(o, hold)
}

// worst is what an order holds at the exchange, with a fee of half a percent.
func (m *machine) worst(o *market.Order) market.Money {
	hold, err := exchange.Hold(m.m, o, exchange.Fees{Taker: rate}, 0)
	require.NoError(m.t, err)
	return hold
}

const rate = 500_000

// fillSome fills a part, in one of three ways: fill and report together, fill first, report first.
func (m *machine) fillSome(rt *rapid.T) {
	o := m.pick(rt)
	amount := market.Qty(rapid.Int64Range(1, int64(o.AmountRemaining)).Draw(rt, "amount"))
	settlement := m.settled[o.ID]
	gross, err := m.m.Value(o.Price, amount)
	require.NoError(m.t, err)
	_, exact, err := settlement.Fill(m.m, o.Side, gross, rate, exchange.RoundOrder)
	require.NoError(m.t, err)
	m.settled[o.ID] = settlement
	fee, err := exact.FloorMoney(0)
	require.NoError(m.t, err)
	fill := m.fillOf(o, amount, o.Price, int64(fee))
	fill.ID[13], fill.ID[14] = byte(len(m.lines)>>8), byte(len(m.lines))
	r := m.report(o, market.ExecTrade, market.StatusPartiallyFilled)
	after := o.Order
	after.AmountRemaining -= amount
	r.FilledAmount, r.AmountRemaining, r.OnHold = o.FilledAmount+amount, after.AmountRemaining, m.worst(&after)
	if r.AmountRemaining == 0 {
		r.Status = market.StatusFilled
	}
	m.lines = append(m.lines, moved{o.Strategy, o.Side, int64(amount), int64(o.Price), int64(fee)})
	switch rapid.IntRange(0, 2).Draw(rt, "order of arrival") {
	case 0:
		m.tell(r, fill)
	case 1:
		m.apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{fill}})
		m.tell(r)
	case 2:
		m.tell(r)
		m.apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{fill}})
	}
	m.apply(market.Event{Kind: market.KindFill, Fills: []market.Fill{fill}}) // a second time: known
	m.hold(o, r.OnHold)
	if r.AmountRemaining == 0 {
		m.drop(o)
	}
}

func (m *machine) end(rt *rapid.T) {
	o := m.pick(rt)
	status := rapid.SampledFrom([]market.Status{market.StatusCanceled, market.StatusExpired}).Draw(rt, "status")
	m.tell(m.report(o, market.ExecCanceled, status))
	m.drop(o)
}

func (m *machine) update(rt *rapid.T) {
	o := m.pick(rt)
	if o.InFlight != 0 {
		rt.Skip("in flight")
	}
	available, _ := m.Balance(o.Strategy, o.OnHoldCurrency)
	hold := market.Money(rapid.Int64Range(0, int64(o.OnHold+available)).Draw(rt, "hold"))
	before := o.OnHold
	m.SendUpdate(o, hold)
	require.NoError(m.t, m.Check())
	require.Equal(m.t, max(before, hold), o.OnHold)
	refused := m.report(o, market.ExecRejected, 0)
	refused.Command = market.CommandUpdate
	m.tell(refused)
	require.Equal(m.t, before, o.OnHold)
}

func (m *machine) acknowledge(rt *rapid.T) {
	o := m.pick(rt)
	status := market.StatusNew
	if o.FilledAmount > 0 {
		status = market.StatusPartiallyFilled
	}
	m.tell(m.report(o, market.ExecNew, status))
}

func (m *machine) pay(rt *rapid.T) {
	s := market.StrategyID(rapid.IntRange(0, 2).Draw(rt, "owner"))
	money := rapid.Int64Range(1, 1e10).Draw(rt, "money")
	m.deposit(s, m.m.Quote, market.Money(money))
	m.lines = append(m.lines, moved{strategy: s, amount: money})
}

func (m *machine) move(rt *rapid.T) {
	m.price = rapid.Int64Range(1, 1e6).Draw(rt, "latest price")
	m.apply(market.Event{Kind: market.KindTrade, Trade: &market.Trade{Market: m.m.ID, Price: market.Price(m.price)}})
}

// compareSaved saves what has changed, as the account says, and requires that this is everything.
func (m *machine) compareSaved(t *rapid.T) {
	var err error
	if m.Changed() || m.saved == nil {
		m.saved, err = m.Save(nil, seatNames)
		require.NoError(t, err)
	}
	require.NoError(t, m.SaveOrders(seatNames, false, func(id market.OrderID, text []byte) error {
		if m.savedOrders[id] = slices.Clone(text); text == nil {
			delete(m.savedOrders, id)
		}
		return nil
	}))
	require.Equal(t, string(wholeText(t, m.Account, seatNames)), string(joined(m.saved, m.savedOrders)),
		"changed and does not say so")
	m.Saved()
}

// restart goes on with an account that was made of what this one saves, in a catalog of another
// order.
func (m *machine) restart(rt *rapid.T) {
	text := wholeText(m.t, m.Account, seatNames)
	again := restarted(m.t, rapid.Bool().Draw(rt, "ETH first"), m.own)
	require.NoError(m.t, restoreText(again, text, seatNames))
	require.NoError(m.t, again.Check())
	have, err := again.Save([]byte("before it "), seatNames)
	require.NoError(m.t, err)
	require.True(m.t, bytes.HasPrefix(text, have[len("before it "):]))
	require.Equal(m.t, string(text), string(wholeText(m.t, again, seatNames)))
	for i, o := range m.open {
		m.open[i] = again.Own(o.ID)
		require.NotNil(m.t, m.open[i])
	}
	m.Account, m.m = again, again.Catalog().MarketNamed("BTC-EUR")
	m.price = 0 // prices are saved apart
}

// seatNames are those of the strategies.
var seatNames = []string{"one", "two"}

// restarted is an empty account whose BTC-EUR is the first or the second market.
func restarted(t testing.TB, second bool, own []bool) *Account {
	c := &market.Catalog{}
	order := []string{"BTC", "ETH"}
	if second {
		order = []string{"ETH", "BTC"}
	}
	for _, symbol := range append(order, "EUR") {
		digits := uint8(8)
		if symbol == "EUR" {
			digits = 2
		}
		_, err := c.AddAsset(symbol, digits)
		require.NoError(t, err)
	}
	for _, symbol := range order {
		require.NoError(t, c.AddMarket(&market.Market{Name: symbol + "-EUR", PriceDigits: 2, Status: market.Trading,
			Rules: market.Rules{TickSize: 1, QuantityDecimals: 8}}))
	}
	return NewAccount(c, 2, own)
}

// compare asks account and twin for everything.
func (m *machine) compare(t *rapid.T) {
	require.NoError(t, m.Check())
	m.compareSaved(t)
	base, quote := m.twin.totals()
	heldBase, heldQuote := m.holds()
	require.Equal(t, Balance{market.Money(base), market.Money(heldBase)}, m.Total(m.m.Base))
	require.Equal(t, Balance{market.Money(quote), market.Money(heldQuote)}, m.Total(m.m.Quote))
	exposure, err := m.AssetExposure(m.m.Base, m.m.Quote)
	require.NoError(t, err)
	worth := new(big.Int).Div(product(base, m.price), big.NewInt(1e8)).Int64()
	require.Equal(t, market.Money(worth+heldQuote), exposure)
	for s := market.StrategyID(1); s <= 2; s++ {
		p := m.Position(s, m.m.ID)
		amount, cost, realised, fees := m.position(s)
		require.Equal(t, amount, int64(p.Amount))
		require.Equal(t, []string{cost.String(), realised.String(), fees.String()},
			[]string{p.Cost.String(), p.Realised.String(), p.Fees.String()})
	}
}

func TestTheAccountAgreesWithATwinThatAddsUpTheList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		own := rapid.SampledFrom([][]bool{nil, {false, true}, {false, true, true}}).Draw(rt, "own allocations")
		m := &machine{desk: newDesk(t, 2, own), own: own, settled: map[market.OrderID]exchange.Settlement{},
			savedOrders: map[market.OrderID][]byte{},
			twin:        twin{held: map[market.OrderID]int64{}, quote: map[market.OrderID]bool{}}}
		m.pay(rt)
		rt.Repeat(map[string]func(*rapid.T){
			"": m.compare, "place": m.place, "fill": m.fillSome, "end": m.end, "update": m.update,
			"acknowledge": m.acknowledge, "pay": m.pay, "restart": m.restart, "move": m.move,
		})
	})
}

func TestRealisedAndCostAddUpToTheCashThatMoved(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d, cash, held := newDesk(t, 1, nil), new(big.Int), int64(0)
		d.deposit(1, d.m.Quote, 1e17)
		for range rapid.IntRange(1, 40).Draw(rt, "fills") {
			l := moved{1, market.Buy, rapid.Int64Range(1, 1e9).Draw(rt, "amount"), rapid.Int64Range(1, 1e6).
				Draw(rt, "price"), rapid.Int64Range(-1e6, 1e6).Draw(rt, "fee")}
			if held > 0 && rapid.Bool().Draw(rt, "sell") {
				l.side, l.amount = market.Sell, min(held, l.amount)
				held -= 2 * l.amount
			}
			held += l.amount
			o := d.send(l.side, market.Qty(l.amount), market.Price(l.price), 0)
			d.trade(o, o.Amount, o.Price, l.fee, 0)
			cash.Add(cash, l.cash())
		}
		p := d.Position(1, 1)
		kept, err := p.Realised.Sub(p.Cost)
		require.NoError(rt, err)
		require.Equal(rt, cash.String(), kept.String(), "nothing is lost to rounding, however the position was split")
	})
}
