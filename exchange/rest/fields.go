package rest

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// expect reads a text and fails where it is not want.
func expect(s *wire.Scanner, field, want string) {
	if token := s.Token(); s.Err() == nil && string(token) != want {
		s.Fail(field, fmt.Errorf("%q, not %q: %w", clip(token), want, ErrMismatch))
	}
}

// side reads buy or sell.
func side(s *wire.Scanner) market.Side {
	switch token := s.Token(); string(token) {
	case "buy":
		return market.Buy
	case "sell":
		return market.Sell
	default:
		s.Fail("side", fmt.Errorf("%q is neither buy nor sell", clip(token)))
		return 0
	}
}

// readMember reads a member that public trades and own trades share, and skips any other.
func readMember(s *wire.Scanner, m *market.Market, id *uuid.UUID, t *market.Trade) {
	switch string(s.Name()) {
	case "id":
		*id = s.ID("id")
	case "timestamp":
		t.Time = s.Millis("timestamp")
	case "amount":
		t.Amount = market.Qty(s.Fixed("amount", m.AmountDigits))
	case "price":
		t.Price = market.Price(s.Fixed("price", m.PriceDigits))
	case "side":
		t.Side = side(s)
	default:
		s.Discard()
	}
}

// missing is the error of an absent field that is required.
func missing(field string) error { return fmt.Errorf("%s is missing: %w", field, wire.ErrMalformed) }

// clip shortens foreign text for an error.
func clip(text []byte) []byte { return text[:min(len(text), 40)] }
