package plan

import (
	"context"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/exchange/stream"
	"github.com/tidemark-trading/tidemark/market"
)

// Streamed moves the channels of market data that a config streams, and the trades if those are
// streamed, from a feed that polls to one that streams. Both send to polled.Out, which the caller
// makes.
func Streamed(section *config.StreamSection, trades bool, polled *poll.Config, on *stream.Connection) *stream.Feed {
	c := stream.FeedConfig{On: on, Data: polled.Data, Catalog: polled.Catalog, Log: polled.Log, Out: polled.Out,
		Depth: polled.Depth, TickerEvery: polled.TickerEvery, BookEvery: polled.BookEvery, Stale: polled.Stale,
		TradeData: polled.TradeData}
	if section.Streams(section.Tickers) {
		c.Tickers, polled.Tickers = polled.Tickers, nil
	}
	if section.Streams(section.Books) {
		c.Books, polled.Books = polled.Books, nil
	}
	if trades {
		c.Trades, polled.Trades = polled.Trades, nil
	}
	if section.Streams(section.Candles) {
		for _, s := range polled.Series {
			c.Series = append(c.Series, stream.Series{Market: s.Market, Interval: s.Interval})
		}
	}
	feed := stream.NewFeed(c)
	if len(c.Series) > 0 {
		polled.Data, polled.News = streamedCandles{polled.Data, feed}, feed.News()
		polled.Final = func(m market.ID, interval market.Interval, start market.Time) bool {
			return feed.Final(stream.Series{Market: m, Interval: interval}, start)
		}
	}
	return feed
}

// streamedCandles is market data whose candles come from the stream.
type streamedCandles struct {
	exchange.MarketData
	feed *stream.Feed
}

// Candles implements exchange.MarketData.
func (s streamedCandles) Candles(ctx context.Context, m *market.Market, interval market.Interval,
	start, end market.Time, limit int, dst []market.Candle) ([]market.Candle, error) {
	return s.feed.Candles(ctx, m, interval, start, end, limit, dst)
}
