package rest

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// TickerPrices appends a ticker with only Last for every market of the catalog that the exchange
// has: GET /ticker/price (specification 1). Last is 0 where there is no price (specification 9). A
// market whose price its units cannot hold is left out and named in the error, which wraps
// exchange.ErrUnits; the other tickers are appended.
func (c *Client) TickerPrices(ctx context.Context, dst []market.Ticker) ([]market.Ticker, error) {
	return c.tickers(ctx, request{at: getTickerPrice, all: true, path: version + "/ticker/price"}, dst)
}

// TickerPrice returns the latest price of one market, 0 where there is none: GET /ticker/price.
func (c *Client) TickerPrice(ctx context.Context, m *market.Market) (market.Price, error) {
	ticker, err := c.ticker(ctx, getTickerPrice, to("ticker", "price"), m)
	return ticker.Last, err
}

// TickerBooks appends a ticker with best bid and ask and their sizes for every market of the
// catalog that the exchange has: GET /ticker/book (specification 1). An empty side is 0; outside of
// status trading both are. Errors are those of TickerPrices.
func (c *Client) TickerBooks(ctx context.Context, dst []market.Ticker) ([]market.Ticker, error) {
	return c.tickers(ctx, request{at: getTickerBook, all: true, path: version + "/ticker/book"}, dst)
}

// TickerBook returns best bid and ask of one market: GET /ticker/book.
func (c *Client) TickerBook(ctx context.Context, m *market.Market) (market.Ticker, error) {
	return c.ticker(ctx, getTickerBook, to("ticker", "book"), m)
}

func (c *Client) tickers(ctx context.Context, r request, dst []market.Ticker) ([]market.Ticker, error) {
	before := len(dst)
	d, err := c.directory()
	if err != nil {
		return dst, err
	}
	err = c.get(ctx, r, func(body []byte) (err error) {
		dst, err = appendTickers(dst[:before], body, d.named)
		return err
	})
	if err != nil && !errors.Is(err, exchange.ErrUnits) {
		return dst[:before], err
	}
	return dst, err
}

func (c *Client) ticker(ctx context.Context, at endpoint, path query, m *market.Market) (market.Ticker, error) {
	var found [1]market.Ticker
	count := 0
	named := map[string]*market.Market{m.Name: m}
	err := c.get(ctx, request{at: at, path: path.with("market", m.Name).String()}, func(body []byte) error {
		tickers, err := appendTickers(found[:0], body, named)
		count = len(tickers)
		return err
	})
	switch {
	case err != nil:
		return market.Ticker{}, err
	case count != 1:
		return market.Ticker{}, fmt.Errorf("ticker of %s: %w", m.Name, ErrMismatch)
	}
	return found[0], nil
}

// appendTickers reads one ticker or an array of them, and appends those of known markets.
func appendTickers(dst []market.Ticker, body []byte, named map[string]*market.Market) ([]market.Ticker, error) {
	var unfit error
	s := wire.NewScanner(body)
	if s.Peek() == '{' {
		dst = readTicker(&s, dst, named, &unfit)
	} else {
		for s.Array(); s.Element(); {
			dst = readTicker(&s, dst, named, &unfit)
		}
	}
	if err := s.End(); err != nil {
		return dst, err
	}
	return dst, unfit
}

// The members of a ticker, as indexes of tickerMembers.
const (
	tickerMarket = iota
	tickerPrice
	tickerBid
	tickerBidSize
	tickerAsk
	tickerAskSize
)

var tickerMembers = []string{"market", "price", "bid", "bidSize", "ask", "askSize"}

// readTicker reads one ticker. It parses the numbers once the market, and so the units, is known.
func readTicker(s *wire.Scanner, dst []market.Ticker, named map[string]*market.Market, unfit *error) []market.Ticker {
	var token [6][]byte
	s.Tokens(tickerMembers, token[:])
	m := named[string(token[tickerMarket])]
	if m == nil || s.Err() != nil {
		return dst
	}
	var err error
	read := func(member int, digits uint8) (n int64) {
		if token[member] != nil && err == nil {
			n, err = wire.ParseUnsigned(token[member], digits)
		}
		return n
	}
	ticker := market.Ticker{Market: m.ID, Last: market.Price(read(tickerPrice, m.PriceDigits)),
		Bid: market.Price(read(tickerBid, m.PriceDigits)), BidSize: market.Qty(read(tickerBidSize, m.AmountDigits)),
		Ask: market.Price(read(tickerAsk, m.PriceDigits)), AskSize: market.Qty(read(tickerAskSize, m.AmountDigits))}
	if err != nil {
		if *unfit == nil {
			*unfit = fmt.Errorf("ticker of %s: %w: %w", m.Name, exchange.ErrUnits, err)
		}
		return dst
	}
	return append(dst, ticker)
}
