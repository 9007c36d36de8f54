package rest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Trader is a client as the live loop needs it: the port exchange.Trading. The client must have its catalog (Use) and its clock (Sync).
type Trader struct {
	*Client
	catalog *market.Catalog
}

var _ exchange.Trading = (*Trader)(nil)

// NewTrader returns the client as a Trading of the markets of a catalog.
func NewTrader(c *Client, catalog *market.Catalog) *Trader { return &Trader{Client: c, catalog: catalog} }

// Prepare makes the intent of a command, to be signed with the exchange's time now; see Client.Prepare.
func (t *Trader) Prepare(c *market.Command) (exchange.Intent, error) {
	i, err := t.Client.Prepare(c, t.Now())
	if err != nil {
		return exchange.Intent{}, err
	}
	return exchange.Intent{Command: i.Kind, Order: i.Order, Market: i.Market, ClientOrderID: i.ClientOrderID, Protective: c.Attached,
		Method: i.Method, Path: i.Path, Body: i.Body, Timestamp: i.Timestamp, Window: i.Window}, nil
}

// Send sends an intent once; see Client.Send.
func (t *Trader) Send(ctx context.Context, i *exchange.Intent) (exchange.Record, error) {
	intent := Intent{Kind: i.Command, Order: i.Order, Market: i.Market, ClientOrderID: i.ClientOrderID, Body: i.Body, Timestamp: i.Timestamp, Window: i.Window}
	lane := Order
	switch {
	case i.Command == market.CommandCancel:
		lane = Cancel
	case i.Protective:
		lane = Protective
	}
	t.address(&intent, i.Method, i.Path, lane)
	answer, err := t.Client.Send(ctx, &intent)
	return exchange.Record{Order: answer.Order, Fills: answer.Fills}, err
}

// Order asks for one order; see Client.Order.
func (t *Trader) Order(ctx context.Context, m market.ID, client, name uuid.UUID) (exchange.Record, error) {
	told, err := t.Client.Order(ctx, t.catalog.Market(m), client, name)
	return exchange.Record{Order: told.Order, Fills: told.Fills}, err
}

// OpenOrders lists the open orders of all markets. Orders that cannot be read are foreign, and left out.
func (t *Trader) OpenOrders(ctx context.Context) ([]exchange.Record, error) {
	list, err := t.OrdersOpen(ctx, nil)
	if err != nil {
		return nil, err
	}
	records := make([]exchange.Record, len(list.Told))
	for i := range list.Told {
		records[i].Order = list.Told[i].Order
	}
	return records, nil
}

// tradesPage is how many trades one request may tell, and tradesSpan the range that it may ask for (venue-facts 1.3).
const (
	tradesPage = 1000
	tradesSpan = 24 * time.Hour
)

// Trades lists the executions of a day from a time on, oldest first, and where to go on.
func (t *Trader) Trades(ctx context.Context, m market.ID, from market.Time) (trades []exchange.Trade, next market.Time, err error) {
	now := t.Now()
	end := from.Add(tradesSpan)
	if end < now {
		next = end
	}
	page := Page{Start: from, End: min(end, now.Add(time.Minute)), Limit: tradesPage}
	for {
		got, err := t.Client.Trades(ctx, t.catalog.Market(m), page, nil)
		if err != nil {
			return nil, 0, err
		}
		for _, one := range got {
			trades = append(trades, exchange.Trade{Fill: one.Fill, ExchangeID: one.OrderID, ClientOrderID: one.ClientOrderID})
		}
		if len(got) < tradesPage || page.To == got[len(got)-1].ID.String() {
			slices.Reverse(trades)
			return trades, next, nil
		}
		page.To = got[len(got)-1].ID.String() // told again: fills are counted by id
	}
}

// Holdings lists the balances of the catalog's assets.
func (t *Trader) Holdings(ctx context.Context) ([]exchange.Holding, error) {
	balances, err := t.Balances(ctx, "")
	if err != nil {
		return nil, err
	}
	var held []exchange.Holding
	for i := range balances {
		if t.catalog.AssetNamed(balances[i].Symbol) == nil {
			continue
		}
		asset, available, inOrder, err := balances[i].In(t.catalog)
		if err != nil {
			return nil, err
		}
		held = append(held, exchange.Holding{Asset: asset, Available: available, Orders: inOrder})
	}
	return held, nil
}

// CancelAfter arms the timer of a group; see Client.CancelOrdersAfter.
func (t *Trader) CancelAfter(ctx context.Context, group uint16, after market.Duration) error {
	_, err := t.CancelOrdersAfter(ctx, group, after)
	return err
}

// Rules returns the markets of the client's catalog as the exchange has them now. A market that it does not list any more is halted;
// one whose rules do not fit its units is left out, and named in the error where nothing else is wrong.
func (c *Client) Rules(ctx context.Context) ([]market.Market, error) {
	d, err := c.directory()
	if err != nil {
		return nil, err
	}
	told, err := c.Markets(ctx, "")
	if err != nil {
		return nil, err
	}
	var rules []market.Market
	var misfits []string
	for _, m := range d.cat.Markets() {
		now := market.Market{ID: m.ID, Name: m.Name, Base: m.Base, Quote: m.Quote, PriceDigits: m.PriceDigits, AmountDigits: m.AmountDigits,
			QuoteDigits: m.QuoteDigits, VolumeDigits: m.VolumeDigits, ValueDigits: m.ValueDigits, Status: market.Halted}
		if at := slices.IndexFunc(told, func(w Market) bool { return w.Name == m.Name }); at >= 0 {
			if err := told[at].Apply(&now); err != nil {
				misfits = append(misfits, err.Error())
				continue
			}
		}
		rules = append(rules, now)
	}
	if len(rules) == 0 && len(misfits) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrUnits, strings.Join(misfits, "; "))
	}
	return rules, nil
}

var _ exchange.MarketData = (*Client)(nil)
