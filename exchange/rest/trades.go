package rest

import (
	"context"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// PublicTrade is one trade of a market with its id, for paging.
type PublicTrade = exchange.PublicTrade

// TradesBetween is PublicTrades of a range: exchange.TradeData.
func (c *Client) TradesBetween(ctx context.Context, m *market.Market, from, to market.Time, limit int,
	dst []PublicTrade) ([]PublicTrade, error) {
	return c.PublicTrades(ctx, m, Page{Limit: limit, Start: from, End: to}, dst)
}

// PublicTrades appends trades of a market, newest first: GET /{market}/trades (specification 1,
// venue-facts 1.2). The page has 1 … 1000 rows, 500 by itself, its end at most 24 hours after its
// start; both ends count, of times and of ids.
func (c *Client) PublicTrades(ctx context.Context, m *market.Market, page Page, dst []PublicTrade) ([]PublicTrade,
	error) {
	path := to(m.Name, "trades").page(page, "tradeIdFrom", "tradeIdTo").String()
	return more(ctx, c, request{at: getPublicTrades, path: path}, dst,
		func(dst []PublicTrade, body []byte) ([]PublicTrade, error) { return appendPublicTrades(dst, body, m) })
}

func appendPublicTrades(dst []PublicTrade, body []byte, m *market.Market) ([]PublicTrade, error) {
	s := wire.NewScanner(body)
	for s.Array(); s.Element(); {
		trade := PublicTrade{Trade: market.Trade{Market: m.ID}}
		for s.Object(); s.Member(); {
			readMember(&s, m, &trade.ID, &trade.Trade)
		}
		if s.Err() == nil {
			dst = append(dst, trade)
		}
	}
	return dst, s.End()
}
