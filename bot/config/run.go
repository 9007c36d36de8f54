package config

import (
	"cmp"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/exchange/rest"
)

// Run holds every setting of `bot run`. Strategies and limits are written as for a backtest.
// configs/sandbox.toml and configs/live.toml show every key.
type Run struct {
	Bot        BotSection                 `toml:"bot"`
	Paper      PaperSection               `toml:"paper"`
	Exchange   ExchangeSection            `toml:"exchange"`
	Poll       PollSection                `toml:"poll"`
	Stream     StreamSection              `toml:"stream"`
	Account    LiveAccountSection         `toml:"account"`
	Risk       RiskSection                `toml:"risk"` // for the account, and the default for every strategy
	Strategies map[string]StrategySection `toml:"strategies"`
	Signals    SignalsSection             `toml:"signals"`
	Metrics    metricsSection             `toml:"metrics"`
	Dashboard  DashboardSection           `toml:"dashboard"`
	Alerts     AlertsSection              `toml:"alerts"`
	Telegram   TelegramSection            `toml:"telegram"`

	Source *Source // where it was read
}

// BotSection holds the settings of the process.
type BotSection struct {
	Name string `toml:"name"` // in alerts; empty: the config file's
	// Mode is live: orders go to the exchange; sandbox: the same, and the exchange has to be one of
	// this machine; or paper: orders go to a simulated exchange in this process, at the exchange's
	// prices.
	Mode       string `toml:"mode"`
	State      string `toml:"state"`       // folder of the state file, from the config's folder; made where missing
	Log        string `toml:"log"`         // on the standard error: off, error, warn, info, debug
	LogFile    string `toml:"log_file"`    // the same lines as JSON; empty: none
	LogMB      int64  `toml:"log_mb"`      // size at which the file is packed and begun anew
	LogKeep    int64  `toml:"log_keep"`    // packed files that are kept
	KeepExits  bool   `toml:"keep_exits"`  // leave the exits of positions at the exchange when stopping
	KeepOrders bool   `toml:"keep_orders"` // leave the other open orders there, too; else they are cancelled
	StopWithin Span   `toml:"stop_within"` // longest time to stop in good order
	RecordMB   int64  `toml:"record_mb"`   // largest recording of market events beside the state file; 0: none
	Keep       Span   `toml:"keep"`        // how long journal and ended orders stay in the state file; 0: for good
	SaveKB     int64  `toml:"save_kb"`     // largest saved state of a strategy; beyond it the strategy is halted
	Pulse      Span   `toml:"pulse"`       // on a terminal, between two lines on how the bot stands; 0: none
	Zone       string `toml:"zone"`        // of the days in trades, profit and summaries: UTC, or like Europe/Berlin
	NeedLimits bool   `toml:"need_limits"` // refuse to start while a limit of account or strategy is missing
}

// PaperSection holds the settings of paper mode.
type PaperSection struct {
	Start map[string]Decimal `toml:"start"` // balances by symbol with which a new state folder begins
}

// ExchangeSection is the exchange that is traded on.
type ExchangeSection struct {
	BaseURL    string `toml:"base_url"` // https, or http to this machine
	Prefix     string `toml:"prefix"`   // brand of the headers, without the dash
	Key        string `toml:"key"`      // of key, key_file and key_env one; likewise for secret
	KeyFile    string `toml:"key_file"` // a file that only its owner may read
	KeyEnv     string `toml:"key_env"`  // a variable of the environment
	Secret     string `toml:"secret"`
	SecretFile string `toml:"secret_file"`
	SecretEnv  string `toml:"secret_env"`
	Window     Span   `toml:"window"` // the exchange may execute a request only so long after its timestamp
	// CancelAfter is the time from the bot's last sign of life until the exchange cancels the
	// orders of a cod_group_id: 150s to 300s.
	CancelAfter    Span   `toml:"cancel_after"`
	PerKey         int64  `toml:"weight_per_key"`   // points a minute, until the exchange's headers name the budget
	PerIP          int64  `toml:"weight_per_ip"`    // of requests without a key
	SignMarketData bool   `toml:"sign_market_data"` // send requests for market data with the key, at its cost
	MovedFrom      string `toml:"moved_from"`       // the state folder's earlier base_url, if the exchange has moved

	// Weights are points of endpoints that differ from the client's table; " all" behind the name:
	// for all markets.
	Weights map[string]int64 `toml:"weights"`
}

// PollSection holds the intervals between requests.
type PollSection struct {
	Tickers   Span  `toml:"tickers"`
	Books     Span  `toml:"books"`
	Rules     Span  `toml:"rules"`  // status and rules of the markets
	Orders    Span  `toml:"orders"` // the list of open orders; a single order is queried when it is unresolved
	Balances  Span  `toml:"balances"`
	Settle    Span  `toml:"settle"`         // from a candle's close to the request for it
	CandleAge Span  `toml:"max_candle_age"` // nothing is opened on older candles; 0: twice their interval
	Depth     int64 `toml:"depth"`          // levels of order books, for strategies that need books
}

// StreamSection says which data comes over the exchange's WebSocket, and whether orders go there.
// Each field but Orders is FeedStream or FeedPoll.
type StreamSection struct {
	Feed    string `toml:"feed"`    // of every channel below that is empty
	Tickers string `toml:"tickers"` // last price, bid and ask
	Books   string `toml:"books"`
	Candles string `toml:"candles"`
	Account string `toml:"account"` // events of own orders and fills; not in paper mode
	// Orders is OrdersStream: orders go over the WebSocket while it is open, else over HTTP; or
	// OrdersREST: over HTTP alone. Not in paper mode. Feed says nothing about them.
	Orders string `toml:"orders"`
	// Lists is the least time between two lists of open orders, or of balances, while the account's
	// events come, and the longest between two queries of a resting order.
	Lists Span `toml:"lists"`
}

// The words of StreamSection.
const (
	FeedStream = "stream"
	FeedPoll   = "poll"
)

// Feeds are the words of StreamSection.
var Feeds = []string{FeedStream, FeedPoll}

// The words of StreamSection.Orders.
const (
	OrdersStream = "stream"
	OrdersREST   = "rest"
)

// OrderWays are the words of StreamSection.Orders.
var OrderWays = []string{OrdersStream, OrdersREST}

// Streams reports whether a channel comes over the WebSocket, by its field.
func (s *StreamSection) Streams(channel string) bool { return cmp.Or(channel, s.Feed) == FeedStream }

// Any reports whether any channel of market data comes over the WebSocket, or the account's events
// where those are wanted.
func (s *StreamSection) Any(account bool) bool {
	return s.Streams(s.Tickers) || s.Streams(s.Books) || s.Streams(s.Candles) || account && s.Streams(s.Account)
}

// LiveAccountSection holds the currency and the fees that the gate reckons with.
type LiveAccountSection struct {
	Currency string `toml:"currency"` // every market must be quoted in it
	MakerFee Fee    `toml:"maker_fee"`
	TakerFee Fee    `toml:"taker_fee"`
}

// DefaultRun returns the config of an empty file. It has no strategies.
func DefaultRun() *Run {
	return &Run{
		Bot: BotSection{Mode: ModeLive, State: "state", Log: "info", LogMB: 16, LogKeep: 10, RecordMB: 1024,
			SaveKB: 1024, KeepExits: true, StopWithin: Span(75 * time.Second), Pulse: Span(time.Minute), Zone: "UTC"},
		Exchange: ExchangeSection{BaseURL: "http://127.0.0.1:8080/v2", Prefix: "Service",
			Window: Span(10 * time.Second), CancelAfter: Span(150 * time.Second),
			PerKey: 1000, PerIP: 500},
		Poll: PollSection{Tickers: Span(time.Second), Books: Span(2 * time.Second), Rules: Span(30 * time.Second),
			Orders: Span(time.Minute), Balances: Span(30 * time.Second),
			Settle: Span(2 * time.Second), Depth: 50},
		Stream:  StreamSection{Feed: FeedPoll, Orders: OrdersREST, Lists: Span(5 * time.Minute)},
		Risk:    RiskSection{LimitSection: LimitSection{MaxInFlight: 100}},
		Account: LiveAccountSection{Currency: "EUR", MakerFee: FeeOf("0.0015"), TakerFee: FeeOf("0.0025")},
		Metrics: metricsSection{StaleAfter: Span(30 * time.Second)},
		Alerts:  AlertsSection{Refusals: 20, Tracking: 50, Summary: SummaryOff},

		Telegram: TelegramSection{Run: true, Confirm: Span(time.Minute), BaseURL: "https://api.telegram.org"},
	}
}

// LoadRun reads a config of `bot run`. Its errors are Error or KeyError.
func LoadRun(source *Source) (*Run, error) {
	first := DefaultRun() // read first for the limits that every strategy inherits
	if err := source.decode(&binder{config: &Backtest{}, other: reflect.TypeFor[Backtest]()}, first); err != nil {
		return nil, err
	}
	c := DefaultRun()
	c.Source = source
	if err := source.decode(&binder{config: &Backtest{Risk: first.Risk}, other: reflect.TypeFor[Backtest]()},
		c); err != nil {
		return nil, err
	}
	err := source.Place(source.besideConfig(&c.Bot.State))
	return c, cmp.Or(err, source.Place(c.Exchange.checkAddresses()))
}

// stateFile is the file that makes a folder a bot's: statedir.StateFile.
const stateFile = "bot.db"

// besideConfig makes a state folder of the config's text one below the config's own folder, so that
// the bot finds it wherever it is started. A folder of --set is the current folder's. It refuses a
// config whose state still lies below the current folder, as it did before: a second, empty state
// would trade on the same account.
func (s *Source) besideConfig(folder *string) error {
	path := []string{"bot", "state"}
	set := slices.ContainsFunc(s.Overrides, func(o Override) bool { return slices.Equal(o.Path, path) })
	if s.File == "" || set || *folder == "" || filepath.IsAbs(*folder) {
		return nil
	}
	former := filepath.Clean(*folder)
	*folder = filepath.Join(filepath.Dir(s.File), former)
	if *folder == former || isFile(filepath.Join(*folder, stateFile)) || !isFile(filepath.Join(former, stateFile)) {
		return nil
	}
	return Keyf(path, "is relative to the config's folder, where %s has no %s, but %[3]s of the current folder has "+
		"one. If it is this bot's, move that folder to %[1]s; if it is another bot's, start elsewhere, or write the "+
		"whole path", *folder, stateFile, former)
}

// isFile reports whether there is a file of this name.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// checkAddresses refuses addresses that rest.Origin refuses.
func (e *ExchangeSection) checkAddresses() error {
	if _, err := rest.Origin(e.BaseURL); err != nil {
		return At([]string{"exchange", "base_url"}, err)
	}
	if e.MovedFrom == "" {
		return nil
	}
	_, err := rest.Origin(e.MovedFrom)
	return At([]string{"exchange", "moved_from"}, err)
}

// Origin is the scheme and host of the exchange, for logs and alerts.
func (e *ExchangeSection) Origin() string { return OriginOf(e.BaseURL) }

// Trading returns the sections that a backtest has too.
func (c *Run) Trading() Trading {
	return Trading{c.Account.Currency, c.Account.MakerFee, c.Account.TakerFee, c.Risk, c.Strategies, c.Signals.Sources}
}

// The modes of `bot run`.
const (
	ModeLive    = "live"
	ModeSandbox = "sandbox"
	ModePaper   = "paper"
)

// Modes are the words of bot.mode.
var Modes = []string{ModeLive, ModeSandbox, ModePaper}

// Paper reports whether the orders stay in this process.
func (b *BotSection) Paper() bool { return b.Mode == ModePaper }

// FolderMode is the mode that a state folder is marked with: live, or paper.
func (b *BotSection) FolderMode() string {
	if b.Paper() {
		return ModePaper
	}
	return ModeLive
}

// OriginOf is the scheme and host of an address, in lower case: the identity of an exchange.
func OriginOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// OperatorID returns the operatorId of a strategy. A strategy that is unknown or has none gets the
// first operatorId by name of strategy, else 1.
func (c *Run) OperatorID(strategy string) int64 {
	if s, known := c.Strategies[strategy]; known && s.OperatorID != 0 {
		return s.OperatorID
	}
	for _, name := range slices.Sorted(maps.Keys(c.Strategies)) {
		if id := c.Strategies[name].OperatorID; id != 0 {
			return id
		}
	}
	return 1
}
