package backtest

import (
	"errors"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// Plan is the whole input of a backtest. Two runs of one plan give the same result to the byte.
type Plan struct {
	Catalog    *market.Catalog
	Currency   *market.Asset // every market that is traded is quoted in it
	Deposits   []Deposit
	Strategies []StrategyPlan
	Feeds      []Feed
	// Open opens the candles of a feed that start in [from, to), oldest first.
	Open func(f Feed, from, to market.Time) (Source, error)
	// The run trades on candles that start in [From, To); 0: as far as the data goes.
	From, To market.Time
	// Coarse are spans, by market and time, in which finer candles hide prices of a longer one.
	Coarse  map[market.ID][]CoarseSpan
	Venue   sim.Config
	Account risk.AccountLimits
	Fees    Fees // of markets without Fees in Changes

	DataLatency   market.Duration // from a candle's close to its arrival
	SyntheticBook bool            // make order books of one level from the path, for strategies that need books
	// OneByOne steps every candle by itself, quiet ones too: slower, the same result.
	OneByOne bool
	// Signals are the signals from outside, in the order of Due. Each arrives then: before the
	// candles that arrive at the same instant. Of those before the first candle, the latest of each
	// source and market arrive at its start.
	Signals []market.Signal
	// Changes are the changes of markets, by time. A change is in force for candles that close
	// after it. Those at 0 are the beginning; each market in the list has one.
	Changes []MarketChange
	Haircut market.Rate // part of its last price that the base of a delisted market loses
	// Borders are the changes of parameters inside the run, by time, behind From.
	Borders []Border
	// Rules says, in the assumptions, which rules of markets and which fees were applied; empty:
	// today's.
	Rules string

	Absences []risk.Absence // what strategies may not open; none in an ordinary run

	ColdStart bool // do not read candles before From to warm up: the warm-up happens inside the range
	Log       zerolog.Logger
}

// Fees are rates of the account.
type Fees struct {
	Maker, Taker market.Rate
}

// Deposit is a balance of the account at the start.
type Deposit struct {
	Asset market.AssetID
	Money market.Money
	Owner market.StrategyID // whose allocation; 0: shared by all without one
}

// Feed is one series of candles of a plan.
type Feed struct {
	Market   *market.Market
	Interval market.Interval
	Drive    bool // it moves the market at the venue: the finest series of its market
	Deliver  bool // strategies receive it
}

// Source yields candles in batches, oldest first, io.EOF at the end. A batch is valid until the
// next call.
type Source interface {
	Next() ([]market.Candle, error)
	Close() error
}

// ErrNoCandles means that not one candle of a plan lies in its range.
var ErrNoCandles = errors.New("no candles in the range")

// runID derives the id of a run from its inputs, so that the same plan gives the same client order
// ids.
func runID(configHash, dataHash string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("tidemark:backtest:"+configHash+":"+dataHash))
}
