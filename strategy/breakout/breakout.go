// Package breakout buys strength: a close above everything of the last candles, with a stop and a
// target attached and the stop moved up behind the price. It never lowers a stop and sells by
// itself only where both exits are lost. Start at Kind.
//
// # Rules
//
// The channel is that of the `channel` candles before the one that closes; the reach is Wilder's
// average true range of `atr` candles, this one included.
//
//   - Entry. Without a position and without open orders, a close above the channel's highest high
//     buys at market, with a stop `stop_atr` reaches below the close and, unless target_atr is 0, a
//     target `target_atr` reaches above it (Desk.Bracket). Where the stop would stand at zero or
//     below, nothing is bought.
//   - Size. The amount uses at most `share` of the cash; with a risk above 0 also at most the
//     amount that loses `risk` of the cash between close and stop. It is rounded down to what the
//     market allows, and nothing is bought below the market's minimum.
//   - Trail. At each close with a position, the stop that the entry rule would set now is compared
//     with the one that stands: a higher one replaces it (Desk.Update with Exits), a lower one is
//     ignored. The target stays where it is. A move that was refused is asked for again at the next
//     close.
//   - Lost exits. A position at a close without any open order in its market has no exit left: the
//     exchange refused them, or it was left over by an earlier run. It is sold at market.
//   - After the exits sold everything, the next entry waits for a new close above the channel. Dust
//     below the market's minimum does not keep it waiting.
//
// An entry that fills in parts is trailed like a whole one: the exits belong to the entry and cover
// what has filled. Each market is traded for itself; markets with the same quote asset share its
// cash.
//
// # Parameters
//
// channel and atr count candles; stop_atr and target_atr are multiples of the reach; share and risk
// are fractions of the cash. Prices of stops are whole ticks below and of targets whole ticks above
// what the multiples give.
package breakout

import (
	"fmt"
	"math"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// The tags of its orders.
const (
	TagEntry = "breakout"
	TagBare  = "lost exits"
)

// Kind is the strategy as bot.Main takes it.
var Kind = strategy.Define("breakout", "buys a close above the highest high, with a trailing stop and a target", needs,
	build)

// Params are the parameters.
type Params struct {
	Channel   int             `toml:"channel" default:"20" min:"2" max:"5000" doc:"candles whose highest high must be passed"`
	ATR       int             `toml:"atr" default:"14" min:"2" max:"500" doc:"candles of the average true range"`
	StopATR   float64         `toml:"stop_atr" default:"3" min:"0.1" max:"50" doc:"distance of the stop in true ranges"`
	TargetATR float64         `toml:"target_atr" default:"6" min:"0" max:"100" doc:"distance of the target in true ranges; 0: none"`
	Share     decimal.Decimal `toml:"share" default:"0.95" min:"0.00000001" max:"1" doc:"part of the cash that an entry may use"`
	Risk      decimal.Decimal `toml:"risk" default:"0.01" min:"0" max:"1" doc:"part of the cash that the stop may lose; 0: no such limit"`
}

func needs(p Params) strategy.Needs {
	atr := indicator.NewATR(p.ATR)
	return strategy.Needs{Warmup: max(p.Channel+1, atr.Warmup())}
}

type breakout struct {
	strategy.Base
	setup        strategy.Setup
	stop, target float64
	share, risk  market.Rate
	trades       []trade // by market
}

// trade is the state of one market: its channel, its reach and the exits of the last entry.
type trade struct {
	channel      indicator.Donchian
	atr          indicator.ATR
	entry        market.OrderID // the last one; 0: none whose exits can move
	stop, target market.Price
}

func build(p Params, s strategy.Setup) (strategy.Strategy, error) {
	share, err := strategy.ShareOf(p.Share)
	if err != nil {
		return nil, fmt.Errorf("parameter share: %w", err)
	}
	risk, err := strategy.ShareOf(p.Risk)
	if err != nil {
		return nil, fmt.Errorf("parameter risk: %w", err)
	}
	b := &breakout{setup: s, stop: p.StopATR, target: p.TargetATR, share: share, risk: risk,
		trades: make([]trade, s.Slots())}
	for _, m := range s.Markets {
		b.trades[m.ID] = trade{channel: indicator.NewDonchian(p.Channel), atr: indicator.NewATR(p.ATR)}
	}
	return b, nil
}

// OnCandle compares the close with the channel before it, then takes the candle into the channel.
func (b *breakout) OnCandle(d *strategy.Desk, c market.Candle) {
	t := &b.trades[c.Market]
	above := t.channel.Ready() && c.Close > t.channel.High()
	t.channel.Push(c)
	t.atr.Push(c)
	if !t.atr.Ready() {
		return
	}
	held := strategy.Tradable(d.Market(c.Market), d.Position(c.Market).Amount, c.Close)
	bare := len(d.OpenOrders(c.Market)) == 0
	switch {
	case held > 0 && bare:
		t.sell(d, c.Market, held)
	case held > 0 && t.entry != 0:
		b.trail(d, &c, t)
	case held == 0 && bare && above:
		b.enter(d, &c, t)
	}
}

func (t *trade) sell(d *strategy.Desk, m market.ID, held market.Qty) {
	t.entry = 0
	if _, err := d.Sell(m, held, strategy.Tag(TagBare)); err != nil {
		d.Log().Debug().Err(err).Msg("sale refused")
	}
}

func (b *breakout) enter(d *strategy.Desk, c *market.Candle, t *trade) {
	stop, target := b.exits(d.Market(c.Market), c.Close, t.atr.Value())
	amount := b.size(d, c, c.Close-stop)
	if stop <= 0 || amount == 0 {
		return
	}
	id, err := d.Bracket(c.Market, amount, stop, target, strategy.Tag(TagEntry))
	if err != nil {
		d.Log().Debug().Err(err).Msg("entry refused")
		return
	}
	t.entry, t.stop, t.target = id, stop, target
}

func (b *breakout) trail(d *strategy.Desk, c *market.Candle, t *trade) {
	stop, _ := b.exits(d.Market(c.Market), c.Close, t.atr.Value())
	if stop <= t.stop {
		return
	}
	if err := d.Update(t.entry, strategy.Exits(stop, t.target)); err != nil {
		d.Log().Debug().Err(err).Msg("trailing refused")
		return
	}
	t.stop = stop
}

// exits are the stop and the target of an entry at the close, rounded away from it to a tick: the
// same prices in any unit.
func (b *breakout) exits(m market.Market, close market.Price, reach float64) (stop, target market.Price) {
	stop = strategy.RoundPrice(m, market.Buy, close-max(1, market.Price(math.Ceil(b.stop*reach))))
	if b.target > 0 {
		target = strategy.RoundPrice(m, market.Sell, close+max(1, market.Price(math.Ceil(b.target*reach))))
	}
	return stop, target
}

// size is the amount that share and risk allow, or 0 below the market's minimum.
func (b *breakout) size(d *strategy.Desk, c *market.Candle, distance market.Price) market.Qty {
	m, cash := d.Market(c.Market), d.Cash(c.Market)
	amount := strategy.Affordable(m, cash, b.share, c.Close)
	if b.risk > 0 {
		amount = min(amount, strategy.Affordable(m, cash, b.risk, distance))
	}
	return strategy.Tradable(m, amount, c.Close)
}
