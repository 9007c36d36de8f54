package state

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// Account is the local state: own orders, positions by strategy, balances by allocation. It changes
// only by Apply (reports of the exchange) and Send (requests to it). It is a plain value owned by
// one goroutine.
//
// Each strategy with an allocation of its own has one; allocation 0 is shared by all others and
// holds the unallocated money.
type Account struct {
	Prices
	allocations  [][]Balance     // by allocation, by asset
	allocationOf []int           // by strategy
	sharing      int             // strategies without an allocation of their own
	balances     [][]Balance     // by strategy: its allocation
	seats        [][]seat        // by strategy, by market
	histories    [][]*history    // by strategy, by market; nil: no position's history can change
	window       market.Duration // of KeepRecent
	values       values
	orders       market.Index[Order] // open or unsettled
	openOf       []openOf            // by strategy
	openIn       []openIn            // by market
	stamps       uint64              // of entries in best prices so far
	spare        []*Order
	closed       []*Order         // by the last Apply; spare from the next one on
	claims       []claim          // of orders that wait
	absent       []*Order         // the latest orders with an inferred refusal: the exchange may still show one
	foreign      int64            // reports and fills of foreign orders
	changed      bool             // since the last Saved; orders are in touched
	touched      []market.OrderID // orders that have changed since the last Saved or Restore
	news         []market.OrderID // … since the last TakeChanges
	tracked      changes          // the lists that are kept: for a save since the first Saved or Restore
	text         []byte           // of the order saved last
	released     []market.Money   // by asset: moved by Restore to the unallocated money
	left         []SavedPosition  // dust of strategies that are gone, which Restore has dropped
}

// Balance is an allocation's amount of an asset. Available is Total − Held.
type Balance struct {
	Total, Held market.Money
}

// Available is the amount that new orders may hold.
func (b Balance) Available() market.Money { return b.Total - b.Held }

// Order is an own order with its local state.
type Order struct {
	market.Order
	State        State
	InFlight     market.CommandKind // the write that the exchange has not answered; 0: none
	CancelWanted bool               // wanted while another write was in flight
	Reported     bool               // the exchange has reported it at least once
	Code         int                // of the exchange's refusal, for Rejected
	tally
	seat      *seat // of its strategy in its market, once the account has the order
	openLinks       // while it is open
}

// tally is the account's own data of an order.
type tally struct {
	extra market.Money // part of OnHold: what an update in flight may need in addition
	fills []fillMark
	// index maps fill ids to places in fills, for many fills; nil: few, or not built yet.
	index      map[uuid.UUID]int
	counted    market.Qty // of the fills
	unsettled  int
	unanswered bool    // its place was never answered: a refusal is inferred and may be undone
	touched    changes // the account's lists of changed orders that have it
}

// fillMark is a counted fill.
type fillMark struct {
	id      uuid.UUID
	settled bool
}

// NewAccount returns an empty account for strategies 1…strategies. own says, by StrategyID, which
// of them have an allocation of their own; nil: none.
func NewAccount(catalog *market.Catalog, strategies int, own []bool) *Account {
	a := &Account{
		Prices:       newPrices(catalog),
		allocationOf: make([]int, strategies+1), seats: make([][]seat, strategies+1),
		openIn: make([]openIn, len(catalog.Markets())+1), openOf: make([]openOf, strategies+1),
	}
	allocations := 1
	for s := range a.seats {
		if s < len(own) && own[s] {
			a.allocationOf[s] = allocations
			allocations++
		} else if s > 0 {
			a.sharing++
		}
	}
	for range allocations {
		a.allocations = append(a.allocations, make([]Balance, len(catalog.Assets())+1))
	}
	a.released = make([]market.Money, len(catalog.Assets())+1)
	a.values = newValues(catalog)
	for s, allocation := range a.allocationOf {
		a.balances = append(a.balances, a.allocations[allocation])
		a.seats[s] = make([]seat, len(catalog.Markets())+1)
		for _, m := range catalog.Markets() {
			a.seats[s][m.ID] = seat{market: m, of: &a.openOf[s], in: &a.openIn[m.ID],
				held:   [sides]*Balance{market.Buy: &a.balances[s][m.Quote], market.Sell: &a.balances[s][m.Base]},
				valued: slices.Concat(a.values.based[m.Base], a.values.based[m.Quote])}
		}
	}
	return a
}

// Released is the money of an asset that Restore has moved from strategies that are no longer
// configured to the unallocated money.
func (a *Account) Released(asset market.AssetID) market.Money { return a.released[asset] }

// Left is the dust of strategies that are gone, which Restore has dropped.
func (a *Account) Left() []SavedPosition { return a.left }

// Applied is the effect of an event.
type Applied struct {
	// Order is the event's own order; nil: none, or an overtaken report without news. Valid until
	// the next Apply.
	Order *Order
	Fresh int // the event's first Fresh fills are new; Apply moves them to the front
	// Late: a later report was applied before; only the fills count, or that an update was
	// answered.
	Late  bool
	Ended bool // this event closed the order
}

// Apply folds one event. Its only errors are arithmetic overflows; nothing of the failed fill has
// then changed.
func (a *Account) Apply(ev *market.Event) (Applied, error) {
	if ev.Kind == market.KindCandles {
		a.markCandles(ev)
		return Applied{}, nil
	}
	a.recycle()
	if ev.Kind == market.KindReport {
		return a.applyReport(ev)
	}
	return a.applyOther(ev)
}

// applyOther is Apply for what is no candle and no report.
func (a *Account) applyOther(ev *market.Event) (Applied, error) {
	switch ev.Kind {
	case market.KindTicker:
		a.Quote(ev.Ticker, ev.At)
	case market.KindBook:
		a.takeBook(ev.Book)
	case market.KindTrade:
		a.setMark(ev.Trade.Market, ev.Trade.Price, ev.At, false)
	case market.KindTransfer:
		return Applied{}, a.transfer(ev)
	case market.KindFill:
		return a.applyFills(ev)
	}
	return Applied{}, nil
}

// transfer changes a balance from outside. A base asset that comes with a price opens a position of
// the owner, and gives a market without a price its first. A base asset that leaves, with a market
// and without a price, leaves the owner's position there.
func (a *Account) transfer(ev *market.Event) error {
	balance := &a.balances[ev.Owner][ev.Asset]
	total, err := market.Add(balance.Total, ev.Money)
	if err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	if ev.Market != 0 && (ev.Price != 0) == (ev.Money > 0) {
		if err := a.movePosition(ev); err != nil {
			return fmt.Errorf("transfer: %w", err)
		}
	}
	balance.Total = total
	a.outdate(a.values.based[ev.Asset])
	a.changed = true
	return nil
}

// movePosition adds base that arrived to the owner's position, at its price, or removes base that
// left, with its part of the cost; neither realises anything.
func (a *Account) movePosition(ev *market.Event) (err error) {
	m := a.catalog.Market(ev.Market)
	moved := step{at: ev.At, amount: market.Qty(ev.Money), price: ev.Price, settled: true}
	position, r := a.seats[ev.Owner][ev.Market].position, a.historyOf(ev.Owner, ev.Market)
	if r != nil {
		position, r, err = r.insert(m, moved)
	} else {
		err = moved.apply(m, &position)
	}
	if err != nil {
		return err
	}
	a.seats[ev.Owner][ev.Market].position = position
	a.keepHistory(ev.Owner, ev.Market, r)
	if a.marks[ev.Market].price == 0 && ev.Price != 0 {
		a.setMark(ev.Market, ev.Price, ev.At, false)
	}
	return nil
}

// Position is the position of a strategy in a market.
func (a *Account) Position(s market.StrategyID, m market.ID) market.Position {
	return a.seats[s][m].position
}

// Holding is Position without a copy: it changes with the account.
func (a *Account) Holding(s market.StrategyID, m market.ID) *market.Position {
	return &a.seats[s][m].position
}

// Strategies is the number of strategies.
func (a *Account) Strategies() int { return len(a.seats) - 1 }

// Balance is what a strategy may spend of an asset, and what the open orders of its allocation
// hold.
func (a *Account) Balance(s market.StrategyID, asset market.AssetID) (available, inOrder market.Money) {
	b := &a.balances[s][asset]
	return b.Available(), b.Held
}

// Sellable is the base that a strategy may sell in a market now: its position, and what no position
// of a strategy with the same money holds.
func (a *Account) Sellable(s market.StrategyID, m *market.Market) market.Money {
	available := a.balances[s][m.Base].Available()
	if a.sharing < 2 || a.allocationOf[s] != 0 {
		return available
	}
	own := min(available, a.seats[s][m.ID].free())
	for t := 1; t < len(a.seats) && available > own; t++ {
		if market.StrategyID(t) != s && a.allocationOf[t] == 0 {
			for _, other := range a.values.based[m.Base] {
				available -= a.seats[t][other].free()
			}
		}
	}
	return max(available, own)
}

// Total is the balance of an asset over all allocations.
func (a *Account) Total(asset market.AssetID) (total Balance) {
	for _, allocation := range a.allocations {
		total.Total += allocation[asset].Total
		total.Held += allocation[asset].Held
	}
	return total
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

// Foreign is the number of reports so far about foreign orders.
func (a *Account) Foreign() int64 { return a.foreign }
