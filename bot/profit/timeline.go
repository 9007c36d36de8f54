package profit

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Source is the input of the readers: a *journal.Store, of a running bot or of a file.
type Source interface {
	Catalog() *market.Catalog
	Bookings(from uint64, visit func(*journal.Booking) error) error
	Equity(strategy string, from, to market.Time) ([]journal.EquitySample, error)
	Runs() ([]journal.RunRow, error)
	Blob(name string) ([]byte, error)
}

// event is a fill with its fee, base that moved without a trade (side 0), or a position that went
// to another strategy (side 0 with a new owner).
type event struct {
	at       market.Time
	counts   market.Time // when it counts: at, or the time of an adoption that was booked before it
	order    market.OrderID
	id       uuid.UUID
	strategy uint32 // place in timeline.names
	tag      uint32 // likewise
	epoch    uint32 // number of the adoption that was booked before it, of this strategy in this market
	newOwner uint32 // of an adoption: 1 + the place of the strategy that has the position now
	flow     uint32 // of base that moved without a trade: 1 + the place of its flow
	market   market.ID
	side     market.Side
	settled  bool
	amount   market.Qty
	price    market.Price
	fee      market.Value // of an adoption: what the position cost
}

// compare orders events by time. An adoption comes before whatever was booked after it, of the two
// strategies in its market.
func (e *event) compare(o *event) int {
	return cmp.Or(cmp.Compare(e.counts, o.counts), cmp.Compare(e.epoch, o.epoch), cmp.Compare(o.newOwner, e.newOwner),
		cmp.Compare(e.at, o.at), cmp.Compare(e.order, o.order), bytes.Compare(e.id[:], o.id[:]))
}

// flow is money or an asset that came or left, and what it was worth in the account's currency.
type flow struct {
	at       market.Time
	strategy uint32
	value    market.Money
	given    market.Money // the part of value that is no profit: base comes and goes with its cost
	base     bool         // it is base of a position
	equity   market.Money // of the account after it
	known    bool         // value and equity were noted when it happened
	first    bool         // of a row of flows of one instant
}

// timeline has the content of the bookings: the events in the order of their times, and the flows
// in the order in which they were booked.
type timeline struct {
	catalog    *market.Catalog
	currency   *market.Asset // of the account; nil: the bot has never run
	names      []string
	places     map[string]uint32
	strategies []string // of all runs and bookings
	events     []event
	flows      []flow
	adopted    []adopted
	epochs     map[[2]uint32]epoch // by strategy and market
}

// fillName names a fill.
type fillName struct {
	order market.OrderID
	id    uuid.UUID
}

// read reads the bookings, or the flows alone.
func read(from Source, all bool) (*timeline, error) {
	l := &timeline{catalog: from.Catalog(), places: map[string]uint32{}}
	runs, err := from.Runs()
	if err != nil {
		return nil, err
	}
	for i := range runs {
		for _, name := range runs[i].Strategies {
			l.strategy(name)
		}
	}
	if len(runs) > 0 {
		l.currency = l.catalog.AssetNamed(runs[len(runs)-1].Currency)
	}
	waiting := map[fillName]int{} // fills without a fee → place in events
	err = from.Bookings(0, func(b *journal.Booking) error {
		if all || b.Kind == journal.BookedTransfer || b.Kind == journal.BookedAdoption {
			l.book(b, waiting)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	l.sort()
	return l, nil
}

// readFlows reads the bookings for the curve of the account, or of a strategy: the flows, and the
// cost of base that came to the strategy or left it without a trade. The fills are read for that
// alone.
func readFlows(from Source, strategy string) (*timeline, error) {
	l, err := read(from, false)
	if err != nil || strategy == "" || !slices.ContainsFunc(l.flows, func(f flow) bool {
		return f.base && l.names[f.strategy] == strategy
	}) {
		return l, err
	}
	if l, err = read(from, true); err != nil {
		return nil, err
	}
	q := Query{Strategy: strategy}
	_, err = l.replay(q.wants(l), func(*effect) error { return nil })
	return l, err
}

// sort brings the events into the order of their times, in which they nearly are: an event moves
// down to its place.
func (l *timeline) sort() {
	list := l.events
	for i := 1; i < len(list); i++ {
		if list[i-1].compare(&list[i]) <= 0 {
			continue
		}
		e := list[i]
		at, _ := slices.BinarySearchFunc(list[:i], &e, func(x event, wanted *event) int {
			return cmp.Or(x.compare(wanted), -1) // behind those of the same place
		})
		copy(list[at+1:i+1], list[at:i])
		list[at] = e
	}
}

func (l *timeline) place(name string) uint32 {
	at, known := l.places[name]
	if !known {
		at = uint32(len(l.names))
		l.names = append(l.names, name)
		l.places[name] = at
	}
	return at
}

// strategy is the place of a strategy's name; empty: of none.
func (l *timeline) strategy(name string) uint32 {
	if name != "" && !slices.Contains(l.strategies, name) {
		l.strategies = append(l.strategies, name)
	}
	return l.place(name)
}

func (l *timeline) book(b *journal.Booking, waiting map[fillName]int) {
	f, name := &b.Fill, fillName{b.Fill.Order, b.Fill.ID}
	switch b.Kind {
	case journal.BookedFill:
		e := event{at: f.Time, order: f.Order, id: f.ID, market: f.Market, side: f.Side, settled: f.Settled,
			strategy: l.strategy(b.StrategyName), tag: l.place(b.Tag), amount: f.Amount, price: f.Price}
		if f.Settled {
			e.fee = f.Fee
		} else {
			waiting[name] = len(l.events)
		}
		l.add(e)
	case journal.BookedFee:
		if at, known := waiting[name]; known {
			l.events[at].fee, l.events[at].settled = f.Fee, true
			delete(waiting, name)
		}
	case journal.BookedTransfer:
		l.transfer(b)
	case journal.BookedAdoption:
		l.adopt(b)
	}
}

// add adds an event of a strategy.
func (l *timeline) add(e event) {
	e.counts = e.at
	if in, adopted := l.epochs[[2]uint32{e.strategy, uint32(e.market)}]; adopted {
		e.counts, e.epoch = max(e.at, in.at), in.number
	}
	if len(l.events) == cap(l.events) {
		l.events = slices.Grow(l.events, max(1024, len(l.events))) // a slice alone would grow by a quarter
	}
	l.events = append(l.events, e)
}

// transfer adds a flow, and an event where it moved a position.
func (l *timeline) transfer(b *journal.Booking) {
	w := flow{at: b.At, strategy: l.strategy(b.StrategyName), value: b.Worth.Value, equity: b.Worth.Equity,
		known: b.Worth.Known, base: b.Market != 0 && (b.Price != 0) == (b.Money > 0)}
	if w.base {
		l.add(event{at: b.At, market: b.Market, settled: true, strategy: w.strategy, flow: uint32(len(l.flows) + 1),
			amount: market.Qty(b.Money), price: b.Price})
	}
	if !w.known {
		w.value = l.valueOf(b)
	}
	w.given = w.value
	l.flows = append(l.flows, w)
}

// valueOf is the value of a transfer without a noted worth: of money itself, of base its price.
func (l *timeline) valueOf(b *journal.Booking) market.Money {
	switch {
	case l.currency == nil:
	case b.Asset == l.currency.ID:
		return b.Money
	case b.Market != 0 && b.Price != 0 && l.catalog.Market(b.Market).Quote == l.currency.ID:
		if value, err := l.catalog.Market(b.Market).Notional(b.Price, market.Qty(b.Money)); err == nil {
			return value
		}
	}
	return 0
}

// holding is the position of a strategy in a market while the events are replayed.
type holding struct {
	market   *market.Market
	strategy uint32
	market.Position
	gross market.Value // paid for the amount, without fees
	asked bool         // it belongs to an event that was asked for
}

// effect is the effect of one event on a holding.
type effect struct {
	event    *event
	holding  *holding
	opened   market.Time  // of the position before the event
	realised market.Value // profit after fees
	fee      market.Value
	turnover market.Value
	sold     market.Qty   // of the position, by a sale
	cost     market.Value // paid for what was sold, without fees
	proceeds market.Value // of what was sold, without fees
	moved    market.Value // cost of base that came without a trade, below zero of base that left
}

// holdings are by strategy and market.
type holdings map[[2]uint32]*holding

func (l *timeline) holding(all holdings, e *event) *holding {
	key := [2]uint32{e.strategy, uint32(e.market)}
	h := all[key]
	if h == nil {
		h = &holding{market: l.catalog.Market(e.market), strategy: e.strategy}
		all[key] = h
	}
	return h
}

// replay computes positions from the events that wanted chooses, in order, and calls visit with
// each change, valid during the call. The result has the positions of these events.
func (l *timeline) replay(wanted func(*event) bool, visit func(*effect) error) (holdings, error) {
	all := holdings{}
	var c effect
	for i := range l.events {
		e := &l.events[i]
		asked := wanted(e)
		if e.newOwner != 0 {
			if err := l.replayAdoption(all, e, wanted); err != nil {
				return nil, err
			}
			continue
		}
		if !asked && len(l.adopted) == 0 {
			continue // without adoptions, no position depends on another
		}
		c = effect{event: e, holding: l.holding(all, e)}
		if err := c.apply(); err != nil {
			return nil, fmt.Errorf("books of %s: order %d: %w", c.holding.market.Name, e.order, err)
		}
		if !asked {
			continue
		}
		c.holding.asked = true
		l.give(&c)
		if err := visit(&c); err != nil {
			return nil, err
		}
	}
	maps.DeleteFunc(all, func(_ [2]uint32, h *holding) bool { return !h.asked })
	return all, nil
}

// give notes the cost with which a flow of base came or left.
func (l *timeline) give(c *effect) {
	if m := c.holding.market; c.event.flow != 0 && l.currency != nil && m.Quote == l.currency.ID {
		if cost, err := c.moved.NearestMoney(m.MoneyDrop()); err == nil { // else there is no curve either
			l.flows[c.event.flow-1].given = cost
		}
	}
}

// apply adds the event to the holding, exactly as the account does.
func (c *effect) apply() (err error) {
	h, e := c.holding, c.event
	before := h.Position
	c.opened = before.Opened
	if e.side == 0 {
		if err = state.FoldMove(h.market, &h.Position, e.at, e.amount, e.price); err == nil {
			c.moved, err = h.Cost.Sub(before.Cost)
		}
		return cmp.Or(err, c.moveGross(before.Amount))
	}
	f := market.Fill{Time: e.at, Side: e.side, Amount: e.amount, Price: e.price, Fee: e.fee, Settled: e.settled}
	if err := state.FoldFill(h.market, &h.Position, &f); err != nil {
		return err
	}
	c.fee = e.fee
	if c.turnover, err = h.market.Value(e.price, e.amount); err != nil {
		return err
	}
	if c.realised, err = h.Realised.Sub(before.Realised); err != nil {
		return err
	}
	if e.side == market.Buy {
		h.gross, err = h.gross.Add(c.turnover)
		return err
	}
	if c.sold = before.Amount - h.Amount; c.sold > 0 {
		c.cost = h.gross.Part(int64(c.sold), int64(before.Amount))
		c.proceeds = c.turnover.Part(int64(c.sold), int64(e.amount))
		h.gross, err = h.gross.Sub(c.cost)
	}
	return err
}

// moveGross adds what base cost that came, or takes its share for base that left.
func (c *effect) moveGross(before market.Qty) error {
	h := c.holding
	if c.event.amount > 0 {
		cost, err := h.market.Value(c.event.price, c.event.amount)
		if err == nil {
			h.gross, err = h.gross.Add(cost)
		}
		return err
	}
	if gone := before - h.Amount; gone > 0 {
		var err error
		h.gross, err = h.gross.Sub(h.gross.Part(int64(gone), int64(before)))
		return err
	}
	return nil
}
