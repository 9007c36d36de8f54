package market

import (
	"fmt"
	"slices"
)

// table joins an enum's values to the specification's texts: texts[0] is the empty text of the
// illegal zero value.
type table[T ~uint8] struct {
	name  string
	texts []string
}

// Enum is any enum of this package.
type Enum interface {
	~uint8
	fmt.Stringer
	words() []string
}

// Words returns the texts of an enum in the order of its values, this program's own values
// included. The caller must not change the slice.
func Words[T Enum]() []string {
	var zero T
	return zero.words()
}

func (t table[T]) text(value T) string {
	if int(value) < len(t.texts) {
		return t.texts[value]
	}
	return fmt.Sprintf("%s(%d)", t.name, value)
}

func (t table[T]) parse(text string) (T, error) {
	if at := slices.Index(t.texts, text); at > 0 {
		return T(at), nil
	}
	return 0, fmt.Errorf("%s %q is not one of %v", t.name, clip(text), t.texts[1:])
}

func (t table[T]) marshal(value T) ([]byte, error) {
	if value == 0 || int(value) >= len(t.texts) {
		return nil, fmt.Errorf("%s %d has no text", t.name, value)
	}
	return []byte(t.texts[value]), nil
}

func (t table[T]) unmarshal(value *T, text []byte) (err error) {
	*value, err = t.parse(string(text))
	return err
}

// Side is the side of an order or of a trade's taker.
type Side uint8

// The sides (specification 2.1).
const (
	Buy Side = iota + 1
	Sell
)

var sides = table[Side]{"side", []string{"", "buy", "sell"}}

// ParseSide reads the specification's text.
func ParseSide(text string) (Side, error) { return sides.parse(text) }

// String returns the specification's text.
func (s Side) String() string { return sides.text(s) }

// MarshalText returns the specification's text.
func (s Side) MarshalText() ([]byte, error) { return sides.marshal(s) }

func (Side) words() []string { return sides.texts[1:] }

// UnmarshalText is ParseSide.
func (s *Side) UnmarshalText(text []byte) error { return sides.unmarshal(s, text) }

// Opposite returns the other side.
func (s Side) Opposite() Side { return Buy + Sell - s }

// OrderType is the type of an order. It keeps its name after a trigger (venue-facts 3.1).
type OrderType uint8

// The order types (specification 4.1).
const (
	TypeMarket OrderType = iota + 1
	TypeLimit
	TypeStopLoss
	TypeStopLossLimit
	TypeTakeProfit
	TypeTakeProfitLimit
)

var orderTypes = table[OrderType]{"orderType", []string{"", "market", "limit", "stopLoss", "stopLossLimit",
	"takeProfit", "takeProfitLimit"}}

// ParseOrderType reads the specification's text.
func ParseOrderType(text string) (OrderType, error) { return orderTypes.parse(text) }

// String returns the specification's text.
func (t OrderType) String() string { return orderTypes.text(t) }

// MarshalText returns the specification's text.
func (t OrderType) MarshalText() ([]byte, error) { return orderTypes.marshal(t) }

func (OrderType) words() []string { return orderTypes.texts[1:] }

// UnmarshalText is ParseOrderType.
func (t *OrderType) UnmarshalText(text []byte) error { return orderTypes.unmarshal(t, text) }

// HasPrice reports whether orders of the type carry a limit price.
func (t OrderType) HasPrice() bool {
	return t == TypeLimit || t == TypeStopLossLimit || t == TypeTakeProfitLimit
}

// HasTrigger reports whether orders of the type wait for a trigger.
func (t OrderType) HasTrigger() bool { return t >= TypeStopLoss && t <= TypeTakeProfitLimit }

// IsStop reports whether the type triggers at a worse price: stopLoss and stopLossLimit.
func (t OrderType) IsStop() bool { return t == TypeStopLoss || t == TypeStopLossLimit }

// Status is the status of an order at the exchange.
type Status uint8

// The order statuses (specification 3.1). StatusUnresolved is ours: the exchange sent a status that
// this program does not know. It stays until the exchange sends a known one.
const (
	StatusNew Status = iota + 1
	StatusAwaitingTrigger
	StatusPartiallyFilled
	StatusFilled
	StatusCanceled
	StatusExpired
	StatusUnresolved
)

var statuses = table[Status]{"status", []string{"", "new", "awaitingTrigger", "partiallyFilled", "filled", "canceled",
	"expired", "unresolved"}}

// ParseStatus reads the specification's text.
func ParseStatus(text string) (Status, error) { return statuses.parse(text) }

// String returns the specification's text.
func (s Status) String() string { return statuses.text(s) }

// MarshalText returns the specification's text.
func (s Status) MarshalText() ([]byte, error) { return statuses.marshal(s) }

func (Status) words() []string { return statuses.texts[1:] }

// UnmarshalText is ParseStatus.
func (s *Status) UnmarshalText(text []byte) error { return statuses.unmarshal(s, text) }

// Terminal reports whether an order of this status is complete (specification 3.1).
func (s Status) Terminal() bool {
	return s == StatusFilled || s == StatusCanceled || s == StatusExpired
}

// Open reports whether an order of this status counts against maxOpenOrders.
func (s Status) Open() bool { return s >= StatusNew && s <= StatusPartiallyFilled }

// TimeInForce says how long an order may rest.
type TimeInForce uint8

// The times in force (specification 4.4).
const (
	GTC TimeInForce = iota + 1 // rests until filled or cancelled
	IOC                        // fills what it can at once, the rest ends
	FOK                        // fills whole at once or not at all
)

var timesInForce = table[TimeInForce]{"timeInForce", []string{"", "GTC", "IOC", "FOK"}}

// ParseTimeInForce reads the specification's text.
func ParseTimeInForce(text string) (TimeInForce, error) { return timesInForce.parse(text) }

// String returns the specification's text.
func (t TimeInForce) String() string { return timesInForce.text(t) }

// MarshalText returns the specification's text.
func (t TimeInForce) MarshalText() ([]byte, error) { return timesInForce.marshal(t) }

func (TimeInForce) words() []string { return timesInForce.texts[1:] }

// UnmarshalText is ParseTimeInForce.
func (t *TimeInForce) UnmarshalText(text []byte) error { return timesInForce.unmarshal(t, text) }

// SelfTradePrevention says what happens when an order would trade with another of the same account.
type SelfTradePrevention uint8

// The modes (specification 4.4); the incoming order's mode decides.
const (
	DecrementAndCancel SelfTradePrevention = iota + 1 // reduce both by the smaller, cancel what reaches zero
	CancelOldest
	CancelNewest
	CancelBoth
)

var selfTradePreventions = table[SelfTradePrevention]{"selfTradePrevention",
	[]string{"", "decrementAndCancel", "cancelOldest", "cancelNewest", "cancelBoth"}}

// ParseSelfTradePrevention reads the specification's text.
func ParseSelfTradePrevention(text string) (SelfTradePrevention, error) {
	return selfTradePreventions.parse(text)
}

// String returns the specification's text.
func (s SelfTradePrevention) String() string { return selfTradePreventions.text(s) }

// MarshalText returns the specification's text.
func (s SelfTradePrevention) MarshalText() ([]byte, error) { return selfTradePreventions.marshal(s) }

func (SelfTradePrevention) words() []string { return selfTradePreventions.texts[1:] }

// UnmarshalText is ParseSelfTradePrevention.
func (s *SelfTradePrevention) UnmarshalText(text []byte) error {
	return selfTradePreventions.unmarshal(s, text)
}

// TriggerType says what a trigger compares; TriggerPrice is the only one (specification 2.1).
type TriggerType uint8

// TriggerPrice is the trigger type "price".
const TriggerPrice TriggerType = 1

var triggerTypes = table[TriggerType]{"triggerType", []string{"", "price"}}

// ParseTriggerType reads the specification's text.
func ParseTriggerType(text string) (TriggerType, error) { return triggerTypes.parse(text) }

// String returns the specification's text.
func (t TriggerType) String() string { return triggerTypes.text(t) }

// MarshalText returns the specification's text.
func (t TriggerType) MarshalText() ([]byte, error) { return triggerTypes.marshal(t) }

func (TriggerType) words() []string { return triggerTypes.texts[1:] }

// UnmarshalText is ParseTriggerType.
func (t *TriggerType) UnmarshalText(text []byte) error { return triggerTypes.unmarshal(t, text) }

// TriggerReference is the price that a trigger watches.
type TriggerReference uint8

// The references (specification 2.1).
const (
	LastTrade TriggerReference = iota + 1
	BestBid
	BestAsk
	MidPrice
)

var triggerReferences = table[TriggerReference]{"triggerReference",
	[]string{"", "lastTrade", "bestBid", "bestAsk", "midPrice"}}

// ParseTriggerReference reads the specification's text.
func ParseTriggerReference(text string) (TriggerReference, error) {
	return triggerReferences.parse(text)
}

// String returns the specification's text.
func (t TriggerReference) String() string { return triggerReferences.text(t) }

// MarshalText returns the specification's text.
func (t TriggerReference) MarshalText() ([]byte, error) { return triggerReferences.marshal(t) }

func (TriggerReference) words() []string { return triggerReferences.texts[1:] }

// UnmarshalText is ParseTriggerReference.
func (t *TriggerReference) UnmarshalText(text []byte) error {
	return triggerReferences.unmarshal(t, text)
}

// RestatementReason says why the service changed an order by itself. Zero means that it did not.
type RestatementReason uint8

// The reasons (specification 2.1).
const (
	DecrementOnSelfTradePrevention RestatementReason = iota + 1
	CancelOnSelfTradePrevention
	CancelOnPlacementPriceProtection
	CancelOnExecutionPriceProtection
	CancelOnSpreadProtection
	CancelOnReferencePriceProtection
	CancelPostOnlyOnAuctionMatching
	CancelOnMaintenance
	CancelOnDisconnect
	CancelOnDelisting
	CancelOnLockPlaced
	CancelOnAdminRequest
	CancelPostOnly
)

var restatementReasons = table[RestatementReason]{"restatementReason",
	[]string{"", "decrementOnSelfTradePrevention", "cancelOnSelfTradePrevention",
		"cancelOnPlacementPriceProtection", "cancelOnExecutionPriceProtection", "cancelOnSpreadProtection",
		"cancelOnReferencePriceProtection",
		"cancelPostOnlyOnAuctionMatching", "cancelOnMaintenance", "cancelOnDisconnect", "cancelOnDelisting",
		"cancelOnLockPlaced", "cancelOnAdminRequest", "cancelPostOnly"}}

// ParseRestatementReason reads the specification's text.
func ParseRestatementReason(text string) (RestatementReason, error) {
	return restatementReasons.parse(text)
}

// String returns the specification's text, empty for zero.
func (r RestatementReason) String() string { return restatementReasons.text(r) }

// MarshalText returns the specification's text.
func (r RestatementReason) MarshalText() ([]byte, error) { return restatementReasons.marshal(r) }

func (RestatementReason) words() []string { return restatementReasons.texts[1:] }

// UnmarshalText is ParseRestatementReason.
func (r *RestatementReason) UnmarshalText(text []byte) error {
	return restatementReasons.unmarshal(r, text)
}

// MarketStatus is the status of a market.
type MarketStatus uint8

// The market statuses (specification 3.2).
const (
	Trading         MarketStatus = iota + 1 // everything is allowed
	Halted                                  // no create, update or cancel
	Auction                                 // no market orders, nothing matches
	AuctionMatching                         // the opening price is being calculated: cancels only
	CancelOnly                              // cancels only
	Delisted                                // the exchange lists the market no more: nothing is taken or known
)

var marketStatuses = table[MarketStatus]{"market status",
	[]string{"", "trading", "halted", "auction", "auctionMatching", "cancelOnly", "delisted"}}

// ParseMarketStatus reads the specification's text.
func ParseMarketStatus(text string) (MarketStatus, error) { return marketStatuses.parse(text) }

// String returns the specification's text.
func (s MarketStatus) String() string { return marketStatuses.text(s) }

// MarshalText returns the specification's text.
func (s MarketStatus) MarshalText() ([]byte, error) { return marketStatuses.marshal(s) }

func (MarketStatus) words() []string { return marketStatuses.texts[1:] }

// UnmarshalText is ParseMarketStatus.
func (s *MarketStatus) UnmarshalText(text []byte) error { return marketStatuses.unmarshal(s, text) }

// ExecutionType says what happened to an order (specification 6).
type ExecutionType uint8

// The execution types. ExecRejected and ExecUnknown are ours: the exchange refused a command, or
// its answer never came.
const (
	ExecNew ExecutionType = iota + 1
	ExecTrade
	ExecCanceled
	ExecExpired
	ExecUpdated
	ExecTriggered
	ExecRestated
	ExecRejected
	ExecUnknown
)

var executionTypes = table[ExecutionType]{"executionType",
	[]string{"", "new", "trade", "canceled", "expired", "updated", "triggered", "restated", "rejected", "unknown"}}

// ParseExecutionType reads the specification's text.
func ParseExecutionType(text string) (ExecutionType, error) { return executionTypes.parse(text) }

// String returns the specification's text.
func (e ExecutionType) String() string { return executionTypes.text(e) }

// MarshalText returns the specification's text.
func (e ExecutionType) MarshalText() ([]byte, error) { return executionTypes.marshal(e) }

func (ExecutionType) words() []string { return executionTypes.texts[1:] }

// UnmarshalText is ParseExecutionType.
func (e *ExecutionType) UnmarshalText(text []byte) error { return executionTypes.unmarshal(e, text) }
