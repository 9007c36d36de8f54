package backtest

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// OneCandleExits are the exits that one candle decided: it moved a stop that follows prices, or
// reached a partial target, and then reached the stop. A candle does not tell whether its high or
// its low came first, and each order gives another result. Amounts are without fees, those of
// partial targets included. Where the stop is not reached in an order of the prices, the base
// counts at the close of the candle.
type OneCandleExits struct {
	Count       int64  `json:"count"`
	Proceeds    Amount `json:"proceeds"`    // as the run's path has it
	Pessimistic Amount `json:"pessimistic"` // in the worse order of each such candle's low and high
	Optimistic  Amount `json:"optimistic"`  // in the better one
}

// oneCandle collects OneCandleExits.
type oneCandle struct {
	OneCandleExits
	end   market.Time // of the group of candles in which it happened
	moves []stopMove
	err   error
}

// stopMove is a bracket as it was before the present candle moved its stop or sold a part of it.
type stopMove struct {
	strategy.StopMoved
	parts   []partSold
	counted market.OrderID // the exit that has been counted
}

// moved reports whether the stop has moved.
func (m *stopMove) moved() bool { return m.Rule.Follow != (strategy.Follow{}) }

// partSold is the sale of a partial target in the present candle.
type partSold struct {
	level  market.Price
	amount market.Qty
	worth  market.Money
}

// StopMoved notes the first move of a stop in a candle: an engine.Mover.
func (d *driver) StopMoved(m *strategy.StopMoved) {
	if !m.Rule.ByPrices {
		return // a close moves a stop after its candle
	}
	if now := d.oneCandle.of(d.knows, m.Bracket); !now.moved() { // its first move
		now.StopMoved = *m
	}
}

// PartReached notes a partial target that the present candle has reached: an engine.Parter.
func (d *driver) PartReached(p *strategy.PartReached) {
	if p.Why == "" {
		m := d.oneCandle.of(d.knows, p.Bracket)
		if !m.moved() {
			m.From = p.Stop
		}
		m.parts = append(m.parts, partSold{level: p.Price})
	}
}

// of returns what is noted of a bracket in the group of candles that ends at a time.
func (one *oneCandle) of(end market.Time, entry market.OrderID) *stopMove {
	if one.end != end {
		one.end, one.moves = end, one.moves[:0]
	}
	for i := range one.moves {
		if one.moves[i].Bracket == entry {
			return &one.moves[i]
		}
	}
	one.moves = append(one.moves, stopMove{StopMoved: strategy.StopMoved{Bracket: entry}})
	return &one.moves[len(one.moves)-1]
}

// soldWithin counts a fill of a stop, or notes one of a partial target, in a candle that has moved
// the stop or reached the part.
func (d *driver) soldWithin(o *state.Order, f *market.Fill) {
	one := &d.oneCandle
	if one.end != d.knows || o.Side != market.Sell || o.Type != market.TypeStopLoss && o.Tag != strategy.TagPart {
		return
	}
	entry := d.engine.Brackets().EntryOf(o.ID)
	for i := range one.moves {
		m := &one.moves[i]
		switch {
		case m.Bracket != entry:
		case o.Type == market.TypeStopLoss:
			d.stopFilled(m, f)
		case len(m.parts) > 0:
			part := &m.parts[len(m.parts)-1]
			worth, err := d.plan.Catalog.Market(f.Market).Notional(f.Price, f.Amount)
			one.add(&part.worth, worth, err)
			part.amount += f.Amount
		}
	}
}

// stopFilled counts the fill of a stop, with the parts that the same candle sold before it.
func (d *driver) stopFilled(m *stopMove, f *market.Fill) {
	first := m.counted != f.Order
	if first {
		m.counted = f.Order
		d.oneCandle.Count++
	}
	for i := range d.drive {
		if c := &d.drive[i]; c.Market == f.Market {
			worth, err := d.plan.Catalog.Market(f.Market).Notional(f.Price, f.Amount)
			d.oneCandle.add(&worth, 0, err)
			d.countExit(m, c, worth, f.Amount, 0)
			for j := range m.parts {
				if part := &m.parts[j]; first {
					d.countExit(m, c, part.worth, part.amount, part.level)
				}
			}
		}
	}
}

// countExit adds a sale to the proceeds, and what it would have brought in the two orders of
// prices. level is that of a partial target; 0: the stop sold.
func (d *driver) countExit(m *stopMove, c *market.Candle, worth market.Money, amount market.Qty, level market.Price) {
	one, v, in := &d.oneCandle, &d.plan.Venue, d.plan.Catalog.Market(c.Market)
	spread := exchange.Spread{Half: v.HalfSpread, Slippage: v.Slippage}
	one.add(&one.Proceeds.Units, worth, nil)
	a, b := m.soldAt(sim.OLHC.Points(c, true), level, spread), m.soldAt(sim.OHLC.Points(c, true), level, spread)
	low, err := in.Notional(min(a, b), amount)
	one.add(&one.Pessimistic.Units, low, err)
	high, err := in.Notional(max(a, b), amount)
	one.add(&one.Optimistic.Units, high, err)
}

func (one *oneCandle) add(sum *market.Money, worth market.Money, err error) {
	if err == nil {
		*sum, err = market.Add(*sum, worth)
	}
	if err != nil && one.err == nil {
		one.err = fmt.Errorf("proceeds of exits within a candle: %w", err)
	}
}

// soldAt is the price that a stop sells at on a path, or a partial target with a level, whatever
// comes first, or the last price of the path.
func (m *stopMove) soldAt(path [4]market.Price, level market.Price, spread exchange.Spread) market.Price {
	sell := func(price market.Price) market.Price {
		return spread.Paid(market.Sell, price, 1)
	}
	stop, high := m.From, m.High
	for i, price := range path {
		switch {
		case level != 0 && price >= level && i == 0, price <= stop && i == 0: // a gap
			return sell(price)
		case level != 0 && price >= level:
			return sell(level)
		case price > stop:
		default:
			return sell(stop)
		}
		if price > high && m.moved() {
			high = price
			stop = m.Rule.Next(stop, high)
		}
	}
	return path[3]
}

// oneCandleExits are the exits within one candle, nil for none.
func (d *driver) oneCandleExits() *OneCandleExits {
	e := d.oneCandle.OneCandleExits
	if e.Count == 0 {
		return nil
	}
	for _, a := range []*Amount{&e.Proceeds, &e.Pessimistic, &e.Optimistic} {
		a.Digits = d.plan.Currency.Digits
	}
	return &e
}

// warning says what the exits depend on.
func (e *OneCandleExits) warning(currency string) string {
	return fmt.Sprintf("exits that one candle decided: %d stops sold in a candle that had moved them or had reached "+
		"a partial target, for %s %s; %s in the worse order of each low and high, %s in the better one", e.Count,
		e.Proceeds, currency, e.Pessimistic, e.Optimistic)
}
