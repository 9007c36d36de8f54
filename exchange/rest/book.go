package rest

import (
	"context"

	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// Book reads a snapshot of a market's order book into into, whose slices are reused: GET
// /{market}/book (specification 1 and 4.5), depth levels of each side, 1 … 1000, 0: 1000. Its Time
// is that of the snapshot. Outside of status trading there is none: the error is exchange.Error
// with code 431 and HTTP 409. On an error the snapshot is undefined.
func (c *Client) Book(ctx context.Context, m *market.Market, depth int, into *market.OrderBook) error {
	path := to(m.Name, "book").integer("depth", int64(depth)).String()
	return c.get(ctx, request{at: getBook, path: path}, func(body []byte) error { return parseBook(body, m, into) })
}

// parseBook reads a snapshot of m's book.
func parseBook(body []byte, m *market.Market, into *market.OrderBook) error {
	into.Market, into.Nonce, into.Time, into.Synthetic = m.ID, 0, 0, false
	into.Bids, into.Asks = into.Bids[:0], into.Asks[:0]
	named := false
	s := wire.NewScanner(body)
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "market":
			expect(&s, "market", m.Name)
			named = true
		case "nonce":
			into.Nonce = s.Integer("nonce")
		case "bids":
			into.Bids = s.Levels("bids", m, into.Bids[:0])
		case "asks":
			into.Asks = s.Levels("asks", m, into.Asks[:0])
		case "timestamp":
			into.Time = s.Nanos("timestamp")
		default:
			s.Discard()
		}
	}
	if err := s.End(); err != nil {
		return err
	}
	if !named {
		return missing("market")
	}
	return nil
}
