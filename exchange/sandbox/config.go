package sandbox

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

// Config has the settings of an exchange. The zero value of a field is the
// default that its comment names; Default returns a config that is ready: three markets, one
// account with balances and a key.
type Config struct {
	Assets   []Asset
	Markets  []Market
	Accounts []Account
	Tiers    []Tier          // by volume, rising; none: no fees
	Clock    *Clock          // nil: the machine's clock
	Seed     uint64          // of prices, sizes and faults
	History  market.Duration // of candles and trades before the start; 0: none
	// brands of the headers, without the dash; all are understood, the first is answered with;
	// none: "Service"
	Prefixes []string
	Venue    string // code of the venue in the two reports; "": "TIDE"
	Budget   api.Budget
	Rules    Rules
	Admin    string // token of /admin; "": there is no /admin
	Faults   []fault.Fault
	// file that keeps the exchange over restarts, for one exchange at a time: Close it in the end;
	// "": memory
	State     string
	Retention Retention
	// Progress is called while the history is made, market by market: with the part of History that
	// the market at hand has, after each day of it; nil: it is not called.
	Progress func(made market.Duration)
}

// Rules are settings for behaviour of the real exchange that is not known, or that real clients
// need (venue-facts 7, client-needs).
type Rules struct {
	Strict           bool // the signature covers the exact body; every request needs Content-Type
	OperatorOptional bool // DELETE needs no operatorId
	// responseRequired=false on create answers the short object, not an empty body
	ShortCreate      bool
	SettleAfter      market.Duration         // from a fill to its fee; 0: at once
	FeeRounding      exchange.FeeRounding    // of an order's fills
	PlacementLimit   market.Rate             // placement price protection; 0: off
	ExecutionLimit   market.Rate             // how far a taker may walk from the best price; 0: off
	SpreadLimit      market.Rate             // market orders are cancelled at a wider spread; 0: off
	ReferenceLimit   market.Rate             // a taker's price may be so far from the reference price; 0: off
	TriggerReference market.TriggerReference // of an order that names none; 0: lastTrade
	HoldLater        bool                    // a trigger buy by amount without a price holds nothing until it fires
	GroupsPerAccount int                     // cancel-on-disconnect groups with a timer at a time; 0: one
	DayWindow        bool                    // GET /orders refuses a range of more than 24 h, as GET /trades does
	// how long a withdrawal is awaiting_processing, approved and sending, each; 0: 10 s, below 0:
	// no time
	WithdrawalStage market.Duration
}

// Retention bounds the histories, so that a long-lived exchange does not grow. 0 is the default
// that stands behind each field.
type Retention struct {
	Orders       int // closed orders of an account in a market; 10000
	Trades       int // trades of an account in a market, and public trades of a market; 10000
	Transactions int // deposits, withdrawals, and items of the history, each of an account; 10000
	Candles      int // 1m candles of a market; 60 days of them; longer intervals are kept as many
}

// Asset is one asset with its transfer rules (venue-facts 1.2).
type Asset struct {
	Symbol, Name  string
	Decimals      uint8
	Networks      []string        // none: SEPA for EUR, else the symbol
	DepositFee    string          // "0"
	WithdrawalFee string          // "0"
	WithdrawalMin string          // "0"
	Confirmations int             // of a deposit
	BlockTime     market.Duration // between two confirmations; 0: a minute
	Status        string          // of deposits and withdrawals: OK, MAINTENANCE or DELISTED; "": OK
}

// Market is one market with its rules (specification 2.3), where its price comes from, and the
// house's book around it.
type Market struct {
	Name             string
	PriceDigits      uint8 // decimals of a price; at least those of the tick
	TickSize         string
	QuantityDecimals uint8
	NotionalDecimals uint8
	MinOrderInBase   string
	MinOrderInQuote  string
	MaxOrderInBase   string
	MaxOrderInQuote  string
	MaxOpenOrders    int
	FeeCategory      string
	Status           market.MarketStatus // 0: trading
	Source           prices.Source       // nil: only the accounts make a price
	Liquidity        Liquidity
}

// Liquidity is the book that the exchange itself offers around the price of a market's source.
type Liquidity struct {
	Levels     int         // of each side; 0: none
	HalfSpread market.Rate // from the price to the best level
	Step       int         // ticks between levels; 0: one
	Size       string      // base amount of an average level
	Endless    bool        // a level offers any amount, and Size is ignored
}

// Account is one client of the exchange.
type Account struct {
	Name     string
	Balances map[string]string // by symbol
	Keys     []api.Key
	Volume   string // of the last 30 days at the start, in the currency of the tiers; gives the fee tier
}

// Tier is one step of the fee schedule: from a volume on, the rates of each fee category
// (venue-facts 3.5).
type Tier struct {
	Volume string                   // of 30 days, at least
	Fees   map[string]exchange.Fees // by feeCategory; "" for every other
}

// The rows that are kept where Retention has 0: of a list, and of 1m candles 60 days.
const (
	defaultRetention = 10_000
	defaultCandles   = 60 * 24 * 60
)

// fill sets the defaults.
func (r *Retention) fill() {
	for _, rows := range [...]*int{&r.Orders, &r.Trades, &r.Transactions} {
		if *rows <= 0 {
			*rows = defaultRetention
		}
	}
	if r.Candles <= 0 {
		r.Candles = defaultCandles
	}
}
