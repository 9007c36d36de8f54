// Package strategytest puts a strategy on a Desk without an engine, to test its asks candle by
// candle. It never matches an order by itself: the test fills orders. It has no fees, no gate and
// no latency; a backtest has. Start at Bench.
package strategytest

import (
	"fmt"
	"slices"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// owner is the only strategy on a Bench.
const owner = market.StrategyID(1)

// Bench is the engine of a Desk in a test: it records every ask as a line of text and keeps the
// orders open until the test fills or drops them. An update changes its order at once.
type Bench struct {
	At         market.Time                   // what Desk.Now returns
	Refuse     func(c *market.Command) error // the gate; nil lets everything pass
	Pending    bool                          // a cancelled order stays open until it is dropped; else it ends at once
	RefusePlan bool                          // portfolios are refused
	Universe   []market.ID                   // what Desk.Universe returns; nil: all markets. Nothing is refused
	Timers     []Timer                       // asked for, in order

	catalog   market.Catalog
	last      []market.Price    // by market
	positions []market.Position // by market
	cash      []market.Money    // by asset
	orders    []*market.Order
	leaving   []market.OrderID // sales of Close
	asked     []string
	plotted   []string
	next      market.OrderID
	window    strategy.BookWindow
	heard     []market.Signal
	recalling bool // Restart is replaying history
}

// Timer is a time that the strategy asked for.
type Timer struct {
	At   market.Time
	Name int64
}

// Market adds a market with these decimals of price and amount, two decimals of quote, and cash to
// trade it. It has no rules, except that amounts may have all their decimals.
func (b *Bench) Market(name string, price, amount uint8, cash market.Money) *market.Market {
	base, quote, err := market.SplitName(name)
	must(err)
	_, err = b.catalog.AddAsset(base, amount)
	must(err)
	asset, err := b.catalog.AddAsset(quote, 2)
	must(err)
	m := &market.Market{Name: name, PriceDigits: price, Rules: market.Rules{QuantityDecimals: amount}}
	must(b.catalog.AddMarket(m))
	b.last = grown(b.last, int(m.ID))
	b.positions = grown(b.positions, int(m.ID))
	b.cash = grown(b.cash, int(max(m.Base, m.Quote)))
	b.cash[asset.ID] += cash
	return m
}

// Deposit adds to the cash in m's quote asset, or takes from it where money is negative.
func (b *Bench) Deposit(m *market.Market, money market.Money) { b.cash[m.Quote] += money }

// Cash is the balance of m's quote asset, the holds of open buys included.
func (b *Bench) Cash(m *market.Market) market.Money { return b.cash[m.Quote] }

// Setup is a setup of all markets on candles of the interval.
func (b *Bench) Setup(interval market.Interval) strategy.Setup {
	return strategy.Setup{Markets: b.catalog.Markets(), Interval: interval}
}

// Desk returns a desk on the bench.
func (b *Bench) Desk() *strategy.Desk { return strategy.NewDesk((*engine)(b), owner, zerolog.Nop()) }

// Asked returns what was asked for since the last call, one line an ask, such as "buy 2 at 99.5
// (entry)" or "update 1 price 99". A refused ask is in the list, marked.
func (b *Bench) Asked() []string {
	asked := b.asked
	b.asked = nil
	return asked
}

// Plotted returns what was plotted since the last call, one line a value or mark, such as "mean
// 99.5", "RSI 30 in RSI" or "mark oversold". Values on the price are decimals, all have six digits
// at most.
func (b *Bench) Plotted() []string {
	plotted := b.plotted
	b.plotted = nil
	return plotted
}

// Candle closes a candle of m at a price for the strategy. All four prices are the close.
func (b *Bench) Candle(s strategy.Strategy, d *strategy.Desk, m *market.Market, price market.Price) {
	b.Bar(s, d, market.Candle{Open: price, High: price, Low: price, Close: price, Market: m.ID,
		Interval: market.Interval1h})
}

// Bar closes the candle c for the strategy.
func (b *Bench) Bar(s strategy.Strategy, d *strategy.Desk, c market.Candle) {
	b.last[c.Market] = c.Close
	s.OnCandle(d, c)
}

// Group closes candles of one instant for the strategy: each by itself, then all together, if it is
// a GroupHandler. The markets of the bench without a candle are missing.
func (b *Bench) Group(s strategy.Strategy, d *strategy.Desk, candles ...market.Candle) {
	for _, c := range candles {
		b.Bar(s, d, c)
	}
	if handler, can := s.(strategy.GroupHandler); can {
		handler.OnCandles(d, b.groupOf(candles))
	}
}

// Book shows the strategy an order book, until its OnBook returns.
func (b *Bench) Book(s strategy.Strategy, d *strategy.Desk, book market.OrderBook) {
	defer b.window.Close()
	s.OnBook(d, b.window.Open(&book))
}

// Restart gives fresh, a strategy of the kind of old, the state of old, as a live bot does after a
// restart: it starts fresh and replays history to it (the candles of its warm-up at least), with
// every ask refused, no timer set and nothing recorded; then fresh loads the Save of old, if they
// are Savers. The error is that of Save or Load.
func (b *Bench) Restart(old, fresh strategy.Strategy, history []market.Candle) error {
	b.recalling = true
	defer func(at market.Time) { b.recalling, b.At = false, at }(b.At)
	if starter, can := fresh.(strategy.Starter); can {
		starter.OnStart(b.Desk())
	}
	for group := range market.ByClose(history) {
		b.At = group[0].End()
		b.recall(fresh, group)
	}
	from, can := old.(strategy.Saver)
	if !can {
		return nil
	}
	data, err := from.Save()
	if err != nil {
		return err
	}
	return fresh.(strategy.Saver).Load(data)
}

// recall replays the candles of one instant.
func (b *Bench) recall(fresh strategy.Strategy, candles []market.Candle) {
	for i := range candles {
		fresh.OnCandle(b.Desk(), candles[i])
	}
	if handler, can := fresh.(strategy.GroupHandler); can {
		handler.OnCandles(b.Desk(), b.groupOf(candles))
	}
}

// groupOf is the group of candles of one instant.
func (b *Bench) groupOf(candles []market.Candle) strategy.Group {
	g := strategy.Group{Candles: candles}
	for _, c := range candles {
		g.End = c.End()
	}
	for _, m := range b.catalog.Markets() {
		if _, found := g.In(m.ID); !found {
			g.Missing = append(g.Missing, m.ID)
		}
	}
	return g
}

// Fill fills an amount of an open order at a price. A buy that was set by quote ends with it.
func (b *Bench) Fill(id market.OrderID, price market.Price, amount market.Qty) {
	o := b.order(id)
	m := b.catalog.Market(o.Market)
	value, err := m.Value(price, amount)
	must(err)
	money, err := value.CeilMoney(m.MoneyDrop())
	must(err)
	b.settle(o, m, amount, money, value)
	o.Status = market.StatusPartiallyFilled
	o.AmountRemaining -= amount
	if o.AmountRemaining <= 0 {
		b.Drop(id)
	}
}

func (b *Bench) settle(o *market.Order, m *market.Market, amount market.Qty, money market.Money, value market.Value) {
	p := &b.positions[o.Market]
	var err error
	if o.Side == market.Buy {
		p.Amount += amount
		b.cash[m.Quote] -= money
		p.Cost, err = p.Cost.Add(value)
	} else {
		p.Cost, err = p.Cost.Sub(p.Cost.Part(int64(amount), int64(p.Amount)))
		p.Amount -= amount
		b.cash[m.Quote] += money
	}
	must(err)
}

// Change lets a test change an open order as the exchange would: its status, its price.
func (b *Bench) Change(id market.OrderID, change func(o *market.Order)) { change(b.order(id)) }

// Drop ends an open order.
func (b *Bench) Drop(id market.OrderID) {
	b.order(id)
	b.orders = slices.DeleteFunc(b.orders, func(o *market.Order) bool { return o.ID == id })
}

// Position is the strategy's position in m.
func (b *Bench) Position(m *market.Market) market.Position { return b.positions[m.ID] }

func (b *Bench) order(id market.OrderID) *market.Order {
	o := (*engine)(b).Order(id)
	if o == nil {
		panic(fmt.Sprintf("strategytest: no open order %d", id))
	}
	return o
}

func grown[T any](slice []T, last int) []T {
	return append(slice, make([]T, max(0, last+1-len(slice)))...)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
