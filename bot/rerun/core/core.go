package core

import (
	"bytes"
	"slices"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// lateFills is how late a fill may arrive, after later fills of other orders, and still be booked
// to its position in the order of time: a little more than the time between two lists of open
// orders.
const lateFills = market.Duration(2 * 60e9)

// Config has the parts of the engine of a live bot.
type Config struct {
	Catalog    *market.Catalog
	Strategies []backtest.StrategyPlan
	Limits     risk.AccountLimits
	Fees       backtest.Fees
	TradeFrom  market.Time // asks before it are warm-up
	SaveLimit  int         // most bytes of a strategy's saved state
	Run        uuid.UUID   // client order ids derive from it
	Explain    bool        // keep the gate's figures, for a journal
	Observer   engine.Observer
	Plots      strategy.Plotter // nil: plots are lines of the strategies' debug logs
	Apart      engine.Apart     // nil: strategies are called on the caller's goroutine
	Log        zerolog.Logger
}

// Core is the engine of a live bot, with what stands around it.
type Core struct {
	Account *state.Account
	Gate    *risk.Gate
	Engine  *engine.Engine
}

// New makes the strategies and their engine. Nothing has entered it yet.
func New(c *Config) (*Core, error) {
	roster, err := backtest.NewRoster(c.Catalog, c.Strategies, c.Log)
	if err != nil {
		return nil, err
	}
	k := &Core{Account: state.NewAccount(c.Catalog, len(c.Strategies), roster.Own)}
	k.Account.KeepRecent(lateFills)
	k.Gate = risk.New(c.Catalog, risk.Config{Account: c.Limits, Strategies: roster.Limits,
		Fees: func(*market.Market) exchange.Fees { return exchange.Fees(c.Fees) }, Explain: c.Explain})
	k.Engine = engine.New(engine.Config{Catalog: c.Catalog, Account: k.Account, Gate: k.Gate, Slots: roster.Slots,
		TradeFrom: c.TradeFrom, SaveLimit: c.SaveLimit, Run: c.Run, Observer: c.Observer, Plots: c.Plots,
		Apart: c.Apart})
	k.Engine.Watch()
	return k, nil
}

// Open begins the engine: anew, or from the parts that an earlier run saved. history is the candles
// of the warm-up in the order of their close. The commands of a restored engine wait until trading
// begins, and its brackets for an InputGuard, but not where at is 0: amid a run. A new engine has
// none.
func (k *Core) Open(at market.Time, parts map[string][]byte, history []market.Candle) ([]market.Command, error) {
	k.Engine.See(history, at)
	if len(parts) > 0 {
		commands, err := k.Engine.Restore(at, parts, closes(history))
		if at != 0 {
			k.Engine.Hold()
		}
		return slices.Clone(commands), err
	}
	first := at
	if len(history) > 0 {
		first = history[0].Start
	}
	k.Engine.Start(first)
	for group := range market.ByClose(history) {
		k.Engine.Step(&market.Event{At: group[0].End(), Kind: market.KindCandles, Candles: group})
	}
	k.Engine.StartRest(at)
	return nil, nil
}

// Saved are all parts of the engine's state, by name.
func (k *Core) Saved() (map[string][]byte, error) {
	parts := map[string][]byte{}
	err := k.Engine.SaveAll(func(part string, data []byte) error {
		if data != nil {
			parts[part] = bytes.Clone(data)
		}
		return nil
	})
	return parts, err
}
