package sandbox

import (
	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// records are the orders and trades of one account in one market: all open orders, the
// Retention.Orders that closed last, and the latest Retention.Trades trades.
type records struct {
	all       chain // by creation
	open      chain // by creation
	closed    chain // by their end
	named     map[uuid.UUID]*record
	trades    []trade    // oldest first; more than Retention.Trades of them now and then
	tradeRows rowCounter // of trades
}

// trade is one fill of an account with the names of its order, which may be forgotten earlier.
type trade struct {
	fill
	OrderID       uuid.UUID
	ClientOrderID uuid.UUID `json:",omitzero"`
	OperatorID    int64     `json:",omitzero"`
}

// trading is the exchange's data of orders beside the venue.
type trading struct {
	sequence    market.OrderID // of the latest order
	endings     uint64         // orders that have ended so far
	disconnects disconnects

	command market.Command // scratch: the command that is carried out
	latest  *record        // scratch: of the order entered last
	takers  []*record      // scratch: of the orders that take
	view    market.Order   // scratch: the order in the answer
	viewed  []market.Fill  // scratch: its fills
	spare   *record        // forgotten ones, by their link byState

	histories []*orderHistory // of forgotten ones whose record serves another order
}

// recordsOf returns the account's records in a market.
func (a *account) recordsOf(id market.ID) *records {
	for int(id) >= len(a.orders) {
		a.orders = append(a.orders, nil)
	}
	if a.orders[id] == nil {
		a.orders[id] = &records{open: chain{place: byState}, closed: chain{place: byState},
			named: map[uuid.UUID]*record{}}
	}
	return a.orders[id]
}

// orderOf returns the order of a record: the venue's own while it is open. Read it, and copy it to
// keep it.
func (ex *Exchange) orderOf(r *record) *market.Order {
	if r.closed() {
		return r.history.order
	}
	return ex.venue.Order(r.id)
}

// recordNamed returns the record of an order of the account by the exchange's name of it, or nil.
func (ex *Exchange) recordNamed(a *account, id market.ID, orderID uuid.UUID) *record {
	count, ok := countOf(orderID, id, nameOfOrder)
	if !ok || count == 0 {
		return nil
	}
	if r := ex.listings[id].orders.Get(market.OrderID(count)); r != nil && r.account == a.id {
		return r
	}
	return nil
}

// onReport is the venue's sink. It keeps the records up to date and publishes trades and changes of
// the book.
func (ex *Exchange) onReport(ev *market.Event) {
	l, o := ex.listings[ev.Report.Market], ex.venue.Order(ev.Report.Order)
	count, _ := countOf(o.ExchangeID, o.Market, nameOfOrder) // the venue made it
	r := l.orders.Get(market.OrderID(count))
	entered := r == nil
	if entered {
		r = ex.enter(ex.accounts[ex.venue.Owner(o.ID)], o, count)
	}
	resting, trades := rests(o), len(ev.Fills) > 0
	for i := range ev.Fills {
		if ex.fill(r, o, &ev.Fills[i]) {
			ex.touch(l) // both sides of a trade are one change
		}
	}
	switch {
	case trades && !ev.Fills[0].Taker:
		r.shown = resting
	case r.taking: // whether it rests is known when it has taken
	case trades:
		r.taking = true
		ex.takers = append(ex.takers, r)
	default:
		ex.show(r, resting)
	}
	if o.Done() {
		ex.close(r, o)
	}
	ex.store.markOrder(r)
	ex.streams.tellAccount(l, r, o, ev, entered)
}

// show notes whether an order is in the book, which has changed if it is there or was.
func (ex *Exchange) show(r *record, resting bool) {
	if r.shown || resting {
		ex.touch(ex.listings[r.market])
	}
	r.shown = resting
}

// showTakers notes which of the orders that have taken are in the book now. Their reports came
// before the command was done.
func (ex *Exchange) showTakers() {
	for _, r := range ex.takers {
		r.taking = false
		ex.show(r, !r.closed() && rests(ex.orderOf(r)))
	}
	ex.takers = ex.takers[:0]
}

// rests reports whether an order is in the book for all to see.
func rests(o *market.Order) bool {
	return o.Visible && !o.Done() && o.Status != market.StatusAwaitingTrigger
}

// enter makes the record of an order that the venue has taken in for an account.
func (ex *Exchange) enter(a *account, o *market.Order, count uint64) *record {
	r := ex.blank()
	*r = record{id: o.ID, count: count, account: a.id, market: o.Market}
	ex.enlist(r, o.ClientOrderID)
	ex.latest = r
	return r
}

// enlist adds a record to the lists, as the newest of its account in its market.
func (ex *Exchange) enlist(r *record, name uuid.UUID) {
	ex.listings[r.market].orders.Put(market.OrderID(r.count), r)
	have := ex.accounts[r.account].recordsOf(r.market)
	have.all.join(r)
	have.open.join(r)
	if name != uuid.Nil {
		if earlier := have.named[name]; earlier != nil {
			earlier.reused = true
		}
		have.named[name] = r
	}
}

// fill notes a fill of an order and makes it known. It reports whether the trade is new: not
// printed before by its other order.
func (ex *Exchange) fill(r *record, o *market.Order, f *market.Fill) bool {
	a, keep := ex.accounts[r.account], ex.config.Retention.Trades
	noted := fill{Fill: *f, Due: ex.settles(f)}
	p, have := ex.ensureHistory(r), a.recordsOf(r.market)
	before := len(p.fills)
	p.fills = remember(p.fills, noted, keep)
	p.dropped += before + 1 - len(p.fills)
	have.trades = remember(have.trades, trade{fill: noted, OrderID: o.ExchangeID, ClientOrderID: o.ClientOrderID,
		OperatorID: o.OperatorID}, keep)
	have.tradeRows.total++
	public := market.Trade{Market: f.Market, Price: f.Price, Amount: f.Amount, Side: f.Side, Time: f.Time}
	if !f.Taker {
		public.Side = f.Side.Opposite()
	}
	ex.bank.traded(a, f)
	return ex.print(f.ID, &public)
}

// close stores the final state of a record's order. Where there are too many closed orders it drops
// the oldest.
func (ex *Exchange) close(r *record, o *market.Order) {
	ex.endings++
	p := ex.ensureHistory(r)
	if p.memory == nil {
		p.memory = new(market.Order)
	}
	*p.memory = *o
	p.order, p.ended = p.memory, ex.endings
	ex.retire(r)
}

// retire moves a record from the open to the closed records; Retention.Orders of these are kept.
func (ex *Exchange) retire(r *record) {
	have := ex.accounts[r.account].recordsOf(r.market)
	have.open.leave(r)
	have.closed.join(r)
	if have.closed.length > ex.config.Retention.Orders {
		ex.forget(have.closed.oldest)
	}
}

// forget drops the record of a closed order. Its memory and that of its history serve later ones,
// from the next order entered on; until then they may still be read.
func (ex *Exchange) forget(r *record) {
	have, name := ex.accounts[r.account].recordsOf(r.market), r.history.order.ClientOrderID
	have.closed.leave(r)
	have.all.leave(r)
	if have.named[name] == r {
		delete(have.named, name)
	}
	ex.listings[r.market].orders.Delete(market.OrderID(r.count))
	ex.store.markForgotten(r)
	r.links[byState].newer = ex.spare
	ex.spare = r
}

// blank returns memory for a record, left over from another or new.
func (ex *Exchange) blank() *record {
	if ex.spare == nil {
		slab := make([]record, 64)
		for i := range slab {
			slab[i].links[byState].newer = ex.spare
			ex.spare = &slab[i]
		}
	}
	r := ex.spare
	ex.spare = r.links[byState].newer
	if r.history != nil {
		ex.histories = append(ex.histories, r.history)
	}
	return r
}

// mostSpareFills is the number of fills for which a history that serves another order keeps memory.
const mostSpareFills = 16

// ensureHistory returns the record's history, an empty one if it had none.
func (ex *Exchange) ensureHistory(r *record) *orderHistory {
	if r.history != nil {
		return r.history
	}
	last := len(ex.histories) - 1
	if last < 0 {
		r.history = &orderHistory{}
		return r.history
	}
	r.history = ex.histories[last]
	ex.histories = ex.histories[:last]
	left := orderHistory{memory: r.history.memory}
	if cap(r.history.fills) <= mostSpareFills {
		left.fills = r.history.fills[:0]
	}
	*r.history = left
	return r.history
}

// find returns the record that a request's clientOrderId or, where there is none, its orderId
// names: the latest order with that value (specification 2.5). Neither is 203, no such order 240.
func (ex *Exchange) find(c *api.Call, id market.ID) (*record, *exchange.Error) {
	var r *record
	switch {
	case c.Has("clientOrderId"):
		r = ex.accounts.caller(c).recordsOf(id).named[c.UUID("clientOrderId")]
	case c.Has("orderId"):
		r = ex.recordNamed(ex.accounts.caller(c), id, c.UUID("orderId"))
	default:
		return nil, exchange.Required("orderId")
	}
	if r == nil {
		return nil, exchange.ErrCode(exchange.CodeNotFound)
	}
	return r, nil
}
