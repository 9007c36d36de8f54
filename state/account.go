// Package state holds what a trader has: Account, a fold over events (orders, positions, balances), and the candle store. It
// never decides anything and never talks to an exchange. Start at Account.Apply for the book, at CandleStore for the data.
package state

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// Account is the local book: own orders, positions by strategy, balances by allotment. It changes by Apply (what the exchange
// told), Send (what was asked of it) and nothing else. It is a plain value owned by one goroutine.
//
// Balances are kept in purses: one for each strategy that has an allotment of its own, and purse 0 for all others together.
type Account struct {
	catalog   *market.Catalog
	purses    [][]Balance         // by purse, by asset
	purseOf   []int               // by strategy
	positions [][]market.Position // by strategy, by market
	marks     []mark              // by market
	quotes    []quote             // by market
	orders    market.Index[Order] // open or unsettled
	open      []*Order            // by id
	openIn    []int               // by market: what counts against maxOpenOrders
	openBy    []int               // by strategy
	spare     []*Order
	closed    []*Order // closed by the last Apply: spare from the next one on
	foreign   int64    // reports and fills of orders that are not ours
}

// mark is the latest that is known of a market's price.
type mark struct {
	price market.Price
	at    market.Time // its arrival
	late  bool        // it came on a candle that arrived after its time
}

// quote is the best bid and ask last seen on a ticker or a book, 0 where there was none.
type quote struct {
	bid, ask market.Price
}

// Balance is what a purse has of an asset. Available is Total − Held.
type Balance struct {
	Total, Held market.Money
}

// Available is what new orders may hold.
func (b Balance) Available() market.Money { return b.Total - b.Held }

// Order is an own order with its local state.
type Order struct {
	market.Order
	State        State
	InFlight     market.CommandKind // the write that the exchange has not answered; 0: none
	CancelWanted bool               // asked for while another write was in flight
	Reported     bool               // the exchange has told of it at least once
	Code         int                // of the exchange's refusal, for Rejected
	extra        market.Money       // part of OnHold: what an update in flight may need more
	fills        []fillMark
	counted      market.Qty // of the fills
	unsettled    int
	doubted      bool // its answer never came: a refusal was inferred and may be taken back
}

// fillMark remembers a fill that was counted.
type fillMark struct {
	id      uuid.UUID
	settled bool
}

// NewAccount returns an empty account for so many strategies (StrategyID 1…strategies). own says which of them have an
// allotment of their own, by StrategyID; nil: none.
func NewAccount(catalog *market.Catalog, strategies int, own []bool) *Account {
	a := &Account{
		catalog: catalog,
		purseOf: make([]int, strategies+1), positions: make([][]market.Position, strategies+1),
		marks:  make([]mark, len(catalog.Markets())+1),
		quotes: make([]quote, len(catalog.Markets())+1),
		openIn: make([]int, len(catalog.Markets())+1), openBy: make([]int, strategies+1),
	}
	purses := 1
	for s := range a.positions {
		a.positions[s] = make([]market.Position, len(catalog.Markets())+1)
		if s < len(own) && own[s] {
			a.purseOf[s] = purses
			purses++
		}
	}
	for range purses {
		a.purses = append(a.purses, make([]Balance, len(catalog.Assets())+1))
	}
	return a
}

// Applied is what an event changed.
type Applied struct {
	Order *Order // the own order it was about; nil: none, or an overtaken report that tells nothing new. Valid until the next Apply
	Fresh int    // the event's first Fresh fills are new; Apply moves them to the front
	Late  bool   // the report was overtaken by one applied before: of it count only the fills, or that an update was answered
	Ended bool   // this event closed the order
}

// Apply folds one event. It returns an error only for arithmetic that leaves its range, and has then changed nothing of the
// fill that failed.
func (a *Account) Apply(ev *market.Event) (Applied, error) {
	if ev.Kind == market.KindCandles {
		a.markCandles(ev)
		return Applied{}, nil
	}
	a.recycle()
	switch ev.Kind {
	case market.KindTicker:
		if ev.Ticker.Last != 0 {
			a.marks[ev.Ticker.Market] = mark{price: ev.Ticker.Last, at: ev.At}
		}
		a.quotes[ev.Ticker.Market] = quote{ev.Ticker.Bid, ev.Ticker.Ask}
	case market.KindBook:
		a.quotes[ev.Book.Market] = quoteOf(ev.Book)
	case market.KindTrade:
		a.marks[ev.Trade.Market] = mark{price: ev.Trade.Price, at: ev.At}
	case market.KindTransfer:
		return Applied{}, a.transfer(ev)
	case market.KindReport:
		return a.applyReport(ev)
	case market.KindFill:
		return a.applyFills(ev)
	}
	return Applied{}, nil
}

// markCandles takes the closes.
func (a *Account) markCandles(ev *market.Event) {
	for i := range ev.Candles {
		a.Mark(&ev.Candles[i], ev.At)
	}
}

// Mark takes the close of a candle that arrived at a time: what Apply does with each candle of an event.
func (a *Account) Mark(c *market.Candle, at market.Time) {
	a.marks[c.Market] = mark{price: c.Close, at: at, late: c.Late}
}

// transfer changes a balance from outside. A base asset that comes with a price opens a position of the owner, and a market
// without a price takes it for its latest.
func (a *Account) transfer(ev *market.Event) error {
	balance := &a.purses[a.purseOf[ev.Owner]][ev.Asset]
	total, err := market.Add(balance.Total, ev.Money)
	if err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	if ev.Market != 0 && ev.Price != 0 && ev.Money > 0 {
		if err := a.endow(ev); err != nil {
			return fmt.Errorf("transfer: %w", err)
		}
	}
	balance.Total = total
	return nil
}

// endow adds base that arrived to the owner's position, at the price that came with it.
func (a *Account) endow(ev *market.Event) error {
	cost, err := a.catalog.Market(ev.Market).Value(ev.Price, market.Qty(ev.Money))
	if err != nil {
		return err
	}
	position := a.positions[ev.Owner][ev.Market]
	if position.Amount == 0 {
		position.Opened = ev.At
	}
	if position.Amount, err = market.Add(position.Amount, market.Qty(ev.Money)); err != nil {
		return err
	}
	if position.Cost, err = position.Cost.Add(cost); err != nil {
		return err
	}
	a.positions[ev.Owner][ev.Market] = position
	if a.marks[ev.Market].price == 0 {
		a.marks[ev.Market] = mark{price: ev.Price, at: ev.At}
	}
	return nil
}

// Send records an order that is about to leave: state Sent, its funds reserved. The account keeps a copy.
func (a *Account) Send(o *market.Order, reserve market.Money) *Order {
	own := a.blank()
	own.Order, own.State, own.InFlight = *o, Sent, market.CommandPlace
	own.OnHold = reserve
	own.AmountRemaining, own.AmountQuoteRemaining = o.Amount, o.AmountQuote
	m := a.catalog.Market(o.Market)
	own.OnHoldCurrency, own.FeeCurrency = m.Quote, m.Quote
	if o.Side == market.Sell {
		own.OnHoldCurrency = m.Base
	}
	a.purse(own).Held += reserve
	a.orders.Put(o.ID, own)
	a.open = append(a.open, own)
	a.count(own, 1)
	return own
}

// Drop takes back orders of a strategy that were recorded by Send but will never leave the process: those from id on.
func (a *Account) Drop(s market.StrategyID, id market.OrderID) {
	for i := len(a.open) - 1; i >= 0 && a.open[i].ID >= id; i-- {
		if a.open[i].Strategy == s {
			a.close(a.open[i], Rejected)
		}
	}
}

// SendUpdate records that an update is about to leave: until its answer the order holds the larger of both amounts.
func (a *Account) SendUpdate(o *Order, hold market.Money) {
	o.InFlight = market.CommandUpdate
	o.extra = max(0, hold-o.OnHold)
	a.reserve(o, o.OnHold+o.extra)
}

// TakeBack undoes SendUpdate for an update that will never leave the process.
func (a *Account) TakeBack(o *Order) {
	o.InFlight = 0
	a.reserve(o, o.OnHold-o.extra)
	o.extra = 0
}

// release frees what a fill took out of an order's hold, where no report has told the new hold yet.
func (a *Account) release(o *Order, taken market.Money) {
	if o.counted <= o.FilledAmount {
		return
	}
	a.reserve(o, o.OnHold-min(max(0, taken), o.OnHold-o.extra))
}

// reserve changes what an order holds.
func (a *Account) reserve(o *Order, hold market.Money) {
	a.purse(o).Held += hold - o.OnHold
	o.OnHold = hold
}

func (a *Account) purse(o *Order) *Balance { return &a.purses[a.purseOf[o.Strategy]][o.OnHoldCurrency] }

func (a *Account) count(o *Order, by int) {
	a.openBy[o.Strategy] += by
	if o.Type != market.TypeMarket {
		a.openIn[o.Market] += by
	}
}

// close ends an order locally and frees what it held.
func (a *Account) close(o *Order, state State) {
	a.reserve(o, 0)
	o.State, o.InFlight = state, 0
	a.count(o, -1)
	for i := len(a.open) - 1; i >= 0; i-- {
		if a.open[i] == o {
			a.open = append(a.open[:i], a.open[i+1:]...)
			break
		}
	}
	if o.complete() {
		a.retire(o)
	}
}

// complete reports whether nothing more is expected of a closed order: no fill, no fee, no change of mind.
func (o *Order) complete() bool {
	return o.unsettled == 0 && o.counted >= o.FilledAmount && (o.State != Rejected || !o.doubted)
}

// reopen takes back that an order was closed.
func (a *Account) reopen(o *Order) {
	at := len(a.open)
	for at > 0 && a.open[at-1].ID > o.ID {
		at--
	}
	a.open = slices.Insert(a.open, at, o)
	a.count(o, 1)
}

// retire forgets a closed order of which nothing more is expected.
func (a *Account) retire(o *Order) {
	a.orders.Delete(o.ID)
	a.closed = append(a.closed, o)
}

func (a *Account) recycle() {
	if len(a.closed) > 0 {
		a.spare = append(a.spare, a.closed...)
		a.closed = a.closed[:0]
	}
}

func (a *Account) blank() *Order {
	if n := len(a.spare); n > 0 {
		o := a.spare[n-1]
		a.spare = a.spare[:n-1]
		*o = Order{fills: o.fills[:0]}
		return o
	}
	slab := make([]Order, 64)
	for i := 1; i < len(slab); i++ {
		a.spare = append(a.spare, &slab[i])
	}
	return &slab[0]
}

// Position is what a strategy holds in a market.
func (a *Account) Position(s market.StrategyID, m market.ID) market.Position {
	return a.positions[s][m]
}

// Balance is what a strategy may spend of an asset, and what its purse's open orders hold.
func (a *Account) Balance(s market.StrategyID, asset market.AssetID) (available, inOrder market.Money) {
	b := a.purses[a.purseOf[s]][asset]
	return b.Available(), b.Held
}

// Total is the balance of an asset over all purses.
func (a *Account) Total(asset market.AssetID) (total Balance) {
	for _, purse := range a.purses {
		total.Total += purse[asset].Total
		total.Held += purse[asset].Held
	}
	return total
}

// Last is the latest price of a market, 0 before the first.
func (a *Account) Last(m market.ID) market.Price { return a.marks[m].price }

func quoteOf(b *market.OrderBook) (q quote) {
	if len(b.Bids) > 0 {
		q.bid = b.Bids[0].Price
	}
	if len(b.Asks) > 0 {
		q.ask = b.Asks[0].Price
	}
	return q
}

// Touch is the price that an order of that side would trade at now: the best ask for a buy, the best bid for a sell, the
// latest price where neither ticker nor book has told.
func (a *Account) Touch(m market.ID, side market.Side) market.Price {
	best := a.quotes[m].ask
	if side == market.Sell {
		best = a.quotes[m].bid
	}
	if best == 0 {
		return a.marks[m].price
	}
	return best
}

// Seen is when the latest price of a market arrived, and whether it came late.
func (a *Account) Seen(m market.ID) (at market.Time, late bool) {
	return a.marks[m].at, a.marks[m].late
}

// Catalog lists markets and assets.
func (a *Account) Catalog() *market.Catalog { return a.catalog }

// Order returns an own open order, or nil.
func (a *Account) Order(id market.OrderID) *market.Order {
	if o := a.orders.Get(id); o != nil && !o.State.Terminal() {
		return &o.Order
	}
	return nil
}

// Own returns an own open order with its local state, or nil.
func (a *Account) Own(id market.OrderID) *Order {
	if o := a.orders.Get(id); o != nil && !o.State.Terminal() {
		return o
	}
	return nil
}

// Open appends the open orders of strategy s in market m, by id; 0 stands for all.
func (a *Account) Open(dst []*market.Order, s market.StrategyID, m market.ID) []*market.Order {
	for _, o := range a.open {
		if (s == 0 || o.Strategy == s) && (m == 0 || o.Market == m) {
			dst = append(dst, &o.Order)
		}
	}
	return dst
}

// OpenIn is the number of orders that count against maxOpenOrders of a market.
func (a *Account) OpenIn(m market.ID) int { return a.openIn[m] }

// OpenBy is the number of open orders of a strategy.
func (a *Account) OpenBy(s market.StrategyID) int { return a.openBy[s] }

// Foreign is the number of reports so far about orders that are not ours.
func (a *Account) Foreign() int64 { return a.foreign }

// Equity is what all balances are worth in currency at the latest prices: each asset through its market against currency,
// rounded down by asset. An asset without such a market, or before its first price, counts nothing.
func (a *Account) Equity(currency market.AssetID) (market.Money, error) {
	_, equity, err := a.Worths(currency)
	return equity, err
}

// Worths returns the balance in currency and the equity of which it is part.
func (a *Account) Worths(currency market.AssetID) (cash, equity market.Money, err error) {
	cash = a.sum(currency)
	equity = cash
	for _, m := range a.catalog.Markets() {
		if m.Quote != currency {
			continue
		}
		total := a.sum(m.Base)
		if total == 0 {
			continue
		}
		worth, err := m.Worth(a.marks[m.ID].price, market.Qty(total))
		if err != nil {
			return 0, 0, fmt.Errorf("equity: %w", err)
		}
		if equity, err = market.Add(equity, worth); err != nil {
			return 0, 0, fmt.Errorf("equity: %w", err)
		}
	}
	return cash, equity, nil
}

// sum is the balance of an asset over all purses.
func (a *Account) sum(asset market.AssetID) (total market.Money) {
	for _, purse := range a.purses {
		total += purse[asset].Total
	}
	return total
}

// Exposure is what the account's positions are worth in currency at the latest prices, together with what its open buys
// hold.
func (a *Account) Exposure(currency market.AssetID) (market.Money, error) {
	equity, err := a.Equity(currency)
	if err != nil {
		return 0, err
	}
	total := a.Total(currency)
	return market.Add(equity-total.Total, total.Held)
}

// Worth is what amount of a market's base is worth in its quote at the latest price, rounded down.
func (a *Account) Worth(m market.ID, amount market.Qty) (market.Money, error) {
	return a.catalog.Market(m).Worth(a.marks[m].price, amount)
}
