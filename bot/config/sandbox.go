package config

import "time"

// Sandbox is everything that a config of `bot exchange` can say. Defaults stand first, then the
// file is read over them, then --set and the other flags; what is unknown or makes no sense is an
// error that names its place. A table of assets, markets, accounts or tiers that a file has
// replaces the default's whole table. configs/exchange.toml shows every key.
type Sandbox struct {
	Exchange ServerSection `toml:"exchange"`
	Clock    ClockSection  `toml:"clock"`
	Admin    AdminSection  `toml:"admin"`
	Budget   BudgetSection `toml:"budget"`
	Rules    RulesSection  `toml:"rules"`
	Keep     KeepSection   `toml:"keep"`
	// by the volume that each begins at, then by fee category
	Tiers    map[string]map[string]CategorySection `toml:"tiers"`
	Assets   map[string]TradedAsset                `toml:"assets"`   // by symbol
	Markets  map[string]TradedMarket               `toml:"markets"`  // by name
	Accounts map[string]ClientAccount              `toml:"accounts"` // by name

	Source *Source // where it was read
}

// ServerSection is what concerns the exchange as a whole.
type ServerSection struct {
	Listen string   `toml:"listen"` // address and port; port 0: any free one
	Hosts  []string `toml:"hosts"`  // names beside this machine's own by which it is asked
	// on the standard error: off, error, warn (refusals too), info (every request), debug
	// (connections too)
	Log string `toml:"log"`
	// brands of the headers, without the dash: all are understood, the first is answered with
	Prefixes []string `toml:"prefixes"`
	Venue    string   `toml:"venue"`   // code of the venue in the two reports
	Seed     uint64   `toml:"seed"`    // of made-up prices, sizes and faults
	History  Span     `toml:"history"` // of candles and trades before the start
	State    string   `toml:"state"`   // file that keeps the exchange over restarts; empty: memory
	Faults   string   `toml:"faults"`  // script of faults; empty: none
}

// ClockSection is the exchange's time.
type ClockSection struct {
	Start Moment `toml:"start"` // none: the machine's time
	// seconds of the exchange to one of the machine; 0: it stands until it is moved over
	// /admin/clock
	Speed Decimal `toml:"speed"`
}

// AdminSection is the operator's side, /admin, which answers on loopback only.
type AdminSection struct {
	Enabled   bool   `toml:"enabled"`
	Token     string `toml:"token"` // of the three at most one; none: made up at each start
	TokenFile string `toml:"token_file"`
	TokenEnv  string `toml:"token_env"`
}

// BudgetSection is how many weight points a minute has, and how long exceeding it is punished.
type BudgetSection struct {
	PerKey int64 `toml:"per_key"` // 0: no limit
	PerIP  int64 `toml:"per_ip"`  // of requests without a key; 0: no limit
	KeyBan Span  `toml:"key_ban"` // after the minute in which the budget was exceeded
	IPBan  Span  `toml:"ip_ban"`

	PerAccount bool `toml:"per_account"` // the keys of an account share the budget of its first
}

// RulesSection is what the specification leaves open, or what real clients need.
type RulesSection struct {
	// what is signed must be what is sent, to the byte, and every request must bear Content-Type
	Strict           bool `toml:"strict"`
	OperatorOptional bool `toml:"operator_optional"` // DELETE without operatorId is taken
	// POST /order with responseRequired=false answers a short object, not an empty body
	ShortCreate bool `toml:"short_create"`
	// GET /orders refuses a range of more than 24 h, as GET /trades does
	DayWindow   bool   `toml:"day_window"`
	SettleAfter Span   `toml:"settle_after"` // from a fill to its fee
	FeeRounding string `toml:"fee_rounding"` // order, fill or none
	// a limit through the market by more than this part of the price is cancelled; 0: never
	PlacementLimit Decimal `toml:"placement_limit"`
	// a taker goes no further from the best price than this part of it; 0: any distance
	ExecutionLimit Decimal `toml:"execution_limit"`
	// market orders are cancelled while the spread is a larger part of the price; 0: never
	SpreadLimit Decimal `toml:"spread_limit"`
	// a taker goes no further from the reference price than this part of it; 0: any distance
	ReferenceLimit   Decimal `toml:"reference_limit"`
	TriggerReference string  `toml:"trigger_reference"` // of an order that names none
	// a trigger buy with amount and no price holds nothing until it fires
	HoldLater        bool  `toml:"hold_later"`
	GroupsPerAccount int64 `toml:"groups_per_account"`
	// how long a withdrawal is awaiting_processing, approved and sending, each
	WithdrawalStage Span `toml:"withdrawal_stage"`
}

// KeepSection bounds what is remembered.
type KeepSection struct {
	Orders       int64 `toml:"orders"`       // closed orders of an account in a market
	Trades       int64 `toml:"trades"`       // trades of an account in a market, and public trades of a market
	Transactions int64 `toml:"transactions"` // deposits, withdrawals and items of the history, each of an account
	Candles      int64 `toml:"candles"`      // 1m candles of a market; of the longer ones as many
}

// CategorySection is what a tier pays in a fee category, as parts of a fill's value.
type CategorySection struct {
	Maker Decimal `toml:"maker"` // below zero it is a rebate
	Taker Decimal `toml:"taker"`
}

// TradedAsset is an asset with its transfer rules.
type TradedAsset struct {
	Name          string   `toml:"name"` // none: the symbol
	Decimals      int64    `toml:"decimals"`
	Networks      []string `toml:"networks"` // none: SEPA for EUR, else the symbol; SEPA stands for bank transfers
	DepositFee    Decimal  `toml:"deposit_fee"`
	WithdrawalFee Decimal  `toml:"withdrawal_fee"`
	WithdrawalMin Decimal  `toml:"withdrawal_min"`
	Confirmations int64    `toml:"confirmations"` // of a deposit
	BlockTime     Span     `toml:"block_time"`    // between two confirmations
	Status        string   `toml:"status"`        // of deposits and withdrawals: OK, MAINTENANCE or DELISTED
}

// TradedMarket is a market with its rules, where its price comes from, and the house's book around
// that.
type TradedMarket struct {
	MarketSection
	PriceDecimals *int64        `toml:"price_decimals"` // none: those of tick_size
	Status        string        `toml:"status"`
	Source        SourceSection `toml:"source"`
	House         HouseSection  `toml:"house"`
}

// SourceSection is where a market's price comes from. Which keys count depends on the kind.
type SourceSection struct {
	Kind  string  `toml:"kind"`  // synthetic, replay, fixed, or none: only the accounts make a price
	Price Decimal `toml:"price"` // of synthetic: where it starts and around which it moves; of fixed: where it stands
	Step  Span    `toml:"step"`  // between two movements, on average

	Refill Span `toml:"refill"` // of fixed: how often what was taken of the house's levels is there again; 0: never

	Seed uint64 `toml:"seed"` // of synthetic; 0: that of [exchange]
	// of synthetic: when the price is at its start; none: when the exchange's history begins
	Anchor     Moment  `toml:"anchor"`
	Volatility Decimal `toml:"volatility"` // of synthetic: standard deviation of a day's return
	// of synthetic: base traded in an average minute; none: worth 3000 of the quote currency
	Volume Decimal `toml:"volume"`

	Candles  string `toml:"candles"`  // of replay: file of the store
	Interval string `toml:"interval"` // of replay
	From     Moment `toml:"from"`     // of replay; none: from the first stored candle
	To       Moment `toml:"to"`       // of replay, exclusive; none: to the last
	Speed    int64  `toml:"speed"`    // of replay: seconds of candles to a second of the exchange
	Walk     string `toml:"walk"`     // of replay: chance, or path: tick by tick, as a backtest walks the candles
}

// HouseSection is the book that the exchange itself offers around the price.
type HouseSection struct {
	Levels        int64   `toml:"levels"`          // of each side; 0: none
	HalfSpreadBPS Decimal `toml:"half_spread_bps"` // from the price to the best level, in hundredths of a per cent
	Step          int64   `toml:"step"`            // ticks between levels
	Size          Decimal `toml:"size"`            // base amount of an average level
}

// ClientAccount is one client of the exchange.
type ClientAccount struct {
	Volume   Decimal              `toml:"volume"`   // of the last 30 days at the start, in EUR: what fee tier it has
	Balances map[string]Decimal   `toml:"balances"` // by symbol
	Keys     map[string]KeySecret `toml:"keys"`     // by a name of your choice
}

// KeySecret is an API key. Of the three ways to say its secret it takes at most one.
type KeySecret struct {
	Key         string   `toml:"key"` // 64 characters; none: made of the names of account and key, and no secret at all
	Secret      string   `toml:"secret"`
	SecretFile  string   `toml:"secret_file"` // that only its owner may read
	SecretEnv   string   `toml:"secret_env"`  // name of a variable of the environment
	Permissions []string `toml:"permissions"` // read, trade, withdraw
	Addresses   []string `toml:"addresses"`   // that it may be used from; none: any
	Unconfirmed bool     `toml:"unconfirmed"` // it has not been confirmed by e-mail
	Budget      int64    `toml:"budget"`      // points a minute; 0: that of [budget]
}

// The words of some settings of the exchange.
const (
	PriceSynthetic = "synthetic"
	PriceReplay    = "replay"
	PriceFixed     = "fixed"
	PriceNone      = "none"

	WalkChance = "chance"
	WalkPath   = "path"

	AnyCategory = "default" // the key for every fee category that a tier does not name

	logError = "error"
)

// DefaultSandbox returns the config of a file that says nothing. Its tables are nil: the exchange
// has its own.
func DefaultSandbox() *Sandbox {
	return &Sandbox{
		Exchange: ServerSection{Listen: "127.0.0.1:8080", Log: logError, Prefixes: []string{"Service"}, Venue: "TIDE",
			Seed: 1, History: Span(24 * time.Hour)},
		Clock:  ClockSection{Speed: "1"},
		Admin:  AdminSection{Enabled: true},
		Budget: BudgetSection{PerKey: 1000, PerIP: 500, KeyBan: Span(time.Minute), IPBan: Span(15 * time.Minute)},
		Rules: RulesSection{FeeRounding: "fill", TriggerReference: "lastTrade", GroupsPerAccount: 1,
			WithdrawalStage: Span(10 * time.Second)},
		Keep: KeepSection{Orders: 10_000, Trades: 10_000, Transactions: 10_000, Candles: 60 * 24 * 60},
	}
}

// start gives an asset what it has without being told.
func (a *TradedAsset) start() {
	a.Decimals, a.BlockTime, a.Status = 8, Span(time.Minute), "OK"
}

// start gives a market what it has without being told.
func (m *TradedMarket) start() {
	m.MarketSection = MarketSection{MaxOrderInBase: "1000000000", MaxOrderInQuote: "1000000000", MaxOpenOrders: 100,
		FeeCategory: "A"}
	m.Status = "trading"
	m.Source = SourceSection{Kind: PriceSynthetic, Step: Span(time.Second), Refill: Span(time.Second),
		Volatility: "0.03", Candles: DefaultStore, Interval: "1m", Speed: 1, Walk: WalkChance}
	m.House.Step = 1
}

// start gives a key what it has without being told.
func (k *KeySecret) start() { k.Permissions = []string{"read", "trade"} }

// LoadSandbox reads a config of the exchange.
func LoadSandbox(source *Source) (*Sandbox, error) {
	c := DefaultSandbox()
	c.Source = source
	return c, source.decode(&binder{}, c)
}
