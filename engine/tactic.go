package engine

import (
	"errors"
	"math"
	"slices"
	"time"

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
	id      market.OrderID // of its first order, which is also the entry of its bracket
	slot    *slot
	market  market.ID
	side    market.Side
	exits   bool // its first order has a bracket
	tag     string
	amount  market.Qty     // its size; 0: it is in money
	money   market.Money   // its size; 0: it is in base
	done    market.Qty     // bought or sold
	made    market.Qty     // of it, as a maker
	value   market.Value   // paid for it with fees, or got for it without
	order   market.OrderID // under way, of MakerFirst; 0: none
	open    []portion      // under way, of a TWAP
	phase   phase
	began   market.Time
	from    market.Price // best price of its side at the beginning
	parts   int          // of a TWAP: the time of how many has come
	next    market.Time  // of the next move, order or attempt, at the earliest
	due     market.Time  // when something is to be done though nothing happens
	refused error        // why the latest order was refused
	inPath  bool         // the latest event may be within the path of a backtest's candles
}

// portion is an order of a TWAP under way.
type portion struct {
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

// Work begins a tactic. Its first order leaves at once; where the gate refuses that, or the whole,
// nothing begins.
func (e *Engine) Work(id market.StrategyID, c *market.Command, way *strategy.Tactic,
	f *strategy.Follow) (market.OrderID, error) {
	c.At, c.Order.Strategy = e.now, id
	if e.replaying || e.stopped {
		return 0, e.refuse(c)
	}
	if e.buysOutside(id, c) {
		return 0, e.refuseOutside(c)
	}
	s := &e.slots[id-1]
	order, err := e.begunTactic(s, c, way, f)
	if err != nil {
		e.tell(s, c, err)
	}
	return order, err
}

func (e *Engine) begunTactic(s *slot, c *market.Command, way *strategy.Tactic,
	f *strategy.Follow) (market.OrderID, error) {
	o := &c.Order
	if f != nil && f.Parts != nil {
		if err := e.checkEntryParts(c, f.Parts); err != nil {
			return 0, err
		}
	}
	e.asked = *c
	if err := e.gate.CheckTactic(e.account, c, way.PerMinute()); err != nil {
		e.reportRefusal(c, err)
		return 0, err
	}
	t := &tactic{Tactic: *way, slot: s, market: o.Market, side: o.Side, exits: o.Bracket.Any(), tag: o.Tag,
		amount: o.Amount, money: o.AmountQuote, phase: working, began: e.now}
	if t.from = e.joined(t.market, t.side); t.from <= 0 {
		return 0, strategy.ErrNoPrice
	}
	levels := o.Bracket
	e.following = f
	if t.Over != 0 {
		t.parts = 1
		e.sendTaker(t, &levels)
	} else {
		e.sendMaker(t, &levels)
	}
	if e.following = nil; t.refused != nil {
		return 0, t.refused
	}
	t.id = e.lastID
	if t.exits {
		e.brackets.KeepOpen(t.id)
		if f != nil {
			e.brackets.Follows(t.id, *f)
		}
	}
	if t.due = e.takeTime(t); t.Over != 0 {
		t.due = t.began.Add(t.Step())
	}
	e.tactics = append(e.tactics, t)
	e.watchTactics()
	e.saves.changed = true
	return t.id, nil
}

// joined is the best price at which an order of that side can rest: the best one of its own side,
// at least a tick away from the other. 0: no price is known.
func (e *Engine) joined(id market.ID, side market.Side) market.Price {
	return e.joinedAt(id, side, e.account.Last(id))
}

// joinedAt is joined at a latest price.
func (e *Engine) joinedAt(id market.ID, side market.Side, last market.Price) market.Price {
	_, spread := e.gate.Costs(id)
	m := e.catalog.Market(id)
	bid, known := e.account.BestPrice(id, market.Sell)
	if !known {
		bid = spread.Offered(market.Sell, last)
	}
	ask, known := e.account.BestPrice(id, market.Buy)
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

// runTactics brings all tactics as far as they come after an event. What they do about anything but
// candles acts where the path of a backtest's candles stands.
func (e *Engine) runTactics(ev *market.Event) {
	if e.stopped {
		return // saved, and goes on after a restart
	}
	for i := 0; i < len(e.tactics); {
		t := e.tactics[i]
		due := t.due
		e.runTactic(t, ev)
		e.saves.changed = e.saves.changed || t.due != due
		if i < len(e.tactics) && e.tactics[i] == t { // it goes on
			i++
		}
	}
}

// runTactic brings a tactic as far as it comes. It does not act on events of other markets: in a
// backtest its own price may be a point of the path behind theirs.
func (e *Engine) runTactic(t *tactic, ev *market.Event) {
	if t.order != 0 && e.account.Known(t.order) == nil {
		t.order = 0
	}
	t.open = slices.DeleteFunc(t.open, func(p portion) bool { return e.account.Known(p.id) == nil })
	idle := t.order == 0 && len(t.open) == 0
	if t.phase == ending && idle {
		e.endTactic(t, "it was cancelled")
		return
	}
	if ev.Market != 0 && ev.Market != t.market {
		return
	}
	t.inPath = ev.Kind != market.KindCandles
	t.due = farAhead
	if t.phase != ending && t.side == market.Buy && e.outside(t.slot.id, t.market) {
		e.leaveUniverse(t)
	}
	switch {
	case t.phase == ending:
		e.cancelMaker(t)
	case idle && e.rest(t) == 0:
		e.endTactic(t, "")
	case t.Over != 0:
		e.runParts(t)
	default:
		e.runMaker(t)
	}
}

// runMaker tends the maker order, or the taker's one after it.
func (e *Engine) runMaker(t *tactic) {
	if t.phase == working && e.takes(t) {
		t.phase, t.next, e.saves.changed = taking, e.now, true
	}
	switch {
	case t.phase == taken && t.order != 0:
	case t.phase == taking && t.order != 0:
		e.cancelMaker(t)
	case e.waits(t):
	case t.phase == working && t.order != 0:
		e.moveMaker(t)
	case t.phase == working:
		e.sendMaker(t, nil)
		t.due = min(t.due, e.takeTime(t))
	default:
		t.phase = taken
		e.sendTaker(t, nil)
	}
}

// takeTime is when the rest is taken for its age.
func (e *Engine) takeTime(t *tactic) market.Time {
	if t.After == 0 {
		return farAhead
	}
	return t.began.Add(t.After)
}

// takes reports whether the rest is to be taken now.
func (e *Engine) takes(t *tactic) bool {
	if e.now >= e.takeTime(t) {
		return true
	}
	t.due = min(t.due, e.takeTime(t))
	return t.away(e.joined(t.market, t.side), t.edge())
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
func (e *Engine) waits(t *tactic) bool {
	if t.order != 0 && !t.away(e.joined(t.market, t.side), e.account.Known(t.order).Price) {
		return true // it is at the best price
	}
	if e.now >= t.next && e.trades(t) {
		return false
	}
	t.due = min(t.due, max(t.next, e.now.Add(pause(t))))
	if e.now < t.next {
		t.due = min(t.next, t.due)
	}
	return true
}

// pause is the time between two attempts.
func pause(t *tactic) market.Duration { return max(t.Every, market.Duration(time.Second)) }

// trades reports whether the market can take an order of a tactic now: it is open, and its price is
// known.
func (e *Engine) trades(t *tactic) bool {
	return e.catalog.Market(t.market).Status == market.Trading &&
		(t.side == market.Sell || !e.gate.Stale(e.account, t.slot.id, t.market, e.now)) &&
		e.joined(t.market, t.side) > 0
}

// cancelMaker cancels the order of a tactic that takes the rest, or ends. A refused cancel is asked
// for again.
func (e *Engine) cancelMaker(t *tactic) {
	o := e.account.Own(t.order)
	switch {
	case o == nil || o.InFlight == market.CommandCancel || o.CancelWanted || o.State == state.Unknown:
	case e.now < t.next:
		t.due = min(t.due, t.next)
	default:
		t.next = e.now.Add(pause(t))
		e.acting = t
		e.cancel(t.order, t.inPath)
		e.acting = nil
	}
}

// moveMaker moves the maker order to the best price.
func (e *Engine) moveMaker(t *tactic) {
	o := e.account.Own(t.order)
	if o == nil || o.InFlight != 0 || o.CancelWanted || o.State == state.Unknown || o.Booked() < o.FilledAmount {
		return
	}
	c := &e.command
	*c = market.Command{Kind: market.CommandUpdate, At: e.now, Changed: market.ChangePrice}
	c.Order.ID, c.Order.Strategy, c.Order.Price = o.ID, t.slot.id, e.joined(t.market, t.side)
	if rest := e.restAt(t, c.Order.Price); t.money != 0 && rest != o.AmountRemaining {
		if c.Order.Amount = o.FilledAmount + rest; rest > 0 {
			c.Changed |= market.ChangeAmount
		}
	}
	t.next = e.now.Add(t.Every)
	e.saves.changed = true
	e.acting = t
	err := e.update(c, t.inPath)
	if e.acting = nil; err != nil {
		e.tell(t.slot, c, err)
		t.due = min(t.due, t.next)
	}
}

// sendMaker sends the post-only order. levels are the exits of the first order; nil: of a later
// one.
func (e *Engine) sendMaker(t *tactic, levels *market.Bracket) {
	c := e.part(t, strategy.TagMakerFirst, levels)
	o := &c.Order
	o.Type, o.PostOnly, o.Price = market.TypeLimit, true, e.joined(t.market, t.side)
	o.Amount = e.restAt(t, o.Price)
	e.sendPart(t, c)
}

// sendTaker sends the rest at market, or the next part of a TWAP.
func (e *Engine) sendTaker(t *tactic, levels *market.Bracket) {
	tag, rest := strategy.TagTaken, int64(e.rest(t))
	if t.Over != 0 {
		tag = strategy.TagTWAP
		rest /= int64(t.Parts - t.parts + 1)
	}
	c := e.part(t, tag, levels)
	o := &c.Order
	if o.Type = market.TypeMarket; t.money != 0 {
		o.AmountQuote = e.payable(t, market.Money(rest), levels != nil)
	} else {
		o.Amount = e.affordable(t, market.Qty(rest), levels != nil)
	}
	e.sendPart(t, c)
}

// affordable is an amount, or what the cash pays for where that is less: the price may have risen
// since the call, and the strategy may have spent its money.
func (e *Engine) affordable(t *tactic, amount market.Qty, first bool) market.Qty {
	if first || t.side == market.Sell {
		return amount
	}
	m, costs := e.catalog.Market(t.market), e.Costs(t.market)
	cash, _ := e.account.Balance(t.slot.id, m.Quote)
	pays := exchange.BaseForMoney(m, cash, costs.Buy, max(costs.Maker, costs.Taker))
	if pays < amount {
		t.slot.Log.Warn().Str("market", m.Name).Str("wanted", m.FormatQty(amount)).
			Str("bought", m.FormatQty(pays)).Msg("tactic: the cash does not pay for the rest")
	}
	return min(amount, pays)
}

// payable is money, or the cash where that is less.
func (e *Engine) payable(t *tactic, money market.Money, first bool) market.Money {
	if first || t.side == market.Sell {
		return money
	}
	cash, _ := e.account.Balance(t.slot.id, e.catalog.Market(t.market).Quote)
	return min(money, max(0, cash))
}

// part begins the command of one order.
func (e *Engine) part(t *tactic, tag string, levels *market.Bracket) *market.Command {
	c := &e.command
	*c = market.Command{Kind: market.CommandPlace, At: e.now}
	o := &c.Order
	o.Strategy, o.Market, o.Side, o.Tag = t.slot.id, t.market, t.side, tag
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
func (e *Engine) sendPart(t *tactic, c *market.Command) {
	e.acting = t
	id, err := e.place(c, t.inPath)
	e.acting = nil
	t.refused = err
	switch {
	case err != nil:
	case t.Over != 0:
		t.open = append(t.open, portion{id: id, units: units(&c.Order)})
	default:
		t.order = id
	}
	t.next = e.now.Add(pause(t))
	if e.saves.changed = true; t.id == 0 {
		return // its first order: Work tells
	}
	switch {
	case err == nil && t.exits:
		e.brackets.Continue(t.id, id)
	case err == nil:
	case dust(err) && (t.Over == 0 || t.parts >= t.Parts && len(t.open) == 0):
		e.endTactic(t, "the rest is below the market's minimum, and stays")
	case !dust(err):
		e.tell(t.slot, c, err)
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
func (e *Engine) runParts(t *tactic) {
	step := t.Step()
	come := min(t.Parts, int(e.now.Sub(t.began)/step)+1)
	switch {
	case come > t.parts && e.trades(t):
		t.parts = come
		e.sendTaker(t, nil)
	case come > t.parts:
		t.due = e.now.Add(pause(t))
	case t.parts == t.Parts && len(t.open) == 0:
		e.endTactic(t, "its last part has ended")
	}
	if t.parts < t.Parts && come <= t.parts {
		t.due = min(t.due, t.began.Add(step*market.Duration(t.parts)))
	}
}

// rest is what a tactic still has to trade that no order of a TWAP could: base, or money where its
// size is in money.
func (e *Engine) rest(t *tactic) market.Money {
	left := e.less(t, market.Money(t.amount)+t.money, t.done, t.value)
	for i := range t.open {
		p := &t.open[i]
		left -= e.less(t, p.units, p.done, p.value)
	}
	return max(0, left)
}

// less is a size without what was traded of it.
func (e *Engine) less(t *tactic, size market.Money, done market.Qty, value market.Value) market.Money {
	if t.money == 0 {
		return max(0, size-market.Money(done))
	}
	spent, err := value.CeilMoney(e.catalog.Market(t.market).MoneyDrop())
	if err != nil {
		return 0
	}
	return max(0, size-spent)
}

// restAt is the base that a maker order at a price is over.
func (e *Engine) restAt(t *tactic, price market.Price) market.Qty {
	rest := e.rest(t)
	if t.money == 0 {
		return market.Qty(rest)
	}
	m, costs := e.catalog.Market(t.market), e.Costs(t.market)
	if t.side == market.Sell {
		return m.RoundAmount(exchange.BaseForValue(m, m.MoneyValue(rest), price))
	}
	return exchange.BaseForMoney(m, rest, price, max(costs.Maker, costs.Taker))
}

func dust(err error) bool {
	var why *risk.Refusal
	return errors.As(err, &why) && why.Dust()
}
