package shipped

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// BandRevert buys a fall below a band and leaves at the mean. The stop follows the price at a
// distance of average true ranges, and the size is what the stop may lose.
//
// # Rules
//
// The band is Bollinger's: `width` standard deviations around the mean of the last `closes` closes.
// The reach is `stop_atr` times Wilder's average true range of `atr` candles.
//
//   - Entry. Without a position and without an open order: a close below the band, after a close
//     that was not below it, buys at market if it also lies more than `gain` below the mean. A
//     price that stays below the band is bought once.
//   - Size. The amount loses `risk` of the equity if the stop fills, fees included; it is smaller
//     where the cash does not suffice (Risk, UpTo). A price that jumps over the stop loses more.
//   - Stop. It begins one reach below the close, and follows the highest close at that distance
//     (TrailBy). It never falls.
//   - Exit. With a position, a close at the mean or above leaves it (MarketDesk.Close).
//
// Each market is traded for itself; markets with the same quote asset share its cash.
//
// # Parameters
//
// closes and atr count candles of the main interval. A gain below the costs of a purchase and a
// sale loses money at the mean too: with a taker fee of 0.25 % they are 0.5 % and two spreads.
var BandRevert = strategy.Define("bandrevert", "buys a fall below a band, leaves at the mean, with a trailing stop",
	bandRevertParams.needs, bandRevertParams.build)

type bandRevertParams struct {
	Closes  int         `toml:"closes" default:"48" min:"2" max:"5000" doc:"closes of the mean and the band"`
	Width   float64     `toml:"width" default:"2.5" min:"0" max:"20" doc:"distance of the band from the mean in standard deviations"`
	Gain    market.Rate `toml:"gain" default:"3%" min:"0%" max:"99%" doc:"how far below the mean a close must at least be"`
	ATR     int         `toml:"atr" default:"14" min:"2" max:"500" doc:"candles of the average true range"`
	StopATR float64     `toml:"stop_atr" default:"3" min:"0.1" max:"50" doc:"distance of the stop in true ranges"`
	Risk    market.Rate `toml:"risk" default:"1%" min:"0.000001%" max:"100%" doc:"part of the equity that the stop may lose"`
}

func (p bandRevertParams) needs() strategy.Needs {
	band, atr := indicator.NewBollinger(p.Closes, p.Width), indicator.NewATR(p.ATR)
	return strategy.Needs{Warmup: max(band.Warmup()+1, atr.Warmup())}
}

type bandRevert struct {
	strategy.Base
	bandRevertParams
	lines strategy.PerMarket[bandLines]
}

// bandLines are the figures of one market.
type bandLines struct {
	band  indicator.Bollinger
	atr   indicator.ATR
	below bool // the last close was below the band
}

func (p bandRevertParams) build(s strategy.Setup) (strategy.Strategy, error) {
	fresh := func(market.Market) bandLines {
		return bandLines{band: indicator.NewBollinger(p.Closes, p.Width), atr: indicator.NewATR(p.ATR)}
	}
	return &bandRevert{bandRevertParams: p, lines: strategy.Each(s, fresh)}, nil
}

// OnCandle buys a fall below the band, or leaves at the mean.
func (b *bandRevert) OnCandle(d *strategy.Desk, c market.Candle) {
	m, x := d.In(c.Market), b.lines.In(c.Market)
	x.band.Push(c.Close)
	x.atr.Push(c)
	if !x.band.Ready() || !x.atr.Ready() {
		return
	}
	mean, below := x.band.Middle(), c.Close < x.band.Lower().Below(0)
	fell := below && !x.below
	x.below = below
	switch {
	case m.Held() > 0 && c.Close >= mean.Above(0):
		m.Close(strategy.Tag("at the mean"))
	case m.Flat() && fell && c.Close < mean.Below(b.Gain):
		reach := b.reach(x)
		m.Buy(strategy.UpTo(strategy.Risk(b.Risk)), strategy.StopAt(c.Close-reach), strategy.TrailBy(reach),
			strategy.Tag("below the band"))
	}
}

// reach is the distance of the stop.
func (b *bandRevert) reach(x *bandLines) market.Price {
	return x.atr.Times(b.StopATR)
}
