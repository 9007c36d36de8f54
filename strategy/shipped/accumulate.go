package shipped

import (
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// Accumulate buys for a fixed amount of money in each period, as a maker first, and never sells. It
// buys more after a fall.
//
// # Rules
//
// Time is cut into periods of `every`, as calendars do (weeks from Monday). At the first candle
// that closes in a new period, in each market:
//
//   - it buys for `money`; for `dip` times as much where the close is `fall` or more below the
//     highest close of the last `candles` candles. The cash is enough for it, or nothing is bought
//     and nothing is made up for.
//   - The buy is a post-only order at the best bid. It follows the bid, at most once in each
//     `move`. What it has not bought is bought at market after `take`, or when the bid is more than
//     `beyond` above the first one.
//   - A buy of the period before that is still under way ends first: what it has not bought is
//     left.
//
// The first candle of a run begins no period.
//
// # Parameters
//
// money is an amount of the market's quote asset, fees included. take should be shorter than every.
// See docs/strategies.md, "Maker first and TWAP", for what a backtest over candles assumes.
var Accumulate = strategy.Define("accumulate", "buys for a fixed amount in each period, as a maker first",
	accumulateParams.needs, accumulateParams.build)

type accumulateParams struct {
	Money   strategy.Size   `toml:"money" default:"25" unit:"quote" doc:"quote money of each buy, fees included"`
	Every   market.Interval `toml:"every" default:"1d" doc:"period of the buys"`
	Move    time.Duration   `toml:"move" default:"30s" min:"1s" doc:"least time between two moves of the order"`
	Take    time.Duration   `toml:"take" default:"1h" min:"1s" doc:"after this time the rest is bought at market"`
	Beyond  market.Rate     `toml:"beyond" default:"0.5%" min:"0.000001%" max:"100%" doc:"rise of the bid at which the rest is bought at market"`
	Fall    market.Rate     `toml:"fall" default:"10%" min:"0.000001%" max:"99%" doc:"fall from the highest close that is a dip"`
	Candles int             `toml:"candles" default:"168" min:"1" max:"5000" doc:"candles of the highest close"`
	Dip     int64           `toml:"dip" default:"2" min:"1" max:"100" doc:"times the money in a dip"`
}

func (p accumulateParams) needs() strategy.Needs { return strategy.Needs{Warmup: p.Candles} }

type accumulate struct {
	strategy.Base
	accumulateParams
	strategy.PerMarket[saving]
}

// saving is the state of one market. The candles of the warm-up build the highest close again.
type saving struct {
	Period int64 `json:"period"` // of the latest close, as Every numbers them
	Begun  bool  `json:"begun"`  // Period is known

	high  indicator.Highest
	money market.Money
}

func (p accumulateParams) build(s strategy.Setup) (strategy.Strategy, error) {
	if p.Every < s.Interval {
		return nil, fmt.Errorf("parameter every: %s is shorter than the main interval, which is %s", p.Every,
			s.Interval)
	}
	for _, m := range s.Markets {
		if _, err := p.Money.MoneyIn(m); err != nil {
			return nil, fmt.Errorf("parameter money: %w", err)
		}
	}
	fresh := func(m market.Market) saving {
		money, _ := p.Money.MoneyIn(&m) // checked above
		return saving{high: indicator.NewHighest(p.Candles), money: money}
	}
	return &accumulate{accumulateParams: p, PerMarket: strategy.Each(s, fresh)}, nil
}

// OnCandle buys where a candle closes in a new period.
func (a *accumulate) OnCandle(d *strategy.Desk, c market.Candle) {
	m, s := d.In(c.Market), a.In(c.Market)
	s.high.Push(c.Close)
	period := a.Every.Index(c.End())
	due := s.Begun && period != s.Period
	s.Period, s.Begun = period, true
	if !due {
		return
	}
	money := s.money
	if c.Close <= s.high.Below(a.Fall) {
		money *= market.Money(a.Dip)
	}
	m.CancelAll()
	if m.Affords(strategy.Money(money)) {
		m.Buy(strategy.Money(money), strategy.MakerFirst(a.Move), strategy.TakeAfter(a.Take),
			strategy.TakeBeyond(a.Beyond))
	}
}
