package rest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// A Client is both ports of package exchange; Use must have been called.
var (
	_ exchange.Trading    = (*Client)(nil)
	_ exchange.MarketData = (*Client)(nil)
)

// OpenOrders lists the account's open orders in all markets, without fills, by OrdersOpen. Orders
// in markets outside of the catalog are left out; an unreadable order inside is an error, for it
// would seem to have ended.
func (c *Client) OpenOrders(ctx context.Context) ([]exchange.WireOrder, error) {
	return c.openOrders(ctx, nil)
}

// OpenOrdersIn lists the account's open orders in one market, without fills, by OrdersOpen. An
// unreadable order is an error.
func (c *Client) OpenOrdersIn(ctx context.Context, id market.ID) ([]exchange.WireOrder, error) {
	_, m, err := c.marketOf(id)
	if err != nil {
		return nil, err
	}
	return c.openOrders(ctx, m)
}

// openOrders lists the open orders of a market; nil: of all.
func (c *Client) openOrders(ctx context.Context, m *market.Market) ([]exchange.WireOrder, error) {
	list, err := c.OrdersOpen(ctx, m)
	if err != nil {
		return nil, err
	}
	for i := range list.Unread {
		if u := &list.Unread[i]; !errors.Is(u.Reason, exchange.ErrUnknownMarket) {
			return nil, fmt.Errorf("%s: %w", endpoints[getOrdersOpen].name, u.Reason)
		}
	}
	return list.Records, nil
}

// The bounds of a list of trades (venue-facts 1.3).
const (
	tradesWindow = 24 * time.Hour
	tradesRows   = 1000
)

// Trades lists the account's trades in a market, oldest first. It goes day by day from a time on,
// rounded down to milliseconds, and returns all trades of the first day that has one later than
// from. more says that days follow: ask again from the latest time in the list, which brings the
// trades of that millisecond once more.
func (c *Client) Trades(ctx context.Context, id market.ID, from market.Time) (trades []exchange.Trade, more bool,
	err error) {
	_, m, err := c.marketOf(id)
	if err != nil {
		return nil, false, err
	}
	if from <= 0 {
		return nil, false, fmt.Errorf("%s: %s is no time to begin with", endpoints[getTrades].name, from)
	}
	for start := from; ; start = start.Add(tradesWindow) {
		if trades, err = c.DayTrades(ctx, m, start, trades); err != nil {
			return nil, false, err
		}
		more = start.Add(tradesWindow) < c.Now()
		if !more || len(trades) > 0 && trades[len(trades)-1].Time > from {
			return trades, more, nil
		}
	}
}

// DayTrades appends all own trades in a market of the 24 hours from start on, both ends included,
// oldest first: GET /trades, as many pages as it takes.
func (c *Client) DayTrades(ctx context.Context, m *market.Market, start market.Time,
	dst []exchange.Trade) ([]exchange.Trade, error) {
	return c.tradePages(ctx, m, Page{Start: start, End: start.Add(tradesWindow)}, 0, dst, nil)
}

// TradesSince lists all own trades in a market from a time on, the oldest first: GET /trades
// without a span, page after page from the latest trade back. told hears how far back it has come.
func (c *Client) TradesSince(ctx context.Context, m *market.Market, since market.Time,
	told func(market.Time)) ([]exchange.Trade, error) {
	list, err := c.tradePages(ctx, m, Page{}, since, nil, told)
	for len(list) > 0 && list[0].Time < since {
		list = list[1:]
	}
	return list, err
}

// tradePages appends the trades of a page and of those before it, as far back as there are any or a
// time, the oldest first.
func (c *Client) tradePages(ctx context.Context, m *market.Market, page Page, since market.Time, dst []exchange.Trade,
	told func(market.Time)) ([]exchange.Trade, error) {
	before := len(dst)
	page.Limit = tradesRows
	for {
		rows := len(dst)
		var err error
		if dst, err = c.TradesPage(ctx, m, page, dst); err != nil {
			return dst, err
		}
		full := len(dst)-rows >= tradesRows
		if rows > before && len(dst) > rows {
			switch last, first := &dst[rows-1], &dst[rows]; {
			case first.ID == last.ID:
				dst = slices.Delete(dst, rows, rows+1) // where one page ends the next begins
			case first.Time > last.Time:
				return dst, fmt.Errorf("%s: trades up to %s: %w", endpoints[getTrades].name, page.To, ErrMismatch)
			}
		}
		if full && told != nil {
			told(dst[len(dst)-1].Time)
		}
		if !full || dst[len(dst)-1].Time < since {
			slices.Reverse(dst[before:])
			return dst, nil
		}
		page.To = dst[len(dst)-1].ID.String()
	}
}

// Holdings lists the balances of the catalog's assets, by Balances.
func (c *Client) Holdings(ctx context.Context) ([]exchange.Holding, error) {
	d, err := c.directory()
	if err != nil {
		return nil, err
	}
	list, err := c.Balances(ctx, "")
	if err != nil {
		return nil, err
	}
	var held []exchange.Holding
	for i := range list {
		if d.cat.AssetNamed(list[i].Symbol) == nil {
			continue
		}
		asset, available, orders, err := list[i].In(d.cat)
		if err != nil {
			return nil, err
		}
		held = append(held, exchange.Holding{Asset: asset, Available: available, Orders: orders})
	}
	return held, nil
}

// CancelAfter starts or restarts the timer of a cancel-on-disconnect group, or stops it with 0, by
// CancelOrdersAfter. An answer that contradicts the request is an error.
func (c *Client) CancelAfter(ctx context.Context, group uint16, after market.Duration) error {
	expiry, err := c.CancelOrdersAfter(ctx, group, after)
	if err == nil && (expiry == 0) != (after == 0) {
		return fmt.Errorf("%s: it expires at %s: %w", endpoints[postCancelOrdersAfter].name, expiry, ErrMismatch)
	}
	return err
}

// Rules returns the catalog's markets with their current status and rules, by Markets. A market
// that the exchange no longer lists is halted; one whose rules its units cannot hold is left out
// and named in the error, which wraps exchange.ErrUnits; the others are returned.
func (c *Client) Rules(ctx context.Context) ([]market.Market, error) {
	d, err := c.directory()
	if err != nil {
		return nil, err
	}
	list, err := c.Markets(ctx, "")
	if err != nil {
		return nil, err
	}
	listed := make(map[string]*Market, len(list))
	for i := range list {
		listed[list[i].Name] = &list[i]
	}
	var rules []market.Market
	var unfit error
	for _, copied := range d.units {
		row := listed[copied.Name]
		switch {
		case row == nil:
			copied.Status = market.Delisted
		default:
			if err := row.Apply(&copied); err != nil {
				unfit = errors.Join(unfit, fmt.Errorf("%w: %w", exchange.ErrUnits, err))
				continue
			}
		}
		rules = append(rules, copied)
	}
	return rules, unfit
}
