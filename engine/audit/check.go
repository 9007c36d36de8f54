// Package audit decides what an answer of the exchange may say about an own order: it holds the
// answer against the terms as they were sent, the fills that are booked, the market's rules and the
// known prices. It never asks the exchange and changes nothing but the answer's missing fields.
// Start at Check.Record.
package audit

import (
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// The allowances.
const (
	Skew       = 10 * time.Second        // between this machine's idea of the exchange's clock and the clock itself
	ClockError = 24 * time.Hour          // of this machine's clock at the time when an order was made
	Bound      = market.Rate(25_000_000) // 25 % beyond the prices that are known
	BlindFold  = 4                       // times Bound, where no price is known from the minute of a fill
	roundings  = 100                     // units of the quote asset that an order's roundings can bring at most
)

// Check is what the answers about orders of one market are held against. It is a plain value; its
// functions are called by its methods only.
type Check struct {
	Catalog *market.Catalog
	Market  *market.Market
	// the highest rates that the account can be charged, and the lowest below 0 where it gets
	// rebates
	Fees    exchange.Fees
	Now     market.Time // on the exchange's clock
	Prices  func(at market.Time) Prices
	FillOf  func(id uuid.UUID) market.OrderID   // the own order that a fill of the market was booked for; 0: none
	OrderOf func(name uuid.UUID) market.OrderID // the own order of the market that the exchange names so; 0: none
}

// Prices are the prices at which a market is known to have stood about some moment. Zero is none:
// then nothing is said of prices.
type Prices struct {
	Low, High market.Price
	Blind     bool // they are not from that moment
}

// Order is an own order as it is known before an answer.
type Order struct {
	*market.Order
	Ended bool          // the books have it ended
	Fills []market.Fill // booked, oldest first
	// the sum of all booked fills; above that of Fills where those of an earlier process are not at
	// hand
	Counted market.Qty
	Change  *Change // an update under way; nil: none
}

// Change is an update that the exchange has not answered yet.
type Change struct {
	Order market.Order // the whole order as the update makes it
	// the process that sent it has died, and what it asked for is not known: the fields that can
	// change may have any value
	Blind bool
}

// Verdict is what is to be thought of an answer.
type Verdict struct {
	Broken []Broken
	// filledAmount is above the fills: ask for the market's trades and hold the whole against the
	// rules again
	Short bool
}

// Holds reports whether the answer may be booked.
func (v *Verdict) Holds() bool { return len(v.Broken) == 0 && !v.Short }

// Record holds the record that answers a command, or a query where kind is 0, against the order.
// Fields that the exchange has left out, or that do not apply to the order, are set in the record
// to what is known. A record that holds can be booked. One that is Short can be once its fills are
// complete: in this package's sense that is a list of trades that Trade has held against the same
// order.
func (c *Check) Record(o *Order, kind market.CommandKind, r *exchange.Record) Verdict {
	x := c.examine(o)
	complete(o.Order, &r.Order)
	x.since = x.sinceOf(&r.Order)
	c.past(&r.Order.Updated)
	for i := range r.Fills {
		c.past(&r.Fills[i].Time)
	}
	old := r.Order.Updated < o.Updated // overtaken by what is booked: of such a record the fills alone are
	x.identity(&r.Order)
	if kind != 0 {
		x.keeps(!old, RuleTime, "at least "+o.Updated.String(), r.Order.Updated.String())
	}
	if kind != 0 || !old {
		x.terms(&r.Order, kind)
	}
	x.fillsOf(r.Fills)
	x.sums(&r.Order, old && kind == 0)
	if r.Order.Status.Terminal() {
		r.Order.OnHold = 0
	}
	return Verdict{Broken: x.broken, Short: x.short && len(x.broken) == 0}
}

// Fills holds fills that came without a record against the order: trades of the market's list, or
// fees that were settled.
func (c *Check) Fills(o *Order, fills []market.Fill) []Broken {
	x := c.examine(o)
	x.since = x.sinceOf(nil)
	x.fillsOf(fills)
	x.bounds()
	return x.broken
}

// examination is one answer being held against an order.
type examination struct {
	*Check
	order  *Order
	broken []Broken
	short  bool
	since  market.Time // earlier nothing can have happened to the order

	limit  market.Price // the worst that a fill may have: of the terms before or after a change; 0: none
	most   market.Qty   // the sum of fills; 0: no bound of its own
	quote  market.Money // the value of fills with their fees; 0: no bound of its own
	booked map[uuid.UUID]*market.Fill
	filled totals     // of all fills
	told   market.Qty // of those in the answer
}

// totals are the sums over fills that are known or told, each once.
type totals struct {
	fills     int
	amount    market.Qty
	value     market.Value
	fee       market.Value
	unsettled int
}

func (c *Check) examine(o *Order) *examination {
	x := &examination{Check: c, order: o, limit: limitOf(o.Order), most: o.Amount, quote: o.AmountQuote,
		booked: make(map[uuid.UUID]*market.Fill, len(o.Fills))}
	if n := o.Change; n != nil {
		x.widen(&n.Order)
	}
	for i := range o.Fills {
		x.booked[o.Fills[i].ID] = &o.Fills[i]
	}
	return x
}

// widen lets fills have the terms of a changed order as well.
func (x *examination) widen(changed *market.Order) {
	limit := limitOf(changed)
	if limit == 0 || x.limit == 0 || x.order.Side == market.Buy && limit > x.limit || x.order.Side == market.Sell &&
		limit < x.limit {
		x.limit = limit
	}
	x.most, x.quote = max(x.most, changed.Amount), max(x.quote, changed.AmountQuote)
}

// limitOf is the limit of an order, 0 for orders without one.
func limitOf(o *market.Order) market.Price {
	if o.Type.HasPrice() {
		return o.Price
	}
	return 0
}

// breaks notes a broken rule. Of a rule that many fills break the first counts.
func (x *examination) breaks(rule Rule, wanted, seen string) {
	for i := range x.broken {
		if x.broken[i].Rule == rule {
			return
		}
	}
	x.broken = append(x.broken, Broken{rule, wanted, seen})
}

// keeps notes a rule that does not hold.
func (x *examination) keeps(holds bool, rule Rule, wanted, seen string) {
	if !holds {
		x.breaks(rule, wanted, seen)
	}
}
