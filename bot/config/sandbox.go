package config

import "time"

// Sandbox holds every setting of `bot exchange`: the defaults, the file over them, --set and the
// other flags over the file. An unknown key or a bad value is an error that names its place. A
// table of assets, markets, accounts or tiers in the file replaces the whole default table.
// configs/exchange.toml shows every key.
type Sandbox struct {
	Exchange ServerSection `toml:"exchange"`
	Clock    ClockSection  `toml:"clock"`
	Admin    AdminSection  `toml:"admin"`
	Budget   BudgetSection `toml:"budget"`
	Rules    RulesSection  `toml:"rules"`
	Keep     KeepSection   `toml:"keep"`
	// Tiers holds fees by the volume at which the tier begins, then by fee category.
	Tiers    map[string]map[string]CategorySection `toml:"tiers"`
	Assets   map[string]TradedAsset                `toml:"assets"`   // by symbol
	Markets  map[string]TradedMarket               `toml:"markets"`  // by name
	Accounts map[string]ClientAccount              `toml:"accounts"` // by name

	Source *Source // where it was read
}

// ServerSection holds the settings of the exchange as a whole.
type ServerSection struct {
	Listen string   `toml:"listen"` // address and port; port 0: any free one
	Hosts  []string `toml:"hosts"`  // host names to answer for, beside this machine's own
	// Log is the level on standard error: off, error, warn (refusals too), info (every request),
	// debug (connections too).
	Log string `toml:"log"`
	// Prefixes are brands of the headers, without the dash: requests may use any, answers use the
	// first.
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
	// Speed is seconds of the exchange per second of the machine; 0: only /admin/clock moves time.
	Speed Decimal `toml:"speed"`
}

// AdminSection is the operator's side, /admin. It answers on loopback only.
type AdminSection struct {
	Enabled   bool   `toml:"enabled"`
	Token     string `toml:"token"` // at most one of the three; none: a new token at each start
	TokenFile string `toml:"token_file"`
	TokenEnv  string `toml:"token_env"`
}

// BudgetSection holds the weight points of a minute, and the bans for exceeding them.
type BudgetSection struct {
	PerKey int64 `toml:"per_key"` // 0: no limit
	PerIP  int64 `toml:"per_ip"`  // of requests without a key; 0: no limit
	KeyBan Span  `toml:"key_ban"` // after the minute in which the budget was exceeded
	IPBan  Span  `toml:"ip_ban"`

	PerAccount bool `toml:"per_account"` // the keys of an account share the budget of its first
}

// RulesSection holds behaviour that the specification leaves open, or that real clients need.
type RulesSection struct {
	// Strict demands that the signed text equals the request to the byte, and a Content-Type.
	Strict           bool   `toml:"strict"`
	OperatorOptional bool   `toml:"operator_optional"` // accept DELETE without operatorId
	ShortCreate      bool   `toml:"short_create"`      // POST /order, responseRequired=false: a short object as answer
	DayWindow        bool   `toml:"day_window"`        // GET /orders refuses more than 24 h, as GET /trades does
	SettleAfter      Span   `toml:"settle_after"`      // from a fill to its fee
	FeeRounding      string `toml:"fee_rounding"`      // order, fill or none
	// PlacementLimit is a part of the price: a limit order further through the market is cancelled;
	// 0: never.
	PlacementLimit Part `toml:"placement_limit"`
	// ExecutionLimit is a part of the best price: a taker goes no further from it; 0: any distance.
	ExecutionLimit Part `toml:"execution_limit"`
	// SpreadLimit is a part of the price: a larger spread cancels market orders; 0: never.
	SpreadLimit Part `toml:"spread_limit"`
	// ReferenceLimit is a part of the reference price: a taker goes no further from it; 0: any
	// distance.
	ReferenceLimit   Part   `toml:"reference_limit"`
	TriggerReference string `toml:"trigger_reference"` // of an order that names none
	HoldLater        bool   `toml:"hold_later"`        // a trigger buy without a price reserves funds when it fires
	GroupsPerAccount int64  `toml:"groups_per_account"`
	WithdrawalStage  Span   `toml:"withdrawal_stage"` // time in awaiting_processing, approved and sending, each
}

// KeepSection bounds the history in memory.
type KeepSection struct {
	Orders       int64 `toml:"orders"`       // closed orders of an account in a market
	Trades       int64 `toml:"trades"`       // trades of an account in a market, and public trades of a market
	Transactions int64 `toml:"transactions"` // deposits, withdrawals and items of the history, each of an account
	Candles      int64 `toml:"candles"`      // 1m candles of a market; of the longer ones as many
}

// CategorySection holds the fees of a tier in a fee category, as parts of a fill's value.
type CategorySection struct {
	Maker Fee `toml:"maker"` // below zero: a rebate
	Taker Fee `toml:"taker"`
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

// TradedMarket is a market with its rules, the source of its price, and the liquidity that the
// exchange offers around that price.
type TradedMarket struct {
	MarketSection
	PriceDecimals *int64           `toml:"price_decimals"` // none: those of tick_size
	Status        string           `toml:"status"`
	Source        SourceSection    `toml:"source"`
	Liquidity     LiquiditySection `toml:"liquidity"`
}

// SourceSection is the source of a market's price. Each kind uses some of the keys.
type SourceSection struct {
	Kind  string  `toml:"kind"`  // synthetic, replay, fixed, or none: only the accounts make a price
	Price Decimal `toml:"price"` // of synthetic: the start, and the centre of the movement; of fixed: the price
	Step  Span    `toml:"step"`  // between two movements, on average

	Refill Span `toml:"refill"` // of fixed: how often the exchange's own levels are full again; 0: never

	Seed       uint64  `toml:"seed"`       // of synthetic; 0: that of [exchange]
	Anchor     Moment  `toml:"anchor"`     // of synthetic: the time of the start price; none: the start of the history
	Volatility Decimal `toml:"volatility"` // of synthetic: standard deviation of a day's return
	Volume     Decimal `toml:"volume"`     // of synthetic: base in an average minute; none: 3000 of the quote currency

	Candles  string `toml:"candles"`  // of replay: file of the store
	Interval string `toml:"interval"` // of replay
	From     Moment `toml:"from"`     // of replay; none: from the first stored candle
	To       Moment `toml:"to"`       // of replay, exclusive; none: to the last
	Speed    int64  `toml:"speed"`    // of replay: seconds of candles to a second of the exchange
	Walk     string `toml:"walk"`     // of replay: chance, or path: tick by tick, as in a backtest
}

// LiquiditySection is the liquidity that the exchange itself offers around the price.
type LiquiditySection struct {
	Levels        int64   `toml:"levels"`          // of each side; 0: none
	HalfSpreadBPS Points  `toml:"half_spread_bps"` // from the price to the best level, in hundredths of a per cent
	Step          int64   `toml:"step"`            // ticks between levels
	Size          Decimal `toml:"size"`            // base amount of an average level
}

// ClientAccount is one client of the exchange.
type ClientAccount struct {
	Volume   Decimal              `toml:"volume"`   // of the 30 days before the start, in EUR: decides the fee tier
	Balances map[string]Decimal   `toml:"balances"` // by symbol
	Keys     map[string]KeySecret `toml:"keys"`     // by a name of your choice
}

// KeySecret is an API key. At most one of its three secret keys is set.
type KeySecret struct {
	Key         string   `toml:"key"` // 64 characters; none: derived from the names of account and key, not secret
	Secret      string   `toml:"secret"`
	SecretFile  string   `toml:"secret_file"` // a file that only its owner may read
	SecretEnv   string   `toml:"secret_env"`  // name of a variable of the environment
	Permissions []string `toml:"permissions"` // read, trade, withdraw
	Addresses   []string `toml:"addresses"`   // accepted client addresses; none: any
	Unconfirmed bool     `toml:"unconfirmed"` // not confirmed by e-mail yet
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

// DefaultSandbox returns the config of an empty file. Its tables are nil: the exchange has its own.
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

// start sets the defaults of an asset.
func (a *TradedAsset) start() {
	a.Decimals, a.BlockTime, a.Status = 8, Span(time.Minute), "OK"
}

// start sets the defaults of a market.
func (m *TradedMarket) start() {
	m.MarketSection = MarketSection{MaxOrderInBase: "1000000000", MaxOrderInQuote: "1000000000", MaxOpenOrders: 100,
		FeeCategory: "A"}
	m.Status = "trading"
	m.Source = SourceSection{Kind: PriceSynthetic, Step: Span(time.Second), Refill: Span(time.Second),
		Volatility: "0.03", Candles: DefaultStore, Interval: "1m", Speed: 1, Walk: WalkChance}
	m.Liquidity.Step = 1
}

// start sets the default permissions of a key.
func (k *KeySecret) start() { k.Permissions = []string{"read", "trade"} }

// LoadSandbox reads a config of the exchange.
func LoadSandbox(source *Source) (*Sandbox, error) {
	c := DefaultSandbox()
	c.Source = source
	return c, source.decode(&binder{}, c)
}
