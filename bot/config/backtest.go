package config

import (
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Backtest holds every setting of `bot backtest`: the defaults, the file over them, --set and the
// other flags over the file. An unknown key or a bad value is an error that names its place.
// configs/backtest.toml shows every key.
type Backtest struct {
	Backtest BacktestSection         `toml:"backtest"`
	Data     DataSection             `toml:"data"`
	Account  AccountSection          `toml:"account"`
	Assets   map[string]AssetSection `toml:"assets"` // by symbol

	Markets    map[string]MarketSection   `toml:"markets"`    // by name; without a section, rules forbid nothing
	Risk       RiskSection                `toml:"risk"`       // for the account, and the default for every strategy
	Strategies map[string]StrategySection `toml:"strategies"` // by a name of your choice; at least one
	Signals    SignalsSection             `toml:"signals" json:",omitzero"`
	Report     ReportSection              `toml:"report"`
	Sweep      SweepSection               `toml:"sweep" json:"-"` // of `bot sweep` alone

	Source *Source `json:"-"` // where it was read; no part of the hash of the settings
}

// Trading holds what the configs of a backtest and of a live bot have in common: the strategies,
// their money and the limits.
type Trading struct {
	Currency           string
	MakerFee, TakerFee Fee
	Risk               RiskSection
	Strategies         map[string]StrategySection
	Signals            map[string]SignalSection
}

// Names returns the names of the strategies, sorted: strategies are called in this order.
func (s *Trading) Names() []string { return slices.Sorted(maps.Keys(s.Strategies)) }

// Trading returns the sections that a live bot has too.
func (c *Backtest) Trading() Trading {
	return Trading{c.Account.Currency, c.Account.MakerFee, c.Account.TakerFee, c.Risk, c.Strategies, c.Signals.Sources}
}

// PathAuto is the path_interval that chooses by the candles that are there.
const PathAuto = "auto"

// BacktestSection holds the range of a backtest and the model of the exchange.
type BacktestSection struct {
	// From is the first candle to trade on: 2021-01-01, RFC 3339 or Unix ms; none: the first
	// stored.
	From Moment `toml:"from"`
	To   Moment `toml:"to"` // end, exclusive; none: the end of the data
	// Warmup is "before": with candles before From; or "inside": with the first candles of the
	// range.
	Warmup string `toml:"warmup"`
	// PathInterval names the candles that move the markets: PathAuto: the finest that cover the
	// range, of the same length for markets that a strategy trades together; "strategy": those of
	// the strategy; or an interval.
	PathInterval  string `toml:"path_interval"`
	Path          string `toml:"path"`            // adaptive, ohlc, olhc, pessimistic or optimistic
	LimitFill     string `toml:"limit_fill"`      // touch, through (a trade beyond it), or queue: in recorded books
	LimitGap      string `toml:"limit_gap"`       // price of a limit that an open has passed: own, or open
	DataLatency   Span   `toml:"data_latency"`    // from a candle's close to its arrival
	Latency       Span   `toml:"latency"`         // from a decision to its arrival at the exchange
	HalfSpreadBPS Points `toml:"half_spread_bps"` // half the distance of bid and ask, in hundredths of a per cent
	SlippageBPS   Points `toml:"slippage_bps"`    // paid by takers beyond the half spread
	VolumeShare   Part   `toml:"volume_share"`    // largest part of a candle's volume for own orders; 0: no cap
	// PlacementLimit is a part of the price: a limit order further through the market is cancelled;
	// 0: never.
	PlacementLimit Part `toml:"placement_limit"`
	// DelistingHaircut is the part of its last price that a delisted market's base loses; none:
	// 0.5.
	DelistingHaircut Part `toml:"delisting_haircut" json:",omitzero"`

	// FillProbability is the chance that a price which only touches a resting limit order fills it;
	// none: 1.
	FillProbability Part `toml:"fill_probability" json:",omitzero"`

	SyntheticBook bool   `toml:"synthetic_book"` // make order books from candles, for strategies that need books
	Seed          uint64 `toml:"seed"`           // of the synthetic market, and of fill_probability

	// Measured says from which orders of a live bot the settings above were measured; nil: they
	// were not. It changes no result.
	Measured *MeasuredSection `toml:"measured" json:"-"`
}

// MeasuredSection holds what `bot gap --write-assumptions` has measured, so that a backtest can say
// which of its settings are those. A setting that was not measured is left out.
type MeasuredSection struct {
	Orders          int64  `toml:"orders"` // of the live bot
	From            Moment `toml:"from"`   // the first day of the orders
	To              Moment `toml:"to"`     // the day after the last one
	Latency         Span   `toml:"latency"`
	HalfSpreadBPS   Points `toml:"half_spread_bps"`
	SlippageBPS     Points `toml:"slippage_bps"`
	FillProbability Part   `toml:"fill_probability"`
}

// DataSection names the source of the candles.
type DataSection struct {
	Source  string `toml:"source"`  // "store", or "synthetic": three made-up years of six markets
	Candles string `toml:"candles"` // file of the store
	// Recording is a folder of `bot record`, or the state folder of a bot: `bot backtest` runs on
	// what was recorded, and on no store. None: candles.
	Recording string `toml:"recording" json:",omitzero"`
}

// AccountSection is the account at the start.
type AccountSection struct {
	Currency string `toml:"currency"`  // every market must be quoted in it
	MakerFee Fee    `toml:"maker_fee"` // part of a fill's value: "0.0015" is 0.15 %
	TakerFee Fee    `toml:"taker_fee"`
	// FeeRounding is order: on an order's total; fill: on each fill; or none: to the nearest unit.
	FeeRounding string             `toml:"fee_rounding"`
	Start       map[string]Decimal `toml:"start"` // balances by asset; without it 10000 of the currency
}

// AssetSection holds the unit of an asset.
type AssetSection struct {
	Decimals int64 `toml:"decimals"` // without a section: EUR 2, USDC 6, others 8
}

// MarketSection holds the rules of a market under the specification's names. A rule that is left
// out forbids nothing: the tick is the data's last decimal, amounts have the decimals of their
// asset, and there are no minimums, maximums or caps.
type MarketSection struct {
	TickSize         Decimal `toml:"tick_size"`
	QuantityDecimals *int64  `toml:"quantity_decimals"`
	NotionalDecimals *int64  `toml:"notional_decimals"`
	MinOrderInBase   Decimal `toml:"min_order_in_base"`
	MinOrderInQuote  Decimal `toml:"min_order_in_quote"`
	MaxOrderInBase   Decimal `toml:"max_order_in_base"`
	MaxOrderInQuote  Decimal `toml:"max_order_in_quote"`
	MaxOpenOrders    int64   `toml:"max_open_orders"`
	FeeCategory      string  `toml:"fee_category"` // for the report
}

// RiskSection holds the gate's limits for the account, and the default limits of each strategy. A
// limit that is left out or 0 is no limit.
type RiskSection struct {
	MaxExposure Decimal `toml:"max_exposure"` // value of all positions and open buys, in the currency
	// MaxAssetExposure is MaxExposure for one base asset, by its symbol; "*" is for all others.
	MaxAssetExposure map[string]Decimal `toml:"max_asset_exposure" json:",omitempty"`

	MaxDailyLoss   Decimal `toml:"max_daily_loss"`   // in the currency; then no opening until the next UTC day
	MaxDrawdown    Part    `toml:"max_drawdown"`     // part of the highest equity, below 1; then no opening any more
	AllowSelfCross bool    `toml:"allow_self_cross"` // let an order meet an own resting one
	// Opposite is the treatment of an order while another own strategy has an opposite one in the
	// market: OppositeAllow, also if empty, or OppositeRefuse.
	Opposite string `toml:"opposite" json:",omitempty"`
	// VolatilityTarget is the expected volatility of the account in a year, as a part of its
	// equity: buys beyond it are made smaller.
	VolatilityTarget Part `toml:"volatility_target" json:",omitzero"`
	// VolatilityInterval is that of the returns that it is estimated from; none: the longest of the
	// strategies' candles.
	VolatilityInterval market.Interval `toml:"volatility_interval" json:",omitzero"`
	LimitSection
}

// The words of RiskSection.Opposite.
const (
	OppositeAllow  = "allow"
	OppositeRefuse = "refuse"
)

// LimitSection holds the gate's limits for one strategy.
type LimitSection struct {
	MaxOpenOrders int64   `toml:"max_open_orders"`
	MaxOrderValue Decimal `toml:"max_order_value"` // in the currency
	MaxPosition   Decimal `toml:"max_position"`    // value of position and open buys in each market, in the currency
	MaxPositions  int64   `toml:"max_positions"`   // markets with a position or an open buy
	// PriceCollar is the largest distance of a limit through the best price on the other side, as a
	// part of that price; without a best price, the latest counts.
	PriceCollar     Part  `toml:"price_collar"`
	OrdersPerMinute int64 `toml:"orders_per_minute"`
	// MaxInFlight bounds the orders with an unanswered command; bot run: 100 unless set.
	MaxInFlight    int64 `toml:"max_in_flight"`
	CoolDownLosses int64 `toml:"cool_down_losses"` // after so many losing exits in a row …
	CoolDown       Span  `toml:"cool_down"`        // … nothing is opened for so long
	MaxDataAge     Span  `toml:"max_data_age"`     // nothing is opened on older prices
	ReduceOnly     bool  `toml:"reduce_only"`
}

// StrategySection is one strategy at work.
type StrategySection struct {
	Kind    string   `toml:"kind"` // see `bot strategies`
	Markets []string `toml:"markets"`
	// Universe takes the place of markets: the markets with the largest volume, ranked each day.
	Universe *UniverseSection `toml:"universe" json:",omitempty"`
	Interval market.Interval  `toml:"interval"`
	// of the currency, for it alone; none: it shares what is left with the others. The JSON name
	// goes into the hash of the settings, which must not change
	Allocation Decimal        `toml:"allocation" json:"Allotment"`
	OperatorID int64          `toml:"operator_id"`
	CodGroupID int64          `toml:"cod_group_id"` // cancel-on-disconnect group, 1 to 1000; 0: none
	Params     map[string]any `toml:"params"`       // see `bot strategies KIND`

	// Rules are those of a kind that stands in the config, such as rules.
	Rules map[string]any `toml:"rules" json:",omitempty"`

	Risk LimitSection `toml:"risk"` // over the defaults of [risk]
}

// UniverseSection says which markets belong to a universe.
type UniverseSection struct {
	Rank    string `toml:"rank"`     // volume30d, volume7d or volume1d: the mean volume of a day, in quote
	Top     int64  `toml:"top"`      // how many markets are members
	Quote   string `toml:"quote"`    // quote asset of the markets; none: the account's currency
	MinDays int64  `toml:"min_days"` // days with a known volume that a member needs; 0: nine tenths of the rank's
	// Records is the candle store with the records of markets that a live bot ranks by; none: it
	// ranks by the last 24 hours. A backtest has them in its own store.
	Records string `toml:"records" json:"-"`
	// Standby is how many of the next ranked markets a live bot watches too, so that they can come
	// in at midnight; none: a quarter of top. A backtest needs none.
	Standby *int64 `toml:"standby" json:"-"`
}

// ReportSection holds the outputs of a backtest. No setting in it changes the result.
type ReportSection struct {
	Out     string `toml:"out"`     // folder of the files; none: out/NAME after the config file
	Parquet bool   `toml:"parquet"` // write each table as Parquet too, for notebooks
	// Envelope runs the pessimistic and optimistic path too: true, false, or auto: unless --json.
	Envelope Toggle `toml:"envelope"`
}

// DefaultBacktest returns the config of an empty file. It has no strategies.
func DefaultBacktest() *Backtest {
	return &Backtest{
		Backtest: BacktestSection{Warmup: "before", PathInterval: PathAuto, Path: "adaptive", LimitFill: "touch",
			LimitGap: "own", Seed: 1},
		Data: DataSection{Source: SourceStore, Candles: DefaultStore},
		Account: AccountSection{Currency: "EUR", MakerFee: FeeOf("0.0015"), TakerFee: FeeOf("0.0025"),
			FeeRounding: "order"},
		Report: ReportSection{Envelope: EnvelopeAuto},
		Sweep:  SweepSection{Method: "grid", Seed: 1, Objective: "sharpe"},
	}
}

// The words of some settings.
const (
	DefaultStore    = "candles.db"
	SourceStore     = "store"
	SourceSynthetic = "synthetic"
	EnvelopeAuto    = "auto"
)

// inherit gives a strategy the default limits.
func (s *StrategySection) inherit(c *Backtest) { s.Risk = c.Risk.LimitSection }

// SweepSection holds the settings of `bot sweep`. The flags of the command go before them. No
// setting in it changes a single backtest.
type SweepSection struct {
	// Vary lists what is varied, as --vary takes it: "strategies.trend.params.fast=5:100:5".
	Vary      []string `toml:"vary"`
	Method    string   `toml:"method"`    // grid, random, sobol, halving or cma-es
	Sets      int64    `toml:"sets"`      // how many to try; 0: all of a grid, else 1000
	Seed      uint64   `toml:"seed"`      // of the methods but the grid, and of the statistics
	Objective string   `toml:"objective"` // a figure or a formula; more is better
	Require   []string `toml:"require"`   // conditions on the figures of the whole sample, as "trips >= 30"
	Workers   int64    `toml:"workers"`   // how many sets run side by side; 0: as many as cores
	Out       string   `toml:"out"`       // file of the sweep; none: out/sweep-NAME-… after the config file
}
