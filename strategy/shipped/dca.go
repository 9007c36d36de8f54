package shipped

import (
	"errors"
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// DCA buys for a fixed amount of money at fixed times and never sells. It never looks at a price
// and keeps no order resting.
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
//   - A purchase is skipped if the available cash is below `money` or the gate refuses it. It is
//     not made smaller, and not made up for later.
//
// Several markets each buy for `money`; those that share a quote asset use its cash in the order of
// their candles.
//
// # Parameters
//
// money is an amount of the market's quote asset as people write it, with no more decimals than the
// asset has. every, where it is not 0, replaces every_candles.
var DCA = strategy.Define("dca", "buys for a fixed amount of money at fixed times", dcaParams.needs, dcaParams.build)

type dcaParams struct {
	Money        strategy.Size `toml:"money" default:"25" unit:"quote" doc:"quote money of each purchase, fee included"`
	EveryCandles int64         `toml:"every_candles" default:"24" min:"1" max:"1000000" doc:"candles between purchases"`
	Every        time.Duration `toml:"every" default:"0s" min:"0s" doc:"time between purchases; 0s: count candles"`
}

// Validate refuses durations shorter than a second.
func (p dcaParams) Validate() error {
	if p.Every != 0 && p.Every < time.Second {
		return fmt.Errorf("parameter every: %s is below 1s", p.Every)
	}
	return nil
}

func (dcaParams) needs() strategy.Needs { return strategy.Needs{} }

type dca struct {
	strategy.Base
	dcaParams
	strategy.PerMarket[plan]
}

// plan is the schedule of one market. A schedule by duration keeps its timer, which the engine
// saves.
type plan struct {
	Known    bool            `json:"known"`  // a candle was seen
	Period   int64           `json:"period"` // of the last candle: the number of its first
	Timer    bool            `json:"timer"`  // by duration
	Candles  int64           `json:"candles"`
	Interval market.Interval `json:"interval"`
	own      schedule        // of this config
}

// schedule has the settings of the config that a saved plan must agree with to go on.
type schedule struct {
	timer    bool
	candles  int64
	interval market.Interval
}

func (p dcaParams) build(s strategy.Setup) (strategy.Strategy, error) {
	own := schedule{p.Every != 0, p.EveryCandles, s.Interval}
	fresh := func(market.Market) plan {
		return plan{Timer: own.timer, Candles: own.candles, Interval: own.interval, own: own}
	}
	return &dca{dcaParams: p, PerMarket: strategy.Each(s, fresh)}, nil
}

// Loaded ends a saved plan of another period of candles: it begins as in a new run. A change
// between a schedule by duration and one by candles is an error: the timer would go on, or be
// missing.
func (p *plan) Loaded() error {
	saved := schedule{p.Timer, p.Candles, p.Interval}
	if saved.timer != p.own.timer {
		return errors.New("the schedule went by duration and now by candles, or the other way round; " +
			"set it back, or give it another name")
	}
	if saved != p.own && !saved.timer {
		p.Known, p.Period = false, 0
	}
	p.Candles, p.Interval = p.own.candles, p.own.interval
	return nil
}

// OnCandle buys in a new period, or starts the timer.
func (x *dca) OnCandle(d *strategy.Desk, c market.Candle) {
	m, p := d.In(c.Market), x.In(c.Market)
	if p.Timer {
		if !p.Known {
			p.Known = true
			x.schedule(d, m)
		}
		return
	}
	index := c.Interval.Index(c.Start)
	period := market.FloorTo(index, x.EveryCandles)
	due := p.Period != period
	if !p.Known {
		due = period == index
	}
	p.Known, p.Period = true, period
	if due {
		x.buy(m)
	}
}

// OnTimer buys in the market that names the timer.
func (x *dca) OnTimer(d *strategy.Desk, name int64) {
	m := d.In(market.ID(name))
	x.buy(m)
	x.schedule(d, m)
}

// schedule asks for a timer at the next start of a period.
func (x *dca) schedule(d *strategy.Desk, m strategy.MarketDesk) {
	every := market.Time(x.Every)
	d.Timer(market.FloorTo(d.Now(), every)+every, int64(m.ID()))
}

func (x *dca) buy(m strategy.MarketDesk) {
	if m.Affords(x.Money) {
		m.Buy(x.Money, strategy.Tag("scheduled"))
	}
}
