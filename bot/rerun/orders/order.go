package orders

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange/footprint"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Life is what happened to an own order. Numbers are in the units of its market. Times are the
// exchange's, or the bot's by the exchange's clock. Zero is not known; Lacks says so in words.
type Life struct {
	ID         market.OrderID
	ClientID   uuid.UUID
	ExchangeID uuid.UUID
	Strategy   string
	Market     market.ID
	Side       market.Side
	Type       market.OrderType
	Bracket    market.Bracket // exits that an entry was placed with
	Tag        string

	// Writes are the requests about the order, in their order: its place, its updates and its
	// cancels.
	Writes   []Write
	Decision Quote // as the strategy saw the market when it decided on the place

	Accepted  market.Time // the exchange took it
	Estimated bool        // Accepted is the middle between request and answer
	Arrival   Quote       // as the market was at Accepted
	Took      bool        // it met the market when it arrived, at least in part

	Rests []Rest        // while it rested as a limit order, by time
	Fills []market.Fill // with fees as settled later, by time

	State state.State
	Ended market.Time // the exchange's time of its end
	Code  int         // the exchange's error code of a rejected one

	Lacks []string // what the record does not have of it

	updated market.Time // of the latest report
}

// Write is a request about an order, and its answer.
type Write struct {
	Kind    market.CommandKind
	Entry   uint64        // number of its intent in the journal
	Decided market.Time   // by the strategy, or by the loop
	Cause   journal.Cause // the event of that decision
	Changed market.Change // of an update
	Terms   market.OrderState
	Sent    market.Time // 0: it never left
	// Answered is when the answer came, or the bot knew that there would be none.
	Answered market.Time
	Answer   journal.Answer // 0: none was written down
	Status   int            // of HTTP
	Code     int            // the exchange's error code
	Message  string
}

// Place is the write that placed the order; nil: the journal no longer has it.
func (o *Life) Place() *Write {
	if len(o.Writes) == 0 || o.Writes[0].Kind != market.CommandPlace {
		return nil
	}
	return &o.Writes[0]
}

// Ending says why an order stopped resting at a price.
type Ending uint8

// The endings.
const (
	StillOpen Ending = iota // at the end of the record
	EndFilled
	EndCanceled
	EndExpired
	EndUpdated // another Rest follows
)

// Rest is the time in which an order rested with the same terms.
type Rest struct {
	From, To market.Time // the exchange's; To 0: the record ends before
	Price    market.Price
	Amount   market.Qty // that was left at From
	End      Ending
	// Touches are the candles in which the price reached the order, by time. Known says until when
	// they are known: a gap of the record ends them.
	Touches  []Touch
	Known    market.Time
	Interval market.Interval // of those candles
	// Ahead is what was displayed at the price at From; Seen is false where no quote says so.
	Ahead market.Qty
	Seen  bool
}

// Touch is a candle in which a price reached a resting order.
type Touch struct {
	Start   market.Time
	Through bool       // a trade went beyond the order's price
	Partial bool       // the order came to rest after the first tenth of the candle
	Filled  market.Qty // of the order in this candle
}

// lack notes what the record does not have of an order.
func (o *Life) lack(text string) { o.Lacks = append(o.Lacks, text) }

// Others takes the orders of the log out of recorded markets, in the units of a catalog. Markets
// that the catalog lacks, or has in other units, stay as they are. Orders of paper mode never met
// the recorded markets: nothing is taken out for them.
func (l *Log) Others(of *market.Catalog) *footprint.Markets {
	m := footprint.New(of)
	if l.Paper {
		return m
	}
	for _, o := range l.Orders {
		own := l.Catalog.Market(o.Market)
		there := of.MarketNamed(own.Name)
		if there == nil || there.PriceDigits != own.PriceDigits || there.AmountDigits != own.AmountDigits {
			continue
		}
		moved := *o
		moved.Market, moved.Fills = there.ID, slices.Clone(o.Fills)
		for i := range moved.Fills {
			moved.Fills[i].Market = there.ID
		}
		moved.tell(m)
	}
	return m
}
