// Package rsirevert buys weakness and sells its recovery with limit orders that expire after some
// candles. It never sends a market order and keeps at most one order open in each market. Start at
// Kind.
//
// # Rules
//
// The RSI is Wilder's over `period` closes.
//
//   - Entry. Without a position and without an open order, an RSI below `low` places a limit buy
//     `offset_bps` below the close, over `share` of the cash at that price.
//   - Exit. With a position and without an open order, a limit sell over all of it: at the close
//     where the RSI is above `high`, else `target_bps` above what a unit of the position cost, fees
//     included.
//   - Expiry. An order that has not filled whole at the close of the `expire`-th candle after the
//     one on which it was placed is cancelled. The rules above are applied again at the first close
//     after the cancel is confirmed; an exit is thus placed anew.
//   - A sell that rests above the close while the RSI is above `high` is moved down to the close
//     (Desk.Update), and its candles are counted anew.
//   - An entry that filled in part and expired leaves a smaller position, which is sold by the same
//     rules. Dust below the market's minimum counts as no position.
//
// Each market is traded for itself; markets with the same quote asset share its cash.
//
// # Parameters
//
// period and expire count candles; low and high are RSI values, low below high; offset_bps and
// target_bps are hundredths of a percent of a price; share is a fraction of the cash.
package rsirevert

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// The tags of its orders.
const (
	TagEntry  = "oversold"
	TagTarget = "target"
	TagExit   = "overbought"
)

// Kind is the strategy as bot.Main takes it.
var Kind = strategy.Define("rsirevert",
	"buys below the close when the RSI is low, sells at a target or when it is high", needs, build)

// Params are the parameters.
type Params struct {
	Period int             `toml:"period" default:"14" min:"2" max:"500" doc:"closes of the RSI"`
	Low    float64         `toml:"low" default:"30" min:"0" max:"100" doc:"RSI below which to buy"`
	High   float64         `toml:"high" default:"70" min:"0" max:"100" doc:"RSI above which to sell"`
	Offset decimal.Decimal `toml:"offset_bps" default:"10" min:"0" max:"5000" doc:"how far below the close to buy"`
	Target decimal.Decimal `toml:"target_bps" default:"150" min:"0" max:"5000" doc:"how far above its cost to sell"`
	Expire int             `toml:"expire" default:"6" min:"1" max:"10000" doc:"candles after which an unfilled order is cancelled"`
	Share  decimal.Decimal `toml:"share" default:"0.95" min:"0.00000001" max:"1" doc:"part of the cash that an entry may use"`
}

// Validate asks for room between low and high.
func (p Params) Validate() error {
	if p.Low >= p.High {
		return fmt.Errorf("parameter low: %v is not below high, which is %v", p.Low, p.High)
	}
	return nil
}

func needs(p Params) strategy.Needs {
	rsi := indicator.NewRSI(p.Period)
	return strategy.Needs{Warmup: rsi.Warmup()}
}

type rsiRevert struct {
	strategy.Base
	setup          strategy.Setup
	low, high      float64
	offset, target market.Rate
	share          market.Rate
	expire         int
	sides          []side // by market
}

// side is the state of one market: its RSI and the one order that may be open.
type side struct {
	rsi   indicator.RSI
	order market.OrderID
	age   int // candles closed since order was placed or moved
}

func build(p Params, s strategy.Setup) (_ strategy.Strategy, err error) {
	r := &rsiRevert{setup: s, low: p.Low, high: p.High, expire: p.Expire, sides: make([]side, s.Slots())}
	if r.offset, err = strategy.BpsOf(p.Offset); err != nil {
		return nil, fmt.Errorf("parameter offset_bps: %w", err)
	}
	if r.target, err = strategy.BpsOf(p.Target); err != nil {
		return nil, fmt.Errorf("parameter target_bps: %w", err)
	}
	if r.share, err = strategy.ShareOf(p.Share); err != nil {
		return nil, fmt.Errorf("parameter share: %w", err)
	}
	for _, m := range s.Markets {
		r.sides[m.ID].rsi = indicator.NewRSI(p.Period)
	}
	return r, nil
}

// OnCandle tends the open order, or places a new one.
func (r *rsiRevert) OnCandle(d *strategy.Desk, c market.Candle) {
	x := &r.sides[c.Market]
	x.rsi.Push(c.Close)
	if !x.rsi.Ready() {
		return
	}
	if o, open := d.Order(x.order); open {
		r.tend(d, &c, x, &o)
		return
	}
	m, p := d.Market(c.Market), d.Position(c.Market)
	if held := strategy.Tradable(m, p.Amount, c.Close); held > 0 {
		r.exit(d, &c, x, held)
	} else if x.rsi.Value() < r.low {
		r.enter(d, &c, x)
	}
}

// tend moves, cancels or leaves the open order.
func (r *rsiRevert) tend(d *strategy.Desk, c *market.Candle, x *side, o *market.Order) {
	x.age++
	price := strategy.RoundPrice(d.Market(c.Market), market.Sell, c.Close)
	var err error
	switch {
	case x.age >= r.expire:
		err = d.Cancel(o.ID)
	case o.Side == market.Sell && x.rsi.Value() > r.high && o.Price > price:
		if err = d.Update(o.ID, strategy.At(price)); err == nil {
			x.age = 0
		}
	}
	if err != nil {
		d.Log().Debug().Err(err).Msg("change refused")
	}
}

func (r *rsiRevert) enter(d *strategy.Desk, c *market.Candle, x *side) {
	m := d.Market(c.Market)
	price := strategy.RoundPrice(m, market.Buy, strategy.Below(c.Close, r.offset))
	amount := strategy.Tradable(m, strategy.Affordable(m, d.Cash(c.Market), r.share, price), price)
	if amount > 0 {
		x.place(d, c.Market, market.Buy, amount, price, TagEntry)
	}
}

func (r *rsiRevert) exit(d *strategy.Desk, c *market.Candle, x *side, held market.Qty) {
	m := d.Market(c.Market)
	price, tag := c.Close, TagExit
	if x.rsi.Value() <= r.high {
		price, tag = strategy.Above(strategy.AveragePrice(m, d.Position(c.Market)), r.target), TagTarget
	}
	x.place(d, c.Market, market.Sell, held, strategy.RoundPrice(m, market.Sell, price), tag)
}

func (x *side) place(d *strategy.Desk, m market.ID, s market.Side, amount market.Qty, price market.Price, tag string) {
	id, err := d.Limit(m, s, amount, price, strategy.Tag(tag))
	if err != nil {
		d.Log().Debug().Err(err).Msg("order refused")
		return
	}
	x.order, x.age = id, 0
}
