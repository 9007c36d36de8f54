package market

import (
	"crypto/sha1"
	"encoding/binary"

	"github.com/google/uuid"
)

// OrderID is this program's name of an order: a sequence from 1, unique in a run. Zero is a foreign
// order. Outside the process an order has a client order id, which ClientOrderID makes from the run
// id and this sequence.
type OrderID int64

// StrategyID is the place of a strategy in its engine, from 1. Zero is none: a foreign order.
type StrategyID uint8

// Order is an order as specification 2.1 describes it, in the units of its market. Fields that do
// not apply to its type are zero. It is copied by value; it holds no pointer but the text of its
// tag. Its JSON is for state files: numbers count in the market's units, and zero is left out.
type Order struct {
	ID            OrderID    `json:"id,omitzero"`
	ExchangeID    uuid.UUID  `json:"exchangeId,omitzero"`    // orderId: unique per market only
	ClientOrderID uuid.UUID  `json:"clientOrderId,omitzero"` // zero: none was set
	OperatorID    int64      `json:"operatorId,omitzero"`
	Market        ID         `json:"market,omitzero"`
	Strategy      StrategyID `json:"strategy,omitzero"`
	CodGroupID    uint16     `json:"codGroupId,omitzero"` // 1…1000, 0: none

	Side             Side             `json:"side,omitzero"`
	Type             OrderType        `json:"type,omitzero"`
	TriggerType      TriggerType      `json:"triggerType,omitzero"`
	TriggerReference TriggerReference `json:"triggerReference,omitzero"`
	Visible          bool             `json:"visible,omitzero"`
	FeeCurrency      AssetID          `json:"feeCurrency,omitzero"`
	OnHoldCurrency   AssetID          `json:"onHoldCurrency,omitzero"`

	OrderState
	Created Time `json:"created,omitzero"`

	Bracket Bracket `json:"bracket,omitzero"` // exits attached to an entry; zero: none
	Tag     string  `json:"tag,omitzero"`     // the strategy's reason: "entry"; a constant
}

// OrderState is the part of an order that every Report carries: status, present terms, filled
// amounts. A new field is in Order and Report at once; TestEveryFieldOfAnOrderIsInEveryShape at the
// root names the places that do not carry it yet.
type OrderState struct {
	Status              Status              `json:"status,omitzero"`
	TimeInForce         TimeInForce         `json:"timeInForce,omitzero"`
	SelfTradePrevention SelfTradePrevention `json:"selfTradePrevention,omitzero"`
	RestatementReason   RestatementReason   `json:"restatementReason,omitzero"`
	PostOnly            bool                `json:"postOnly,omitzero"`
	Triggered           bool                `json:"triggered,omitzero"` // a trigger order whose trigger has fired

	Price                Price `json:"price,omitzero"`
	TriggerAmount        Price `json:"triggerAmount,omitzero"` // triggerPrice is the same number
	Amount               Qty   `json:"amount,omitzero"`        // zero: set with AmountQuote
	AmountRemaining      Qty   `json:"amountRemaining,omitzero"`
	AmountQuote          Money `json:"amountQuote,omitzero"` // zero: set with Amount
	AmountQuoteRemaining Money `json:"amountQuoteRemaining,omitzero"`
	OnHold               Money `json:"onHold,omitzero"` // in units of OnHoldCurrency
	FilledAmount         Qty   `json:"filledAmount,omitzero"`
	FilledAmountQuote    Value `json:"filledAmountQuote,omitzero"`
	FeePaid              Value `json:"feePaid,omitzero"`
	Updated              Time  `json:"updated,omitzero"`
}

// Done reports whether the order is complete: no more fills, no more changes.
func (o *Order) Done() bool { return o.Status.Terminal() }

// ByQuote reports whether the order was set with AmountQuote.
func (o *Order) ByQuote() bool { return o.AmountQuote != 0 }

// Bracket is a pair of exits for the position that an entry opens. The exchange is spot and a sell
// holds its base, so only one exit can rest at the venue. The engine watches the other and swaps
// them once the cancel is confirmed.
type Bracket struct {
	Stop   Price // trigger price of the exit on the losing side; 0: none
	Target Price // limit price of the exit on the winning side; 0: none
	Keep   Leg   // the exit that rests at the venue; zero is KeepStop
}

// Any reports whether the bracket has anything set.
func (b *Bracket) Any() bool { return b.Stop|b.Target != 0 || b.Keep != KeepStop }

// Leg is one exit of a Bracket.
type Leg uint8

// The legs.
const (
	KeepStop   Leg = iota // the stop rests at the venue, the target is watched
	KeepTarget            // the target rests at the venue as a limit order, the stop is watched
)

// Watch is what an engine waits for in a market: the nearest prices, below and above, at which a
// bracket has to swap its exits, 0 for none; and the next open. The simulated venue sends the
// engine an event when a candle's path reaches a price; live, the engine checks every ticker.
// Tactic and Timer of market 0 are of tactics in all markets.
type Watch struct {
	Below, Above Price
	Peak         Price // the highest price that a stop has followed: a higher one at a point of the path moves it
	Open         bool  // the engine may send a command while the path stands at an open
	Fall, Rise   Price // as Below and Above: a tactic moves its order there, or takes its rest; 0: none
	Tactic       bool  // a tactic is under way: timers ring inside the path
	Timer        Time  // the next timer; 0: none
}

// Any reports whether there is something to watch.
func (w *Watch) Any() bool { return w.Below|w.Above|w.Peak != 0 || w.Open || w.Tactic }

// Fill is one execution of an order (specification 2.2). Its JSON is for the sandbox's state file:
// zero is left out.
type Fill struct {
	ID          uuid.UUID  `json:",omitzero"`
	Order       OrderID    `json:",omitzero"`
	Market      ID         `json:",omitzero"`
	Strategy    StrategyID `json:",omitzero"`
	Side        Side       `json:",omitzero"`
	Taker       bool       `json:",omitzero"`
	Settled     bool       `json:",omitzero"` // false: the fee is not known yet
	FeeCurrency AssetID    `json:",omitzero"`
	Price       Price      `json:",omitzero"`
	Amount      Qty        `json:",omitzero"`
	Fee         Value      `json:",omitzero"` // negative for a rebate; includes what rounding added
	Time        Time       `json:",omitzero"`
}

// Report is the state of an order as the exchange reports it, with the event that led to it. It is
// newer than another report of the same order if (Updated, FilledAmount, status rank) is larger.
type Report struct {
	Order      OrderID
	ExchangeID uuid.UUID
	Market     ID
	Exec       ExecutionType
	Command    CommandKind // for ExecRejected and ExecUnknown: the command that was answered
	Code       int         // for ExecRejected: the exchange's error code

	OrderState
}

// ReportOf returns the report that describes o.
func ReportOf(o *Order, exec ExecutionType) (r Report) {
	r.Describe(o, exec)
	return r
}

// Describe makes r the report of o and overwrites all of r.
func (r *Report) Describe(o *Order, exec ExecutionType) {
	r.Exec, r.Order, r.Market, r.ExchangeID = exec, o.ID, o.Market, o.ExchangeID
	r.Command, r.Code = 0, 0
	r.OrderState = o.OrderState
}

// Position is the holding of one strategy in one market: an amount of base and its cost. The
// average price is Cost/Amount; it is not stored, because it would be rounded.
type Position struct {
	Amount   Qty
	Cost     Value // paid for Amount, fees included
	Realised Value // profit of all sales, fees included
	Fees     Value // paid on all fills
	Opened   Time  // when Amount last left zero
}

// ClientOrderID returns the client order id of an order of a run: a version 5 UUID, the same each
// time.
func ClientOrderID(run uuid.UUID, id OrderID) uuid.UUID {
	var name [len(run) + 8]byte
	copy(name[:], run[:])
	binary.BigEndian.PutUint64(name[len(run):], uint64(id))
	sum := sha1.Sum(name[:]) // as uuid.NewSHA1, which allocates
	client := uuid.UUID(sum[:len(run)])
	client[6], client[8] = client[6]&0x0f|5<<4, client[8]&0x3f|0x80
	return client
}
