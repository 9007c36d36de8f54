package rest

import (
	"context"

	"github.com/tidemark-trading/tidemark/market"
)

// Book reads the order book of a market into a snapshot, whose slices are used again: GET /{market}/book (specification 1 and 4.5),
// depth levels of each side, 1 … 1000, 0: 1000. Its Time is that of the snapshot. Outside of status trading there is none: the error
// is exchange.Error with code 431 and HTTP 409. On an error the snapshot is undefined.
func (c *Client) Book(ctx context.Context, m *market.Market, depth int, into *market.OrderBook) error {
	path := to(m.Name, "book").integer("depth", int64(depth)).String()
	return c.ask(ctx, request{at: getBook, path: path}, func(body []byte) error { return parseBook(body, m, into) })
}

// parseBook reads a snapshot of m's book.
func parseBook(body []byte, m *market.Market, into *market.OrderBook) error {
	into.Market, into.Nonce, into.Time, into.Synthetic = m.ID, 0, 0, false
	into.Bids, into.Asks = into.Bids[:0], into.Asks[:0]
	named := false
	s := scanner{data: body}
	for s.open(); s.member(); {
		switch string(s.name) {
		case "market":
			s.expect("market", m.Name)
			named = true
		case "nonce":
			into.Nonce = s.integer("nonce")
		case "bids":
			into.Bids = s.levels("bids", m, into.Bids[:0])
		case "asks":
			into.Asks = s.levels("asks", m, into.Asks[:0])
		case "timestamp":
			into.Time = s.nanos("timestamp")
		default:
			s.skip()
		}
	}
	if err := s.end(); err != nil {
		return err
	}
	if !named {
		return missing("market")
	}
	return nil
}

// levels reads one side of a book: [["price","size"],…], null for none.
func (s *scanner) levels(field string, m *market.Market, dst []market.Level) []market.Level {
	if s.err == nil && s.space() == 'n' {
		s.literal("null")
		return dst
	}
	for s.array(); s.element(); {
		if next := compact(s.data, s.at, m, &dst); next > s.at {
			s.at = next
			continue
		}
		var level market.Level
		s.array()
		if !s.element() {
			s.malformed()
		}
		level.Price = market.Price(s.fixed(field, m.PriceDigits))
		if !s.element() {
			s.malformed()
		}
		level.Amount = market.Qty(s.fixed(field, m.AmountDigits))
		s.leave()
		if s.err == nil {
			dst = append(dst, level)
		}
	}
	return dst
}

// compact reads levels that are written without white space and in easy numbers, as the exchange does, as many as there are, and returns
// where it stopped: behind a level.
func compact(data []byte, at int, m *market.Market, dst *[]market.Level) int {
	levels, stop := *dst, at
	for at+2 < len(data) && data[at] == '[' && data[at+1] == '"' {
		price, next := quoted(data, at+1, m.PriceDigits)
		if next == 0 || next+1 >= len(data) || data[next] != ',' || data[next+1] != '"' {
			break
		}
		amount, next := quoted(data, next+1, m.AmountDigits)
		if next == 0 || next >= len(data) || data[next] != ']' {
			break
		}
		levels = append(levels, market.Level{Price: market.Price(price), Amount: market.Qty(amount)})
		stop = next + 1
		if stop >= len(data) || data[stop] != ',' {
			break
		}
		at = stop + 1
	}
	*dst = levels
	return stop
}
