package strategy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Follow says how the exits of a bracket follow the price and the time: Trail, TrailBy, TrailAfter,
// ByPrices, BreakEvenAfter, ExitAfter, ExitAfterTime, EnoughAfter and PartAt set its fields. The
// engine keeps it, also over a restart.
type Follow struct {
	Trail      market.Rate     `json:"trail,omitzero"`      // of the stop below the highest price; 0: none
	TrailBy    market.Price    `json:"trailBy,omitzero"`    // the same as a distance; 0: none
	TrailAfter market.Rate     `json:"trailAfter,omitzero"` // gain from which on the stop trails; 0: at once
	BreakEven  market.Rate     `json:"breakEven,omitzero"`  // gain after which the stop pays both fees; 0: none
	ByPrices   bool            `json:"byPrices,omitzero"`   // every price moves the stop, not only closes
	Candles    int             `json:"candles,omitzero"`    // after which the position is closed; 0: none
	Time       market.Duration `json:"time,omitzero"`       // after which the position is closed; 0: none
	Parts      *Parts          `json:"parts,omitzero"`      // partial targets, which do not change; nil: none
	Gains      *Gains          `json:"gains,omitzero"`      // the first that is reached closes the position; nil: none
}

// Trail attaches a stop that follows the price: it stays below the highest close since the entry
// bought by at least a rate of it. Without StopAt it begins that far below the price at which the
// entry would fill. It is moved when a candle of the strategy's first interval is delivered, or
// with ByPrices by every price. It never falls. A rise of less than 0.1 % of the price, and one
// within a second of the last, waits for the next. In Update it sets the rate of a bracket.
func Trail(below market.Rate) Option { return Option{field: fieldTrail, number: int64(below)} }

// TrailBy is Trail with a distance in price, such as two average true ranges at the entry. For a
// distance that changes, move the stop with Update and StopAt.
func TrailBy(distance market.Price) Option {
	return Option{field: fieldTrailBy, number: int64(distance)}
}

// TrailAfter lets Trail and TrailBy begin once the price has gained a rate over what the entry
// cost: until then the stop stays at StopAt, and without StopAt there is none. The bracket needs a
// stop or a target at its start.
func TrailAfter(gain market.Rate) Option {
	return Option{field: fieldTrailAfter, number: int64(gain)}
}

// ByPrices lets Trail and BreakEvenAfter see every price, not only closes: live each last trade, in
// a backtest the highest price of each candle's path. A backtest then assumes an order of high and
// low within a candle; its report counts the exits that depend on it.
func ByPrices() Option { return Option{field: fieldByPrices, number: 1} }

// BreakEvenAfter moves the stop to the price that pays for the entry with the fees of both sides,
// once the price has gained a rate over what the entry cost.
func BreakEvenAfter(gain market.Rate) Option {
	return Option{field: fieldBreakEven, number: int64(gain)}
}

// ExitAfter closes what the entry bought, as Close does, after a number of delivered candles of the
// strategy's first interval. The candle in which the entry buys is the first. The bracket needs a
// stop or a target too.
func ExitAfter(candles int) Option { return Option{field: fieldExitAfter, number: int64(candles)} }

// ExitAfterTime is ExitAfter by a duration since the entry first bought.
func ExitAfterTime(d market.Duration) Option {
	return Option{field: fieldExitAfterTime, number: int64(d)}
}

// EnoughAfter closes what the entry bought, as Close does, at the first close of a candle of the
// strategy's first interval that is a rate above what the entry cost, once it is held so long.
// Several make stairs: 4 % at once, 2 % after an hour, whatever pays its cost after a day. The
// bracket needs a stop or a target too. In Update, the steps replace all there were.
func EnoughAfter(held market.Duration, gain market.Rate) Option {
	return Option{field: fieldEnough, number: int64(gain), second: int64(held)}
}

// Gain is a step of EnoughAfter.
type Gain struct {
	Gain market.Rate     `json:"gain"`
	Held market.Duration `json:"held"`
}

// Gains are the steps of a bracket; nil: none.
type Gains []Gain

func (g *Gains) with(more Gain) *Gains {
	var all Gains
	if g != nil {
		all = *g
	}
	all = append(slices.Clip(all), more)
	return &all
}

// Reached reports whether a price is enough for a position that has cost so much and is held so
// long.
func (g *Gains) Reached(price, cost market.Price, held market.Duration) bool {
	return g != nil && cost > 0 && slices.ContainsFunc(*g,
		func(step Gain) bool { return held >= step.Held && price >= cost.Above(step.Gain) })
}

// Trails reports whether there is a trailing stop.
func (f *Follow) Trails() bool { return f.Trail != 0 || f.TrailBy != 0 }

// Below is the trailing stop of a highest price, not rounded to the tick: the higher one of Trail
// and TrailBy. It is 0 where there is none, and below 0 where the distance is larger than the
// price.
func (f *Follow) Below(high market.Price) (stop market.Price) {
	switch {
	case !f.Trails():
		return 0
	case f.TrailBy == 0:
		return high.Below(f.Trail)
	case f.Trail == 0:
		return high - f.TrailBy
	}
	return max(high.Below(f.Trail), high-f.TrailBy)
}

// With returns f with the fields that g sets.
func (f Follow) With(g *Follow) Follow {
	if g.Trails() {
		f.Trail, f.TrailBy = g.Trail, g.TrailBy
	}
	if g.TrailAfter != 0 {
		f.TrailAfter = g.TrailAfter
	}
	if g.BreakEven != 0 {
		f.BreakEven = g.BreakEven
	}
	if g.Candles != 0 {
		f.Candles = g.Candles
	}
	if g.Time != 0 {
		f.Time = g.Time
	}
	if g.Gains != nil {
		f.Gains = g.Gains
	}
	if g.Parts != nil {
		f.Parts = g.Parts
	}
	f.ByPrices = f.ByPrices || g.ByPrices
	return f
}

// Words describe f: "trail 5%, break-even after 3%, exit after 20 candles".
func (f *Follow) Words(m *market.Market) string {
	var parts []string
	if f.Trail != 0 {
		parts = append(parts, "trail "+f.Trail.String())
	}
	if f.TrailBy != 0 {
		parts = append(parts, "trail by "+m.FormatPrice(f.TrailBy))
	}
	if f.TrailAfter != 0 {
		parts = append(parts, "trail after "+f.TrailAfter.String())
	}
	if f.BreakEven != 0 {
		parts = append(parts, "break-even after "+f.BreakEven.String())
	}
	if f.ByPrices {
		parts = append(parts, "by prices")
	}
	if f.Candles != 0 {
		parts = append(parts, fmt.Sprintf("exit after %d candles", f.Candles))
	}
	if f.Time != 0 {
		parts = append(parts, "exit after "+f.Time.String())
	}
	if f.Gains != nil {
		for _, step := range *f.Gains {
			parts = append(parts, fmt.Sprintf("enough at %s after %s", step.Gain, step.Held))
		}
	}
	if f.Parts != nil {
		parts = append(parts, "partial targets "+f.Parts.words(m))
	}
	return strings.Join(parts, ", ")
}

// check refuses a Follow of an order without exits, and one that has nothing to move.
func (f *Follow) check(levels *market.Bracket) error {
	switch {
	case levels.Stop == 0 && levels.Target == 0:
		return fmt.Errorf("%w: an exit that follows needs a stop or a target: add StopAt, TargetAt or Trail",
			ErrMeaningless)
	case f.TrailAfter != 0 && !f.Trails():
		return fmt.Errorf("%w: TrailAfter without Trail or TrailBy", ErrMeaningless)
	case f.ByPrices && !f.Trails() && f.BreakEven == 0:
		return fmt.Errorf("%w: ByPrices without Trail, TrailBy or BreakEvenAfter", ErrMeaningless)
	}
	return nil
}

// trail gives an order with a trailing stop its first stop, below a price.
func (d *Desk) trail(price market.Price) {
	o := &d.command.Order
	if d.follow == nil {
		return
	}
	if d.fault == nil && d.follow.Trails() && d.follow.TrailAfter == 0 && o.Bracket.Stop == 0 {
		if o.Bracket.Stop = d.follow.Below(price); o.Bracket.Stop <= 0 {
			o.Bracket.Stop = min(-1, o.Bracket.Stop) // the gate refuses it in words
		}
	}
	if d.fault == nil {
		d.fault = d.follow.check(&o.Bracket)
	}
}

// stands is the price of the market when a buy begins to fill, as far as it is known.
func (m MarketDesk) stands(o *market.Order) market.Price {
	price := m.desk.engine.Book().Last(m.id)
	switch {
	case o.Type.HasTrigger() && o.Type.IsStop():
		price = max(price, o.TriggerAmount)
	case o.Type.HasTrigger() && (price == 0 || o.TriggerAmount < price):
		price = o.TriggerAmount
	}
	if limit := m.facts().RoundPrice(o.Side, o.Price); limit != 0 && (price == 0 || limit < price) {
		price = limit
	}
	return price
}

// StopRule is the rule by which the stop of one bracket moves.
type StopRule struct {
	Follow
	// Armed is the highest price from which on the stop is at BreakEvenPrice at least; 0: never.
	Armed, BreakEvenPrice market.Price
	Trailing              market.Price // the highest price from which on the stop trails
	Tick                  market.Price
}

// leastStep is the least rise of a stop, as a rate of the highest price.
const leastStep = 10 * market.BasisPoint

// Aim is the stop that belongs to a highest price, rounded up to the tick, and never below the
// present stop.
func (r *StopRule) Aim(stop, high market.Price) market.Price {
	aim := market.Price(0)
	if high >= r.Trailing {
		aim = r.Below(high)
	}
	if r.Armed != 0 && high >= r.Armed {
		aim = max(aim, r.BreakEvenPrice)
	}
	return max(stop, market.CeilTo(aim, r.Tick))
}

// Next is Aim, or the present stop where the rise is too small.
func (r *StopRule) Next(stop, high market.Price) market.Price {
	if aim := r.Aim(stop, high); stop == 0 || aim-stop >= high.Part(leastStep) {
		return aim
	}
	return stop
}

// StopMoved is a move of a bracket's stop by its StopRule.
type StopMoved struct {
	Bracket  market.OrderID // the entry's id, or the one that Protect returned
	Exit     market.OrderID // the exit at the exchange; 0: none
	Strategy market.StrategyID
	Market   market.ID
	From, To market.Price
	High     market.Price // the highest price before the one that moved the stop; 0: none
	Rule     StopRule
}
