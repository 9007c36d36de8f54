package tactic

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/engine/port"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// tactic is a buy or a sell that is spread over several orders. All orders together never trade
// more than the size, whatever the exchange has not answered yet: an order counts with all that it
// could still trade until it has ended and its fills are booked. MakerFirst has one order at a
// time.
type tactic struct {
	strategy.Tactic
	id       market.OrderID // of its first order, which is also the entry of its bracket
	strategy market.StrategyID
	market   market.ID
	side     market.Side
	follow   *strategy.Follow // of the bracket, while the first order is at the gate
	exits    bool             // its first order has a bracket
	tag      string
	amount   market.Qty     // its size; 0: it is in money
	money    market.Money   // its size; 0: it is in base
	done     market.Qty     // bought or sold
	made     market.Qty     // of it, as a maker
	value    market.Value   // paid for it with fees, or got for it without
	order    market.OrderID // under way, of MakerFirst; 0: none
	open     []child        // under way, of a TWAP
	phase    phase
	began    market.Time
	from     market.Price // best price of its side at the beginning
	parts    int          // of a TWAP: the time of how many has come
	next     market.Time  // of the next move, order or attempt, at the earliest
	due      market.Time  // when something is to be done though nothing happens
	refused  error        // why the latest order was refused
	inPath   bool         // the latest event may be within the path of a backtest's candles
}

// child is an order of a TWAP under way.
type child struct {
	id    market.OrderID
	units market.Money // of its size: base or money
	done  market.Qty
	value market.Value
}

// phase is where a tactic stands.
type phase uint8

const (
	working phase = iota + 1 // a maker order rests or is due; parts of a TWAP are sent
	taking                   // the maker order is being cancelled
	taken                    // the rest is at market
	ending                   // it was cancelled, and waits for the end of its order
)

const farAhead = market.Time(math.MaxInt64)

// Core is the engine as its tactics see it.
type Core interface {
	port.Orders
	port.Strategies
	// Costs are the gate's assumptions about the costs of orders in a market.
	Costs(m market.ID) strategy.Costs
	// Watch is called when what tactics wait for has changed: see Set.Watch.
	Watch()
}

// Exits are the brackets of entries.
type Exits interface {
	// KeepOpen lets the bracket of an entry wait for later orders that buy for it.
	KeepOpen(entry market.OrderID)
	// Continue notes a later order that buys for the bracket of an entry.
	Continue(entry, order market.OrderID)
	// Finish notes that no order follows.
	Finish(entry market.OrderID)
	// Follows sets what the exits of an entry follow.
	Follows(entry market.OrderID, f strategy.Follow)
}

// Set is all tactics of an engine. It is a plain value owned by the engine's goroutine.
type Set struct {
	core    Core
	exits   Exits
	catalog *market.Catalog
	clock   *market.Time // arrival of the current event
	account *state.Account
	gate    *risk.Gate
	all     []*tactic
	stopped bool
	command market.Command // reused: a pointer to a local would allocate
}

// New is an engine's set of tactics. clock is the engine's.
func New(core Core, exits Exits, catalog *market.Catalog, clock *market.Time, account *state.Account,
	gate *risk.Gate) *Set {
	return &Set{core: core, exits: exits, catalog: catalog, clock: clock, account: account, gate: gate}
}

// Len is the number of tactics under way.
func (s *Set) Len() int { return len(s.all) }

// Stop lets tactics send nothing more: they are saved, and go on after a restart.
func (s *Set) Stop() { s.stopped = true }

// Begin begins a tactic that the gate has let pass, and returns its id, that of its first order,
// which leaves at once. Where the gate refuses that, nothing begins.
func (s *Set) Begin(c *market.Command, way *strategy.Tactic, f *strategy.Follow) (market.OrderID, error) {
	o := &c.Order
	t := &tactic{Tactic: *way, strategy: o.Strategy, market: o.Market, side: o.Side, exits: o.Bracket.Any(), tag: o.Tag,
		amount: o.Amount, money: o.AmountQuote, phase: working, began: *s.clock}
	if t.from = s.joined(t.market, t.side); t.from <= 0 {
		return 0, strategy.ErrNoPrice
	}
	levels := o.Bracket
	t.follow = f
	if t.Over != 0 {
		t.parts = 1
		s.sendTaker(t, &levels)
	} else {
		s.sendMaker(t, &levels)
	}
	if t.follow = nil; t.refused != nil {
		return 0, t.refused
	}
	if t.id = t.order; t.Over != 0 {
		t.id = t.open[0].id
	}
	if t.exits {
		s.exits.KeepOpen(t.id)
		if f != nil {
			s.exits.Follows(t.id, *f)
		}
	}
	if t.due = s.takeTime(t); t.Over != 0 {
		t.due = t.began.Add(t.Step())
	}
	s.all = append(s.all, t)
	s.core.Watch()
	s.core.Changed()
	return t.id, nil
}

// joined is the best price at which an order of that side can rest: the best one of its own side,
// at least a tick away from the other. 0: no price is known.
func (s *Set) joined(id market.ID, side market.Side) market.Price {
	return s.joinedAt(id, side, s.account.Last(id))
}

// joinedAt is joined at a latest price.
func (s *Set) joinedAt(id market.ID, side market.Side, last market.Price) market.Price {
	_, spread := s.gate.Costs(id)
	m := s.catalog.Market(id)
	bid, known := s.account.BestPrice(id, market.Sell)
	if !known {
		bid = spread.Offered(market.Sell, last)
	}
	ask, known := s.account.BestPrice(id, market.Buy)
	if !known {
		ask = spread.Offered(market.Buy, last)
	}
	switch {
	case last == 0:
		return 0
	case side == market.Buy:
		return market.FloorTo(min(bid, ask-1), m.TickSize)
	}
	return market.CeilTo(max(ask, bid+1), m.TickSize)
}

// away reports whether a price is further in the direction in which prices leave a tactic behind.
func (t *tactic) away(price, than market.Price) bool {
	return than != 0 && (t.side == market.Buy && price > than || t.side == market.Sell && price < than)
}

// Run brings all tactics as far as they come after an event. What they do about anything but
// candles acts where the path of a backtest's candles stands.
func (s *Set) Run(ev *market.Event) {
	if s.stopped {
		return // saved, and goes on after a restart
	}
	for i := 0; i < len(s.all); {
		t := s.all[i]
		due := t.due
		s.run(t, ev)
		if t.due != due {
			s.core.Changed()
		}
		if i < len(s.all) && s.all[i] == t { // it goes on
			i++
		}
	}
}

// run brings a tactic as far as it comes. It does not act on events of other markets: in a
// backtest its own price may be a point of the path behind theirs.
func (s *Set) run(t *tactic, ev *market.Event) {
	if t.order != 0 && s.account.Known(t.order) == nil {
		t.order = 0
	}
	t.open = slices.DeleteFunc(t.open, func(p child) bool { return s.account.Known(p.id) == nil })
	idle := t.order == 0 && len(t.open) == 0
	if t.phase == ending && idle {
		s.end(t, "it was cancelled")
		return
	}
	if ev.Market != 0 && ev.Market != t.market {
		return
	}
	t.inPath = ev.Kind != market.KindCandles
	t.due = farAhead
	if t.phase != ending && t.side == market.Buy && s.core.Outside(t.strategy, t.market) {
		s.leaveUniverse(t)
	}
	switch {
	case t.phase == ending:
		s.cancelMaker(t)
	case idle && s.rest(t) == 0:
		s.end(t, "")
	case t.Over != 0:
		s.runParts(t)
	default:
		s.runMaker(t)
	}
}

// runMaker tends the maker order, or the taker's one after it.
func (s *Set) runMaker(t *tactic) {
	if t.phase == working && s.takes(t) {
		t.phase, t.next = taking, *s.clock
		s.core.Changed()
	}
	switch {
	case t.phase == taken && t.order != 0:
	case t.phase == taking && t.order != 0:
		s.cancelMaker(t)
	case s.waits(t):
	case t.phase == working && t.order != 0:
		s.moveMaker(t)
	case t.phase == working:
		s.sendMaker(t, nil)
		t.due = min(t.due, s.takeTime(t))
	default:
		t.phase = taken
		s.sendTaker(t, nil)
	}
}

// takeTime is when the rest is taken for its age.
func (s *Set) takeTime(t *tactic) market.Time {
	if t.After == 0 {
		return farAhead
	}
	return t.began.Add(t.After)
}

// takes reports whether the rest is to be taken now.
func (s *Set) takes(t *tactic) bool {
	if *s.clock >= s.takeTime(t) {
		return true
	}
	t.due = min(t.due, s.takeTime(t))
	return t.away(s.joined(t.market, t.side), t.edge())
}

// edge is the price beyond which the rest is taken; 0: none.
func (t *tactic) edge() market.Price {
	switch {
	case t.Beyond == 0:
		return 0
	case t.side == market.Sell:
		return t.from.Below(t.Beyond)
	}
	return t.from.Above(t.Beyond)
}

// waits reports whether the next move, order or attempt has to wait.
func (s *Set) waits(t *tactic) bool {
	if t.order != 0 && !t.away(s.joined(t.market, t.side), s.account.Known(t.order).Price) {
		return true // it is at the best price
	}
	if *s.clock >= t.next && s.trades(t) {
		return false
	}
	t.due = min(t.due, max(t.next, s.clock.Add(pause(t))))
	if *s.clock < t.next {
		t.due = min(t.next, t.due)
	}
	return true
}

// pause is the time between two attempts.
func pause(t *tactic) market.Duration { return max(t.Every, market.Duration(time.Second)) }

// trades reports whether the market can take an order of a tactic now: it is open, and its price is
// known.
func (s *Set) trades(t *tactic) bool {
	return s.catalog.Market(t.market).Status == market.Trading &&
		(t.side == market.Sell || !s.gate.Stale(s.account, t.strategy, t.market, *s.clock)) &&
		s.joined(t.market, t.side) > 0
}

// cancelMaker cancels the order of a tactic that takes the rest, or ends. A refused cancel is asked
// for again.
func (s *Set) cancelMaker(t *tactic) {
	o := s.account.Own(t.order)
	switch {
	case o == nil || o.InFlight == market.CommandCancel || o.CancelWanted || o.State == state.Unknown:
	case *s.clock < t.next:
		t.due = min(t.due, t.next)
	default:
		t.next = s.clock.Add(pause(t))
		s.core.Cancel(t.order, t, t.inPath)
	}
}

// moveMaker moves the maker order to the best price.
func (s *Set) moveMaker(t *tactic) {
	o := s.account.Own(t.order)
	if o == nil || o.InFlight != 0 || o.CancelWanted || o.State == state.Unknown || o.BookedAmount() < o.FilledAmount {
		return
	}
	c := &s.command
	*c = market.Command{Kind: market.CommandUpdate, At: *s.clock, Changed: market.ChangePrice}
	c.Order.ID, c.Order.Strategy, c.Order.Price = o.ID, t.strategy, s.joined(t.market, t.side)
	if rest := s.restAt(t, c.Order.Price); t.money != 0 && rest != o.AmountRemaining {
		if c.Order.Amount = o.FilledAmount + rest; rest > 0 {
			c.Changed |= market.ChangeAmount
		}
	}
	t.next = s.clock.Add(t.Every)
	s.core.Changed()
	if err := s.core.Update(c, t, t.inPath); err != nil {
		s.core.Refused(t.strategy, c, err)
		t.due = min(t.due, t.next)
	}
}

// sendMaker sends the post-only order. levels are the exits of the first order; nil: of a later
// one.
func (s *Set) sendMaker(t *tactic, levels *market.Bracket) {
	c := s.part(t, strategy.TagMakerFirst, levels)
	o := &c.Order
	o.Type, o.PostOnly, o.Price = market.TypeLimit, true, s.joined(t.market, t.side)
	o.Amount = s.restAt(t, o.Price)
	s.sendPart(t, c)
}

// sendTaker sends the rest at market, or the next part of a TWAP.
func (s *Set) sendTaker(t *tactic, levels *market.Bracket) {
	tag, rest := strategy.TagTaken, int64(s.rest(t))
	if t.Over != 0 {
		tag = strategy.TagTWAP
		rest /= int64(t.Parts - t.parts + 1)
	}
	c := s.part(t, tag, levels)
	o := &c.Order
	if o.Type = market.TypeMarket; t.money != 0 {
		o.AmountQuote = s.payable(t, market.Money(rest), levels != nil)
	} else {
		o.Amount = s.affordable(t, market.Qty(rest), levels != nil)
	}
	s.sendPart(t, c)
}

// affordable is an amount, or what the cash pays for where that is less: the price may have risen
// since the call, and the strategy may have spent its money.
func (s *Set) affordable(t *tactic, amount market.Qty, first bool) market.Qty {
	if first || t.side == market.Sell {
		return amount
	}
	m, costs := s.catalog.Market(t.market), s.core.Costs(t.market)
	cash, _ := s.account.Balance(t.strategy, m.Quote)
	pays := exchange.BaseForMoney(m, cash, costs.Buy, max(costs.Maker, costs.Taker))
	if pays < amount {
		s.core.Log(t.strategy).Warn().Str("market", m.Name).Str("wanted", m.FormatQty(amount)).
			Str("bought", m.FormatQty(pays)).Msg("tactic: the cash does not pay for the rest")
	}
	return min(amount, pays)
}

// payable is money, or the cash where that is less.
func (s *Set) payable(t *tactic, money market.Money, first bool) market.Money {
	if first || t.side == market.Sell {
		return money
	}
	cash, _ := s.account.Balance(t.strategy, s.catalog.Market(t.market).Quote)
	return min(money, max(0, cash))
}

// part begins the command of one order.
func (s *Set) part(t *tactic, tag string, levels *market.Bracket) *market.Command {
	c := &s.command
	*c = market.Command{Kind: market.CommandPlace, At: *s.clock}
	o := &c.Order
	o.Strategy, o.Market, o.Side, o.Tag = t.strategy, t.market, t.side, tag
	if t.tag != "" {
		o.Tag = t.tag
	}
	o.TimeInForce, o.SelfTradePrevention = market.GTC, market.DecrementAndCancel
	if levels != nil {
		o.Bracket = *levels
	}
	return c
}

// sendPart sends one order. Where the gate refuses it, it is tried again later; a rest below the
// market's minimum ends the tactic.
func (s *Set) sendPart(t *tactic, c *market.Command) {
	id, err := s.core.Place(c, t, t.inPath)
	t.refused = err
	switch {
	case err != nil:
	case t.Over != 0:
		t.open = append(t.open, child{id: id, units: units(&c.Order)})
	default:
		t.order = id
	}
	t.next = s.clock.Add(pause(t))
	if s.core.Changed(); t.id == 0 {
		return // its first order: Begin returns the refusal
	}
	switch {
	case err == nil && t.exits:
		s.exits.Continue(t.id, id)
	case err == nil:
	case dust(err) && (t.Over == 0 || t.parts >= t.Parts && len(t.open) == 0):
		s.end(t, "the rest is below the market's minimum, and stays")
	case !dust(err):
		s.core.Refused(t.strategy, c, err)
		fallthrough
	default:
		t.due = min(t.due, t.next)
	}
}

// units is the size of an order: base or money.
func units(o *market.Order) market.Money {
	if o.ByQuote() {
		return o.AmountQuote
	}
	return market.Money(o.Amount)
}

// runParts sends the parts of a TWAP whose time has come. Of several whose time came while the
// market was halted or the bot was down, one is sent; the others are shared.
func (s *Set) runParts(t *tactic) {
	step := t.Step()
	come := min(t.Parts, int(s.clock.Sub(t.began)/step)+1)
	switch {
	case come > t.parts && s.trades(t):
		t.parts = come
		s.sendTaker(t, nil)
	case come > t.parts:
		t.due = s.clock.Add(pause(t))
	case t.parts == t.Parts && len(t.open) == 0:
		s.end(t, "its last part has ended")
	}
	if t.parts < t.Parts && come <= t.parts {
		t.due = min(t.due, t.began.Add(step*market.Duration(t.parts)))
	}
}

// rest is what a tactic still has to trade that no order of a TWAP could: base, or money where its
// size is in money.
func (s *Set) rest(t *tactic) market.Money {
	left := s.less(t, market.Money(t.amount)+t.money, t.done, t.value)
	for i := range t.open {
		p := &t.open[i]
		left -= s.less(t, p.units, p.done, p.value)
	}
	return max(0, left)
}

// less is a size without what was traded of it.
func (s *Set) less(t *tactic, size market.Money, done market.Qty, value market.Value) market.Money {
	if t.money == 0 {
		return max(0, size-market.Money(done))
	}
	spent, err := value.CeilMoney(s.catalog.Market(t.market).MoneyDrop())
	if err != nil {
		return 0
	}
	return max(0, size-spent)
}

// restAt is the base that a maker order at a price is over.
func (s *Set) restAt(t *tactic, price market.Price) market.Qty {
	rest := s.rest(t)
	if t.money == 0 {
		return market.Qty(rest)
	}
	m, costs := s.catalog.Market(t.market), s.core.Costs(t.market)
	if t.side == market.Sell {
		return m.RoundAmount(exchange.BaseForValue(m, m.MoneyValue(rest), price))
	}
	return exchange.BaseForMoney(m, rest, price, max(costs.Maker, costs.Taker))
}

func dust(err error) bool {
	var why *risk.Refusal
	return errors.As(err, &why) && why.Dust()
}
