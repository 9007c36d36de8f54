// Package grid keeps a ladder of post-only limit orders around a centre: buys below it, sells above
// it. It never takes liquidity and never sells more than it holds. Start at Kind.
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
//   - When the centre has moved, the orders that rest move with it (Desk.Update), those on the side
//     it moves towards first, so that the ladder does not cross itself. Nobody cancels and places.
//     A rung that the exchange has not answered yet is left for the next close; so is a move that
//     was refused.
//
// A partly filled order keeps its remainder. Each market has its own ladder; those that share a
// quote asset share its cash.
//
// # Parameters
//
// levels counts the rungs of a side; spacing_bps and recentre_bps are hundredths of a percent of
// the centre; money is an amount of the market's quote asset. All rungs must stand above zero:
// levels·spacing_bps stays below 10000.
package grid

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// The tags of its orders.
const (
	TagBuy  = "rung below"
	TagSell = "rung above"
)

// Kind is the strategy as bot.Main takes it.
var Kind = strategy.Define("grid", "keeps a ladder of post-only buys below and sells above the price", needs, build)

// Params are the parameters.
type Params struct {
	Levels   int             `toml:"levels" default:"5" min:"1" max:"50" doc:"orders on each side"`
	Spacing  decimal.Decimal `toml:"spacing_bps" default:"50" min:"0.1" max:"5000" doc:"distance between two orders"`
	Recentre decimal.Decimal `toml:"recentre_bps" default:"100" min:"0.1" max:"5000" doc:"how far the close may leave the centre"`
	Money    decimal.Decimal `toml:"money" default:"50" min:"0.00000001" doc:"quote money of each order"`
}

// Validate asks for a lowest rung above zero.
func (p Params) Validate() error {
	if reach := p.Spacing.Mul(decimal.NewFromInt(int64(p.Levels))); reach.Cmp(decimal.NewFromInt(10_000)) >= 0 {
		return fmt.Errorf("parameter levels: %d levels of %s bps reach below a price of zero", p.Levels, p.Spacing)
	}
	return nil
}

func needs(Params) strategy.Needs { return strategy.Needs{} }

type grid struct {
	strategy.Base
	setup             strategy.Setup
	spacing, recentre market.Rate
	ladders           []ladder // by market
}

// ladder is the state of one market.
type ladder struct {
	money       market.Money
	centre      market.Price
	buys, sells []market.OrderID // by rung, the nearest first
}

func build(p Params, s strategy.Setup) (_ strategy.Strategy, err error) {
	g := &grid{setup: s, ladders: make([]ladder, s.Slots())}
	if g.spacing, err = strategy.BpsOf(p.Spacing); err != nil {
		return nil, fmt.Errorf("parameter spacing_bps: %w", err)
	}
	if g.recentre, err = strategy.BpsOf(p.Recentre); err != nil {
		return nil, fmt.Errorf("parameter recentre_bps: %w", err)
	}
	for _, m := range s.Markets {
		money, err := market.FromDecimal(p.Money, m.QuoteDigits)
		if err != nil {
			return nil, fmt.Errorf("parameter money: %w in %s", err, m.Name)
		}
		g.ladders[m.ID] = ladder{
			money: market.Money(money), buys: make([]market.OrderID, p.Levels), sells: make([]market.OrderID, p.Levels),
		}
	}
	return g, nil
}

// OnCandle moves the centre where the close is too far from it, and keeps the ladder.
func (g *grid) OnCandle(d *strategy.Desk, c market.Candle) {
	l := &g.ladders[c.Market]
	away := c.Close - l.centre
	if l.centre == 0 || max(away, -away) > strategy.Fraction(l.centre, g.recentre) {
		l.centre = c.Close
	}
	if away > 0 {
		g.keepSells(d, &c, l)
		g.keepBuys(d, &c, l)
		return
	}
	g.keepBuys(d, &c, l)
	g.keepSells(d, &c, l)
}

func (g *grid) keepBuys(d *strategy.Desk, c *market.Candle, l *ladder) {
	m := d.Market(c.Market)
	for k := range l.buys {
		price := strategy.RoundPrice(m, market.Buy, strategy.Below(l.centre, g.distance(k)))
		if o, open := d.Order(l.buys[k]); open {
			move(d, &o, price)
			continue
		}
		amount := strategy.Tradable(m, strategy.Affordable(m, l.money, strategy.Whole, price), price)
		if amount == 0 || price >= c.Close || d.Cash(c.Market) < l.money {
			continue
		}
		l.buys[k] = place(d, c.Market, market.Buy, amount, price, TagBuy)
	}
}

func (g *grid) keepSells(d *strategy.Desk, c *market.Candle, l *ladder) {
	m, free := d.Market(c.Market), unsold(d, c.Market)
	for k := range l.sells {
		price := strategy.RoundPrice(m, market.Sell, strategy.Above(l.centre, g.distance(k)))
		if o, open := d.Order(l.sells[k]); open {
			move(d, &o, price)
			continue
		}
		amount := strategy.Tradable(m, min(free, strategy.Affordable(m, l.money, strategy.Whole, price)), price)
		if amount == 0 || price <= c.Close {
			continue
		}
		if l.sells[k] = place(d, c.Market, market.Sell, amount, price, TagSell); l.sells[k] != 0 {
			free -= amount
		}
	}
}

// distance is the distance of rung k from the centre.
func (g *grid) distance(k int) market.Rate { return g.spacing * market.Rate(k+1) }

// unsold is the part of the position that no open sell covers.
func unsold(d *strategy.Desk, m market.ID) market.Qty {
	free := d.Position(m).Amount
	for _, o := range d.OpenOrders(m) {
		if o.Side == market.Sell {
			free -= o.AmountRemaining
		}
	}
	return free
}

// move brings an order to price, unless the exchange has not answered it yet.
func move(d *strategy.Desk, o *market.Order, price market.Price) {
	if o.Status == 0 || o.Price == price {
		return
	}
	if err := d.Update(o.ID, strategy.At(price)); err != nil {
		d.Log().Debug().Err(err).Msg("move refused")
	}
}

// place returns the order's id, or 0 where the gate refused it.
func place(d *strategy.Desk, m market.ID, side market.Side, amount market.Qty, price market.Price,
	tag string) market.OrderID {
	id, err := d.Limit(m, side, amount, price, strategy.PostOnly(), strategy.Tag(tag))
	if err != nil {
		d.Log().Debug().Err(err).Msg("rung refused")
		return 0
	}
	return id
}
