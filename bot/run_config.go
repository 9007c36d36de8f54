package bot

import (
	"time"

	"github.com/tidemark-trading/tidemark/exchange/rest"
)

// runConfig is everything that a config of `bot run` can say. Strategies and limits are written as for a backtest. configs/sandbox.toml and
// configs/live.toml show every key.
type runConfig struct {
	Bot        botSection                 `toml:"bot"`
	Paper      paperSection               `toml:"paper"`
	Exchange   remoteSection              `toml:"exchange"`
	Poll       pollSection                `toml:"poll"`
	Account    liveAccountSection         `toml:"account"`
	Risk       riskSection                `toml:"risk"` // for the account, and the default for every strategy
	Strategies map[string]strategySection `toml:"strategies"`
	Metrics    metricsSection             `toml:"metrics"`
	Alerts     alertsSection              `toml:"alerts"`

	source *configSource
}

// botSection is what concerns the process.
type botSection struct {
	Name       string `toml:"name"`        // in alerts; empty: the config file's
	Mode       string `toml:"mode"`        // live: orders go to the exchange; paper: to a simulated one in this process, at the exchange's prices
	State      string `toml:"state"`       // folder of the state file and the socket; made where it is missing
	Log        string `toml:"log"`         // on the standard error: off, error, warn, info, debug
	KeepOrders bool   `toml:"keep_orders"` // leave open orders at the exchange when stopping; else they are cancelled
	StopWithin span   `toml:"stop_within"` // for stopping in good order
	RecordMB   int64  `toml:"record_mb"`   // largest size of the recording of market events beside the state file; 0: none is kept
	SaveKB     int64  `toml:"save_kb"`     // largest state of a strategy, as its Save writes it; beyond it the strategy is halted
	NeedLimits bool   `toml:"need_limits"` // refuse to start while a limit of the account or of a strategy is missing
}

// paperSection is what paper mode needs beside.
type paperSection struct {
	Start map[string]decimal `toml:"start"` // balances by symbol with which a new state folder begins
}

// remoteSection is the exchange that is traded on.
type remoteSection struct {
	BaseURL        string `toml:"base_url"` // https, or http to this machine
	Prefix         string `toml:"prefix"`   // brand of the headers, without the dash
	Key            string `toml:"key"`      // of key, key_file and key_env one; likewise for secret
	KeyFile        string `toml:"key_file"` // a file that only its owner may read
	KeyEnv         string `toml:"key_env"`  // a variable of the environment
	Secret         string `toml:"secret"`
	SecretFile     string `toml:"secret_file"`
	SecretEnv      string `toml:"secret_env"`
	Window         span   `toml:"window"`           // in which the exchange may carry a request out
	CancelAfter    span   `toml:"cancel_after"`     // how long after its last sign of life the exchange cancels orders of a cod_group_id; 150s or more
	PerKey         int64  `toml:"weight_per_key"`   // points a minute, until the exchange tells
	PerIP          int64  `toml:"weight_per_ip"`    // of requests without a key
	SignMarketData bool   `toml:"sign_market_data"` // ask for market data with the key, at its cost
	MovedFrom      string `toml:"moved_from"`       // the base_url that the state folder was used with before, where the exchange has moved

	Weights map[string]int64 `toml:"weights"` // points of endpoints that cost other than the client's table says; " all" behind the name: for all markets
}

// pollSection is how often the exchange is asked.
type pollSection struct {
	Tickers   span  `toml:"tickers"`
	Books     span  `toml:"books"`
	Rules     span  `toml:"rules"`  // status and rules of the markets
	Orders    span  `toml:"orders"` // the list of open orders; single ones are asked for as they need it
	Balances  span  `toml:"balances"`
	Settle    span  `toml:"settle"`         // from a candle's close to the question
	CandleAge span  `toml:"max_candle_age"` // nothing is opened on older candles; 0: twice their interval
	Depth     int64 `toml:"depth"`          // levels of order books, for strategies that need books
}

// liveAccountSection is the account as the gate reckons with it.
type liveAccountSection struct {
	Currency string  `toml:"currency"` // every market must be quoted in it
	MakerFee decimal `toml:"maker_fee"`
	TakerFee decimal `toml:"taker_fee"`
}

func defaultRunConfig() *runConfig {
	return &runConfig{
		Bot: botSection{Mode: modeLive, State: "state", Log: "info", RecordMB: 1024, SaveKB: 1024, StopWithin: span(75 * time.Second)},
		Exchange: remoteSection{BaseURL: "http://127.0.0.1:8080/v2", Prefix: "Service", Window: span(10 * time.Second), CancelAfter: span(150 * time.Second),
			PerKey: 1000, PerIP: 500},
		Poll: pollSection{Tickers: span(time.Second), Books: span(2 * time.Second), Rules: span(30 * time.Second), Orders: span(time.Minute), Balances: span(30 * time.Second),
			Settle: span(2 * time.Second), Depth: 50},
		Risk:    riskSection{limitSection: limitSection{MaxInFlight: 100}},
		Account: liveAccountSection{Currency: "EUR", MakerFee: "0.0015", TakerFee: "0.0025"},
		Metrics: metricsSection{StaleAfter: span(30 * time.Second)},
		Alerts:  alertsSection{Refusals: 20},
	}
}

// loadRun reads a config of `bot run`. Its errors are of the usage kind.
func loadRun(source *configSource) (*runConfig, error) {
	first := defaultRunConfig() // for its limits, with which every strategy begins
	if err := source.decode(&binder{config: &backtestConfig{}}, first); err != nil {
		return nil, err
	}
	c := defaultRunConfig()
	c.source = source
	if err := source.decode(&binder{config: &backtestConfig{Risk: first.Risk}}, c); err != nil {
		return nil, err
	}
	return c, source.place(c.Exchange.checkAddresses())
}

// checkAddresses refuses an address that no exchange can have, or that holds more than an address.
func (e *remoteSection) checkAddresses() error {
	if _, err := rest.Origin(e.BaseURL); err != nil {
		return at([]string{"exchange", "base_url"}, err)
	}
	if e.MovedFrom == "" {
		return nil
	}
	_, err := rest.Origin(e.MovedFrom)
	return at([]string{"exchange", "moved_from"}, err)
}

// origin is scheme and host of the exchange, as logs and alerts have it. The address has been checked.
func (e *remoteSection) origin() string { return originOf(e.BaseURL) }

// trading is the part of the config that a backtest's has too. decimals are those of the currency where the exchange has told them.
func (c *runConfig) trading(decimals int64) *backtestConfig {
	shared := defaultConfig()
	shared.Account.Currency, shared.Account.MakerFee, shared.Account.TakerFee = c.Account.Currency, c.Account.MakerFee, c.Account.TakerFee
	shared.Risk, shared.Strategies, shared.source = c.Risk, c.Strategies, c.source
	if decimals >= 0 {
		shared.Assets = map[string]assetSection{c.Account.Currency: {Decimals: decimals}}
	}
	return shared
}
