package live

import (
	"cmp"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// index finds own orders by the exchange's id, by the client order id, and by the price that they
// wait for, however many there are. It follows the changes that the account lists.
type index struct {
	account         *state.Account
	outbox          *outbox
	of              map[market.OrderID]indexed
	names, clients  names
	waiting         []prices         // by market
	changed, nearby []market.OrderID // of follow, and of who reads waiting; reused
}

// indexed is the entry of the index for an order.
type indexed struct {
	market       market.ID
	name, client uuid.UUID
	side         market.Side
	trigger      bool
	level        market.Price // 0: it waits for no price
}

func newIndex(a *state.Account, b *outbox, markets int) index {
	return index{account: a, outbox: b, of: map[market.OrderID]indexed{}, names: names{}, clients: names{},
		waiting: make([]prices, markets)}
}

// indexedOf makes the entry of the index for an order; an empty one for nil.
func indexedOf(own *state.Order) (x indexed) {
	if own == nil {
		return x
	}
	x = indexed{market: own.Market, name: own.ExchangeID, client: own.ClientOrderID, side: own.Side,
		trigger: own.Type.HasTrigger() && !own.Triggered}
	switch {
	case own.State.Terminal():
	case x.trigger:
		x.level = own.TriggerAmount
	default:
		x.level = own.Price
	}
	return x
}

// set takes over an order as it is now; nil: the account has forgotten it.
func (x *index) set(id market.OrderID, own *state.Order) {
	was, is := x.of[id], indexedOf(own)
	if was == is {
		return
	}
	if own == nil {
		delete(x.of, id)
	} else {
		x.of[id] = is
	}
	x.names.move(id, orderName{was.market, was.name}, orderName{is.market, is.name})
	x.clients.move(id, orderName{was.market, was.client}, orderName{is.market, is.client})
	if was.level != 0 {
		x.waiting[was.market].of(&was).remove(rung{was.level, id})
	}
	if is.level != 0 {
		x.waiting[is.market].of(&is).insert(rung{is.level, id})
	}
}

// orderName is an id of an order in a market.
type orderName struct {
	market market.ID
	id     uuid.UUID
}

// names maps ids to own orders, the lowest number first.
type names map[orderName][]market.OrderID

// move gives an order another name. A nil UUID is none.
func (n names) move(id market.OrderID, from, to orderName) {
	if from == to {
		return
	}
	if rest := slices.DeleteFunc(n[from], func(other market.OrderID) bool { return other == id }); len(rest) > 0 {
		n[from] = rest
	} else {
		delete(n, from)
	}
	if to.id != uuid.Nil {
		at, _ := slices.BinarySearch(n[to], id)
		n[to] = slices.Insert(n[to], at, id)
	}
}

// prices are the prices that the open orders of a market wait for.
type prices struct{ buys, sells, triggers rungs }

func (p *prices) of(x *indexed) *rungs {
	switch {
	case x.trigger:
		return &p.triggers
	case x.side == market.Buy:
		return &p.buys
	}
	return &p.sells
}

// reached appends the orders whose level lies between two prices, and the limits that the market
// has passed; a low of 0 is no price.
func (p *prices) reached(dst []market.OrderID, low, high market.Price) []market.OrderID {
	dst = p.triggers.between(dst, low, high)
	dst = p.sells.between(dst, 0, high)
	if low == 0 {
		return p.buys.between(dst, 0, high)
	}
	return p.buys.between(dst, low, math.MaxInt64)
}

// rung is an order at its level.
type rung struct {
	level market.Price
	id    market.OrderID
}

// rungs is sorted by level.
type rungs []rung

func compareRungs(x, y rung) int {
	return cmp.Or(cmp.Compare(x.level, y.level), cmp.Compare(x.id, y.id))
}

func (r *rungs) insert(one rung) {
	at, _ := slices.BinarySearchFunc(*r, one, compareRungs)
	*r = slices.Insert(*r, at, one)
}

func (r *rungs) remove(one rung) {
	if at, there := slices.BinarySearchFunc(*r, one, compareRungs); there {
		*r = slices.Delete(*r, at, at+1)
	}
}

// between appends the orders from one level to another, both included.
func (r *rungs) between(dst []market.OrderID, from, to market.Price) []market.OrderID {
	at, _ := slices.BinarySearchFunc(*r, rung{level: from}, compareRungs)
	for ; at < len(*r) && (*r)[at].level <= to; at++ {
		dst = append(dst, (*r)[at].id)
	}
	return dst
}

// follow brings the index up to date with the account, and notes which waiting writes may be
// unwanted.
func (x *index) follow() {
	x.changed = x.account.TakeChanges(x.changed[:0])
	for _, id := range x.changed {
		x.set(id, x.account.Known(id))
		x.outbox.suspect(id)
	}
}

// orderNamed is the own order of a market that expects something, or whose refusal was inferred,
// with the exchange's id, or else with the client order id; nil where there is none. A nil UUID
// names none.
func (x *index) orderNamed(m market.ID, name, client uuid.UUID) *state.Order {
	x.follow()
	ids := x.names[orderName{m, name}]
	if len(ids) == 0 {
		ids = x.clients[orderName{m, client}]
	}
	if len(ids) == 0 {
		return nil
	}
	return x.account.Known(ids[0])
}
