package backtest

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// OneCandleExits are the exits that one candle decided: it moved a stop that follows prices, and
// then reached it. A candle does not tell whether its high or its low came first, and each order
// gives another result. Amounts are without fees. Where the stop is not reached in an order of the
// prices, the base counts at the close of the candle.
type OneCandleExits struct {
	Count       int64  `json:"count"`
	Proceeds    Amount `json:"proceeds"`    // as the run's path has it
	Pessimistic Amount `json:"pessimistic"` // with the low of each such candle before its high
	Optimistic  Amount `json:"optimistic"`  // with the high before the low
}

// oneCandle collects OneCandleExits.
type oneCandle struct {
	OneCandleExits
	end   market.Time // of the group of candles in which the stops moved
	moves []stopMove
	err   error
}

// stopMove is a bracket's stop before it moved in the present candle.
type stopMove struct {
	strategy.StopMoved
	counted market.OrderID // the exit that has been counted
}

// StopMoved notes the first move of a stop in a candle: an engine.Mover.
func (d *driver) StopMoved(m *strategy.StopMoved) {
	if !m.Rule.ByPrices {
		return // a close moves a stop after its candle
	}
	one := &d.oneCandle
	if one.end != d.knows {
		one.end, one.moves = d.knows, one.moves[:0]
	}
	for i := range one.moves {
		if one.moves[i].Bracket == m.Bracket {
			return
		}
	}
	one.moves = append(one.moves, stopMove{StopMoved: *m})
}

// stopFilled counts the fill of a stop that has moved in the present candle.
func (d *driver) stopFilled(o *state.Order, f *market.Fill) {
	one := &d.oneCandle
	if one.end != d.knows || o.Type != market.TypeStopLoss || o.Side != market.Sell {
		return
	}
	entry := d.engine.BracketOf(o.ID)
	for i := range one.moves {
		m := &one.moves[i]
		if m.Bracket != entry {
			continue
		}
		if m.counted != o.ID {
			m.counted = o.ID
			one.Count++
		}
		for j := range d.drive {
			if c := &d.drive[j]; c.Market == f.Market {
				d.countExit(m, c, f)
			}
		}
	}
}

// countExit adds a fill to the proceeds, at its price and at those of the two orders of prices.
func (d *driver) countExit(m *stopMove, c *market.Candle, f *market.Fill) {
	one, v := &d.oneCandle, &d.plan.Venue
	spread := exchange.Spread{Half: v.HalfSpread, Slippage: v.Slippage}
	for _, sum := range []struct {
		to    *market.Money
		price market.Price
	}{
		{&one.Proceeds.Units, f.Price},
		{&one.Pessimistic.Units, m.soldAt(sim.Pessimistic.Points(c, true), spread)},
		{&one.Optimistic.Units, m.soldAt(sim.Optimistic.Points(c, true), spread)},
	} {
		worth, err := d.plan.Catalog.Market(f.Market).Notional(sum.price, f.Amount)
		if err == nil {
			*sum.to, err = market.Add(*sum.to, worth)
		}
		if err != nil && one.err == nil {
			one.err = fmt.Errorf("proceeds of exits within a candle: %w", err)
		}
	}
}

// soldAt is the price that a stop sells at on a path, or the last price of the path.
func (m *stopMove) soldAt(path [4]market.Price, spread exchange.Spread) market.Price {
	sell := func(price market.Price) market.Price {
		return spread.Taken(market.Sell, spread.Offered(market.Sell, price))
	}
	stop, high := m.From, m.High
	for i, price := range path {
		switch {
		case price > stop:
		case i == 0: // a gap
			return sell(price)
		default:
			return sell(stop)
		}
		if price > high {
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
	return fmt.Sprintf("exits that one candle decided: %d stops moved and sold within the same candle, for %s %s; "+
		"%s with each low before the high, %s with each high before the low", e.Count, e.Proceeds, currency,
		e.Pessimistic, e.Optimistic)
}
