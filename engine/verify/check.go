package verify

import (
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Tolerances.
const (
	Skew              = 10 * time.Second        // between the exchange's clock and this machine's estimate of it
	ClockError        = 24 * time.Hour          // of this machine's clock when an order was made
	Bound             = market.Rate(25_000_000) // 25 % beyond the known prices
	ApproximateFactor = 4                       // times Bound, where no price is known from the minute of a fill
	maxRoundings      = 100                     // units of the quote asset that an order's roundings can bring at most
)

// Check checks answers about orders of one market. It is a plain value; only its methods call its
// functions.
type Check struct {
	Catalog *market.Catalog
	Market  *market.Market
	// Fees are the highest rates that the account can be charged, and the lowest below 0 with
	// rebates.
	Fees exchange.Fees
	// Coarse: the market may have taken fewer decimals when the order was filled, as the filled
	// amount shows; the fee of a buy over money may have the rest of a step.
	Coarse  bool
	Now     market.Time // on the exchange's clock
	Prices  func(at market.Time) Prices
	FillOf  func(id uuid.UUID) market.OrderID   // the own order with this fill of the market; 0: none
	OrderOf func(name uuid.UUID) market.OrderID // the own order with this exchange id; 0: none
}

// Prices are the market's range around some moment. Zero means unknown: prices are not checked.
type Prices struct {
	Low, High   market.Price
	Approximate bool // not of that moment
}

// OwnOrder is the state of an own order before an answer.
type OwnOrder struct {
	*market.Order
	Ended bool          // in the account
	Fills []market.Fill // booked, oldest first
	// Counted is the sum of all booked fills; above that of Fills where those of an earlier process
	// are not available.
	Counted market.Qty
	Change  *PendingUpdate // unanswered update; nil: none
}

// PendingUpdate is an update that the exchange has not answered yet.
type PendingUpdate struct {
	Order market.Order // the whole order after the update
	// Unknown: the process that sent the update has died, and its terms are lost. The fields that
	// an update can change may have any value.
	Unknown bool
}

// Verdict is the result of a check.
type Verdict struct {
	Broken []Broken
	// Short: filledAmount is above the fills. Query the market's trades and check the whole again.
	Short bool
}

// Holds reports whether the answer may be booked.
func (v *Verdict) Holds() bool { return len(v.Broken) == 0 && !v.Short }

// Record checks a record against the order. It answers a command, or a query where kind is 0.
// Missing fields, and fields that do not apply to the order, are set in the record to what is
// known. A record that holds can be booked. A Short record can be booked once its fills are
// complete.
func (c *Check) Record(o *OwnOrder, kind market.CommandKind, r *exchange.WireOrder) Verdict {
	return c.record(o, kind, r, false)
}

func (c *Check) record(o *OwnOrder, kind market.CommandKind, r *exchange.WireOrder, event bool) Verdict {
	x := c.examine(o)
	x.event = event
	if c.Coarse && o.ByQuote() {
		x.step = max(x.step, shownStep(c.Market, r.Order.FilledAmount))
	}
	complete(o.Order, &r.Order)
	x.since = x.sinceOf(&r.Order)
	c.capTime(&r.Order.Updated)
	for i := range r.Fills {
		c.capTime(&r.Fills[i].Time)
	}
	old := r.Order.Updated < o.Updated // newer data is booked already: of this record only the fills are booked
	x.identity(&r.Order)
	if kind != 0 {
		x.require(!old, RuleTime, "at least "+o.Updated.String(), r.Order.Updated.String())
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

// Event checks an order event of the account channel with its fills, as Record checks the answer to
// a query. The hold of an event may be that of another moment (websocket-facts 6): one that cannot
// be true is set to the nearest that can.
func (c *Check) Event(o *OwnOrder, r *exchange.WireOrder) Verdict { return c.record(o, 0, r, true) }

// Fills checks fills that came without a record: trades of the market's list, or settled fees.
func (c *Check) Fills(o *OwnOrder, fills []market.Fill) []Broken {
	x := c.examine(o)
	x.since = x.sinceOf(nil)
	x.fillsOf(fills)
	x.bounds()
	return x.broken
}

// examination is the check of one answer.
type examination struct {
	*Check
	order  *OwnOrder
	broken []Broken
	short  bool
	event  bool        // the answer is an event
	since  market.Time // nothing can have happened to the order earlier
	step   market.Qty  // the smallest of an amount

	limit     market.Price // the worst price of a fill, before or after a change; 0: none
	maxAmount market.Qty   // of all fills; 0: no bound
	maxQuote  market.Money // value of all fills with their fees; 0: no bound
	booked    map[uuid.UUID]*market.Fill
	filled    totals     // of all fills
	answered  market.Qty // of the answer's fills
}

// totals are the sums over booked and answered fills, each once.
type totals struct {
	fills     int
	amount    market.Qty
	value     market.Value
	fee       market.Value
	unsettled int
}

func (c *Check) examine(o *OwnOrder) *examination {
	x := &examination{Check: c, order: o, limit: limitOf(o.Order), maxAmount: o.Amount, maxQuote: o.AmountQuote,
		step: step(c.Market), booked: make(map[uuid.UUID]*market.Fill, len(o.Fills))}
	if n := o.Change; n != nil {
		x.widen(&n.Order)
	}
	for i := range o.Fills {
		x.booked[o.Fills[i].ID] = &o.Fills[i]
	}
	return x
}

// widen also allows fills the terms of a changed order.
func (x *examination) widen(changed *market.Order) {
	limit := limitOf(changed)
	if limit == 0 || x.limit == 0 || x.order.Side == market.Buy && limit > x.limit || x.order.Side == market.Sell &&
		limit < x.limit {
		x.limit = limit
	}
	x.maxAmount, x.maxQuote = max(x.maxAmount, changed.Amount), max(x.maxQuote, changed.AmountQuote)
}

// limitOf is the limit of an order, 0 for orders without one.
func limitOf(o *market.Order) market.Price {
	if o.Type.HasPrice() {
		return o.Price
	}
	return 0
}

// violated notes a broken rule, each rule once.
func (x *examination) violated(rule Rule, wanted, seen string) {
	for i := range x.broken {
		if x.broken[i].Rule == rule {
			return
		}
	}
	x.broken = append(x.broken, Broken{rule, wanted, seen})
}

// require notes a rule that does not hold.
func (x *examination) require(holds bool, rule Rule, wanted, seen string) {
	if !holds {
		x.violated(rule, wanted, seen)
	}
}
