// Package dca buys for a fixed amount of money at fixed times and never sells. It never looks at a
// price and keeps no order resting. Start at Kind.
//
// # Rules
//
// Time is cut into periods: of `every_candles` candles of the main interval or, where `every` is
// set, of that duration, in both cases counted from 1970-01-01 UTC (weeks from the Monday after).
// The schedule thus depends neither on when the run started nor on candles that are missing.
//
//   - By candles: the first candle that starts in a new period buys `money` at market, fee included
//     (Desk.BuyQuote), when it closes. The first candle of a run buys only if it is the first of
//     its period.
//   - By duration: a timer at the start of each period buys the same. The first period is the one
//     after the first candle of the run; a timer that comes late buys once and keeps the schedule.
//   - Where the available cash is below `money`, the purchase is skipped, not made smaller and not
//     made up for later. So is one that the gate refuses.
//
// Several markets each buy for `money`; those that share a quote asset use its cash in the order of
// their candles.
//
// # Parameters
//
// money is an amount of the market's quote asset as people write it, with no more decimals than the
// asset has. every, where it is not 0, replaces every_candles.
package dca

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// TagBuy is the tag of its orders.
const TagBuy = "scheduled"

// Kind is the strategy as bot.Main takes it.
var Kind = strategy.Define("dca", "buys for a fixed amount of money at fixed times", needs, build)

// Params are the parameters.
type Params struct {
	Money        decimal.Decimal `toml:"money" default:"25" min:"0.00000001" doc:"quote money of each purchase, fee included"`
	EveryCandles int64           `toml:"every_candles" default:"24" min:"1" max:"1000000" doc:"candles between purchases"`
	Every        time.Duration   `toml:"every" default:"0s" min:"0s" doc:"time between purchases; 0s: count candles"`
}

// Validate refuses durations shorter than a second.
func (p Params) Validate() error {
	if p.Every != 0 && p.Every < time.Second {
		return fmt.Errorf("parameter every: %s is below 1s", p.Every)
	}
	return nil
}

func needs(Params) strategy.Needs { return strategy.Needs{} }

type dca struct {
	strategy.Base
	setup   strategy.Setup
	candles int64
	every   market.Time
	plans   []plan // by market
}

// plan is the schedule of one market.
type plan struct {
	money  market.Money
	known  bool  // a candle was seen
	period int64 // of the last candle: the number of its first
}

func build(p Params, s strategy.Setup) (strategy.Strategy, error) {
	x := &dca{setup: s, candles: p.EveryCandles, every: market.Time(p.Every), plans: make([]plan, s.Slots())}
	for _, m := range s.Markets {
		money, err := market.FromDecimal(p.Money, m.QuoteDigits)
		if err != nil {
			return nil, fmt.Errorf("parameter money: %w in %s", err, m.Name)
		}
		x.plans[m.ID].money = market.Money(money)
	}
	return x, nil
}

// OnCandle buys in a new period, or starts the timer.
func (x *dca) OnCandle(d *strategy.Desk, c market.Candle) {
	p := &x.plans[c.Market]
	if x.every != 0 {
		if !p.known {
			p.known = true
			x.schedule(d, c.Market)
		}
		return
	}
	index := c.Interval.Index(c.Start)
	period := market.FloorTo(index, x.candles)
	due := p.period != period
	if !p.known {
		due = period == index
	}
	p.known, p.period = true, period
	if due {
		p.buy(d, c.Market)
	}
}

// OnTimer buys in the market that names the timer.
func (x *dca) OnTimer(d *strategy.Desk, name int64) {
	m := market.ID(name)
	x.plans[m].buy(d, m)
	x.schedule(d, m)
}

// schedule asks for a timer at the next start of a period.
func (x *dca) schedule(d *strategy.Desk, m market.ID) {
	d.Timer(market.FloorTo(d.Now(), x.every)+x.every, int64(m))
}

func (p *plan) buy(d *strategy.Desk, m market.ID) {
	if cash := d.Cash(m); cash < p.money {
		d.Log().Debug().Int64("cash", int64(cash)).Msg("purchase skipped: cash is short")
		return
	}
	if _, err := d.BuyQuote(m, p.money, strategy.Tag(TagBuy)); err != nil {
		d.Log().Debug().Err(err).Msg("purchase refused")
	}
}
