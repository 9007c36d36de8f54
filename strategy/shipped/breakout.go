package shipped

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// Breakout buys strength: a close above everything of the last candles, with a stop and a target
// attached and the stop moved up behind the price. It never lowers a stop and sells by itself only
// where both exits are lost.
//
// # Rules
//
// The channel spans the `channel` candles before the closing one; the reach is Wilder's average
// true range of `atr` candles, the closing one included.
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
var Breakout = strategy.Define("breakout", "buys a close above the highest high, with a trailing stop and a target",
	breakoutParams.needs, breakoutParams.build)

type breakoutParams struct {
	Channel   int         `toml:"channel" default:"20" min:"2" max:"5000" doc:"candles whose highest high must be passed"`
	ATR       int         `toml:"atr" default:"14" min:"2" max:"500" doc:"candles of the average true range"`
	StopATR   float64     `toml:"stop_atr" default:"3" min:"0.1" max:"50" doc:"distance of the stop in true ranges"`
	TargetATR float64     `toml:"target_atr" default:"6" min:"0" max:"100" doc:"distance of the target in true ranges; 0: none"`
	Share     market.Rate `toml:"share" default:"95%" min:"0.000001%" max:"100%" doc:"part of the cash that an entry may use"`
	Risk      market.Rate `toml:"risk" default:"1%" min:"0%" max:"100%" doc:"part of the cash that the stop may lose; 0: no such limit"`
}

func (p breakoutParams) needs() strategy.Needs {
	atr := indicator.NewATR(p.ATR)
	return strategy.Needs{Warmup: max(p.Channel+1, atr.Warmup())}
}

type breakout struct {
	strategy.Base
	breakoutParams
	strategy.PerMarket[breakoutState]
}

// breakoutState is the state of one market: its channel, its reach and the exits of the last entry.
type breakoutState struct {
	Entry   market.OrderID `json:"entry"` // the last one; 0: none whose exits can move
	Stop    market.Price   `json:"stop"`
	Target  market.Price   `json:"target"`
	channel indicator.Donchian
	atr     indicator.ATR
}

func (p breakoutParams) build(s strategy.Setup) (strategy.Strategy, error) {
	fresh := func(market.Market) breakoutState {
		return breakoutState{channel: indicator.NewDonchian(p.Channel), atr: indicator.NewATR(p.ATR)}
	}
	return &breakout{breakoutParams: p, PerMarket: strategy.Each(s, fresh)}, nil
}

// OnCandle compares the close with the channel before it, then takes the candle into the channel.
func (b *breakout) OnCandle(d *strategy.Desk, c market.Candle) {
	m, t := d.In(c.Market), b.In(c.Market)
	above := t.channel.Ready() && c.Close > t.channel.High()
	if t.channel.Ready() {
		m.Plot("channel", float64(t.channel.High()))
	}
	t.channel.Push(c)
	t.atr.Push(c)
	if !t.atr.Ready() {
		return
	}
	rules := m.Market()
	held := rules.Tradable(m.Position().Amount, c.Close)
	bare := len(m.OpenOrders()) == 0
	b.plotStop(m, t, held)
	switch {
	case held > 0 && bare:
		t.Entry = 0
		m.Sell(strategy.Amount(held), strategy.Tag("lost exits"))
	case held > 0 && t.Entry != 0:
		b.trail(d, &rules, t, c.Close)
	case held == 0 && bare && above:
		b.enter(m, &rules, t, c.Close)
	}
}

// plotStop draws the stop that stood until this close; without a position, none.
func (b *breakout) plotStop(m strategy.MarketDesk, t *breakoutState, held market.Qty) {
	stop := math.NaN()
	if held > 0 && t.Entry != 0 {
		stop = float64(t.Stop)
	}
	m.Plot("stop", stop)
}

func (b *breakout) enter(m strategy.MarketDesk, rules *market.Market, t *breakoutState, close market.Price) {
	stop, target := b.exits(rules, close, t.atr.Value())
	amount := rules.Tradable(b.size(m, close, close-stop), close)
	if stop <= 0 || amount == 0 {
		return
	}
	id, err := m.Buy(strategy.Amount(amount), strategy.Exits(stop, target), strategy.Tag("breakout"))
	if err == nil {
		t.Entry, t.Stop, t.Target = id, stop, target
	}
}

func (b *breakout) trail(d *strategy.Desk, rules *market.Market, t *breakoutState, close market.Price) {
	stop, _ := b.exits(rules, close, t.atr.Value())
	if stop > t.Stop && d.Update(t.Entry, strategy.Exits(stop, t.Target)) == nil {
		t.Stop = stop
	}
}

// exits are the stop and the target of an entry at the close, rounded away from it to a tick: the
// same prices in any unit.
func (b *breakout) exits(rules *market.Market, close market.Price, reach float64) (stop, target market.Price) {
	stop = rules.RoundPrice(market.Buy, close-max(1, market.Price(math.Ceil(b.StopATR*reach))))
	if b.TargetATR > 0 {
		target = rules.RoundPrice(market.Sell, close+max(1, market.Price(math.Ceil(b.TargetATR*reach))))
	}
	return stop, target
}

// size is the amount that share and risk allow.
func (b *breakout) size(m strategy.MarketDesk, close, distance market.Price) market.Qty {
	amount := m.AmountOf(strategy.CashShare(b.Share), close)
	if b.Risk > 0 {
		amount = min(amount, m.AmountOf(strategy.CashShare(b.Risk), distance))
	}
	return amount
}
