package shipped

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// RSIRevert buys weakness and sells its recovery with limit orders that expire after some candles.
// It never sends a market order and keeps at most one order open in each market.
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
var RSIRevert = strategy.Define("rsirevert",
	"buys below the close when the RSI is low, sells at a target or when it is high",
	rsiRevertParams.needs, rsiRevertParams.build)

type rsiRevertParams struct {
	Period int         `toml:"period" default:"14" min:"2" max:"500" doc:"closes of the RSI"`
	Low    float64     `toml:"low" default:"30" min:"0" max:"100" doc:"RSI below which to buy"`
	High   float64     `toml:"high" default:"70" min:"0" max:"100" doc:"RSI above which to sell"`
	Offset market.Rate `toml:"offset_bps" default:"10" unit:"bps" min:"0" max:"5000" doc:"how far below the close to buy"`
	Target market.Rate `toml:"target_bps" default:"150" unit:"bps" min:"0" max:"5000" doc:"how far above its cost to sell"`
	Expire int         `toml:"expire" default:"6" min:"1" max:"10000" doc:"candles after which an unfilled order is cancelled"`
	Share  market.Rate `toml:"share" default:"95%" min:"0.000001%" max:"100%" doc:"part of the cash that an entry may use"`
}

// Validate asks for room between low and high.
func (p rsiRevertParams) Validate() error {
	if p.Low >= p.High {
		return fmt.Errorf("parameter low: %v is not below high, which is %v", p.Low, p.High)
	}
	return nil
}

func (p rsiRevertParams) needs() strategy.Needs {
	rsi := indicator.NewRSI(p.Period)
	return strategy.Needs{Warmup: rsi.Warmup()}
}

type rsiRevert struct {
	strategy.Base
	rsiRevertParams
	strategy.PerMarket[side]
}

// side is the state of one market: its RSI and the one order that may be open.
type side struct {
	Order market.OrderID `json:"order"`
	Age   int            `json:"age"` // candles closed since Order was placed or moved
	rsi   indicator.RSI
}

func (p rsiRevertParams) build(s strategy.Setup) (strategy.Strategy, error) {
	fresh := func(market.Market) side { return side{rsi: indicator.NewRSI(p.Period)} }
	return &rsiRevert{rsiRevertParams: p, PerMarket: strategy.Each(s, fresh)}, nil
}

// OnCandle tends the open order, or places a new one.
func (r *rsiRevert) OnCandle(d *strategy.Desk, c market.Candle) {
	m, x := d.In(c.Market), r.In(c.Market)
	x.rsi.Push(c.Close)
	if !x.rsi.Ready() {
		return
	}
	if o, open := d.Order(x.Order); open {
		r.tend(d, m, x, &o, c.Close)
		return
	}
	rules := m.Market()
	if held := rules.Tradable(m.Position().Amount, c.Close); held > 0 {
		r.exit(m, x, held, c.Close)
	} else if x.rsi.Value() < r.Low {
		r.enter(m, x, c.Close)
	}
}

// tend moves, cancels or leaves the open order.
func (r *rsiRevert) tend(d *strategy.Desk, m strategy.MarketDesk, x *side, o *market.Order, close market.Price) {
	x.Age++
	rules := m.Market()
	price := rules.RoundPrice(market.Sell, close)
	switch {
	case x.Age >= r.Expire:
		d.Cancel(o.ID)
	case o.Side == market.Sell && x.rsi.Value() > r.High && o.Price > price:
		if d.Update(o.ID, strategy.At(price)) == nil {
			x.Age = 0
		}
	}
}

func (r *rsiRevert) enter(m strategy.MarketDesk, x *side, close market.Price) {
	rules := m.Market()
	price := rules.RoundPrice(market.Buy, close.Below(r.Offset))
	amount := rules.Tradable(m.AmountOf(strategy.CashShare(r.Share), price), price)
	if amount > 0 {
		x.placed(m.Buy(strategy.Amount(amount), strategy.At(price), strategy.Tag("oversold")))
	}
}

func (r *rsiRevert) exit(m strategy.MarketDesk, x *side, held market.Qty, close market.Price) {
	price, tag := close, "overbought"
	if x.rsi.Value() <= r.High {
		price, tag = m.Cost().Above(r.Target), "target"
	}
	rules := m.Market()
	price = rules.RoundPrice(market.Sell, price)
	x.placed(m.Sell(strategy.Amount(held), strategy.At(price), strategy.Tag(tag)))
}

// placed notes the answer to an ask.
func (x *side) placed(id market.OrderID, err error) {
	if err == nil {
		x.Order, x.Age = id, 0
	}
}
