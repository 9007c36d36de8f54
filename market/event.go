package market

// Event is the only input of the engine. Events are ordered by At, then Kind, then shorter interval
// first, then market, then the order in which they arose. The data behind its pointers and slices
// belongs to the event's maker and is valid until the maker's next event.
type Event struct {
	At     Time // arrival, never decreasing; the data has the time at which it happened
	Kind   EventKind
	Market ID
	Status MarketStatus // KindMarketStatus
	Rules  *Market      // KindMarketStatus: the market's rules from now on; nil: unchanged
	// KindMarketStatus: the opening price at auctionMatching, 0: the last price. KindTransfer: the
	// cost of a unit of the amount
	Price   Price
	Asset   AssetID    // KindTransfer
	Money   Money      // KindTransfer: the amount that arrived, or left where negative
	Owner   StrategyID // KindTransfer: the strategy whose allocation changes; 0: the shared pool
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
	KindReport                            // the exchange reported an order, perhaps with fills
	KindFill                              // the exchange reported fills alone: late ones, or fees that were settled
	KindCandles                           // candles closed
	KindTrade                             // a public trade
	KindTicker                            // price, best bid or best ask moved
	KindBook                              // a new snapshot of a book
	KindTimer                             // a timer of a strategy is due
)

var eventKinds = table[EventKind]{"event", []string{"", "transfer", "marketStatus", "report", "fill", "candles",
	"trade", "ticker", "book", "timer"}}

// String returns the kind's name.
func (k EventKind) String() string { return eventKinds.text(k) }

// Command is the engine's only output: an order to place, update or cancel.
type Command struct {
	Kind    CommandKind
	Changed Change // CommandUpdate: which fields of Order are new
	// of a bracket, a rebalance, a replacement or a tactic: it acts where a candle's path stands,
	// not at the next open
	Attached bool
	Earlier  bool  // of a timer or a signal inside the present path of candles: it arrives in that path, after At
	At       Time  // when it was decided
	Order    Order // place: the whole order; update: its ID, Market and the Changed fields; cancel: its ID and Market
}

// CommandKind says what a Command asks for.
type CommandKind uint8

// The kinds, in the order in which commands of one instant reach the exchange: commands that free
// funds go first.
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
	ChangeSells // ours: with ChangeExits, an exit that the price has passed already sells at once
)

// Has reports whether all fields of f are in c.
func (c Change) Has(f Change) bool { return c&f == f }
