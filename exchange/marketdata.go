package exchange

import (
	"context"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// MarketData is the public side of an exchange. All methods may be called from several goroutines;
// slices are appended to and returned as append does.
type MarketData interface {
	// TickerPrices appends a ticker with Last alone for every market.
	TickerPrices(ctx context.Context, dst []market.Ticker) ([]market.Ticker, error)
	// TickerBooks appends a ticker with best bid and ask and their sizes for every market; a zero
	// price is an empty side.
	TickerBooks(ctx context.Context, dst []market.Ticker) ([]market.Ticker, error)
	// Book reads up to depth levels of each side into a snapshot, whose slices it reuses.
	Book(ctx context.Context, m *market.Market, depth int, into *market.OrderBook) error
	// Candles appends the candles from start on and before end, oldest first; where there are more
	// than limit, the newest. Each comes once, and each can be; one within the range that has not
	// ended is included as it stands. Rows that CandleRange.Read leaves out are named by an error
	// that is a *LeftOut; all others are there.
	Candles(ctx context.Context, m *market.Market, interval market.Interval, start, end market.Time, limit int,
		dst []market.Candle) ([]market.Candle, error)
	// Rules returns copies of the catalog's markets with their present status and rules.
	Rules(ctx context.Context) ([]market.Market, error)
	// Now is the best estimate of the exchange's time.
	Now() market.Time
}

// TradeData is the public trades of an exchange. Its method may be called from several goroutines.
type TradeData interface {
	// TradesBetween appends the trades of a market from one time to another, both ends included,
	// the newest first; of more than limit, the newest. A zero end is open.
	TradesBetween(ctx context.Context, m *market.Market, from, to market.Time, limit int,
		dst []PublicTrade) ([]PublicTrade, error)
}

// PublicTrade is one trade of a market with its id, for paging.
type PublicTrade struct {
	market.Trade
	ID uuid.UUID
}
