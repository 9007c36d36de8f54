package market

import "github.com/google/uuid"

// OrderID is our own name of an order: a sequence from 1, unique in a run. Zero is no order of ours. Outside the process an
// order is named by its client order id, made from the run id and this sequence (ClientOrderID).
type OrderID int64

// StrategyID is the place of a strategy in its engine, from 1. Zero is none: a foreign order.
type StrategyID uint8

// Order is an order as specification 2.1 describes it, in the units of its market. Fields that do not apply to its type are
// zero. It is copied by value; it holds no pointer but the text of its tag.
type Order struct {
	ID            OrderID
	ExchangeID    uuid.UUID // orderId: unique per market only
	ClientOrderID uuid.UUID // zero: none was set
	OperatorID    int64
	Market        ID
	Strategy      StrategyID
	CodGroupID    uint16 // 1…1000, 0: none

	Side                Side
	Type                OrderType
	Status              Status
	TimeInForce         TimeInForce
	SelfTradePrevention SelfTradePrevention
	TriggerType         TriggerType
	TriggerReference    TriggerReference
	RestatementReason   RestatementReason
	PostOnly            bool
	Visible             bool
	Triggered           bool // a trigger order whose trigger has fired
	FeeCurrency         AssetID
	OnHoldCurrency      AssetID

	Price                Price
	TriggerAmount        Price // triggerPrice is the same number for the only trigger type
	Amount               Qty   // zero where the order was set with AmountQuote
	AmountRemaining      Qty
	AmountQuote          Money // zero where the order was set with Amount
	AmountQuoteRemaining Money
	OnHold               Money // in units of OnHoldCurrency
	FilledAmount         Qty
	FilledAmountQuote    Value
	FeePaid              Value
	Created, Updated     Time

	Bracket Bracket // exits attached to an entry; zero: none
	Tag     string  // the strategy's own word for why: "entry", "stop"; a constant, kept for reports
}

// Done reports whether the order can neither fill nor be changed any more.
func (o *Order) Done() bool { return o.Status.Terminal() }

// ByQuote reports whether the order was set with AmountQuote.
func (o *Order) ByQuote() bool { return o.AmountQuote != 0 }

// Bracket is a pair of exits for the position that an entry opens: the exchange is spot and a sell holds its base, so only
// one of them can rest at the venue. The other is watched by the engine, which swaps once the cancel is confirmed.
type Bracket struct {
	Stop   Price // trigger price of the exit on the losing side; 0: none
	Target Price // limit price of the exit on the winning side; 0: none
	Keep   Leg   // which of the two rests at the venue; zero is KeepStop
}

// Leg is one exit of a Bracket.
type Leg uint8

// The legs.
const (
	KeepStop   Leg = iota // the stop rests at the venue, the target is watched
	KeepTarget            // the target rests at the venue as a limit order, the stop is watched
)

// Watch is what the engine waits for in one market: the nearest prices below and above at which a bracket has to swap its
// exits. 0 is none. The simulated venue tells the engine when a candle's path reaches one; live, every ticker does.
type Watch struct {
	Below, Above Price
}

// Fill is one execution of an order (specification 2.2).
type Fill struct {
	ID          uuid.UUID
	Order       OrderID
	Market      ID
	Strategy    StrategyID
	Side        Side
	Taker       bool
	Settled     bool // false: the fee is not known yet
	FeeCurrency AssetID
	Price       Price
	Amount      Qty
	Fee         Value // negative for a rebate; includes what rounding added
	Time        Time
}

// Report is the state of an order as the exchange tells it, with what happened. It is newer than another report of the same
// order if (Updated, FilledAmount, status rank) is larger.
type Report struct {
	Exec       ExecutionType
	Order      OrderID
	Market     ID
	ExchangeID uuid.UUID

	Status              Status
	RestatementReason   RestatementReason
	TimeInForce         TimeInForce
	SelfTradePrevention SelfTradePrevention
	PostOnly            bool
	Triggered           bool
	Command             CommandKind // for ExecRejected and ExecUnknown: the command that was answered
	Code                int         // for ExecRejected: the exchange's error code

	Price                Price
	TriggerAmount        Price
	Amount               Qty
	AmountRemaining      Qty
	AmountQuote          Money
	AmountQuoteRemaining Money
	OnHold               Money
	FilledAmount         Qty
	FilledAmountQuote    Value
	FeePaid              Value
	Updated              Time
}

// ReportOf returns the report that describes o.
func ReportOf(o *Order, exec ExecutionType) (r Report) {
	r.Describe(o, exec)
	return r
}

// Describe makes r the report of o; what r said before is gone.
func (r *Report) Describe(o *Order, exec ExecutionType) {
	r.Exec, r.Order, r.Market, r.ExchangeID = exec, o.ID, o.Market, o.ExchangeID
	r.Status, r.RestatementReason, r.Triggered = o.Status, o.RestatementReason, o.Triggered
	r.TimeInForce, r.SelfTradePrevention, r.PostOnly = o.TimeInForce, o.SelfTradePrevention, o.PostOnly
	r.Command, r.Code = 0, 0
	r.Price, r.TriggerAmount = o.Price, o.TriggerAmount
	r.Amount, r.AmountRemaining = o.Amount, o.AmountRemaining
	r.AmountQuote, r.AmountQuoteRemaining, r.OnHold = o.AmountQuote, o.AmountQuoteRemaining, o.OnHold
	r.FilledAmount, r.FilledAmountQuote, r.FeePaid, r.Updated = o.FilledAmount, o.FilledAmountQuote, o.FeePaid, o.Updated
}

// Position is what one strategy holds in one market: an amount of base and what it cost. The average price is
// Cost/Amount; it is not kept, because it would have to be rounded.
type Position struct {
	Amount   Qty
	Cost     Value // paid for Amount, fees included
	Realised Value // profit of what was sold, fees included
	Fees     Value // paid on all fills
	Opened   Time  // when Amount last left zero
}

// ClientOrderID returns the client order id of order id of a run: a version 5 UUID, so that an order that is sent
// again carries the same one.
func ClientOrderID(run uuid.UUID, id OrderID) uuid.UUID {
	var name [8]byte
	for i := range name {
		name[i] = byte(uint64(id) >> (56 - 8*i))
	}
	return uuid.NewSHA1(run, name[:])
}
