package strategy

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// Tactic says how a buy or a sell is spread over several orders: MakerFirst, TakeAfter, TakeBeyond
// and TWAP set its fields. The engine keeps it, also over a restart.
type Tactic struct {
	Every  market.Duration `json:"every,omitzero"`  // of MakerFirst: least time between two moves; 0: no MakerFirst
	After  market.Duration `json:"after,omitzero"`  // after which the rest is taken; 0: never
	Beyond market.Rate     `json:"beyond,omitzero"` // a larger move of the best price takes the rest; 0: none does
	Over   market.Duration `json:"over,omitzero"`   // of TWAP; 0: no TWAP
	Parts  int             `json:"parts,omitzero"`  // of TWAP
}

// The tags of a tactic's orders, where the ask has no Tag.
const (
	TagMakerFirst = "maker first"
	TagTaken      = "taken" // the rest of MakerFirst, at market
	TagTWAP       = "twap"
)

// MakerFirst makes a Buy or a Sell a post-only order at the best price of its own side: it joins
// the best bid or the best ask, and pays the maker fee. When the best price has moved away, the
// order follows it, at most once in each period of every. It never steps back, and it never
// crosses: a refused post-only order is placed again after the same time.
//
// TakeAfter and TakeBeyond say when the rest is taken at market; without them it is never taken.
// The order is cancelled then, and the rest is bought or sold when the exchange has confirmed the
// end of the order and all of its fills are known. A rest below the market's minimum stays.
//
// The whole size is checked at the call as an order at market: cash, its fee as a taker, and the
// limits. The money is not set aside: an order of the strategy that spends it meanwhile makes the
// rest smaller, which the log says. Exits (StopAt and its like) protect all parts as one bracket.
// The id that Buy returns is that of the first order; Update of its exits and Cancel with this id
// concern the whole. MarketDesk.Working tells whether it goes on.
func MakerFirst(every market.Duration) Option {
	return Option{field: fieldMakerFirst, number: int64(every)}
}

// TakeAfter makes MakerFirst take the rest at market after a time.
func TakeAfter(d market.Duration) Option { return Option{field: fieldTakeAfter, number: int64(d)} }

// TakeBeyond makes MakerFirst take the rest at market when the best price has moved away by more
// than a rate since the call: up for a buy, down for a sell.
func TakeBeyond(r market.Rate) Option { return Option{field: fieldTakeBeyond, number: int64(r)} }

// TWAP splits a Buy or a Sell into parts orders at market of equal size, spread evenly over a time:
// the first at once, each other over/parts after the one before. An order leaves when the one
// before has ended and its fills are known. A part that cannot be sent, and what an order has left,
// is shared among the later parts. The rest of MakerFirst's comment holds here too.
func TWAP(over market.Duration, parts int) Option {
	return Option{field: fieldTWAP, number: int64(over), second: int64(parts)}
}

// Working reports whether a MakerFirst or a TWAP of the strategy is under way in the market. It may
// be without an open order meanwhile.
func (m MarketDesk) Working() bool {
	return m.reads("Working") && m.desk.engine.Working(m.desk.id, m.id)
}

// Words describe t: "maker first every 30s, taken after 10m0s or beyond 0.2%".
func (t *Tactic) Words() string {
	if t.Over != 0 {
		return fmt.Sprintf("twap of %d parts over %s", t.Parts, t.Over)
	}
	var when []string
	if t.After != 0 {
		when = append(when, "after "+t.After.String())
	}
	if t.Beyond != 0 {
		when = append(when, "beyond "+t.Beyond.String())
	}
	text := "maker first every " + t.Every.String()
	if when != nil {
		text += ", taken " + strings.Join(when, " or ")
	}
	return text
}

// Step is the time between two parts of a TWAP.
func (t *Tactic) Step() market.Duration { return t.Over / market.Duration(max(1, t.Parts)) }

// PerMinute is the largest number of orders and updates that t sends within a minute.
func (t *Tactic) PerMinute() int {
	if t.Over != 0 {
		return min(t.Parts, int(time.Minute/t.Step())+1)
	}
	return int(time.Minute/t.Every) + 2
}

// tacticOption applies an option of a tactic.
func (d *Desk) tacticOption(p *Option) {
	if d.tactic == nil {
		d.way = Tactic{}
		d.tactic = &d.way
	}
	if err := p.check(); err != nil && d.fault == nil {
		d.fault = err
	}
	switch n := p.number; p.field {
	case fieldMakerFirst:
		d.way.Every = market.Duration(n)
	case fieldTakeAfter:
		d.way.After = market.Duration(n)
	case fieldTakeBeyond:
		d.way.Beyond = market.Rate(n)
	case fieldTWAP:
		d.way.Over, d.way.Parts = market.Duration(n), int(p.second)
	}
}

// check refuses a tactic that does not go with its order.
func (t *Tactic) check(o *market.Order) error {
	switch {
	case t.Every != 0 && t.Over != 0:
		return fmt.Errorf("%w: MakerFirst and TWAP together: use one of them", ErrMeaningless)
	case t.Every == 0 && t.Over == 0:
		return fmt.Errorf("%w: TakeAfter and TakeBeyond need MakerFirst", ErrMeaningless)
	case t.Over != 0 && (t.After != 0 || t.Beyond != 0):
		return fmt.Errorf("%w: TakeAfter and TakeBeyond go with MakerFirst: a TWAP takes", ErrMeaningless)
	case t.Over != 0 && t.Step() < time.Second:
		return fmt.Errorf("%w: a TWAP of %d parts over %s: its parts are at least a second apart", ErrMeaningless,
			t.Parts, t.Over)
	case o.Type != market.TypeMarket || o.Price != 0 || o.PostOnly || o.TimeInForce != market.GTC:
		return fmt.Errorf("%w: a MakerFirst or a TWAP chooses prices by itself: leave out At, StopLoss, TakeProfit, "+
			"PostOnly and InForce", ErrMeaningless)
	}
	return nil
}

// work hands a buy or a sell with a tactic on.
func (d *Desk) work() (market.OrderID, error) {
	if d.fault == nil {
		d.fault = d.tactic.check(&d.command.Order)
	}
	if d.fault != nil {
		return 0, d.refuse(d.fault)
	}
	return d.engine.Work(d.id, &d.command, d.tactic, d.follow)
}
