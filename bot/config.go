package bot

import (
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// backtestConfig is everything that a config file can say. Defaults stand first, then the file is read over them, then --set and the
// other flags; what is unknown or makes no sense is an error that names its place. configs/backtest.toml shows every key.
type backtestConfig struct {
	Backtest   backtestSection            `toml:"backtest"`
	Data       dataSection                `toml:"data"`
	Account    accountSection             `toml:"account"`
	Assets     map[string]assetSection    `toml:"assets"`     // by symbol
	Markets    map[string]marketSection   `toml:"markets"`    // by name; a market without a section has permissive rules
	Risk       riskSection                `toml:"risk"`       // for the account, and the default for every strategy
	Strategies map[string]strategySection `toml:"strategies"` // by a name of your choice; at least one
	Report     reportSection              `toml:"report"`

	source *configSource
}

// tradingSections are those that the configs of a backtest and of a live bot have in common: who trades, for how much, within which limits.
type tradingSections struct {
	Currency           string
	MakerFee, TakerFee decimal
	Risk               riskSection
	Strategies         map[string]strategySection
}

// names are those of the strategies, sorted: the order in which they are called.
func (s *tradingSections) names() []string { return slices.Sorted(maps.Keys(s.Strategies)) }

// trading returns the sections that a live bot has too.
func (c *backtestConfig) trading() tradingSections {
	return tradingSections{c.Account.Currency, c.Account.MakerFee, c.Account.TakerFee, c.Risk, c.Strategies}
}

// backtestSection says what is replayed, and how honestly.
type backtestSection struct {
	From           moment  `toml:"from"`            // first candle to trade on: 2021-01-01, RFC 3339 or Unix ms; none: as far back as the data goes
	To             moment  `toml:"to"`              // end, exclusive; none: as far as the data goes
	Warmup         string  `toml:"warmup"`          // "before": from candles before from; "inside": from the first candles of the range
	PathInterval   string  `toml:"path_interval"`   // candles that move the market: "auto": the finest that cover the range; "strategy": its own; or an interval
	Path           string  `toml:"path"`            // adaptive, ohlc, olhc, pessimistic or optimistic
	LimitFill      string  `toml:"limit_fill"`      // touch, or through: a resting limit needs a trade beyond it
	DataLatency    span    `toml:"data_latency"`    // from a candle's close to its arrival
	Latency        span    `toml:"latency"`         // from a decision to its arrival at the exchange
	HalfSpreadBPS  decimal `toml:"half_spread_bps"` // half the distance of bid and ask, in hundredths of a per cent
	SlippageBPS    decimal `toml:"slippage_bps"`    // what takers pay beyond it
	VolumeShare    decimal `toml:"volume_share"`    // largest part of a candle's volume for own orders, up to 1; 0: no cap
	PlacementLimit decimal `toml:"placement_limit"` // a limit through the market by more than this part of the price is cancelled; 0: never
	SyntheticBook  bool    `toml:"synthetic_book"`  // make order books from candles, for strategies that need books
	Seed           uint64  `toml:"seed"`            // of the synthetic market
}

// dataSection says where candles come from.
type dataSection struct {
	Source  string `toml:"source"`  // "store", or "synthetic": three made-up years of BTC-EUR
	Candles string `toml:"candles"` // file of the store
}

// accountSection is the account at the start.
type accountSection struct {
	Currency    string             `toml:"currency"`  // every market must be quoted in it
	MakerFee    decimal            `toml:"maker_fee"` // part of a fill's value: "0.0015" is 0.15 %
	TakerFee    decimal            `toml:"taker_fee"`
	FeeRounding string             `toml:"fee_rounding"` // order: on an order's total; fill: on each fill; none: to the nearest unit
	Start       map[string]decimal `toml:"start"`        // balances by asset; without it 10000 of the currency
}

// assetSection is what balances of an asset look like.
type assetSection struct {
	Decimals int64 `toml:"decimals"` // without a section: EUR 2, USDC 6, others 8
}

// marketSection holds the rules of a market under the specification's names. What is left out forbids nothing: the tick is the
// data's last decimal, amounts have the decimals of their asset, and there are no minimums, maximums or caps.
type marketSection struct {
	TickSize         decimal `toml:"tick_size"`
	QuantityDecimals *int64  `toml:"quantity_decimals"`
	NotionalDecimals *int64  `toml:"notional_decimals"`
	MinOrderInBase   decimal `toml:"min_order_in_base"`
	MinOrderInQuote  decimal `toml:"min_order_in_quote"`
	MaxOrderInBase   decimal `toml:"max_order_in_base"`
	MaxOrderInQuote  decimal `toml:"max_order_in_quote"`
	MaxOpenOrders    int64   `toml:"max_open_orders"`
	FeeCategory      string  `toml:"fee_category"` // for the report
}

// riskSection is what the gate allows the account, and by default each strategy. A limit that is left out or 0 is no limit.
type riskSection struct {
	MaxExposure    decimal `toml:"max_exposure"`     // worth of all positions and open buys, in the currency
	MaxDailyLoss   decimal `toml:"max_daily_loss"`   // in the currency; then nothing is opened until the next UTC day
	MaxDrawdown    decimal `toml:"max_drawdown"`     // part of the highest equity, below 1; then nothing is opened any more
	AllowSelfCross bool    `toml:"allow_self_cross"` // let an order meet an own resting one
	limitSection
}

// limitSection is what the gate allows one strategy.
type limitSection struct {
	MaxOpenOrders   int64   `toml:"max_open_orders"`
	MaxOrderValue   decimal `toml:"max_order_value"` // in the currency
	MaxPosition     decimal `toml:"max_position"`    // worth of position and open buys in each market, in the currency
	PriceCollar     decimal `toml:"price_collar"`    // how far a limit may be through the best price on the other side (the latest where none is known), as a part of it
	OrdersPerMinute int64   `toml:"orders_per_minute"`
	MaxInFlight     int64   `toml:"max_in_flight"`    // orders with a command that the exchange has not answered; bot run: 100 unless set
	CoolDownLosses  int64   `toml:"cool_down_losses"` // after so many losing exits in a row …
	CoolDown        span    `toml:"cool_down"`        // … nothing is opened for so long
	MaxDataAge      span    `toml:"max_data_age"`     // nothing is opened on older prices
	ReduceOnly      bool    `toml:"reduce_only"`
}

// strategySection is one strategy at work.
type strategySection struct {
	Kind       string          `toml:"kind"` // see `bot strategies`
	Markets    []string        `toml:"markets"`
	Interval   market.Interval `toml:"interval"`
	Allotment  decimal         `toml:"allotment"` // of the currency, for it alone; none: it shares what is left with the others
	OperatorID int64           `toml:"operator_id"`
	CodGroupID int64           `toml:"cod_group_id"` // cancel-on-disconnect group, 1 to 1000; 0: none
	Params     map[string]any  `toml:"params"`       // see `bot strategies KIND`
	Risk       limitSection    `toml:"risk"`         // over the defaults of [risk]
}

// reportSection says what is made of a result. Nothing in it changes the result.
type reportSection struct {
	Out      string `toml:"out"`      // folder of the files; none: out/NAME after the config file
	Assets   string `toml:"assets"`   // of report.html: address or folder of its script, or inline=FILE
	Envelope toggle `toml:"envelope"` // run the pessimistic and optimistic path too: true, false, or auto: unless --json
}

func defaultConfig() *backtestConfig {
	return &backtestConfig{
		Backtest: backtestSection{Warmup: "before", PathInterval: "auto", Path: "adaptive", LimitFill: "touch", Seed: 1},
		Data:     dataSection{Source: sourceStore, Candles: defaultStore},
		Account:  accountSection{Currency: "EUR", MakerFee: "0.0015", TakerFee: "0.0025", FeeRounding: "order"},
		Report:   reportSection{Envelope: envelopeAuto},
	}
}

// The words of some settings.
const (
	defaultStore    = "candles.db"
	sourceStore     = "store"
	sourceSynthetic = "synthetic"
	envelopeAuto    = "auto"
)

// inherit begins a strategy with the limits that hold for all.
func (s *strategySection) inherit(c *backtestConfig) { s.Risk = c.Risk.limitSection }
