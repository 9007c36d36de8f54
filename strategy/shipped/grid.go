package shipped

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Grid keeps a ladder of post-only limit orders around a centre: buys below it, sells above it. It
// never takes liquidity and never sells more than it holds.
//
// # Rules
//
// The centre is the first close. A close further from it than `recentre_bps` becomes the new
// centre. At each close:
//
//   - Buys stand at centre − k·spacing for k = 1 … levels, each over `money` at its price.
//   - Sells stand at centre + k·spacing, the nearest first, each over the amount that `money` buys
//     at its price or what is left of the position. Without a position there are none.
//   - A rung whose order is gone, filled or cancelled, gets a new one, unless the close has passed
//     its price: a post-only order there would match and be cancelled. Where the cash does not
//     cover a buy, or a sell would be below the market's minimum, the rung stays empty.
//   - When the centre has moved, Desk.Update moves the resting orders with it; no order is
//     cancelled and placed anew. The orders on the side that the centre moves towards go first, so
//     that the ladder does not cross itself. A rung without the exchange's answer, or whose move
//     was refused, is moved at the next close.
//
// A partly filled order keeps its remainder. Each market has its own ladder; those that share a
// quote asset share its cash.
//
// # Parameters
//
// levels counts the rungs of a side; spacing_bps and recentre_bps are hundredths of a percent of
// the centre; money is an amount of the market's quote asset. All rungs must stand above zero:
// levels·spacing_bps stays below 10000.
var Grid = strategy.Define("grid", "keeps a ladder of post-only buys below and sells above the price",
	GridParams.needs, GridParams.build)

// GridParams are the parameters of Grid.
type GridParams struct {
	Levels   int           `toml:"levels" default:"5" min:"1" max:"50" doc:"orders on each side"`
	Spacing  market.Rate   `toml:"spacing_bps" default:"50" unit:"bps" min:"0.1" max:"5000" doc:"distance between two orders"`
	Recentre market.Rate   `toml:"recentre_bps" default:"100" unit:"bps" min:"0.1" max:"5000" doc:"how far the close may leave the centre"`
	Money    strategy.Size `toml:"money" default:"50" unit:"quote" doc:"quote money of each order"`
}

// Validate asks for a lowest rung above zero.
func (p GridParams) Validate() error {
	if p.Spacing*market.Rate(p.Levels) >= market.Whole {
		return fmt.Errorf("parameter levels: %d levels of %s reach below a price of zero", p.Levels, p.Spacing)
	}
	return nil
}

func (GridParams) needs() strategy.Needs { return strategy.Needs{} }

type grid struct {
	strategy.Base
	GridParams
	strategy.PerMarket[ladder]
}

func (p GridParams) build(s strategy.Setup) (strategy.Strategy, error) {
	for _, m := range s.Markets {
		if _, err := p.Money.MoneyIn(m); err != nil {
			return nil, fmt.Errorf("parameter money: %w", err)
		}
	}
	fresh := func(m market.Market) ladder {
		money, _ := p.Money.MoneyIn(&m) // checked above
		return ladder{money: money, Buys: newHalf(p.Levels), Sells: newHalf(p.Levels)}
	}
	return &grid{GridParams: p, PerMarket: strategy.Each(s, fresh)}, nil
}

// OnCandle moves the centre where the close is too far from it, and keeps the ladder.
func (g *grid) OnCandle(d *strategy.Desk, c market.Candle) {
	l, m := g.In(c.Market), d.In(c.Market).Market()
	if !l.reckoned {
		l.reach = l.Centre.Part(g.Recentre)
	}
	away := c.Close - l.Centre
	moved := l.Centre == 0 || max(away, -away) > l.reach
	if moved {
		l.Centre = c.Close
	}
	if moved || !l.reckoned || l.rules != m.Rules {
		g.reckon(l, &m)
	}
	if held := d.In(c.Market).Position().Amount; held != l.held {
		l.held = held
		l.recheck()
	}
	if l.calm(c.Close) && (!l.poor || d.In(c.Market).Cash() < l.money) {
		return
	}
	l.settled, l.poor, l.low, l.high = true, false, l.Centre-l.reach, l.Centre+l.reach
	if away > 0 {
		l.keepSells(d, &m, c.Close)
		l.keepBuys(d, &m, c.Close)
		return
	}
	l.keepBuys(d, &m, c.Close)
	l.keepSells(d, &m, c.Close)
}

// OnOrder notes that an order is not what it was.
func (g *grid) OnOrder(d *strategy.Desk, o market.Order, _ market.Report) {
	g.noteChange(d, o.Market, o.ID, o.Side)
}

// OnFill notes it for fills that come without a report.
func (g *grid) OnFill(d *strategy.Desk, f market.Fill) { g.noteChange(d, f.Market, f.Order, f.Side) }

// noteChange makes the next close look the order up.
func (g *grid) noteChange(d *strategy.Desk, m market.ID, id market.OrderID, side market.Side) {
	l := g.In(m)
	l.settled, l.held = false, d.In(m).Position().Amount
	if h := l.half(side); h.find(id) >= 0 {
		h.doubt(h.find(id))
	} else if side == market.Sell {
		l.counted = false
	}
}

// Skip uses candles at whose close no rung waits for anything, for speed alone: OnCandle would do
// the same. It is a strategy.Skipper.
func (g *grid) Skip(series []market.Candle) (used int) {
	l := g.In(series[0].Market)
	for !l.poor && used < len(series) && l.calm(series[used].Close) {
		used++
	}
	return used
}
