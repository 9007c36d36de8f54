package stream

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// delta is an event of channel book: levels with their new amounts; an amount of 0 removes a level.
type delta = market.OrderBook

// names are the markets of a feed by name.
type names map[string]*market.Market

// of is the market of an event; nil: it is none of the feed's.
func (n names) of(s *wire.Scanner) *market.Market { return n[string(s.Token())] }

// readDelta reads an event of channel book into d, whose slices it reuses. Its market is nil where
// it is none of the feed's.
func readDelta(frame []byte, known names, d *delta) (m *market.Market, err error) {
	d.Market, d.Nonce, d.Time, d.Bids, d.Asks = 0, 0, 0, d.Bids[:0], d.Asks[:0]
	var bids, asks []byte // that came before the market, in whose units they are
	s := wire.NewScanner(frame)
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "market":
			if m = known.of(&s); m == nil {
				return nil, s.Err()
			}
			d.Market = m.ID
		case "nonce":
			d.Nonce = s.Integer("nonce")
		case "bids":
			d.Bids, bids = levels(&s, "bids", m, d.Bids)
		case "asks":
			d.Asks, asks = levels(&s, "asks", m, d.Asks)
		case "timestamp":
			d.Time = s.Nanos("timestamp")
		default:
			s.Discard()
		}
	}
	if err := s.End(); err != nil || m == nil {
		return nil, err
	}
	if bids != nil {
		s = wire.NewScanner(bids)
		d.Bids = s.Levels("bids", m, d.Bids)
		err = s.End()
	}
	if asks != nil && err == nil {
		s = wire.NewScanner(asks)
		d.Asks = s.Levels("asks", m, d.Asks)
		err = s.End()
	}
	return m, err
}

// levels reads levels, or returns them unread while the market is not known.
func levels(s *wire.Scanner, field string, m *market.Market, dst []market.Level) (read []market.Level, unread []byte) {
	if m == nil {
		return dst, s.Raw()
	}
	return s.Levels(field, m, dst), nil
}

// The members of an event of channel ticker, as indexes of topMembers.
const (
	topMarket = iota
	topBid
	topBidSize
	topAsk
	topAskSize
	topLast
)

var topMembers = []string{"market", "bestBid", "bestBidSize", "bestAsk", "bestAskSize", "lastPrice"}

// parts are the values that an event of channel ticker may bring.
type parts uint8

// The parts.
const (
	bid parts = 1 << iota
	ask
	last
	allParts = bid | ask | last
)

// readTop reads an event of channel ticker: the parts that it has into t.
func readTop(frame []byte, known names, t *market.Ticker) (m *market.Market, brought parts, err error) {
	var token [6][]byte
	s := wire.NewScanner(frame)
	s.Tokens(topMembers, token[:])
	if err := s.End(); err != nil {
		return nil, 0, err
	}
	if m = known[string(token[topMarket])]; m == nil {
		return nil, 0, nil
	}
	read := func(member int, digits uint8) (n int64) {
		if token[member] != nil && err == nil {
			n, err = wire.ParseUnsigned(token[member], digits)
		}
		return n
	}
	if token[topBid] != nil {
		brought |= bid
		t.Bid, t.BidSize = market.Price(read(topBid, m.PriceDigits)), market.Qty(read(topBidSize, m.AmountDigits))
	}
	if token[topAsk] != nil {
		brought |= ask
		t.Ask, t.AskSize = market.Price(read(topAsk, m.PriceDigits)), market.Qty(read(topAskSize, m.AmountDigits))
	}
	if token[topLast] != nil {
		brought |= last
		t.Last = market.Price(read(topLast, m.PriceDigits))
	}
	return m, brought, err
}

// readCandles reads an event of channel candles. Its market is nil where it is none of the feed's.
func readCandles(frame []byte, known names, dst []market.Candle) (m *market.Market, interval market.Interval,
	candles []market.Candle, err error) {
	var rows []byte // in the market's units
	var text []byte
	s := wire.NewScanner(frame)
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "market":
			m = known.of(&s)
		case "interval":
			text = s.Token()
		case "candle":
			rows = s.Raw()
		default:
			s.Discard()
		}
	}
	if err := s.End(); err != nil || m == nil {
		return nil, 0, dst, err
	}
	if interval, err = market.ParseInterval(string(text)); err != nil {
		return nil, 0, dst, fmt.Errorf("interval: %w", err)
	}
	s = wire.NewScanner(rows)
	candles = s.Candles(m, interval, dst)
	return m, interval, candles, s.End()
}

// readTrade reads an event of channel trades. Its market is nil where it is none of the feed's.
func readTrade(frame []byte, known names) (m *market.Market, t exchange.PublicTrade, err error) {
	var amount, price []byte
	var millis, nanos market.Time
	s := wire.NewScanner(frame)
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "market":
			if m = known.of(&s); m == nil {
				return nil, t, s.Err()
			}
		case "id":
			t.ID = s.ID("id")
		case "timestamp":
			millis = s.Millis("timestamp")
		case "timestampNs":
			nanos = s.Nanos("timestampNs")
		case "amount":
			amount = s.Token()
		case "price":
			price = s.Token()
		case "side":
			if t.Side, err = market.ParseSide(string(s.Token())); err != nil {
				s.Fail("side", err)
			}
		default:
			s.Discard()
		}
	}
	if err := s.End(); err != nil || m == nil {
		return nil, t, err
	}
	if t.Time = nanos; nanos == 0 {
		t.Time = millis
	}
	t.Market = m.ID
	read := func(name string, token []byte, digits uint8) int64 {
		n, failed := wire.ParseUnsigned(token, digits)
		if failed != nil && err == nil {
			err = fmt.Errorf("%s: %w", name, failed)
		}
		return n
	}
	t.Amount = market.Qty(read("amount", amount, m.AmountDigits))
	t.Price = market.Price(read("price", price, m.PriceDigits))
	if t.ID == uuid.Nil && err == nil {
		err = fmt.Errorf("id is missing: %w", wire.ErrMalformed)
	}
	return m, t, err
}
