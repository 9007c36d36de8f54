package market

// Event is something that happened: the only input of the engine. Events are ordered by At, then
// Kind, then shorter interval first, then market, then the order in which they arose. What its
// pointers and slices refer to belongs to whoever made the event and is valid until that one's next
// event.
type Event struct {
	At     Time // arrival, never decreasing; when the thing itself happened stands in its data
	Kind   EventKind
	Market ID
	Status MarketStatus // KindMarketStatus
	Rules  *Market      // KindMarketStatus: the market's rules as they are from now on; nil: as before
	// KindMarketStatus: the opening price at auctionMatching, 0: the last price. KindTransfer: what
	// the amount cost
	Price   Price
	Asset   AssetID    // KindTransfer
	Money   Money      // KindTransfer: what arrived, or left where negative
	Owner   StrategyID // KindTransfer: whose allotment; 0: the pool of strategies without one
	Report  *Report    // KindReport
	Fills   []Fill     // KindReport: new since the last report; KindFill
	Candles []Candle   // KindCandles: closed at one instant, in the order above
	Ticker  *Ticker    // KindTicker
	Book    *OrderBook // KindBook
	Trade   *Trade     // KindTrade
}

// EventKind says what an Event is. The values stand in the order in which events of one instant are
// delivered.
type EventKind uint8

// The kinds.
const (
	KindTransfer     EventKind = iota + 1 // a balance changed from outside: the start of a run, a deposit
	KindMarketStatus                      // a market opened, halted, …
	KindReport                            // the exchange told of an order, perhaps with fills
	KindFill                              // the exchange told of fills alone: late ones, or fees that were settled
	KindCandles                           // candles closed
	KindTrade                             // somebody traded
	KindTicker                            // price, best bid or best ask moved
	KindBook                              // a new snapshot of a book
	KindTimer                             // a time that a strategy asked for has come
)

var eventKinds = table[EventKind]{"event", []string{"", "transfer", "marketStatus", "report", "fill", "candles",
	"trade", "ticker", "book", "timer"}}

// String returns the kind's name.
func (k EventKind) String() string { return eventKinds.text(k) }

// Command is something the engine wants of the exchange: its only output.
type Command struct {
	Kind     CommandKind
	Changed  Change // CommandUpdate: which fields of Order are new
	Attached bool   // part of a bracket: in a candle's path it acts at once, not at the next open
	At       Time   // when it was decided
	Order    Order  // place: the whole order; update: its ID, Market and the Changed fields; cancel: its ID and Market
}

// CommandKind says what a Command asks for.
type CommandKind uint8

// The kinds, in the order in which commands of one instant reach the exchange: what frees funds
// goes first.
const (
	CommandCancel CommandKind = iota + 1
	CommandUpdate
	CommandPlace
)

var commandKinds = table[CommandKind]{"command", []string{"", "cancel", "update", "place"}}

// String returns the kind's name.
func (k CommandKind) String() string { return commandKinds.text(k) }

// Change is a set of the fields that an update sets (specification 4.4).
type Change uint16

// The fields.
const (
	ChangeAmount Change = 1 << iota
	ChangeAmountQuote
	ChangeAmountRemaining
	ChangePrice
	ChangeTriggerAmount
	ChangeTimeInForce
	ChangePostOnly
	ChangeSelfTradePrevention
	ChangeExits // ours: moves the exits of a bracket, and becomes an update of the one that rests
)

// Has reports whether all fields of f are in c.
func (c Change) Has(f Change) bool { return c&f == f }
