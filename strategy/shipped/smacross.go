package shipped

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// SMACross trades the cross of two simple moving averages with market orders, long only. It never
// looks at a price other than closes and keeps no order resting.
//
// # Rules
//
// The fast average is over the last `fast` closes, the slow one over the last `slow`. At each close
// their difference is compared with that of the close before:
//
//   - it was zero or below and is above: the averages crossed upwards. Without a position and
//     without an open order, buy ⌊share · cash ÷ close⌋ at market, rounded down to the amounts that
//     the market allows. Cash is what is available in the quote asset; share leaves room for the
//     fee and for the price until the order is filled.
//   - it was zero or above and is below: they crossed downwards. With a position, sell all of it at
//     market. A buy that still waits is cancelled; while a sell waits, nothing is asked.
//   - otherwise nothing happens. A cross that was missed, for want of cash or because an order was
//     open, is not made up for.
//
// The first decision is made on candle slow+1, when there is a difference to compare with. Each
// market is traded for itself; markets with the same quote asset share its cash, and the market
// whose candle comes first in a group takes its share first.
//
// # Numbers
//
// The difference is fastSum·slow − slowSum·fast in whole ticks, both sides divided by the common
// divisor of fast and slow: the sign is exact, so that equal averages are equal and no rounding
// makes a cross. A close so high that the products would leave an int64 stops the strategy with a
// panic that names it.
//
// # Parameters
//
// fast and slow count candles, with fast below slow; share is a fraction of the cash above 0 and up
// to 1.
var SMACross = strategy.Define("smacross",
	"buys when a fast average of closes crosses above a slow one, sells when it crosses below",
	SMACrossParams.needs, SMACrossParams.build)

// SMACrossParams are the parameters of SMACross.
type SMACrossParams struct {
	Fast  int         `toml:"fast" default:"20" min:"1" max:"1000" doc:"candles of the fast average"`
	Slow  int         `toml:"slow" default:"50" min:"2" max:"5000" doc:"candles of the slow average"`
	Share market.Rate `toml:"share" default:"99%" min:"0.000001%" max:"100%" doc:"part of the cash that a buy may use"`
}

// Validate asks for a fast average that is faster than the slow one.
func (p SMACrossParams) Validate() error {
	if p.Fast >= p.Slow {
		return fmt.Errorf("parameter fast: %d is not below slow, which is %d", p.Fast, p.Slow)
	}
	return nil
}

func (p SMACrossParams) needs() strategy.Needs { return strategy.Needs{Warmup: p.Slow + 1} }

type smaCross struct {
	strategy.Base
	share market.Rate
	cross strategy.PerMarket[indicator.Cross]
}

func (p SMACrossParams) build(s strategy.Setup) (strategy.Strategy, error) {
	cross := func(market.Market) indicator.Cross { return indicator.NewCross(p.Fast, p.Slow) }
	return &smaCross{share: p.Share, cross: strategy.Each(s, cross)}, nil
}

// OnCandle takes a close and trades where it crosses.
func (x *smaCross) OnCandle(d *strategy.Desk, c market.Candle) {
	switch x.cross.In(c.Market).Push(c.Close) {
	case indicator.Up:
		x.enter(d.In(c.Market))
	case indicator.Down:
		exit(d, d.In(c.Market))
	}
}

func (x *smaCross) enter(m strategy.MarketDesk) {
	if m.Position().Amount == 0 && len(m.OpenOrders()) == 0 && m.Cash() > 0 {
		m.Buy(strategy.CashShare(x.share), strategy.Tag("cross up"))
	}
}

func exit(d *strategy.Desk, m strategy.MarketDesk) {
	for _, o := range m.OpenOrders() {
		if o.Side == market.Sell {
			return
		}
		d.Cancel(o.ID)
	}
	if held := m.Position().Amount; held > 0 {
		m.Sell(strategy.Amount(held), strategy.Tag("cross down"))
	}
}

// Skip uses candles up to the next cross, many at once, for speed alone: without it, OnCandle gets
// them, and a candle of a search costs twice as much. It is a strategy.Skipper.
func (x *smaCross) Skip(series []market.Candle) (used int) {
	return x.cross.In(series[0].Market).Skip(series)
}
