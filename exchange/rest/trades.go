package rest

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// PublicTrade is one trade of a market with its id, by which lists of trades are paged.
type PublicTrade struct {
	market.Trade
	ID uuid.UUID
}

// PublicTrades appends trades of a market, newest first: GET /{market}/trades (specification 1, venue-facts 1.2). The page has 1 … 1000
// rows, 500 by itself, its end at most 24 hours after its start; both ends count, of times and of ids.
func (c *Client) PublicTrades(ctx context.Context, m *market.Market, page Page, dst []PublicTrade) ([]PublicTrade, error) {
	before := len(dst)
	path := to(m.Name, "trades").page(page, "tradeIdFrom", "tradeIdTo").String()
	err := c.ask(ctx, request{at: getPublicTrades, path: path}, func(body []byte) (err error) {
		dst, err = appendPublicTrades(dst[:before], body, m)
		return err
	})
	if err != nil {
		return dst[:before], err
	}
	return dst, nil
}

func appendPublicTrades(dst []PublicTrade, body []byte, m *market.Market) ([]PublicTrade, error) {
	s := scanner{data: body}
	for s.array(); s.element(); {
		trade := PublicTrade{Trade: market.Trade{Market: m.ID}}
		for s.open(); s.member(); {
			switch string(s.name) {
			case "id":
				trade.ID = s.id("id")
			case "timestamp":
				trade.Time = s.millis("timestamp")
			case "amount":
				trade.Amount = market.Qty(s.fixed("amount", m.AmountDigits))
			case "price":
				trade.Price = market.Price(s.fixed("price", m.PriceDigits))
			case "side":
				trade.Side = s.side()
			default:
				s.skip()
			}
		}
		if s.err == nil {
			dst = append(dst, trade)
		}
	}
	return dst, s.end()
}

// side reads buy or sell.
func (s *scanner) side() market.Side {
	switch token := s.token(); string(token) {
	case "buy":
		return market.Buy
	case "sell":
		return market.Sell
	default:
		s.fail("side", fmt.Errorf("%q is neither buy nor sell", clip(token)))
		return 0
	}
}
