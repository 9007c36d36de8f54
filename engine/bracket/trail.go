package bracket

import (
	"cmp"
	"math"
	"math/bits"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// trail is what a bracket keeps to let its exits follow the price and the time. The stop follows
// from the terms, the highest price and the cost alone, so that a move that had to wait is made up
// for by the next.
type trail struct {
	Follow  strategy.Follow `json:"follow,omitzero"`
	High    market.Price    `json:"high,omitzero"`    // highest since the entry bought: of closes, or all; 0: none yet
	Top     market.Price    `json:"top,omitzero"`     // highest of the candles since then: High, should prices be followed
	Bought  market.Qty      `json:"bought,omitzero"`  // by the entry
	Paid    market.Value    `json:"paid,omitzero"`    // for it, fees included
	Began   market.Time     `json:"began,omitzero"`   // of the entry's first fill; 0: none yet
	Candles int             `json:"candles,omitzero"` // of the main interval, delivered since
	Moved   market.Time     `json:"moved,omitzero"`   // when the resting stop was last moved
	LeaveAt market.Time     `json:"leaveAt,omitzero"` // the earliest next attempt to close; 0: at once
	Enough  bool            `json:"enough,omitzero"`  // the latest close was enough for Follow.Gains
}

const (
	leastPause = market.Duration(time.Second) // between two moves of a resting stop
	leavePause = market.Duration(time.Minute) // between two attempts to close
)

// follower lets exits follow the price and the time, and sells partial targets. It never lowers a
// stop.
type follower struct {
	*closer
	moved  strategy.StopMoved // the latest
	moving bool               // it is at the gate
}

// follows reports whether exits follow anything now.
func (b *bracket) follows() bool {
	return b.Follow != (strategy.Follow{}) && b.Began != 0 && b.amount > 0 && b.leaving == 0 && !b.ending
}

// Follows sets what the exits of an order's bracket follow.
func (s *follower) Follows(order market.OrderID, f strategy.Follow) {
	b := s.of(order)
	if b == nil {
		return
	}
	s.touch(b)
	s.countFollowing(b, -1)
	if f.Parts != b.Follow.Parts {
		b.parting = parting{}
		if c := s.closes.of(b.strategy, b.market); c != nil && c.only == b.entry {
			c.parts = 0 // its partial targets are gone
		}
	}
	if f.ByPrices && !b.Follow.ByPrices {
		b.High = max(b.High, b.Top)
	}
	b.Follow = f
	s.countFollowing(b, 1)
	s.rewatch(b)
}

// countFollowing adds to the number of brackets with terms where b has some.
func (s *brackets) countFollowing(b *bracket, by int) {
	if b.Follow != (strategy.Follow{}) {
		s.following += by
	}
}

// pay counts what the entry has bought, and its cost. A fee that is not known yet counts as a
// taker's.
func (s *follower) pay(b *bracket, fresh []market.Fill) {
	m := s.catalog.Market(b.market)
	for i := range fresh {
		f := &fresh[i]
		if b.Began == 0 {
			b.Began = cmp.Or(f.Time, s.now())
		}
		value, err := m.Value(f.Price, f.Amount)
		fee := f.Fee
		if err == nil && !f.Settled && fee.Sign() == 0 {
			if fee, err = value.MulRate(s.orders.TakerFee(b.market)); err == nil {
				fee = fee.QuoInt(int64(market.Whole))
			}
		}
		if err == nil {
			value, err = value.Add(fee)
		}
		if err == nil {
			value, err = b.Paid.Add(value)
		}
		if err == nil {
			b.Paid, b.Bought = value, b.Bought+f.Amount
		}
	}
}

// rule is the rule by which the bracket's stop moves.
func (s *follower) rule(b *bracket) strategy.StopRule {
	m := s.catalog.Market(b.market)
	r := strategy.StopRule{Follow: b.Follow, Tick: m.TickSize}
	if b.Follow.TrailAfter != 0 {
		r.Trailing = math.MaxInt64
	}
	if b.Follow.BreakEven == 0 && b.Follow.TrailAfter == 0 {
		return r
	}
	cost := b.cost(m)
	if cost == 0 {
		return r
	}
	if b.Follow.TrailAfter != 0 {
		r.Trailing = cost.Above(b.Follow.TrailAfter)
	}
	if b.Follow.BreakEven == 0 {
		return r
	}
	r.BreakEvenPrice = market.CeilTo(b.breakEven(m, cost, s.orders.TakerFee(b.market)), m.TickSize)
	r.Armed = max(cost.Above(b.Follow.BreakEven), r.BreakEvenPrice+1)
	return r
}

// cost is what a unit of all that the entry bought has cost, fees included, rounded up; 0: it is
// not known, or no gain above it fits.
func (b *bracket) cost(m *market.Market) market.Price {
	cost := m.PriceFor(b.Paid, b.Bought)
	if cost == 0 || cost > math.MaxInt64/1000 {
		return 0
	}
	if value, err := m.Value(cost, b.Bought); err != nil || value.Cmp(b.Paid) < 0 {
		cost++ // PriceFor rounds down
	}
	return cost
}

// breakEven is the least price at which all that was bought brings what it cost, after a fee:
// exact, and rounded up once. cost is the price that it cost, rounded up.
func (b *bracket) breakEven(m *market.Market, cost market.Price, fee market.Rate) market.Price {
	paid, err := b.Paid.ScaleUp(market.RateDigits)
	if err != nil {
		return afterFee(cost, fee) // too large for an exact value
	}
	price := m.PriceFor(paid.QuoInt(int64(market.Whole-fee)), b.Bought)
	value, err := m.Value(price, b.Bought)
	if err == nil {
		value, err = value.MulRate(market.Whole - fee)
	}
	if err != nil || price == 0 {
		return afterFee(cost, fee)
	}
	if value.Cmp(paid) < 0 {
		price++ // PriceFor rounds down
	}
	return price
}

// afterFee is the lowest price that is worth at least a cost after a fee.
func afterFee(cost market.Price, fee market.Rate) market.Price {
	rest := uint64(market.Whole - fee)
	over, under := bits.Mul64(uint64(cost), uint64(market.Whole))
	under, carry := bits.Add64(under, rest-1, 0)
	if over+carry >= rest {
		return math.MaxInt64
	}
	price, _ := bits.Div64(over+carry, under, rest)
	return market.Price(min(price, math.MaxInt64))
}

// Count lets brackets see delivered candles in a row, of one series, that are of their strategies'
// main interval; also brackets that follow nothing: an Update may set terms later, and they count
// from the entry. What brackets do about it follows in Retry, after the strategies have seen the
// candle: an ask of theirs comes first.
func (s *follower) Count(series []market.Candle) {
	first, high, closed := &series[0], market.Price(0), market.Price(0)
	of, follows := market.StrategyID(0), false
	for i := range s.all {
		b := &s.all[i]
		if b.strategy != of { // mostly many brackets of one strategy follow each other
			of, follows = b.strategy, first.Interval == s.orders.Main(b.strategy)
		}
		if !follows || b.market != first.Market || b.Began == 0 || b.amount <= 0 {
			continue
		}
		if b.Follow.Gains != nil {
			c := &series[len(series)-1]
			b.Enough = b.Follow.Gains.Reached(c.Close, b.cost(s.catalog.Market(b.market)), c.End().Sub(b.Began))
		}
		if len(series) == 1 || first.Start < b.Began {
			for k := range series {
				b.count(&series[k])
			}
			continue
		}
		if closed == 0 {
			for k := range series {
				high, closed = max(high, series[k].High), max(closed, series[k].Close)
			}
		}
		b.Candles += len(series)
		b.Top = max(b.Top, closed, high)
		if !b.Follow.ByPrices {
			b.High = max(b.High, closed)
		}
	}
}

// count lets a bracket see a candle.
func (b *bracket) count(c *market.Candle) {
	if c.End() <= b.Began {
		return
	}
	b.Candles++
	if b.Top = max(b.Top, c.Close); c.Start >= b.Began {
		b.Top = max(b.Top, c.High)
	}
	if !b.Follow.ByPrices {
		b.High = max(b.High, c.Close)
	}
}

// peak lets brackets follow a price that is higher than those before.
func (s *follower) peak(m market.ID, price market.Price) {
	for i := range s.all {
		if b := &s.all[i]; b.market == m && b.Follow.ByPrices && b.follows() && price > b.High {
			before := b.High
			b.High = price
			s.move(b, before)
		}
	}
	s.watch(m)
}

// move moves the stop to where it belongs, as soon as it may. before is the highest price before
// the latest one.
func (s *follower) move(b *bracket, before market.Price) {
	to, waits := s.nextStop(b)
	if !waits || s.now() < s.moveTime(b) {
		return
	}
	s.touch(b)
	s.moved = strategy.StopMoved{Bracket: b.entry, Exit: b.exit, Strategy: b.strategy, Market: b.market,
		From: b.levels.Stop, To: to, High: before, Rule: s.rule(b)}
	switch {
	case b.stopRests():
		if !s.send(b, to) {
			return
		}
	case b.Next == never: // the amount was too small for the lower stop
		b.Next = 0
	}
	b.levels.Stop = to
	s.rewatch(b)
	s.orders.Moved(&s.moved)
}

// loosen lets the stop of a bracket, which someone else has lowered, follow at the distance that it
// has now: otherwise the next price would raise it again. A stop that was raised stays where it is
// until the terms pass it.
func (s *follower) loosen(b *bracket, stop market.Price) {
	if b.High == 0 {
		b.High = s.orders.Last(b.market)
	}
	f := &b.Follow
	if f.BreakEven != 0 && s.rule(b).BreakEvenPrice > stop {
		f.BreakEven = 0
	}
	if stop >= b.High || b.High < s.rule(b).Trailing {
		return
	}
	if f.TrailBy != 0 {
		f.TrailBy = max(f.TrailBy, b.High-stop)
	}
	if f.Trail != 0 {
		over, under := bits.Mul64(uint64(stop), uint64(market.Whole))
		share, _ := bits.Div64(over, under, uint64(b.High)) // below the whole, because the stop is below the price
		f.Trail = max(f.Trail, market.Whole-market.Rate(share))
	}
}

// stopRests reports whether the stop is at the exchange, or on its way.
func (b *bracket) stopRests() bool { return b.exit != 0 && b.leg == market.KeepStop && !b.swapping }

// nextStop is the stop that a bracket waits for; false: none, or one that could not be sent now.
func (s *follower) nextStop(b *bracket) (to market.Price, waits bool) {
	if !b.follows() || b.High == 0 || s.leaveTime(b) <= s.now() {
		return 0, false // what is about to be closed needs no better stop
	}
	rule, stop := s.rule(b), b.levels.Stop
	if !b.stopRests() {
		to = rule.Aim(stop, b.High)
		return to, to > stop
	}
	to = rule.Next(stop, b.High)
	o := s.orders.Own(b.exit)
	return to, to > stop && o != nil && o.InFlight == 0 && o.State != state.Unknown && !o.Triggered &&
		!s.faultAt(b, market.KeepStop, to, b.kept()).Found()
}

// moveTime is the earliest time of the next move.
func (s *follower) moveTime(b *bracket) market.Time {
	if !b.stopRests() {
		return 0
	}
	return max(b.Moved.Add(leastPause), b.Next)
}

// send asks for a move of the resting stop.
func (s *follower) send(b *bracket, to market.Price) bool {
	x := &s.command
	*x = market.Command{Kind: market.CommandUpdate, Changed: market.ChangeTriggerAmount, At: s.now(), Attached: true}
	x.Order.ID, x.Order.Strategy, x.Order.TriggerAmount = b.exit, b.strategy, to
	s.moving = true
	err := s.orders.Update(x, b.Follow.ByPrices) // a close is known when the candle is over
	s.moving = false
	b.Moved = s.now()
	if err != nil {
		b.fail(s.now(), 0)
	}
	return err == nil
}

// Moving is the move of a stop that is at the gate, or nil.
func (s *follower) Moving() *strategy.StopMoved {
	if !s.moving {
		return nil
	}
	return &s.moved
}

// leaveTime is when a bracket is to be closed; never: not yet known, or not at all.
func (s *follower) leaveTime(b *bracket) market.Time {
	switch {
	case !b.follows() || b.withdrawn || s.Closing(b.strategy, b.market):
	case b.Enough:
		return b.LeaveAt
	case b.Follow.Candles != 0 && b.Candles >= b.Follow.Candles:
		return b.LeaveAt
	case b.Follow.Time != 0:
		return max(b.LeaveAt, b.Began.Add(b.Follow.Time))
	}
	return never
}

// followDue is when a bracket is to move its stop, or to be closed.
func (s *follower) followDue(b *bracket) market.Time {
	if b.Follow == (strategy.Follow{}) {
		return never
	}
	at := s.leaveTime(b)
	if _, waits := s.nextStop(b); waits {
		at = min(at, s.moveTime(b))
	}
	return at
}

// followAll moves stops that had to wait, and closes brackets whose time is over.
func (s *follower) followAll() {
	for i := len(s.all) - 1; i >= 0; i-- {
		if i >= len(s.all) || s.all[i].Follow == (strategy.Follow{}) {
			continue
		}
		s.move(&s.all[i], s.all[i].High)
		if s.leaveTime(&s.all[i]) <= s.now() {
			s.leave(&s.all[i])
		} else if b := &s.all[i]; b.Wanted > b.Passed && b.nextPart() != 0 && !s.Closing(b.strategy, b.market) {
			s.part(b)
		}
	}
}

// mayClose returns the newest order number where a Close of an amount of a bracket may begin: the
// gate takes it, and some of the base could be sold without the exit, for other sells may hold it.
func (s *follower) mayClose(b *bracket, amount market.Qty) (last market.OrderID, may bool) {
	_, free := s.orders.Position(b.strategy, b.market)
	if o := s.orders.Own(b.exit); o != nil {
		free += market.Qty(o.OnHold)
	}
	if free+s.unheld(b) <= s.Wanted(b.strategy, b.market) {
		return 0, false
	}
	last, err := s.orders.MayClose(b.strategy, b.market, amount)
	return last, err == nil
}

// leave begins to close the amount of one bracket. Where the gate refuses it now, or the Close
// fails, it is tried again after leavePause.
func (s *follower) leave(b *bracket) {
	atClose := b.LeaveAt == 0 && (b.Enough || b.Follow.Candles != 0 && b.Candles >= b.Follow.Candles)
	s.touch(b)
	b.LeaveAt = s.now().Add(leavePause)
	if last, may := s.mayClose(b, b.amount); may {
		s.begin(b, b.amount, &closing{last: last, tag: "exit after", atClose: atClose})
	}
}
