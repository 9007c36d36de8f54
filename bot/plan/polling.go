package plan

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/stream"
	"github.com/tidemark-trading/tidemark/market"
)

// ClockEvery is the time between two measurements of the exchange's clock; after a poor one, the
// next comes sooner.
const ClockEvery = 5 * time.Minute

// The times between two requests for data that a stream brings.
const (
	CompareEvery = time.Minute // tickers and books with those of REST
	candlesEvery = time.Hour   // the same of candles
)

// Polling lists the regular requests of the bot with their weight points. What is asked only now
// and then is not in it: a candle that a stream has not shown, the prices of a silent market.
func (p *Live) Polling(client *rest.Client) rest.Polls { return p.requests(client, &p.Config.Stream) }

// PollingAs is Polling if every channel came as feed says: config.FeedStream or config.FeedPoll.
func (p *Live) PollingAs(client *rest.Client, feed string) rest.Polls {
	return p.requests(client, &config.StreamSection{Feed: feed})
}

func (p *Live) requests(client *rest.Client, streams *config.StreamSection) (plan rest.Polls) {
	every, public := p.Config.Poll, rest.PaidByIP
	if p.Config.Exchange.SignMarketData && p.Key != "" {
		public = rest.PaidByKey
	}
	slower := func(span *config.Span, channel string, than time.Duration) {
		if streams.Streams(channel) {
			*span = max(*span, config.Span(than))
		}
	}
	slower(&every.Tickers, streams.Tickers, CompareEvery)
	slower(&every.Books, streams.Books, CompareEvery)
	slower(&every.Orders, streams.Account, time.Duration(p.Config.Stream.Lists))
	slower(&every.Balances, streams.Account, time.Duration(p.Config.Stream.Lists))
	poll := func(name string, every market.Duration, payer rest.Payer) rest.Poll {
		weight := client.Weight(name)
		return rest.Poll{Name: name, Weight: cmp.Or(weight.All, weight.One), Every: every, Payer: payer}
	}
	clock := poll("GET /time", ClockEvery, rest.PaidByIP)
	clock.Weight *= rest.TimeSamples
	plan = append(plan, poll("GET /ticker/price", market.Duration(every.Tickers), public),
		poll("GET /ticker/book", market.Duration(every.Tickers), public),
		poll("GET /markets", market.Duration(every.Rules), public), clock)
	if !p.Config.Bot.Paper() {
		plan = append(plan, poll("GET /ordersOpen", market.Duration(every.Orders), rest.PaidByKey),
			poll("GET /balance", market.Duration(every.Balances), rest.PaidByKey))
	}
	if p.hasUniverse() {
		plan = append(plan, poll("GET /ticker/24h", 24*time.Hour, public))
	}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			continue // reported when the strategy is made
		}
		candles := config.Span(s.Interval.Fixed())
		slower(&candles, streams.Candles, candlesEvery)
		for _, m := range p.Offered(s) {
			plan = append(plan, named(poll("GET /{market}/candles", market.Duration(candles), public), m.Name))
			if needs.Book {
				plan = append(plan, named(poll("GET /{market}/book", market.Duration(every.Books), public), m.Name))
			}
		}
	}
	return plan
}

// named puts a market's name into a poll's name.
func named(poll rest.Poll, name string) rest.Poll {
	poll.Name = strings.Replace(poll.Name, "{market}", name, 1)
	return poll
}

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
